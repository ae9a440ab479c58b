//! The messages between a contest's coordinator and its workers. Each is one JSON object; messages
//! with bytes have them after the JSON line. A coordinator and its workers are the same build, so the
//! messages have no versions. Receivers treat every field as hostile.

use referee_contest::file::BuildSettings;
use referee_contest::{Contest, Fixture, Player};
use referee_protocol::sanitize::sanitize;
use referee_protocol::{SandboxRecord, plain_error};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Display;

/// A running contest, in the bucket of contests by its id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Announcement {
    /// The contest's name; hostile text.
    pub name: String,
    /// The build of Referee that all its workers need, [`crate::BUILD`].
    pub referee: String,
    /// When it began or was resumed, RFC 3339.
    pub since: String,
    /// Its share of the workers' time, relative to the other contests on the server.
    #[serde(default = "default_priority")]
    pub priority: u32,
    /// SHA-256 of the brief's bytes, in hex. Workers may write objects but no announcements, so
    /// this identifies the coordinator's brief. Missing in other builds.
    #[serde(default)]
    pub brief_sha256: String,
}

/// The priority of a contest that has none.
pub const PRIORITY: u32 = 100;

fn default_priority() -> u32 {
    PRIORITY
}

/// What every worker has to know about a contest; an object in its bucket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    /// The contest.
    pub contest: Contest,
    /// The agents, by player.
    pub agents: Vec<AgentPackage>,
    /// The path of the contest's folder in each bundle, relative to where it is unpacked; empty if
    /// all agents' files are inside the contest's folder.
    pub folder: String,
    /// Files of the contest's folder that all agents may read.
    pub shared: Option<BundleRef>,
    /// The folders of the contest's game programs, by their digests.
    #[serde(default)]
    pub games: BTreeMap<String, BundleRef>,
    /// The time limit of a build, in milliseconds.
    pub build_ms: u64,
    /// What else builds may use.
    #[serde(default)]
    pub build: BuildSettings,
    /// Whether a match and its agents are pinned to one core.
    #[serde(default)]
    pub pin: bool,
    /// The lease of an order, in milliseconds: a worker that does not renew it in time loses the
    /// order.
    pub lease_ms: u64,
    /// The coordinator's architecture, for which programs in bundles are built.
    pub arch: String,
}

/// What a worker needs to run an agent: a folder with an agent.toml, a course package, or the name
/// of a built-in agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentPackage {
    /// The AGENT argument on a worker, relative to the contest's folder.
    pub run: String,
    /// Its files; none for a built-in agent.
    pub bundle: Option<BundleRef>,
    /// How long its build took on the coordinator, in milliseconds, if that is known.
    #[serde(default)]
    pub build_ms: Option<u64>,
}

/// A bundle in the contest's bucket: a gzipped tar file that contains only regular files, named by
/// the SHA-256 of its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BundleRef {
    /// SHA-256 of its bytes, in hex: the object's name.
    pub sha256: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The size of its files in bytes.
    pub unpacked_bytes: u64,
}

/// Games for one worker: those of one block that have no result yet, so that games with swapped
/// seats run on the same machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The block.
    pub block: u64,
    /// How often this block was ordered before, from 0. No two orders have the same block and
    /// attempt.
    pub attempt: u32,
    /// Its games.
    pub fixtures: Vec<Fixture>,
    /// How often to replay a void game at once.
    pub void_retries: u32,
}

/// The result of an order. The bytes of its transcripts follow its line, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The block.
    pub block: u64,
    /// The attempt, as in the order.
    pub attempt: u32,
    /// The id of the worker.
    pub worker: String,
    /// Every match of every game, in the order played. All but the last match of each game are
    /// void. Empty if the worker failed.
    pub tries: Vec<PlayedMatch>,
    /// Whether the bytes of the transcripts are not in the message but in [`Report::object`], because
    /// they did not fit.
    #[serde(default)]
    pub in_object: bool,
    /// Why the worker has nothing to report; never caused by an agent.
    pub fault: Option<WorkerFault>,
}

impl Report {
    /// Returns the name of the object with the bytes of its transcripts, if they are in one.
    pub fn object(&self) -> Option<String> {
        let Self { block, attempt, worker, .. } = self;
        self.in_object.then(|| format!("{block}-{attempt}-{worker}"))
    }
}

/// One match of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedMatch {
    /// The game's number.
    pub number: u64,
    /// The size of its transcript, gzipped, in bytes.
    pub bytes: u64,
}

/// Why a worker could not play an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerFault {
    /// The kind of problem.
    pub cause: FaultCause,
    /// What happened; hostile text.
    pub text: String,
    /// The player whose agent can't be built or started on this machine, if that is it.
    #[serde(default)]
    pub player: Option<Player>,
}

/// The kinds of problems that keep a worker from playing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultCause {
    /// A bundle did not arrive or is invalid.
    Bundle,
    /// An agent's build failed.
    Build,
    /// An agent can't be started on this machine.
    Agent,
    /// The order is invalid.
    Order,
    /// The disk is full or can't be written.
    Disk,
    /// Any other problem of this machine.
    Machine,
}

/// The maximum length of a fault's text, in characters.
const FAULT_CHARACTERS_MAX: usize = 4000;

impl WorkerFault {
    /// Creates a fault. The text may come from the wire or from a build, so each of its lines is
    /// sanitized.
    pub fn new(cause: FaultCause, text: impl Display) -> Self {
        let text: Vec<String> = text.to_string().lines().map(sanitize).collect();
        let text = text.join("\n").chars().take(FAULT_CHARACTERS_MAX).collect();
        Self { cause, text, player: None }
    }
}

/// A worker's description of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerInfo {
    /// A random id, unique to this process.
    pub id: String,
    /// The name shown to users, by default the host name; hostile text.
    pub name: String,
    /// Its build of Referee, [`crate::BUILD`].
    pub referee: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
    /// How many matches it plays at once.
    pub slots: u32,
    /// Cores that it may use.
    pub cores: u32,
    /// The sandbox of its agents in this contest, once it is known.
    pub sandbox: Option<SandboxRecord>,
}

/// A worker's heartbeat, sent every [`HEARTBEAT_MS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// The worker.
    pub worker: WorkerInfo,
    /// The orders that it holds: block and attempt.
    pub orders: Vec<(u64, u32)>,
    /// The games that it is playing.
    pub games: Vec<u64>,
    /// The players whose agents it has built now, and for how many milliseconds so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub building: Vec<(Player, u64)>,
    /// How many games it has played for this contest.
    pub played: u64,
    /// Why it takes no orders of this contest; hostile text.
    pub refused: Option<String>,
    /// Whether it takes no more orders, and leaves once it has played those that it holds.
    pub leaving: bool,
    /// The name of the contest that it plays or is about to play, if that is another one; it comes
    /// back for this contest's share. Hostile text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<String>,
}

impl Heartbeat {
    /// Returns whether the worker holds no orders, takes none and does not come back.
    pub fn has_left(&self) -> bool {
        self.leaving && self.orders.is_empty() && self.elsewhere.is_none()
    }

    /// Returns whether the worker takes orders now.
    pub fn takes_orders(&self) -> bool {
        !self.leaving && self.refused.is_none() && self.elsewhere.is_none()
    }
}

/// The interval of heartbeats, in milliseconds.
pub const HEARTBEAT_MS: u64 = 3_000;

/// A piece of a running match's transcript; the bytes follow the line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveChunk {
    /// The id of the worker.
    pub worker: String,
    /// The game's number.
    pub number: u64,
    /// The number of the match among those that its worker sends live; increases also when the
    /// same game is replayed.
    pub serial: u64,
    /// The position of the bytes in the transcript.
    pub offset: u64,
    /// Their number.
    pub bytes: u64,
    /// Whether the match is over and no more bytes follow.
    pub over: bool,
}

/// The maximum number of transcript bytes in one message.
pub const LIVE_BYTES_MAX: usize = 256 << 10;

/// A request to send a running match's transcript again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResendRequest {
    /// The id of the worker that plays it.
    pub worker: String,
    /// The game's number.
    pub number: u64,
    /// Where to start in the transcript, in bytes.
    pub offset: u64,
}

/// Returns a message of one JSON line and bytes.
pub fn with_bytes<T: Serialize>(message: &T, bytes: &[&[u8]]) -> Vec<u8> {
    let mut all = serde_json::to_vec(message).unwrap_or_default();
    all.push(b'\n');
    for some in bytes {
        all.extend_from_slice(some);
    }
    all
}

/// Returns the line and the bytes of a message, or what is wrong with it.
pub fn split_bytes<'a, T: Deserialize<'a>>(message: &'a [u8]) -> Result<(T, &'a [u8]), String> {
    let end = message.iter().position(|&byte| byte == b'\n').unwrap_or(message.len());
    let line =
        serde_json::from_slice(&message[..end]).map_err(|error| plain_error(&error.to_string()))?;
    Ok((line, message.get(end + 1..).unwrap_or_default()))
}
