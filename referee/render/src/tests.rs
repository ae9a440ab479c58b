//! Pictures of boards: what is on them, and what must be true of every picture.

use super::geometry::{Geometry, Point};
use super::raster::pixels;
use super::svg::{CaptionLine, PictureStyle, Room, strip, svg};
use super::symbols::{Token, Units};
use super::{Theme, board, palette_css};
use proptest::prelude::*;
use referee_games::board::{Cell, Shape};
use referee_games::view::{Change, Colour, Edge, Figure, Ground, GroundKind, Labels, Piece, View};
use referee_games::{AnyGame, GAMES, Turn};
use resvg::usvg::roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn empty(shape: Shape, labels: Labels) -> View {
    View::new(shape, labels)
}

/// A small board with everything that a picture can show.
fn crowded() -> View {
    let piece = |at, colour| Piece::new(at, colour);
    let edge = |colour, outward, cells| Edge { colour, outward, cells };
    View {
        pieces: vec![piece(Cell(0, 0), Colour::Red), piece(Cell(1, 1), Colour::Black)],
        ground: vec![Ground { at: Cell(0, 1), kind: GroundKind::Target(Colour::Black) }],
        edges: vec![
            edge(Colour::Black, (-1, -1), vec![Cell(0, 0), Cell(1, 0)]),
            edge(Colour::Red, (1, -1), vec![Cell(0, 0), Cell(0, 1)]),
        ],
        last: vec![Cell(1, 0), Cell(0, 0), Cell(1, 1)],
        chain: vec![Cell(1, 1)],
        figures: vec![Figure {
            name: "left".into(),
            colour: Some(Colour::Red),
            value: "3".to_owned(),
        }],
        ..empty(Shape::Diamond(2), Labels::LetterNumber)
    }
}

/// The document with a line for each element, so that a change of it can be read.
fn in_lines(document: &str) -> String {
    document.replace("><", ">\n<")
}

#[test]
fn a_crowded_board() {
    let note = CaptionLine {
        piece: Some(Token { colour: Colour::Red, text: None }),
        text: "a <b> & \"c\"\u{1b}[0m".to_owned(),
    };
    let look = PictureStyle {
        coordinates: true,
        figures: true,
        caption: vec![note],
        changes: vec![
            (Cell(0, 1), Change::Taken(Colour::Red)),
            (Cell(1, 1), Change::Recoloured(Colour::Red)),
            (Cell(1, 0), Change::Exited(Colour::Black)),
            (Cell(0, 0), Change::Grown),
        ],
        ..PictureStyle::default()
    };
    insta::assert_snapshot!(in_lines(&svg("a title", &crowded(), &look)));
}

#[test]
fn a_square_in_the_dark() {
    let mut view = empty(Shape::Grid(2, 2), Labels::Pair);
    view.ground = vec![Ground { at: Cell(0, 0), kind: GroundKind::Pad }];
    view.pieces = vec![Piece::new(Cell(1, 0), Colour::Peg)];
    let look = PictureStyle { theme: Theme::Dark, ..PictureStyle::default() };
    insta::assert_snapshot!(in_lines(&svg("a title", &view, &look)));
}

#[test]
fn the_board_of_the_page_has_every_symbol_layer_and_colour() {
    let board = board(&crowded(), []);
    let document = Document::parse(&board.svg).unwrap();
    let ids: BTreeSet<&str> =
        document.descendants().filter_map(|node| node.attribute("id")).collect();
    let marks =
        ["last", "from", "chain", "legal", "selected", "note"].map(|name| format!("mark-{name}"));
    let own = ["piece-red", "piece-peg", "ground-pad", "ground-target-black", "path-end"];
    for id in own.into_iter().chain(marks.iter().map(String::as_str)) {
        assert!(ids.contains(id), "{id}");
    }
    let layers: Vec<&str> = document
        .descendants()
        .filter_map(|node| node.attribute("class").filter(|class| class.starts_with("layer-")))
        .collect();
    assert_eq!(
        layers,
        [
            "layer-cells",
            "layer-edges",
            "layer-ground",
            "layer-last",
            "layer-pieces",
            "layer-chain",
            "layer-marks",
            "layer-coordinates"
        ]
    );
    let cells: Vec<&str> =
        document.descendants().filter_map(|node| node.attribute("data-cell")).collect();
    assert_eq!(cells, ["0", "1", "2", "3"]);
    let names: Vec<&str> = board.cells.iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(names, ["a1", "b1", "a2", "b2"]);
    assert_eq!(board.cells[0].near, [1, 2]);
    let rows: Vec<usize> = board.cells.iter().map(|cell| cell.row).collect();
    assert_eq!(rows, [0, 1, 1, 2]);
    let css = palette_css();
    for class in document.descendants().filter_map(|node| node.attribute("class")) {
        for class in
            class.split(' ').filter(|class| class.contains("fill-") || class.contains("stroke-"))
        {
            assert!(css.contains(&format!(".{class} {{")), "{class}");
        }
    }
    for property in css.split("var(").skip(1).filter_map(|rest| rest.split([')', ',']).next()) {
        assert!(css.contains(&format!("{property}:")), "{property}");
    }
}

#[test]
fn a_strip_has_its_pictures_in_rows() {
    let (view, look) = (crowded(), PictureStyle::default());
    let one = svg("a title", &view, &look);
    let three = strip("a title", &[(&view, &look); 3], 2);
    let size = |document: &str| {
        let document = Document::parse(document)
            .unwrap()
            .root_element()
            .attribute("viewBox")
            .unwrap()
            .to_owned();
        let sides: Vec<f64> =
            document.split(' ').skip(2).map(|side| side.parse().unwrap()).collect();
        (sides[0], sides[1])
    };
    let (width, height) = size(&one);
    assert_eq!(size(&three), (2.0 * width, 2.0 * height));
    assert_eq!(three.matches("data-cell=\"3\"").count(), 3);
}

#[test]
fn numbers_are_short() {
    for (hundredths, shown) in
        [(0, "0"), (-5, "-0.05"), (150, "1.5"), (-1732, "-17.32"), (3000, "30")]
    {
        assert_eq!(Units(hundredths).to_string(), shown);
    }
}

/// Positions of every game, some turns into a match in which the dice play.
fn positions() -> impl Strategy<Value = View> {
    let game = proptest::sample::select(GAMES.to_vec());
    (game, proptest::collection::vec(any::<prop::sample::Index>(), 0..60)).prop_map(
        |(kind, dice)| {
            let mut game: Box<dyn AnyGame> = kind.start(&serde_json::json!({})).unwrap();
            for die in dice {
                let Turn::Of(_) = game.turn() else { break };
                let actions = game.actions();
                game.play(die.get(&actions)).unwrap();
            }
            game.view()
        },
    )
}

fn looks() -> impl Strategy<Value = PictureStyle> {
    (any::<[bool; 5]>(), ".*").prop_map(|([dark, coordinates, flip, square, figures], text)| {
        PictureStyle {
            theme: if dark { Theme::Dark } else { Theme::Light },
            coordinates,
            flip,
            square,
            figures,
            caption: vec![CaptionLine { piece: None, text }],
            room: Room::default(),
            changes: Vec::new(),
        }
    })
}

/// The places of the symbols of this kind.
fn places(document: &Document<'_>, kind: &str) -> BTreeMap<String, usize> {
    let is_kind = |node: &Node<'_, '_>| {
        let to = node.attribute("href").unwrap_or_default();
        to.starts_with(kind) && node.attribute("x").is_some()
    };
    let mut places = BTreeMap::new();
    for node in document.descendants().filter(is_kind) {
        let place =
            format!("{:?}", (node.attribute("href"), node.attribute("x"), node.attribute("y")));
        *places.entry(place).or_insert(0) += 1;
    }
    places
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_picture_is_whole_and_has_every_piece_once(view in positions(), look in looks()) {
        let text = svg("a title", &view, &look);
        prop_assert_eq!(&text, &svg("a title", &view, &look));
        let document = Document::parse(&text).unwrap();
        let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
        prop_assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len());
        for node in document.descendants() {
            prop_assert!(!["script", "style"].contains(&node.tag_name().name()));
            let known = |to: &str| ids.contains(&to.trim_start_matches('#'));
            prop_assert!(node.attribute("href").is_none_or(known), "{:?}", node);
        }
        let pieces = places(&document, "#piece-");
        prop_assert_eq!(pieces.len(), view.pieces.len());
        prop_assert!(pieces.values().all(|&count| count == 1));
        prop_assert_eq!(places(&document, "#mark-last").len(), usize::from(!view.last.is_empty()));
    }

    #[test]
    fn outlines_are_closed_and_neighbours_share_a_side(view in positions(), flip: bool) {
        let geometry = Geometry::of(&view, flip, true);
        let corners = |index: usize| -> BTreeSet<Point> {
            let at = geometry.cells[index].at;
            geometry.outline.iter().map(|corner| at.plus(*corner)).collect()
        };
        let turned: BTreeSet<Point> =
            geometry.outline.iter().map(|corner| Point::default().less(*corner)).collect();
        prop_assert_eq!(turned, geometry.outline.iter().copied().collect::<BTreeSet<_>>());
        for (index, spot) in geometry.cells.iter().enumerate() {
            for &near in &spot.near {
                prop_assert!(geometry.cells[near].near.contains(&index));
                let shared = corners(index).intersection(&corners(near)).count();
                let least = if view.shape.is_grid() { 1 } else { 2 };
                prop_assert!(shared >= least, "{:?} {:?}", spot, near);
            }
            for corner in corners(index) {
                prop_assert!((0..=geometry.width).contains(&corner.x));
                prop_assert!((0..=geometry.height).contains(&corner.y));
            }
        }
        let rest = geometry.bands.iter().flat_map(|band| band.outlines.iter().flatten());
        for place in rest.chain(geometry.names.iter().map(|name| &name.at)) {
            prop_assert!((0..=geometry.width).contains(&place.x), "{:?}", place);
            prop_assert!((0..=geometry.height).contains(&place.y), "{:?}", place);
        }
    }

    #[test]
    fn a_flipped_board_is_the_board_turned(view in positions(), coordinates: bool) {
        let (upright, turned) =
            (Geometry::of(&view, false, coordinates), Geometry::of(&view, true, coordinates));
        prop_assert_eq!((upright.width, upright.height), (turned.width, turned.height));
        let corner = Point { x: upright.width, y: upright.height };
        for (one, other) in upright.cells.iter().zip(&turned.cells) {
            prop_assert_eq!(corner.less(one.at), other.at);
        }
        let bands = |geometry: &Geometry, turn: bool| -> Vec<BTreeSet<Point>> {
            let place = |at: &Point| if turn { corner.less(*at) } else { *at };
            geometry.bands.iter().map(|band| band.outlines.iter().flatten().map(place).collect()).collect()
        };
        prop_assert_eq!(bands(&upright, true), bands(&turned, false));
    }
}

#[test]
fn the_corners_of_a_band_follow_its_edge() {
    let geometry = Geometry::of(&crowded(), false, false);
    for band in &geometry.bands {
        // Two cells have four outer sides, of which the last is not shared here.
        assert_eq!(band.outlines[0].len(), 10, "{band:?}");
    }
}

#[test]
fn a_picture_in_pixels_is_the_same_twice() {
    let text =
        svg("a title", &crowded(), &PictureStyle { coordinates: true, ..PictureStyle::default() });
    let (one, other) = (pixels(&text, 200).unwrap(), pixels(&text, 200).unwrap());
    assert!(one == other);
    assert_eq!(one.rgb.len(), (one.width * one.height) as usize);
    let colours: BTreeSet<[u8; 3]> = one.rgb.iter().copied().collect();
    for role in [super::palette::Role::Piece(Colour::Red), super::palette::Role::Mark] {
        assert!(colours.contains(&Theme::Light.rgb(role)), "{role:?}");
    }
}
