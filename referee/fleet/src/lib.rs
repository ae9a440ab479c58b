//! Contests on many machines: the coordinator, which sends games to workers through a NATS server
//! with `JetStream` and collects the results; the worker, which plays them; and their messages.
//!
//! Workers never decide a result: the coordinator replays every reported game before it counts.
//!
//! Without the feature `nats` only the decisions and the messages are compiled, which need no server.

#![forbid(unsafe_code)]

pub mod dispatch;
pub mod messages;
pub mod names;
pub mod workers;
#[cfg(feature = "nats")]
pub mod connect;
#[cfg(feature = "nats")]
mod link;
#[cfg(feature = "nats")]
pub mod bundles;
#[cfg(feature = "nats")]
pub mod live;
#[cfg(feature = "nats")]
pub mod overview;
#[cfg(feature = "nats")]
pub mod worker;
#[cfg(feature = "nats")]
pub mod coordinator;

pub use messages::{
    AgentPackage, Announcement, Brief, BundleRef, FaultCause, Heartbeat, LiveChunk, Order,
    PlayedMatch, Report, ResendRequest, WorkerFault, WorkerInfo,
};
pub use names::Names;

/// This build: the version, `+`, and a hash of the sources that decide how games are played and counted. A
/// contest and its workers have the same.
pub const BUILD: &str = env!("REFEREE_BUILD");
