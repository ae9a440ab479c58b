//! Matches under way, looked at from where they aren't played: a worker sends what their transcripts
//! have grown by, and the coordinator writes it where a match of its own would have its transcript.
//! Everything that shows matches reads files, and so shows these too.
//!
//! Nothing depends on it. What is lost on the way is asked for again, and what a report brings takes
//! the place of all that was written here.

mod receiver;
mod sender;
mod settle;

pub use receiver::{Receiver, listen};
pub use sender::send;
pub use settle::settle;

#[cfg(test)]
mod tests;
