//! The messages of a match. Those to the agents depend only on what a transcript contains, so they can
//! be made again from it.

use super::identity::{seat_seed, setup_for_agents};
use referee_games::program::Program;
use referee_games::{AnyGame, Decoded};
use referee_protocol::{
    ClockSettings, FromAgent, Header, HeaderSeat, Hello, Limits, OnFault, Outcome, Over,
    PROTOCOL_VERSION, ParseError, SandboxRecord, Seat, SeatInfo, TRANSCRIPT_VERSION, Turn, Verdict,
    Want, parse_from_agent,
};

/// Returns the header for a game of which nothing else is known: agents are named after their
/// colours; clock and limits have their defaults.
pub fn header(game: &dyn AnyGame) -> Header {
    let seat = |(seat, colour): (Seat, &str)| HeaderSeat {
        seat,
        name: colour.to_owned(),
        colour: colour.to_owned(),
        agent: None,
        command: Vec::new(),
        digest: String::new(),
        ready: None,
        protocol: None,
        no_void: false,
        games_before: 0,
    };
    Header {
        transcript: TRANSCRIPT_VERSION,
        match_id: String::new(),
        game: game.kind().name.to_owned(),
        rules: game.kind().rules,
        program: game.kind().program().map(Program::record).cloned(),
        setup: game.setup(),
        seats: Seat::all(game.seats()).zip(game.colours()).map(seat).collect(),
        clock: ClockSettings::default(),
        limits: Limits::default(),
        on_fault: OnFault::default(),
        anonymous: false,
        adjudication: None,
        sandbox: SandboxRecord::default(),
        seed: 0,
        draw_key_sha256: None,
        game_number: 0,
        referee: env!("CARGO_PKG_VERSION").to_owned(),
        started: String::new(),
    }
}

/// Returns the `hello` for a seat.
pub fn hello(header: &Header, seat: Seat) -> Hello {
    let info = |own: &HeaderSeat| {
        let is_hidden = header.anonymous && own.seat != seat;
        let name = if is_hidden { &own.colour } else { &own.name };
        SeatInfo { seat: own.seat, name: name.clone(), colour: own.colour.clone() }
    };
    Hello {
        protocol: PROTOCOL_VERSION,
        game: header.game.clone(),
        rules: header.rules,
        setup: setup_for_agents(&header.setup, header.program.as_ref()),
        seat,
        seats: header.seats.iter().map(info).collect(),
        clock: header.clock.clone(),
        limits: header.limits.clone(),
        seed: seat_seed(header.seed, seat),
        match_id: header.match_id.clone(),
    }
}

/// Returns the request for a seat's current turn, with the fields that the agent wants.
pub fn request(game: &dyn AnyGame, seat: Seat, want: &[Want], left_ms: Option<u64>) -> Turn {
    Turn {
        turn: game.turn_number(),
        left_ms,
        position: want.contains(&Want::Position).then(|| game.seen(seat)),
        actions: want.contains(&Want::Actions).then(|| game.actions()),
        together: game.together().to_vec(),
    }
}

/// Returns the `over` message.
pub fn over(outcome: Option<Outcome>, mut verdict: Verdict) -> Over {
    // The legal actions are only for transcripts; they may be long.
    for seat in &mut verdict.seats {
        // It is measured when the match is over.
        seat.peak_memory_kb = None;
        if let Some(fault) = &mut seat.fault {
            fault.legal = None;
        }
    }
    // Contests count this; agents of earlier versions don't expect it.
    if let Some(void) = &mut verdict.void {
        void.seat = None;
    }
    Over { outcome, verdict }
}

/// Reads a line of an agent, with the meaning that its codec found if it has one. `None` for a line
/// without a message.
pub fn parse_line(line: &[u8], meaning: Option<Decoded>) -> Option<Result<FromAgent, ParseError>> {
    match meaning {
        Some(Decoded::Nothing) => None,
        Some(Decoded::Message(message)) => Some(Ok(message)),
        Some(Decoded::Invalid(garbled)) => Some(Err(garbled)),
        None if line.iter().all(u8::is_ascii_whitespace) => None,
        None => Some(parse_from_agent(line)),
    }
}
