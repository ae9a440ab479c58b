//! The picture of a board as a dictionary.

use referee_games::board::Layout;
use referee_games::view::{Colour, GroundKind, Item, PieceText, View};
use serde_json::{Map, Value, json};

/// Returns the picture with the fields that a game program's `view` has, and only those that are in it.
pub(crate) fn view_json(view: &View) -> Value {
    let colour = |colour: Option<Colour>| colour.map(Colour::name);
    let kind_of = |colour: Colour, text: Option<PieceText>| {
        let kind = view.kinds.iter().find(|kind| (kind.colour, kind.text) == (colour, text));
        kind.map_or_else(|| view.name_of(colour).into_owned(), |kind| kind.name.clone())
    };
    let pieces = view.pieces.iter().map(|piece| {
        let name = kind_of(piece.colour, piece.text);
        json!({"at": piece.at, "piece": name, "text": text(piece.text)})
    });
    let ground = view.ground.iter().map(|mark| {
        let (kind, own) = match mark.kind {
            GroundKind::Target(own) => ("target", Some(own)),
            GroundKind::Tint(own) => ("tint", Some(own)),
            GroundKind::Pad => ("pad", None),
        };
        json!({"at": mark.at, "kind": kind, "colour": colour(own)})
    });
    let edges = view.edges.iter().map(
        |edge| json!({"colour": edge.colour.name(), "cells": edge.cells, "outward": edge.outward}),
    );
    let figures = view.figures.iter().map(|figure| {
        json!({"name": figure.name, "value": figure.value, "colour": colour(figure.colour)})
    });
    let item = |item: &Item| json!({"colour": colour(item.colour), "text": text(item.text)});
    let rows = view.rows.iter().map(|row| {
        let items: Vec<Value> = row.items.iter().map(item).collect();
        json!({"name": row.name, "colour": colour(row.colour), "items": items})
    });
    let shape = match &view.shape {
        Layout::Nothing => Value::Null,
        Layout::Shape(shape) => json!(shape),
        Layout::Points(points) => {
            let cells = view.shape.cells();
            let places: Vec<_> = cells.iter().map(|&cell| view.shape.place(cell)).collect();
            let lines: Vec<_> = points.lines().map(|(from, to)| (from.0, to.0)).collect();
            let names: Vec<_> = cells.iter().map(|&cell| points.name(cell)).collect();
            json!({"points": {"places": places, "lines": lines, "names": names}})
        }
    };
    let fields: [(&str, Value); 9] = [
        ("shape", shape),
        ("pieces", pieces.collect()),
        ("ground", ground.collect()),
        ("edges", edges.collect()),
        ("last", json!(view.last)),
        ("chain", json!(view.chain)),
        ("figures", figures.collect()),
        ("rows", rows.collect()),
        ("text", json!(view.text)),
    ];
    let is_empty = |value: &Value| value.is_null() || *value == json!([]) || *value == json!("");
    let fields = fields.into_iter().filter(|(_, value)| !is_empty(value));
    Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

fn text(text: Option<PieceText>) -> Option<String> {
    text.map(|text| text.to_string())
}
