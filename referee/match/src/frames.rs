//! Plies as a page shows them: what changed on the board, who did it, and what was said.
//!
//! Cells are numbers: positions in the shape's list of cells. A frame tells the board as changes
//! against the frame before it, so that a match of a thousand turns is small.

use crate::transcript::{Happening, Playback, Ply};
use referee_games::board::{Cell, Shape};
use referee_games::view::{Figure, GroundKind, View};
use referee_protocol::{FaultKind, Header, Seat, StderrEvent, Verdict};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Texts of agents are cut here, in characters.
const TEXT_MAX: usize = 2000;
/// So many remarks of a turn are shown: the last ones, which tell most.
const INFOS_MAX: usize = 50;
/// So many marks of one remark are shown.
const MARKS_MAX: usize = 1000;

/// A ply.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frame {
    /// Its place in the match, from 0, the start.
    pub index: usize,
    /// `start`, `played`, `retired`, `over`.
    pub kind: &'static str,
    /// The turn in which it happened.
    pub turn: u64,
    /// Whose doing it is.
    pub seat: Option<Seat>,
    /// The action, the fault in words, or how the match ended.
    pub text: String,
    /// The same as a sentence that stands alone.
    pub sentence: String,
    /// The kind of fault that it shows.
    pub fault: Option<&'static str>,
    /// Who is to move after it.
    pub to_move: Option<Seat>,
    /// Each seat's colour after it.
    pub colours: Vec<String>,
    /// Cells whose piece changed: the piece's colour, or none.
    pub set: Vec<(usize, Option<&'static str>)>,
    /// Cells whose ground changed: `pad`, `target-red`, or none.
    pub ground: Vec<(usize, Option<String>)>,
    /// The cells of the last action, from first to last.
    pub last: Vec<usize>,
    /// The cells that decided the game.
    pub chain: Vec<usize>,
    /// Figures beside the board.
    pub figures: Vec<Figure>,
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
    /// What the agents said of their thoughts.
    pub infos: Vec<Info>,
    /// What they wrote to their stderr.
    pub stderr: Vec<Complaint>,
}

/// What an agent said of its thoughts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Info {
    /// Who.
    pub seat: Seat,
    /// How good it thinks its position is, in its own unit.
    pub score: Option<f64>,
    /// How deep it looked.
    pub depth: Option<f64>,
    /// How many positions it looked at.
    pub nodes: Option<f64>,
    /// Words.
    pub text: Option<String>,
    /// Cells, each with a label that may be empty.
    pub marks: Vec<(usize, String)>,
    /// Everything else, as JSON.
    pub more: Option<String>,
}

/// A piece of an agent's stderr.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Complaint {
    /// Whose.
    pub seat: Seat,
    /// The text.
    pub text: String,
    /// Bytes that were left out before it.
    pub dropped: u64,
}

/// The request that waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// Who is asked.
    pub seat: Seat,
    /// In which turn.
    pub turn: u64,
    /// What the seat had left when it was asked.
    pub left_ms: Option<u64>,
    /// How long ago that was.
    pub for_ms: u64,
}

/// Makes frames of one match's plies.
#[derive(Debug)]
pub struct Frames {
    shape: Shape,
    index: BTreeMap<Cell, usize>,
}

impl Frames {
    /// For matches on the board of this picture.
    pub fn new(view: &View) -> Self {
        let cells = view.shape.cells().into_iter();
        let index = cells.enumerate().map(|(index, cell)| (cell, index)).collect();
        Self { shape: view.shape, index }
    }

    /// The frames from this place on.
    pub fn from(&self, playback: &Playback, first: usize) -> Vec<Frame> {
        (first..playback.plies().len()).map(|index| self.frame(playback, index)).collect()
    }

    /// The frame of one ply, which must be there.
    pub fn frame(&self, playback: &Playback, index: usize) -> Frame {
        let (header, plies) = (playback.header(), playback.plies());
        let ply = &plies[index];
        let before = index.checked_sub(1).map(|before| &plies[before].view);
        let played = match &ply.happening {
            Happening::Played { event, .. } => Some(event),
            _ => None,
        };
        let text = text(header, ply);
        Frame {
            index,
            kind: kind(ply),
            turn: ply.turn,
            seat: ply.seat().or(ply.fault().map(|(seat, _)| seat)),
            sentence: sentence(header, ply, &text),
            text,
            fault: ply.fault().map(|(_, fault)| fault.kind.name()),
            to_move: ply.to_move,
            colours: ply.colours.clone(),
            set: self.changes(before, &ply.view, pieces),
            ground: self.changes(before, &ply.view, ground),
            last: self.numbers(&ply.view.last),
            chain: self.numbers(&ply.view.chain),
            figures: ply.view.figures.clone(),
            used_ms: played.map(|event| event.used_ms),
            cpu_ms: played.and_then(|event| event.cpu_ns).map(milliseconds),
            wait_ms: played.and_then(|event| event.wait_ns).map(milliseconds),
            lag_ms: played.map(|event| event.lag_ns).filter(|&ns| ns > 0).map(milliseconds),
            left_ms: ply.left_ms.clone(),
            infos: self.infos(ply),
            stderr: ply.beside.stderr.iter().map(complaint).collect(),
        }
    }

    /// The numbers of these cells.
    pub fn numbers(&self, cells: &[Cell]) -> Vec<usize> {
        cells.iter().filter_map(|cell| self.index.get(cell).copied()).collect()
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
        let infos = &ply.beside.infos;
        let shown = infos.iter().skip(infos.len().saturating_sub(INFOS_MAX));
        shown.map(|(seat, info)| self.info(*seat, &info.0)).collect()
    }

    fn info(&self, seat: Seat, fields: &Map<String, Value>) -> Info {
        let number = |name: &str| fields.get(name).and_then(Value::as_f64);
        let is_shown = |name: &str, value: &Value| match name {
            "score" | "depth" | "nodes" => value.is_number(),
            "text" => value.is_string(),
            "cells" => value.is_array(),
            _ => false,
        };
        let mut more = fields.clone();
        more.retain(|name, value| !is_shown(name, value));
        Info {
            seat,
            score: number("score"),
            depth: number("depth"),
            nodes: number("nodes"),
            text: fields.get("text").and_then(Value::as_str).map(cut),
            marks: self.marks(fields.get("cells")),
            more: (!more.is_empty()).then(|| cut(&Value::Object(more).to_string())),
        }
    }

    /// What doesn't have the shape of a mark, or isn't on the board, is left out.
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

fn complaint(event: &StderrEvent) -> Complaint {
    Complaint { seat: event.seat, text: event.text.clone(), dropped: event.dropped_bytes }
}

fn kind(ply: &Ply) -> &'static str {
    match ply.happening {
        Happening::Start => "start",
        Happening::Played { .. } => "played",
        Happening::Retired { .. } => "retired",
        Happening::Over(_) => "over",
    }
}

fn pieces(view: &View) -> Vec<(Cell, &'static str)> {
    view.pieces.iter().map(|piece| (piece.at, piece.colour.name())).collect()
}

fn ground(view: &View) -> Vec<(Cell, String)> {
    let name = |kind: GroundKind| match kind {
        GroundKind::Target(colour) => format!("target-{}", colour.name()),
        GroundKind::Pad => "pad".to_owned(),
    };
    view.ground.iter().map(|ground| (ground.at, name(ground.kind))).collect()
}

/// What happened, as a sentence that stands alone.
pub fn told(header: &Header, ply: &Ply) -> String {
    sentence(header, ply, &text(header, ply))
}

/// What a ply says by itself.
fn text(header: &Header, ply: &Ply) -> String {
    match &ply.happening {
        Happening::Start => "start".to_owned(),
        Happening::Played { text, .. } => cut(text),
        Happening::Retired { fault, .. } if fault.kind == FaultKind::Resigned => {
            fault.kind.to_string()
        }
        Happening::Retired { fault, .. } => cut(&format!("{}: {}", fault.kind, fault.text)),
        Happening::Over(over) => {
            let told = crate::telling::sentence(header, over.outcome.as_ref(), &over.verdict);
            cut(&(told + &faults(header, &over.verdict)))
        }
    }
}

/// The faults of a verdict, each as a sentence.
fn faults(header: &Header, verdict: &Verdict) -> String {
    let mut text = String::new();
    for seat in &verdict.seats {
        if let (Some(fault), Some(listed)) = (&seat.fault, header.seats.get(seat.seat.index())) {
            let (name, kind, turn, why) = (&listed.name, fault.kind, fault.turn, &fault.text);
            write!(text, "; {name}: {kind} in turn {turn}").expect("text takes text");
            // Of a resignation there is nothing more to say.
            if fault.kind != FaultKind::Resigned {
                write!(text, ", {why}").expect("text takes text");
            }
        }
    }
    text
}

fn sentence(header: &Header, ply: &Ply, text: &str) -> String {
    let turn = ply.turn;
    let Some(seat) = ply.seat() else { return text.to_owned() };
    let name = header.seats.get(seat.index()).map_or("nobody", |seat| seat.name.as_str());
    let colour = ply.colours.get(seat.index()).map_or("", String::as_str);
    match ply.happening {
        Happening::Retired { .. } => format!("turn {turn}: {name} ({colour}) is out, {text}"),
        _ => format!("turn {turn}: {name} ({colour}) {text}"),
    }
}

/// At most so much of a text that an agent wrote.
fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn milliseconds(ns: u64) -> f64 {
    (ns / 1000) as f64 / 1000.0
}
