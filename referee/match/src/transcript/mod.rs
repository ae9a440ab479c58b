//! The transcript of a match: writing, sealing, reading, and verifying it by a replay. Bytes in,
//! events out: this module never touches a file, a clock or a thread.

mod gzip;
mod heard;
mod record;
mod read;
mod walk;
mod draws;
mod implied;
mod bounds;
mod difference;
mod steps;
mod scan;
mod verify;
mod playback;
mod recorded_rules;
mod follower;
mod seen;
mod sent;
mod exchange;
mod import;
mod export;

pub use exchange::{ExchangedLine, exchange};
pub use export::game_record;
pub use follower::{FollowState, TranscriptFollower};
pub use gzip::{TRANSCRIPT_BYTES_MAX, TRANSCRIPT_LINE_BYTES_MAX, is_packed, unpack, unpack_start};
pub use import::{IMPORTED, Origin, import, is_imported};
pub use playback::{Playback, Ply, PlyKind, PlyOutput, SentInfo};
pub use read::{EventReader, HeaderError, ReadEnd, read};
pub use record::Recorder;
pub use recorded_rules::{Viewable, viewable};
pub use sent::sent;
pub use steps::{TranscriptWalk, WalkError, walk};
pub use verify::{Report, Status, Verifier, verify, verify_from};
pub use walk::Walk;
