//! Hidden information: what a seat sees depends on nothing but what it was told.

use super::Problem;
use super::bench::{Bench, from_setup, from_state};
use super::choices::legal_at;
use super::games::Game;
use super::shown::short;
use rand::seq::IndexedRandom;
use referee_games::wire::{At, Move, PlyTurn, Want};
use referee_protocol::Seat;
use serde_json::{Value, json};

/// How many moves of a game are replaced by others for each seat, and by how many.
const REPLACED: usize = 8;
const OTHERS: usize = 3;
/// How many moves are played after a replaced one.
const AFTER: usize = 40;
const WANTED: [Want; 3] = [Want::Actions, Want::Seen, Want::Told];

pub(super) fn hidden(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let whole = from_setup(&game.setup, &game.moves[..spot], &WANTED, At::All);
    let Ok(played) = bench.ask(0, &whole)? else { return Ok(()) };
    let plies = played.raw()["plies"].clone();
    let mut chosen = bench.chooser(game.number, 500);
    let mut compared = 0;
    for seat in (0..game.seats).filter_map(|seat| u8::try_from(seat).ok()).map(Seat) {
        let is_other = |number: &usize| match &game.moves[*number] {
            Move::Action { seat: own, .. } => *own != seat,
            Move::Draw { .. } => true,
            Move::Retire { .. } => false,
        };
        let others: Vec<usize> = (0..spot).filter(is_other).collect();
        for &number in others.sample(&mut chosen, REPLACED) {
            let instead = alternatives(&plies[number], game, number);
            for other in instead.sample(&mut chosen, OTHERS) {
                let end = spot.min(number + AFTER);
                let moves: Vec<Move> = [other.clone()]
                    .into_iter()
                    .chain(game.moves[number + 1..end].iter().cloned())
                    .collect();
                let plies = &plies.as_array().map_or(&[][..], Vec::as_slice)[number + 1..];
                compared += usize::from(equal(bench, (game, number), &moves, (seat, plies))?);
            }
        }
    }
    if compared > 0 {
        bench.keep_note("hidden", String::new());
    }
    Ok(())
}

/// Returns other moves that are possible where this one was played.
fn alternatives(ply: &Value, game: &Game, number: usize) -> Vec<Move> {
    match (&game.moves[number], &game.plies[number].turn) {
        (Move::Draw { draw }, PlyTurn::Chance(chance)) => {
            let others = chance.possible().filter(|other| other != draw);
            others.map(|draw| Move::Draw { draw }).collect()
        }
        (Move::Action { seat, action }, _) => {
            let others = legal_at(ply, *seat).unwrap_or_default();
            let others = others.into_iter().filter(|other| other != action);
            others.map(|action| Move::Action { seat: *seat, action }).collect()
        }
        _ => Vec::new(),
    }
}

/// Plays these moves from a position of a game, and compares what a seat sees with these plies of the game as long as it is
/// told the same. Returns whether it was told the same at all.
fn equal(
    bench: &Bench<'_>,
    (game, number): (&Game, usize),
    moves: &[Move],
    (seat, plies): (Seat, &[Value]),
) -> Result<bool, Problem> {
    let state = &game.plies[number].state;
    let mut request = from_state(state, moves, &WANTED, At::All);
    let other = match bench.ask(0, &request)? {
        Ok(played) => played,
        Err(refused) if refused.index > 0 => {
            request = from_state(state, &moves[..refused.index], &WANTED, At::All);
            let Ok(played) = bench.ask(0, &request)? else { return Ok(false) };
            played
        }
        Err(_) => return Ok(false),
    };
    let others = other.raw()["plies"].clone();
    let mut before = &others[0];
    for (count, (other, own)) in
        (1..).zip(others.as_array().into_iter().flatten().skip(1).zip(plies))
    {
        let told = |ply: &Value| ply["told"][seat.index()].clone();
        if told(other) != told(own) {
            return Ok(count > 1);
        }
        let of = |ply: &Value| ply["turn"]["of"].as_array().map_or(0, Vec::len);
        // Between two choices, the ply before the first of them is shown.
        let is_between = of(before) > 1 && of(other) + 1 == of(before);
        before = other;
        if is_between {
            continue;
        }
        let acts = |ply: &Value| {
            ply["turn"]["of"].as_array().is_some_and(|seats| seats.contains(&json!(seat)))
        };
        let difference = if other["seen"][seat.index()] != own["seen"][seat.index()] {
            Some(("`seen`", own["seen"][seat.index()].clone(), other["seen"][seat.index()].clone()))
        } else if acts(other) && acts(own) && legal_at(other, seat) != legal_at(own, seat) {
            Some(("`actions`", json!(legal_at(own, seat)), json!(legal_at(other, seat))))
        } else {
            None
        };
        if let Some((part, one, another)) = difference {
            let texts: Vec<String> =
                moves[..count].iter().map(|step| bench.move_text(step)).collect();
            let why = format!(
                "with another move {} it is told the same all the time, and sees something else",
                number + 1
            );
            let what = format!("{part} of seat {seat} shows what it was never told");
            let fix =
                "leave out of `seen` and `actions` what the seat can't know, or say it in `told`";
            return Err(Problem::new(what, &why, fix)
                .showing(format!("in the game: {}", short(&one.to_string())))
                .showing(format!(
                    "after {number} moves and then {}: {}",
                    texts.join(", "),
                    short(&another.to_string())
                )));
        }
    }
    Ok(true)
}
