//! Messages between the referee, the launcher and the supervisors.

use crate::sandbox::{Layer, Layers};
use referee_protocol::Limits;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The longest request, in bytes: below what one packet of a socket holds by default.
pub(super) const REQUEST_BYTES_MAX: usize = 128 * 1024;

/// User IDs for agents if the referee runs as root: a range that neither distributions nor
/// administrators assign.
pub const USERS: std::ops::RangeInclusive<u32> = 64_000..=64_999;
/// The group of all these users: it may pass through folders that are closed to other users.
pub const USERS_GROUP: u32 = 65_000;

/// A program to start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// The file, resolved.
    pub file: Bytes,
    /// The arguments, beginning with the program's name.
    pub arguments: Vec<Bytes>,
    /// The working directory.
    pub folder: Bytes,
    /// The conditions.
    pub conditions: StartConditions,
}

impl Program {
    /// Serialises it for a supervisor.
    pub(super) fn to_request(&self) -> io::Result<Vec<u8>> {
        let request = serde_json::to_vec(self)?;
        if request.len() > REQUEST_BYTES_MAX {
            return Err(io::Error::new(
                io::ErrorKind::ArgumentListTooLong,
                format!("command line and environment are longer than {REQUEST_BYTES_MAX} bytes"),
            ));
        }
        Ok(request)
    }
}

/// The conditions under which a program is started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StartConditions {
    /// The whole environment, as `NAME=value`.
    pub environment: Vec<Bytes>,
    /// What it may use.
    pub limits: Limits,
    /// Files that it may access, from level `confined` on.
    pub reach: Reach,
    /// The core to pin it to, if any.
    pub core: Option<usize>,
    /// Whether the CPU time of its whole tree matters, so that the kernel is to count it.
    pub counts_cpu: bool,
}

/// How a launcher confines agents; sent once, when it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LauncherConfig {
    /// The layers to apply. If one can't be applied, the agent's start fails, as the machine's
    /// fault.
    pub layers: Layers,
    /// The control groups in which agents' own groups are made: one of version 2, or one per
    /// controller of version 1. Absolute paths.
    pub groups: Vec<PathBuf>,
    /// What share of the machine agents have.
    #[serde(default)]
    pub share: Share,
    /// Whether their system calls may reach other machines, as those of some builds.
    #[serde(default)]
    pub network: bool,
    /// An injected failure, for tests.
    pub injected_failure: Option<InjectedFailure>,
}

/// What share of the machine agents have beside all else on it. The cores are those that nobody plays matches on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Share {
    /// As agents in a match.
    #[default]
    Match,
    /// As agents in a match, but only on these cores; if there are none, on any with a small part of it.
    Beside(Vec<usize>),
    /// Only what nothing else wants, only on these cores; on any if there are none.
    Rest(Vec<usize>),
}

/// A failure that is injected to test that it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InjectedFailure {
    /// The layer is skipped without a report.
    Silent(Layer),
    /// The system doesn't support the layer.
    Missing(Layer),
    /// The process that applies the layer is killed there.
    Killed(Layer),
}

/// The files that an agent may access, as absolute paths. Missing ones are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Files and folders that it may read, list and execute, recursively.
    pub read: Vec<Bytes>,
    /// Folders that it may list; of their contents it may read only what `read` has.
    pub list: Vec<Bytes>,
    /// Its private work folder, where it may do anything.
    pub work: Bytes,
    /// A folder that it may change and whose contents outlive it: for builds.
    #[serde(default)]
    pub write: Option<Bytes>,
    /// Whether it may use the network, as far as Landlock decides: for builds.
    #[serde(default)]
    pub network: bool,
}

/// A byte string of the system, which need not be UTF-8. It is serialised as text with one
/// character per byte, which is read much faster than a list of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Bytes(pub Vec<u8>);

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> Self {
        // Most are ASCII.
        let other = |bytes: Vec<u8>| bytes.into_iter().map(char::from).collect();
        if bytes.0.is_ascii() {
            Self::from_utf8(bytes.0).unwrap_or_default()
        } else {
            other(bytes.0)
        }
    }
}

impl TryFrom<String> for Bytes {
    type Error = std::char::TryFromCharError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.is_ascii() {
            return Ok(Self(text.into_bytes()));
        }
        text.chars().map(u8::try_from).collect::<Result<_, _>>().map(Self)
    }
}

impl Bytes {
    /// Converts a string or a path.
    pub fn of(text: impl AsRef<OsStr>) -> Self {
        Self(text.as_ref().as_bytes().to_vec())
    }

    /// Returns an environment variable: `NAME=value`.
    pub fn variable(name: &str, value: impl AsRef<OsStr>) -> Self {
        let mut variable = format!("{name}=").into_bytes();
        variable.extend(value.as_ref().as_bytes());
        Self(variable)
    }

    /// Returns the bytes as a path.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }
}

/// The length of a report on the control socket. All are equally long: a reader that gets fewer
/// bytes than it has room for assumes that nothing more is there.
pub const REPORT_BYTES: usize = 64;

/// What a supervisor reports to the referee: a packet of JSON, padded with blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The program runs. The packet also has the files that count the CPU time of its tree, if that is
    /// asked for: the time that is lost otherwise, and the kernel's counter, if there is one.
    Started {
        /// Its process ID.
        pid: i32,
        /// CPU time of earlier agents that this supervisor had reaped, in microseconds.
        reaped_us: u64,
    },
    /// The program could not be started: the system's error number. [`Report::Gone`] follows.
    Failed(i32),
    /// The supervisor failed: at which step, with the system's error number.
    Broken(Step, i32),
    /// The agent's tree exceeded a limit, and is being killed.
    Limit(Limit),
    /// The agent's processes run again, after [`Command::Continue`].
    Continued {
        /// CPU time that they used although they were to be stopped, in microseconds.
        ran_us: u64,
    },
    /// The program ended, with this status as returned by `waitpid`, and the most memory that it or
    /// another process that it waited for has had, in KiB.
    Exited(i32, u64),
    /// No process of the agent is left, whether it ended or was killed. The supervisor is idle and
    /// takes the next agent.
    Gone,
}

impl Report {
    /// Serialises it for the socket.
    pub(super) fn to_bytes(self) -> [u8; REPORT_BYTES] {
        let mut bytes = [b' '; REPORT_BYTES];
        // The longest report fits.
        serde_json::to_writer(&mut bytes[..], &self).ok();
        bytes
    }
}

/// What a supervisor was doing when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Creating the process.
    Begin,
    /// Applying a layer.
    Layer(Layer),
}

/// A limit on an agent's whole tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// [`Limits::memory_mb`] exceeded; the value is the memory in use, in KiB.
    Memory(u64),
    /// [`Limits::processes`] exceeded; the value is how many there were.
    Processes(u64),
}

impl Limit {
    /// Returns what happened and what was allowed.
    pub fn describe(self, limits: &Limits) -> String {
        match self {
            Self::Memory(_) => format!("{self}; {} MiB are allowed", limits.memory_mb),
            Self::Processes(_) => format!("{self}; {} are allowed", limits.processes),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(kib) => write!(f, "{} MiB of memory in use", kib.div_ceil(1024)),
            Self::Processes(count) => write!(f, "{count} processes and threads"),
        }
    }
}

/// A command from the referee to a supervisor: one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Command {
    /// Kill the agent and all its descendants, and send [`Report::Gone`].
    Kill = b'K',
    /// Stop the agent's processes, until [`Command::Continue`].
    Stop = b'T',
    /// Let them run again.
    Continue = b'C',
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Limit, Report, Step};
    use crate::sandbox::Layer;

    #[test]
    fn strings_come_back_as_they_went() {
        let bytes = Bytes((1..=255).collect());
        let sent = serde_json::to_vec(&bytes).unwrap();
        assert_eq!(serde_json::from_slice::<Bytes>(&sent).unwrap(), bytes);
        assert!(serde_json::from_str::<Bytes>("\"\u{20ac}\"").is_err());
    }

    #[test]
    fn every_report_comes_back_as_it_went() {
        for report in [
            Report::Started { pid: i32::MAX, reaped_us: u64::MAX },
            Report::Broken(Step::Layer(Layer::NoNewPrivileges), i32::MIN),
            Report::Limit(Limit::Processes(u64::MAX)),
            Report::Exited(i32::MIN, u64::MAX),
        ] {
            assert_eq!(serde_json::from_slice::<Report>(&report.to_bytes()).unwrap(), report);
        }
    }
}
