//! The yardstick of a turn: two instant agents on blocking pipes, and nothing between them. The same
//! bytes go back and forth as in a match, but nobody looks at them.

use crate::agent::AGENT_MODE;
use referee_protocol::{Action, FromAgent, Played, Seat, ToAgent, Turn, parse_from_agent};
use std::error::Error;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use tokio::net::unix::pipe;

/// The hidden mode in which this program plays ping-pong.
pub(crate) const PING_PONG_MODE: &str = "__ping_pong";

/// Plays the first `turns` turns of a script.
pub(crate) fn run(script: &Path, turns: usize) -> Result<(), Box<dyn Error>> {
    let requests = requests(&std::fs::read(script)?, turns)?;
    let mut agents = [Player::start(script)?, Player::start(script)?];
    let mut buffer = vec![0; 64 * 1024];
    for agent in &mut agents {
        agent.exchange(b"{\"type\":\"hello\"}\n", &mut buffer)?;
    }
    for (turn, request) in requests.iter().enumerate() {
        agents[turn % 2].exchange(request, &mut buffer)?;
    }
    for agent in agents {
        agent.end()?;
    }
    Ok(())
}

/// The hidden mode in which this program plays ping-pong in an event loop.
pub(crate) const EVENT_LOOP_MODE: &str = "__event_loop";

/// The same, but as any referee must that waits for more than one thing: on non-blocking pipes and
/// with a time-out. What it takes more than [`run`] is the price of the event loop alone.
pub(crate) fn run_in_event_loop(script: &Path, turns: usize) -> Result<(), Box<dyn Error>> {
    let requests = requests(&std::fs::read(script)?, turns)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut agents = [EventPlayer::start(script)?, EventPlayer::start(script)?];
        let mut buffer = vec![0; 64 * 1024];
        for agent in &mut agents {
            agent.exchange(b"{\"type\":\"hello\"}\n", &mut buffer).await?;
        }
        for (turn, request) in requests.iter().enumerate() {
            let answer = agents[turn % 2].exchange(request, &mut buffer);
            tokio::time::timeout(TIME_OUT, answer).await??;
        }
        for agent in agents {
            agent.end()?;
        }
        Ok(())
    })
}

/// Far beyond what any turn takes.
const TIME_OUT: Duration = Duration::from_secs(600);

struct EventPlayer {
    child: Child,
    input: pipe::Sender,
    output: pipe::Receiver,
}

impl EventPlayer {
    fn start(script: &Path) -> io::Result<Self> {
        let Player { child, input, output } = Player::start(script)?;
        let input = pipe::Sender::from_owned_fd(input.into())?;
        let output = pipe::Receiver::from_owned_fd(output.into())?;
        Ok(Self { child, input, output })
    }

    async fn exchange(&mut self, request: &[u8], buffer: &mut [u8]) -> io::Result<()> {
        self.input.writable().await?;
        // A pipe that has just been read empty takes a request whole.
        if self.input.try_write(request)? != request.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let mut filled = 0;
        while filled == 0 || buffer[filled - 1] != b'\n' {
            self.output.readable().await?;
            match self.output.try_read(&mut buffer[filled..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn end(self) -> io::Result<()> {
        let Self { mut child, input, .. } = self;
        drop(input);
        child.wait()?;
        Ok(())
    }
}

/// What a referee writes for each turn: what was played since the seat's last turn, and the request.
fn requests(script: &[u8], turns: usize) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let mut news = [Vec::new(), Vec::new()];
    let mut requests = Vec::with_capacity(turns);
    for (number, line) in script.split(|&byte| byte == b'\n').take(turns).enumerate() {
        let (turn, index) = (number as u64, number % 2);
        let seat = if index == 0 { Seat(0) } else { Seat(1) };
        let left_ms = Some(599_000);
        let request = ToAgent::Turn(Turn { turn, left_ms, position: None, actions: None });
        append(&mut news[index], &request)?;
        requests.push(std::mem::take(&mut news[index]));
        let FromAgent::Action(Action { action, .. }) = parse_from_agent(line)? else {
            return Err("the script has other lines than actions".into());
        };
        let played = ToAgent::Played(Played { turn, seat, action, used_ms: 1 });
        for news in &mut news {
            append(news, &played)?;
        }
    }
    Ok(requests)
}

fn append(lines: &mut Vec<u8>, message: &ToAgent) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *lines, message)?;
    lines.push(b'\n');
    Ok(())
}

struct Player {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Player {
    fn start(script: &Path) -> io::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(AGENT_MODE)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let input = input.ok_or_else(|| io::Error::other("no pipe"))?;
        let output = output.ok_or_else(|| io::Error::other("no pipe"))?;
        Ok(Self { child, input, output })
    }

    /// Writes, and waits for a whole line.
    fn exchange(&mut self, request: &[u8], buffer: &mut [u8]) -> io::Result<()> {
        self.input.write_all(request)?;
        let mut filled = 0;
        while filled == 0 || buffer[filled - 1] != b'\n' {
            match self.output.read(&mut buffer[filled..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => filled += count,
            }
        }
        Ok(())
    }

    fn end(self) -> io::Result<()> {
        let Self { mut child, input, .. } = self;
        drop(input);
        child.wait()?;
        Ok(())
    }
}
