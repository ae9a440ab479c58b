//! Decides a match of two seats by the scores that both agents give: who wins, or that it is a draw.

use referee_protocol::{Adjudication, Header, Seat};

/// Counts the turns in which each agent's scores said the same.
#[derive(Clone, Debug)]
pub(crate) struct Adjudicator {
    /// `None` if scores have no effect on the match.
    rules: Option<Adjudication>,
    seats: [Streaks; 2],
}

/// For how many of its turns in a row an agent has said the same.
#[derive(Clone, Copy, Debug, Default)]
struct Streaks {
    winning: u32,
    losing: u32,
    even: u32,
}

/// What the scores agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// This seat has won.
    Win(Seat),
    /// It is a draw.
    Draw,
}

impl Decision {
    /// Returns the reason of the verdict.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Win(_) => "win",
            Self::Draw => "draw",
        }
    }

    /// Returns the places of both seats.
    pub(crate) fn places(self) -> Vec<u32> {
        match self {
            Self::Win(Seat(0)) => vec![1, 2],
            Self::Win(_) => vec![2, 1],
            Self::Draw => vec![1, 1],
        }
    }
}

impl Adjudicator {
    /// Begins a match with this header.
    pub(crate) fn new(header: &Header) -> Self {
        let rules = header.adjudication.clone().filter(|_| header.seats.len() == 2);
        Self { rules, seats: <_>::default() }
    }

    /// Whether scores can end the match.
    pub(crate) fn is_active(&self) -> bool {
        self.rules.is_some()
    }

    /// Counts the score that `seat` gave in turn `turn`, if any. Returns the decision that this makes,
    /// which has effect unless the rules end the game in the same turn.
    pub(crate) fn count(&mut self, seat: Seat, turn: u64, score: Option<f64>) -> Option<Decision> {
        let rules = self.rules.as_ref()?;
        let [first, second] = &mut self.seats;
        let (own, other) = if seat == Seat(0) { (first, second) } else { (second, first) };
        let (win, draw) = (rules.win.as_ref(), rules.draw.as_ref());
        let add = |streak: &mut u32, holds: Option<bool>| {
            *streak = if holds == Some(true) { streak.saturating_add(1) } else { 0 };
        };
        let pair = |bound: Option<f64>| score.zip(bound);
        let bound = win.map(|win| win.score);
        add(&mut own.winning, pair(bound).map(|(score, bound)| score >= bound));
        add(&mut own.losing, pair(bound).map(|(score, bound)| score <= -bound));
        let near = pair(draw.map(|draw| draw.score));
        add(&mut own.even, near.map(|(score, bound)| score.abs() <= bound));
        if let Some(win) = win {
            if own.winning >= win.turns && other.losing >= win.turns {
                return Some(Decision::Win(seat));
            }
            if own.losing >= win.turns && other.winning >= win.turns {
                return Some(Decision::Win(Seat(1 - seat.0)));
            }
        }
        let draw = draw.filter(|draw| turn >= draw.from_turn)?;
        (own.even >= draw.turns && other.even >= draw.turns).then_some(Decision::Draw)
    }
}

#[cfg(test)]
mod tests {
    use super::{Adjudicator, Decision};
    use referee_protocol::{Adjudication, Seat};
    use serde_json::from_value;
    use serde_json::json;

    /// Gives scores in turn, seat 0 first; NaN for a turn without one. Returns the turn and the decision.
    fn decide(rules: &serde_json::Value, scores: &[f64]) -> Option<(u64, Decision)> {
        let rules: Adjudication = from_value(rules.clone()).unwrap();
        let mut adjudicator = Adjudicator { rules: Some(rules), seats: <_>::default() };
        (0..).zip(scores).find_map(|(turn, score)| {
            let seat = Seat(u8::try_from(turn % 2).unwrap());
            let score = Some(*score).filter(|score| !score.is_nan());
            adjudicator.count(seat, turn, score).map(|decision| (turn, decision))
        })
    }

    #[test]
    fn both_must_agree_for_so_many_turns() {
        const NONE: f64 = f64::NAN;
        let win = &json!({"win": {"score": 5.0, "turns": 2}});
        let draw = &json!({"draw": {"score": 0.5, "turns": 2, "from_turn": 4}});
        let both = &json!({"win": {"score": 1.0, "turns": 1}, "draw": {"score": 1.0, "turns": 1}});
        let (first, second) = (Decision::Win(Seat(0)), Decision::Win(Seat(1)));
        let cases: &[(&serde_json::Value, &[f64], _)] = &[
            (win, &[5.0, -5.0, 6.0, -9.0], Some((3, first))),
            (win, &[-5.0, 5.0, -5.0, 5.0], Some((3, second))),
            (win, &[0.0, 5.0, -5.0, 5.0, -5.0], Some((4, second))),
            // Only one of them says so, or both that they win.
            (win, &[9.0, -4.0, 9.0, -4.0, 9.0, -4.0], None),
            (win, &[9.0, 9.0, 9.0, 9.0, 9.0, 9.0], None),
            (win, &[9.0, NONE, 9.0, NONE, 9.0, NONE], None),
            // Not in a row.
            (win, &[9.0, -9.0, NONE, -9.0, 9.0, -9.0], None),
            (win, &[9.0, -9.0, -9.0, -9.0, 9.0, -9.0], None),
            (win, &[9.0, -9.0, NONE, -9.0, 9.0, -9.0, 9.0], Some((6, first))),
            // Not before the turn.
            (draw, &[0.0, 0.5, -0.5, 0.0], None),
            (draw, &[0.0, 0.5, -0.5, 0.0, 0.0], Some((4, Decision::Draw))),
            (draw, &[0.0, 0.6, -0.5, 0.0, 0.0], None),
            (both, &[1.0, 1.0], Some((1, Decision::Draw))),
            (both, &[1.0, -1.0], Some((1, first))),
        ];
        for (rules, scores, wanted) in cases {
            assert_eq!(decide(rules, scores), *wanted, "{rules} {scores:?}");
        }
    }
}
