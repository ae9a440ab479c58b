//! Boards of every shape with everything that a view can have: nothing is lost, nothing is outside.

use super::raster::tree;
use super::svg::{PictureStyle, svg};
use super::symbols::Token;
use super::terminal::{Charset, Style, terminal};
use super::{Theme, board, thumbnail};
use referee_games::board::{Cell, Layout, Points, Shape};
use referee_games::view::{
    Change, Colour, Edge, Figure, Ground, GroundKind, Item, Kind, Labels, Piece, PieceText, Row,
    View,
};
use resvg::usvg::roxmltree::Document;
use std::collections::BTreeSet;

/// The morris board: three squares and the lines between them.
pub(crate) fn morris() -> Points {
    let square = |inset: u8| {
        let (near, middle, far) = (2 * inset, 6, 12 - 2 * inset);
        [
            (near, near),
            (middle, near),
            (far, near),
            (far, middle),
            (far, far),
            (middle, far),
            (near, far),
            (near, middle),
        ]
    };
    let places: Vec<(u8, u8)> = (0..3).flat_map(square).collect();
    let around =
        (0..3u8).flat_map(|ring| (0..8).map(move |at| (8 * ring + at, 8 * ring + (at + 1) % 8)));
    let across =
        (0..2u8).flat_map(|ring| [1, 3, 5, 7].map(|at| (8 * ring + at, 8 * ring + 8 + at)));
    let name = |&(x, y): &(u8, u8)| format!("{}{}", char::from(b'a' + x / 2), 7 - y / 2);
    let names = places.iter().map(name).collect();
    Points::new(places, around.chain(across).collect(), names).unwrap()
}

fn layouts() -> Vec<Layout> {
    let grids = [(1, 1), (1, 26), (26, 1), (3, 3), (6, 7), (8, 8), (26, 26)];
    let grids = grids.map(|(rows, columns)| Shape::Grid(rows, columns));
    let others = [
        Shape::Diamond(11),
        Shape::Triangle(5),
        Shape::Hexagon(3),
        Shape::Star(4),
        Shape::Diamond(1),
    ];
    let shapes = grids.into_iter().chain(others).map(Layout::from);
    let slanted = Points::new(vec![(50, 0), (0, 50), (3, 1)], vec![(0, 1), (2, 1)], vec![]);
    let points = [morris(), slanted.unwrap()].map(Layout::from);
    shapes.chain(points).chain([Layout::Nothing]).collect()
}

fn text(text: &str) -> PieceText {
    PieceText::new(text).unwrap()
}

/// A view with everything on as many cells as there are.
fn full(shape: &Layout) -> View {
    const COLOURS: [Colour; 6] = [
        Colour::White,
        Colour::Black,
        Colour::Rgb(0xfb, 0xf8, 0xf0),
        Colour::Rgb(0x32, 0x37, 0x3e),
        Colour::Rgb(0x80, 0x40, 0x00),
        Colour::Blue,
    ];
    const TEXTS: [Option<&str>; 6] =
        [None, Some("K"), Some("12"), Some("<&>"), Some("WWW"), Some("7")];
    let kind = |name: &str, colour, text| Kind { name: name.to_owned(), colour, text };
    let cells = shape.cells();
    let mut view = View::new(shape.clone(), Labels::Pair);
    view.kinds = [
        kind("white-king", Colour::White, Some(text("K"))),
        kind("black-king", Colour::Black, Some(text("K"))),
        kind("brown <b>", Colour::Rgb(0x80, 0x40, 0x00), None),
    ]
    .into();
    for (index, &at) in cells.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        if index % 3 != 1 {
            let its = TEXTS[index / COLOURS.len() % TEXTS.len()];
            let its = its.map(|its| PieceText::new(its).unwrap());
            view.pieces.push(Piece { at, colour, text: its });
        }
        match index % 5 {
            0 => view.ground.push(Ground { at, kind: GroundKind::Tint(colour) }),
            1 => view.ground.push(Ground { at, kind: GroundKind::Target(colour) }),
            2 => view.ground.push(Ground { at, kind: GroundKind::Pad }),
            _ => {}
        }
    }
    let outward = [(-2, 0), (2, 0), (0, -1), (0, 1), (-1, -1), (1, 1)];
    for (colour, outward) in COLOURS.into_iter().zip(outward) {
        view.edges.push(Edge {
            colour,
            outward,
            cells: cells.iter().copied().step_by(2).collect(),
        });
    }
    // Cells that don't exist change nothing.
    view.edges.push(Edge { colour: Colour::Red, outward: (1, 0), cells: vec![Cell(60, 60)] });
    view.pieces.push(Piece::new(Cell(60, 60), Colour::Red));
    view.last = cells.iter().copied().take(3).collect();
    view.chain = cells.iter().copied().skip(1).take(2).collect();
    let figure = |name: &'static str, colour, value: &str| Figure {
        name: name.into(),
        colour,
        value: value.to_owned(),
    };
    view.figures = vec![
        figure("left", Some(Colour::Rgb(0x80, 0x40, 0x00)), "17/20"),
        figure("pot", None, "<3>"),
    ];
    let item = |colour, its: Option<&str>| Item {
        colour,
        text: its.map(|its| PieceText::new(its).unwrap()),
    };
    let many = (0..40).map(|index| item(None, TEXTS[index % 6]));
    view.rows = vec![
        Row { name: "hand".into(), colour: Some(Colour::Black), items: many.collect() },
        Row {
            name: "a row with a name that is longer".into(),
            colour: None,
            items: vec![
                item(None, Some("10H")),
                item(Some(Colour::Red), Some("Q")),
                item(None, None),
            ],
        },
        Row { name: "empty".into(), colour: Some(Colour::White), items: Vec::new() },
    ];
    view.text = format!("X.O  <one>\n\n  {}\u{1b}[2J", "0123456789 ".repeat(7));
    view
}

fn styles() -> impl Iterator<Item = PictureStyle> {
    [(Theme::Light, false), (Theme::Dark, true)].into_iter().map(|(theme, flip)| PictureStyle {
        theme,
        flip,
        coordinates: flip,
        figures: true,
        ..PictureStyle::default()
    })
}

/// Every text that a view has, in words.
fn words(view: &View) -> BTreeSet<String> {
    let on_board = view.pieces.iter().filter(|piece| view.shape.contains(piece.at));
    let pieces = on_board.filter_map(|piece| piece.text);
    let items = view.rows.iter().flat_map(|row| &row.items).filter_map(|item| item.text);
    let texts = pieces.chain(items).map(|text| text.as_str().to_owned());
    // Where the board is drawn, its text is not.
    let rest = if view.shape == Layout::Nothing {
        view.text.replace('\u{1b}', " ")
    } else {
        String::new()
    };
    let rest = rest.split_whitespace().filter(|word| !word.contains("[2J")).map(str::to_owned);
    let figures = view.figures.iter().map(|figure| figure.value.clone());
    texts.chain(rest).chain(figures).collect()
}

#[test]
fn everything_is_in_the_picture_and_no_text_is_lost() {
    for shape in layouts() {
        let view = full(&shape);
        for look in styles() {
            let change = |cell: &Cell| (*cell, Change::Taken(Colour::Rgb(1, 2, 3)));
            let changes = shape.cells().iter().take(1).map(change).collect();
            let document = svg("a title", &view, &PictureStyle { changes, ..look });
            let read = Document::parse(&document).unwrap();
            let ids: BTreeSet<&str> =
                read.descendants().filter_map(|node| node.attribute("id")).collect();
            for to in read.descendants().filter_map(|node| node.attribute("href")) {
                assert!(ids.contains(&to[1..]), "{shape:?}: {to}");
            }
            let shown: Vec<&str> = read.descendants().filter_map(|node| node.text()).collect();
            for word in words(&view) {
                assert!(shown.iter().any(|it| it.contains(&word)), "{shape:?}: {word}");
            }
            for row in &view.rows {
                let name: String = row.name.chars().take(30).collect();
                assert!(shown.contains(&name.as_str()), "{shape:?}: {name}");
            }
            let tree = tree(&document).unwrap();
            let size = tree.size();
            let all = tree.root().abs_stroke_bounding_box();
            assert!(all.left() > -0.1 && all.top() > -0.1, "{shape:?}: {all:?}");
            assert!(all.right() < size.width() + 0.1, "{shape:?}: {all:?} {size:?}");
            assert!(all.bottom() < size.height() + 0.1, "{shape:?}: {all:?} {size:?}");
        }
        Document::parse(&board(&view, []).svg).unwrap();
        Document::parse(&thumbnail(&view, Theme::Dark)).unwrap();
    }
}

#[test]
fn a_terminal_shows_every_piece_and_text() {
    let style = Style { coordinates: true, legend: true, ..Style::default() };
    for shape in layouts() {
        let mut view = full(&shape);
        let picture = terminal(&view, &style);
        assert!(picture.bytes().all(|byte| byte.is_ascii_graphic() || b" \n".contains(&byte)));
        for word in words(&view) {
            assert!(picture.contains(&word), "{shape:?}: {word}\n{picture}");
        }
        for name in ["hand B", "empty W", "a row with a name that is longer", "left  R 17/20"] {
            assert!(picture.contains(name), "{shape:?}: {name}\n{picture}");
        }
        let unicode = Style { charset: Charset::Unicode, colour: true, flip: true, ..style };
        assert!(!terminal(&view, &unicode).contains("\u{1b}[2J"));
        // Each piece is its letter, its text or both, apart from its neighbours.
        view.rows.clear();
        view.text.clear();
        view.figures.clear();
        view.ground.clear();
        view.edges.clear();
        view.last.clear();
        view.chain.clear();
        let picture = terminal(&view, &Style::default());
        let shown = picture
            .lines()
            .filter(|line| !line.contains("the board takes"))
            .flat_map(str::split_whitespace)
            .filter(|word| !word.trim_matches(['.', '-', '|', '/', '\\']).is_empty());
        let wanted = view.pieces.iter().filter(|piece| shape.contains(piece.at)).count();
        if !matches!(shape, Layout::Points(_)) {
            assert_eq!(shown.count(), wanted, "{shape:?}\n{picture}");
        }
    }
}

/// The text of a board is for where the board can't be drawn.
#[test]
fn a_board_is_not_drawn_and_written() {
    let mut view = View::new(Shape::Grid(1, 2), Labels::Pair);
    view.text = "once".to_owned();
    let document = svg("", &view, &PictureStyle::default());
    assert!(!document.contains("once"), "{document}");
    assert_eq!(terminal(&view, &Style::default()), " . .\n");
}

#[test]
fn a_board_that_is_wider_than_usual_terminals_says_so() {
    let mut view = View::new(Shape::Grid(1, 26), Labels::Pair);
    assert!(!terminal(&view, &Style::default()).contains("columns"));
    view.pieces = vec![Piece { at: Cell(0, 0), colour: Colour::Red, text: Some(text("WWW")) }];
    let picture = terminal(&view, &Style::default());
    let widest = picture.lines().map(str::len).max().unwrap();
    assert!(widest > 80 && picture.contains("the board takes 105 columns"), "{picture}");
}

#[test]
fn a_text_stands_alone_where_it_says_whose_piece_it_is() {
    let mut view = View::new(Shape::Grid(1, 5), Labels::Pair);
    let piece =
        |column, colour, its: &str| Piece { at: Cell(0, column), colour, text: Some(text(its)) };
    view.pieces = vec![piece(0, Colour::Red, "X"), piece(2, Colour::Blue, "O")];
    assert_eq!(terminal(&view, &Style::default()), " X . O . .\n");
    view.pieces = vec![piece(0, Colour::Red, "X"), piece(2, Colour::Blue, "X")];
    assert_eq!(terminal(&view, &Style::default()), " RX  .   BX  .   .\n");
    view.pieces = vec![piece(0, Colour::Red, "3"), piece(2, Colour::Blue, "10")];
    view.last = vec![Cell(0, 2)];
    assert_eq!(terminal(&view, &Style::default()), "  R3  . [B10] .   .\n");
}

#[test]
fn points_are_joined_by_lines() {
    let mut view = View::new(morris(), Labels::Pair);
    view.pieces = vec![Piece::new(Cell(0, 0), Colour::Red), Piece::new(Cell(9, 0), Colour::Blue)];
    view.last = vec![Cell(9, 0)];
    let style = Style { coordinates: true, ..Style::default() };
    insta::assert_snapshot!(terminal(&view, &style));
}

#[test]
fn a_view_without_shape_is_its_text() {
    let mut view = View::new(Layout::Nothing, Labels::Pair);
    view.text = "X.O\n.X.\n".to_owned();
    assert_eq!(terminal(&view, &Style::default()), "X.O\n.X.\n");
}

#[test]
fn a_seat_is_shown_as_what_it_plays() {
    let view = full(&Layout::Nothing);
    for (name, colour, its) in [
        ("white-king", Colour::White, Some("K")),
        ("brown <b>", Colour::Rgb(0x80, 0x40, 0x00), None),
        ("red", Colour::Red, None),
    ] {
        let its = its.and_then(PieceText::new);
        assert_eq!(Token::named(&view, name), Some(Token { colour, text: its }));
    }
    assert_eq!(Token::named(&view, "nobody"), None);
}

#[test]
fn an_item_of_a_row_is_named_as_a_piece_is() {
    let kind = |name: &str, colour, its| Kind { name: name.to_owned(), colour, text: its };
    let item = |colour, its| Item { colour: Some(colour), text: its };
    let (fish, grain) = (Colour::Rgb(1, 2, 3), Colour::Rgb(3, 2, 1));
    let mut view = View::new(Shape::Grid(1, 1), Labels::Pair);
    view.kinds = [
        kind("red", Colour::Red, None),
        kind("fish", fish, Some(text("F"))),
        kind("grain", grain, Some(text("2"))),
    ]
    .into();
    view.rows = vec![Row {
        name: "hand".into(),
        colour: Some(Colour::Red),
        items: vec![item(fish, Some(text("F"))), item(grain, Some(text("2"))), item(grain, None)],
    }];
    let picture = terminal(&view, &Style::default());
    assert!(picture.contains("hand R  F  G2  G"), "{picture}");
}
