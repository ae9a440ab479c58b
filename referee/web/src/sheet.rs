//! A whole match as a page shows it: what it is played under, its board, its plies, and how far it is.

use referee_games::kind;
use referee_match::frames::{Asked, Frame, Frames};
use referee_match::summary::setup;
use referee_match::times::show_clock;
use referee_match::transcript::Playback;
use referee_protocol::{Header, HeaderSeat, Seat};
use referee_render::{Board, board};
use serde::Serialize;
use serde_json::Value;

/// How the person at a seat stands in place of a command.
const PERSON: &str = "@human";

/// A match for a page.
#[derive(Clone, Debug, Serialize)]
pub struct Sheet {
    /// Who plays what.
    pub title: String,
    /// The transcript, as it is asked for.
    pub file: String,
    /// The game's name.
    pub game: String,
    /// Its whole setup.
    pub setup: Value,
    /// The match's id.
    #[serde(rename = "match")]
    pub match_id: String,
    /// The match's seed.
    pub seed: u64,
    /// When it began, RFC 3339.
    pub started: String,
    /// The version of the referee.
    pub referee: String,
    /// The level of the sandbox.
    pub sandbox: String,
    /// The clock, for people.
    pub clock: String,
    /// What each seat had at the beginning.
    pub bank_ms: Option<u64>,
    /// The most that a turn may take.
    pub move_ms: Option<u64>,
    /// Who plays, in seat order.
    pub seats: Vec<SheetSeat>,
    /// The board without pieces.
    pub board: Board,
    /// What has happened, the start first.
    pub plies: Vec<Frame>,
    /// The request that waits for its answer.
    pub asked: Option<Asked>,
    /// `running`, `over`, `torn`, `broken`.
    pub state: &'static str,
    /// Why it goes no further, where that is no good end.
    pub problem: Option<String>,
    /// The lines of the transcript that are in it.
    pub line: u64,
    /// Whoever looks can stop it.
    pub own: bool,
    /// The endings of the notations in which other programs keep such a game.
    pub notations: Vec<&'static str>,
}

/// A seat of a [`Sheet`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SheetSeat {
    /// The seat.
    pub seat: Seat,
    /// The agent's name.
    pub name: String,
    /// The colour at the start.
    pub colour: String,
    /// The agent as somebody named it.
    pub agent: Option<String>,
    /// What was started.
    pub command: Vec<String>,
    /// A person sits there.
    pub human: bool,
}

/// What is new of a match since a line of its transcript.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Growth {
    /// The plies that were added or changed.
    pub plies: Vec<Frame>,
    /// The request that waits for its answer.
    pub asked: Option<Asked>,
    /// `running`, `over`, `torn`, `broken`.
    pub state: &'static str,
    /// Why it goes no further, where that is no good end.
    pub problem: Option<String>,
    /// The lines of the transcript that have been taken in.
    pub line: u64,
}

/// How far a match is.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Stage {
    /// It is played.
    Running,
    /// It has its end, and its transcript the seal.
    Over,
    /// Nothing follows, though there is no end.
    Torn,
    /// What follows can't be read, and why.
    Broken(String),
}

impl Stage {
    /// In one word.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// What is wrong, in a sentence without a full stop.
    pub fn problem(&self) -> Option<String> {
        match self {
            Self::Running | Self::Over => None,
            Self::Torn => {
                let text = "the transcript has no end, and nobody writes it: what played the \
                            match was stopped";
                Some(text.to_owned())
            }
            Self::Broken(text) => Some(text.clone()),
        }
    }
}

impl Sheet {
    /// The match as far as it has come; `for_ms` is how long the seat that is asked has been
    /// thinking.
    pub fn new(file: &str, playback: &Playback, stage: &Stage, for_ms: u64) -> Self {
        let header = playback.header();
        let view = &playback.plies()[0].view;
        let Growth { plies, asked, state, problem, line } =
            Growth::since(0, playback, stage, for_ms);
        Self {
            title: title(header),
            file: file.to_owned(),
            game: header.game.clone(),
            setup: header.setup.clone(),
            match_id: header.match_id.clone(),
            seed: header.seed,
            started: header.started.clone(),
            referee: header.referee.clone(),
            sandbox: header.sandbox.level.clone(),
            clock: show_clock(&header.clock),
            bank_ms: header.clock.bank_ms,
            move_ms: header.clock.move_ms,
            seats: header.seats.iter().map(SheetSeat::of).collect(),
            board: board(view),
            plies,
            asked,
            state,
            problem,
            line,
            own: false,
            notations: notations(&header.game),
        }
    }
}

fn notations(game: &str) -> Vec<&'static str> {
    let known = kind(game).map(|kind| kind.notations).unwrap_or_default();
    known.iter().map(|notation| notation.ending).collect()
}

impl Growth {
    /// What came after this line of the transcript, counted from 1, the header's; see
    /// [`Sheet::new`].
    pub fn since(line: u64, playback: &Playback, stage: &Stage, for_ms: u64) -> Self {
        let frames = Frames::new(&playback.plies()[0].view);
        let asked = playback.asked().filter(|_| *stage == Stage::Running);
        Self {
            plies: frames.from(playback, playback.changed_since(line)),
            asked: asked.map(|asked| Asked {
                seat: asked.seat,
                turn: asked.turn,
                left_ms: asked.left_ms,
                for_ms,
            }),
            state: stage.name(),
            problem: stage.problem(),
            line: playback.lines(),
        }
    }
}

impl SheetSeat {
    fn of(seat: &HeaderSeat) -> Self {
        Self {
            seat: seat.seat,
            name: seat.name.clone(),
            colour: seat.colour.clone(),
            agent: seat.agent.clone(),
            command: seat.command.clone(),
            human: seat.command == [PERSON],
        }
    }
}

fn title(header: &Header) -> String {
    let names: Vec<&str> = header.seats.iter().map(|seat| seat.name.as_str()).collect();
    format!("{}: {}{}", names.join(" - "), header.game, setup(header))
}
