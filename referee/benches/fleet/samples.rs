//! The cost of coordinator and server at intervals, one row each.

use crate::Outcome;
use crate::process::Process;
use crate::server::Server;
use std::time::Instant;

/// Two players, in both seat orders.
const GAMES_A_BLOCK: u64 = 2;

/// A sample of all counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Games that the coordinator has taken.
    pub(crate) games: u64,
    spent: Spent,
    coordinator_mb: f64,
    server_mb: f64,
    waiting: u64,
}

/// The cost so far, or between two samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    pub(crate) seconds: f64,
    pub(crate) games: f64,
    pub(crate) messages: f64,
    pub(crate) bytes: f64,
    /// CPU seconds of the coordinator, of its busiest thread, and of the server.
    pub(crate) coordinator: f64,
    pub(crate) busiest: f64,
    pub(crate) server: f64,
}

impl Sample {
    /// Takes a sample after this many games were reported; `None` if the coordinator has ended.
    pub(crate) fn at(
        began: Instant,
        reported: u64,
        coordinator: &Process,
        server: &Server,
    ) -> Outcome<Option<Self>> {
        let (Some(cpu), Some(busiest), Some(coordinator_mb)) =
            (coordinator.cpu(), coordinator.busiest_thread_cpu(), coordinator.resident_mb())
        else {
            return Ok(None);
        };
        let (traffic, waiting) = (server.traffic()?, server.waiting("-reports")?);
        let games = reported.saturating_sub(waiting * GAMES_A_BLOCK);
        let spent = Spent {
            seconds: began.elapsed().as_secs_f64(),
            games: games as f64,
            messages: traffic.messages as f64,
            bytes: traffic.bytes as f64,
            coordinator: cpu.as_secs_f64(),
            busiest: busiest.as_secs_f64(),
            server: server.process.cpu().ok_or("the server is gone")?.as_secs_f64(),
        };
        let server_mb = server.process.resident_mb().ok_or("the server is gone")?;
        Ok(Some(Self { games, spent, coordinator_mb, server_mb, waiting }))
    }

    /// Returns the cost since an earlier sample.
    pub(crate) fn since(&self, before: &Self) -> Spent {
        let (now, then) = (self.spent, before.spent);
        Spent {
            seconds: now.seconds - then.seconds,
            games: now.games - then.games,
            messages: now.messages - then.messages,
            bytes: now.bytes - then.bytes,
            coordinator: now.coordinator - then.coordinator,
            busiest: now.busiest - then.busiest,
            server: now.server - then.server,
        }
    }

    /// Returns the header of the table.
    pub(crate) fn heading() -> &'static str {
        "     games  games/s   msgs/s     MB/s | coordinator: cores us/game     MB | \
         server: cores us/game     MB | reports waiting"
    }

    /// Returns the row for the time since an earlier sample.
    pub(crate) fn row(&self, before: &Self) -> String {
        let span = self.since(before);
        let a_second = |amount: f64| amount / span.seconds;
        let a_game = |seconds: f64| seconds * 1e6 / span.games;
        format!(
            "{:>10} {:>8.0} {:>8.0} {:>8.1} | {:>18.2} {:>7.0} {:>6.1} | {:>13.2} {:>7.0} {:>6.1} \
             | {:>15}",
            self.games,
            a_second(span.games),
            a_second(span.messages),
            a_second(span.bytes) / 1e6,
            a_second(span.coordinator),
            a_game(span.coordinator),
            self.coordinator_mb,
            a_second(span.server),
            a_game(span.server),
            self.server_mb,
            self.waiting,
        )
    }
}
