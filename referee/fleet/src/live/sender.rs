//! The worker's side: sends what the transcripts of running matches have grown by.

use crate::link::ticks;
use crate::messages::{LIVE_BYTES_MAX, with_bytes};
use crate::{LiveChunk, Names, ResendRequest};
use async_nats::Client;
use async_nats::connection::State;
use futures_util::StreamExt;
use referee_play::growing_file::GrowingFile;
use referee_play::running_matches::{RunningMatch, RunningMatches};
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

/// The interval of messages, and the minimum age of a match that is sent.
const PERIOD: Duration = Duration::from_secs(1);
/// The maximum interval between messages about a match: it keeps the match with this worker, and
/// introduces it to a new coordinator.
pub(super) const KEEPALIVE: Duration = Duration::from_secs(10);
/// How long parts of a finished match can be requested.
const RESEND_TIME: Duration = Duration::from_secs(30);
/// The maximum number of messages per match and period; the rest follows in the next.
const AT_ONCE: usize = 4;
/// The maximum overhead of a message besides the transcript's bytes.
const LINE_BYTES: usize = 1024;

/// What was sent.
#[derive(Debug)]
pub(super) struct Sender {
    worker: String,
    /// The serial number of the last match.
    serial: u64,
    matches: BTreeMap<u64, Sent>,
}

/// What was sent of a match.
#[derive(Debug)]
struct Sent {
    begun: RunningMatch,
    serial: u64,
    /// Its transcript, opened at the position up to which it was sent; also after its removal.
    file: GrowingFile,
    /// When the last message was sent.
    last_message: Option<Instant>,
    /// When the match ended.
    ended: Option<Instant>,
    /// Whether its end was sent.
    over: bool,
}

/// Sends running matches until it is dropped.
pub async fn send(client: &Client, names: &Names, worker: &str, playing: &RunningMatches) {
    let mut asked = client.subscribe(names.resend()).await.ok();
    if asked.is_none() {
        tracing::warn!("can't resend live transcripts: no subscription");
    }
    // Greater than the numbers of any earlier process.
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let serial = u64::try_from(since.as_millis()).unwrap_or_default();
    let mut sender = Sender::new(worker, serial);
    let mut ticks = ticks(PERIOD);
    loop {
        tokio::select! {
            message = async { asked.as_mut()?.next().await }, if asked.is_some() => {
                match message {
                    Some(message) => sender.resend(&message.payload),
                    None => asked = None,
                }
                continue;
            }
            _ = ticks.tick() => {}
        }
        // Messages that can't be sent now would fill the memory; the file is read again later.
        if client.connection_state() != State::Connected {
            continue;
        }
        let most = LIVE_BYTES_MAX.min(client.server_info().max_payload.saturating_sub(LINE_BYTES));
        let (mut own, running) = (sender, playing.clone());
        let read = tokio::task::spawn_blocking(move || {
            let messages = own.messages(&running, most, Instant::now());
            (own, messages)
        });
        let Ok((own, messages)) = read.await else { return };
        sender = own;
        for message in messages {
            client.publish(names.live(), message.into()).await.ok();
        }
    }
}

impl Sender {
    /// Starts with this serial number.
    pub(super) fn new(worker: &str, serial: u64) -> Self {
        Self { worker: worker.to_owned(), serial, matches: BTreeMap::new() }
    }

    /// Returns the messages that are due, with at most `most` bytes of transcript each.
    pub(super) fn messages(
        &mut self,
        playing: &RunningMatches,
        most: usize,
        now: Instant,
    ) -> Vec<Vec<u8>> {
        let all = playing.all();
        let mut messages = Vec::new();
        for (&number, sent) in &mut self.matches {
            if all.get(&number) != Some(&sent.begun) {
                sent.ended.get_or_insert(now);
            }
            sent.append_messages(&self.worker, number, most, now, &mut messages);
        }
        let remembered = |ended: Instant| now.saturating_duration_since(ended) < RESEND_TIME;
        self.matches.retain(|_, sent| sent.ended.is_none_or(remembered));
        for (number, begun) in all {
            let known = self.matches.get(&number).is_some_and(|sent| sent.begun == begun);
            if known || now.saturating_duration_since(begun.since) < PERIOD {
                continue;
            }
            self.serial += 1;
            let mut sent = Sent::new(begun, self.serial);
            sent.append_messages(&self.worker, number, most, now, &mut messages);
            self.matches.insert(number, sent);
        }
        messages
    }

    /// The coordinator requests a part again.
    pub(super) fn resend(&mut self, message: &[u8]) {
        let Ok(missed) = serde_json::from_slice::<ResendRequest>(message) else { return };
        if missed.worker != self.worker {
            return;
        }
        if let Some(sent) = self.matches.get_mut(&missed.number)
            && missed.offset < sent.file.offset()
        {
            sent.file.rewind(missed.offset);
            sent.over = false;
        }
    }
}

impl Sent {
    fn new(begun: RunningMatch, serial: u64) -> Self {
        let file = GrowingFile::new(begun.transcript.clone());
        Self { begun, serial, file, last_message: None, ended: None, over: false }
    }

    /// Appends messages with new bytes, or a message that the match is still running.
    fn append_messages(
        &mut self,
        worker: &str,
        number: u64,
        most: usize,
        now: Instant,
        messages: &mut Vec<Vec<u8>>,
    ) {
        for _ in 0..AT_ONCE {
            let offset = self.file.offset();
            // If the file can't be read, the match itself reports that.
            let bytes = self.file.read_on(most).unwrap_or_default();
            let over = self.ended.is_some() && !self.file.has_more();
            let silent = self.last_message.is_none_or(|last_message| {
                now.saturating_duration_since(last_message) >= KEEPALIVE
            });
            let due = !bytes.is_empty() || over != self.over || (silent && self.ended.is_none());
            if !due {
                return;
            }
            let (worker, serial, count) = (worker.to_owned(), self.serial, bytes.len() as u64);
            let live = LiveChunk { worker, number, serial, offset, bytes: count, over };
            messages.push(with_bytes(&live, &[&bytes]));
            (self.last_message, self.over) = (Some(now), over);
        }
    }
}
