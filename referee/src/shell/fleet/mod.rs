//! Contests on many machines: the connection to a NATS server with `JetStream`, the coordinator that
//! hands out games and takes in results, and the worker that plays them.

pub mod connect;
mod hashing;
mod link;
pub mod bundles;
pub mod live;
pub mod worker;
pub mod coordinator;
