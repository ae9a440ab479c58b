//! Rules made from a transcript, for viewers of a match whose game program isn't there: the moves that were played
//! are legal, and no other. What the game is, such as the texts of its actions, is in the header; in place of the
//! board there is a sentence.

use super::read::read;
use referee_games::program::{Pending, Program, Rules, RulesFailure};
use referee_games::wire::{
    Answer, At, Chance, Described, From, Move, Picture, Ply, PlyTurn, RefusalKind, Refused,
    Request, Walk, Walked,
};
use referee_games::{GameKind, Games, NoRules};
use referee_protocol::{
    Event, FromAgent, Header, LineEvent, Seat, TurnEvent, parse_from_agent, unescape_line,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The most bytes of transcripts of which such rules are made: a game's rules stay until the process ends.
const KNOWN_BYTES_MAX: usize = 128 << 20;
/// The sum of the outcomes that a transcript may have drawn: each draw is shown as one among that many.
const OUTCOMES_MAX: usize = 1 << 24;
/// The field of a state.
const PLY: &str = "recorded_ply";
/// The cause of a match that is void because the rules failed.
const RULES: &str = "rules";

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// The rules that were made, and how long their transcripts are together.
#[derive(Debug, Default)]
struct Known {
    kinds: HashMap<u64, GameKind>,
    bytes: usize,
}

/// What a viewer needs to show a transcript.
#[derive(Clone, Debug)]
pub struct Viewable {
    /// The games, with rules made from the transcript if its own aren't there.
    pub games: Games,
    /// Why the rules aren't there, as text that can follow "note: ".
    pub missing: Option<String>,
}

/// Returns the games by which a transcript (unpacked, as far as it has been written) can be shown.
pub fn viewable(bytes: &[u8], games: &Games) -> Viewable {
    let as_it_is = || Viewable { games: games.clone(), missing: None };
    // What a seat saw is known to the rules alone.
    let Some(reading) = read(bytes).ok().filter(|_| games.viewer().is_none()) else {
        return as_it_is();
    };
    let header = reading.header.clone();
    let missing = match games.of_record(&header.game, header.program.as_ref()) {
        Err(error @ (NoRules::NotAvailable(_) | NoRules::Other(_))) => error.to_string(),
        Ok(_) | Err(NoRules::Unknown(_)) => return as_it_is(),
    };
    let recorded = || recorded(bytes, &header, reading, &missing);
    recorded().map_or_else(as_it_is, |kind| Viewable {
        games: Games::default().with([(header.game.clone(), kind)]),
        missing: Some(missing.clone()),
    })
}

fn recorded(
    bytes: &[u8],
    header: &Header,
    events: impl Iterator<Item = Event>,
    missing: &str,
) -> Option<GameKind> {
    let mut hasher = DefaultHasher::new();
    (bytes, missing).hash(&mut hasher);
    let key = hasher.finish();
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(kind) = known.kinds.get(&key) {
        return Some(*kind);
    }
    let together = known.bytes.saturating_add(bytes.len());
    if together > KNOWN_BYTES_MAX {
        return None;
    }
    let program = header.program.clone()?;
    let described: Described = serde_json::from_value(program.described).ok()?;
    let events: Vec<Event> = events.collect();
    let drawn = events.iter().map(|event| match event {
        Event::Drawn(drawn) => drawn.outcome,
        _ => 0,
    });
    if drawn.fold(0, usize::saturating_add) > OUTCOMES_MAX {
        return None;
    }
    // Each seat that chooses is kept for each move.
    let is_fit = |seats: &[Seat]| {
        seats.len() <= header.seats.len() && seats.is_sorted_by(|one, next| one < next)
    };
    let asked = |event: &Event| match event {
        Event::Turn(asked) => is_fit(&asked.together),
        _ => true,
    };
    if !events.iter().all(asked) {
        return None;
    }
    let rules = Recorded::new(described, header, &events, missing);
    let named = (header.game.as_str(), header.rules);
    let rules = Program::describe(Box::new(rules), named, PathBuf::new(), program.digest).ok()?;
    let kind = GameKind::of_program(Box::leak(Box::new(rules)));
    known.kinds.insert(key, kind);
    known.bytes = together;
    Some(kind)
}

/// Returns the action in an agent's line.
fn action_in(line: &LineEvent) -> Option<Value> {
    let bytes = unescape_line(&line.line, line.escaped)?;
    match parse_from_agent(&bytes).ok()? {
        FromAgent::Action(action) => Some(action.action),
        _ => None,
    }
}

/// Returns the first request from this event on; `later` is where the last search has ended.
fn next_asked<'a>(events: &'a [Event], number: usize, later: &mut usize) -> Option<&'a TurnEvent> {
    *later = number.max(*later);
    loop {
        match events.get(*later)? {
            Event::Turn(asked) => return Some(asked),
            _ => *later += 1,
        }
    }
}

/// The seats that choose at once, as the requests name them.
#[derive(Debug, Default)]
struct RecordedChoice {
    together: Vec<Seat>,
    /// Those that have chosen or are out.
    left: Vec<Seat>,
    /// The number of moves before the first of them has chosen.
    begin: usize,
}

impl RecordedChoice {
    /// Returns the seats to move at a request, after this number of moves.
    fn asked(&mut self, asked: &TurnEvent, moves: usize) -> Vec<Seat> {
        if asked.together.len() < 2 {
            *self = Self::default();
            return vec![asked.seat];
        }
        if self.together != asked.together || self.left.len() == self.together.len() {
            *self = Self { together: asked.together.clone(), left: Vec::new(), begin: moves };
        }
        self.rest()
    }

    /// Returns the seats that have still to choose.
    fn rest(&self) -> Vec<Seat> {
        let is_left = |seat: &&Seat| !self.left.contains(seat);
        self.together.iter().filter(is_left).copied().collect()
    }

    /// Returns the turn of those, if there are any.
    fn turn(&self) -> Option<RecordedTurn> {
        let rest = self.rest();
        (!rest.is_empty()).then_some(RecordedTurn::of(rest))
    }

    fn left(&mut self, seat: Seat) {
        if self.together.contains(&seat) && !self.left.contains(&seat) {
            self.left.push(seat);
        }
    }

    /// Returns after how many moves the present turn or choice began.
    fn begin(&self, moves: usize) -> usize {
        if self.together.is_empty() { moves } else { self.begin }
    }
}

/// Whose turn it was.
#[derive(Debug)]
enum RecordedTurn {
    As(PlyTurn),
    /// The referee drew this outcome, with its label.
    Drawn(usize, String),
}

impl RecordedTurn {
    fn of(seats: Vec<Seat>) -> Self {
        Self::As(PlyTurn::Of(seats))
    }

    fn turn(&self) -> PlyTurn {
        match self {
            Self::As(turn) => turn.clone(),
            // A draw in which only this outcome is possible.
            Self::Drawn(outcome, label) => {
                let (mut weights, mut labels) = (vec![0; *outcome], vec![String::new(); *outcome]);
                weights.push(1);
                labels.push(label.clone());
                PlyTurn::Chance(Chance { weights, labels })
            }
        }
    }
}

/// The moves of a transcript.
#[derive(Debug)]
struct Recorded {
    described: Described,
    /// What each seat plays.
    seats: Vec<String>,
    moves: Vec<Move>,
    /// Whose turn it was before each move, and after the last.
    turns: Vec<RecordedTurn>,
    /// The legal actions where they are recorded: where a seat broke the rules, by the number of moves before the turn,
    /// or before the first of several seats has chosen.
    legal: BTreeMap<usize, Vec<(Seat, Vec<Value>)>>,
    /// How the rules failed after the last move, if they did.
    failed: Option<String>,
    /// What is shown instead of the board.
    text: String,
}

impl Recorded {
    fn new(described: Described, header: &Header, events: &[Event], missing: &str) -> Self {
        let seats = header.seats.iter().map(|seat| seat.colour.clone()).collect();
        let text = missing.replace(": ", ":\n");
        let (moves, turns, legal) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut all = Self { described, seats, moves, turns, legal, failed: None, text };
        let mut answer = None;
        let mut turn = None;
        let mut choice = RecordedChoice::default();
        let mut later = 0;
        for (number, event) in events.iter().enumerate() {
            let step = match event {
                Event::Turn(asked) => {
                    let seats = choice.asked(asked, all.moves.len());
                    // Where several seats choose, one of two may have left since the first was asked.
                    if asked.together.is_empty() || turn.is_none() {
                        turn = Some(RecordedTurn::of(seats));
                    }
                    continue;
                }
                Event::Played(played) => {
                    turn = turn.or_else(|| choice.turn());
                    choice.left(played.seat);
                    turn.get_or_insert_with(|| RecordedTurn::of(vec![played.seat]));
                    Move::Action { seat: played.seat, action: played.action.value() }
                }
                Event::Drawn(drawn) => {
                    turn = Some(RecordedTurn::Drawn(drawn.outcome, drawn.label.clone()));
                    Move::Draw { draw: drawn.outcome }
                }
                Event::Line(line) => {
                    answer = Some(line);
                    continue;
                }
                Event::Retired(retired) => {
                    let begin = choice.begin(all.moves.len());
                    all.note_legal(begin, retired.seat, retired.fault.legal.as_ref());
                    turn = turn.or_else(|| choice.turn());
                    // It had ended before it was asked, as the first of several seats.
                    let next = next_asked(events, number, &mut later);
                    let next = next.filter(|asked| asked.together.contains(&retired.seat));
                    turn = turn
                        .or_else(|| Some(RecordedTurn::of(choice.asked(next?, all.moves.len()))));
                    choice.left(retired.seat);
                    // One of two seats is out for the match alone.
                    if header.seats.len() < 3 {
                        continue;
                    }
                    turn.get_or_insert_with(|| {
                        let next = next_asked(events, number, &mut later);
                        let next = next.filter(|asked| asked.turn == retired.turn);
                        RecordedTurn::of(vec![next.map_or(retired.seat, |asked| asked.seat)])
                    });
                    Move::Retire { retire: retired.seat }
                }
                Event::Over(over) => {
                    let end = over.outcome.clone().map(PlyTurn::Over);
                    turn = end.map(RecordedTurn::As).or(turn);
                    let begin = choice.begin(all.moves.len());
                    for seat in &over.verdict.seats {
                        let legal = seat.fault.as_ref().and_then(|fault| fault.legal.as_ref());
                        all.note_legal(begin, seat.seat, legal);
                    }
                    if let Some(void) = over.verdict.void.as_ref().filter(|it| it.cause == RULES) {
                        all.failed = Some(void.text.clone());
                        // They failed at an action that they had listed.
                        let answer = answer.filter(|_| void.seat.is_none());
                        let listed = answer.and_then(|line| Some((line.seat, action_in(line)?)));
                        if let Some((seat, action)) = listed {
                            all.note_legal(begin, seat, Some(&vec![action]));
                        }
                    }
                    continue;
                }
                _ => continue,
            };
            all.turns.extend(turn.take());
            all.moves.push(step);
        }
        let next = || {
            let last = all.moves.iter().rev().find_map(|step| match step {
                Move::Action { seat, .. } => Some(seat.index() + 1),
                _ => None,
            });
            let seats = Seat::all(header.seats.len());
            let is_in = |seat: &Seat| !all.moves.contains(&Move::Retire { retire: *seat });
            let mut next = seats.clone().cycle().skip(last.unwrap_or(0)).take(seats.count());
            RecordedTurn::of(vec![next.find(is_in).unwrap_or(Seat(0))])
        };
        let turn = turn.or_else(|| choice.turn()).unwrap_or_else(next);
        all.turns.push(turn);
        all
    }

    fn note_legal(&mut self, number: usize, seat: Seat, legal: Option<&Vec<Value>>) {
        if let Some(legal) = legal {
            self.legal.entry(number).or_default().push((seat, legal.clone()));
        }
    }

    /// Returns the legal actions that are recorded at a ply, in the form that its game has.
    fn actions(&self, number: usize) -> Option<Vec<Value>> {
        let noted = self.legal.get(&number)?;
        let RecordedTurn::As(PlyTurn::Of(seats)) = &self.turns[number] else { return None };
        if !self.described.simultaneous {
            return noted.last().map(|(_, legal)| legal.clone());
        }
        let of = |seat: &Seat| noted.iter().rev().find(|(own, _)| own == seat).map(|(_, it)| it);
        Some(seats.iter().map(|seat| json!(of(seat).unwrap_or(&Vec::new()))).collect())
    }

    fn ply(&self, number: usize) -> Ply {
        Ply {
            state: json!({ PLY: number }).into(),
            turn: self.turns[number].turn(),
            actions: self.actions(number),
            position: json!({}),
            view: Some(Ok(Picture { text: Some(self.text.clone()), ..Picture::default() })),
            notes: Vec::new(),
            estimate: Vec::new(),
            seen: Vec::new(),
            told: Vec::new(),
            views: Vec::new(),
        }
    }

    fn walk(&self, walk: &Walk) -> Answer {
        // A match may begin in a state of the real rules.
        let begin = match &walk.from {
            From::Setup(_) => 0,
            From::State(state) => state.value()[PLY].as_u64().unwrap_or(0),
        };
        let begin = usize::try_from(begin).unwrap_or(usize::MAX).min(self.moves.len());
        let seats = matches!(walk.from, From::Setup(_)).then(|| self.seats.clone());
        let mut recorded = Vec::new();
        let mut plies = vec![self.ply(begin)];
        for (index, step) in walk.moves.iter().enumerate() {
            let number = begin + index;
            recorded.push(match (step, self.moves.get(number)) {
                (Move::Action { seat, .. }, Some(Move::Action { seat: own, action }))
                    if seat == own =>
                {
                    action.clone()
                }
                (step, Some(own)) if step == own => Value::Null,
                (_, None) if self.failed.is_some() => {
                    return Answer::Failed { text: self.failed.clone().unwrap_or_default() };
                }
                _ => {
                    let rule =
                        "it is not the move that is recorded, and the rules are not available";
                    let (kind, rule) = (RefusalKind::Illegal, rule.to_owned());
                    return Answer::Refused(Refused { index, kind, rule });
                }
            });
            plies.push(self.ply(number + 1));
        }
        if walk.at == At::End {
            plies.drain(..plies.len() - 1);
        }
        Answer::Walked(Walked { seats: seats.unwrap_or_default(), recorded, plies })
    }
}

impl Rules for Recorded {
    fn are_recorded(&self) -> bool {
        true
    }

    fn send(&self, request: Request) -> Pending<Result<Answer, RulesFailure>> {
        Box::pin(std::future::ready(self.ask(request)))
    }

    fn ask(&self, request: Request) -> Result<Answer, RulesFailure> {
        Ok(match request {
            Request::Describe { .. } => Answer::Described(Box::new(self.described.clone())),
            Request::Walk(walk) => self.walk(&walk),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{OUTCOMES_MAX, Recorded, RecordedTurn, next_asked, viewable};
    use referee_games::Games;
    use referee_games::wire::PlyTurn;
    use referee_protocol::{Event, Seat};
    use serde_json::json;

    /// Returns a transcript of a game whose rules nobody has, with these draws.
    fn transcript(drawn: &[usize]) -> Vec<u8> {
        let game = referee_games::kind("hex").unwrap().start(&json!({})).unwrap();
        let described = json!({
            "name": "dice", "title": "Dice", "summary": "Dice.", "seats": [2], "setup": [], "actions": [], "pieces":
            [{ "name": "red", "colour": "red" }, { "name": "blue", "colour": "blue" }], "reasons": [], "score": null,
            "labels": "pair", "lists": false, "estimates": false, "chance": true, "plies_max": 10
        });
        let mut header = json!(crate::header(game.as_ref()));
        header["game"] = json!("dice");
        header["rules"] = json!(1);
        header["setup"] = json!({});
        header["program"] = json!({ "digest": "none", "described": described });
        header["type"] = json!("header");
        let drawn = drawn.iter().map(|outcome| {
            json!({ "type": "drawn", "at_ns": 0, "turn": 0, "outcome": outcome, "label": "" })
        });
        let lines = [header].into_iter().chain(drawn).map(|line| line.to_string() + "\n");
        lines.collect::<String>().into_bytes()
    }

    /// A line of 90 bytes took as much memory as its number said, and so ended a server.
    #[test]
    fn a_number_in_a_transcript_is_no_size_in_memory() {
        let is_shown =
            |drawn: &[usize]| viewable(&transcript(drawn), &Games::default()).missing.is_some();
        assert!(is_shown(&[3, 9_999]));
        assert!(!is_shown(&[usize::MAX]));
        assert!(!is_shown(&[1 << 40, usize::MAX]));
        assert!(!is_shown(&[OUTCOMES_MAX / 2; 3]));
        let PlyTurn::Chance(chance) = RecordedTurn::Drawn(2, "c".to_owned()).turn() else {
            panic!("it is a draw")
        };
        assert_eq!((&*chance.weights, chance.label(2)), (&[0, 0, 1][..], "c".to_owned()));
    }

    /// A line of a megabyte, with a seat half a million times, was kept for each move.
    #[test]
    fn those_who_choose_at_once_are_few_and_named_once() {
        let is_shown = |together: &[u8]| {
            let turn =
                json!({ "type": "turn", "at_ns": 0, "turn": 0, "seat": 0, "together": together });
            let bytes = [&transcript(&[])[..], format!("{turn}\n").as_bytes()].concat();
            viewable(&bytes, &Games::default()).missing.is_some()
        };
        assert!(is_shown(&[]) && is_shown(&[0, 1]));
        assert!(!is_shown(&[0, 0]) && !is_shown(&[1, 0]) && !is_shown(&[0, 1, 2]));
    }

    /// Else the rules that are made would name a seat that is out, and the match could not be shown.
    #[test]
    fn no_seat_that_is_out_is_next() {
        let text = String::from_utf8(transcript(&[])).unwrap();
        let mut header: referee_protocol::Header = serde_json::from_str(&text).unwrap();
        let third = referee_protocol::HeaderSeat { seat: Seat(2), ..header.seats[1].clone() };
        header.seats.push(third);
        let described = header.program.clone().unwrap().described;
        let fault = json!({ "kind": "gone", "turn": 0, "text": "" });
        let events = [
            json!({ "type": "retired", "at_ns": 0, "turn": 0, "seat": 0, "fault": fault }),
            json!({ "type": "turn", "at_ns": 0, "turn": 1, "seat": 1, "together": [0, 1, 2] }),
            json!({ "type": "played", "at_ns": 0, "turn": 1, "seat": 2, "action": {}, "used_ms": 0, "wall_ns": 0 }),
        ];
        let events: Vec<Event> =
            events.into_iter().map(|event| serde_json::from_value(event).unwrap()).collect();
        let described = serde_json::from_value(described).unwrap();
        let made = Recorded::new(described, &header, &events, "");
        let of = |turn: &RecordedTurn| match turn.turn() {
            PlyTurn::Of(seats) => seats,
            other => panic!("it is no seat's turn: {other:?}"),
        };
        let turns: Vec<_> = made.turns.iter().map(of).collect();
        // It left as the first of a choice, before it was asked.
        assert_eq!(turns, [vec![Seat(0), Seat(1), Seat(2)], vec![Seat(1), Seat(2)], vec![Seat(1)]]);
    }

    #[test]
    fn the_next_request_is_found_once() {
        let asked = |turn| {
            let text = format!("{{\"type\":\"turn\",\"at_ns\":0,\"turn\":{turn},\"seat\":1}}");
            serde_json::from_str(&text).unwrap()
        };
        let events = [Event::Unknown, asked(1), Event::Unknown, asked(2), Event::Unknown];
        let mut later = 0;
        let found: Vec<_> = (0..events.len())
            .map(|number| next_asked(&events, number, &mut later).map(|it| (it.turn, it.seat)))
            .collect();
        let [one, two] = [1, 2].map(|turn| Some((turn, Seat(1))));
        assert_eq!(found, [one, one, two, two, None]);
    }
}
