//! Snapshots of every shape at several sizes, and what holds for every picture.

use super::{Charset, Picture, Style, caption, picture, terminal};
use crate::tests::empty;
use proptest::prelude::*;
use referee_games::board::{Cell, Shape};
use referee_games::view::{Colour, Edge, Figure, Ground, GroundKind, Labels, Piece, View};
use std::fmt::Write;

const ASCII: Style = Style {
    charset: Charset::Ascii,
    colour: false,
    coordinates: false,
    flip: false,
    legend: false,
};
const UNICODE: Style = Style { charset: Charset::Unicode, ..ASCII };
const EXPLAINED: Style = Style { coordinates: true, legend: true, ..ASCII };

#[test]
fn diamonds() {
    let mut won = connection(5);
    won.last = vec![Cell(2, 1)];
    won.chain = vec![Cell(0, 2), Cell(1, 1), Cell(2, 1), Cell(3, 1), Cell(4, 1)];
    won.pieces = won.chain.iter().map(|&at| Piece::new(at, Colour::Red)).collect();
    won.pieces.push(Piece::new(Cell(2, 2), Colour::Black));
    let flipped = Style { flip: true, ..EXPLAINED };
    insta::assert_snapshot!(album(&[
        ("3", &connection(3), ASCII),
        ("3 in unicode", &connection(3), UNICODE),
        ("5 won", &won, EXPLAINED),
        ("5 won, flipped", &won, flipped),
        ("11", &connection(11), EXPLAINED),
        ("12 without edges", &empty(Shape::Diamond(12), Labels::Pair), EXPLAINED),
    ]));
}

#[test]
fn triangles() {
    let mut pegs = empty(Shape::Triangle(5), Labels::Pair);
    pegs.pieces = pegs
        .shape
        .cells()
        .into_iter()
        .filter(|cell| ![Cell(0, 0), Cell(1, 0), Cell(2, 1)].contains(cell))
        .map(|at| Piece::new(at, Colour::Peg))
        .collect();
    pegs.last = vec![Cell(0, 0), Cell(2, 0)];
    pegs.figures = vec![Figure { name: "pegs".into(), colour: None, value: "12".into() }];
    insta::assert_snapshot!(album(&[
        ("5", &pegs, ASCII),
        ("5 in unicode", &pegs, Style { legend: true, ..UNICODE }),
        ("5 with coordinates", &pegs, EXPLAINED),
        ("5 flipped", &pegs, Style { flip: true, ..EXPLAINED }),
        ("12", &empty(Shape::Triangle(12), Labels::Pair), EXPLAINED),
    ]));
}

#[test]
fn hexagons() {
    let mut view = empty(Shape::Hexagon(3), Labels::Pair);
    let colours = [Colour::Red, Colour::Green, Colour::Blue];
    let starts: [fn(Cell) -> bool; 3] = [|c| c.0 == -3, |c| c.1 == -3, |c| c.0 + c.1 == 3];
    for (colour, start) in colours.into_iter().zip(starts) {
        let cells = view.shape.cells().into_iter().filter(|&cell| start(cell));
        view.pieces.extend(cells.map(|at| Piece::new(at, colour)));
        view.figures.push(Figure {
            name: "exits".into(),
            colour: Some(colour),
            value: "0/4".into(),
        });
    }
    view.edges = vec![
        Edge {
            colour: Colour::Red,
            cells: vec![Cell(3, -3), Cell(3, -2), Cell(3, -1), Cell(3, 0)],
            outward: (1, -1),
        },
        Edge {
            colour: Colour::Green,
            cells: vec![Cell(-3, 3), Cell(-2, 3), Cell(-1, 3), Cell(0, 3)],
            outward: (-1, 1),
        },
    ];
    insta::assert_snapshot!(album(&[
        ("3", &view, ASCII),
        ("3 in unicode", &view, UNICODE),
        ("3 with coordinates", &view, EXPLAINED),
        ("3 flipped", &view, Style { flip: true, ..EXPLAINED }),
        ("10, where some names are left out", &empty(Shape::Hexagon(10), Labels::Pair), EXPLAINED),
    ]));
}

#[test]
fn stars() {
    let mut view = empty(Shape::Star(4), Labels::Number);
    let cells = view.shape.cells();
    let camp = |range: std::ops::Range<usize>, colour| {
        let cells = cells[range].to_vec();
        cells.into_iter().map(move |at| Piece::new(at, colour))
    };
    let ground = |piece: Piece, colour| Ground { at: piece.at, kind: GroundKind::Target(colour) };
    view.ground.extend(camp(0..10, Colour::Red).map(|piece| ground(piece, Colour::Yellow)));
    view.ground.extend(camp(111..121, Colour::Red).map(|piece| ground(piece, Colour::Red)));
    view.pieces.extend(camp(1..10, Colour::Red));
    view.pieces.extend(camp(112..121, Colour::Yellow));
    view.last = vec![cells[0], cells[5], cells[25], cells[48], cells[70]];
    view.pieces.push(Piece::new(cells[70], Colour::Red));
    view.pieces.retain(|piece| piece.at != cells[5]);
    insta::assert_snapshot!(album(&[
        ("4", &view, ASCII),
        ("4 in unicode", &view, Style { legend: true, ..UNICODE }),
        ("4 with coordinates", &view, EXPLAINED),
        ("4 flipped", &view, Style { flip: true, ..EXPLAINED }),
        ("2", &empty(Shape::Star(2), Labels::Number), EXPLAINED),
        ("5", &empty(Shape::Star(5), Labels::Number), EXPLAINED),
    ]));
}

#[test]
fn squares() {
    let mut view = empty(Shape::Grid(8, 8), Labels::Pair);
    for column in 1..7 {
        view.pieces.push(Piece::new(Cell(0, column), Colour::Red));
        view.pieces.push(Piece::new(Cell(7, column), Colour::Blue));
        for row in [0, 1, 6, 7] {
            view.ground.push(Ground { at: Cell(row, column), kind: GroundKind::Pad });
        }
    }
    view.pieces.retain(|piece| piece.at != Cell(0, 1));
    view.pieces.push(Piece::new(Cell(4, 5), Colour::Red));
    view.ground.retain(|ground| ground.at != Cell(0, 1));
    view.ground.push(Ground { at: Cell(2, 3), kind: GroundKind::Pad });
    view.last = vec![Cell(0, 1), Cell(2, 3), Cell(4, 5)];
    insta::assert_snapshot!(album(&[
        ("8", &view, ASCII),
        ("8 in unicode", &view, UNICODE),
        ("8 with coordinates", &view, EXPLAINED),
        ("8 flipped", &view, Style { flip: true, ..EXPLAINED }),
        ("3", &empty(Shape::Grid(3, 3), Labels::LetterNumber), EXPLAINED),
    ]));
}

#[test]
fn colours() {
    let mut view = connection(3);
    view.chain = vec![Cell(0, 0), Cell(1, 0), Cell(2, 0)];
    view.pieces = view.chain.iter().map(|&at| Piece::new(at, Colour::Red)).collect();
    view.last = vec![Cell(1, 0)];
    let style = Style { colour: true, ..EXPLAINED };
    let picture = terminal(&view, &style).replace('\x1b', "ESC");
    insta::assert_snapshot!(format!("three in colour\n{picture}"));
}

#[test]
fn sizes_that_the_documentation_promises() {
    let coordinates = Style { coordinates: true, ..ASCII };
    for (shape, style, wanted) in [
        (Shape::Diamond(11), ASCII, (23, 21)),
        (Shape::Diamond(12), ASCII, (25, 23)),
        (Shape::Diamond(11), coordinates, (27, 23)),
        (Shape::Diamond(26), ASCII, (53, 51)),
        (Shape::Triangle(24), ASCII, (49, 24)),
        (Shape::Triangle(22), coordinates, (51, 24)),
        (Shape::Hexagon(11), ASCII, (47, 23)),
        (Shape::Hexagon(10), coordinates, (49, 23)),
        (Shape::Star(5), coordinates, (43, 21)),
        (Shape::Grid(24, 24), ASCII, (49, 24)),
        (Shape::Grid(23, 23), coordinates, (51, 24)),
        (Shape::Grid(24, 39), ASCII, (79, 24)),
        (Shape::Grid(23, 37), coordinates, (79, 24)),
    ] {
        let labels = if matches!(shape, Shape::Star(_)) { Labels::Number } else { Labels::Pair };
        assert_eq!(size(&empty(shape, labels), style), wanted, "{shape:?} {style:?}");
    }
}

#[test]
fn the_largest_diamond_names_every_row_and_column() {
    let style = Style { coordinates: true, ..ASCII };
    let picture = terminal(&connection(26), &style);
    let words: Vec<&str> = picture.split_whitespace().collect();
    for (number, letter) in (1..=26).zip('a'..='z') {
        assert!(words.contains(&number.to_string().as_str()), "{number}\n{picture}");
        assert!(words.contains(&letter.to_string().as_str()), "{letter}\n{picture}");
    }
}

proptest! {
    #[test]
    fn every_picture_is_clean_and_within_its_size(view in views(), style in styles()) {
        let picture = terminal(&view, &style);
        let (width, height) = size(&view, style);
        prop_assert!(picture.ends_with('\n'));
        prop_assert_eq!(picture.lines().count(), height);
        for line in without_escapes(&picture).lines() {
            prop_assert_eq!(line.trim_end(), line);
            prop_assert!(line.chars().count() <= width, "{} > {}: {}", line.len(), width, line);
        }
        prop_assert!(style.charset == Charset::Unicode || picture.is_ascii());
        prop_assert!(picture.chars().all(|glyph| glyph.is_ascii() || "⬢⬡◉◼◻".contains(glyph)));
    }

    #[test]
    fn colour_changes_nothing_but_colour(view in views(), style in styles()) {
        let plain = terminal(&view, &Style { colour: false, ..style });
        let coloured = terminal(&view, &Style { colour: true, ..style });
        prop_assert!(!plain.contains('\x1b'));
        prop_assert_eq!(without_escapes(&coloured), plain);
    }

    #[test]
    fn every_piece_is_seen(view in views(), flip: bool, colour: bool) {
        let view = View { figures: Vec::new(), ..view };
        let picture = without_escapes(&terminal(&view, &Style { colour, flip, ..ASCII }));
        for piece in &view.pieces {
            let letter = piece.colour.letter();
            let wanted = view.pieces.iter().filter(|p| p.colour.letter() == letter).count();
            prop_assert_eq!(picture.matches(letter).count(), wanted, "{}\n{}", letter, picture);
        }
    }

    #[test]
    fn one_cell_is_at_the_top(view in views(), charset in charsets(), colour: bool) {
        prop_assume!(!matches!(view.shape.shape(), Some(Shape::Hexagon(_) | Shape::Grid(..))));
        // A piece in a camp has the camp's owner next to it, which is not a cell.
        let view = View { last: Vec::new(), chain: Vec::new(), ground: Vec::new(), ..view };
        let picture = terminal(&view, &Style { charset, colour, ..ASCII });
        let picture = without_escapes(&picture);
        let top = picture.lines().next().unwrap();
        // Red and black own the edges: their small letters are no cells on these boards.
        let cells = top.chars().filter(|&glyph| !" rb".contains(glyph) || view.edges.is_empty());
        prop_assert_eq!(cells.filter(|&glyph| glyph != ' ').count(), 1, "{}", picture);
    }

    #[test]
    fn a_board_turned_twice_is_the_board(view in views(), style in styles()) {
        // A mark beside a pad or a piece prefers the left whichever way the board lies.
        let mut view = view;
        view.ground.retain(|ground| ground.kind != GroundKind::Pad);
        let path = view.last.split_last().map_or(Vec::new(), |(_, before)| before.to_vec());
        view.pieces.retain(|piece| !path.contains(&piece.at));
        view.figures.clear();
        let style = Style { coordinates: false, legend: false, colour: false, ..style };
        let flipped = Style { flip: !style.flip, ..style };
        let width = size(&view, style).0;
        prop_assert_eq!(turned(&terminal(&view, &flipped), width), terminal(&view, &style));
    }

    #[test]
    fn the_outline_is_the_same_for_every_position(view in views(), style in styles()) {
        let style = Style { legend: false, ..style };
        let view = View { figures: Vec::new(), ..view };
        let bare = View { edges: view.edges.clone(), ..View::new(view.shape.clone(), view.labels) };
        prop_assert_eq!(size(&view, style), size(&bare, style));
    }
}

/// Pictures one below the other, each with its title.
fn album(pictures: &[(&str, &View, Style)]) -> String {
    let mut text = String::new();
    for (title, view, style) in pictures {
        writeln!(text, "--- {title}\n{}", terminal(view, style)).unwrap();
    }
    text
}

/// How many columns and lines the picture takes.
fn size(view: &View, style: Style) -> (usize, usize) {
    let Picture { board, width, captions, .. } = picture(view, &style, caption::WIDTH_MAX);
    let caption_width = captions.iter().map(Vec::len).max().unwrap_or(0);
    let gap = usize::from(!captions.is_empty());
    (width.max(caption_width), board.len() + gap + captions.len())
}

/// A diamond whose edges belong to two sides, with some stones.
fn connection(n: u8) -> View {
    let mut view = empty(Shape::Diamond(n), Labels::LetterNumber);
    view.edges = edges(n);
    for cell in view.shape.cells() {
        match (7 * i32::from(cell.0) + 4 * i32::from(cell.1)) % 9 {
            0 => view.pieces.push(Piece::new(cell, Colour::Black)),
            2 => view.pieces.push(Piece::new(cell, Colour::Red)),
            _ => {}
        }
    }
    view.last = view.pieces.last().map(|piece| piece.at).into_iter().collect();
    view
}

fn edges(n: u8) -> Vec<Edge> {
    let n = n.cast_signed();
    let edge = |colour, outward, cell: fn(i8, i8) -> Cell| Edge {
        colour,
        outward,
        cells: (0..n).map(|along| cell(along, n - 1)).collect(),
    };
    vec![
        edge(Colour::Black, (-1, -1), |along, _| Cell(along, 0)),
        edge(Colour::Black, (1, 1), Cell),
        edge(Colour::Red, (1, -1), |along, _| Cell(0, along)),
        edge(Colour::Red, (-1, 1), |along, end| Cell(end, along)),
    ]
}

/// The picture without its escape codes.
fn without_escapes(picture: &str) -> String {
    let mut parts = picture.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap().1)
}

/// The picture upside down.
fn turned(picture: &str, width: usize) -> String {
    let mut text = String::new();
    for line in picture.lines().rev() {
        let padded = format!("{line:<width$}");
        let mirrored: String = padded
            .chars()
            .rev()
            .map(|glyph| match glyph {
                '[' => ']',
                ']' => '[',
                other => other,
            })
            .collect();
        writeln!(text, "{}", mirrored.trim_end()).unwrap();
    }
    text
}

fn charsets() -> impl Strategy<Value = Charset> {
    prop_oneof![Just(Charset::Ascii), Just(Charset::Unicode)]
}

fn styles() -> impl Strategy<Value = Style> {
    (charsets(), any::<[bool; 4]>()).prop_map(|(charset, [colour, coordinates, flip, legend])| {
        Style { charset, colour, coordinates, flip, legend }
    })
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (2u8..=13).prop_map(Shape::Diamond),
        (1u8..=12).prop_map(Shape::Triangle),
        (1u8..=5).prop_map(Shape::Hexagon),
        (1u8..=5).prop_map(Shape::Star),
        (1u8..=12, 1u8..=12).prop_map(|(rows, columns)| Shape::Grid(rows, columns)),
    ]
}

/// Any picture of a board: pieces, marks, a path and a chain wherever they fall.
fn views() -> impl Strategy<Value = View> {
    let palettes: [&'static [Colour]; 3] = [
        &[Colour::Peg],
        &[Colour::Red, Colour::Black],
        &[Colour::Red, Colour::Green, Colour::Blue, Colour::Yellow, Colour::Purple, Colour::Orange],
    ];
    let palette = proptest::sample::select(palettes.to_vec());
    let labels = proptest::sample::select(vec![Labels::Pair, Labels::Number]);
    let dice = proptest::collection::vec((0usize..12, any::<prop::sample::Index>()), 0..40);
    let path = proptest::collection::vec(any::<prop::sample::Index>(), 0..13);
    (shapes(), palette, labels, dice, path.clone(), path).prop_map(
        |(shape, palette, labels, dice, last, chain)| {
            let cells = shape.cells();
            let mut view = empty(shape, labels);
            for (die, index) in dice {
                let at = *index.get(&cells);
                let colour = palette[die % palette.len()];
                if die < 8 && view.pieces.iter().all(|piece| piece.at != at) {
                    view.pieces.push(Piece::new(at, colour));
                } else if view.ground.iter().all(|ground| ground.at != at) {
                    let pad = matches!(shape, Shape::Grid(..));
                    let kind = if pad { GroundKind::Pad } else { GroundKind::Target(colour) };
                    view.ground.push(Ground { at, kind });
                }
            }
            if let (Shape::Diamond(n), 2) = (shape, palette.len()) {
                view.labels = Labels::LetterNumber;
                view.edges = edges(n);
                view.ground.clear();
            }
            view.last = last.iter().map(|index| *index.get(&cells)).collect();
            view.chain = chain.iter().map(|index| *index.get(&cells)).collect();
            let figure = |&colour: &Colour| Figure {
                name: "figure".into(),
                colour: Some(colour),
                value: "3 of 10".to_owned(),
            };
            view.figures = palette.iter().map(figure).collect();
            view
        },
    )
}
