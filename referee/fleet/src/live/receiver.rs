//! The coordinator's side: the transcripts of matches under way elsewhere, as far as they have come.

use super::sender::ALIVE;
use super::settle::append;
use crate::link::next;
use crate::messages::{LIVE_BYTES_MAX, split_bytes};
use crate::{Live, Names, Resend};
use async_nats::{Client, SubscribeError};
use referee_play::playing::{Playing, UnderWay};
use referee_play::replacing::replace;
use referee_runner::folder::Folder;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Longer transcripts are written so far.
const TRANSCRIPT_BYTES_MAX: u64 = 64 << 20;
/// So many messages wait to be taken in; more are dropped, and asked for again.
const WAITING: usize = 64;
/// Who has not been heard of for so long has no place that another can't have.
const SILENCE: Duration = Duration::from_secs(3 * ALIVE.as_secs());
/// The same match isn't begun anew, or asked for again, more often.
const PATIENCE: Duration = Duration::from_secs(2);

/// Writes what matches under way elsewhere send, where their transcripts would be if they were
/// played here.
#[derive(Debug)]
pub struct Receiver {
    folder: Folder,
    playing: Playing,
    matches: BTreeMap<u64, Received>,
}

/// What has come of a match.
#[derive(Debug)]
struct Received {
    worker: String,
    /// Which of its worker's matches it is.
    serial: u64,
    /// When its worker said anything of it last.
    heard: Instant,
    /// So many bytes of the file are known to be the worker's.
    known: u64,
    /// The file differs from what the worker sends, and is not to be gone on with.
    differs: bool,
    /// When something was asked for again last.
    asked: Option<Instant>,
    /// When the file was begun anew last.
    begun: Option<Instant>,
    under_way: Option<UnderWay>,
}

/// The messages of all workers, from now on. No more wait than fit memory.
pub async fn listen(
    client: &Client,
    names: &Names,
) -> Result<mpsc::Receiver<Vec<u8>>, SubscribeError> {
    let mut subscriber = client.subscribe(names.live()).await?;
    let (messages, received) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        loop {
            let message = tokio::select! {
                message = next(&mut subscriber) => message,
                () = messages.closed() => return,
            };
            let Some(message) = message else { return };
            messages.try_send(message.payload.to_vec()).ok();
        }
    });
    Ok(received)
}

impl Receiver {
    /// Into a contest's folder. What is under way is noted in `playing`.
    pub fn new(folder: Folder, playing: Playing) -> Self {
        Self { folder, playing, matches: BTreeMap::new() }
    }

    /// Takes in a message. `has` says whether a worker has a game, by the orders that are out: of
    /// others nothing is written. What comes back is to be published on [`Names::resend`].
    pub fn take(
        &mut self,
        message: &[u8],
        has: impl Fn(&str, u64) -> bool,
        now: Instant,
    ) -> Option<Vec<u8>> {
        let (live, bytes): (Live, &[u8]) = split_bytes(message).ok()?;
        let sane = bytes.len() <= LIVE_BYTES_MAX && bytes.len() as u64 == live.bytes;
        if !sane || !has(&live.worker, live.number) {
            return None;
        }
        let path = self.folder.path(&Folder::transcript(live.number));
        let playing = self.playing.clone();
        let received = self.place(&live, has, now)?;
        received.heard = now;
        let written = received.write(&path, live.offset, bytes, now);
        let is_whole = written.unwrap_or_else(|error| {
            tracing::debug!("{}: {error}", path.display());
            received.known = 0;
            false
        });
        if !is_whole {
            return received.ask(live, now);
        }
        if live.over {
            received.under_way = None;
        } else if received.known > 0 && received.under_way.is_none() {
            received.under_way = Some(playing.begin(live.number, &path));
        }
        None
    }

    /// The place of a match. Of two workers that play the same game, the one that came first has it,
    /// until nothing is heard of it or the game isn't its any more; of two matches of one worker, the
    /// later one has it.
    fn place(
        &mut self,
        live: &Live,
        has: impl Fn(&str, u64) -> bool,
        now: Instant,
    ) -> Option<&mut Received> {
        let Live { worker, number, serial, .. } = live;
        if let Some(known) = self.matches.get(number) {
            let same = known.worker == *worker;
            let stays = now.saturating_duration_since(known.heard) < SILENCE
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

    /// A game isn't under way any more, or whoever played it is gone. What was written stays.
    pub fn end(&mut self, number: u64) {
        self.matches.remove(&number);
    }

    /// The same, and what was written goes: the game is as if it had never begun.
    pub fn discard(&mut self, number: u64) {
        if self.matches.remove(&number).is_some() {
            std::fs::remove_file(self.folder.path(&Folder::transcript(number))).ok();
        }
    }
}

impl Received {
    fn new(worker: &str, serial: u64, now: Instant) -> Self {
        Self {
            worker: worker.to_owned(),
            serial,
            heard: now,
            known: 0,
            differs: false,
            asked: None,
            begun: None,
            under_way: None,
        }
    }

    /// Bytes of the transcript that stand there in it. `false` where what comes after those that are known
    /// is missing.
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
        } else if offset == 0 && is_due(&mut self.begun, now) {
            replace(path, bytes)?;
            (self.known, self.differs) = (end, false);
        } else {
            // The file is not the one that these bytes continue.
            (self.known, self.differs) = (0, true);
            return Ok(false);
        }
        Ok(true)
    }

    /// What asks for the rest after what is known, unless that was just done.
    fn ask(&mut self, live: Live, now: Instant) -> Option<Vec<u8>> {
        let (Live { worker, number, .. }, offset) = (live, self.known);
        let asks = is_due(&mut self.asked, now);
        asks.then(|| serde_json::to_vec(&Resend { worker, number, offset }).ok()).flatten()
    }
}

/// Whether something may be done again; from now on it is done.
fn is_due(last: &mut Option<Instant>, now: Instant) -> bool {
    let due = last.is_none_or(|last| now.saturating_duration_since(last) >= PATIENCE);
    if due {
        *last = Some(now);
    }
    due
}
