//! The same questions in other processes, orders and portions; times; recorded games.

use super::Problem;
use super::bench::{Bench, EVERYTHING, from_setup, from_state, refused_state};
use super::games::Game;
use super::shown::short;
use crate::game_program::Direct;
use crate::golden_game::GoldenGame;
use referee_games::wire::{At, Move, PlyTurn, Want};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// At how many positions of a game the two processes are compared.
const COMPARED: usize = 10;
/// The moves of the walk that is timed.
pub(super) const LONG_WALK: usize = 200;

const HASHES: &str = "iterating over a set, hash() or id(): their order differs between processes";
const SORT: &str = "sort before returning, and write the keys of objects in a fixed order";

pub(super) fn describe(bench: &Bench<'_>, _: &Game, _: usize) -> Result<(), Problem> {
    let request = json!({ "type": "describe", "protocol": 1 });
    let one = bench.say(0, request.clone())?;
    let other = bench.say(1, request)?;
    if one.line == other.line {
        return Ok(());
    }
    Err(differing(bench, "the description differs between two processes", &one.line, &other.line))
}

/// Positions of a game up to this one, spread over it.
fn spread(spot: usize) -> Vec<usize> {
    (0..=spot).step_by((spot + 1).div_ceil(COMPARED).max(1)).chain([spot]).collect()
}

/// The requests about a position: from its state, and from the start.
fn requests(game: &Game, spot: usize) -> [Value; 2] {
    [
        from_state(&game.plies[spot].state, &[], &EVERYTHING, At::End),
        from_setup(&game.setup, &game.moves[..spot], &EVERYTHING, At::End),
    ]
}

pub(super) fn line(bench: &Bench<'_>, process: usize, request: &Value) -> Result<Vec<u8>, Problem> {
    Ok(bench.say(process, request.clone())?.line)
}

/// Returns which part of two answers differs, and its values.
pub(super) fn difference(bench: &Bench<'_>, one: &[u8], other: &[u8]) -> (String, String, String) {
    let read = |line: &[u8]| serde_json::from_slice(line).unwrap_or(Value::Null);
    bench.difference(&read(one), &read(other)).map_or_else(
        || {
            let text = |line: &[u8]| short(&String::from_utf8_lossy(line));
            ("the order of keys, or how a number is written,".to_owned(), text(one), text(other))
        },
        |(part, one, other)| (format!("`{part}`"), one, other),
    )
}

fn differing(bench: &Bench<'_>, what: &str, one: &[u8], other: &[u8]) -> Problem {
    let (name, one, other) = difference(bench, one, other);
    Problem::new(format!("{what}: {name} differs"), HASHES, SORT)
        .showing(format!("one answer: {one}"))
        .showing(format!("another one: {other}"))
}

/// Compares the processes at one position, without regard to what was asked before.
fn differs(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    for request in requests(game, spot) {
        let (one, again) = (line(bench, 0, &request)?, line(bench, 0, &request)?);
        if one != again {
            let problem = differing(
                bench,
                "not deterministic: the same question has two answers in one process",
                &one,
                &again,
            );
            let problem = problem.because(
                "random numbers, a clock, or a count of what was asked",
                "let the referee draw (`chance`), and keep everything in the state",
            );
            return Err(problem);
        }
        if one == line(bench, 1, &request)? {
            continue;
        }
        // What new processes say does not depend on earlier questions.
        bench.processes.iter().for_each(Direct::restart);
        let (one, other) = (line(bench, 0, &request)?, line(bench, 1, &request)?);
        if one != other {
            let what = "not deterministic between two processes";
            return Err(differing(bench, what, &one, &other));
        }
    }
    Ok(())
}

pub(super) fn determinism(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let all: Vec<Value> = spread(spot).iter().flat_map(|&spot| requests(game, spot)).collect();
    let mut first = Vec::new();
    for request in &all {
        first.push(line(bench, 0, request)?);
    }
    let mut found = None;
    for (asked, (number, request)) in all.iter().enumerate().rev().enumerate() {
        if asked == all.len() / 2 {
            bench.processes[1].restart();
        }
        let other = line(bench, 1, request)?;
        if other != first[number] {
            found = Some((number, other));
        }
    }
    let Some((number, other)) = found else { return Ok(()) };
    // Is it the process, or what was asked before?
    for spot in spread(spot) {
        differs(bench, game, spot)?;
    }
    remembers(bench, game, spot)?;
    Err(remembered(bench, &first[number], &other))
}

/// Compares the answers at one position, and at those up to it if they are asked in either order.
pub(super) fn remembers(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    differs(bench, game, spot)?;
    let all: Vec<Value> = spread(spot).iter().flat_map(|&spot| requests(game, spot)).collect();
    let in_new = |requests: &mut dyn Iterator<Item = &Value>| {
        bench.processes[1].restart();
        requests.map(|request| line(bench, 1, request)).collect::<Result<Vec<_>, _>>()
    };
    let (up, mut down) = (in_new(&mut all.iter())?, in_new(&mut all.iter().rev())?);
    down.reverse();
    let Some(number) = (0..all.len()).find(|&number| up[number] != down[number]) else {
        return Ok(());
    };
    let problem = remembered(bench, &up[number], &down[number]);
    let request = &all[number];
    let alone = in_new(&mut [request].into_iter())?.pop();
    for before in &all {
        if in_new(&mut [before, request].into_iter())?.pop() != alone {
            let asked = short(&before.to_string());
            return Err(problem.showing(format!("it changes if this is asked before: {asked}")));
        }
    }
    Err(problem)
}

fn remembered(bench: &Bench<'_>, one: &[u8], other: &[u8]) -> Problem {
    differing(bench, "an answer depends on what was asked before", one, other).because(
        "something is remembered between requests, in an object, a global or a cache",
        "keep everything in the state; the referee may ask about many matches in turn",
    )
}

pub(super) fn state(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    bench.processes[1].restart();
    for spot in spread(spot).into_iter().rev() {
        let state = &game.plies[spot].state;
        let request = from_state(
            state,
            &game.moves[spot..][..(game.moves.len() - spot).min(1)],
            &EVERYTHING,
            At::All,
        );
        let (old, new) = (
            bench.ask(0, &request)?,
            bench.ask(1, &request).map_err(|problem| {
                let problem = problem.because(
                    "a new process lacks something that an older one remembers",
                    "keep everything that the game needs in the state",
                );
                problem.showing(format!("the state {}", short(&state.to_string())))
            })?,
        );
        let (old, new) = match (old, new) {
            (Ok(old), Ok(new)) => (old.raw(), new.raw()),
            (Err(_), Err(_)) => continue,
            (old, new) => {
                let refused = old.err().or(new.err()).map(|it| it.rule).unwrap_or_default();
                return Err(Problem::new(
                    format!(
                        "only one of a new and an older process goes on from a state: {refused}"
                    ),
                    "something is remembered that is not in the state",
                    "keep everything that the game needs in the state",
                ));
            }
        };
        if let Some((part, one, other)) = bench.difference(&old, &new) {
            return Err(Problem::new(
                format!("a new process goes on differently from a state: `{part}` differs"),
                "something is remembered that is not in the state, or the order of a set",
                "keep everything that the game needs in the state",
            )
            .showing(format!("the older process: {one}"))
            .showing(format!("the new process: {other}")));
        }
    }
    Ok(())
}

pub(super) fn queries(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let ply = &game.ply(spot);
    let full = bench.full(ply)?;
    let full = full.raw_last();
    for want in EVERYTHING {
        let asked = bench.after(ply, &[], &[want])?.map_err(|refused| refused_state(&refused))?;
        let asked = asked.raw_last();
        let name = json!(want).as_str().unwrap_or_default().to_owned();
        for key in ["state", "turn", &name] {
            if asked.get(key) != full.get(key) {
                let none = &Value::Null;
                let one = bench.value_text(asked.get(key).unwrap_or(none));
                let other = bench.value_text(full.get(key).unwrap_or(none));
                return Err(Problem::new(
                    format!("`{key}` depends on which parts are wanted"),
                    "a method that should only read the state changes it, such as by sorting a list or taking from it",
                    "copy what you change",
                )
                .showing(format!("with only `{name}` wanted: {one}"))
                .showing(format!("with everything wanted: {other}")));
            }
        }
    }
    Ok(())
}

pub(super) fn walk(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    // An answer with everything about a long game would be too long: its beginning and its end.
    for (begin, end) in
        [(0, spot.min(LONG_WALK)), ((spot / 2).max(spot.saturating_sub(LONG_WALK)), spot)]
    {
        let moves = &game.moves[begin..end];
        let request = if begin == 0 {
            from_setup(&game.setup, moves, &EVERYTHING, At::All)
        } else {
            from_state(&game.plies[begin].state, moves, &EVERYTHING, At::All)
        };
        let whole = bench.ask(0, &request)?.map_err(|refused| {
            Problem::new(
                format!(
                    "a walk of {} moves is refused, but its single steps are not: {}",
                    moves.len(),
                    refused.rule
                ),
                "a walk keeps objects between its moves that a request doesn't have",
                "take each state through JSON between two moves, or don't share parts of it",
            )
        })?;
        let raw = whole.raw();
        for place in spread(end - begin) {
            let single = bench.full(&game.ply(begin + place))?;
            // What a seat is told of the move before isn't known from the state.
            let untold = |mut ply: Value| {
                ply.as_object_mut().map(|ply| ply.remove("told"));
                ply
            };
            let (one, other) = (untold(raw["plies"][place].clone()), untold(single.raw_last()));
            if let Some((part, one, other)) = bench.difference(&one, &other) {
                return Err(Problem::new(
                    format!("a walk differs from single steps after {place} moves: `{part}` differs"),
                    "a state is not yet JSON inside a walk (a tuple, a key that is a number), or its parts are shared",
                    "make states of lists, and of objects with text keys; copy what you change",
                )
                .showing(format!("in a walk: {one}"))
                .showing(format!("in single steps: {other}")));
            }
        }
        let single = &game.recorded[begin..end];
        let pairs = whole.walked.recorded.iter().zip(single);
        if let Some((number, (one, other))) =
            (1..).zip(pairs).find(|(_, (one, other))| one != other)
        {
            let count = moves.len();
            return Err(Problem::new(
                format!(
                    "move {number} of a walk of {count} is recorded in another form than as a single step"
                ),
                "what is recorded depends on more than the state and the action, such as the other moves of the request",
                "record each move of a walk as if it were the only one",
            )
            .showing(format!("in the walk: {}", short(&one.to_string())))
            .showing(format!("in a single step: {}", short(&other.to_string()))));
        }
        let mut at_end = request;
        at_end["at"] = json!("end");
        let last = bench.ask(0, &at_end)?;
        let same = last.as_ref().is_ok_and(|last| {
            last.raw_last() == raw["plies"][end - begin]
                && last.walked.recorded == whole.walked.recorded
        });
        if !same {
            return Err(Problem::new(
                "a walk with \"at\":\"end\" ends in another ply than the same walk with \"at\":\"all\"",
                "the plies in between are skipped together with something that they change",
                "play every move in the same way",
            ));
        }
    }
    Ok(())
}

pub(super) fn speed(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let mut times: Vec<Duration> = Vec::new();
    let mut largest = 0;
    for kept in game.plies.iter().take(LONG_WALK) {
        let ply = kept.ply();
        let began = Instant::now();
        bench.full(&ply)?;
        times.push(began.elapsed());
        largest = largest.max(ply.state.as_str().len());
    }
    times.sort_unstable();
    let moves = &game.moves[..spot.min(LONG_WALK)];
    let began = Instant::now();
    bench.ask(0, &from_setup(&game.setup, moves, &[Want::Actions], At::All))?.ok();
    let walk = began.elapsed();
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1000.0);
    let part = |percent: usize| ms(times[(times.len() - 1) * percent / 100]);
    // The longest game says most.
    let longest = bench.longest.get();
    if moves.len() >= longest {
        bench.longest.set(moves.len());
        let note = format!(
            "a ply: p50 {}, p99 {}; a walk of {} moves: {}; a state: up to {largest} bytes",
            part(50),
            part(99),
            moves.len(),
            ms(walk)
        );
        bench.keep_note("speed", note);
    }
    Ok(())
}

pub(super) fn golden(bench: &Bench<'_>, _: &Game, _: usize) -> Result<(), Problem> {
    let files = GoldenGame::files(&bench.folder);
    let (mut replayed, mut older) = (0, 0);
    for file in &files {
        let name = file.strip_prefix(&bench.folder).unwrap_or(file).display().to_string();
        let broken = |what: String| {
            Problem::new(
                format!("{name}: {what}"),
                "the rules have changed since this game was recorded",
                "raise `rules` in game.toml if the change is intended, else undo it",
            )
        };
        let golden = GoldenGame::read(file).map_err(|error| {
            Problem::new(
                format!("{name} can't be read: {error}"),
                "games/*.jsonl are transcripts of matches, as `referee play --out FILE` writes them",
                "record the game again, or remove the file",
            )
        })?;
        if golden.rules != bench.program().revision() {
            older += 1;
            continue;
        }
        replayed += 1;
        let mut setup = golden.setup.clone();
        let position = setup.as_object_mut().and_then(|fields| fields.remove("position"));
        let request = match position.filter(|it| !it.is_null()) {
            Some(state) => from_state(&state.into(), &golden.moves, &[], At::End),
            None => from_setup(&setup, &golden.moves, &[], At::End),
        };
        let played = bench.ask(0, &request)?.map_err(|refused| {
            let step = golden
                .moves
                .get(refused.index)
                .map(|step| bench.move_text(step))
                .unwrap_or_default();
            broken(format!("move {} ({step}) is refused: {}", refused.index, refused.rule))
        })?;
        for (number, (step, record)) in golden.moves.iter().zip(&played.walked.recorded).enumerate()
        {
            if let Move::Action { action, .. } = step
                && action != record
            {
                return Err(broken(format!(
                    "move {number} is recorded as {record}, before as {action}"
                )));
            }
        }
        let now = match &played.last()?.turn {
            PlyTurn::Over(outcome) => Some(json!(outcome)),
            _ => None,
        };
        if now != golden.over {
            let text = |over: &Option<Value>| {
                over.as_ref().map_or("not over".to_owned(), Value::to_string)
            };
            return Err(broken(format!(
                "the end is {}, before {}",
                text(&now),
                text(&golden.over)
            )));
        }
    }
    if !files.is_empty() {
        let mut note = format!("{replayed} replayed");
        if older > 0 {
            write!(note, ", {older} of other revisions of the rules not").ok();
        }
        bench.keep_note("golden", note);
    }
    Ok(())
}
