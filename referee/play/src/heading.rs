//! The header of a match that is about to begin.

use super::contender::{Contender, unique_names};
use referee_games::AnyGame;
use referee_match::match_id;
use referee_protocol::{
    ClockSettings, Header, HeaderSeat, Limits, OnFault, Sandbox, Seat, TRANSCRIPT_VERSION,
};

/// What a match is played under.
#[derive(Clone, Copy, Debug)]
pub struct Heading<'a> {
    /// The game at its start.
    pub game: &'a dyn AnyGame,
    /// Who plays, in seat order.
    pub seated: &'a [&'a Contender],
    /// The clock.
    pub clock: &'a ClockSettings,
    /// What an agent may use.
    pub limits: &'a Limits,
    /// What keeps agents apart.
    pub sandbox: &'a Sandbox,
    /// What a fault does with three seats and more.
    pub on_fault: OnFault,
    /// The match's seed, below 2^53.
    pub seed: u64,
    /// The number of the game in its series, from 0.
    pub number: u64,
}

impl Heading<'_> {
    /// The header; nobody has said `ready` yet.
    pub fn header(&self) -> Header {
        let setup = self.game.setup();
        let kind = self.game.kind();
        let digests: Vec<&str> = self.seated.iter().map(|it| it.digest.as_str()).collect();
        let names = unique_names(self.seated);
        let colours = self.game.colours();
        let seat = |seat: Seat| {
            let contender = self.seated[seat.index()];
            let launch = contender.launch.as_ref();
            HeaderSeat {
                seat,
                name: names[seat.index()].clone(),
                colour: colours[seat.index()].to_owned(),
                agent: Some(contender.written.clone()),
                command: launch
                    .map_or_else(|| vec!["@human".to_owned()], |launch| launch.command.clone()),
                digest: contender.digest.clone(),
                ready: None,
                protocol: contender.protocol.clone(),
            }
        };
        Header {
            transcript: TRANSCRIPT_VERSION,
            match_id: match_id(kind.name, &setup, &digests, self.seed, self.number),
            game: kind.name.to_owned(),
            rules: kind.rules,
            seats: Seat::all(self.seated.len()).map(seat).collect(),
            setup,
            clock: self.clock.clone(),
            limits: self.limits.clone(),
            on_fault: self.on_fault,
            sandbox: self.sandbox.clone(),
            seed: self.seed,
            game_number: self.number,
            referee: env!("CARGO_PKG_VERSION").to_owned(),
            started: jiff::Timestamp::now().to_string(),
        }
    }
}
