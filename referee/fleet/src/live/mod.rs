//! Live transcripts: a worker sends what the transcripts of its running matches have grown by, and
//! the coordinator writes it where the transcript of a local match would be. All viewers read
//! files, so they show these matches too.
//!
//! Nothing else depends on it. Lost pieces are requested again, and a report replaces all that was
//! written.

mod receiver;
mod sender;
mod write;

pub use receiver::{Receiver, listen};
pub use sender::send;
pub use write::write_or_append;

#[cfg(test)]
mod tests;
