//! The picture of a board that a game program returns, as a [`View`].

use crate::board::{Cell, Layout, Points, Shape};
use crate::forms::{Forms, not_described};
use crate::view::{
    Colour, Edge, Figure, Ground, GroundKind, Item, Kind, Labels, Piece, PieceText, Row, View,
};
use crate::wire::{
    BESIDE_MAX, CellNames, Coordinates, NAME_MAX, Picture, PictureItem, PictureShape, PieceKind,
    SIZE_MAX, STAR_MAX, TEXT_MAX,
};
use std::sync::Arc;

/// Returns the kinds of pieces as views have them.
pub(crate) fn kinds(pieces: &[PieceKind]) -> Result<Arc<[Kind]>, String> {
    let kind = |piece: &PieceKind| {
        let what = format!("the piece `{}`", piece.name);
        let colour = colour(&what, &piece.colour)?;
        let text = piece.text.as_deref().map(|text| piece_text(&what, text)).transpose()?;
        Ok(Kind { name: piece.name.clone(), colour, text })
    };
    pieces.iter().map(kind).collect()
}

/// Returns the colour with this name: any but that of the built-in puzzles' pegs.
fn colour(what: &str, name: &str) -> Result<Colour, String> {
    Colour::named(name).filter(|&colour| colour != Colour::Peg).ok_or_else(|| {
        let known = Colour::NAMED.iter().filter(|&&colour| colour != Colour::Peg);
        let known: Vec<_> = known.map(|colour| colour.name()).collect();
        format!("{what} has the colour `{name}`; colours are {} and #rrggbb", known.join(", "))
    })
}

fn piece_text(what: &str, text: &str) -> Result<PieceText, String> {
    PieceText::new(text).ok_or_else(|| {
        format!("{what}: the text {text:?} is not 1 to 3 printable ASCII characters")
    })
}

fn bounded<T>(what: &str, items: &[T], most: usize) -> Result<(), String> {
    if items.len() <= most { Ok(()) } else { Err(format!("{what}: more than {most}")) }
}

/// Checks a name or a value, which are one line, or the text of a board.
fn text_bounded(what: &str, text: &str, most: usize) -> Result<String, String> {
    let is_odd = |c: char| c.is_control() && (c != '\n' || what != "text");
    if text.chars().count() > most || text.chars().any(is_odd) {
        return Err(format!(
            "{what}: {text:?} is longer than {most} characters, or has control characters"
        ));
    }
    Ok(text.to_owned())
}

impl Forms {
    /// Converts a picture. Fails if it shows a cell or a piece that doesn't exist.
    pub(crate) fn view(&self, picture: &Picture) -> Result<View, String> {
        let layout = picture.shape.as_ref().map(layout).transpose()?.unwrap_or_default();
        if layout == Layout::Nothing && picture.text.is_none() {
            return Err("a view needs a `shape` or a `text`".to_owned());
        }
        let on_board = |what: &str, cell: Cell| {
            let place = || format!("{what}: [{},{}] is not on the board", cell.0, cell.1);
            if layout.contains(cell) { Ok(cell) } else { Err(place()) }
        };
        let all_on_board = |what: &str, cells: &[Cell]| {
            cells.iter().map(|&cell| on_board(what, cell)).collect::<Result<Vec<Cell>, _>>()
        };
        let owner = |piece: &Option<String>| {
            piece.as_ref().map(|piece| self.kind(piece).map(|it| it.colour)).transpose()
        };
        let pieces = picture.pieces.iter().map(|piece| {
            let kind = self.kind(&piece.piece)?;
            let text = piece.text.as_deref().map(|text| piece_text("pieces", text)).transpose()?;
            Ok(Piece {
                at: on_board("pieces", piece.at)?,
                colour: kind.colour,
                text: text.or(kind.text),
            })
        });
        let ground = picture.ground.iter().map(|mark| {
            let kind = GroundKind::Tint(colour("ground", &mark.colour)?);
            Ok(Ground { at: on_board("ground", mark.at)?, kind })
        });
        let edges = picture.edges.iter().map(|edge| {
            let cells = all_on_board("edges", &edge.cells)?;
            Ok(Edge { colour: colour("edges", &edge.colour)?, cells, outward: edge.outward })
        });
        bounded("figures", &picture.figures, BESIDE_MAX)?;
        let figures = picture.figures.iter().map(|figure| {
            let name = text_bounded("figures", &figure.name, NAME_MAX)?.into();
            let value = text_bounded("figures", &figure.value, NAME_MAX)?;
            Ok(Figure { name, colour: owner(&figure.piece)?, value })
        });
        bounded("rows", &picture.rows, BESIDE_MAX)?;
        let rows = picture.rows.iter().map(|row| {
            bounded("rows", &row.items, BESIDE_MAX)?;
            let items = row.items.iter().map(|item| self.item(item));
            let name = text_bounded("rows", &row.name, NAME_MAX)?.into();
            Ok(Row { name, colour: owner(&row.piece)?, items: items.collect::<Result<_, _>>()? })
        });
        let labels = match &self.names {
            CellNames::Coordinates(Coordinates::LetterNumber) => Labels::LetterNumber,
            CellNames::Coordinates(Coordinates::Pair) | CellNames::Points(_) => Labels::Pair,
        };
        let view = View {
            kinds: self.kinds.clone(),
            pieces: pieces.collect::<Result<_, String>>()?,
            ground: ground.collect::<Result<_, String>>()?,
            edges: edges.collect::<Result<_, String>>()?,
            last: all_on_board("last", &picture.last)?,
            chain: all_on_board("chain", &picture.chain)?,
            figures: figures.collect::<Result<_, String>>()?,
            rows: rows.collect::<Result<_, String>>()?,
            text: text_bounded("text", picture.text.as_deref().unwrap_or_default(), TEXT_MAX)?,
            ..View::new(layout.clone(), labels)
        };
        let mut cells: Vec<Cell> = view.pieces.iter().map(|piece| piece.at).collect();
        cells.sort_unstable();
        match cells.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("two pieces are on [{},{}]", pair[0].0, pair[0].1)),
            None => Ok(view),
        }
    }

    /// Returns an item of a row: a kind of piece, or a text.
    fn item(&self, item: &PictureItem) -> Result<Item, String> {
        match self.kinds.iter().find(|kind| kind.name == item.0) {
            Some(kind) => Ok(Item { colour: Some(kind.colour), text: kind.text }),
            None => Ok(Item { colour: None, text: Some(piece_text("rows", &item.0)?) }),
        }
    }

    fn kind(&self, piece: &str) -> Result<&Kind, String> {
        self.kinds.iter().find(|kind| kind.name == piece).ok_or_else(|| not_described(piece))
    }
}

/// Returns the layout on which a picture is drawn.
fn layout(shape: &PictureShape) -> Result<Layout, String> {
    let (size, most) = match *shape {
        PictureShape::Grid(rows, columns) => {
            (rows.min(columns), if rows.max(columns) > SIZE_MAX { 0 } else { SIZE_MAX })
        }
        PictureShape::Square(size) | PictureShape::Diamond(size) | PictureShape::Triangle(size) => {
            (size, SIZE_MAX)
        }
        PictureShape::Hexagon(radius) => (radius, SIZE_MAX / 2),
        PictureShape::Star(size) => (size, STAR_MAX),
        PictureShape::Points { .. } => (1, 1),
    };
    if !(1..=most).contains(&size) {
        return Err(format!("the shape {shape:?} is too large or has no cells"));
    }
    Ok(match shape {
        &PictureShape::Grid(rows, columns) => Shape::Grid(rows, columns).into(),
        &PictureShape::Square(size) => Shape::Grid(size, size).into(),
        &PictureShape::Diamond(size) => Shape::Diamond(size).into(),
        &PictureShape::Triangle(size) => Shape::Triangle(size).into(),
        &PictureShape::Hexagon(radius) => Shape::Hexagon(radius).into(),
        &PictureShape::Star(size) => Shape::Star(size).into(),
        PictureShape::Points { places, lines, names } => {
            Points::new(places.clone(), lines.clone(), names.clone())?.into()
        }
    })
}
