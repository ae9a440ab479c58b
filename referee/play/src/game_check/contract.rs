//! What a single position must be like.

use super::Problem;
use super::bench::Bench;
use super::games::{Failed, Game};
use super::shown::short;
use referee_games::program::is_ranking;
use referee_games::wire::{CellNames, Move, PictureShape, Ply, PlyTurn, Want};
use referee_protocol::{Outcome, Seat};
use serde_json::Value;

/// At how many positions of a game each renderer draws the board.
const DRAWN: usize = 8;
/// The most actions or outcomes that are played at one position.
const PLAYED_MAX: usize = 25;
/// How many moves are played after a seat has retired.
const AFTER_RETIRING: usize = 60;
/// Why a view can't be shown, and what to do.
fn cause_in_view(error: &str) -> (&'static str, &'static str) {
    let causes = [
        (
            "is not on the board",
            "the view names a cell outside of its `shape`; cells begin at [0,0], the row first",
            "compare the cell with the shape",
        ),
        (
            "is not described",
            "the view names a kind of piece that `pieces` of the description lacks",
            "describe that piece, or name another",
        ),
        ("has the colour", "the colour has no such name", "use one of these names, or #rrggbb"),
        (
            "two pieces are on",
            "a cell shows at most one piece",
            "show a stack as one piece with a `text`, such as its height",
        ),
        (
            "printable ASCII",
            "the text of a piece must fit on a cell",
            "shorten it, or write it beside the board: `figures`, `rows`",
        ),
        (
            "too large or has no cells",
            "a side has 1 to 26 cells, a hexagon a radius of up to 13, a star points of up to 5",
            "use a smaller shape, or show the board as `text`",
        ),
        ("a renderer", "this is a defect of the referee", "report it with the view"),
    ];
    let cause = causes.into_iter().find(|(part, ..)| error.contains(part));
    cause.map_or(
        ("the view breaks a rule of the page on game programs", "follow the error"),
        |(_, why, fix)| (why, fix),
    )
}

/// The listed actions, at most so many, spread over the list.
pub(super) fn some_of(ply: &Ply, most: usize) -> impl Iterator<Item = &Value> {
    let listed = ply.actions.as_deref().unwrap_or_default();
    listed.iter().step_by(listed.len().div_ceil(most).max(1))
}

/// The seat to move.
pub(super) fn mover(ply: &Ply) -> Option<Seat> {
    match &ply.turn {
        PlyTurn::Of(seats) => seats.first().copied(),
        _ => None,
    }
}

pub(super) fn plays(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let ply = &game.ply(spot);
    match (&ply.turn, &ply.actions) {
        (PlyTurn::Of(seats), _) if usize::from(seats[0].0) >= game.seats => {
            let what = format!("the turn is of seat {}, and the game has {}", seats[0], game.seats);
            let why =
                "seats are counted from 0, so that the last one is the number of seats less 1";
            return Err(Problem::new(what, why, "let `turn` return one of the seats of this game"));
        }
        (PlyTurn::Of(seats), Some(listed)) if listed.is_empty() => {
            return Err(Problem::new(
                format!("seat {} is to move and has no legal action", seats[0]),
                "a game can't go on from here: the end is not recognised, or a pass is missing",
                "let `turn` say that the game is over, or list an action such as a pass",
            ));
        }
        (PlyTurn::Of(_), None) if bench.described.lists => {
            return Err(Problem::new(
                "`actions` is null, but `describe` says that actions are listed",
                "one position can't be listed",
                "list the actions of every position, or describe the game with `lists` false",
            ));
        }
        (PlyTurn::Over(_) | PlyTurn::Chance(_), Some(listed)) if !listed.is_empty() => {
            return Err(Problem::new(
                "actions are listed although no seat is to move",
                "`actions` doesn't check whether the game is over or chance is next",
                "return [] if the turn isn't a seat's",
            ));
        }
        (PlyTurn::Chance(_), _) if !bench.described.chance => {
            return Err(Problem::new(
                "the turn is a draw, but `describe` says that there is no chance",
                "`chance` in the description is false or missing",
                "describe the game with `chance` true; with the kit, write `draw`",
            ));
        }
        _ => {}
    }
    if let Some(Failed { step, problem }) = game.failed.clone().filter(|_| spot == game.moves.len())
    {
        return Err(problem.showing(format!("the next move: {}", bench.move_text(&step))));
    }
    let Some(seat) = mover(ply) else { return Ok(()) };
    for action in some_of(ply, PLAYED_MAX) {
        bench.act(ply, seat, action).map_err(|problem| {
            problem.showing(format!("the next move: {}", bench.program().format_action(action)))
        })?;
    }
    Ok(())
}

pub(super) fn answers(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let full = bench.full(&game.ply(spot))?;
    let ply = full.last()?;
    if !ply.position.is_object() {
        return Err(Problem::new(
            format!("`position` is {}, not an object", short(&ply.position.to_string())),
            "agents get an object with named parts",
            "return an object, such as {\"board\": ..}",
        ));
    }
    if bench.described.hidden {
        per_seat(bench, game, ply)?;
    }
    let wanted = if bench.described.estimates { game.seats } else { 0 };
    if ply.estimate.len() != wanted {
        let what = format!("`estimate` has {} numbers, not {wanted}", ply.estimate.len());
        let why =
            "it has one for each seat of this game if `estimates` is true, else it is left out";
        return Err(Problem::new(what, why, "return as many numbers as the game has seats"));
    }
    Ok(())
}

/// Tests that what depends on the seat is there for each.
fn per_seat(bench: &Bench<'_>, game: &Game, ply: &Ply) -> Result<(), Problem> {
    let counts = [("seen", ply.seen.len()), ("told", ply.told.len()), ("views", ply.views.len())];
    if let Some((name, count)) = counts.into_iter().find(|(_, count)| *count != game.seats) {
        return Err(Problem::new(
            format!("`{name}` has {count} entries for {} seats", game.seats),
            "where `hidden` in the description is true, these have an entry for each seat of this game",
            "return as many as the game has seats, null in `told` for what a seat isn't told",
        ));
    }
    if let Some(seen) = ply.seen.iter().find(|seen| !seen.is_object()) {
        return Err(Problem::new(
            format!("an entry of `seen` is {}, not an object", short(&seen.to_string())),
            "agents get an object with named parts",
            "return an object, such as {\"hand\": ..}",
        ));
    }
    for picture in &ply.views {
        bench.program().picture(&Ok(picture.clone())).map_err(|text| {
            let (why, fix) = cause_in_view(&text);
            Problem::new(format!("a board of `views` can't be shown: {text}"), why, fix)
        })?;
    }
    Ok(())
}

pub(super) fn outcome(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let turn = &game.plies[spot].turn;
    ending(bench, game, turn)?;
    if let PlyTurn::Over(Outcome { reason, .. }) = turn {
        bench.endings.borrow_mut().insert(reason.clone());
    }
    Ok(())
}

/// Tests how a game with these seats ended, if it has.
fn ending(bench: &Bench<'_>, game: &Game, turn: &PlyTurn) -> Result<(), Problem> {
    let PlyTurn::Over(Outcome { places, reason, scores, .. }) = turn else {
        return Ok(());
    };
    let known: Vec<&str> =
        bench.described.reasons.iter().map(|reason| reason.name.as_str()).collect();
    if !known.contains(&reason.as_str()) {
        return Err(Problem::new(
            format!("the reason `{reason}` is not declared"),
            &format!("`reasons` of the description has {}", known.join(", ")),
            "declare every reason, with the sentence that viewers show",
        ));
    }
    if places.len() != game.seats {
        return Err(Problem::new(
            format!("the outcome has {} places for {} seats", places.len(), game.seats),
            "`places` has one place for each seat of this game, in the order of the seats",
            "with the kit: `won_by(seat, SEATS, reason)` takes the number of seats",
        ));
    }
    if !is_ranking(places, game.seats) {
        return Err(Problem::new(
            format!("the places {places:?} are not a ranking of {} seats", game.seats),
            "each seat has a place from 1; seats with equal results share the better place, and the next ones are \
             skipped: [1,1,3]",
            "count for each seat how many others are better, and add 1",
        ));
    }
    let scores = scores.as_ref().map(Vec::len);
    if scores.is_some() != bench.described.score.is_some()
        || scores.is_some_and(|it| it != game.seats)
    {
        let what = match scores {
            None => "the outcome has no scores, but `describe` has a `score`".to_owned(),
            Some(_) if bench.described.score.is_none() => {
                "the outcome has scores, but `describe` has no `score`".to_owned()
            }
            Some(count) => format!("the outcome has {count} scores for {} seats", game.seats),
        };
        let why = "scores are there if and only if the description has their unit";
        return Err(Problem::new(
            what,
            why,
            "give every outcome one score for each seat, or none at all",
        ));
    }
    Ok(())
}

pub(super) fn plies_max(bench: &Bench<'_>, _: &Game, spot: usize) -> Result<(), Problem> {
    let most = bench.described.plies_max;
    if spot as u64 <= most {
        return Ok(());
    }
    Err(Problem::new(
        format!("a game has more than {most} moves, which `describe` promises as `plies_max`"),
        "draws count as moves too; or the game has no end",
        "raise `plies_max`, or end the game by a limit of turns",
    ))
}

pub(super) fn chance(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let ply = &game.ply(spot);
    let PlyTurn::Chance(chance) = &ply.turn else { return Ok(()) };
    for draw in chance.possible().take(PLAYED_MAX) {
        let outcome = match chance.labels.get(draw) {
            Some(label) => format!("the draw {draw} ({label})"),
            None => format!("the draw {draw}"),
        };
        // As `position` and what-if read it.
        let label = chance.label(draw);
        if chance.find(label.trim()) != Ok(draw) {
            return Err(Problem::new(
                format!("the name `{label}` of {outcome} does not choose it"),
                "two outcomes have the same name, or the name is read as another one's",
                "give each outcome a name of its own, or make one outcome with their weights' sum",
            )
            .showing(format!("names: {}", short(&chance.names().join(", ")))));
        }
        let played = bench.after(ply, &[Move::Draw { draw }], &[Want::Actions]);
        let played = played.map_err(|problem| problem.showing(&outcome))?;
        if let Err(refused) = played {
            return Err(Problem::new(
                format!("{outcome} is refused: {}", refused.rule),
                "each outcome with a weight above 0 can be drawn",
                "accept every number below the count of weights, or give it the weight 0",
            ));
        }
    }
    Ok(())
}

pub(super) fn retire(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let ply = &game.ply(spot);
    if game.seats < 3 || matches!(ply.turn, PlyTurn::Over(_)) {
        return Ok(());
    }
    bench.keep_note("retire", String::new());
    for leaver in 0..u8::try_from(game.seats).unwrap_or(u8::MAX) {
        let retire = Seat(leaver);
        let named = format!("seat {retire} retires");
        let retired = bench.after(ply, &[Move::Retire { retire }], &[Want::Actions]);
        let retired = retired.map_err(|problem| problem.showing(&named))?;
        let mut now = match retired {
            Ok(played) => played.last()?.clone(),
            Err(refused) => {
                return Err(Problem::new(
                    format!("seat {retire} can't retire: {}", refused.rule),
                    "an agent can fail in every position of a game of three or more seats",
                    "accept `retire` whoever is to move, and let the others play on",
                ));
            }
        };
        let mut chosen = bench.chooser(game.number, u64::from(leaver) + 1);
        for _ in 0..AFTER_RETIRING {
            if matches!(&now.turn, PlyTurn::Of(seats) if seats.contains(&retire)) {
                return Err(Problem::new(
                    format!("seat {retire} is to move after it has retired"),
                    "the order of turns does not skip seats that are out",
                    "record in the state which seats are out, and skip them",
                ));
            }
            let after = bench.step(&now, &mut chosen).map_err(|failed| {
                let step = bench.move_text(&failed.step);
                failed.problem.showing(format!("{named}, and later: {step}"))
            })?;
            let Some((.., after)) = after else { break };
            now = after;
        }
        ending(bench, game, &now.turn).map_err(|problem| problem.showing(&named))?;
        if mover(&now).is_some() && now.actions.as_ref().is_some_and(Vec::is_empty) {
            let what =
                format!("after seat {retire} has retired, a seat is to move without an action");
            return Err(Problem::new(
                what,
                "whether the game is over is only looked at after a move, or for all seats",
                "let `turn` say that the game is over when the seats that are left can't go on",
            ));
        }
    }
    Ok(())
}

/// Says how the names of points in the description differ from the points of a view.
fn otherwise_named(labels: &[String], shape: &PictureShape) -> Option<String> {
    let PictureShape::Points { places, names, .. } = shape else {
        return Some("`labels` lists the names of points, and the board has none".to_owned());
    };
    // A larger board of another setup may have more.
    if labels.len() < places.len() {
        let (has, wanted) = (labels.len(), places.len());
        return Some(format!("`labels` has {has} names, and the board {wanted} points"));
    }
    let (number, (label, name)) =
        (0..).zip(labels.iter().zip(names)).find(|(_, (label, name))| label != name)?;
    Some(format!("point {number} is `{label}` in `labels`, and `{name}` in the view"))
}

pub(super) fn view(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let played = bench.after(&game.ply(spot), &[], &[Want::View])?;
    let played = played.map_err(|refused| super::bench::refused_state(&refused))?;
    let Some(wire_view) = &played.last()?.view else {
        let why = "a walk that wants `view` has one in every ply";
        return Err(Problem::new("there is no `view`", why, "return a shape or a text"));
    };
    let shown = |text: String| {
        let (why, fix) = cause_in_view(&text);
        Problem::new(format!("the board can't be shown: {text}"), why, fix)
            .showing(format!("view {}", short(&played.raw_last()["view"].to_string())))
    };
    let view = bench.program().picture(wire_view).map_err(shown)?;
    let shape = wire_view.as_ref().ok().and_then(|picture| picture.shape.as_ref());
    if let (CellNames::Points(names), Some(shape)) = (&bench.described.labels, shape)
        && let Some(what) = otherwise_named(names, shape)
    {
        let why = "people write the points in actions by `labels` of the description, and see the names in the view";
        let fix = "list the name of each point in `labels`, in the order of `places`, and the same `names` in the view";
        return Err(Problem::new(what, why, fix));
    }
    let step = game.plies.len().div_ceil(DRAWN);
    if !spot.is_multiple_of(step) && spot + 1 != game.plies.len() {
        return Ok(());
    }
    (bench.draw)(&view).map_err(shown)
}
