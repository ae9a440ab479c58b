//! How a trial goes on: the match with its stand-ins, and the agent that is listened to.

use super::{Departure, End, Leave, Scene, Trial, Twist};
use crate::drive::resource;
use crate::heading::Heading;
use crate::session::{Heard, Session};
use rand::seq::IndexedRandom;
use rand::{SeedableRng, rngs::ChaCha8Rng};
use referee_games::AnyGame;
use referee_match::diagnosis::Used;
use referee_match::{Effect, Input, Match, Reading};
use referee_process::launcher::Launcher;
use referee_protocol::{Event, FaultKind, Header, Nanos, OnFault, Seat, ToAgent, Turn};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

/// An agent that has neither used a core nor waited for one for so long, while it is waited for and
/// itself wants to read more, will not answer any more. Others have the time that the clock allows.
const SILENCE: Duration = Duration::from_secs(4);
/// Less activity than this, since it was last looked at, is none.
const NO_CPU: Duration = Duration::from_millis(5);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// How long the others think where they take their time.
const SLOW: Duration = Duration::from_millis(250);
/// How long it may do nothing while a late answer is still waited for, to tell late from never.
const LATER: Duration = Duration::from_secs(2);
/// How long an agent may sleep before it exits. A match gives it no more time in all, but there it
/// loses nothing that counts; here nobody is to be blamed for a busy machine.
const GRACE: Duration = Duration::from_secs(1);
/// The same of its other processes, after it.
const AFTER: Duration = Duration::from_millis(300);
/// How much CPU time it may use before it exits, or gives its late answer.
const WORK: Duration = Duration::from_secs(5);
/// How long it is waited for where it neither sleeps nor gets on.
const GRACE_MAX: Duration = Duration::from_secs(120);
/// How a message ends that has a field of a later version of the protocol.
const UNKNOWN_FIELD: &str = r#","x_new":{"of":["a later version",2,null,{}]}}"#;
/// A message of a later version of the protocol.
const UNKNOWN_MESSAGE: &str = "{\"type\":\"x_news\",\"turn\":3,\"text\":\"of a later version\"}\n";
/// Names with what is hard to read: beyond ASCII, beyond 16 bits, quotes, a backslash.
const NAMES: [&str; 3] = ["Zoë \"Ζωή\" Żółw", "駒 🐢 \\o/", "ñandú\u{301} 'x'"];

pub(super) struct Stage<'a> {
    scene: &'a Scene<'a>,
    session: Session,
    state: Match,
    random: ChaCha8Rng,
    effects: VecDeque<Effect>,
    fresh: Vec<Effect>,
    began: Instant,
    /// What had been used when it was asked.
    before: Used,
    own_turns: u64,
    /// Its turn ended with a line of its own, whatever that was.
    answered: bool,
    /// When the stand-in whose turn it is will have thought.
    others_due: Option<(Instant, Seat)>,
    /// Since when it has been idle, and what its activity had come to by then.
    quiet: (Instant, Duration),
    end: Option<End>,
    trial: Trial,
}

impl<'a> Stage<'a> {
    pub(super) fn begin(launcher: &Launcher, scene: &'a Scene<'a>) -> io::Result<Self> {
        let game = scene.kind.start(scene.setup).map_err(io::Error::other)?;
        let header = header(scene, game.as_ref());
        let (state, effects) = Match::begin(game, header);
        let session =
            Session::start(launcher, scene.enclosure, scene.contender, scene.kind, scene.limits)?;
        let now = Instant::now();
        Ok(Self {
            scene,
            session,
            state,
            random: ChaCha8Rng::seed_from_u64(scene.seed),
            effects: effects.into(),
            fresh: Vec::new(),
            began: now,
            before: Used::default(),
            own_turns: 0,
            answered: false,
            others_due: None,
            quiet: (now, Duration::ZERO),
            end: None,
            trial: Trial {
                end: End::Fine,
                sent: String::new(),
                got: None,
                unended: Vec::new(),
                stderr: String::new(),
                ready: false,
                status: None,
                legal: Vec::new(),
                actions: Vec::new(),
                turns: 0,
                over: false,
                slowest: Duration::ZERO,
                total: Duration::ZERO,
                used: Used::default(),
                departure: None,
            },
        })
    }

    pub(super) async fn play(mut self) -> io::Result<Trial> {
        self.apply();
        while self.end.is_none() {
            match self.session.hear(self.deadline()).await {
                Some(heard) => self.heard(heard)?,
                None => self.nothing(),
            }
            self.apply();
        }
        self.trial.used = self.used();
        self.trial.unended = self.session.unended().to_vec();
        let end = self.end.take().unwrap_or(End::Fine);
        match &end {
            End::Fine if self.scene.leave != Leave::Kill => self.depart().await,
            End::Fault(fault) if fault.kind == FaultKind::Late && !self.answered => {
                self.wait_for_late_answer().await;
            }
            _ => {}
        }
        self.trial.end = end;
        self.trial.legal = self.state.game().actions();
        self.trial.turns = self.state.game().turn_number();
        self.trial.stderr = self.session.end().await?;
        Ok(self.trial)
    }

    fn deadline(&self) -> Instant {
        let look = Instant::now() + LOOK;
        let wake = self.state.wake_at().map(|at| self.began + Duration::from_nanos(at.0));
        let others = self.others_due.map(|(due, _)| due);
        [wake, others].into_iter().flatten().fold(look, Instant::min)
    }

    fn input(&mut self, input: Input<'_>) {
        let at = self.began.elapsed().as_nanos();
        let at = Nanos(u64::try_from(at).unwrap_or(u64::MAX));
        self.state.step(at, input, &mut self.fresh);
        self.effects.extend(self.fresh.drain(..));
    }

    fn reading(&self) -> Reading {
        Reading { cpu: self.session.cpu(), ..Reading::default() }
    }

    fn heard(&mut self, heard: Heard) -> io::Result<()> {
        let seat = self.scene.seat;
        match heard {
            Heard::Started | Heard::Complained | Heard::Gone => {}
            Heard::Line(line, cut) => {
                let reading = self.reading();
                let heard = if cut { None } else { self.session.meaning(&line) };
                let meaning = heard.map(|(meaning, bytes)| {
                    let bytes = String::from_utf8_lossy(&bytes);
                    if !bytes.trim().is_empty() {
                        // What came before is an answer to something else.
                        (self.trial.sent, self.trial.got) = (bytes.trim_end().to_owned(), None);
                    }
                    meaning
                });
                let asked = self.state.thinking() == Some(seat);
                self.input(Input::Line { seat, line: &line, cut, reading, meaning });
                self.answered = asked && self.state.thinking() != Some(seat);
                if !line.iter().all(u8::is_ascii_whitespace) {
                    self.trial.got = Some(line);
                }
            }
            Heard::Closed => self.input(Input::Closed(seat)),
            Heard::Deaf => self.input(Input::Deaf(seat)),
            Heard::Failed(errno) => self.end = Some(End::NotStarted(errno)),
            Heard::Broken(trouble) => return Err(io::Error::other(trouble.to_string())),
            Heard::Limit(limit) => {
                let text = limit.told(self.scene.limits);
                self.input(Input::Limit(seat, resource(limit), text));
            }
            Heard::Exited(status) => {
                self.trial.status = Some(status.clone());
                self.input(Input::Exited { seat, status, late: false });
            }
        }
        Ok(())
    }

    /// Time has passed, and nothing came.
    fn nothing(&mut self) {
        let now = Instant::now();
        if let Some((due, seat)) = self.others_due
            && due <= now
        {
            self.others_due = None;
            return self.stand_in(seat);
        }
        let reading = self.reading();
        self.input(Input::Tick(reading));
        self.look();
        let waited_for = self.state.thinking() == Some(self.scene.seat) || !self.trial.ready;
        let quiet = now.saturating_duration_since(self.quiet.0) >= SILENCE;
        if waited_for && self.effects.is_empty() && quiet && self.session.awaits_input() {
            self.end = Some(End::Silent);
        }
    }

    fn apply(&mut self) {
        while self.end.is_none()
            && let Some(effect) = self.effects.pop_front()
        {
            match effect {
                Effect::Send(seat, message) if seat == self.scene.seat => self.write(&message),
                Effect::Send(seat, ToAgent::Hello(_)) => {
                    self.say(seat, &json!({"type": "ready"}));
                }
                Effect::Broadcast(message) => self.write(&message),
                Effect::Ask(seat, turn) => self.ask(seat, turn),
                Effect::Record(event) => self.record(event),
                Effect::Finish(ending) => {
                    let fault = ending.verdict.seats[self.scene.seat.index()].fault.clone();
                    self.trial.over = ending.outcome.is_some();
                    self.end = Some(fault.map_or(End::Fine, |fault| End::Fault(Box::new(fault))));
                }
                Effect::Send(..) | Effect::Kill(_) => {}
            }
        }
    }

    fn record(&mut self, event: Event) {
        match event {
            Event::Header(header) => {
                self.trial.ready = header.seats[self.scene.seat.index()].ready.is_some();
            }
            Event::Played(played) if played.seat == self.scene.seat => {
                self.trial.actions.push(played.action);
                let took = Duration::from_nanos(played.wall_ns);
                self.trial.slowest = self.trial.slowest.max(took);
                self.trial.total += took;
            }
            _ => {}
        }
    }

    fn ask(&mut self, seat: Seat, turn: Turn) {
        if seat != self.scene.seat {
            self.input(Input::Asked(seat, Reading::default()));
            if self.scene.twist == Twist::SlowOthers {
                self.others_due = Some((Instant::now() + SLOW, seat));
                return;
            }
            return self.stand_in(seat);
        }
        let enough = self.own_turns == self.scene.turns_max;
        if enough || self.began.elapsed() > self.scene.time_max {
            return self.stop();
        }
        self.own_turns += 1;
        self.answered = false;
        self.before = self.session.used(self.began);
        self.quiet = (Instant::now(), self.activity());
        let reading = self.reading();
        self.input(Input::Asked(seat, reading));
        self.write(&ToAgent::Turn(turn));
    }

    /// The agent has been tried enough: told `over`, or left as it is.
    fn stop(&mut self) {
        if self.scene.leave == Leave::Over {
            let text = "it was only a trial".to_owned();
            self.input(Input::Stop { cause: "interrupted", text });
        } else {
            self.end = Some(End::Fine);
        }
    }

    /// Any legal action, for a seat that nobody is tried at.
    fn stand_in(&mut self, seat: Seat) {
        let actions = self.state.game().actions();
        let Some(action) = actions.choose(&mut self.random) else { return };
        self.say(seat, &json!({"type": "action", "action": action}));
    }

    fn say(&mut self, seat: Seat, message: &Value) {
        let line = message.to_string();
        let reading = Reading::default();
        self.input(Input::Line { seat, line: line.as_bytes(), cut: false, reading, meaning: None });
    }

    fn write(&mut self, message: &ToAgent) {
        let sent = match self.scene.twist {
            Twist::UnknownField => {
                let mut line = json_line(message);
                line.pop();
                line + UNKNOWN_FIELD
            }
            Twist::UnknownType if !matches!(message, ToAgent::Hello(_)) => {
                format!("{UNKNOWN_MESSAGE}{}", json_line(message))
            }
            _ => String::new(),
        };
        let sent = if sent.is_empty() {
            String::from_utf8_lossy(&self.session.tell(message)).trim_end().to_owned()
        } else {
            self.session.write(format!("{sent}\n").as_bytes());
            sent
        };
        // What came before is an answer to something else; and the end of the match is no message
        // that a fault could have come from.
        if let ToAgent::Hello(_) | ToAgent::Turn(_) = message {
            self.trial.sent = sent;
            self.trial.got = None;
        }
    }

    /// What grows as long as the agent computes or wants to.
    fn activity(&self) -> Duration {
        let used = self.session.used(self.began);
        used.cpu + used.waited
    }

    /// What it has used since it was asked.
    fn used(&self) -> Used {
        self.session.used(self.began).since(self.before)
    }

    /// After the limit an answer still tells something: that there is one.
    async fn wait_for_late_answer(&mut self) {
        let wanted =
            |heard: &Heard| matches!(heard, Heard::Line(..) | Heard::Exited(_) | Heard::Gone);
        match self.rests(LATER, wanted).await {
            Some(Heard::Line(line, _)) => {
                self.trial.got = Some(line);
                self.trial.used = self.used();
            }
            Some(_) => {}
            None => self.trial.got = None,
        }
    }

    async fn depart(&mut self) {
        self.session.close();
        let began = Instant::now();
        // It may have left before it was let.
        let mut exited = self.trial.status.is_some();
        let wanted = |heard: &Heard| matches!(heard, Heard::Exited(_));
        if !exited && let Some(Heard::Exited(status)) = self.rests(GRACE, wanted).await {
            self.trial.status = Some(status);
            exited = true;
        }
        let took = began.elapsed();
        self.rests(AFTER, |heard| *heard == Heard::Gone).await;
        let left_behind = self.session.processes();
        self.trial.departure = Some(Departure { took, exited, left_behind });
    }

    /// Listens until something wanted comes, or until the agent has done nothing for so long.
    async fn rests(&mut self, pause: Duration, wanted: impl Fn(&Heard) -> bool) -> Option<Heard> {
        let (began, before) = (Instant::now(), self.session.used(self.began).cpu);
        self.quiet = (began, self.activity());
        let mut look_at = began + LOOK.min(pause);
        loop {
            match self.session.hear(look_at).await {
                Some(heard) if wanted(&heard) => return Some(heard),
                Some(_) if Instant::now() < look_at => continue,
                _ => self.look(),
            }
            let now = Instant::now();
            let worked = self.session.used(self.began).cpu.saturating_sub(before);
            if now >= self.quiet.0 + pause || worked >= WORK || now >= began + GRACE_MAX {
                return None;
            }
            look_at = (now + LOOK).min(self.quiet.0 + pause);
        }
    }

    /// Notes when it was last seen to do something.
    fn look(&mut self) {
        let activity = self.activity();
        if self.session.is_busy() || activity.saturating_sub(self.quiet.1) > NO_CPU {
            self.quiet = (Instant::now(), activity);
        }
    }
}

fn json_line(message: &ToAgent) -> String {
    serde_json::to_string(message).expect("messages have string keys only")
}

/// A header as a match would have it. It is never written.
fn header(scene: &Scene<'_>, game: &dyn AnyGame) -> Header {
    let heading = Heading {
        game,
        seated: &vec![scene.contender; game.seats()],
        clock: scene.clock,
        limits: scene.limits,
        sandbox: &scene.enclosure.told,
        on_fault: OnFault::End,
        seed: scene.seed,
        number: 0,
    };
    let mut header = heading.header();
    for seat in &mut header.seats {
        seat.name = match scene.twist {
            Twist::Names => NAMES[seat.seat.index() % NAMES.len()].to_owned(),
            _ if seat.seat == scene.seat => continue,
            _ => format!("other {}", seat.seat),
        };
    }
    header
}
