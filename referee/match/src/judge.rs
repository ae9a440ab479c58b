//! Judges the lines and the silence of an agent: first late, because the clock ran out before the
//! line came, then flood, garbled, unasked, illegal.

use super::clock::{Punctuality, Reading, Spent};
use super::end_reason::EndReason;
use super::machine::{AgentEnd, CurrentTurn, Match, Phase, RULES, RULES_FAILED_AFTER};
use super::messages::parse_line;
use referee_games::{Decoded, Refusal};
use referee_protocol::sanitize::sanitize;
use referee_protocol::{
    ActionJson, ClockKind, Event, Fault, FaultKind, FromAgent, LateBy, LineEvent, Nanos,
    ParseError, Played, PlayedEvent, Seat, ToAgent, action_text, escape_line, recorded_bytes,
};
use serde_json::Value;
use std::fmt::Write;

/// What the event of a line takes in a transcript besides the line, in bytes.
const EVENT_BYTES: u64 = 64;

/// Ends the text of a fault `late` within the lag, of an agent that may cause no more void matches.
const NO_EXCUSE: &str = "too many of its matches were void to excuse it by the referee's own delay";

impl Match {
    pub(super) fn line(
        &mut self,
        seat: Seat,
        line: &[u8],
        cut: bool,
        reading: Reading,
        meaning: Option<Decoded>,
    ) {
        if self.is_out(seat) || self.has_ended(seat) {
            return;
        }
        if self.phase == Phase::Starting && self.measures_pondering() {
            self.player(seat).cpu_at_answer = reading.cpu;
        }
        // In another protocol a blank line may have a meaning.
        let is_blank = is_blank(line) && !cut && meaning.is_none();
        let bytes = if is_blank { line.len() as u64 } else { self.record_line(seat, line, cut) };
        let is_own = meaning.is_none();
        // There any line may be one that is only recorded, however short it is.
        let bytes = if is_own { bytes } else { bytes + EVENT_BYTES };
        // An action in its usual form is read when it is played.
        let action = action_text(line).filter(|_| is_own && !cut);
        let unread = cut || action.is_some();
        let mut message = if unread { None } else { parse_line(line, meaning) };
        let answers = unread || !matches!(message, None | Some(Ok(FromAgent::Info(_))));
        self.count(seat, bytes + 1, is_blank);
        self.read(reading);
        if self.thinking() == Some(seat) && answers {
            self.late(seat);
        } else {
            self.check_clock();
        }
        if self.is_out(seat) {
            return;
        }
        if let Some(text) = self.flooded(seat, cut, is_blank) {
            if is_blank {
                // Others are not recorded, so this one shows that there were too many.
                self.record_line(seat, line, cut);
            }
            return self.fault(seat, FaultKind::Flood, text);
        }
        if let Some((turn, action)) = action {
            if self.play_text(seat, turn, action) {
                return;
            }
            message = parse_line(line, None);
        }
        match message {
            None => {}
            Some(Err(garbled)) => {
                let text = if is_own { describe(&garbled, line) } else { garbled.to_string() };
                self.fault(seat, FaultKind::Garbled, text);
            }
            Some(Ok(message)) => self.message(seat, message),
        }
    }

    /// Plays the answer to the current request. If it is not legal, or not one, nothing changes.
    fn play_text(&mut self, seat: Seat, turn: Option<u64>, action: &str) -> bool {
        let Phase::Thinking(asked) = &self.phase else { return false };
        let asked = asked.clone();
        let is_answer = asked.seat == seat && asked.answers(turn);
        let played = if is_answer { self.game.play_text(action) } else { None };
        let is_played = played.is_some();
        if let Some(action) = played {
            self.played(&asked, action);
        }
        is_played
    }

    /// Records a line, and returns its length there.
    fn record_line(&mut self, seat: Seat, line: &[u8], cut: bool) -> u64 {
        let (line, escaped) = escape_line(line);
        let (bytes, at_ns) = (recorded_bytes(&line), self.now.0);
        self.record(Event::Line(LineEvent { at_ns, seat, line, escaped, cut }));
        bytes
    }

    fn count(&mut self, seat: Seat, bytes: u64, is_blank: bool) {
        self.player(seat).output.add(bytes, is_blank);
        if let Phase::Thinking(asked) = &mut self.phase
            && asked.seat == seat
        {
            asked.output.add(bytes, is_blank);
        }
    }

    /// Says which limit on output has been exceeded, by the lines that are recorded or by those that aren't.
    fn flooded(&self, seat: Seat, cut: bool, is_blank: bool) -> Option<String> {
        let limits = &self.header.limits;
        if cut {
            return Some(format!("sent a line longer than {} bytes", limits.line_bytes));
        }
        let what = if is_blank { "blank lines" } else { "output" };
        if self.players[seat.index()].output.of(is_blank) > limits.match_bytes {
            let bound = limits.match_bytes;
            return Some(format!("wrote more than {bound} bytes of {what} in the match"));
        }
        let bound = limits.turn_bytes;
        match &self.phase {
            Phase::Thinking(asked) if asked.seat == seat && asked.output.of(is_blank) > bound => {
                Some(format!("wrote more than {bound} bytes of {what} in turn {}", asked.turn))
            }
            _ => None,
        }
    }

    fn message(&mut self, seat: Seat, message: FromAgent) {
        let asked = match &self.phase {
            Phase::Thinking(asked) if asked.seat == seat => Some(asked.clone()),
            _ => None,
        };
        let unasked = |text: &str| (FaultKind::Unasked, text.to_owned());
        let is_ready = self.phase != Phase::Starting || self.player(seat).ready.is_some();
        let (kind, text) = match (message, asked) {
            (FromAgent::Ready(ready), _) if !is_ready => {
                self.player(seat).ready = Some(ready);
                return self.proceed();
            }
            (FromAgent::Ready(_), _) => unasked("sent `ready` twice"),
            (FromAgent::Info(info), Some(_)) => return self.scored(info.score()),
            (FromAgent::Info(_), None) => unasked("sent `info` outside its own turn"),
            (FromAgent::Resign(resign), Some(asked)) if asked.answers(resign.turn) => {
                (FaultKind::Resigned, "resigned".to_owned())
            }
            (FromAgent::Action(action), Some(asked)) if asked.answers(action.turn) => {
                return self.play(&asked, &action.action);
            }
            (FromAgent::Resign(it), asked) => unasked(&self.not_now("`resign`", it.turn, asked)),
            // Garbled comes before unasked, also where only the action is malformed.
            (FromAgent::Action(it), asked) => match self.game.malformed(&it.action) {
                Some(text) => (FaultKind::Garbled, format!("action: {text}")),
                None => unasked(&self.not_now("`action`", it.turn, asked)),
            },
        };
        self.fault(seat, kind, text);
    }

    /// Stores the score of the turn, if scores have an effect.
    fn scored(&mut self, score: Option<f64>) {
        if let Phase::Thinking(asked) = &mut self.phase
            && self.adjudicator.is_active()
        {
            asked.score = score.or(asked.score);
        }
    }

    fn not_now(&self, what: &str, turn: Option<u64>, asked: Option<CurrentTurn>) -> String {
        match (asked, turn) {
            (Some(asked), Some(turn)) => {
                format!("sent {what} for turn {turn} in turn {}", asked.turn)
            }
            _ if self.phase == Phase::Starting => format!("sent {what} before the first `turn`"),
            _ => format!("sent {what} when it was not its turn"),
        }
    }

    fn play(&mut self, asked: &CurrentTurn, action: &Value) {
        match self.game.play(action) {
            Ok(recorded) => self.played(asked, recorded.into()),
            Err(refusal) => self.refused(asked, action, &refusal),
        }
    }

    /// Judges an action that can't be played. One that the rules themselves have listed is no fault of an agent, and no
    /// other one is a reason to fail: else an agent could make all matches void that it loses.
    fn refused(&mut self, asked: &CurrentTurn, action: &Value, refusal: &Refusal) {
        let (seat, turn) = (asked.seat, asked.turn);
        let legal = self.game.actions();
        let is_listed = legal.contains(action);
        let failure = self.game.failure().map(ToString::to_string);
        match (refusal, failure) {
            (Refusal::Failed(failure), _) => {
                let text = format!("{RULES_FAILED_AFTER} {turn} of seat {seat}: {failure}");
                let is_actions = !is_listed && !self.fails_at_any(&legal);
                self.stop(RULES, text, Some(seat).filter(|_| is_actions));
            }
            (_, Some(failure)) => {
                let text = format!("the rules failed in turn {turn}: {failure}");
                self.stop(RULES, text, None);
            }
            // Only rules of others can contradict themselves.
            (Refusal::Malformed(why), _) if is_listed => {
                let text = format!(
                    "the rules listed {action} in turn {turn}, which is not as they declared: {why}"
                );
                self.stop(RULES, text, None);
            }
            (Refusal::Illegal(illegal), _) if is_listed => {
                let shown = self.game.format_action(action);
                let text =
                    format!("the rules listed {shown} in turn {turn}, and refused it: {illegal}");
                self.stop(RULES, text, None);
            }
            (Refusal::Malformed(text), _) => {
                self.fault(seat, FaultKind::Garbled, format!("action: {text}"));
            }
            (Refusal::Illegal(illegal), _) => {
                let shown = self.game.format_action(action);
                let text = match illegal.to_string() {
                    // It begins with the action already: "l1 is off the board".
                    text if text.strip_prefix(&shown).is_some_and(|it| it.starts_with(' ')) => text,
                    text => format!("{shown}: {text}"),
                };
                let kind = FaultKind::Illegal;
                self.fault_with(seat, Fault { kind, by: None, turn, text, legal: Some(legal) });
            }
        }
    }

    /// Whether the rules fail in this position at an action of nobody, too: at one of the legal ones, or an example. Then
    /// the position makes them fail, into which another agent may have led.
    fn fails_at_any(&self, legal: &[Value]) -> bool {
        let actions = &self.game.kind().about().actions;
        let other = legal.first().or_else(|| actions.first().map(|form| &form.example));
        other.is_some_and(|other| self.game.fails_at(other))
    }

    fn played(&mut self, asked: &CurrentTurn, action: ActionJson) {
        let (seat, turn, spent) = (asked.seat, asked.turn, asked.spent);
        let answered_at = asked.reading.cpu.zip(spent.cpu).filter(|_| self.measures_pondering());
        let player = &mut self.players[seat.index()];
        player.cpu_at_answer = answered_at.map(|(before, own)| before.plus(own));
        let used_ms = player.charge(&spent, &self.header.clock).ms_up();
        self.record(Event::Played(PlayedEvent {
            at_ns: self.now.0,
            turn,
            seat,
            action: action.clone(),
            used_ms,
            wall_ns: spent.wall.0,
            cpu_ns: spent.cpu.map(|cpu| cpu.0),
            wait_ns: spent.wait.map(|wait| wait.0),
            lag_ns: spent.lag.0,
            score: asked.score,
        }));
        let message = ToAgent::Played(Played { turn, seat, action, used_ms });
        self.tell_move(message, turn, Some(seat));
        let decision = self.adjudicator.count(seat, turn, asked.score);
        self.decides_after_choices = self.decides_after_choices.or(decision);
        self.proceed();
    }

    /// Judges whether the answer of the seat that thinks is late.
    fn late(&mut self, seat: Seat) {
        let Phase::Thinking(asked) = &self.phase else { return };
        let (turn, spent, pondered) = (asked.turn, asked.spent, asked.pondered);
        let clock = &self.players[seat.index()].clock;
        let punctuality = clock.punctuality(&spent, &self.header.clock);
        if punctuality == Punctuality::InTime {
            return;
        }
        let limit = clock.limit_text(&self.header.clock);
        let clock_kind = self.header.clock.kind;
        match punctuality {
            Punctuality::InTime => {}
            Punctuality::WithinLag => {
                let lag = spent.lag.ms_up();
                if self.may_not_void(seat) {
                    let mut text = late_text(&spent, LateBy::Wall, &limit, clock_kind);
                    write!(text, "; {NO_EXCUSE} of {lag} ms").ok();
                    let (kind, by) = (FaultKind::Late, Some(LateBy::Wall));
                    return self.fault_with(seat, Fault { kind, by, turn, text, legal: None });
                }
                let text = format!(
                    "seat {seat} answered turn {turn} too late, but by no more than the referee's \
                     own delay of {lag} ms"
                );
                self.stop("lag", text, Some(seat));
            }
            Punctuality::Late(by) => {
                let mut text = late_text(&spent, by, &limit, clock_kind);
                if pondered > Nanos(0) {
                    let ms = pondered.ms_up().to_string();
                    text.extend(["; it used ", &ms, " ms of CPU time before its turn"]);
                }
                let kind = FaultKind::Late;
                self.fault_with(seat, Fault { kind, by: Some(by), turn, text, legal: None });
            }
        }
    }

    pub(super) fn tick(&mut self, reading: Reading) {
        self.read(reading);
        self.check_clock();
    }

    /// Stores a reading for the turn, or for the start.
    fn read(&mut self, reading: Reading) {
        match &mut self.phase {
            Phase::Starting => self.start_lag = self.start_lag.max(reading.lag),
            Phase::Thinking(asked) => {
                asked.spent = Spent::between((asked.at, asked.reading), (self.now, reading));
            }
            Phase::Drawing(_) | Phase::Asking(_) | Phase::Ended => {}
        }
    }

    /// Judges a missing answer.
    fn check_clock(&mut self) {
        match &self.phase {
            Phase::Starting => self.check_start(),
            Phase::Thinking(asked) => {
                let (seat, spent) = (asked.seat, asked.spent);
                let player = &self.players[seat.index()];
                let punctuality = player.clock.punctuality(&spent, &self.header.clock);
                // Until an answer comes, there is time to see whether the lag explains the delay.
                if matches!(punctuality, Punctuality::Late(_)) {
                    self.late(seat);
                }
            }
            Phase::Drawing(_) | Phase::Asking(_) | Phase::Ended => {}
        }
    }

    fn check_start(&mut self) {
        let start_ms = self.header.clock.start_ms;
        let waiting: Vec<Seat> = self.unready().collect();
        if self.now <= Nanos::from_ms(start_ms).plus(self.start_lag) || waiting.is_empty() {
            return;
        }
        for seat in waiting {
            if !self.is_out(seat) {
                self.fault(seat, FaultKind::Start, EndReason::unready(start_ms));
            }
        }
    }

    /// The shell has seen a fault that the match can't see.
    pub(super) fn reported_fault(&mut self, seat: Seat, kind: FaultKind, text: String) {
        if !self.is_out(seat) {
            self.fault(seat, kind, text);
        }
    }

    /// Whether the seat's agent has caused as many void matches as it may.
    pub(super) fn may_not_void(&self, seat: Seat) -> bool {
        self.header.seats[seat.index()].no_void
    }

    /// Returns the fault of an agent that is there no more.
    pub(super) fn fault_at_end(&self, seat: Seat) -> FaultKind {
        let ready = self.players[seat.index()].ready.is_some();
        if ready { FaultKind::Gone } else { FaultKind::Start }
    }

    /// The agent can't answer any more. Until it is asked, that is no fault.
    pub(super) fn ended(&mut self, seat: Seat, end: AgentEnd) {
        if self.is_out(seat) {
            return;
        }
        let is_asked = match &self.phase {
            Phase::Starting => self.players[seat.index()].ready.is_none(),
            Phase::Asking(asked) => *asked == seat,
            Phase::Thinking(asked) => asked.seat == seat,
            Phase::Drawing(_) | Phase::Ended => false,
        };
        if is_asked || self.header.seats[seat.index()].is_human() {
            self.judge_end(seat, &end);
        } else {
            self.player(seat).end.get_or_insert(end);
        }
    }

    pub(super) fn judge_end(&mut self, seat: Seat, end: &AgentEnd) {
        let kind = self.fault_at_end(seat);
        let text = match end {
            AgentEnd::Exited(status) if kind == FaultKind::Start => {
                EndReason::exited(status, "it sent `ready`")
            }
            AgentEnd::Exited(status) => {
                EndReason::exited(status, &format!("answering turn {}", self.turn_number()))
            }
            AgentEnd::Closed(_) if self.header.seats[seat.index()].is_human() => {
                "you ended the input".to_owned()
            }
            AgentEnd::Closed(stream) => {
                format!("closed its {stream} while its process was still running")
            }
        };
        self.fault(seat, kind, text);
    }

    fn fault(&mut self, seat: Seat, kind: FaultKind, text: String) {
        let turn = self.turn_number();
        self.fault_with(seat, Fault { kind, by: None, turn, text, legal: None });
    }
}

/// Whether a line has only white space.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

impl CurrentTurn {
    fn answers(&self, turn: Option<u64>) -> bool {
        turn.is_none_or(|turn| turn == self.turn)
    }
}

/// Describes a late answer; `limit` says which time was exceeded.
fn late_text(spent: &Spent, by: LateBy, limit: &str, kind: ClockKind) -> String {
    let wall = spent.wall.ms_up();
    let cpu = spent.cpu.map_or(String::new(), |cpu| format!(" ({} ms of CPU)", cpu.ms_up()));
    match (by, kind) {
        (LateBy::Wall, ClockKind::Wall) => format!("no answer after {wall} ms{cpu}; {limit}"),
        (LateBy::Wall, ClockKind::Cpu) => {
            format!("no answer after {wall} ms{cpu}; a CPU clock also limits the time that passes")
        }
        (LateBy::Cpu, _) => {
            let cpu = spent.cpu.unwrap_or_default().ms_up();
            format!("used {cpu} ms of CPU time; {limit}")
        }
    }
}

/// Says what is wrong with a line, and shows its beginning.
fn describe(garbled: &ParseError, line: &[u8]) -> String {
    const SHOWN_BYTES: usize = 60;
    let shown = sanitize(&String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES)]));
    let dots = if line.len() > SHOWN_BYTES { ".." } else { "" };
    format!("{garbled}: {shown}{dots}")
}
