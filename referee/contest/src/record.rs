//! Records of games that count: the data of standings and ratings.

use crate::{Fixture, LagPolicy, Player, Policy};
use referee_match::MatchTally;
use referee_protocol::encode::to_hex;
use referee_protocol::{FaultKind, MatchResult, OverEvent, Seat, SeatVerdict};
use serde::{Deserialize, Serialize};
use sha2::Digest;

/// A game that counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The game's place in the schedule.
    pub number: u64,
    /// Its block: one pairing in one game with one opening and one seed, in all seat orders. Games
    /// of a block are not independent of each other.
    pub block: u64,
    /// The round, from 1.
    pub round: u32,
    /// Which of the contest's games was played.
    pub game: usize,
    /// The players, in seat order.
    pub players: Vec<Player>,
    /// The match's id.
    pub match_id: String,
    /// The match's seed.
    pub seed: u64,
    /// The kind of end; never void.
    pub result: MatchResult,
    /// The reason for the end: the rules' reason, or the fault's kind.
    pub reason: String,
    /// The place of each seat, from 1; ties share one.
    pub places: Vec<u32>,
    /// The score of each seat, in games with scores that were played to their end.
    pub scores: Option<Vec<i64>>,
    /// The records of the seats.
    pub seats: Vec<SeatRecord>,
    /// The number of actions played.
    pub turns: u64,
    /// The greatest lag of the referee itself in one turn, in nanoseconds.
    pub lag_ns: u64,
    /// Whether the lag is above the contest's bound.
    pub marked: bool,
    /// SHA-256 over game, setup and actions, without the players, in hex: equal in repeated games.
    pub moves: String,
    /// The transcript, relative to the contest's folder.
    pub transcript: String,
    /// SHA-256 of the transcript's seal, in hex.
    pub seal: String,
}

/// A seat's part in a [`Record`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatRecord {
    /// Time charged, in milliseconds.
    pub used_ms: u64,
    /// CPU time in its turns, in milliseconds.
    pub cpu_ms: u64,
    /// The most memory that its processes have had, in units of 1,024 bytes, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory_kb: Option<u64>,
    /// The number of turns that it answered.
    pub turns: u64,
    /// Its fault, if any.
    pub fault: Option<FaultKind>,
    /// The fault's message for its author; untrusted text.
    pub fault_text: Option<String>,
}

impl SeatRecord {
    /// Returns its fault; a resignation is none.
    pub fn own_fault(&self) -> Option<FaultKind> {
        self.fault.filter(|&kind| kind != FaultKind::Resigned)
    }
}

/// Why a match doesn't count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Void {
    /// The cause, as in a verdict: `lag`, `machine`, `disk_full`, `interrupted`, ..
    pub cause: String,
    /// What happened, as a sentence.
    pub text: String,
    /// The seat of the agent at which it happened, if it concerns one agent only.
    pub seat: Option<Seat>,
}

impl Record {
    /// Returns the record, or why the match doesn't count. `transcript` is relative to the
    /// contest's folder, `seal` in hex.
    pub fn of(
        tally: MatchTally,
        fixture: &Fixture,
        policy: &Policy,
        transcript: String,
        seal: String,
    ) -> Result<Self, Void> {
        let MatchTally { match_id, seed, moves, turns, lag_ns, void_lag, over, .. } = tally;
        let void = |cause: &str, text: String, seat| Void { cause: cause.to_owned(), text, seat };
        let Some(OverEvent { outcome, verdict, .. }) = over else {
            return Err(void("machine", "the match has no end".to_owned(), None));
        };
        if let Some(note) = verdict.void {
            return Err(Void { cause: note.cause, text: note.text, seat: note.seat });
        }
        let Some(places) = verdict.places else {
            return Err(void("machine", "the verdict has no places".to_owned(), None));
        };
        let most_ns = policy.lag_ms.saturating_mul(1_000_000);
        let marked = lag_ns > most_ns;
        if let Some((lag_ns, seat)) = void_lag.filter(|(lag_ns, _)| *lag_ns > most_ns)
            && policy.on_lag == LagPolicy::Again
        {
            let (lag, bound) = (lag_ns / 1_000_000, policy.lag_ms);
            let text = format!("the referee was {lag} ms late in one turn, over {bound} ms");
            return Err(void("lag", text, Some(seat)));
        }
        let played = verdict.result == MatchResult::Played;
        let reason = outcome.as_ref().filter(|_| played).map(|outcome| outcome.reason.clone());
        Ok(Self {
            number: fixture.number,
            block: fixture.block,
            round: fixture.round,
            game: fixture.game,
            players: fixture.players.clone(),
            match_id,
            seed,
            result: verdict.result,
            reason: reason.unwrap_or(verdict.reason),
            places,
            scores: outcome.and_then(|outcome| outcome.scores),
            seats: verdict.seats.into_iter().map(SeatRecord::from).collect(),
            turns,
            lag_ns,
            marked,
            moves: to_hex(&moves.finalize()),
            transcript,
            seal,
        })
    }
}

impl From<SeatVerdict> for SeatRecord {
    fn from(seat: SeatVerdict) -> Self {
        Self {
            used_ms: seat.used_ms,
            cpu_ms: seat.cpu_ms,
            peak_memory_kb: seat.peak_memory_kb,
            turns: seat.turns,
            fault: seat.fault.as_ref().map(|fault| fault.kind),
            fault_text: seat.fault.map(|fault| fault.text),
        }
    }
}

/// Returns the half-points for places: two for each opponent behind, one for each in the same
/// place. With two seats a win is 2, a draw 1. With one seat a solution is 2.
pub fn half_points(places: &[u32]) -> Vec<u32> {
    if let [place] = places {
        return vec![if *place == 1 { 2 } else { 0 }];
    }
    let worth = |mine: u32| {
        let behind = places.iter().filter(|&&place| place > mine).count();
        let level = places.iter().filter(|&&place| place == mine).count() - 1;
        u32::try_from(2 * behind + level).unwrap_or(u32::MAX)
    };
    places.iter().map(|&place| worth(place)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Record, Void, half_points};
    use crate::{Fixture, LagPolicy, Player, Policy};
    use referee_games::kind;
    use referee_match::MatchTally;
    use referee_protocol::Seat;
    use serde_json::{Value, json};

    /// What is kept of a match in which the referee was so late in one of two turns.
    fn with_lag(lag_ns: u64, on_lag: LagPolicy) -> Result<Record, Void> {
        let played = |turn: u64, lag_ns: u64| {
            json!({"type": "played", "at_ns": 1, "turn": turn, "seat": turn, "action": {},
                   "used_ms": 1, "wall_ns": 1, "lag_ns": lag_ns})
        };
        with_events(vec![played(0, lag_ns), played(1, 3)], on_lag)
    }

    fn with_events(mut events: Vec<Value>, on_lag: LagPolicy) -> Result<Record, Void> {
        let seat =
            |seat: u8| json!({"seat": seat, "used_ms": 1, "cpu_ms": 1, "turns": 1, "fault": null});
        let verdict = json!({"result": "played", "reason": "connected", "places": [2, 1],
                             "seats": [seat(0), seat(1)], "void": null});
        let over = json!({"type": "over", "at_ns": 2, "outcome": null, "verdict": verdict});
        let mut tally = MatchTally::default();
        events.push(over);
        for event in events {
            tally.add_event(&serde_json::from_value(event).unwrap());
        }
        let players = vec![Player(1), Player(0)];
        let fixture = Fixture {
            number: 7,
            block: 3,
            round: 1,
            game: 0,
            players,
            opening: 3,
            seed: 1,
            voids_left: Vec::new(),
        };
        let policy = Policy { lag_ms: 50, on_lag, ..Policy::default() };
        Record::of(tally, &fixture, &policy, "games/7".to_owned(), "seal".to_owned())
    }

    #[test]
    fn lag_marks_a_game_or_has_it_played_again() {
        for (lag_ns, marked) in [(0, false), (50_000_000, false), (50_000_001, true)] {
            let kept = with_lag(lag_ns, LagPolicy::Mark).unwrap();
            assert_eq!((kept.lag_ns, kept.marked), (lag_ns.max(3), marked));
            assert_eq!((kept.number, kept.turns, kept.places), (7, 2, vec![2, 1]));
            let again = with_lag(lag_ns, LagPolicy::Again);
            assert_eq!(again.err().map(|void| void.cause), marked.then(|| "lag".to_owned()));
        }
    }

    #[test]
    fn an_agent_may_make_so_many_games_void_by_lag() {
        let mut header =
            referee_match::header(kind("hex").unwrap().start(&json!({})).unwrap().as_ref());
        header.seats[0].no_void = true;
        let header = json!(header).as_object().unwrap().clone();
        for (lags, seat) in [([99, 0], None), ([99, 60], Some(Seat(1))), ([0, 60], Some(Seat(1)))] {
            let mut events = vec![json!(header)];
            events[0]["type"] = json!("header");
            for (seat, ms) in lags.iter().enumerate() {
                events.push(json!({"type": "played", "at_ns": 1, "turn": seat, "seat": seat,
                    "action": {}, "used_ms": 1, "wall_ns": 1, "lag_ns": ms * 1_000_000}));
            }
            let found = with_events(events, LagPolicy::Again);
            assert_eq!(found.err().map(|void| void.seat), seat.map(Some), "{lags:?}");
        }
    }

    #[test]
    fn places_are_worth_who_is_behind() {
        for (places, worth) in [
            (vec![1, 2], vec![2, 0]),
            (vec![1, 1], vec![1, 1]),
            (vec![2, 1, 2], vec![1, 4, 1]),
            (vec![1, 2, 3], vec![4, 2, 0]),
            (vec![1, 1, 3], vec![3, 3, 0]),
            (vec![1], vec![2]),
            (vec![2], vec![0]),
        ] {
            assert_eq!(half_points(&places), worth, "{places:?}");
        }
    }
}
