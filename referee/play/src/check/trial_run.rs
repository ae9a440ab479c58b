//! Running a trial: the match with its stand-ins, and waiting for the agent.

use super::trial::{End, ExitReport, Shutdown, Trial, TrialReport, TrialVariant};
use crate::connection::{AgentConnection, Exchange, RewriteMessage};
use crate::core_context::CoreContext;
use crate::drive::{PartialMatch, PartialMatchRules, Patience};
use crate::match_settings::{self, MatchSettings};
use crate::participant::Participant;
use nix::errno::Errno;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use referee_games::AnyGame;
use referee_match::Match;
use referee_match::transcript::Recorder;
use referee_process::agent::AgentEvent;
use referee_process::blocked_call::Activity;
use referee_process::cleaning;
use referee_process::usage::Meters;
use referee_protocol::{ClockKind, Event, FaultKind, Header, PlayedEvent, Seat, ToAgent};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// An agent that has neither used a core nor waited for one for this long, and waits for input, will not
/// answer. Others have the time that the clock allows.
const SILENCE: Duration = Duration::from_secs(4);
/// Less activity than this since the last check is none.
const NO_CPU: Duration = Duration::from_millis(5);
/// How often activity is checked.
const LOOK: Duration = Duration::from_millis(250);
/// How long the others think if they are slow.
const SLOW: Duration = Duration::from_millis(250);
/// How long to wait for a late answer while the agent does nothing, to distinguish late from never.
const LATER: Duration = Duration::from_secs(2);
/// The maximum wait for a late answer.
const LATE_MAX: Duration = Duration::from_secs(5);
/// How long an agent may go on after its last turn, if it doesn't sleep.
const REST: Duration = Duration::from_millis(200);
/// How long an agent may sleep before it exits. A match gives it this much time in all; here a busy
/// machine must not look like a defect.
const GRACE: Duration = Duration::from_secs(1);
/// The same for its other processes, after it.
const AFTER: Duration = Duration::from_millis(300);
/// How much CPU time it may use before it exits, with the time in which it seems to wait for the disk.
const WORK: Duration = Duration::from_secs(4);
/// The maximum wait for an exit if it neither sleeps nor finishes.
const GRACE_MAX: Duration = Duration::from_secs(120);
/// How many actions a stand-in tries where the rules don't list the legal ones.
const GUESSES: usize = 300;
/// An unknown field.
const UNKNOWN_FIELD: &str = r#","x_new":{"of":["a later version",2,null,{}]}"#;
/// A message of an unknown type.
const UNKNOWN_MESSAGE: &str = "{\"type\":\"x_news\",\"turn\":3,\"text\":\"of a later version\"}\n";
/// Names that are hard to parse: non-ASCII, beyond 16 bits, quotes, a backslash.
const NAMES: [&str; 3] = ["Zoë \"Ζωή\" Żółw", "駒 🐢 \\o/", "ñandú\u{301} 'x'"];

/// Tries the agent once. `None` if the machine was too busy to judge it.
pub(super) async fn play(core: &CoreContext, trial: &Trial<'_>) -> io::Result<Option<TrialReport>> {
    let Trial { spec, kind, limits, .. } = *trial;
    let started = AgentConnection::start_alone(&core.launcher, &core.sandbox, spec, kind, limits);
    let (mut agent, work) = match started {
        // As in a match, nothing else of a start depends on the agent.
        Err(error) if error.kind() == io::ErrorKind::ArgumentListTooLong => {
            return Ok(Some(TrialReport::not_started(Errno::E2BIG)));
        }
        started => started?,
    };
    agent.rewrite = trial.variant.rewrite();
    agent.exchange = Some(Exchange { last_only: true, ..Exchange::default() });
    let played = Box::pin(play_with(core, trial, agent)).await;
    cleaning::remove(work);
    played
}

/// Plays the game of a trial, after another one in the next seat if the trial is for that.
async fn play_with(
    core: &CoreContext,
    trial: &Trial<'_>,
    mut agent: AgentConnection,
) -> io::Result<Option<TrialReport>> {
    if trial.variant == TrialVariant::Again {
        let seats = trial.kind.start(trial.setup).map_err(io::Error::other)?.seats();
        let (seat, shutdown) = (next_seat(trial.seat, seats), Shutdown::Stays);
        match Box::pin(play_game(core, &Trial { seat, shutdown, ..trial.clone() }, agent)).await? {
            Played::Stays(waiting) => agent = *waiting,
            Played::Done(report) => {
                return Ok(report.map(|report| TrialReport { is_before: true, ..*report }));
            }
        }
        agent.begin_again();
    }
    match Box::pin(play_game(core, trial, agent)).await? {
        Played::Done(report) => Ok(report.map(|report| *report)),
        Played::Stays(_) => Ok(None),
    }
}

/// What came of a game.
enum Played {
    /// It is judged; `None` if the machine was too busy for that.
    Done(Option<Box<TrialReport>>),
    /// The agent waits for another one.
    Stays(Box<AgentConnection>),
}

async fn play_game(
    core: &CoreContext,
    trial: &Trial<'_>,
    agent: AgentConnection,
) -> io::Result<Played> {
    let (mut turns, mut asked, mut recorder) = (Vec::new(), None, Recorder::new());
    let known = Rc::new(RefCell::new(trial.known.to_vec()));
    let stuck = Rc::new(Cell::new(false));
    let mut watcher = |event: &Event, now: &Match| {
        recorder.record(event);
        if let Event::Played(played) = event {
            known.borrow_mut().push(played.action.value());
        }
        match event {
            Event::Turn(turn) if turn.seat == trial.seat => asked = Some(now.game().clone_box()),
            Event::Played(played) if played.seat == trial.seat => turns.push(played.clone()),
            _ => {}
        }
    };
    let game = trial.kind.start(trial.setup).map_err(io::Error::other)?;
    let header = header(core, trial, game.as_ref());
    let participants = participants(trial, game.seats(), agent, (&known, &stuck));
    let rules = PartialMatchRules {
        seat: trial.seat,
        turns_max: trial.turns_max,
        time_max: Some(trial.time_max),
        is_patient: false,
    };
    let begun = Match::begin(game, header);
    let part = PartialMatch::begin(core, begun, participants, rules, &mut watcher)?;
    let quiet = (Instant::now(), Duration::ZERO);
    let run = TrialRun { trial, part, quiet, memory_kb: Vec::new() };
    let played = Box::pin(run.play()).await?;
    let counts = trial.clock.kind;
    recorder.seal();
    Ok(match played {
        Played::Done(report) => Played::Done(report.map(|report| {
            let report = report.with(&turns, asked.as_deref(), counts);
            let is_stuck = stuck.get() && report.end == End::Fine;
            let end = if is_stuck { End::Stuck } else { report.end };
            Box::new(TrialReport { transcript: recorder.take(), end, ..report })
        })),
        stays @ Played::Stays(_) => stays,
    })
}

fn next_seat(seat: Seat, seats: usize) -> Seat {
    Seat::all(seats).cycle().nth(seat.index() + 1).unwrap_or(seat)
}

/// Returns the agent, and stand-ins that play at random: something like a known action where the rules don't list the
/// legal ones, and if none is found, they are stuck.
fn participants(
    trial: &Trial<'_>,
    seats: usize,
    agent: AgentConnection,
    (known, stuck): (&Rc<RefCell<Vec<Value>>>, &Rc<Cell<bool>>),
) -> Vec<Participant> {
    let random = Rc::new(RefCell::new(ChaCha8Rng::seed_from_u64(trial.seed)));
    let delay = if trial.variant == TrialVariant::SlowOthers { SLOW } else { Duration::ZERO };
    let next = next_seat(trial.seat, seats);
    let mut list = Participant::among_stand_ins(seats, (trial.seat, agent), delay, |seat| {
        let (variant, random) = (trial.variant, random.clone());
        let (known, stuck) = (known.clone(), stuck.clone());
        let mut turns = 0;
        Box::new(move |game| {
            turns += 1;
            if variant == TrialVariant::Retires && seat == next && turns == 2 {
                return Some(b"{}".to_vec());
            }
            let mut actions = game.actions();
            if variant == TrialVariant::RareActions {
                actions = rarest(actions);
            }
            let mut random = random.borrow_mut();
            let action = actions.choose(&mut *random).cloned();
            let action = action.or_else(|| guessed(game, &known.borrow(), &mut random));
            stuck.set(action.is_none());
            let answer = match action {
                Some(action) => json!({"type": "action", "action": action}),
                // Whoever waits for a stand-in learns nothing about the agent.
                None => json!({"type": "resign"}),
            };
            Some(answer.to_string().into_bytes())
        })
    });
    if trial.variant == TrialVariant::RetiresAtStart {
        let text = "it can't be started, to test the others".to_owned();
        list[next.index()] = Participant::Absent { text, is_own_fault: true };
    }
    list
}

/// Returns an action that is legal, found by trying some, where the rules don't list them.
fn guessed(game: &dyn AnyGame, known: &[Value], random: &mut ChaCha8Rng) -> Option<Value> {
    let program = game.kind().program()?;
    let cells = game.layout().cells();
    let mut below = |bound: usize| random.random_range(0..bound.max(1));
    let mut guesses = (0..GUESSES).map(|_| program.guess(known, &cells, &mut below));
    guesses.find(|action| game.clone_box().play(action).is_ok())
}

/// Returns the actions of the type of which there are the fewest.
fn rarest(mut actions: Vec<Value>) -> Vec<Value> {
    let count = |kind: &Value| actions.iter().filter(|action| action["type"] == *kind).count();
    let kinds = actions.iter().map(|action| &action["type"]);
    if let Some(kind) = kinds.min_by_key(|kind| count(kind)).cloned() {
        actions.retain(|action| action["type"] == kind);
    }
    actions
}

impl TrialVariant {
    /// Returns how messages are rewritten.
    fn rewrite(self) -> Option<RewriteMessage> {
        match self {
            Self::UnknownField => Some(|message, line| {
                let line = line.trim_end();
                let whole = format!("{}{UNKNOWN_FIELD}}}\n", &line[..line.len() - 1]);
                let on_request = [",\"position\":", ",\"actions\":"];
                let at = on_request.iter().filter_map(|name| line.find(name)).min();
                match (message, at) {
                    // One that reads lines into a short buffer gets pieces that end elsewhere in each turn.
                    (ToAgent::Turn(turn), Some(at)) => {
                        let (before, after) = whole.split_at(at);
                        let more = usize::try_from(turn.turn * 7 % 30).unwrap_or(0);
                        format!("{before},\"x_more\":\"{}\"{after}", "a".repeat(more))
                    }
                    _ => whole,
                }
            }),
            Self::UnknownType => Some(|message, line| match message {
                ToAgent::Hello(_) => line.to_owned(),
                _ => format!("{UNKNOWN_MESSAGE}{line}"),
            }),
            Self::None
            | Self::Names
            | Self::SlowOthers
            | Self::RareActions
            | Self::Retires
            | Self::RetiresAtStart
            | Self::Again => None,
        }
    }
}

impl TrialReport {
    /// Adds the turns that the agent played, and the game when it was asked last.
    fn with(
        mut self,
        turns: &[PlayedEvent],
        asked: Option<&dyn AnyGame>,
        counts: ClockKind,
    ) -> Self {
        self.game = asked.map(AnyGame::clone_box);
        for played in turns {
            self.actions.push(played.action.value());
            let cpu_ns = played.cpu_ns.filter(|_| counts == ClockKind::Cpu);
            let took = Duration::from_nanos(cpu_ns.unwrap_or(played.wall_ns));
            self.slowest = self.slowest.max(took);
            self.total += took;
        }
        self
    }
}

/// A running trial.
struct TrialRun<'a> {
    trial: &'a Trial<'a>,
    part: PartialMatch<'a>,
    /// Since when it has been idle, and its activity by then.
    quiet: (Instant, Duration),
    /// The most memory that it had had after each of its turns, in KiB.
    memory_kb: Vec<u64>,
}

impl TrialRun<'_> {
    async fn play(mut self) -> io::Result<Played> {
        let (mut silent, mut look_at) = (false, Instant::now() + LOOK);
        while !self.part.is_over() && !silent {
            self.next(look_at).await?;
            if Instant::now() >= look_at {
                self.look();
                silent = self.is_silent().await?;
                look_at = Instant::now() + LOOK;
            }
        }
        if self.trial.shutdown == Shutdown::Rest && !silent {
            self.part.await_rest(REST).await?;
        }
        let end = match (self.part.not_started, self.part.void(), self.part.fault()) {
            (Some(errno), None, _) => End::NotStarted(errno),
            (_, Some(("lag", _)), _) => {
                self.part.end().await?;
                return Ok(Played::Done(None));
            }
            (_, Some((_, text)), _) => return Err(io::Error::other(text.to_owned())),
            (None, None, Some(fault)) => End::Fault(Box::new(fault.clone())),
            (None, None, None) if silent && !self.part.is_over() => End::Silent,
            (None, None, None) => End::Fine,
        };
        let end = match end {
            End::Fine if self.trial.shutdown == Shutdown::Stays => match self.stay().await {
                None => return Ok(Played::Stays(self.part.into_connection())),
                Some(end) => end,
            },
            end => end,
        };
        self.leave(end).await.map(|report| Played::Done(Some(Box::new(report))))
    }

    /// Ends the game and waits until the agent waits for another one; returns why it doesn't.
    async fn stay(&mut self) -> Option<End> {
        if !self.part.offers_another_game() {
            return Some(End::NotOffered);
        }
        if !self.part.is_game_over() {
            self.part.stop("it was only a trial");
        }
        let mut patience = Patience::begin(GRACE, Instant::now());
        loop {
            match self.part.listen(Instant::now() + LOOK).await {
                Some(AgentEvent::Line(_)) => return Some(End::NotWaiting("wrote a line")),
                Some(AgentEvent::Exited(_) | AgentEvent::Gone | AgentEvent::StdoutClosed) => {
                    return Some(End::NotWaiting("exited"));
                }
                // As in a contest.
                None if self.part.connection().waits_for_more() => return None,
                None if patience.is_over(self.part.connection(), Instant::now()) => {
                    return Some(End::NotWaiting("went on computing"));
                }
                Some(_) | None => {}
            }
        }
    }

    /// Handles the next event, unless there is none until then. Returns whether there was one.
    async fn next(&mut self, until: Instant) -> io::Result<bool> {
        let turns = self.part.turns();
        let is_event = self.part.next(until).await?;
        if self.part.turns() != turns {
            self.memory_kb.extend(self.left().and_then(|meters| meters.peak_memory_kb(false)));
            self.quiet = (Instant::now(), self.part.activity());
        }
        Ok(is_event)
    }

    /// Whether the agent won't answer, since it waits for input.
    async fn is_silent(&mut self) -> io::Result<bool> {
        let hung = self.trial.hung.is_some();
        let silence = self.trial.hung.unwrap_or(SILENCE).min(SILENCE);
        let is_waiting = self.part.is_waited_for()
            && self.quiet.0.elapsed() >= silence
            && self.left().is_some_and(|it| it.awaits_input() || hung && it.is_asleep());
        let is_slower = |most| self.part.is_waited_for() && self.part.used().cpu >= most;
        if !is_waiting && !self.trial.hung.is_some_and(is_slower) {
            return Ok(false);
        }
        // It may have answered and waited for more just before it was looked at. Once it waits, its
        // answer is in the pipe, which the runtime looks at before this continues.
        tokio::task::yield_now().await;
        Ok(!self.next(Instant::now()).await?)
    }

    /// Shuts the agent down and returns the result.
    async fn leave(mut self, end: End) -> io::Result<TrialReport> {
        let (mut used, over) = (self.part.used(), self.part.is_game_over());
        let ready = self.part.is_ready();
        let (mut got, mut exit) = (None, None);
        match &end {
            End::Fine if matches!(self.trial.shutdown, Shutdown::Over | Shutdown::EndOfInput) => {
                exit = Some(self.depart().await);
            }
            End::Fault(fault) if fault.kind == FaultKind::Late && !self.part.has_answered => {
                // A late answer is different from none.
                got = if self.part.may_answer() { self.late_answer().await } else { None };
                if got.is_some() {
                    used = self.part.used();
                }
            }
            _ => {}
        }
        let exchange = self.part.connection().exchange.clone().unwrap_or_default();
        let status = self.part.status.clone();
        let is_mute = match &end {
            End::Fault(fault) => matches!(fault.kind, FaultKind::Late | FaultKind::Start),
            End::Silent => true,
            End::NotStarted(_) | End::Fine | End::Stuck | End::NotOffered | End::NotWaiting(_) => {
                false
            }
        };
        let is_mute = is_mute && got.is_none() && !self.part.has_answered;
        let unended = self.part.connection().process.unended_line().to_vec();
        let stays = exit.as_ref().is_some_and(|exit| !exit.exited);
        let hang = if is_mute || stays { Some(self.part.examine().await) } else { None };
        let game = self.part.game();
        Ok(TrialReport {
            sent: String::from_utf8_lossy(&exchange.sent).trim_end().to_owned(),
            got: got.or_else(|| exchange.got.last().filter(|_| !is_mute).cloned()),
            unended,
            ready,
            hang,
            status,
            game: None,
            actions: Vec::new(),
            turns: game.turn_number(),
            over,
            total: Duration::ZERO,
            slowest: Duration::ZERO,
            transcript: Vec::new(),
            used,
            exit,
            end,
            memory_kb: self.memory_kb,
            is_before: false,
            stderr: self.part.end().await?,
        })
    }

    async fn late_answer(&mut self) -> Option<Vec<u8>> {
        let wanted = |event: &AgentEvent| {
            matches!(event, AgentEvent::Line(_) | AgentEvent::Exited(_) | AgentEvent::Gone)
        };
        match self.rests(LATER, LATE_MAX, wanted).await {
            Some(AgentEvent::Line(line)) => Some(line.bytes),
            Some(_) => {
                self.part.connection().exchange.as_ref().and_then(|it| it.got.last().cloned())
            }
            None => None,
        }
    }

    async fn depart(&mut self) -> ExitReport {
        if self.trial.shutdown == Shutdown::Over && !self.part.is_game_over() {
            self.part.stop("it was only a trial");
        }
        self.part.connection_mut().process.close();
        let began = Instant::now();
        let wanted = |event: &AgentEvent| matches!(event, AgentEvent::Exited(_));
        if self.part.status.is_none() {
            self.rests(GRACE, GRACE_MAX, wanted).await;
        }
        // It may have exited before.
        let (took, exited) = (began.elapsed(), self.part.status.is_some());
        if exited {
            self.rests(AFTER, GRACE_MAX, |event| *event == AgentEvent::Gone).await;
        }
        let left_behind = self.left().map_or(0, Meters::processes);
        ExitReport { took, exited, left_behind }
    }

    /// Waits for a wanted event, or until the agent has done nothing for this long in all.
    async fn rests(
        &mut self,
        pause: Duration,
        at_most: Duration,
        wanted: impl Fn(&AgentEvent) -> bool,
    ) -> Option<AgentEvent> {
        let (began, before) = (Instant::now(), self.part.used().cpu);
        let mut looked = (began, self.part.activity());
        let (mut slept, mut on_disk) = (Duration::ZERO, Duration::ZERO);
        let mut look_at = began + LOOK.min(pause);
        loop {
            match self.part.listen(look_at).await {
                Some(event) if wanted(&event) => return Some(event),
                Some(_) if Instant::now() < look_at => continue,
                _ => {}
            }
            let (now, activity) = (Instant::now(), self.part.activity());
            let idle = (now - looked.0).saturating_sub(activity.saturating_sub(looked.1));
            looked = (now, activity);
            match self.left().map(Meters::activity) {
                Some(Activity::Runs) => {}
                Some(Activity::Waits) => on_disk += idle,
                Some(Activity::Sleeps) | None => slept += idle,
            }
            let worked = self.part.used().cpu.saturating_sub(before) + on_disk;
            if slept >= pause || worked >= WORK || now >= began + at_most {
                return None;
            }
            look_at = now + LOOK.min(pause.saturating_sub(slept));
        }
    }

    fn left(&self) -> Option<&Meters> {
        self.part.connection().process.meters_left()
    }

    /// Updates when it was last active.
    fn look(&mut self) {
        let activity = self.part.activity();
        let is_busy = |meters: &Meters| meters.activity() != Activity::Sleeps;
        if self.left().is_some_and(is_busy) || activity.saturating_sub(self.quiet.1) > NO_CPU {
            self.quiet = (Instant::now(), activity);
        }
    }
}

/// Returns the header for the match, which is never written.
fn header(core: &CoreContext, trial: &Trial<'_>, game: &dyn AnyGame) -> Header {
    let (clock, limits) = (trial.clock.clone(), trial.limits.clone());
    let conditions = MatchSettings { clock, limits, ..MatchSettings::default() };
    let seated = vec![trial.spec; game.seats()];
    let sandbox = &core.sandbox.recorded;
    let mut header = match_settings::header(game, &seated, &conditions, sandbox, trial.seed, 0);
    for seat in &mut header.seats {
        seat.name = match trial.variant {
            TrialVariant::Names => NAMES[seat.seat.index() % NAMES.len()].to_owned(),
            _ if seat.seat == trial.seat => continue,
            _ => format!("other {}", seat.seat),
        };
    }
    header
}
