//! The canary: an agent of the referee's own that attacks everything around it and tells what the
//! system answered. It is started as agents are, so that what holds for it holds for them.

mod attack;
mod files;
mod kernel;
mod limits;
mod network;
mod processes;

pub use attack::{Attack, Pace};

use crate::launcher::Bounds;
use nix::errno::Errno;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::Duration;

/// The hidden command by which this program becomes a canary.
pub const CANARY_COMMAND: &str = "__canary";
/// The word after it for a process that is there to be attacked.
pub(super) const VICTIM: &str = "victim";
/// The word after it for a process that becomes a daemon, and a word that it can be known by.
pub(super) const DAEMON: &str = "daemon";
/// The word after it for the daemon itself.
const DAEMON_ITSELF: &str = "daemon-itself";

/// The folder of a canary's program, below [`Targets::folder`].
pub(super) const PROGRAM: &str = "program";

/// The word after it by which it only prints the table of attacks, for the hostile suite.
const TABLE: &str = "table";

/// What a canary is to attack.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Targets {
    /// The referee's process.
    pub(super) referee: i32,
    /// A process of the referee's user, which lets anybody trace it.
    pub(super) victim: i32,
    /// A word that stands in the victim's command line, and in no other; the name of an abstract
    /// socket, too.
    pub(super) word: String,
    /// A word for the command line of a daemon, and for no other.
    pub(super) daemon: String,
    /// The address of eight bytes in the victim's memory.
    pub(super) address: usize,
    /// A folder that is not the canary's: a file `secret`, a socket `socket`, folders `opponent`
    /// and `referee`. The folder [`PROGRAM`] in it is that of its program, which it may read.
    pub(super) folder: PathBuf,
    /// Its work folder.
    pub(super) work: PathBuf,
    /// The device and the number of the machine's own `/tmp`.
    pub(super) tmp: Option<(u64, u64)>,
    /// The port of a listener.
    pub(super) tcp: u16,
    /// The port of a socket for packets.
    pub(super) udp: u16,
    /// The key of a shared memory segment.
    pub(super) segment: i32,
    /// The referee's namespaces, as the kernel names them: (`pid`, `pid:[4026531836]`).
    pub(super) namespaces: Vec<(String, String)>,
    /// What the canary may use.
    pub(super) bounds: Bounds,
    /// How long it stays over a limit that somebody has to measure.
    pub(super) stay: Duration,
}

/// What a canary is told, as one line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Orders {
    /// What to attack.
    pub(super) targets: Targets,
    /// How, in this order.
    pub(super) attacks: Vec<Attack>,
}

/// What became of an attack, as one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    /// Which.
    pub(super) attack: Attack,
    /// The system refused.
    pub(super) held: bool,
    /// What it said: the name of an error, `worked`, or what was found.
    pub(super) told: String,
}

/// What became of an attack: nothing was against it, or what was, in words.
type Outcome = Result<(), String>;

/// An error's name.
fn refused(errno: Errno) -> String {
    format!("{errno:?}")
}

/// The errors by which a filter of system calls refuses one. Any other means that the call has
/// reached the part of the kernel that it is for.
const REFUSALS: [Errno; 3] = [Errno::EPERM, Errno::ENOSYS, Errno::EACCES];

/// For calls whose arguments make no sense: they worked if the kernel looked at the arguments.
fn reached<T>(result: nix::Result<T>) -> Outcome {
    match result.map(drop) {
        Err(errno) if REFUSALS.contains(&errno) => Err(refused(errno)),
        _ => Ok(()),
    }
}

/// As the system tells it.
fn plain<T>(result: Result<T, impl Into<io::Error>>) -> Outcome {
    let number = |error: io::Error| Errno::from_raw(error.raw_os_error().unwrap_or(0));
    result.map(drop).map_err(|error| refused(number(error.into())))
}

/// For what the system tells without refusing anything: whether what is attacked is open.
fn open_if(open: bool) -> Outcome {
    if open { Ok(()) } else { Err("no".to_owned()) }
}

/// Runs the canary, or the process that it attacks, as the words after the command say. To be
/// called before anything else, while the process has one thread.
pub fn run() {
    let words: Vec<String> = std::env::args().skip(2).collect();
    match words.first().map(String::as_str) {
        Some(VICTIM) => processes::be_victim(),
        Some(DAEMON) => processes::become_daemon(&words[1..]),
        Some(DAEMON_ITSELF) => processes::be_daemon(),
        Some(TABLE) => print_table(),
        _ => {
            // Without orders, or nobody to answer to, there is nothing to do.
            obey(io::stdin().lock(), io::stdout().lock()).ok();
        }
    }
}

/// Each attack's words, and the level from which on it must fail, as one JSON object.
fn print_table() {
    let levels = Attack::all().filter_map(|it| Some((it.name(), it.fails_from()?.name())));
    let table: BTreeMap<&str, &str> = levels.collect();
    serde_json::to_writer(io::stdout(), &table).ok();
}

fn obey(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let Orders { targets, attacks } = serde_json::from_str(&line)?;
    for attack in attacks {
        let (held, told) = match attack.attempt(&targets) {
            Ok(()) => (false, "worked".to_owned()),
            Err(refusal) => (true, refusal),
        };
        let mut answer = serde_json::to_vec(&Answer { attack, held, told })?;
        answer.push(b'\n');
        output.write_all(&answer)?;
        output.flush()?;
    }
    // Until it is killed: what it has started is to be found with it still there.
    input.read_line(&mut line)?;
    Ok(())
}
