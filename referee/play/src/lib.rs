//! Playing matches with real agents: what an agent is, one match with its processes and people, many
//! matches on all cores, and parts of matches for `check` and `debug`.
//!
//! Rules and clocks are decided in `referee_match`. This crate knows no contest and draws
//! nothing; it writes an agent's stderr, and questions to a person, to stderr.

#![forbid(unsafe_code)]

mod manifest;
pub mod connection;
mod typed_line;
pub mod human;
pub mod participant;
mod lag_probe;
pub mod sink;
pub mod sources;
pub mod core_context;
pub mod drive;
pub mod digest;
mod agent_sandbox;
pub mod echo;
mod agent_file;
pub mod agent_spec;
pub mod found_command;
pub mod archives;
mod agent_start;
pub mod game_program;
mod golden_game;
pub mod names;
pub mod adapted;
pub mod private_copy;
pub mod reach;
pub mod destination;
pub mod new_files;
pub mod match_settings;
mod kept;
pub mod pool;
pub mod check;
pub mod game_check;
pub mod rerun;
pub mod recorded_turn;
pub mod input_files;
pub mod growing_file;
pub mod liveness;
pub mod replace_file;
pub mod interrupts;
pub mod running_matches;
