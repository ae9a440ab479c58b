//! A choice of several seats at once, in a game whose rules are a program.

use crate::rules::RulesFailure;
use crate::wire::{Move, Ply, PlyTurn};
use referee_protocol::Seat;
use std::sync::Arc;

/// A choice of several seats at once that isn't over.
#[derive(Clone)]
pub(crate) struct Choice {
    ply: Arc<Ply>,
    seats: Arc<[Seat]>,
    passed_over: Vec<Seat>,
}

impl Choice {
    /// Returns the choice that begins at a ply, if one does.
    pub(crate) fn at(ply: &Arc<Ply>) -> Option<Self> {
        let PlyTurn::Of(seats) = &ply.turn else { return None };
        let (ply, passed_over) = (ply.clone(), Vec::new());
        (seats.len() > 1).then(|| Self { ply, seats: seats.as_slice().into(), passed_over })
    }

    /// Returns the ply at which all of them had still to choose. It is all that is shown until the last one has.
    pub(crate) fn ply(&self) -> &Arc<Ply> {
        &self.ply
    }

    /// Returns the seats.
    pub(crate) fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// Passes over a seat that is out, although the rules let it choose.
    pub(crate) fn pass_over(&mut self, seat: Seat) {
        self.passed_over.push(seat);
    }

    /// Whether a seat has been passed over.
    pub(crate) fn passes_over(&self, seat: Seat) -> bool {
        self.passed_over.contains(&seat)
    }

    /// Returns whether others have still to choose after a move in a choice: such a move may only take its seat out of
    /// those that are to move.
    pub(crate) fn goes_on(
        choice: Option<&Self>,
        before: &Ply,
        step: &Move,
        after: &Ply,
    ) -> Result<bool, RulesFailure> {
        let (Some(_), PlyTurn::Of(seats)) = (choice, &before.turn) else { return Ok(false) };
        let (Move::Action { seat, .. } | Move::Retire { retire: seat }) = step else {
            return Ok(false);
        };
        let left: Vec<u8> = seats.iter().filter(|other| *other != seat).map(|it| it.0).collect();
        match &after.turn {
            _ if left.is_empty() => Ok(false),
            PlyTurn::Of(now) if now.iter().map(|seat| seat.0).eq(left.iter().copied()) => Ok(true),
            _ => Err(RulesFailure(format!(
                "after the move of seat {seat}, `turn` has to be {{\"of\":{left:?}}}: these seats choose at the same \
                 time, and have still to choose"
            ))),
        }
    }
}
