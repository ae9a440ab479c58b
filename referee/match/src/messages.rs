//! The messages of a match to its agents, as functions of what a transcript holds: they can be made
//! again from it.

use super::seat_seed;
use referee_games::AnyGame;
use referee_protocol::{
    Header, Hello, Outcome, Over, PROTOCOL_VERSION, Seat, SeatInfo, Turn, Verdict, Want,
};

/// How a seat is greeted.
pub fn hello(header: &Header, seat: Seat) -> Hello {
    let info = |seat: &referee_protocol::HeaderSeat| SeatInfo {
        seat: seat.seat,
        name: seat.name.clone(),
        colour: seat.colour.clone(),
    };
    Hello {
        protocol: PROTOCOL_VERSION,
        game: header.game.clone(),
        rules: header.rules,
        setup: header.setup.clone(),
        seat,
        seats: header.seats.iter().map(info).collect(),
        clock: header.clock.clone(),
        limits: header.limits.clone(),
        seed: seat_seed(header.seed, seat),
        match_id: header.match_id.clone(),
    }
}

/// The request for the turn that the game has come to, with what the agent wants in it.
pub fn request(game: &dyn AnyGame, want: &[Want], left_ms: Option<u64>) -> Turn {
    Turn {
        turn: game.turn_number(),
        left_ms,
        position: want.contains(&Want::Position).then(|| game.position()),
        actions: want.contains(&Want::Actions).then(|| game.actions()),
    }
}

/// How the end is told.
pub fn over(outcome: Option<Outcome>, mut verdict: Verdict) -> Over {
    // The legal actions are for the one who looks into it afterwards; they may be long.
    for seat in &mut verdict.seats {
        if let Some(fault) = &mut seat.fault {
            fault.legal = None;
        }
    }
    Over { outcome, verdict }
}
