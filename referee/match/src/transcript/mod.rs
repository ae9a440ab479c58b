//! The transcript of a match: writing it, reading it, sealing it, and verifying it by playing it
//! again. Bytes in, events out: this module never touches a file, a clock or a thread.

mod following;
mod gzip;
mod playback;
mod import;
mod export;
mod read;
mod record;
mod replay;
mod scan;
mod sent;
mod exchange;
mod verify;

pub use exchange::{Said, exchange};
pub use export::game_record;
pub use following::{Following, State};
pub use gzip::{is_packed, unpack};
pub use import::{IMPORTED, Origin, import};
pub use playback::{Beside, Happening, NotPlayable, Playback, Ply};
pub use read::{End, NoHeader, Reading, read};
pub use record::Recorder;
pub use sent::{NotSent, Sent, sent};
pub use verify::{Report, Status, Verifier, verify};
