//! Orders on their way to the queue, and those that are taken out of it. What doesn't arrive is sent
//! again, for as long as it is wanted.

use crate::Names;
use crate::connect::Connection;
use crate::link::{CALL, ticks, within};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// So many messages are under way at once.
const AT_ONCE: usize = 128;
/// How long to wait when something has failed.
const AGAIN: Duration = Duration::from_millis(500);

/// What is to be done: an order for a block is put in the place of any other, or whatever order there is
/// for it goes.
#[derive(Clone, Debug)]
pub(super) struct Errand {
    pub(super) block: u64,
    /// The attempt and the message of the order to put.
    pub(super) order: Option<(u32, Vec<u8>)>,
}

/// An order that is in the stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posted {
    pub(super) block: u64,
    pub(super) attempt: u32,
    /// Its number there.
    pub(super) number: u64,
}

/// Starts a task that runs errands until nobody gives any more. They are few: as many as orders may
/// be out.
pub(super) fn start(
    connection: Connection,
    names: Names,
) -> (mpsc::UnboundedSender<Errand>, mpsc::UnboundedReceiver<Posted>) {
    let (errands, asked) = mpsc::unbounded_channel();
    let (told, posted) = mpsc::unbounded_channel();
    let post = Post {
        connection,
        names,
        told,
        wanted: BTreeMap::new(),
        due: BTreeSet::new(),
        busy: BTreeSet::new(),
        running: JoinSet::new(),
    };
    tokio::spawn(post.work(asked));
    (errands, posted)
}

/// What came of an errand: its block, the attempt where it was an order, and its number.
type Done = (u64, Option<u32>, Result<u64, String>);

struct Post {
    connection: Connection,
    names: Names,
    told: mpsc::UnboundedSender<Posted>,
    /// The last wish for each block that isn't fulfilled.
    wanted: BTreeMap<u64, Errand>,
    /// Blocks that something is to be done for now.
    due: BTreeSet<u64>,
    /// Blocks that something is being done for: one thing after the other.
    busy: BTreeSet<u64>,
    running: JoinSet<Done>,
}

impl Post {
    async fn work(mut self, mut asked: mpsc::UnboundedReceiver<Errand>) {
        let mut again = ticks(AGAIN);
        let mut asking = true;
        while asking || !self.wanted.is_empty() {
            self.run();
            tokio::select! {
                errand = asked.recv(), if asking => match errand {
                    Some(errand) => {
                        self.due.insert(errand.block);
                        self.wanted.insert(errand.block, errand);
                    }
                    None => asking = false,
                },
                Some(done) = self.running.join_next(), if !self.running.is_empty() => {
                    if let Ok(done) = done {
                        self.done(done);
                    }
                }
                _ = again.tick() => self.due_again(),
                () = self.told.closed() => return,
            }
        }
    }

    fn due_again(&mut self) {
        if self.connection.is_up() {
            self.due.extend(self.wanted.keys().filter(|block| !self.busy.contains(block)));
        }
    }

    fn run(&mut self) {
        while self.running.len() < AT_ONCE
            && let Some(&block) = self.due.iter().find(|block| !self.busy.contains(block))
        {
            self.due.remove(&block);
            let Some(errand) = self.wanted.get(&block).cloned() else { continue };
            self.busy.insert(block);
            let (connection, names) = (self.connection.clone(), self.names.clone());
            self.running.spawn(async move {
                match errand.order {
                    Some((attempt, message)) => {
                        let put = put(&connection, &names, block, attempt, message).await;
                        (block, Some(attempt), put)
                    }
                    None => (block, None, take(&connection, &names, block).await),
                }
            });
        }
    }

    fn done(&mut self, (block, attempt, result): Done) {
        self.busy.remove(&block);
        match result {
            Ok(number) => {
                let is_it = |errand: &Errand| errand.order.as_ref().map(|it| it.0) == attempt;
                if self.wanted.get(&block).is_some_and(is_it) {
                    self.wanted.remove(&block);
                }
                if let Some(attempt) = attempt {
                    self.told.send(Posted { block, attempt, number }).ok();
                }
            }
            // Tried again before long.
            Err(error) => tracing::debug!("the order for block {block}: {error}"),
        }
    }
}

async fn put(
    connection: &Connection,
    names: &Names,
    block: u64,
    attempt: u32,
    message: Vec<u8>,
) -> Result<u64, String> {
    let publish =
        PublishMessage::build().payload(message.into()).message_id(format!("{block}-{attempt}"));
    let sent = connection.jetstream.send_publish(names.order(block), publish);
    let sent = within(CALL, sent).await?;
    let there = within(CALL, sent.into_future()).await?;
    Ok(there.sequence)
}

async fn take(connection: &Connection, names: &Names, block: u64) -> Result<u64, String> {
    let stream = connection.jetstream.get_stream_no_info(names.orders_stream());
    let stream = within(CALL, stream).await?;
    // By its number: servers of 2.9 forget whatever waits in a queue when one subject of it is purged.
    let subject = names.order(block);
    let found = tokio::time::timeout(CALL, stream.get_last_raw_message_by_subject(&subject));
    match found.await.map_err(|_| "no answer".to_owned())? {
        Ok(message) => {
            within(CALL, stream.delete_message(message.sequence)).await?;
        }
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {}
        Err(error) => return Err(error.to_string()),
    }
    Ok(0)
}
