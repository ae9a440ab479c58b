//! The boards of the starters' kits that don't know the rules, compared with the referee's.

use crate::samples::conversation::converse;
use crate::samples::kits::{Kit, built, setups};
use crate::support::small_referee::hello;
use referee_games::GAMES;
use referee_games::board::{Cell, Shape};
use referee_protocol::FromAgent;
use serde_json::{Value, json};

/// Each program in `tests/kit` is a bot on the starter's kit. Its position is a list of the cells; it
/// prints the neighbours of each to stderr, as a JSON array per line, and resigns.
const KITS: &[Kit] = &[
    Kit {
        starter: "c/starter",
        program: "neighbours.c",
        build: &["cc", "-std=c11", "-Wall", "-Wextra", "-o", "neighbours", "neighbours.c"],
        command: &["./neighbours"],
    },
    Kit {
        starter: "perl/starter",
        program: "neighbours.pl",
        build: &[],
        command: &["perl", "neighbours.pl"],
    },
    Kit {
        starter: "lua/starter",
        program: "neighbours.lua",
        build: &[],
        command: &["lua5.4", "neighbours.lua"],
    },
    Kit {
        starter: "ruby/starter",
        program: "neighbours.rb",
        build: &[],
        command: &["ruby", "neighbours.rb"],
    },
];

/// Returns the cells of a board, and the neighbours of each, as on the wire and in order.
fn board(shape: Shape) -> (Vec<Value>, Vec<Value>) {
    let cells = shape.cells();
    let index = |cell: &Cell| cells.iter().position(|other| other == cell).unwrap();
    let name = |cell: &Cell| match shape {
        Shape::Star(_) => json!(index(cell) + 1),
        _ => json!(cell.pair()),
    };
    let beside = |cell: &Cell| {
        let mut beside: Vec<Cell> = shape.neighbours(*cell).collect();
        beside.sort_by_key(index);
        beside.iter().map(name).collect()
    };
    (cells.iter().map(name).collect(), cells.iter().map(beside).collect())
}

#[test]
fn kits_have_the_boards_of_the_referee() {
    for (kit, folder) in built(KITS) {
        let mut seen = Vec::new();
        for kind in GAMES {
            for setup in setups(kind) {
                let game = kind.start(&setup).unwrap();
                let Some(shape) = game.view().shape.shape() else { continue };
                if seen.contains(&(kind.name, shape)) {
                    continue;
                }
                seen.push((kind.name, shape));
                let (cells, expected) = board(shape);
                let hello = hello(kind.name, &game.setup(), 0, game.seats(), 1);
                let turn = json!({"type": "turn", "turn": 0, "left_ms": null, "position": cells,
                    "actions": game.actions()});
                let input = format!("{hello}\n{turn}\n{{\"type\":\"over\"}}\n");
                let (said, printed, code) = converse(&mut kit.command(&folder), &input);
                let place = format!("{}: {} {shape:?}", kit.starter, kind.name);
                assert_eq!(code, 0, "{place}: {printed}");
                let lines = printed.lines().map(|line| serde_json::from_str(line).unwrap());
                assert_eq!(lines.collect::<Vec<Value>>(), expected, "{place}");
                assert!(
                    matches!(&said[..], [FromAgent::Ready(_), FromAgent::Resign(_)]),
                    "{place}: {said:?}"
                );
            }
        }
    }
}
