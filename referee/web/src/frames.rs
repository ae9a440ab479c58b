//! Plies as a page shows them: what changed on the board, who did it, and what the agents sent.
//!
//! Cells are numbers: indexes into the shape's list of cells. A frame has only the changes against the
//! frame before it, so that a match of a thousand turns is small.

use referee_games::board::{Cell, Layout};
use referee_games::view::{Change, Figure, GroundKind, Item, Piece, Row as BesideRow, View};
use referee_match::summary::{cut, ply_sentence, ply_text, seat_colour};
use referee_match::transcript::{Playback, Ply, PlyKind, SentInfo};
use referee_protocol::{Seat, StderrEvent};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The most `info` messages of a turn that are shown: the last ones.
const INFOS_MAX: usize = 50;
/// The most marks of one `info` that are shown.
const MARKS_MAX: usize = 1000;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frame {
    /// Its index in the match; 0 is the start.
    pub index: usize,
    /// `start`, `played`, `retired`, `over`.
    pub kind: &'static str,
    /// The turn in which it happened.
    pub turn: u64,
    /// The seat that acted.
    pub seat: Option<Seat>,
    /// The action, the fault, or how the match ended.
    pub text: String,
    /// The same as a full sentence.
    pub sentence: String,
    /// The code of the fault.
    pub fault: Option<&'static str>,
    /// Who is to move after it.
    pub to_move: Option<Seat>,
    /// Each seat's colour after it.
    pub colours: Vec<String>,
    /// Cells whose piece changed, with its colour and, after a blank, its text; or none.
    pub set: Vec<(usize, Option<String>)>,
    /// Cells whose ground changed, with `pad`, `target-red`, `tint-red` or none.
    pub ground: Vec<(usize, Option<String>)>,
    /// The cells of the last action, from first to last.
    pub last: Vec<usize>,
    /// What the action did besides: the cell, `taken`, `recoloured`, `exited` or `grown`, and the
    /// colour that the piece had.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<(usize, &'static str, Option<String>)>,
    /// The cells that decided the game.
    pub chain: Vec<usize>,
    /// At the end, each seat's place, 1 is best; nothing if the match is void.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Vec<u32>>,
    pub figures: Vec<Figure>,
    /// Rows of items beside the board: the name, its owner's colour, and each item as a piece in `set`, or a blank and a
    /// text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<(String, Option<String>, Vec<String>)>,
    /// Text below the board, or instead of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// The time charged for it.
    pub used_ms: Option<u64>,
    /// CPU time of the agent's processes, in milliseconds with fractions.
    pub cpu_ms: Option<f64>,
    /// How long the agent waited for a core.
    pub wait_ms: Option<f64>,
    /// The referee's own lag in it.
    pub lag_ms: Option<f64>,
    /// What each seat has left after it.
    pub left_ms: Vec<Option<u64>>,
    pub infos: Vec<Info>,
    pub stderr: Vec<StderrPiece>,
}

/// An `info` message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Info {
    /// The sender.
    pub seat: Seat,
    /// How good it thinks its position is, in its own unit.
    pub score: Option<f64>,
    pub depth: Option<f64>,
    /// Positions searched.
    pub nodes: Option<f64>,
    pub text: Option<String>,
    /// Marked cells, each with a label that may be empty.
    pub marks: Vec<(usize, String)>,
    /// The actions that it expects in this position, each as the cells that its piece passes.
    pub pv: Vec<Vec<usize>>,
    /// Everything else, as JSON.
    pub more: Option<String>,
}

/// A piece of an agent's stderr.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StderrPiece {
    /// The sender.
    pub seat: Seat,
    pub text: String,
    /// Bytes that were dropped before it.
    pub dropped: u64,
}

/// The request that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenRequest {
    /// The seat that is asked.
    pub seat: Seat,
    pub turn: u64,
    /// What the seat had left when it was asked.
    pub left_ms: Option<u64>,
    /// Milliseconds since then.
    pub for_ms: u64,
}

/// Makes frames from the plies of one match.
#[derive(Debug)]
pub struct Frames {
    shape: Layout,
    index: BTreeMap<Cell, usize>,
}

impl Frames {
    /// Creates one for matches on this board.
    pub fn new(view: &View) -> Self {
        let cells = view.shape.cells().into_iter();
        let index = cells.enumerate().map(|(index, cell)| (cell, index)).collect();
        Self { shape: view.shape.clone(), index }
    }

    /// Returns the frames from index `first` on.
    pub fn from(&self, playback: &Playback, first: usize) -> Vec<Frame> {
        (first..playback.plies().len()).map(|index| self.frame(playback, index)).collect()
    }

    /// Returns the frame of one ply. Panics if there is none.
    pub fn frame(&self, playback: &Playback, index: usize) -> Frame {
        let (header, plies) = (playback.header(), playback.plies());
        let ply = &plies[index];
        let before = index.checked_sub(1).map(|before| &plies[before].view);
        let played = match &ply.kind {
            PlyKind::Played { event, .. } => Some(event),
            _ => None,
        };
        let places = match &ply.kind {
            PlyKind::Over(over) => over.verdict.places.clone(),
            _ => None,
        };
        Frame {
            index,
            kind: kind(ply),
            turn: ply.turn,
            seat: ply.seat().or(ply.fault().map(|(seat, _)| seat)),
            text: ply_text(header, ply),
            sentence: ply_sentence(header, ply),
            fault: ply.fault().map(|(_, fault)| fault.kind.name()),
            to_move: ply.to_move,
            colours: ply.colours.iter().map(|it| seat_colour(header, it).to_owned()).collect(),
            set: self.changes(before, &ply.view, pieces),
            ground: self.changes(before, &ply.view, ground),
            last: self.numbers(&ply.view.last),
            changes: before
                .filter(|_| played.is_some())
                .map_or_else(Vec::new, |before| self.what_changed(&ply.view.changes_since(before))),
            chain: self.numbers(&ply.view.chain),
            places,
            figures: ply.view.figures.clone(),
            rows: ply.view.rows.iter().map(row).collect(),
            words: ply.view.text.clone(),
            used_ms: played.map(|event| event.used_ms),
            cpu_ms: played.and_then(|event| event.cpu_ns).map(milliseconds),
            wait_ms: played.and_then(|event| event.wait_ns).map(milliseconds),
            lag_ms: played.map(|event| event.lag_ns).filter(|&ns| ns > 0).map(milliseconds),
            left_ms: ply.left_ms.clone(),
            infos: self.infos(ply),
            stderr: ply.output.stderr.iter().map(stderr_piece).collect(),
        }
    }

    /// Returns the numbers of these cells.
    pub fn numbers(&self, cells: &[Cell]) -> Vec<usize> {
        cells.iter().filter_map(|cell| self.index.get(cell).copied()).collect()
    }

    fn what_changed(
        &self,
        changes: &[(Cell, Change)],
    ) -> Vec<(usize, &'static str, Option<String>)> {
        let named = |&(cell, change): &(Cell, Change)| {
            let name = match change {
                Change::Taken(_) => "taken",
                Change::Recoloured(_) => "recoloured",
                Change::Exited(_) => "exited",
                Change::Grown => "grown",
            };
            let colour = change.colour().map(|colour| colour.name().into_owned());
            Some((*self.index.get(&cell)?, name, colour))
        };
        changes.iter().filter_map(named).collect()
    }

    fn changes<T: PartialEq + Clone>(
        &self,
        before: Option<&View>,
        after: &View,
        what: fn(&View) -> Vec<(Cell, T)>,
    ) -> Vec<(usize, Option<T>)> {
        let numbered = |view: &View| -> BTreeMap<usize, T> {
            let all = what(view).into_iter();
            all.filter_map(|(cell, it)| Some((*self.index.get(&cell)?, it))).collect()
        };
        let (before, after) = (before.map(numbered).unwrap_or_default(), numbered(after));
        let gone = before.keys().filter(|cell| !after.contains_key(cell)).map(|&cell| (cell, None));
        let new = after.iter().filter(|(cell, it)| before.get(cell) != Some(it));
        let mut changes: Vec<(usize, Option<T>)> =
            gone.chain(new.map(|(&cell, it)| (cell, Some(it.clone())))).collect();
        changes.sort_by_key(|&(cell, _)| cell);
        changes
    }

    fn infos(&self, ply: &Ply) -> Vec<Info> {
        let infos = &ply.output.infos;
        let shown = infos.iter().skip(infos.len().saturating_sub(INFOS_MAX));
        shown.filter_map(|info| self.info(ply, info)).collect()
    }

    fn info(&self, ply: &Ply, message: &SentInfo) -> Option<Info> {
        let (seat, info) = ply.output.info(message)?;
        let fields = &info.0;
        let number = |name: &str| fields.get(name).and_then(Value::as_f64);
        let is_shown = |name: &str, value: &Value| match name {
            "score" | "depth" | "nodes" => value.is_number(),
            "text" => value.is_string(),
            "cells" => value.is_array(),
            "pv" => !message.pv.is_empty(),
            _ => false,
        };
        let mut more = fields.clone();
        more.retain(|name, value| !is_shown(name, value));
        Some(Info {
            seat,
            score: number("score"),
            depth: number("depth"),
            nodes: number("nodes"),
            text: fields.get("text").and_then(Value::as_str).map(cut),
            marks: self.marks(fields.get("cells")),
            pv: message.pv.iter().map(|cells| self.numbers(cells)).collect(),
            more: (!more.is_empty()).then(|| cut(&Value::Object(more).to_string())),
        })
    }

    /// Reads marks; leaves out what is malformed or off the board.
    fn marks(&self, cells: Option<&Value>) -> Vec<(usize, String)> {
        let mark = |value: &Value| {
            let at: [i64; 2] = serde_json::from_value(value.get("at")?.clone()).ok()?;
            let label = match value.get("label") {
                Some(Value::String(label)) => cut(label),
                Some(Value::Number(label)) => label.to_string(),
                _ => String::new(),
            };
            Some((*self.index.get(&self.shape.find(at)?)?, label))
        };
        let cells = cells.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        cells.iter().take(MARKS_MAX).filter_map(mark).collect()
    }
}

fn stderr_piece(event: &StderrEvent) -> StderrPiece {
    StderrPiece { seat: event.seat, text: event.text.clone(), dropped: event.dropped_bytes }
}

fn kind(ply: &Ply) -> &'static str {
    match ply.kind {
        PlyKind::Start => "start",
        PlyKind::Played { .. } => "played",
        PlyKind::Drawn(_) => "drawn",
        PlyKind::Retired { .. } => "retired",
        PlyKind::Over(_) => "over",
    }
}

fn pieces(view: &View) -> Vec<(Cell, String)> {
    let shown = |piece: &Piece| match piece.text {
        Some(text) => format!("{} {text}", piece.colour.name()),
        None => piece.colour.name().into_owned(),
    };
    view.pieces.iter().map(|piece| (piece.at, shown(piece))).collect()
}

fn row(row: &BesideRow) -> (String, Option<String>, Vec<String>) {
    let item = |item: &Item| {
        let colour = item.colour.map(|colour| colour.name().into_owned()).unwrap_or_default();
        item.text.map_or(colour.clone(), |text| format!("{colour} {text}"))
    };
    let owner = row.colour.map(|colour| colour.name().into_owned());
    (row.name.clone().into_owned(), owner, row.items.iter().map(item).collect())
}

fn ground(view: &View) -> Vec<(Cell, String)> {
    let name = |kind: GroundKind| match kind {
        GroundKind::Target(colour) => format!("target-{}", colour.name()),
        GroundKind::Tint(colour) => format!("tint-{}", colour.name()),
        GroundKind::Pad => "pad".to_owned(),
    };
    view.ground.iter().map(|ground| (ground.at, name(ground.kind))).collect()
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn milliseconds(ns: u64) -> f64 {
    (ns / 1000) as f64 / 1000.0
}
