//! What the referee, the launcher and the supervisors say to each other.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
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
    /// The most files it may have open.
    pub files: u64,
    /// The core that it is to stay on, where it is to stay on one.
    pub core: Option<usize>,
}

/// A string of the system, which need not be UTF-8. It travels as text of the characters that have
/// its bytes as their numbers, which are read much faster than a list of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The supervisor could not do its own part: the system's error number.
    Broken(i32),
    /// The program ended, with this status as `waitpid` gives it.
    Exited(i32),
    /// Nothing of the agent is left, of its own accord or because it was killed. The supervisor has
    /// no agent any more and takes the next one.
    Gone,
}

impl Report {
    /// As it goes over the socket.
    pub fn to_bytes(self) -> [u8; REPORT_BYTES] {
        let (letter, number, more) = match self {
            Self::Started { pid, reaped_us } => (b'S', pid, reaped_us),
            Self::Failed(errno) => (b'F', errno, 0),
            Self::Broken(errno) => (b'B', errno, 0),
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
        let reaped_us = u64::from_le_bytes(bytes[8..].try_into().ok()?);
        match bytes[0] {
            b'S' => Some(Self::Started { pid: number, reaped_us }),
            b'F' => Some(Self::Failed(number)),
            b'B' => Some(Self::Broken(number)),
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
    use super::{Bytes, Command, REPORT_BYTES, Report};

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
            Report::Broken(12),
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
