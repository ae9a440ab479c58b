//! Seats that choose at once: neither their order nor what another has chosen makes a difference.

use super::Problem;
use super::bench::{Bench, EVERYTHING, Played};
use super::games::Game;
use super::shown::short;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use referee_games::wire::{Move, Ply, PlyTurn};
use referee_protocol::Seat;
use serde_json::Value;

/// How many choices of all seats are tried at a position.
const TRIED: usize = 4;

pub(super) fn choices(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let ply = &game.ply(spot);
    let PlyTurn::Of(seats) = &ply.turn else { return Ok(()) };
    if seats.len() < 2 {
        return Ok(());
    }
    bench.keep_note("choices", String::new());
    let mut chosen = bench.chooser(game.number, 400 + spot as u64);
    for number in 0..TRIED {
        // An agent can fail while others choose.
        let leaves = game.seats > 2 && number % 2 == 1;
        let retired = seats.get(number / 2).copied().filter(|_| leaves);
        let mut moves = Vec::new();
        for &seat in seats {
            if retired == Some(seat) {
                moves.push(Move::Retire { retire: seat });
            } else if let Some(action) = choice(bench, ply, seat, &mut chosen)? {
                moves.push(Move::Action { seat, action });
            } else {
                return Ok(());
            }
        }
        let forth = in_order(bench, ply, &moves)?;
        let order = texts(bench, &moves);
        moves.reverse();
        let back = in_order(bench, ply, &moves)?;
        if let Some((part, one, other)) = bench.difference(&forth, &back) {
            return Err(Problem::new(
                format!("the order in which seats {} choose changes `{part}`", listed(seats)),
                "the seats choose at once, so what one of them does may not depend on who is asked first",
                "keep the actions in the state until the last one is there, and then play them together",
            )
            .showing(format!("in the order {order}: {one}"))
            .showing(format!("in the other order: {other}")));
        }
    }
    Ok(())
}

fn listed(seats: &[Seat]) -> String {
    seats.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn texts(bench: &Bench<'_>, moves: &[Move]) -> String {
    moves.iter().map(|step| bench.move_text(step)).collect::<Vec<_>>().join(", ")
}

/// Returns a legal action of one of the seats that choose.
fn choice(
    bench: &Bench<'_>,
    ply: &Ply,
    seat: Seat,
    chosen: &mut ChaCha8Rng,
) -> Result<Option<Value>, Problem> {
    if let Some(all) = legal(&bench.full(ply)?, seat) {
        return Ok(all.choose(chosen).cloned());
    }
    for action in bench.guessed(ply, chosen) {
        if bench.act(ply, seat, &action)?.is_ok() {
            return Ok(Some(action));
        }
    }
    Ok(None)
}

/// Returns the listed actions of one of the seats to move.
fn legal(played: &Played, seat: Seat) -> Option<Vec<Value>> {
    legal_at(&played.raw_last(), seat)
}

/// Returns the same of a ply as it was written, whether it has a list for each seat or one for the only seat to move.
pub(super) fn legal_at(ply: &Value, seat: Seat) -> Option<Vec<Value>> {
    let place = ply["turn"]["of"].as_array()?.iter().position(|it| *it == seat.0)?;
    let listed = ply["actions"].as_array()?;
    match listed.get(place).and_then(Value::as_array) {
        Some(own) => Some(own.clone()),
        None => Some(listed.clone()),
    }
}

/// Plays moves with which seats choose at once, and returns what they lead to. Before the last one nothing may change but
/// the seats that have still to choose.
fn in_order(bench: &Bench<'_>, ply: &Ply, moves: &[Move]) -> Result<Value, Problem> {
    let before = bench.full(ply)?;
    let mut now = ply.clone();
    for (number, step) in (1..).zip(moves) {
        let shown = |problem: Problem| {
            problem.showing(format!("the moves: {}", texts(bench, &moves[..number])))
        };
        let played = bench.after(&now, std::slice::from_ref(step), &EVERYTHING).map_err(shown)?;
        let played = played.map_err(|refused| {
            shown(Problem::new(
                format!("{} is refused: {}", bench.move_text(step), refused.rule),
                "the seats choose at once, so what one of them may do can't depend on what another has chosen",
                "judge every action by the state at which all of them had still to choose",
            ))
        })?;
        if number == moves.len() {
            let mut last = played.raw_last();
            // It is about the last move only.
            last.as_object_mut().map(|ply| ply.remove("told"));
            return Ok(last);
        }
        let is_left = |seat: &&Seat| {
            !moves[..number].iter().any(|step| match step {
                Move::Action { seat: own, .. } | Move::Retire { retire: own } => own == *seat,
                Move::Draw { .. } => false,
            })
        };
        let PlyTurn::Of(all) = &ply.turn else { return Ok(Value::Null) };
        let left: Vec<Seat> = all.iter().filter(is_left).copied().collect();
        let last = played.last()?;
        if last.turn != PlyTurn::Of(left.clone()) {
            let now = played.raw_last()["turn"].to_string();
            return Err(shown(Problem::new(
                format!(
                    "`turn` is {}, but seats {} have still to choose",
                    short(&now),
                    listed(&left)
                ),
                "a move of one of several seats only takes it out of `of`; what follows comes after the last of them",
                "keep the actions in the state until the last one is there, and then play them together",
            )));
        }
        for seat in left {
            let (one, other) = (legal(&before, seat), legal(&played, seat));
            if one != other {
                return Err(shown(Problem::new(
                    format!(
                        "the legal actions of seat {seat} depend on what another seat has chosen"
                    ),
                    "the seats choose at once, and `actions` may not tell one of them about another",
                    "list every seat's actions by the state at which all of them had still to choose",
                )));
            }
        }
        now = last.clone();
    }
    Ok(Value::Null)
}
