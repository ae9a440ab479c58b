//! The rules and boards of every game that the referee knows.
//!
//! [`Game`] is the trait of a game in progress, [`AnyGame`] its type-erased form with JSON actions,
//! and [`GAMES`] the list of all games. This crate does no I/O and uses no clock and no randomness.
//! `examples/play.rs` plays a game in memory.
//!
//! The JSON of setups, positions and actions stays within a version of a game's rules; the types of this crate may
//! change with each minor version until 1.0.
//!
//! ```
//! use referee_games::{Turn, kind};
//! use serde_json::json;
//!
//! let mut game = kind("hex").unwrap().start(&json!({"size": 3})).unwrap();
//! assert_eq!(game.actions().len(), 9);
//! game.play(&json!({"type": "place", "at": [1, 1]})).unwrap();
//! let refused = game.play(&json!({"type": "place", "at": [1, 1]})).unwrap_err();
//! assert!(refused.to_string().contains("occupied"));
//! assert!(matches!(game.turn(), Turn::Of(seat) if seat.0 == 1));
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod game;
mod about;
mod any;
mod dialect;
mod record;
mod notation;
mod setup_fields;
mod cell_set;
mod action_fields;
mod cell_index;
mod choice;
mod numbering;
mod planes;
mod symmetry;
pub mod board;
pub mod view;
mod forms;
mod picture;
pub mod program;
mod program_game;
mod contract;
pub mod wire;
mod registry;
mod rules;

pub use about::{About, ActionSyntax, Reason, Score, SetupField, Situation};
pub use action_fields::{ActionFields, NumberList};
pub use any::{AnyGame, GameKind, Refusal, SetupError, nearest};
pub use cell_index::CellIndex;
pub use cell_set::CellSet;
pub use dialect::{Decoded, Dialect, DialectKind};
pub use game::{Game, Illegal, Turn, perft};
pub use numbering::{ActionKey, FieldValues, NumberedField, NumberedKind, Numbering};
pub use planes::Planes;
pub use record::{GameRecord, NotationKind, ReadRecord, RecordEnd};
pub use registry::{Games, NoRules, Visitor, dialects, kind, notations, reason_text};
pub use symmetry::{Symmetry, symmetries};
pub use wire::Chance;

// The registry: a game is its folder, one line here and one line below.
pub mod chinese_checkers;
pub mod chexers;
pub mod freckers;
pub mod hex;
pub mod checker_puzzle;
pub mod peg_solitaire;

registry::registry! {
    chinese_checkers::ChineseCheckers,
    chexers::Chexers,
    freckers::Freckers,
    hex::Hex,
    checker_puzzle::CheckerPuzzle,
    peg_solitaire::PegSolitaire,
}
