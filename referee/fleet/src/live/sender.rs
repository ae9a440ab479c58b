//! The worker's side: what the transcripts of matches under way have grown by.

use crate::link::{next, ticks};
use crate::messages::{LIVE_BYTES_MAX, with_bytes};
use crate::{Live, Names, Resend};
use async_nats::Client;
use async_nats::connection::State;
use referee_play::growing::GrowingFile;
use referee_play::playing::{Begun, Playing};
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

/// How often matches are looked at, and how long one lasts before anything of it is sent.
const PERIOD: Duration = Duration::from_secs(1);
/// Something is said of a match at least so often: who has just come learns of it, and the place that
/// a worker has is kept.
pub(super) const ALIVE: Duration = Duration::from_secs(10);
/// So long the rest of a match can be asked for that is over.
const REMEMBERED: Duration = Duration::from_secs(30);
/// So many messages are sent of a match at once; what is left waits for the next time.
const AT_ONCE: usize = 4;
/// What a message has beside the bytes of the transcript, at most.
const LINE_BYTES: usize = 1024;

/// What has been sent.
#[derive(Debug)]
pub(super) struct Sender {
    worker: String,
    /// The serial number of the match that comes next.
    serial: u64,
    matches: BTreeMap<u64, Sent>,
}

/// What has been sent of a match.
#[derive(Debug)]
struct Sent {
    begun: Begun,
    serial: u64,
    /// Its transcript, also when that has been removed; as far as it has been sent.
    file: GrowingFile,
    /// When something was said of it last.
    said: Option<Instant>,
    /// When it was over.
    ended: Option<Instant>,
    /// Its end has been said.
    over: bool,
}

/// Sends what matches under way write, until it is dropped.
pub async fn send(client: &Client, names: &Names, worker: &str, playing: &Playing) {
    let mut asked = client.subscribe(names.resend()).await.ok();
    if asked.is_none() {
        tracing::warn!("matches can be looked at only from their beginning: no subscription");
    }
    // Higher than all numbers of one that was there before.
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let serial = u64::try_from(since.as_millis()).unwrap_or_default();
    let mut sender = Some(Sender::new(worker, serial));
    let mut ticks = ticks(PERIOD);
    loop {
        tokio::select! {
            message = async { next(asked.as_mut()?).await }, if asked.is_some() => {
                match message {
                    Some(message) => if let Some(sender) = &mut sender {
                        sender.again(&message.payload);
                    },
                    None => asked = None,
                }
                continue;
            }
            _ = ticks.tick() => {}
        }
        // What can't be sent now would wait in memory. It is looked for again.
        if client.connection_state() != State::Connected {
            continue;
        }
        let most = LIVE_BYTES_MAX.min(client.server_info().max_payload.saturating_sub(LINE_BYTES));
        let (own, looked_at) = (sender.take(), playing.clone());
        let looked = tokio::task::spawn_blocking(move || {
            let mut own = own?;
            let messages = own.look(&looked_at, most, Instant::now());
            Some((own, messages))
        });
        let Ok(Some((own, messages))) = looked.await else { return };
        sender = Some(own);
        for message in messages {
            client.publish(names.live(), message.into()).await.ok();
        }
    }
}

impl Sender {
    /// Serial numbers begin with this one.
    pub(super) fn new(worker: &str, serial: u64) -> Self {
        Self { worker: worker.to_owned(), serial, matches: BTreeMap::new() }
    }

    /// What there is to be said now, at most so many bytes of transcript a message.
    pub(super) fn look(&mut self, playing: &Playing, most: usize, now: Instant) -> Vec<Vec<u8>> {
        let all = playing.all();
        let mut messages = Vec::new();
        for (&number, sent) in &mut self.matches {
            if all.get(&number) != Some(&sent.begun) {
                sent.ended.get_or_insert(now);
            }
            sent.say(&self.worker, number, most, now, &mut messages);
        }
        let remembered = |ended: Instant| now.saturating_duration_since(ended) < REMEMBERED;
        self.matches.retain(|_, sent| sent.ended.is_none_or(remembered));
        for (number, begun) in all {
            let known = self.matches.get(&number).is_some_and(|sent| sent.begun == begun);
            if known || now.saturating_duration_since(begun.since) < PERIOD {
                continue;
            }
            self.serial += 1;
            let mut sent = Sent::new(begun, self.serial);
            sent.say(&self.worker, number, most, now, &mut messages);
            self.matches.insert(number, sent);
        }
        messages
    }

    /// Somebody misses something.
    pub(super) fn again(&mut self, message: &[u8]) {
        let Ok(missed) = serde_json::from_slice::<Resend>(message) else { return };
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
    fn new(begun: Begun, serial: u64) -> Self {
        let file = GrowingFile::new(begun.transcript.clone());
        Self { begun, serial, file, said: None, ended: None, over: false }
    }

    /// Says what is new of it, or that it is there still.
    fn say(
        &mut self,
        worker: &str,
        number: u64,
        most: usize,
        now: Instant,
        messages: &mut Vec<Vec<u8>>,
    ) {
        for _ in 0..AT_ONCE {
            let offset = self.file.offset();
            // A file that can't be read is the match's trouble, not that of who looks on.
            let bytes = self.file.read_on(most).unwrap_or_default();
            let over = self.ended.is_some() && !self.file.has_more();
            let silent = self.said.is_none_or(|said| now.saturating_duration_since(said) >= ALIVE);
            let due = !bytes.is_empty() || over != self.over || (silent && self.ended.is_none());
            if !due {
                return;
            }
            let (worker, serial, count) = (worker.to_owned(), self.serial, bytes.len() as u64);
            let live = Live { worker, number, serial, offset, bytes: count, over };
            messages.push(with_bytes(&live, &[&bytes]));
            (self.said, self.over) = (Some(now), over);
        }
    }
}
