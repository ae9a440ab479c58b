//! The coordinator's side: writes the live transcripts of workers.

use super::sender::KEEPALIVE;
use super::write::append;
use crate::messages::{LIVE_BYTES_MAX, split_bytes};
use crate::{LiveChunk, Names, ResendRequest};
use async_nats::{Client, SubscribeError};
use futures_util::StreamExt;
use referee_play::replace_file::replace;
use referee_play::running_matches::{RunningMatchGuard, RunningMatches};
use referee_runner::folder::Folder;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// The maximum size of a live transcript; the rest is not written.
const TRANSCRIPT_BYTES_MAX: u64 = 64 << 20;
/// The maximum number of waiting messages; more are dropped and requested again.
const WAITING_MAX: usize = 64;
/// After this silence another worker may take over a game.
const SILENCE: Duration = Duration::from_secs(3 * KEEPALIVE.as_secs());
/// The minimum interval between requests, and between rewrites, of a match.
const PATIENCE: Duration = Duration::from_secs(2);

/// Writes live transcripts where the transcripts of local matches would be.
#[derive(Debug)]
pub struct Receiver {
    folder: Folder,
    playing: RunningMatches,
    matches: BTreeMap<u64, Received>,
}

/// What has arrived of a match.
#[derive(Debug)]
struct Received {
    worker: String,
    /// Which of its worker's matches it is.
    serial: u64,
    /// When its last message arrived.
    last_message: Instant,
    /// How many bytes of the file are known to be the worker's.
    known: u64,
    /// Whether the file differs from what the worker sends, so nothing may be appended.
    differs: bool,
    /// When a part was last requested.
    requested: Option<Instant>,
    /// When the file was last rewritten.
    rewritten: Option<Instant>,
    under_way: Option<RunningMatchGuard>,
}

/// Subscribes to the messages of all workers. The number of waiting messages is bounded.
pub async fn listen(
    client: &Client,
    names: &Names,
) -> Result<mpsc::Receiver<Vec<u8>>, SubscribeError> {
    let mut subscriber = client.subscribe(names.live()).await?;
    let (messages, received) = mpsc::channel(WAITING_MAX);
    tokio::spawn(async move {
        loop {
            let message = tokio::select! {
                message = subscriber.next() => message,
                () = messages.closed() => return,
            };
            let Some(message) = message else { return };
            messages.try_send(message.payload.to_vec()).ok();
        }
    });
    Ok(received)
}

impl Receiver {
    /// Writes into a contest's folder, and records running matches in `playing`.
    pub fn new(folder: Folder, playing: RunningMatches) -> Self {
        Self { folder, playing, matches: BTreeMap::new() }
    }

    /// Takes a message. `has` returns whether a worker holds a game; messages of other workers are
    /// ignored. Returns a request to publish on [`Names::resend`], if something is missing.
    pub fn take(
        &mut self,
        message: &[u8],
        has: impl Fn(&str, u64) -> bool,
        now: Instant,
    ) -> Option<Vec<u8>> {
        let (live, bytes): (LiveChunk, &[u8]) = split_bytes(message).ok()?;
        let sane = bytes.len() <= LIVE_BYTES_MAX && bytes.len() as u64 == live.bytes;
        if !sane || !has(&live.worker, live.number) {
            return None;
        }
        let path = self.folder.path(Folder::transcript(live.number));
        let playing = self.playing.clone();
        let received = self.entry(&live, has, now)?;
        received.last_message = now;
        let written = received.write(&path, live.offset, bytes, now);
        let is_whole = written.unwrap_or_else(|error| {
            tracing::debug!("{}: {error}", path.display());
            received.known = 0;
            false
        });
        if !is_whole {
            return received.request(live, now);
        }
        if live.over {
            received.under_way = None;
        } else if received.known > 0 && received.under_way.is_none() {
            received.under_way = Some(playing.begin(live.number, &path));
        }
        None
    }

    /// Returns the entry of a match. Of two workers that play the same game the first keeps it,
    /// until it is silent or no longer holds the game; of two matches of one worker the later one
    /// replaces the first.
    fn entry(
        &mut self,
        live: &LiveChunk,
        has: impl Fn(&str, u64) -> bool,
        now: Instant,
    ) -> Option<&mut Received> {
        let LiveChunk { worker, number, serial, .. } = live;
        if let Some(known) = self.matches.get(number) {
            let same = known.worker == *worker;
            let stays = now.saturating_duration_since(known.last_message) < SILENCE
                && if same { known.serial > *serial } else { has(&known.worker, *number) };
            if stays {
                return None;
            }
            if !same || known.serial != *serial {
                self.matches.remove(number);
            }
        }
        Some(self.matches.entry(*number).or_insert_with(|| Received::new(worker, *serial, now)))
    }

    /// A game is over or its worker is gone; the file stays.
    pub fn end(&mut self, number: u64) {
        self.matches.remove(&number);
    }

    /// The same, but removes the file.
    pub fn discard(&mut self, number: u64) {
        if self.matches.remove(&number).is_some() {
            std::fs::remove_file(self.folder.path(Folder::transcript(number))).ok();
        }
    }
}

impl Received {
    fn new(worker: &str, serial: u64, now: Instant) -> Self {
        Self {
            worker: worker.to_owned(),
            serial,
            last_message: now,
            known: 0,
            differs: false,
            requested: None,
            rewritten: None,
            under_way: None,
        }
    }

    /// Writes bytes at this position of the transcript. Returns false if something before them is
    /// missing.
    fn write(&mut self, path: &Path, offset: u64, bytes: &[u8], now: Instant) -> io::Result<bool> {
        let end = offset.saturating_add(bytes.len() as u64);
        if end > TRANSCRIPT_BYTES_MAX {
            return Ok(true);
        }
        if offset > self.known || bytes.is_empty() {
            return Ok(offset <= self.known);
        }
        if !self.differs && append(path, offset, bytes)? {
            self.known = self.known.max(end);
        } else if offset == 0 && is_due(&mut self.rewritten, now) {
            replace(path, bytes)?;
            (self.known, self.differs) = (end, false);
        } else {
            // These bytes don't continue the file.
            (self.known, self.differs) = (0, true);
            return Ok(false);
        }
        Ok(true)
    }

    /// Returns a request for what follows the known bytes, unless one was just sent.
    fn request(&mut self, live: LiveChunk, now: Instant) -> Option<Vec<u8>> {
        let (LiveChunk { worker, number, .. }, offset) = (live, self.known);
        let asks = is_due(&mut self.requested, now);
        asks.then(|| serde_json::to_vec(&ResendRequest { worker, number, offset }).ok()).flatten()
    }
}

/// Returns whether something may be done again, and records that it is done.
fn is_due(last: &mut Option<Instant>, now: Instant) -> bool {
    let due = last.is_none_or(|last| now.saturating_duration_since(last) >= PATIENCE);
    if due {
        *last = Some(now);
    }
    due
}
