//! The coordinator as a backend of the runner.

use super::intake::{Event, Judged};
use super::judge::VerifiedReport;
use super::{Coordinator, layout};
use crate::link::{send_unacknowledged, wait_connected, with_timeout};
use crate::{Brief, Heartbeat};
use async_nats::Message;
use futures_util::StreamExt;
use referee_contest::wording::count;
use referee_contest::{Fixture, Schedule};
use referee_process::Failure;
use referee_protocol::sanitize::{sanitize, sanitize_line, sanitize_name};
use referee_runner::backend::{Backend, BackendEvent, FinishedGame, WorkerCount};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The timeout for cleaning up at the end, if the server answers.
const END: Duration = Duration::from_secs(20);
/// The timeout for the last messages.
const LAST: Duration = Duration::from_secs(2);
/// The maximum size of a heartbeat, in bytes.
const HEARTBEAT_BYTES_MAX: usize = 256 << 10;

impl Backend for Coordinator {
    const BLOCKS: bool = true;

    async fn next(&mut self, schedule: &Schedule, wants: bool) -> BackendEvent {
        loop {
            self.handle_signals().await;
            self.apply_effects();
            if let Some(event) = self.ready.pop_front() {
                return event;
            }
            let idle = self.dispatch.outstanding() == 0 && self.intake.is_idle();
            if self.stopped || (self.closed && idle) {
                return BackendEvent::Gone;
            }
            if wants && !self.closed && self.dispatch.has_room() {
                return BackendEvent::HasRoom;
            }
            tokio::select! {
                event = self.intake.next() => self.report(event, schedule).await,
                Some(published) = self.published.recv() => {
                    let now = self.now();
                    self.dispatch.published(published.block, published.attempt, published.number, now);
                }
                Some(message) = self.beats.next() => self.beat(&message),
                Some(message) = self.live.recv() => self.live(&message).await,
                Some(queue) = self.queue.recv() => {
                    let now = self.now();
                    match queue {
                        Ok(queue) => self.dispatch.queue(queue.delivered, queue.last, now),
                        Err(error) => self.restore(&error),
                    }
                }
                _ = self.ticks.tick() => self.tick(),
                changed = self.orders.changed() => if changed.is_err() {
                    return BackendEvent::Gone;
                },
            }
        }
    }

    fn submit(&mut self, fixtures: Vec<Fixture>) -> Result<(), Failure> {
        let Some(block) = fixtures.first().map(|fixture| fixture.block) else { return Ok(()) };
        for fixture in &fixtures {
            self.blocks.insert(fixture.number, block);
        }
        self.fixtures.entry(block).or_default().extend(fixtures);
        let now = self.now();
        if self.found.remove(&block) {
            self.dispatch.adopt(block, now);
        } else {
            self.dispatch.order_block(block, now);
        }
        Ok(())
    }

    fn stored(&mut self, numbers: &[u64]) {
        self.intake.durable(numbers);
    }

    fn close(&mut self) {
        self.closed = true;
    }

    fn in_progress(&self) -> String {
        let (mut orders, mut games) = (0, 0);
        for fixtures in self.dispatch.started().filter_map(|block| self.fixtures.get(&block)) {
            orders += 1;
            games += fixtures.len();
        }
        format!("{} with {}", count(orders, "order"), count(games as u64, "game"))
    }

    fn worker_count(&self) -> Option<WorkerCount> {
        Some(self.dispatch.worker_count())
    }

    async fn finish(mut self, over: bool) -> Option<String> {
        self.registry.write();
        if let Some(restoring) = self.restoring.take() {
            // Nothing may be created again after it is removed.
            restoring.abort();
            restoring.await.ok();
        }
        let (connection, names) = (&self.connection, &self.layout.names);
        let end = async {
            if over {
                wait_connected(connection.up.clone()).await;
                layout::remove(connection, names).await.map(|_| ())
            } else if connection.is_up() {
                layout::retract(connection, names).await
            } else {
                Ok(())
            }
        };
        let ended = with_timeout(END, end).await;
        // Acknowledgements that are still on their way.
        with_timeout(LAST, connection.client.flush()).await.ok();
        let error = ended.err().filter(|_| over)?;
        Some(format!(
            "could not remove the contest from the server ({error}); remove the streams {} and {} and \
             the bucket {} by hand",
            names.orders_stream(),
            names.reports_stream(),
            names.bucket()
        ))
    }
}

impl Coordinator {
    /// Handles signals that the runner has received.
    async fn handle_signals(&mut self) {
        let (stop, last) = {
            let orders = self.orders.borrow_and_update();
            (orders.stop.is_some(), orders.last)
        };
        if (last || stop) && !self.withdrawn {
            self.withdrawn = true;
            let now = self.now();
            self.dispatch.close(now);
        }
        if stop && !self.stopped {
            self.stopped = true;
            let out: Vec<u64> = self.fixtures.keys().copied().collect();
            for block in out {
                self.drop_block(block, None);
            }
            // Last, since it may take a while.
            let client = &self.connection.client;
            send_unacknowledged(client.publish(self.layout.names.stop(), Vec::new().into())).await;
        }
    }

    async fn report(&mut self, event: Event, schedule: &Schedule) {
        let message = match event {
            Event::Arrived(message) => message,
            Event::Judged(judged) => {
                self.intake.judged(&judged);
                return self.judged(*judged);
            }
        };
        let Some(block) = self.intake.take(*message, schedule).await else { return };
        let now = self.now();
        self.dispatch.reported(block, now);
        // Live messages that arrive late must not be written into the final transcript.
        for fixture in self.fixtures.get(&block).into_iter().flatten() {
            self.viewer.end(fixture.number);
        }
    }

    fn judged(&mut self, judged: Judged) {
        let Judged { number, report, verified } = judged;
        let (block, now) = (report.block, self.now());
        // Valid ids of workers are not changed by this.
        let worker = &sanitize_name(&report.worker);
        let verified = match verified {
            Ok(verified) => verified,
            Err(why) => {
                let why = sanitize_line(&why);
                self.ready.extend(self.registry.failed(worker, &why).map(BackendEvent::Message));
                let player = report.fault.and_then(|fault| fault.player);
                self.dispatch.failed(block, report.attempt, worker, (&why, player), now);
                return self.intake.answer_if_done(number);
            }
        };
        let VerifiedReport { came, known: mut finished, sandbox } = verified;
        finished.extend(came.iter().map(|came| came.number));
        if let Some(sandbox) = sandbox.filter(|sandbox| self.intake.is_new(sandbox)) {
            self.ready.push_back(BackendEvent::SandboxKnown(Box::new(sandbox)));
        }
        self.ready.extend(
            came.into_iter().map(|came: FinishedGame| BackendEvent::Finished(Box::new(came))),
        );
        self.finish_games(block, &finished, now);
        self.intake.answer_if_done(number);
    }

    /// These games of a block have a result.
    fn finish_games(&mut self, block: u64, finished: &BTreeSet<u64>, now: u64) {
        let Some(fixtures) = self.fixtures.get_mut(&block) else {
            self.dispatch.completed(block);
            return;
        };
        let (done, left): (Vec<Fixture>, Vec<Fixture>) =
            fixtures.drain(..).partition(|fixture| finished.contains(&fixture.number));
        for fixture in &done {
            self.blocks.remove(&fixture.number);
            self.viewer.end(fixture.number);
        }
        if left.is_empty() {
            self.fixtures.remove(&block);
            self.dispatch.completed(block);
        } else {
            *fixtures = left;
            self.dispatch.reorder(block, now);
        }
    }

    fn beat(&mut self, message: &Message) {
        if message.payload.len() > HEARTBEAT_BYTES_MAX {
            return;
        }
        let Ok(beat) = serde_json::from_slice::<Heartbeat>(&message.payload) else { return };
        let before = self.dispatch.worker_count();
        let now = self.now();
        self.dispatch.heartbeat(&beat, now);
        self.ready.extend(self.registry.heartbeat(&beat).map(BackendEvent::Message));
        let Brief { contest, build_ms, .. } = &self.layout.brief;
        for &(player, ms) in beat.building.iter().take(contest.players.len()) {
            if player.index() < contest.players.len() {
                // What a worker says is no more than it may be.
                let time = Duration::from_millis(ms.min(*build_ms));
                self.ready.push_back(BackendEvent::Building(player, time));
            }
        }
        if self.dispatch.worker_count() != before {
            self.ready.push_back(BackendEvent::Changed);
        }
    }

    /// A worker sent a piece of a running match's transcript.
    async fn live(&mut self, message: &[u8]) {
        let has = |worker: &str, number: u64| {
            self.blocks.get(&number).is_some_and(|&block| {
                self.dispatch.has(worker, block) && !self.intake.is_busy_with(block)
            })
        };
        if let Some(missed) = self.viewer.take(message, has, Instant::now()) {
            let subject = self.layout.names.resend();
            send_unacknowledged(self.connection.client.publish(subject, missed.into())).await;
        }
    }

    fn tick(&mut self) {
        let (now, up) = (self.now(), self.connection.is_up());
        if self.dispatch.connected(up, now) {
            let what = if up { "reconnected to" } else { "lost the connection to" };
            let end = if up { "" } else { "; retrying" };
            let text = format!("{what} {}{end}", self.shown);
            self.ready.push_back(BackendEvent::Message(text));
        }
        self.dispatch.tick(now, self.intake.is_behind());
        self.ready.extend(self.registry.tick(&self.shown).map(BackendEvent::Message));
        let WorkerCount { workers, away, .. } = self.dispatch.worker_count();
        if workers == 0 && away > 0 && self.dispatch.outstanding() > 0 {
            self.ready.extend(self.registry.all_away().map(BackendEvent::Message));
        }
    }

    /// Something of the contest is missing on the server, or the server is away.
    fn restore(&mut self, error: &str) {
        tracing::warn!("the contest is not complete on the server: {}", sanitize(error));
        self.intake.forget_rest();
        if self.restoring.as_ref().is_some_and(|restoring| !restoring.is_finished()) {
            return;
        }
        let (layout, connection) = (self.layout.clone(), self.connection.clone());
        // Lost orders and reports are ordered again after their silence.
        self.restoring = Some(tokio::spawn(async move {
            if let Err(error) = layout.make(&connection, false).await {
                tracing::warn!("can't restore the contest on the server: {error}");
            }
        }));
    }
}
