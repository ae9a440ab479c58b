//! What the referee, the launcher and the supervisors say to each other.

use referee_protocol::{Layer, Layers, Limits};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The longest request, in bytes: below what one packet of a socket holds by default.
pub(super) const REQUEST_BYTES_MAX: usize = 128 * 1024;

/// A program to start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// The file, resolved.
    pub file: Bytes,
    /// The arguments, the program's own name first.
    pub arguments: Vec<Bytes>,
    /// The whole environment, `NAME=value` each.
    pub environment: Vec<Bytes>,
    /// The working directory.
    pub folder: Bytes,
    /// What it may use.
    pub bounds: Bounds,
    /// What it may reach, from level `confined` on.
    pub reach: Reach,
    /// The core that it is to stay on, where it is to stay on one.
    pub core: Option<usize>,
}

/// What a launcher does to keep agents where they are; told once, when it is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jail {
    /// What is to be in force. A layer that can't be had fails the start of an agent, as the
    /// machine's fault.
    pub layers: Layers,
    /// The control groups in which agents get their own, where they are metered: version 2, or one
    /// a controller of version 1. Absolute paths.
    pub groups: Vec<PathBuf>,
    /// For tests of the tests: something goes wrong.
    pub mishap: Option<Mishap>,
}

/// Something that goes wrong on purpose, so that it can be seen that it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mishap {
    /// The layer is left out and nobody says so.
    Silent(Layer),
    /// The system doesn't know the layer.
    Missing(Layer),
    /// The process that puts the layer up is killed there.
    Killed(Layer),
}

/// What an agent's tree may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Open files a process.
    pub files: u64,
    /// Memory of all its processes, in MiB.
    pub memory_mb: u64,
    /// Processes and threads.
    pub processes: u64,
    /// A file's size, and what its folders hold, in MiB.
    pub work_mb: u64,
}

impl From<&Limits> for Bounds {
    fn from(limits: &Limits) -> Self {
        Self {
            files: limits.files,
            memory_mb: limits.memory_mb,
            processes: limits.processes,
            work_mb: limits.work_mb,
        }
    }
}

/// What an agent may reach of the machine's files: absolute paths. What isn't there is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Files and folders that it may read, list and execute, with all that is below.
    pub read: Vec<Bytes>,
    /// Folders that it may list, but of which it may read only what `read` has.
    pub list: Vec<Bytes>,
    /// Its private work folder, where it may do anything.
    pub work: Bytes,
}

/// A string of the system, which need not be UTF-8. It travels as text of the characters that have
/// its bytes as their numbers, which are read much faster than a list of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Bytes(pub Vec<u8>);

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> Self {
        bytes.0.into_iter().map(char::from).collect()
    }
}

impl TryFrom<String> for Bytes {
    type Error = std::char::TryFromCharError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.chars().map(u8::try_from).collect::<Result<_, _>>().map(Self)
    }
}

impl From<OsString> for Bytes {
    fn from(text: OsString) -> Self {
        Self(text.into_vec())
    }
}

impl From<PathBuf> for Bytes {
    fn from(path: PathBuf) -> Self {
        path.into_os_string().into()
    }
}

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

/// How long a report on the control socket is.
pub const REPORT_BYTES: usize = 16;

/// What a supervisor tells the referee: sixteen bytes, a letter and two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The program runs.
    Started {
        /// Its process.
        pid: i32,
        /// CPU time of all that this supervisor took in before, of other agents, in microseconds.
        reaped_us: u64,
    },
    /// The program could not be started: the system's error number. [`Report::Gone`] follows.
    Failed(i32),
    /// The supervisor could not do its own part: at which step, with the system's error number.
    Broken(Step, i32),
    /// The agent's tree went over a limit, and is being killed.
    Limit(Limit),
    /// The agent's processes run again, after [`Command::Continue`].
    Continued,
    /// The program ended, with this status as `waitpid` gives it.
    Exited(i32),
    /// Nothing of the agent is left, of its own accord or because it was killed. The supervisor has
    /// no agent any more and takes the next one.
    Gone,
}

/// What a supervisor was doing when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Making a process and its surroundings.
    Begin,
    /// Putting up a layer.
    Layer(Layer),
}

/// A limit on the whole tree of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Bounds::memory_mb`]; so much was in use, in KiB.
    Memory(u64),
    /// [`Bounds::processes`]; so many were there.
    Processes(u64),
}

impl Limit {
    /// What happened, in words, beside what was allowed.
    pub fn told(self, limits: &Limits) -> String {
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

impl Report {
    /// As it goes over the socket.
    pub fn to_bytes(self) -> [u8; REPORT_BYTES] {
        let (letter, number, more) = match self {
            Self::Started { pid, reaped_us } => (b'S', pid, reaped_us),
            Self::Failed(errno) => (b'F', errno, 0),
            Self::Broken(Step::Begin, errno) => (b'B', errno, 0),
            Self::Broken(Step::Layer(layer), errno) => (b'L', errno, layer as u64),
            Self::Limit(Limit::Memory(kib)) => (b'M', 0, kib),
            Self::Limit(Limit::Processes(count)) => (b'P', 0, count),
            Self::Continued => (b'C', 0, 0),
            Self::Exited(status) => (b'X', status, 0),
            Self::Gone => (b'G', 0, 0),
        };
        let mut bytes = [0; REPORT_BYTES];
        bytes[0] = letter;
        bytes[4..8].copy_from_slice(&number.to_le_bytes());
        bytes[8..].copy_from_slice(&more.to_le_bytes());
        bytes
    }

    /// As it came; `None` if no supervisor of this version wrote it.
    pub fn from_bytes(bytes: [u8; REPORT_BYTES]) -> Option<Self> {
        let number = i32::from_le_bytes(bytes[4..8].try_into().ok()?);
        let more = u64::from_le_bytes(bytes[8..].try_into().ok()?);
        match bytes[0] {
            b'S' => Some(Self::Started { pid: number, reaped_us: more }),
            b'F' => Some(Self::Failed(number)),
            b'B' => Some(Self::Broken(Step::Begin, number)),
            b'L' => {
                let layer = *Layer::ALL.iter().find(|&&layer| layer as u64 == more)?;
                Some(Self::Broken(Step::Layer(layer), number))
            }
            b'M' => Some(Self::Limit(Limit::Memory(more))),
            b'P' => Some(Self::Limit(Limit::Processes(more))),
            b'C' => Some(Self::Continued),
            b'X' => Some(Self::Exited(number)),
            b'G' => Some(Self::Gone),
            _ => None,
        }
    }
}

/// What the referee tells a supervisor: one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Kill the agent and all that it started, and say [`Report::Gone`].
    Kill,
    /// Stop the agent's processes, until [`Command::Continue`].
    Stop,
    /// Let them run again.
    Continue,
}

impl Command {
    /// As it goes over the socket.
    pub fn to_byte(self) -> u8 {
        match self {
            Self::Kill => b'K',
            Self::Stop => b'T',
            Self::Continue => b'C',
        }
    }

    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Kill, Self::Stop, Self::Continue].into_iter().find(|it| it.to_byte() == byte)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Command, Limit, REPORT_BYTES, Report, Step};
    use referee_protocol::Layer;

    #[test]
    fn strings_come_back_as_they_went() {
        let bytes = Bytes((1..=255).collect());
        let sent = serde_json::to_vec(&bytes).unwrap();
        assert_eq!(serde_json::from_slice::<Bytes>(&sent).unwrap(), bytes);
        assert!(serde_json::from_str::<Bytes>("\"\u{20ac}\"").is_err());
    }

    #[test]
    fn reports_and_commands_come_back_as_they_went() {
        for report in [
            Report::Started { pid: 4711, reaped_us: 1 << 40 },
            Report::Failed(2),
            Report::Broken(Step::Begin, 12),
            Report::Broken(Step::Layer(Layer::Seccomp), 1),
            Report::Limit(Limit::Memory(1 << 30)),
            Report::Limit(Limit::Processes(129)),
            Report::Continued,
            Report::Exited(-1),
            Report::Gone,
        ] {
            assert_eq!(Report::from_bytes(report.to_bytes()), Some(report));
        }
        assert_eq!(Report::from_bytes([0; REPORT_BYTES]), None);
        for command in [Command::Kill, Command::Stop, Command::Continue] {
            assert_eq!(Command::from_byte(command.to_byte()), Some(command));
        }
    }
}
