//! Why an action is illegal, by the cells that it names: what is on them and since when, and whether another order or
//! another origin of its coordinates makes it legal.

use super::Evidence;
use crate::transcript;
use referee_games::board::{Cell, Layout, Shape};
use referee_games::view::View;
use referee_games::{AnyGame, Turn};
use referee_protocol::{Event, Seat};
use serde_json::{Value, json};

/// What is on the cells that a refusal names.
pub(super) struct Facts {
    /// The facts as text.
    pub(super) text: String,
    /// The colour and the seat of the agent.
    you: String,
    /// What is on the first cell, if the refusal names that.
    first: Option<First>,
    /// Whether a piece has left another cell.
    is_left: bool,
    /// Whether the action moves a piece.
    moves: bool,
}

/// What is on the first cell of an action.
#[derive(Clone, Copy)]
enum First {
    Nothing,
    Yours,
    /// Another seat's piece, since this turn or always.
    Others(Option<u64>),
}

impl Facts {
    /// Whether the action moves a piece that has always been another seat's.
    pub(super) fn is_of_another(&self) -> bool {
        self.moves && matches!(self.first, Some(First::Others(None)))
    }

    /// Whether the action moves a piece that has left its cell.
    pub(super) fn has_left(&self) -> bool {
        self.moves && self.is_left && matches!(self.first, Some(First::Nothing))
    }

    /// Returns what the agent has probably forgotten.
    pub(super) fn advice(&self) -> Option<String> {
        Some(match self.first? {
            First::Others(None) if self.moves => {
                format!("move your own pieces: you are {}, as `hello` says in `seat`", self.you)
            }
            First::Others(Some(turn)) if self.moves => format!(
                "apply each `played` with all its effects to your board: this piece has been there since turn {turn}"
            ),
            First::Nothing if self.moves => {
                "apply each `played` with all its effects to your board: the first cell is empty".to_owned()
            }
            First::Yours if self.is_left => {
                "apply each `played` with all its effects to your board, also to the cell that a piece leaves".to_owned()
            }
            First::Others(_) | First::Yours if !self.moves => {
                "apply each `played` to your board, also your own; if it does that, compare the order of your coordinates \
                 with the rules"
                    .to_owned()
            }
            _ => return None,
        })
    }
}

/// Says what is on the cells that the refusal names. `None` if nothing is known that helps.
pub(super) fn what_is_there(text: &str, action: &Value, known: &Evidence<'_>) -> Option<Facts> {
    let game = known.game?;
    let Turn::Of(seat) = game.turn() else { return None };
    let view = game.view();
    let all = if action["path"][0].is_number() { numbered(action, game) } else { cells_of(action) };
    let mut cells = all.clone();
    cells.retain(|&cell| is_named(text, cell, &view));
    cells.dedup();
    let colours = game.current_colours();
    let colour = colours.get(seat.index())?;
    let mut facts: Vec<String> = Vec::new();
    let (mut first, mut is_left) = (None, false);
    for cell in cells.into_iter().take(2) {
        let label = view.labels.label(&view.shape, cell);
        let change = last_change(cell, known);
        let left = change
            .as_ref()
            .and_then(|(_, _, before)| before.as_ref())
            .filter(|_| piece_on(&view, cell).is_none());
        let piece = piece_on(&view, cell);
        if Some(&cell) == all.first() {
            first = Some(match &piece {
                None if left.is_some_and(|before| before != colour) => First::Others(None),
                None => First::Nothing,
                Some(owner) if owner == colour => First::Yours,
                Some(_) => First::Others(change.as_ref().map(|(turn, ..)| *turn)),
            });
        }
        let since = match &change {
            Some((turn, by, _)) if *by == seat => format!(" since your turn {turn}"),
            Some((turn, by, _)) => {
                match colours.get(by.index()).filter(|by| piece.as_ref() != Some(*by)) {
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
            None if change.is_some() => {
                is_left = true;
                let whose = left.filter(|before| *before != colour);
                let whose =
                    whose.map(|whose| format!(": it had a {whose} piece")).unwrap_or_default();
                facts.push(format!("{label} is empty{since}{whose}"));
            }
            None => {}
        }
    }
    let you = format!("{colour}, seat {seat}");
    let shown = if colours.len() > 1 { format!("; you are {you}") } else { String::new() };
    let text = format!("{}{shown}", facts.join("; "));
    let moves = all.len() > 1 || action.get("from").is_some();
    (!facts.is_empty()).then_some(Facts { text, you, first, is_left, moves })
}

/// Returns the advice on a cell that isn't on the board.
pub(super) fn within(text: &str, known: &Evidence<'_>) -> Option<String> {
    let (rows, columns) = size(known.game.filter(|_| text.contains("off the board"))?)?;
    let (row, column) = (rows - 1, columns - 1);
    Some(format!(
        "rows are 0 to {row} and columns 0 to {column}: `setup` in `hello` has the size of the board"
    ))
}

/// Returns how many rows and columns a board has.
fn size(game: &dyn AnyGame) -> Option<(i64, i64)> {
    match game.view().shape {
        Layout::Shape(Shape::Grid(rows, columns)) => Some((rows.into(), columns.into())),
        Layout::Shape(Shape::Diamond(rows)) => Some((rows.into(), rows.into())),
        _ => None,
    }
}

/// A mistake in an action: what is wrong, and what was meant, on a board of so many rows and columns.
type Change = (&'static str, fn(&Value, (i64, i64)) -> Value);

const CHANGES: [Change; 7] = [
    ("its coordinates are exchanged", |action, _| with_cells(action, &|row, column| (column, row))),
    ("its `path` is reversed", |action, _| {
        let mut meant = action.clone();
        if let Some(path) = meant.get_mut("path").and_then(Value::as_array_mut) {
            path.reverse();
        }
        meant
    }),
    ("its `from` and `to` are exchanged", |action, _| {
        let mut meant = action.clone();
        if let (Some(from), Some(to)) = (action.get("from"), action.get("to")) {
            (meant["from"], meant["to"]) = (to.clone(), from.clone());
        }
        meant
    }),
    ("its coordinates count from 1 instead of 0", |action, _| with_numbers(action, -1)),
    ("its coordinates are one too small", |action, _| with_numbers(action, 1)),
    ("its rows are counted from the other side", |action, (rows, _)| {
        with_cells(action, &|row, column| (rows - 1 - row, column))
    }),
    ("its columns are counted from the other side", |action, (_, columns)| {
        with_cells(action, &|row, column| (row, columns - 1 - column))
    }),
];

/// Returns a legal action that an agent may mean, and what is wrong with its own: a change that makes all of its illegal
/// actions legal, if there is only one.
pub(super) fn changed(
    text: &str,
    action: &Value,
    known: &Evidence<'_>,
) -> Option<(&'static str, Value)> {
    let game = known.game?;
    let mut fits = CHANGES.iter().filter_map(|(what, change)| {
        let meant = is_legal_after(text, action, game, *change)?;
        let mut others = known.illegal.iter();
        others
            .all(|it| is_legal_after(&it.text, &it.action, &*it.game, *change).is_some())
            .then_some((*what, meant))
    });
    fits.next().filter(|_| fits.next().is_none())
}

fn is_legal_after(
    text: &str,
    action: &Value,
    game: &dyn AnyGame,
    change: fn(&Value, (i64, i64)) -> Value,
) -> Option<Value> {
    // Where nearly all cells are legal, another cell says nothing.
    let moves =
        cells_of(action).len() > 1 || ["from", "path"].iter().any(|it| action.get(it).is_some());
    if !text.contains("off the board") && !moves {
        return None;
    }
    let meant = change(action, size(game).unwrap_or_default());
    let legal = game.actions();
    (meant != *action && legal.iter().any(|it| has_parts(it, &meant))).then_some(meant)
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

/// Returns the cells of a path of numbers.
fn numbered(action: &Value, game: &dyn AnyGame) -> Vec<Cell> {
    let (view, all) = (game.view(), game.layout().cells());
    let at = |number: &Value| {
        let label = number.to_string();
        all.iter().copied().find(|&cell| view.labels.label(&view.shape, cell) == label)
    };
    action["path"].as_array().into_iter().flatten().filter_map(at).collect()
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

fn with_cells(action: &Value, change: &dyn Fn(i64, i64) -> (i64, i64)) -> Value {
    match (cell_of(action), action) {
        (Some(Cell(row, column)), _) => {
            let (row, column) = change(row.into(), column.into());
            json!([row, column])
        }
        (None, Value::Array(items)) => items.iter().map(|it| with_cells(it, change)).collect(),
        // The numbers of a path may be cells themselves.
        (None, Value::Object(fields)) => fields
            .iter()
            .map(|(key, it)| {
                let is_path = key == "path" && it[0].is_number();
                (key.clone(), if is_path { it.clone() } else { with_cells(it, change) })
            })
            .collect(),
        (None, _) => action.clone(),
    }
}

fn with_numbers(action: &Value, by: i64) -> Value {
    match action {
        Value::Array(items) => items.iter().map(|it| with_numbers(it, by)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, it)| (key.clone(), with_numbers(it, by))).collect()
        }
        Value::Number(number) => number.as_i64().map_or(action.clone(), |it| json!(it + by)),
        _ => action.clone(),
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

/// Returns the turn in which what is on a cell changed last, whose turn that was, and whose piece was there before.
fn last_change(cell: Cell, known: &Evidence<'_>) -> Option<(u64, Seat, Option<String>)> {
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
            last = Some((played.turn, played.seat, std::mem::replace(&mut before, now)));
        }
    }
    last
}
