//! The yardstick of a turn: two instant agents on blocking pipes. The same bytes are exchanged as in a
//! match, without any processing.

use crate::agent::{HELLO, Piped};
use referee_protocol::{Action, FromAgent, Played, Seat, ToAgent, Turn, parse_from_agent};
use std::error::Error;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;
use tokio::net::unix::pipe;

/// The hidden mode in which this program plays ping-pong.
pub(crate) const PING_PONG_MODE: &str = "__ping_pong";

/// Exchanges the first `turns` turns of a script.
pub(crate) fn run(script: &Path, turns: usize) -> Result<(), Box<dyn Error>> {
    let requests = requests(&std::fs::read(script)?, turns)?;
    let mut agents = [Piped::agent(script)?, Piped::agent(script)?];
    let mut buffer = vec![0; 64 * 1024];
    for agent in &mut agents {
        exchange(agent, HELLO, &mut buffer)?;
    }
    for (turn, request) in requests.iter().enumerate() {
        exchange(&mut agents[turn % 2], request, &mut buffer)?;
    }
    for agent in agents {
        agent.end()?;
    }
    Ok(())
}

/// The hidden mode in which this program plays ping-pong in an event loop.
pub(crate) const EVENT_LOOP_MODE: &str = "__event_loop";

/// Like [`run`], but with non-blocking pipes and a timeout, as any referee needs that waits for several
/// events. The difference to [`run`] is the cost of the event loop.
pub(crate) fn run_in_event_loop(script: &Path, turns: usize) -> Result<(), Box<dyn Error>> {
    let requests = requests(&std::fs::read(script)?, turns)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut agents =
            [non_blocking(Piped::agent(script)?)?, non_blocking(Piped::agent(script)?)?];
        let mut buffer = vec![0; 64 * 1024];
        for agent in &mut agents {
            exchange_in_event_loop(agent, HELLO, &mut buffer).await?;
        }
        for (turn, request) in requests.iter().enumerate() {
            let answer = exchange_in_event_loop(&mut agents[turn % 2], request, &mut buffer);
            tokio::time::timeout(TIME_OUT, answer).await??;
        }
        for agent in agents {
            agent.end()?;
        }
        Ok(())
    })
}

/// Far longer than any turn.
const TIME_OUT: Duration = Duration::from_secs(600);

/// An agent on non-blocking pipes.
type EventAgent = Piped<pipe::Sender, pipe::Receiver>;

fn non_blocking(agent: Piped) -> io::Result<EventAgent> {
    let input = pipe::Sender::from_owned_fd(agent.input.into())?;
    let output = pipe::Receiver::from_owned_fd(agent.output.into())?;
    Ok(Piped { child: agent.child, input, output })
}

async fn exchange_in_event_loop(
    agent: &mut EventAgent,
    request: &[u8],
    buffer: &mut [u8],
) -> io::Result<()> {
    agent.input.writable().await?;
    // An empty pipe accepts a whole request.
    if agent.input.try_write(request)? != request.len() {
        return Err(io::ErrorKind::WriteZero.into());
    }
    let mut filled = 0;
    while filled == 0 || buffer[filled - 1] != b'\n' {
        agent.output.readable().await?;
        match agent.output.try_read(&mut buffer[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns what a referee writes for each turn: the actions since the seat's last turn, and the request.
fn requests(script: &[u8], turns: usize) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let mut news = [Vec::new(), Vec::new()];
    let mut requests = Vec::with_capacity(turns);
    for (number, line) in script.split(|&byte| byte == b'\n').take(turns).enumerate() {
        let (turn, index) = (number as u64, number % 2);
        let seat = if index == 0 { Seat(0) } else { Seat(1) };
        let left_ms = Some(599_000);
        let together = Vec::new();
        let request =
            ToAgent::Turn(Turn { turn, left_ms, position: None, actions: None, together });
        append(&mut news[index], &request)?;
        requests.push(std::mem::take(&mut news[index]));
        let FromAgent::Action(Action { action, .. }) = parse_from_agent(line)? else {
            return Err("the script has other lines than actions".into());
        };
        let played = ToAgent::Played(Played { turn, seat, action: action.into(), used_ms: 1 });
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

/// Writes a request and reads a whole line.
fn exchange(agent: &mut Piped, request: &[u8], buffer: &mut [u8]) -> io::Result<()> {
    agent.input.write_all(request)?;
    let mut filled = 0;
    while filled == 0 || buffer[filled - 1] != b'\n' {
        match agent.output.read(&mut buffer[filled..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => filled += count,
        }
    }
    Ok(())
}
