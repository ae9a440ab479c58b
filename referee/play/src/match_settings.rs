//! The settings of a match, and the header of a new one.

use super::agent_spec::AgentSpec;
use super::names::unique_names;
use referee_games::AnyGame;
use referee_games::program::Program;
use referee_match::id_of;
use referee_protocol::{
    Adjudication, ClockSettings, Header, HeaderSeat, Limits, OnFault, SandboxRecord, Seat,
    TRANSCRIPT_VERSION,
};

/// The settings of a match.
#[derive(Clone, Debug, Default)]
pub struct MatchSettings {
    /// The clock.
    pub clock: ClockSettings,
    /// The limits of an agent.
    pub limits: Limits,
    /// What a fault does in a match of three or more.
    pub on_fault: OnFault,
    /// Whether agents get the colours of the others instead of their names.
    pub anonymous: bool,
    /// When the agents' scores end the match, if they do.
    pub adjudication: Option<Adjudication>,
    /// Whether agents' processes stay for further matches, if they offer that.
    pub reuse: bool,
}

/// Returns the header of a new match. Agents are in seat order, the seed is below 2^53, and `number` is
/// that of the game in its series, from 0.
pub fn header(
    game: &dyn AnyGame,
    seated: &[&AgentSpec],
    conditions: &MatchSettings,
    sandbox: &SandboxRecord,
    seed: u64,
    number: u64,
) -> Header {
    let (setup, kind) = (game.setup(), game.kind());
    let (names, colours) = (unique_names(seated), game.colours());
    let seat = |(spec, seat): (&&AgentSpec, Seat)| HeaderSeat {
        seat,
        name: names[seat.index()].clone(),
        colour: colours[seat.index()].to_owned(),
        agent: Some(spec.written.clone()),
        command: match &spec.launch {
            Some(launch) => launch.command.clone(),
            None => vec!["@human".to_owned()],
        },
        digest: spec.digest.clone(),
        ready: None,
        protocol: spec.protocol.clone(),
        no_void: false,
        games_before: 0,
    };
    let mut header = Header {
        transcript: TRANSCRIPT_VERSION,
        match_id: String::new(),
        game: kind.name.to_owned(),
        rules: kind.rules,
        program: kind.program().map(Program::record).cloned(),
        seats: seated.iter().zip(Seat::all(seated.len())).map(seat).collect(),
        setup,
        clock: conditions.clock.clone(),
        limits: conditions.limits.clone(),
        on_fault: conditions.on_fault,
        anonymous: conditions.anonymous,
        adjudication: conditions.adjudication.clone(),
        sandbox: sandbox.clone(),
        seed,
        draw_key_sha256: None,
        game_number: number,
        referee: env!("CARGO_PKG_VERSION").to_owned(),
        started: jiff::Timestamp::now().to_string(),
    };
    header.match_id = id_of(&header);
    header
}
