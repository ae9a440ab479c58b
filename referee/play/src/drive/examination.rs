//! Examining an agent that didn't answer, to explain to its author why: what it waits for, what it does when its input
//! ends, and where its code is. That may end it, so nothing that it does then counts.

use super::patience::{LOOK, Patience};
use super::{Drive, KILLED};
use crate::connection::AgentConnection;
use referee_match::diagnosis::{AtEnd, Hang, Wait, cause_line, stack_place};
use referee_process::agent::AgentEvent;
use referee_process::usage::Meters;
use referee_protocol::{FaultKind, Seat};
use std::time::{Duration, Instant};

/// How long it may sleep after its input was closed.
const END_WAIT: Duration = Duration::from_secs(1);
/// How often is looked at an agent that doesn't sleep.
const LOOKS: usize = 4;
/// How long its runtime may take to write its stack.
const STACK_WAIT: Duration = Duration::from_millis(500);
/// How long all that may take on a busy machine, and how much is kept of what it writes meanwhile, in bytes.
const EXAMINATION_MAX: Duration = Duration::from_secs(20);
const OUTPUT_BYTES: usize = 256 << 10;

/// A message of an unknown type, which an agent must ignore.
const ANOTHER_LINE: &[u8] = b"{\"type\":\"x_another\"}\n";

/// Examines an agent that was asked and has not answered. What it writes to stderr after that is not its own: it may see
/// the end of its input before it is killed, and complain.
pub(super) async fn examine(agent: &mut AgentConnection) -> Hang {
    let hang = what_it_waits_for(agent, Instant::now() + EXAMINATION_MAX).await;
    agent.process.stderr.copy(true);
    hang
}

async fn what_it_waits_for(agent: &mut AgentConnection, until: Instant) -> Hang {
    let mut hang = agent.hang();
    for _ in 0..LOOKS {
        if hang.wait.is_some() {
            break;
        }
        // A thread of its runtime may be awake for a moment.
        listen(agent, LOOK, until, true).await;
        hang = agent.hang();
    }
    // A line that has begun explains itself.
    if !agent.process.unended_line().is_empty() {
        return hang;
    }
    if hang.wait.is_some_and(Wait::may_end_with_input) {
        agent.process.stderr.copy(false);
        // Where any thread may read, the one that should answer may wait for something else, and the reader end the
        // program with its input. A line more keeps it busy, or is what the program waits for.
        if agent.process.meters_left().is_some_and(Meters::runs_in_any_thread) {
            agent.process.put(ANOTHER_LINE);
            agent.process.flush();
            let (stdout, _) = listen(agent, STACK_WAIT, until, true).await;
            if let Some(line) = stdout.lines().next() {
                hang.at_end = Some(AtEnd::Prompted(line.as_bytes().to_vec()));
                return hang;
            }
        }
        agent.process.close();
        let (stdout, status) = listen(agent, END_WAIT, until, true).await;
        let at_end = what_it_did(&stdout, status, &agent.process.stderr.copied());
        if at_end == AtEnd::Stays {
            let left = agent.hang();
            // One that runs then waited for its input.
            hang = Hang { unread: hang.unread, wait: left.wait.or(hang.wait), ..left };
        }
        hang.at_end = Some(at_end);
    }
    if matches!(hang.at_end, None | Some(AtEnd::Stays)) {
        agent.process.stderr.copy(true);
        if agent.process.meters_left().is_some_and(Meters::ask_for_stack) {
            let (stdout, _) = listen(agent, STACK_WAIT, until, false).await;
            let stack = agent.process.stderr.copied() + &stdout;
            hang.place = stack_place(&stack);
            hang.wait = Wait::of_stack(&stack).or(hang.wait);
        }
    }
    hang
}

/// Returns what an agent did at the end of its input, by its output and how it exited, if it did.
fn what_it_did(stdout: &str, status: Option<String>, stderr: &str) -> AtEnd {
    match (stdout.lines().find(|line| !line.trim().is_empty()), status) {
        (Some(line), _) => AtEnd::Wrote(line.as_bytes().to_vec()),
        (None, None) => AtEnd::Stays,
        (None, Some(status)) => match cause_line(stderr) {
            Some(line) => AtEnd::Failed(line),
            None if status == "exit status 0" => AtEnd::Ended,
            None => AtEnd::Failed(status),
        },
    }
}

/// Listens to an agent that needs no answer until it ends or, with `to_line`, writes a line, or has slept for so long, or
/// until `until`. Returns the beginning of its stdout, and how it ended.
async fn listen(
    agent: &mut AgentConnection,
    time: Duration,
    until: Instant,
    to_line: bool,
) -> (String, Option<String>) {
    let mut patience = Patience::begin(time, Instant::now());
    let mut stdout = String::new();
    let mut goes_on = |agent: &AgentConnection| {
        let now = Instant::now();
        now < until && !patience.is_over(agent, now)
    };
    while (!to_line || stdout.is_empty()) && goes_on(agent) {
        match agent.process.next_event(Instant::now() + LOOK).await {
            Some(AgentEvent::Line(line)) => {
                let room = OUTPUT_BYTES.saturating_sub(stdout.len());
                if room > 0 {
                    let begun = &line.bytes[..line.bytes.len().min(room)];
                    stdout.push_str(&String::from_utf8_lossy(begun));
                    stdout.push('\n');
                }
            }
            Some(event @ (AgentEvent::Exited(_) | AgentEvent::Gone)) => {
                let status = match &event {
                    AgentEvent::Exited(status) => status.clone(),
                    _ => KILLED.to_owned(),
                };
                agent.process.unread(event);
                return (stdout, Some(status));
            }
            Some(_) | None => {}
        }
    }
    (stdout, None)
}

impl Drive<'_> {
    /// Whether the author of a seat's agent is to learn why no answer came, before it is killed.
    pub(super) fn is_examined(&self, seat: Seat) -> bool {
        let fault = self.state.fault_of(seat);
        let is_mute =
            fault.is_some_and(|fault| matches!(fault.kind, FaultKind::Late | FaultKind::Start));
        let agent = self.participants[seat.index()].connection();
        let runs = agent.is_some_and(|it| it.process.is_running() && !it.has_dialect());
        // Meanwhile nobody is heard, and who is stopped shows nothing.
        let disturbs = self.early.thinks() || !self.freezer.runs(seat);
        let is_stopped = self.core.orders.borrow().stop.is_some();
        self.examines && is_mute && runs && !disturbs && !is_stopped
    }

    /// Examines the seat that waits for that, then kills it and goes on.
    pub(super) async fn examine(&mut self) {
        while let Some(seat) = self.examined {
            let mut orders = self.core.orders.clone();
            if let Some(agent) = self.participants[seat.index()].connection_mut() {
                // Whoever ends the match doesn't wait for it.
                self.ends[seat.index()].seen.hang = tokio::select! {
                    hang = examine(agent) => Some(hang),
                    Ok(_) = orders.wait_for(|orders| orders.stop.is_some()) => None,
                };
            }
            self.examined = None;
            self.end_process(seat);
            self.apply();
        }
        self.end_check_if_known();
    }
}

#[cfg(test)]
mod tests {
    use super::{AtEnd, what_it_did};

    #[test]
    fn the_end_of_input_tells_an_agent_that_buffers_from_one_that_reads_on() {
        const TRACEBACK: &str = "Traceback (most recent call last):\n  File \"/a/bot.py\", line 9, in <module>\nEOFError: EOF\n";
        for (stdout, status, stderr, expected) in [
            (
                "\n{\"type\":\"ready\"}\n{}\n",
                None,
                "",
                AtEnd::Wrote(b"{\"type\":\"ready\"}".to_vec()),
            ),
            ("{}\n", Some("exit status 1"), TRACEBACK, AtEnd::Wrote(b"{}".to_vec())),
            (" \n", None, "", AtEnd::Stays),
            ("", Some("exit status 0"), "bye\n", AtEnd::Ended),
            (
                "",
                Some("exit status 1"),
                TRACEBACK,
                AtEnd::Failed("EOFError: EOF (bot.py:9)".to_owned()),
            ),
            ("", Some("signal 13 (SIGPIPE)"), "", AtEnd::Failed("signal 13 (SIGPIPE)".to_owned())),
        ] {
            assert_eq!(what_it_did(stdout, status.map(str::to_owned), stderr), expected);
        }
    }
}
