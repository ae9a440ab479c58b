//! What the agents wrote to stderr, which isn't judged, but is bounded and in order.

use referee_protocol::StderrEvent;

/// A character in place of bytes that are no UTF-8: of one to three.
const REPLACED: char = char::REPLACEMENT_CHARACTER;

/// The stderr of all seats so far.
#[derive(Debug, Default)]
pub(super) struct Heard {
    seats: Vec<Seat>,
    at_ns: u64,
    /// The turn of the last piece.
    pub(super) turn: u64,
}

#[derive(Clone, Debug, Default)]
struct Seat {
    /// How many bytes it wrote that were kept, at least and at most.
    least: u64,
    most: u64,
    /// Its end was kept, after a gap.
    ended: bool,
}

impl Heard {
    /// Adds a piece, which comes after an event at `now` in `turn`. `limit`: so many bytes are kept of the beginning, and as
    /// many of the end.
    pub(super) fn add(
        &mut self,
        piece: &StderrEvent,
        (now, turn): (u64, u64),
        limit: u64,
    ) -> Result<(), String> {
        let StderrEvent { at_ns, seat, text, dropped_bytes, .. } = piece;
        let before = self.at_ns.max(now);
        if *at_ns < before {
            return Err(format!(
                "its time is {at_ns} ns, before that of the event before it, {before} ns"
            ));
        }
        let first = self.turn.max(turn);
        if piece.turn < first {
            return Err(format!("stderr of turn {}, after some of turn {first}", piece.turn));
        }
        (self.at_ns, self.turn) = (*at_ns, piece.turn);
        if self.seats.len() <= seat.index() {
            self.seats.resize(seat.index() + 1, Seat::default());
        }
        let own = &mut self.seats[seat.index()];
        if own.ended {
            return Err(format!("stderr of seat {seat} goes on after its end"));
        }
        let most = text.len() as u64;
        if *dropped_bytes > 0 {
            if own.most < limit || most < limit {
                return Err(format!(
                    "dropped_bytes: of the stderr of seat {seat} some is left out, but not all that is kept is there: \
                     {limit} bytes from the beginning, and as many from the end"
                ));
            }
            own.ended = true;
        }
        own.most = own.most.saturating_add(most);
        let replaced = |c: char| if c == REPLACED { 1 } else { c.len_utf8() as u64 };
        own.least += text.chars().map(replaced).sum::<u64>();
        let kept = limit.saturating_mul(2);
        if own.least > kept {
            return Err(format!(
                "the stderr of seat {seat} has {} bytes or more, but {kept} are kept",
                own.least
            ));
        }
        Ok(())
    }
}
