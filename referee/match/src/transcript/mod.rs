//! The transcript of a match: writing it, reading it, sealing it, and verifying it by playing it
//! again. Bytes in, events out: this module never touches a file, a clock or a thread.

mod gzip;
mod record;
mod read;
mod walk;
mod steps;
mod scan;
mod verify;
mod playback;
mod following;
mod sent;
mod exchange;
mod import;
mod export;

pub use exchange::{Said, exchange};
pub use export::game_record;
pub use following::{Following, State};
pub use gzip::{is_packed, unpack};
pub use import::{IMPORTED, Origin, import};
pub use playback::{Beside, Happening, Playback, Ply};
pub use read::{End, NoHeader, Reading, read};
pub use record::Recorder;
pub use sent::{Sent, sent};
pub use steps::{NotWalkable, Steps, walk};
pub use verify::{Report, Status, Verifier, verify};
pub use walk::{NotPlayable, Walk};
