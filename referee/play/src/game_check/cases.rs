//! Actions of every kind at a position.

use super::Problem;
use super::bench::{Bench, EVERYTHING, from_setup, from_state};
use super::contract::{mover, some_of};
use super::games::{Game, Kept};
use super::shown::short;
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use referee_games::wire::{At, FieldForm, Move, Ply, PlyTurn, RefusalKind, Values};
use referee_protocol::Seat;
use serde_json::{Map, Value, json};

/// The most listed actions, and the most distorted ones, that are played at one position.
const LISTED: usize = 25;
const DISTORTED: usize = 40;
/// How many listed actions are played with a cell that only an index on the board hides.
const WRAPPED: usize = 3;
/// How many listed actions are played with a text that is written otherwise.
const REWRITTEN: usize = 3;
/// The most actions that are played where no seat is to move.
const WITHOUT_TURN: usize = 12;
/// How many actions are guessed after the end.
const GUESSED: usize = 30;
/// How many random actions are written and read as text.
const WRITTEN: usize = 30;

pub(super) fn legal(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let ply = &game.ply(spot);
    let text = |action: &Value| bench.program().format_action(action);
    let listed = ply.actions.as_deref().unwrap_or_default();
    let Some(seat) = mover(ply) else { return Ok(()) };
    for action in some_of(ply, LISTED) {
        if let Some(wrong) = bench.program().malformed(action) {
            return Err(Problem::new(
                format!(
                    "the listed action {} is not as declared: {wrong}",
                    short(&action.to_string())
                ),
                "the forms in `describe` and the list differ",
                "declare every form with the fields that its actions have",
            ));
        }
        if let Err(refused) = bench.act(ply, seat, action)?.as_ref() {
            return Err(Problem::new(
                format!("the listed action {} is refused: {}", text(action), refused.rule),
                "`play` has a rule that `actions` lacks, or it compares a list from JSON with a tuple",
                "play every listed action, or don't list it",
            ));
        }
    }
    for action in distorted(bench, game, spot).iter().filter(|it| !listed.contains(it)) {
        let acted = bench.act(ply, seat, action)?;
        let Ok(played) = acted.as_ref() else { continue };
        let recorded = &played.walked.recorded[0];
        if !listed.contains(recorded) {
            let mut problem = Problem::new(
                format!("{} is played, but it is not listed", text(action)),
                "`play` lacks a rule that `actions` has, such as that a cell is on the board or that a pass is needed",
                "refuse it, list it, or record it as it is listed",
            );
            if recorded != action {
                problem = problem.showing(format!("it is recorded as {}", text(recorded)));
            }
            return Err(problem.showing(format!("listed: {}", bench.value_text(&json!(listed)))));
        }
    }
    Ok(())
}

/// Tests that seats which aren't to move can't play what they could if they were.
pub(super) fn turns(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let ply = &game.ply(spot);
    let mover = mover(ply);
    let actions: Vec<Value> = if mover.is_some() {
        let listed = ply.actions.as_ref().and_then(|listed| listed.first());
        // The rules may list nothing: what was played was legal, too.
        let played = || match game.moves.get(spot) {
            Some(Move::Action { action, .. }) => Some(action),
            _ => None,
        };
        listed.or_else(played).cloned().into_iter().collect()
    } else {
        // What was last legal for each seat may seem so still, also on other cells.
        let before = game.plies[..spot].iter().rev().map(Kept::ply);
        let before = before.filter_map(|ply| ply.actions).filter(|listed| !listed.is_empty());
        let last = before.take(game.seats).flat_map(|it| it.into_iter().take(WITHOUT_TURN));
        let mut actions: Vec<Value> = last.collect();
        if let PlyTurn::Over(_) = ply.turn {
            let mut chosen = bench.chooser(game.number, 300);
            let mut below = |bound: usize| chosen.random_range(0..bound.max(1));
            let (known, cells) = (actions.clone(), bench.cells(ply));
            let guess = || bench.program().guess(&known, &cells, &mut below);
            actions.extend(std::iter::repeat_with(guess).take(GUESSED));
        }
        actions.extend(distorted(bench, game, spot).into_iter().take(WITHOUT_TURN));
        actions
    };
    let (so, why, fix) = match &ply.turn {
        PlyTurn::Of(seats) => (
            &*match seats.as_slice() {
                [seat] => format!("but seat {seat} is to move"),
                _ => format!("but the seats to move are {seats:?}"),
            },
            "the program ignores the `seat` of a move",
            "refuse moves of seats that aren't in `of`",
        ),
        PlyTurn::Over(_) => (
            "although the game is over",
            "`play` doesn't check whether the game is over",
            "refuse every action after the end",
        ),
        PlyTurn::Chance(_) => (
            "although the referee draws next",
            "`play` doesn't check whether chance is next",
            "refuse every action in front of a draw",
        ),
    };
    for action in &actions {
        for seat in (0..game.seats).filter_map(|seat| u8::try_from(seat).ok()).map(Seat) {
            if matches!(&ply.turn, PlyTurn::Of(seats) if seats.contains(&seat)) {
                continue;
            }
            let played =
                format!("seat {seat} plays {}, {so}", bench.program().format_action(action));
            let acted = bench.act(ply, seat, action);
            let acted = acted.map_err(|problem| problem.because(why, fix).showing(&played))?;
            if acted.is_ok() {
                return Err(Problem::new(played, why, fix));
            }
        }
    }
    Ok(())
}

/// Returns actions of the declared forms that may be legal or not.
fn distorted(bench: &Bench<'_>, game: &Game, spot: usize) -> Vec<Value> {
    let mut chosen = bench.chooser(game.number, 100 + spot as u64);
    let listed = game.ply(spot).actions.unwrap_or_default();
    let others = game.plies.iter().step_by(game.plies.len().div_ceil(12)).map(Kept::ply);
    let others: Vec<Value> =
        others.flat_map(|ply| some_of(&ply, 12).cloned().collect::<Vec<_>>()).collect();
    let mut all: Vec<Value> =
        bench.described.actions.iter().map(|form| form.example.clone()).collect();
    let columns = bench.cells(&game.ply(spot)).iter().map(|cell| cell.pair()[1] + 1).max();
    if let Some(columns) = columns {
        let some = listed.sample(&mut chosen, WRAPPED);
        all.extend(some.flat_map(|action| wrapped(bench, action, columns)));
    }
    let texts: Vec<_> = listed.iter().flat_map(|action| strings(bench, action)).collect();
    let some: Vec<_> = texts.sample(&mut chosen, REWRITTEN).collect();
    all.extend(some.into_iter().flat_map(|it| rewritten(it, &mut chosen)));
    all.extend(others.sample(&mut chosen, DISTORTED / 3).cloned());
    while all.len() < DISTORTED {
        let near = listed.choose(&mut chosen).filter(|_| chosen.random_bool(0.6)).cloned();
        let Some(mut action) = near.or_else(|| bench.random_action(&mut chosen)) else { break };
        for value in action.as_object_mut().into_iter().flat_map(Map::values_mut) {
            let numbers = value.as_array_mut().into_iter().flatten();
            for number in numbers.flat_map(|it| match it {
                Value::Array(inner) => inner.iter_mut().collect::<Vec<_>>(),
                it => vec![it],
            }) {
                if let Some(old) = number.as_i64().filter(|_| chosen.random_bool(0.3)) {
                    *number = json!(old + chosen.random_range(-1..=1));
                }
            }
        }
        all.push(action);
    }
    all.retain(|action| bench.program().malformed(action).is_none());
    all
}

/// Returns the fields that are declared for an action.
fn fields<'a>(bench: &'a Bench<'_>, action: &Value) -> impl Iterator<Item = &'a FieldForm> {
    let form = bench.described.actions.iter().find(|form| action["type"] == form.kind.as_str());
    form.into_iter().flat_map(|form| &form.fields)
}

/// Returns an action with the name and the text of each of its fields of type `string`.
fn strings<'a>(bench: &'a Bench<'_>, action: &'a Value) -> Vec<(&'a Value, &'a str, &'a str)> {
    let texts = fields(bench, action).filter(|it| matches!(it.values, Values::String { .. }));
    texts.filter_map(|field| Some((action, &*field.name, action[&*field.name].as_str()?))).collect()
}

/// Returns an action with one of its texts as rules may read it, too: two characters exchanged, one doubled, in the other
/// case, with a blank.
fn rewritten((action, name, text): &(&Value, &str, &str), chosen: &mut ChaCha8Rng) -> Vec<Value> {
    let chars: Vec<char> = text.chars().collect();
    let mut texts: Vec<Vec<char>> = Vec::new();
    let pairs: Vec<usize> = (1..chars.len()).filter(|&at| chars[at - 1] != chars[at]).collect();
    if let Some(&at) = pairs.choose(chosen) {
        let mut swapped = chars.clone();
        swapped.swap(at - 1, at);
        texts.push(swapped);
    }
    for added in [None, Some(' ')] {
        let Some(at) = (0..chars.len()).collect::<Vec<_>>().choose(chosen).copied() else { break };
        let mut longer = chars.clone();
        longer.insert(at, added.unwrap_or(chars[at]));
        texts.push(longer);
    }
    let upper = text.to_uppercase();
    texts.push(if upper == *text { text.to_lowercase() } else { upper }.chars().collect());
    let with = |text: Vec<char>| {
        let mut action = (*action).clone();
        action[*name] = String::from_iter(text).into();
        action
    };
    texts.into_iter().map(with).collect()
}

/// Returns an action with one of its cells off a board with so many columns, where row * columns + column is the same.
fn wrapped(bench: &Bench<'_>, action: &Value, columns: i64) -> Vec<Value> {
    let cells = fields(bench, action).filter(|field| field.values == Values::Cell);
    let moved = |(name, rows): (&String, i64)| {
        let cell = action.get(name)?;
        let (row, column) = (cell[0].as_i64()?, cell[1].as_i64()?);
        let mut action = action.clone();
        action[name] = json!([row + rows, column - rows * columns]);
        Some(action)
    };
    cells.flat_map(|field| [-1, 1].map(|rows| (&field.name, rows))).filter_map(moved).collect()
}

pub(super) fn recorded(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let ply = &game.ply(spot);
    let Some(seat) = mover(ply) else { return Ok(()) };
    let mut actions: Vec<Value> = some_of(ply, LISTED).cloned().collect();
    let listed = ply.actions.as_deref().unwrap_or_default();
    for (number, action) in listed.iter().enumerate() {
        if listed[..number].contains(action) {
            return Err(Problem::new(
                format!("{} is listed twice", bench.program().format_action(action)),
                "two ways lead to the same action",
                "list every action once",
            ));
        }
    }
    actions.extend(distorted(bench, game, spot).into_iter().take(LISTED));
    for action in &actions {
        let acted = bench.act(ply, seat, action)?;
        let Ok(first) = acted.as_ref() else { continue };
        let record = &first.walked.recorded[0];
        let shown = |problem: Problem| {
            let text = |value: &Value| short(&value.to_string());
            problem.showing(format!("played {}, recorded {}", text(action), text(record)))
        };
        if let Some(wrong) = bench.program().malformed(record) {
            return Err(shown(Problem::new(
                format!("what is recorded is not as declared: {wrong}"),
                "`recorded` has an entry that isn't an action of a declared form",
                "record actions with the declared fields",
            )));
        }
        if listed.contains(action) && record != action {
            return Err(shown(Problem::new(
                "a listed action is recorded in another form",
                "`actions` lists one spelling of the action, and `complete` returns another",
                "list actions as they are recorded",
            )));
        }
        let again = bench.act(ply, seat, record)?;
        let again = again.as_ref().as_ref().map_err(|refused| {
            shown(Problem::new(
                format!("the recorded form is refused: {}", refused.rule),
                "`complete` returns something that `play` doesn't take",
                "record an action that can be played again",
            ))
        })?;
        let second = &again.walked.recorded[0];
        if second != record {
            return Err(shown(Problem::new(
                format!("played again, it is recorded as {}", short(&second.to_string())),
                "the recorded form is not final, so replays differ from the game",
                "return a recorded action unchanged",
            )));
        }
        if again.raw_last() != first.raw_last() {
            return Err(shown(Problem::new(
                "the recorded form leads to another position than the action",
                "`play` uses something that the recorded form has lost",
                "record all that decides what the action does",
            )));
        }
    }
    Ok(())
}

pub(super) fn text(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let ply = &game.ply(spot);
    let mut chosen = bench.chooser(game.number, 200 + spot as u64);
    let examples = bench.described.actions.iter().map(|form| form.example.clone());
    let random = (0..WRITTEN).filter_map(|_| bench.random_action(&mut chosen));
    for action in some_of(ply, 200).cloned().chain(examples).chain(random) {
        let text = bench.program().format_action(&action);
        let readings = bench.program().readings(&text);
        if readings.len() > 1 {
            let both = readings.iter().map(Value::to_string).collect::<Vec<_>>().join(" and ");
            return Err(Problem::new(
                format!("the text `{text}` can be read as two actions"),
                "the texts of two forms can be the same",
                "begin the texts of forms with different words",
            )
            .showing(both));
        }
    }
    for action in some_of(ply, 200) {
        let text = bench.program().format_action(action);
        match bench.program().parse_action(&text) {
            Ok(read) if read == *action => {
                if let Some(why) = untypable(&text) {
                    let what = format!("people can't type the text `{text}` of an action");
                    let fix = "change `text` of its form";
                    return Err(Problem::new(what, why, fix).showing(format!("action {action}")));
                }
            }
            Ok(read) => {
                let what = format!("the text `{text}` of an action reads as another action");
                let shown = format!("action {action}, read {read}");
                let why = "the `text` of the form leaves out a field, or a value contains what follows its field";
                let fix =
                    "name every field in `text`, and part them by something that no value contains";
                return Err(Problem::new(what, why, fix).showing(shown));
            }
            Err(error) => {
                let what = format!("the text of an action can't be read: {error}");
                let why = "a value contains what follows its field in `text`, is empty, or is a cell without a name";
                let fix = "part fields by something that no value contains, such as a blank";
                return Err(Problem::new(what, why, fix).showing(format!("action {action}")));
            }
        }
    }
    Ok(())
}

/// Says why people can't type a text of an action.
fn untypable(text: &str) -> Option<&'static str> {
    match text {
        "" => Some("an empty line is no answer"),
        "resign" => Some("`resign` gives the match up"),
        "?" => Some("`?` lists the legal actions"),
        _ if text.starts_with('{') => Some("what begins with `{` is read as JSON"),
        _ if text.contains(';') => Some("`;` separates actions where viewers try others"),
        _ if text.contains(char::is_control) => {
            Some("it has a line end or another control character")
        }
        _ => None,
    }
}

/// Values at the limits of what a field may have.
fn extremes(values: &Values) -> Vec<Value> {
    let far = [i64::MAX, i64::MIN, -1, 1 << 53, 255];
    let cells: Vec<Value> = far.iter().flat_map(|&it| [json!([it, 0]), json!([0, it])]).collect();
    match values {
        Values::Cell => cells,
        Values::Cells => {
            let many = vec![json!([0, 0]); 1000];
            vec![json!([]), json!([[0, 0], [0, 0]]), json!(many), json!(cells)]
        }
        Values::Integer { min, max } => vec![json!(min), json!(max)],
        Values::Choice { values } => values.iter().map(|value| json!(value)).collect(),
        Values::String { max } => ["", "\u{0}", "\"\\\n", "\u{1f3b2}", "__proto__"]
            .iter()
            .filter(|text| text.chars().count() <= *max)
            .map(|text| json!(text))
            .chain([json!("x".repeat((*max).min(10_000)))])
            .collect(),
        Values::Boolean => vec![json!(false), json!(true)],
    }
}

pub(super) fn robust(bench: &Bench<'_>, game: &Game, spot: usize) -> Result<(), Problem> {
    let ply = &game.ply(spot);
    unknown_fields(bench, ply)?;
    if spot == 0 {
        extreme_setups(bench)?;
    }
    let Some(seat) = mover(ply) else { return Ok(()) };
    for form in &bench.described.actions {
        let whole = form.example.as_object().cloned().unwrap_or_default();
        for field in &form.fields {
            let mut variants: Vec<Map<String, Value>> = Vec::new();
            for value in extremes(&field.values) {
                let mut action = whole.clone();
                action.insert(field.name.clone(), value);
                variants.push(action);
            }
            if field.optional {
                let mut action = whole.clone();
                action.remove(&field.name);
                variants.push(action);
            }
            for action in variants.into_iter().map(Value::Object) {
                if bench.program().malformed(&action).is_some() {
                    continue;
                }
                let played = bench.act(ply, seat, &action);
                played.map_err(|problem| {
 problem.because("the fields are as declared, but their values can be anything: off the board, \
                                   huge, negative, empty", "refuse what isn't possible, before you use it as an index").showing(format!("action {}", short(&action.to_string())))
                })?;
            }
        }
    }
    Ok(())
}

/// Requests may get fields and wishes that this version doesn't have.
fn unknown_fields(bench: &Bench<'_>, ply: &Ply) -> Result<(), Problem> {
    let plain = from_state(&ply.state, &[], &EVERYTHING, At::End);
    let mut more = plain.clone();
    more["x_later"] = json!({ "deep": [1, null, 1e300] });
    if let Some(want) = more["want"].as_array_mut() {
        want.push(json!("x_later"));
    }
    let show =
        |problem: Problem| problem.showing("the request has the unknown field and wish `x_later`");
    let (one, other) = (
        bench.ask(0, &plain)?,
        bench.ask(0, &more).map_err(|problem| {
            show(problem.because(
                "later versions of the messages may have more fields",
                "ignore fields and entries of `want` that you don't know",
            ))
        })?,
    );
    let same = match (&one, &other) {
        (Ok(one), Ok(other)) => one.raw()["plies"] == other.raw()["plies"],
        (one, other) => one.is_err() == other.is_err(),
    };
    if same {
        return Ok(());
    }
    Err(show(Problem::new(
        "the answer differs if the request has an unknown field",
        "later versions of the messages may have more fields",
        "ignore fields and entries of `want` that you don't know",
    )))
}

fn extreme_setups(bench: &Bench<'_>) -> Result<(), Problem> {
    let fields = &bench.described.setup;
    let usual: Map<String, Value> =
        fields.iter().map(|field| (field.name.clone(), field.default.clone())).collect();
    for field in fields {
        for value in extremes(&field.values) {
            let mut setup = usual.clone();
            setup.insert(field.name.clone(), value);
            let setup = Value::Object(setup);
            let show = |problem: Problem| problem.showing(format!("setup {setup}"));
            let asked = bench.ask(0, &from_setup(&setup, &[], &EVERYTHING, At::End));
            let refused = asked
                .map_err(|problem| {
                    show(problem.because(
                        "the setup is in the declared ranges",
                        "refuse a setup that isn't possible, or narrow its range",
                    ))
                })?
                .err();
            if refused.is_some_and(|refused| refused.kind != RefusalKind::Setup) {
                return Err(show(Problem::new(
                    "a setup is refused as if it were a move",
                    "`kind` of this refusal must be `setup`",
                    "answer {\"type\":\"refused\",\"move\":0,\"kind\":\"setup\",..}",
                )));
            }
        }
    }
    Ok(())
}
