//! The attacker: an agent of the referee's own that attacks everything around it and reports how
//! the system responded. It is started exactly like agents, so what holds for it holds for them.

mod attack;
mod files;
mod kernel;
mod limits;
mod network;
mod processes;

pub use attack::Attack;
pub(crate) use attack::Cost;

use nix::errno::Errno;
use referee_protocol::Limits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::Duration;

/// The hidden command that makes this program an attacker.
pub(crate) const ATTACKER_COMMAND: &str = "__attacker";
/// Argument: run as the process that is attacked.
pub(super) const VICTIM: &str = "victim";
/// Argument: become a daemon; followed by a word that identifies it.
pub(super) const DAEMON: &str = "daemon";
/// Argument: run as the daemon itself.
const DAEMON_ITSELF: &str = "daemon-itself";

/// The folder of the attacker's program, below [`Targets::folder`].
pub(super) const PROGRAM: &str = "program";

/// Argument: print the table of attacks, for the hostile suite.
const TABLE: &str = "table";

/// What the attacker attacks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Targets {
    /// The referee's process ID.
    pub(super) referee: i32,
    /// A process of the referee's user, which any process may trace.
    pub(super) victim: i32,
    /// A word that only the victim's command line contains; also the name of an abstract socket.
    pub(super) word: String,
    /// A word that only a daemon's command line contains.
    pub(super) daemon: String,
    /// The address of eight bytes in the victim's memory.
    pub(super) address: usize,
    /// A folder outside: a file `secret`, a socket `socket`, folders `opponent` and `referee`. The
    /// attacker may read only the folder [`PROGRAM`] in it, of its own program.
    pub(super) folder: PathBuf,
    /// The attacker's work folder.
    pub(super) work: PathBuf,
    /// The device and inode of the machine's `/tmp`.
    pub(super) tmp: Option<(u64, u64)>,
    /// The port of a TCP listener.
    pub(super) tcp: u16,
    /// The port of a UDP socket.
    pub(super) udp: u16,
    /// The key of a shared memory segment.
    pub(super) segment: i32,
    /// The referee's namespaces by kind and kernel ID: (`pid`, `pid:[4026531836]`).
    pub(super) namespaces: Vec<(String, String)>,
    /// The attacker's limits.
    pub(super) limits: Limits,
    /// How long to stay over a limit that must be measured.
    pub(super) stay: Duration,
}

/// What to attack, as one line of JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AttackRequest {
    /// The targets.
    pub(super) targets: Targets,
    /// The attacks, in this order.
    pub(super) attacks: Vec<Attack>,
}

/// The result of an attack, as one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AttackResult {
    /// The attack.
    pub(super) attack: Attack,
    /// It was stopped.
    pub(super) held: bool,
    /// The system's answer: the name of an error, `worked`, or an observation.
    pub(super) answer: String,
}

/// The result of an attack: it worked, or the reason why it was stopped.
type Outcome = Result<(), String>;

/// Returns an error's name.
fn refused(errno: Errno) -> String {
    format!("{errno:?}")
}

/// The errors with which a seccomp filter refuses a call. Any other error means that the call
/// reached its part of the kernel.
const REFUSALS: [Errno; 3] = [Errno::EPERM, Errno::ENOSYS, Errno::EACCES];

/// Converts the result of a call with invalid arguments: it worked if the kernel checked the arguments.
fn reached<T>(result: nix::Result<T>) -> Outcome {
    match result.map(drop) {
        Err(errno) if REFUSALS.contains(&errno) => Err(refused(errno)),
        _ => Ok(()),
    }
}

/// Converts a system call's result.
fn plain<T>(result: Result<T, impl Into<io::Error>>) -> Outcome {
    let number = |error: io::Error| Errno::from_raw(error.raw_os_error().unwrap_or(0));
    result.map(drop).map_err(|error| refused(number(error.into())))
}

/// Converts the result of a check without an error: whether the target is accessible.
fn open_if(open: bool) -> Outcome {
    if open { Ok(()) } else { Err("no".to_owned()) }
}

/// Runs the attacker, or a process that it needs, depending on the arguments. Call it first, while
/// the process has one thread.
pub(crate) fn run() {
    let words: Vec<String> = std::env::args().skip(2).collect();
    match words.first().map(String::as_str) {
        Some(VICTIM) => processes::be_victim(),
        Some(DAEMON) => processes::become_daemon(&words[1..]),
        Some(DAEMON_ITSELF) => processes::be_daemon(),
        Some(TABLE) => print_table(),
        _ => {
            // Without a request or a reader there is nothing to do.
            run_attacks(io::stdin().lock(), io::stdout().lock()).ok();
        }
    }
}

/// Prints each attack's description and the level from which on it must fail, as one JSON object.
fn print_table() {
    let levels = Attack::all().filter_map(|it| Some((it.name(), it.fails_from()?.name())));
    let table: BTreeMap<&str, &str> = levels.collect();
    serde_json::to_writer(io::stdout(), &table).ok();
}

fn run_attacks(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let AttackRequest { targets, attacks } = serde_json::from_str(&line)?;
    for attack in attacks {
        let (held, answer) = match attack.attempt(&targets) {
            Ok(()) => (false, "worked".to_owned()),
            Err(refusal) => (true, refusal),
        };
        let mut answer = serde_json::to_vec(&AttackResult { attack, held, answer })?;
        answer.push(b'\n');
        output.write_all(&answer)?;
        output.flush()?;
    }
    // Until it is killed: processes that it has started must be found while it is running.
    input.read_line(&mut line)?;
    Ok(())
}
