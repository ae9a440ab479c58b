//! The view of the board.

use super::{COLOURS, ChineseCheckers};
use crate::view::{Figure, Ground, GroundKind, Labels, Piece, View};

impl ChineseCheckers {
    /// Returns the view: marbles, target camps, the last path, and each seat's marbles at home.
    pub(super) fn picture(&self) -> View {
        let rules = &*self.rules;
        let (mut pieces, mut ground, mut figures) = (Vec::new(), Vec::new(), Vec::new());
        for (seat, &colour) in COLOURS.iter().enumerate().take(rules.seats) {
            let (marbles, target) = (self.marbles[seat], rules.targets[seat]);
            let piece = |cell| Piece::new(rules.star.cell(cell), colour);
            pieces.extend(marbles.iter().map(piece));
            let mark =
                |cell| Ground { at: rules.star.cell(cell), kind: GroundKind::Target(colour) };
            ground.extend(target.iter().map(mark));
            let home = marbles.and(target).len();
            let value = format!("{home} of {}", marbles.len());
            figures.push(Figure { name: "marbles home".into(), colour: Some(colour), value });
        }
        View {
            pieces,
            ground,
            last: self.last.iter().map(|&cell| rules.star.cell(cell)).collect(),
            figures,
            ..View::new(rules.star.shape, Labels::Number)
        }
    }
}
