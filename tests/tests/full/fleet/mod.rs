//! Contests on many machines: a real server, real workers, and every kind of failure.

pub(crate) mod server;
pub(crate) mod proxy;
pub(crate) mod process;
mod certificates;
mod pages;
mod live_view;
mod auth;
mod permissions;
mod forged;
mod leaving;
mod same_results;
mod game_programs;
mod faults;
mod broken_workers;
mod refused;
mod chaos_run;
mod withdrawn;
mod several;
mod reuse;
mod shares;
mod changes;
mod metrics;
mod operator;
mod chaos;
mod course;
