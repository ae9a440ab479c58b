//! What every game promises, checked for all games, and games that other programs played.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod perft;
mod quick;
mod estimates;
mod notations;
mod played_checker_puzzle;
mod played_chexers;
mod played_chinese_checkers;
mod played_freckers;
mod played_hex;
mod played_peg_solitaire;
