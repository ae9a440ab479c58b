//! A turn of a recorded match once more: a fresh process of the agent is written the lines that it had
//! been written then, and what it says to them is listened to.

use super::contender::Contender;
use super::session::{Heard, Session};
use nix::errno::Errno;
use referee_games::{Meaning, kind};
use referee_match::diagnosis::Used;
use referee_match::transcript::{NotSent, Sent};
use referee_process::launcher::Launcher;
use referee_process::sandbox::Enclosure;
use referee_protocol::{
    Action, Event, FromAgent, Garbled, Header, Limits, Resign, Seat, ToAgent, line_bytes,
    parse_from_agent,
};
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// How long is listened on after an answer where more had come.
const AFTER: Duration = Duration::from_secs(1);
/// How often it is looked at how much it has used.
const LOOK: Duration = Duration::from_millis(100);
/// How long is waited at a stretch where there is no limit.
const LONG: Duration = Duration::from_secs(3600);

/// What is to be seen once more.
#[derive(Debug)]
pub struct Rerun<'a> {
    /// What the match was played under.
    pub header: &'a Header,
    /// Its events.
    pub events: &'a [Event],
    /// Whose turn.
    pub seat: Seat,
    /// The turn; the agent's start where it is `None`.
    pub turn: Option<u64>,
    /// How long an answer is waited for; `None`: for ever.
    pub patience: Option<Duration>,
    /// How much CPU time an answer may take; `None`: any.
    pub cpu_patience: Option<Duration>,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Rerunning {
    /// The lines that were written at last: what had come since the turn before, and the request.
    pub sent: String,
    /// The lines that came in that turn.
    pub got: Vec<Vec<u8>>,
    /// What the first of them says that isn't `info`.
    pub said: Option<Result<FromAgent, Garbled>>,
    /// Whether that is what it had said.
    pub same: bool,
    /// The lines that had come in it when the match was played.
    pub recorded: Vec<Vec<u8>>,
    /// Earlier turns in which it answered otherwise than it had.
    pub strayed: Vec<u64>,
    /// The process could not be started.
    pub not_started: Option<Errno>,
    /// The end of the process, in words.
    pub status: Option<String>,
    /// It closed its stdout or its stdin, though its process may still run; in words.
    pub closed: Option<&'static str>,
    /// Its last line was longer than it may be, and only its beginning is there.
    pub cut: bool,
    /// No answer came in time.
    pub timed_out: bool,
    /// What it used from the request to the answer or the end.
    pub used: Used,
    /// What it wrote to stderr.
    pub stderr: String,
}

/// Why a turn can't be seen once more.
#[derive(Debug, thiserror::Error)]
pub enum NoRerun {
    /// The transcript can't be played.
    #[error("{0}")]
    Transcript(#[from] NotSent),
    /// The machine failed.
    #[error("{0}")]
    Machine(#[from] io::Error),
}

/// Starts the agent in an enclosure and goes through the match up to the turn. `pause` is called when all but the
/// last lines have been answered, with the number of the agent's process.
pub async fn rerun(
    rerun: &Rerun<'_>,
    contender: &Contender,
    enclosure: &Enclosure,
    limits: &Limits,
    pause: impl AsyncFnOnce(i32) -> io::Result<()>,
) -> Result<Rerunning, NoRerun> {
    let launcher = Launcher::start(&enclosure.jail)?;
    let kind = kind(&rerun.header.game).ok_or_else(|| io::Error::other("the game is unknown"))?;
    let session = Session::start(&launcher, enclosure, contender, kind, limits)?;
    let mut replayed = Replayed { rerun, session, told: Rerunning::default(), echoed: 0 };
    replayed.go(pause).await?;
    let Replayed { session, mut told, .. } = replayed;
    told.stderr = session.end().await?;
    Ok(told)
}

struct Replayed<'a> {
    rerun: &'a Rerun<'a>,
    session: Session,
    told: Rerunning,
    /// How much of its stderr has been shown.
    echoed: usize,
}

impl Replayed<'_> {
    async fn go(&mut self, pause: impl AsyncFnOnce(i32) -> io::Result<()>) -> Result<(), NoRerun> {
        let rerun = self.rerun;
        let mut sent = Sent::begin(rerun.header, rerun.seat)?;
        let mut pending = sent.take_messages();
        if rerun.turn.is_some() {
            self.exchange(&pending).await;
            pending.clear();
        }
        for event in rerun.events {
            sent.event(event)?;
            pending.append(&mut sent.take_messages());
            let Event::Turn(turn) = event else { continue };
            if turn.seat != rerun.seat || rerun.turn.is_none() {
                continue;
            }
            if rerun.turn == Some(turn.turn) || self.ended() {
                break;
            }
            self.exchange(&pending).await;
            if self.told.said.as_ref().map(plain) != self.recorded_answer(turn.turn) {
                self.told.strayed.push(turn.turn);
            }
            pending.clear();
        }
        self.told.recorded = lines_of(rerun, rerun.turn);
        if self.ended() {
            return Ok(());
        }
        if rerun.turn.is_none() {
            // What follows the greeting is no part of the start.
            pending.truncate(1);
        }
        self.pause(pause).await?;
        self.exchange(&pending).await;
        self.listen_on().await;
        self.told.same = match (&self.told.said, rerun.turn) {
            (Some(said), Some(turn)) => Some(plain(said)) == self.recorded_answer(turn),
            _ => self.told.got == self.told.recorded,
        };
        Ok(())
    }

    /// What decided of a recorded turn: the action that became real, or else the first line that
    /// isn't `info`.
    fn recorded_answer(&self, turn: u64) -> Option<Result<FromAgent, Garbled>> {
        let rerun = self.rerun;
        let played = rerun.events.iter().find_map(|event| match event {
            Event::Played(played) if played.turn == turn && played.seat == rerun.seat => {
                Some(played.action.clone())
            }
            _ => None,
        });
        if let Some(action) = played {
            return Some(Ok(FromAgent::Action(Action { turn: None, action })));
        }
        let lines = lines_of(rerun, Some(turn));
        let messages = lines.iter().map(|line| parse_from_agent(line));
        let mut answers = messages.filter(|message| !matches!(message, Ok(FromAgent::Info(_))));
        answers.next().map(|answer| plain(&answer))
    }

    async fn pause(&mut self, pause: impl AsyncFnOnce(i32) -> io::Result<()>) -> io::Result<()> {
        while self.session.process_id().is_none() && !self.ended() {
            self.hear(None).await;
        }
        match self.session.process_id() {
            Some(process) => pause(process).await,
            None => Ok(()),
        }
    }

    /// After the answer: what else had come when the match was played, and how the process ended.
    async fn listen_on(&mut self) {
        let until = Instant::now() + AFTER;
        let more = |told: &Rerunning| told.got.len() < told.recorded.len();
        while (more(&self.told) && !self.ended())
            || (self.told.closed.is_some() && self.told.status.is_none())
        {
            self.hear(Some(until)).await;
            if Instant::now() >= until {
                return;
            }
        }
    }

    fn ended(&self) -> bool {
        let told = &self.told;
        let ended = told.timed_out || told.status.is_some() || told.not_started.is_some();
        ended || told.closed.is_some()
    }

    /// Tells the agent something and waits until there is an answer: a message other than `info`, or
    /// what is none at all.
    async fn exchange(&mut self, messages: &[ToAgent]) {
        (self.told.said, self.told.got, self.told.sent) = (None, Vec::new(), String::new());
        let began = Instant::now();
        let before = self.session.used(began);
        for message in messages {
            let bytes = self.session.tell(message);
            self.told.sent.push_str(&String::from_utf8_lossy(&bytes));
        }
        let deadline = self.rerun.patience.map(|patience| began + patience);
        while !self.ended() && self.told.said.is_none() {
            let look = Instant::now() + LOOK;
            self.hear(Some(deadline.map_or(look, |deadline| deadline.min(look)))).await;
            let used = self.session.used(began).since(before);
            let over = |limit: Option<Duration>, used: Duration| limit.is_some_and(|it| used >= it);
            self.told.timed_out =
                over(self.rerun.patience, used.wall) || over(self.rerun.cpu_patience, used.cpu);
        }
        self.told.used = self.session.used(began).since(before);
    }

    /// Takes in what comes next, if anything does until then; for ever without a deadline.
    async fn hear(&mut self, deadline: Option<Instant>) {
        let until = deadline.unwrap_or_else(|| Instant::now() + LONG);
        match self.session.hear(until).await {
            Some(Heard::Line(line, cut)) => self.line(line, cut),
            Some(Heard::Closed) => self.told.closed = Some("closed its stdout"),
            Some(Heard::Deaf) => self.told.closed = Some("closed its stdin"),
            Some(Heard::Exited(status)) => self.told.status = Some(status),
            Some(Heard::Failed(errno)) => self.told.not_started = Some(errno),
            Some(Heard::Broken(trouble)) => self.told.not_started = Some(trouble.errno),
            Some(Heard::Gone) => {
                self.told.status.get_or_insert_with(|| "an unknown status".to_owned());
            }
            Some(_) | None => {}
        }
        self.echo();
    }

    fn line(&mut self, line: Vec<u8>, cut: bool) {
        self.told.cut |= cut;
        let blank = line.iter().all(u8::is_ascii_whitespace);
        let meaning = self.session.meaning(&line);
        // An engine's answer is not done as long as its protocol can still be broken.
        let breaks = matches!(meaning, Some((Meaning::Wrong(_), _)));
        let (message, bytes) = match meaning {
            Some((Meaning::Nothing, bytes)) => (None, bytes),
            Some((Meaning::Says(message), bytes)) => (Some(Ok(message)), bytes),
            Some((Meaning::Wrong(garbled), bytes)) => (Some(Err(garbled)), bytes),
            None if blank => return,
            None => (Some(parse_from_agent(&line)), Vec::new()),
        };
        self.told.sent.push_str(&String::from_utf8_lossy(&bytes));
        let message = message.filter(|message| !matches!(message, Ok(FromAgent::Info(_))));
        if self.told.said.is_none() || breaks {
            self.told.said = message;
        }
        self.told.got.push(line);
    }

    /// Shows what has come of its stderr, as it comes.
    fn echo(&mut self) {
        let new = &self.session.stderr[self.echoed..];
        if !new.is_empty() {
            // Where stderr is gone there is nobody to tell.
            io::stderr().write_all(new.as_bytes()).ok();
            self.echoed = self.session.stderr.len();
        }
    }
}

/// The lines that came from a seat between its request for a turn and what came of it; between its
/// start and its first request for `None`.
fn lines_of(rerun: &Rerun<'_>, turn: Option<u64>) -> Vec<Vec<u8>> {
    let mut current = None;
    let mut lines = Vec::new();
    for event in rerun.events {
        match event {
            Event::Turn(event) if event.seat == rerun.seat => current = Some(event.turn),
            Event::Line(event) if event.seat == rerun.seat && current == turn => {
                lines.push(line_bytes(event));
            }
            _ => {}
        }
    }
    lines
}

/// An answer without the number of its turn, which may be left out.
fn plain(answer: &Result<FromAgent, Garbled>) -> Result<FromAgent, Garbled> {
    answer.clone().map(|message| match message {
        FromAgent::Action(action) => FromAgent::Action(Action { turn: None, ..action }),
        FromAgent::Resign(_) => FromAgent::Resign(Resign { turn: None }),
        other => other,
    })
}
