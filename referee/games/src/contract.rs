//! What every answer of a program must have, whatever its game.

use crate::Illegal;
use crate::any::Refusal;
use crate::program::RulesFailure;
use crate::wire::{
    Answer, At, Chance, From, Move, OUTCOMES_MAX, Ply, PlyTurn, RefusalKind, Refused, Request,
    WEIGHT_MAX, Walked,
};
use referee_protocol::Outcome;
use serde_json::Value;

/// Checks that an answer has what a request asks for.
pub fn check_answer(request: &Request, answer: &Answer) -> Result<(), RulesFailure> {
    match (request, answer) {
        (Request::Walk(walk), _) => {
            let has_setup = matches!(walk.from, From::Setup(_));
            let is_action = |step: &Move| matches!(step, Move::Action { .. });
            let are_actions: Vec<bool> = walk.moves.iter().map(is_action).collect();
            check_walk_answer(&are_actions, walk.at, has_setup, answer)
        }
        (_, Answer::Failed { text }) => Err(RulesFailure(text.clone())),
        (_, Answer::Described(_)) => Ok(()),
        _ => Err(RulesFailure("`describe` needs the answer `described`".to_owned())),
    }
}

/// The same for a walk of moves, each of which is an action or not, from a setup or from a state.
pub fn check_walk_answer(
    are_actions: &[bool],
    at: At,
    has_setup: bool,
    answer: &Answer,
) -> Result<(), RulesFailure> {
    let moves = are_actions.len();
    match answer {
        Answer::Failed { text } => Err(RulesFailure(text.clone())),
        Answer::Refused(refused) => check_refused(moves, has_setup, refused),
        Answer::Walked(walked) => {
            check_walked(walked, moves, if at == At::All { moves + 1 } else { 1 })?;
            check_recorded(&walked.recorded, are_actions)?;
            if !has_setup && !walked.seats.is_empty() {
                let text = "`walked` has `seats`, but the request has no `setup`";
                return Err(RulesFailure(text.to_owned()));
            }
            Ok(())
        }
        Answer::Described(_) => Err(no_walk()),
    }
}

/// Checks that what is recorded of an action is one, and of another move null.
fn check_recorded(recorded: &[Value], are_actions: &[bool]) -> Result<(), RulesFailure> {
    let is_wrong = |(record, is_action): (&Value, &bool)| {
        if *is_action { !record.is_object() } else { !record.is_null() }
    };
    let Some(number) = recorded.iter().zip(are_actions).position(is_wrong) else { return Ok(()) };
    let wanted =
        if are_actions[number] { "an action" } else { "null, since the move is no action" };
    let got = &recorded[number];
    Err(RulesFailure(format!("`recorded[{number}]`: expected {wanted}, got {got}")))
}

/// Checks that a refusal is of something in the request: an agent must not lose by another.
fn check_refused(moves: usize, has_setup: bool, refused: &Refused) -> Result<(), RulesFailure> {
    if refused.kind == RefusalKind::Setup {
        if moves == 0 || has_setup {
            return Ok(());
        }
        return Err(RulesFailure("`refused` is of a setup, but the request has none".to_owned()));
    }
    if refused.index < moves.max(1) {
        return Ok(());
    }
    let index = refused.index;
    Err(RulesFailure(format!("`refused` is of move {index}, but the request has {moves}")))
}

/// The failure of a request for whose answer nobody waits any more.
pub(crate) fn interrupted() -> RulesFailure {
    RulesFailure("interrupted".to_owned())
}

fn no_walk() -> RulesFailure {
    RulesFailure("`walk` needs the answer `walked` or `refused`".to_owned())
}

/// Checks the numbers of entries, and each ply.
pub(crate) fn check_walked(
    walked: &Walked,
    moves: usize,
    plies: usize,
) -> Result<(), RulesFailure> {
    for (name, wanted, found) in
        [("recorded", moves, walked.recorded.len()), ("plies", plies, walked.plies.len())]
    {
        if wanted != found {
            let text = format!("`walked` needs {wanted} entries in `{name}`, not {found}");
            return Err(RulesFailure(text));
        }
    }
    walked.plies.iter().try_for_each(check_ply)
}

/// What a move led to.
pub(crate) type Played = Result<Result<(Walked, Ply), Refusal>, RulesFailure>;

/// Reads the answer to a walk with so many moves, of which the last ply is wanted.
pub(crate) fn read_walk(answer: Answer, moves: usize) -> Played {
    match answer {
        Answer::Walked(mut walked) => {
            check_walked(&walked, moves, 1)?;
            let last = walked.plies.pop().expect("there is one");
            Ok(Ok((walked, last)))
        }
        Answer::Refused(refused) => Ok(Err(match refused.kind {
            RefusalKind::Malformed => Refusal::Malformed(refused.rule),
            RefusalKind::Illegal | RefusalKind::Setup => {
                Refusal::Illegal(Illegal::new(refused.rule))
            }
        })),
        Answer::Failed { text } => Err(RulesFailure(text)),
        Answer::Described(_) => Err(no_walk()),
    }
}

/// Reads the answer to a walk from which an agent gets its position: see [`read_walk`].
pub(crate) fn read_whole(answer: Answer, moves: usize) -> Played {
    let played = read_walk(answer, moves)?;
    match &played {
        Ok((_, ply)) if !ply.position.is_object() => {
            Err(RulesFailure(format!("`position` is {}, not an object", ply.position)))
        }
        _ => Ok(played),
    }
}

/// What a program has said that its plies may have.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "a program declares each on its own")]
pub(crate) struct Declared {
    pub(crate) chance: bool,
    pub(crate) simultaneous: bool,
    pub(crate) hidden: bool,
    pub(crate) has_scores: bool,
    pub(crate) reasons: Vec<String>,
}

impl Declared {
    /// Checks the outcome of a game of so many seats.
    pub(crate) fn check_outcome(
        &self,
        outcome: &Outcome,
        seats: usize,
    ) -> Result<(), RulesFailure> {
        let wrong = |text: String| Err(RulesFailure(text));
        let Outcome { places, scores, reason } = outcome;
        if !is_ranking(places, seats) {
            return wrong(format!("the places {places:?} are not a ranking of {seats} seats"));
        }
        if !self.reasons.contains(reason) {
            return wrong(format!("the reason `{reason}` is not declared"));
        }
        let wanted = self.has_scores.then_some(seats);
        if scores.as_ref().map(Vec::len) != wanted {
            let wanted = wanted.map_or("none".to_owned(), |count| count.to_string());
            return wrong(format!(
                "the outcome has the scores {scores:?}, but {wanted} are declared"
            ));
        }
        Ok(())
    }
}

/// Whether places are a ranking of the seats, from 1: those who are level share a place, and the next ones are left out.
/// A single seat has place 1 if it solved its puzzle, else 2.
pub fn is_ranking(places: &[u32], seats: usize) -> bool {
    let better = |place: u32| places.iter().filter(|&&other| other < place).count();
    let is_place = |place: u32| usize::try_from(place).is_ok_and(|it| it == better(place) + 1);
    places.len() == seats
        && (seats == 1 && [[1], [2]].iter().any(|it| it == places)
            || places.iter().all(|&place| is_place(place)))
}

/// Checks that the rules can go on from a ply, and whose turn it is said to be.
fn check_ply(ply: &Ply) -> Result<(), RulesFailure> {
    let wrong = |text: &str| Err(RulesFailure(text.to_owned()));
    if ply.state.as_str() == "null" {
        return wrong("`state` is null, which is no state");
    }
    match &ply.turn {
        PlyTurn::Of(seats) if seats.is_empty() => wrong("`turn` needs a seat in `of`"),
        PlyTurn::Of(seats) if !seats.is_sorted_by(|one, next| one < next) => {
            wrong("the seats in `of` must be in their order, each once")
        }
        PlyTurn::Chance(Chance { weights, labels }) => {
            if weights.is_empty() || weights.len() > OUTCOMES_MAX {
                return wrong(&format!("`chance` needs 1 to {OUTCOMES_MAX} `weights`"));
            }
            if weights.iter().any(|&weight| weight > WEIGHT_MAX)
                || weights.iter().all(|&it| it == 0)
            {
                return wrong(&format!(
                    "`weights` are whole numbers up to {WEIGHT_MAX}, and not all may be 0"
                ));
            }
            if !labels.is_empty() && labels.len() != weights.len() {
                return wrong("`chance` needs as many `labels` as `weights`, or none");
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::check_answer;
    use crate::wire::{Answer, At, From, Move, RefusalKind, Refused, Request, Walk, Walked, walk};
    use referee_protocol::Seat;
    use serde_json::json;

    #[test]
    fn a_refusal_is_of_something_in_the_request() {
        let check = |from: From, moves: usize, kind, index| {
            let played = Move::Action { seat: Seat(0), action: json!({}) };
            let walk = Walk { from, moves: vec![played; moves], want: Vec::new(), at: At::End };
            let refused = Refused { index, kind, rule: "x".to_owned() };
            check_answer(&Request::Walk(walk), &Answer::Refused(refused)).map_err(|it| it.0)
        };
        let state = || From::State(json!(1).into());
        let setup = || From::Setup(json!({}));
        for (from, moves, kind, index) in [
            (state(), 1, RefusalKind::Illegal, 0),
            (state(), 2, RefusalKind::Malformed, 1),
            (state(), 0, RefusalKind::Illegal, 0),
            (setup(), 0, RefusalKind::Setup, 0),
            (setup(), 1, RefusalKind::Setup, 0),
        ] {
            assert_eq!(check(from, moves, kind, index), Ok(()));
        }
        let far = check(state(), 1, RefusalKind::Illegal, 9).unwrap_err();
        assert_eq!(far, "`refused` is of move 9, but the request has 1");
        let setup = check(state(), 1, RefusalKind::Setup, 0).unwrap_err();
        assert_eq!(setup, "`refused` is of a setup, but the request has none");
    }

    #[test]
    fn what_a_walk_has_fits_its_request() {
        let check = |from: From, step: Move, seats: &[&str], recorded| {
            let request = Request::Walk(walk(from, vec![step], &[]));
            let ply = json!({ "state": 1, "turn": { "of": [0] } });
            let walked = json!({ "seats": seats, "recorded": [recorded], "plies": [ply] });
            let walked: Walked = serde_json::from_value(walked).unwrap();
            check_answer(&request, &Answer::Walked(walked)).map_err(|it| it.0)
        };
        let state = || From::State(json!(1).into());
        let setup = || From::Setup(json!({}));
        let action = || Move::Action { seat: Seat(0), action: json!({}) };
        for (from, step, seats, recorded) in [
            (setup(), action(), &["one"][..], json!({})),
            (state(), action(), &[], json!({})),
            (state(), Move::Draw { draw: 0 }, &[], json!(null)),
            (state(), Move::Retire { retire: Seat(0) }, &[], json!(null)),
        ] {
            assert_eq!(check(from, step, seats, recorded), Ok(()));
        }
        for (step, seats, recorded, why) in [
            (Move::Draw { draw: 0 }, &[][..], json!({}), "`recorded[0]`: expected null, since"),
            (
                Move::Retire { retire: Seat(0) },
                &[],
                json!(1),
                "`recorded[0]`: expected null, since",
            ),
            (action(), &[], json!(null), "`recorded[0]`: expected an action, got null"),
            (action(), &["one"], json!({}), "`walked` has `seats`, but the request has no `setup`"),
        ] {
            let error = check(state(), step, seats, recorded).unwrap_err();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
