//! The messages between a contest's coordinator and its workers: one JSON object a message; those
//! that carry bytes have them after its line. Whoever reads one takes nothing in it for granted.

use referee_contest::{Contest, Fixture};
use referee_protocol::Sandbox;
use referee_protocol::plain::tame;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// The form of the messages; a coordinator and its workers have the same.
pub const FORM: u32 = 1;

/// A contest that is under way, in the bucket of contests by its id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Announcement {
    /// The form of all messages of this contest.
    pub form: u32,
    /// The contest's name; hostile text.
    pub name: String,
    /// The version of the referee that all its workers need.
    pub referee: String,
    /// When it was begun or resumed, RFC 3339: of several contests the first is served first.
    pub since: String,
    /// SHA-256 of the brief's bytes, in hex. Workers may write objects but no announcement, so this is
    /// what tells the coordinator's brief from any other. Missing in other forms.
    #[serde(default)]
    pub brief_sha256: String,
}

/// What every worker has to know of a contest, an object in its bucket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    /// The form of all messages of this contest.
    pub form: u32,
    /// The version of the referee that all its workers need.
    pub referee: String,
    /// The contest.
    pub contest: Contest,
    /// What a worker needs of each agent, by player.
    pub agents: Vec<AgentPackage>,
    /// What stands for the contest's folder in each bundle, relative to where it is unpacked; empty
    /// where no agent has files outside of it.
    pub folder: String,
    /// What all agents may read, where files of the contest's folder are among that.
    pub shared: Option<BundleRef>,
    /// How long a build may take, in milliseconds.
    pub build_ms: u64,
    /// Whether each core's matches and agents stay on it.
    #[serde(default)]
    pub pin: bool,
    /// The lease of an order, in milliseconds: a worker that doesn't renew it has lost the order.
    pub lease_ms: u64,
    /// The coordinator's architecture: what programs in bundles are made for.
    pub arch: String,
}

/// What a worker needs of an agent: a folder with an agent.toml, a package of a course, or the name of
/// one that is built in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentPackage {
    /// The AGENT as a worker reads it, relative to what stands for the contest's folder.
    pub run: String,
    /// Its files; none for an agent that is built in.
    pub bundle: Option<BundleRef>,
}

/// A bundle in the contest's bucket: a gzipped tar file of plain files and nothing else, named by the
/// SHA-256 of its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BundleRef {
    /// SHA-256 of its bytes, in hex: the object's name.
    pub sha256: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// How many bytes its files have.
    pub unpacked_bytes: u64,
}

/// Games for one worker: those of one block that have no result yet, so that whoever changed seats
/// plays on the same machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The block.
    pub block: u64,
    /// How often this block has been ordered before, from 0: no two orders have the same block and
    /// attempt.
    pub attempt: u32,
    /// Its games.
    pub fixtures: Vec<Fixture>,
    /// How often a game that ends void is played again at once.
    pub void_retries: u32,
    /// Ids of workers that have failed at it and leave it to others.
    pub avoid: Vec<String>,
}

/// What came of an order. The bytes of the parcels that travel with it come after its line, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The block.
    pub block: u64,
    /// The attempt, as in the order.
    pub attempt: u32,
    /// The id of the worker.
    pub worker: String,
    /// Every try of every game, in the order in which they were played; of each game all but the last
    /// are void. Empty where the worker failed.
    pub tries: Vec<Try>,
    /// Why the worker has nothing to report, if so; never an agent's doing.
    pub fault: Option<WorkerFault>,
}

/// A match that was played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Try {
    /// The game's number.
    pub number: u64,
    /// Its transcript, gzipped.
    pub transcript: Parcel,
}

/// Bytes, and how they travel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Parcel {
    /// After the message's line.
    Message {
        /// How many they are.
        bytes: u64,
    },
    /// As an object of the contest's bucket: more than a message takes.
    Object {
        /// The object's name: SHA-256 of the bytes, in hex.
        sha256: String,
        /// How many they are.
        bytes: u64,
    },
}

/// What kept a worker from playing an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerFault {
    /// What it was.
    pub cause: FaultCause,
    /// What happened, in words; hostile text.
    pub text: String,
}

/// What kept a worker from playing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultCause {
    /// A bundle did not arrive, or isn't what it should be.
    Bundle,
    /// An agent's build failed.
    Build,
    /// An agent can't be started here.
    Agent,
    /// The order makes no sense.
    Order,
    /// The disk is full, or can't be written.
    Disk,
    /// Anything else about this machine.
    Machine,
}

/// The longest text of a fault, in characters.
const FAULT_CHARACTERS_MAX: usize = 4000;

impl WorkerFault {
    /// Its text may come from the wire, or from a build: it is tame, line by line.
    pub fn new(cause: FaultCause, text: impl Display) -> Self {
        let text: Vec<String> = text.to_string().lines().map(tame).collect();
        let text = text.join("\n").chars().take(FAULT_CHARACTERS_MAX).collect();
        Self { cause, text }
    }

    /// The contest has no such player.
    pub fn no_player(player: usize) -> Self {
        Self::new(FaultCause::Bundle, format!("the contest has no player {player}"))
    }
}

/// A worker, as it says itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerInfo {
    /// Drawn when it was started; no two have the same.
    pub id: String,
    /// What people call it: the machine's name unless it is told another; hostile text.
    pub name: String,
    /// The version of the referee.
    pub referee: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
    /// How many matches it plays at once.
    pub slots: u32,
    /// Cores that it may use.
    pub cores: u32,
    /// Memory of the machine, or of the control group that it is in, in MiB.
    pub memory_mb: u64,
    /// What it is started as, to be asked for by contests; empty where it has none.
    pub class: String,
    /// What its agents are kept apart by in this contest; none while that is not known.
    pub sandbox: Option<Sandbox>,
    /// How fast it is with all slots at work, in thousand positions a second and core.
    pub speed: f64,
    /// How much slower the slowest twentieth of its time is than the median: 1 is perfectly even.
    pub noise: f64,
}

/// A sign of life, every [`BEAT_MS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beat {
    /// The worker.
    pub worker: WorkerInfo,
    /// The orders that it has: block and attempt.
    pub orders: Vec<(u64, u32)>,
    /// The games that are under way.
    pub games: Vec<u64>,
    /// Games that it has played for this contest.
    pub played: u64,
    /// Why it takes no orders of this contest, if so; hostile text.
    pub refused: Option<String>,
    /// It takes no more orders, and ends when it has played those that it has.
    pub leaving: bool,
}

/// How often a worker says that it is there, in milliseconds.
pub const BEAT_MS: u64 = 3_000;

/// What a match under way has added to its transcript; the bytes come after the line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// The id of the worker.
    pub worker: String,
    /// The game's number.
    pub number: u64,
    /// Which match it is of those that its worker has sent something of: a later one has a higher
    /// number, also where it is the same game played again.
    pub serial: u64,
    /// Where in the transcript the bytes stand.
    pub offset: u64,
    /// How many they are.
    pub bytes: u64,
    /// The match is over, and nothing comes after these bytes.
    pub over: bool,
}

/// The most bytes of a transcript that one message brings.
pub const LIVE_BYTES_MAX: usize = 256 << 10;

/// What the coordinator misses of a match under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resend {
    /// The id of the worker that plays it.
    pub worker: String,
    /// The game's number.
    pub number: u64,
    /// From where in the transcript on.
    pub offset: u64,
}

/// A message of one JSON line and bytes.
pub fn with_bytes<T: Serialize>(message: &T, bytes: &[&[u8]]) -> Vec<u8> {
    let mut all = serde_json::to_vec(message).unwrap_or_default();
    all.push(b'\n');
    for some in bytes {
        all.extend_from_slice(some);
    }
    all
}

/// The line and the bytes of a message, or what is wrong with it.
pub fn split_bytes<'a, T: Deserialize<'a>>(message: &'a [u8]) -> Result<(T, &'a [u8]), String> {
    let end = message.iter().position(|&byte| byte == b'\n').unwrap_or(message.len());
    let line = serde_json::from_slice(&message[..end]).map_err(|error| error.to_string())?;
    Ok((line, message.get(end + 1..).unwrap_or_default()))
}
