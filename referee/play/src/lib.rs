//! Matches with real agents: what an agent is, one match with its processes and people, many matches
//! on all cores, and parts of matches for those who look for mistakes.
//!
//! It decides nothing that the rules or the clocks decide: that is `referee_match`. It knows no
//! contest, and draws nothing.

#![forbid(unsafe_code)]

pub mod connection;
pub mod human;
pub mod participant;
mod canary;
pub mod sink;
pub mod table;
pub mod drive;
pub mod digest;
mod asked;
pub mod contender;
pub mod adapted;
pub mod reach;
pub mod destination;
pub mod fresh;
pub mod heading;
pub mod pool;
pub mod series;
pub mod trial;
pub mod debugging;
pub mod served;
pub mod inputs;
pub mod growing;
pub mod writing;
pub mod replacing;
pub mod interrupts;
pub mod playing;
