//! Contests on many machines: the coordinator that hands out games by way of a NATS server with
//! `JetStream` and takes in results, the worker that plays them, and what they say to each other.
//!
//! It never decides a result: every game that a worker reports is played again before it counts.

#![forbid(unsafe_code)]

pub mod demand;
pub mod dispatch;
pub mod messages;
pub mod names;
pub mod workers;
pub mod connect;
mod link;
pub mod bundles;
pub mod live;
pub mod worker;
pub mod coordinator;

pub use messages::{
    AgentPackage, Announcement, Beat, Brief, BundleRef, FaultCause, Live, Order, Parcel, Report,
    Resend, Try, WorkerFault, WorkerInfo,
};
pub use names::Names;
