//! The instant agent: it answers each request from a list, as fast as a blocking program can.

use crate::measure::{own_cpu, process_cpu};
use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// The hidden mode in which this program is the instant agent.
pub(crate) const AGENT_MODE: &str = "__agent";

/// The hidden mode in which it uses some CPU time in each turn.
pub(crate) const BUSY_MODE: &str = "__busy_agent";

/// The first message to an agent.
pub(crate) const HELLO: &[u8] = b"{\"type\":\"hello\"}\n";

/// A child process and its pipes.
pub(crate) struct Piped<I = ChildStdin, O = ChildStdout> {
    pub(crate) child: Child,
    pub(crate) input: I,
    pub(crate) output: O,
}

impl Piped {
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("no pipe");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        Ok(Self { child, input, output })
    }

    /// Starts the instant agent with this script.
    pub(crate) fn agent(script: &Path) -> io::Result<Self> {
        Self::start(Command::new(std::env::current_exe()?).arg(AGENT_MODE).arg(script))
    }
}

impl<I, O> Piped<I, O> {
    /// Closes its stdin and waits until it exits.
    pub(crate) fn end(self) -> io::Result<()> {
        let Self { mut child, input, .. } = self;
        drop(input);
        child.wait()?;
        Ok(())
    }
}

/// Answers until its stdin ends, after `micros` microseconds of CPU time per turn.
pub(crate) fn run_busily(script: &Path, micros: u64) -> io::Result<()> {
    answer_all(&std::fs::read(script)?, Duration::from_micros(micros))
}

/// Answers until its stdin ends, and then writes its CPU time to a file. Line N of `script`, counted
/// from 0, is the answer to turn N.
pub(crate) fn run(script: &Path) -> io::Result<()> {
    answer_all(&std::fs::read(script)?, Duration::ZERO)?;
    let micros = own_cpu().as_micros();
    // One write, because two agents may append at the same time.
    let mut file = File::options().append(true).create(true).open(cpu_file(script))?;
    file.write_all(format!("{micros}\n").as_bytes())
}

/// The file to which agents append their CPU time in microseconds, one line each.
fn cpu_file(script: &Path) -> PathBuf {
    script.with_extension("cpu")
}

/// Returns the CPU time of all agents of this script that exited since the last call.
pub(crate) fn take_cpu(script: &Path) -> Result<Duration, Box<dyn Error>> {
    let text = std::fs::read_to_string(cpu_file(script))?;
    std::fs::remove_file(cpu_file(script))?;
    let micros = text.lines().map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(Duration::from_micros(micros))
}

fn answer_all(script: &[u8], busy: Duration) -> io::Result<()> {
    let answers: Vec<&[u8]> = script.split_inclusive(|&byte| byte == b'\n').collect();
    // Unbuffered: one system call per message.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut buffer = vec![0; 64 * 1024];
    let mut filled = 0;
    loop {
        let count = input.read(&mut buffer[filled..])?;
        if count == 0 {
            return Ok(());
        }
        filled += count;
        if buffer[filled - 1] != b'\n' {
            continue;
        }
        if let Some(answer) = answer(&buffer[..filled - 1], &answers) {
            if !busy.is_zero() {
                let end = process_cpu() + busy;
                while process_cpu() < end {}
            }
            output.write_all(answer)?;
        }
        filled = 0;
    }
}

/// Answers the last line, because a request is always the last line of one write.
fn answer<'a>(lines: &[u8], answers: &[&'a [u8]]) -> Option<&'a [u8]> {
    let start = lines.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let last = &lines[start..];
    if let Some(rest) = last.strip_prefix(b"{\"type\":\"turn\",\"turn\":") {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
        let turn = digits.fold(0, |turn, &digit| turn * 10 + usize::from(digit - b'0'));
        return answers.get(turn).copied();
    }
    last.starts_with(b"{\"type\":\"hello\"").then_some(b"{\"type\":\"ready\"}\n".as_slice())
}
