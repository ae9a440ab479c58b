//! The coordinator as a field: what the runner asks of it and hears from it.

use super::intake::Event;
use super::judge::{Finding, Judged};
use super::{Coordinator, layout};
use crate::Beat;
use crate::link::{hand, next, there, within};
use async_nats::Message;
use referee_contest::{Fixture, Schedule};
use referee_process::Failure;
use referee_protocol::plain::{count, tame, tame_line, tame_name};
use referee_runner::field::{Came, Crew, Field, Sign};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How long the end may take, where the server answers.
const END: Duration = Duration::from_secs(20);
/// How long what was sent last may take.
const LAST: Duration = Duration::from_secs(2);
/// The largest sign of life that is read, in bytes.
const BEAT_BYTES_MAX: usize = 256 << 10;

impl Field for Coordinator {
    const BLOCKS: bool = true;

    async fn next(&mut self, schedule: &Schedule, wants: bool) -> Sign {
        loop {
            self.obey().await;
            self.run_errands();
            if let Some(sign) = self.ready.pop_front() {
                return sign;
            }
            let idle = self.dispatch.out() == 0 && self.intake.is_idle();
            if self.stopped || (self.closed && idle) {
                return Sign::Gone;
            }
            if wants && !self.closed && self.dispatch.has_room() {
                return Sign::Place;
            }
            tokio::select! {
                event = self.intake.next() => self.report(event, schedule).await,
                Some(posted) = self.posted.recv() => {
                    let now = self.now();
                    self.dispatch.published(posted.block, posted.attempt, posted.number, now);
                }
                Some(message) = next(&mut self.beats) => self.beat(&message),
                Some(message) = self.live.recv() => self.look(&message).await,
                Some(queue) = self.queue.recv() => {
                    let now = self.now();
                    match queue {
                        Ok(queue) => self.dispatch.queue(queue.delivered, queue.last, now),
                        Err(error) => self.mend(&error),
                    }
                }
                _ = self.ticks.tick() => self.tick(),
                changed = self.orders.changed() => if changed.is_err() {
                    return Sign::Gone;
                },
            }
        }
    }

    fn ask(&mut self, fixtures: Vec<Fixture>) -> Result<(), Failure> {
        let Some(block) = fixtures.first().map(|fixture| fixture.block) else { return Ok(()) };
        for fixture in &fixtures {
            self.blocks.insert(fixture.number, block);
        }
        self.fixtures.entry(block).or_default().extend(fixtures);
        let now = self.now();
        if self.found.remove(&block) {
            self.dispatch.found(block, now);
        } else {
            self.dispatch.ask(block, now);
        }
        Ok(())
    }

    fn kept(&mut self, numbers: &[u64]) {
        self.intake.kept(numbers);
    }

    fn close(&mut self) {
        self.closed = true;
    }

    fn under_way(&self) -> String {
        let (mut orders, mut games) = (0, 0);
        for fixtures in self.dispatch.begun().filter_map(|block| self.fixtures.get(&block)) {
            orders += 1;
            games += fixtures.len();
        }
        format!("{} with {}", count(orders, "order"), count(games as u64, "game"))
    }

    fn crew(&self) -> Option<Crew> {
        let (workers, slots) = self.dispatch.crew();
        Some(Crew { workers, slots })
    }

    async fn finish(mut self, over: bool) -> Option<String> {
        self.roll.write();
        if let Some(mending) = self.mending.take() {
            // Nothing is to be made again after it was taken away.
            mending.abort();
            mending.await.ok();
        }
        let (connection, names) = (&self.connection, &self.layout.names);
        let end = async {
            if over {
                there(connection.up.clone()).await;
                layout::remove(connection, names).await.map(|_| ())
            } else if connection.is_up() {
                layout::hush(connection, names).await
            } else {
                Ok(())
            }
        };
        let ended = within(END, end).await;
        // Answers that are still on their way.
        within(LAST, connection.client.flush()).await.ok();
        let error = ended.err().filter(|_| over)?;
        Some(format!(
            "what the contest has on the server is not taken away ({error}): the streams {} and {}, \
             and the bucket {}",
            names.orders_stream(),
            names.reports_stream(),
            names.bucket()
        ))
    }
}

impl Coordinator {
    /// Does what the signals want.
    async fn obey(&mut self) {
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
            // Last, since nobody may wait for it.
            let client = &self.connection.client;
            hand(client.publish(self.layout.names.stop(), Vec::new().into())).await;
        }
    }

    async fn report(&mut self, event: Event, schedule: &Schedule) {
        let looked_at = match event {
            Event::Come(message) => self.intake.take(*message, schedule).await,
            Event::Judged(judged) => {
                let next = self.intake.judged(&judged, schedule);
                self.judged(*judged);
                next
            }
        };
        if let Some(block) = looked_at {
            let now = self.now();
            self.dispatch.reported(block, now);
        }
        // Nothing that is still on its way may be written into what is settled now.
        let fixtures = looked_at.and_then(|block| self.fixtures.get(&block));
        for fixture in fixtures.into_iter().flatten() {
            self.viewer.end(fixture.number);
        }
    }

    fn judged(&mut self, judged: Judged) {
        let Judged { number, report, finding } = judged;
        let (block, now) = (report.block, self.now());
        // No worker has another id than such.
        let worker = &tame_name(&report.worker);
        let finding = match finding {
            Ok(finding) => finding,
            Err(why) => {
                let why = tame_line(&why);
                self.ready.extend(self.roll.failed(worker, &why).map(Sign::Told));
                self.dispatch.failed(block, report.attempt, worker, &why, now);
                return self.intake.answer_if_done(number);
            }
        };
        for number in self.intake.otherwise(number, &finding) {
            self.ready.push_back(Sign::Told(format!(
                "game {number} was played twice, and not in the same way: the first counts"
            )));
        }
        let Finding { came, known, apart, .. } = finding;
        let there: BTreeSet<u64> = came
            .iter()
            .map(|came| came.number)
            .chain(known.iter().map(|record| record.number))
            .collect();
        if let Some(apart) = apart.filter(|apart| self.intake.is_new(apart)) {
            self.ready.push_back(Sign::Apart(Box::new(apart)));
        }
        self.ready.extend(came.into_iter().map(|came: Came| Sign::Came(Box::new(came))));
        self.done(block, worker, &there, now);
        self.intake.answer_if_done(number);
    }

    /// These games of a block have come to their end.
    fn done(&mut self, block: u64, worker: &str, there: &BTreeSet<u64>, now: u64) {
        let Some(fixtures) = self.fixtures.get_mut(&block) else {
            self.dispatch.taken(block, worker);
            return;
        };
        let (done, left): (Vec<Fixture>, Vec<Fixture>) =
            fixtures.drain(..).partition(|fixture| there.contains(&fixture.number));
        for fixture in &done {
            self.blocks.remove(&fixture.number);
            self.viewer.end(fixture.number);
        }
        if left.is_empty() {
            self.fixtures.remove(&block);
            self.dispatch.taken(block, worker);
        } else {
            *fixtures = left;
            self.dispatch.again(block, now);
        }
    }

    fn beat(&mut self, message: &Message) {
        if message.payload.len() > BEAT_BYTES_MAX {
            return;
        }
        let Ok(beat) = serde_json::from_slice::<Beat>(&message.payload) else { return };
        let before = self.dispatch.crew();
        let now = self.now();
        self.dispatch.beat(&beat, now);
        self.ready.extend(self.roll.beat(&beat).map(Sign::Told));
        if self.dispatch.crew() != before {
            self.ready.push_back(Sign::Changed);
        }
    }

    /// What a match under way has added to its transcript.
    async fn look(&mut self, message: &[u8]) {
        let has = |worker: &str, number: u64| {
            self.blocks.get(&number).is_some_and(|&block| {
                self.dispatch.has(worker, block) && !self.intake.is_busy_with(block)
            })
        };
        if let Some(missed) = self.viewer.take(message, has, Instant::now()) {
            let subject = self.layout.names.resend();
            hand(self.connection.client.publish(subject, missed.into())).await;
        }
    }

    fn tick(&mut self) {
        let (now, up) = (self.now(), self.connection.is_up());
        if self.dispatch.connected(up, now) {
            let what = if up { "is there again" } else { "is lost; trying on" };
            let text = format!("the connection to {} {what}", self.shown);
            self.ready.push_back(Sign::Told(text));
        }
        self.dispatch.tick(now, self.intake.is_behind());
        self.ready.extend(self.roll.tick(&self.shown).map(Sign::Told));
    }

    /// Something of the contest is gone from the server, or it is away.
    fn mend(&mut self, error: &str) {
        tracing::warn!("what the contest has on the server can't be looked at: {}", tame(error));
        self.intake.forget_rest();
        if self.mending.as_ref().is_some_and(|mending| !mending.is_finished()) {
            return;
        }
        let (layout, connection) = (self.layout.clone(), self.connection.clone());
        // What is lost with it is ordered again when nobody has said anything of it for too long.
        self.mending = Some(tokio::spawn(async move {
            if let Err(error) = layout.make(&connection, false).await {
                tracing::warn!("the contest can't be laid out again: {error}");
            }
        }));
    }
}
