//! Why an action is illegal, by the cells that it names: what is on them and since when, and whether another order or
//! another origin of its coordinates makes it legal.

use super::Evidence;
use crate::transcript;
use referee_games::Turn;
use referee_games::board::{Cell, Layout, Shape};
use referee_games::view::View;
use referee_protocol::{Event, Seat};
use serde_json::{Value, json};

/// A mistake in coordinates, on a board of so many rows: returns what was meant.
type Change = fn(Cell, i8) -> Cell;

/// Says what is on the cells that the refusal names. `None` if nothing is known that helps.
pub(super) fn what_is_there(text: &str, action: &Value, known: &Evidence<'_>) -> Option<String> {
    let game = known.game?;
    let Turn::Of(seat) = game.turn() else { return None };
    let view = game.view();
    let mut cells = cells_of(action);
    cells.retain(|&cell| is_named(text, cell, &view));
    cells.dedup();
    let colours = game.current_colours();
    let colour = colours.get(seat.index())?;
    let mut facts: Vec<String> = Vec::new();
    for cell in cells.into_iter().take(2) {
        let label = view.labels.label(&view.shape, cell);
        let change = last_change(cell, known);
        let (is_known, piece) = (change.is_some(), piece_on(&view, cell));
        let since = match change {
            Some((turn, by)) if by == seat => format!(" since your turn {turn}"),
            Some((turn, by)) => {
                match colours.get(by.index()).filter(|by| piece != Some((*by).clone())) {
                    Some(by) => format!(" since turn {turn}, which {by} played"),
                    None => format!(" since turn {turn}"),
                }
            }
            None => String::new(),
        };
        match piece {
            Some(owner) if owner == *colour => {
                facts.push(format!("{label} has your own piece{since}"));
            }
            Some(owner) => facts.push(format!("{label} has a {owner} piece{since}")),
            None if is_known => facts.push(format!("{label} is empty{since}")),
            None => {}
        }
    }
    let others = colours.len() > 1;
    let you = if others { format!("; you are {colour}, seat {seat}") } else { String::new() };
    (!facts.is_empty()).then(|| format!("{}{you}", facts.join("; ")))
}

/// Returns a legal action that an agent may mean whose coordinates have another order or origin, and what is wrong
/// with them.
pub(super) fn other_coordinates(
    text: &str,
    action: &Value,
    known: &Evidence<'_>,
) -> Option<(&'static str, Value)> {
    let game = known.game?;
    // Where nearly all cells are legal, another cell says nothing.
    if !text.contains("off the board") && cells_of(action).len() < 2 {
        return None;
    }
    let legal = game.actions();
    let shape = game.view().shape;
    let rows = match shape {
        Layout::Shape(Shape::Grid(rows, _) | Shape::Diamond(rows)) => i8::try_from(rows).ok(),
        _ => None,
    };
    let changes: [(&str, Change); 4] = [
        ("its coordinates are exchanged", |Cell(row, column), _| Cell(column, row)),
        ("its coordinates count from 1 instead of 0", |Cell(row, column), _| {
            Cell(row.saturating_sub(1), column.saturating_sub(1))
        }),
        ("its coordinates are one too small", |Cell(row, column), _| {
            Cell(row.saturating_add(1), column.saturating_add(1))
        }),
        ("its rows are counted from the other side", |Cell(row, column), rows| {
            Cell(rows.saturating_sub(1).saturating_sub(row), column)
        }),
    ];
    let mut found = changes.iter().filter_map(|(what, change)| {
        if rows.is_none() && what.contains("other side") {
            return None;
        }
        let meant = with_cells(action, &|cell| change(cell, rows.unwrap_or(0)));
        (meant != *action && legal.iter().any(|it| has_parts(it, &meant))).then_some((*what, meant))
    });
    found.next().filter(|_| found.next().is_none())
}

/// Whether an action has the fields of another, and perhaps some that may be left out.
fn has_parts(whole: &Value, parts: &Value) -> bool {
    let fields = parts.as_object().into_iter().flatten();
    whole == parts || parts.is_object() && fields.into_iter().all(|(key, it)| whole[key] == *it)
}

/// Returns a value as a cell.
fn cell_of(value: &Value) -> Option<Cell> {
    match value.as_array()?.as_slice() {
        [row, column] => {
            let part = |value: &Value| i8::try_from(value.as_i64()?).ok();
            Some(Cell(part(row)?, part(column)?))
        }
        _ => None,
    }
}

/// Returns the cells in an action, in the order of its fields.
fn cells_of(action: &Value) -> Vec<Cell> {
    match (cell_of(action), action) {
        (Some(cell), _) => vec![cell],
        (None, Value::Array(items)) => items.iter().flat_map(cells_of).collect(),
        (None, Value::Object(fields)) => fields.values().flat_map(cells_of).collect(),
        (None, _) => Vec::new(),
    }
}

fn with_cells(action: &Value, change: &dyn Fn(Cell) -> Cell) -> Value {
    match (cell_of(action), action) {
        (Some(cell), _) => {
            let Cell(row, column) = change(cell);
            json!([row, column])
        }
        (None, Value::Array(items)) => items.iter().map(|it| with_cells(it, change)).collect(),
        (None, Value::Object(fields)) => {
            fields.iter().map(|(key, it)| (key.clone(), with_cells(it, change))).collect()
        }
        (None, _) => action.clone(),
    }
}

/// Whether a text names a cell, as the board shows it or as JSON.
fn is_named(text: &str, cell: Cell, view: &View) -> bool {
    let Cell(row, column) = cell;
    let names = [view.labels.label(&view.shape, cell), format!("[{row},{column}]")];
    let is_part = |letter: char| letter.is_alphanumeric() || letter == ',' || letter == '-';
    names.iter().any(|name| {
        text.match_indices(name.as_str()).any(|(at, _)| {
            let after = text[at + name.len()..].chars().next();
            !text[..at].ends_with(is_part) && !after.is_some_and(char::is_alphanumeric)
        })
    })
}

fn piece_on(view: &View, cell: Cell) -> Option<String> {
    let piece = view.pieces.iter().find(|piece| piece.at == cell)?;
    Some(view.name_of(piece.colour).into_owned())
}

/// Returns the turn in which what is on a cell changed last, and whose turn that was.
fn last_change(cell: Cell, known: &Evidence<'_>) -> Option<(u64, Seat)> {
    let (transcript, games) = known.transcript?;
    let until = known.game?.turn_number();
    let mut steps = transcript::walk(transcript, games).ok()?;
    let mut before = piece_on(&steps.walk().game().view(), cell);
    let mut last = None;
    while let Ok(Some(event)) = steps.step() {
        let Event::Played(played) = event else { continue };
        if played.turn >= until {
            break;
        }
        let now = piece_on(&steps.walk().game().view(), cell);
        if now != before {
            last = Some((played.turn, played.seat));
            before = now;
        }
    }
    last
}
