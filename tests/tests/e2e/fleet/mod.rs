//! Contests on many machines: a real server, real workers, and everything that can happen to them.

pub(crate) mod server;
pub(crate) mod proxy;
pub(crate) mod people;
mod signed;
mod pages;
mod looking;
mod doors;
mod guarded;
mod counter;
mod wire;
mod sameness;
mod faults;
mod broken;
mod refused;
mod storm;
mod withdrawn;
mod several;
mod chaos;
