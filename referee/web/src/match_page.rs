//! A match as JSON for the page: its settings, board, plies and state.

use super::frames::{Frame, Frames, OpenRequest};
use referee_games::kind;
use referee_games::view::{Colour, GroundKind};
use referee_match::summary::{seat_colour, setup};
use referee_match::times::show_clock;
use referee_match::transcript::Playback;
use referee_protocol::{Header, HeaderSeat, Seat};
use referee_render::{Board, board};
use referee_runner::without_copies;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// The command of a seat with a person.
const PERSON: &str = "@human";

#[derive(Clone, Debug, Serialize)]
pub struct MatchPage {
    /// The players and the game.
    pub title: String,
    /// The transcript's name in the served folder.
    pub file: String,
    pub game: String,
    pub setup: Value,
    #[serde(rename = "match")]
    pub match_id: String,
    pub seed: u64,
    /// The start, RFC 3339.
    pub started: String,
    /// The version of the referee.
    pub referee: String,
    /// The level of the sandbox.
    pub sandbox: String,
    /// The clock, in words.
    pub clock: String,
    /// Each seat's time at the start, in milliseconds.
    pub bank_ms: Option<u64>,
    /// The limit of a turn, in milliseconds.
    pub move_ms: Option<u64>,
    /// The players, in seat order.
    pub seats: Vec<MatchPageSeat>,
    /// The board without pieces.
    pub board: Board,
    /// The match so far; the first ply is the start.
    #[serde(flatten)]
    pub progress: MatchUpdate,
    /// Whether each seat saw something else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// The seat as which it is shown; absent if everything is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_by: Option<Seat>,
    /// Whether the page can stop it.
    pub own: bool,
    /// Whether the page is for the public, which sees neither exact lines nor the `info` messages and stderr of others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub public: bool,
    /// The file endings of this game's notations.
    pub notations: Vec<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatchPageSeat {
    pub seat: Seat,
    pub name: String,
    /// The colour at the start.
    pub colour: String,
    /// The AGENT argument, if it is known.
    pub agent: Option<String>,
    pub command: Vec<String>,
    /// Whether a person plays this seat.
    pub human: bool,
}

/// What is new in a match since a line of its transcript.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatchUpdate {
    /// The plies that were added or changed.
    pub plies: Vec<Frame>,
    /// The request that waits for an answer.
    pub asked: Option<OpenRequest>,
    /// `running`, `over`, `torn`, `broken`.
    pub state: &'static str,
    /// Why it stopped without a result, if so.
    pub problem: Option<String>,
    /// The number of the transcript's lines that are included.
    pub line: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum MatchState {
    Running,
    /// It has ended, and its transcript is sealed.
    Over,
    /// The transcript has no end and is no longer written.
    Torn,
    /// The rest of the transcript can't be read, for this reason.
    Broken(String),
}

impl MatchState {
    /// Returns the state in one word.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Returns what is wrong, without a full stop.
    pub fn problem(&self) -> Option<String> {
        match self {
            Self::Running | Self::Over => None,
            Self::Torn => {
                let text = "the transcript has no end and is no longer written: the referee was \
                            stopped during the match";
                Some(text.to_owned())
            }
            Self::Broken(text) => Some(text.clone()),
        }
    }
}

impl MatchPage {
    /// Creates the page's data; `for_ms` is how long the agent to move has been thinking, in ms.
    pub fn new(file: &str, playback: &Playback, state: &MatchState, for_ms: u64) -> Self {
        let header = playback.header();
        let view = &playback.plies()[0].view;
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
            seats: header.seats.iter().map(|seat| MatchPageSeat::of(header, seat)).collect(),
            board: board(view, grounds(playback)),
            progress: MatchUpdate::since(0, playback, state, for_ms),
            hidden: playback.game().is_hidden(),
            seen_by: playback.viewer(),
            own: false,
            public: false,
            notations: notations(&header.game),
        }
    }
}

/// Returns the colours of the cells in a match.
fn grounds(playback: &Playback) -> BTreeSet<Colour> {
    let views = playback.plies().iter().map(|ply| &ply.view);
    let grounds = views.flat_map(|view| &view.ground).filter_map(|ground| match ground.kind {
        GroundKind::Target(colour) | GroundKind::Tint(colour) => Some(colour),
        GroundKind::Pad => None,
    });
    grounds.collect()
}

impl MatchPage {
    /// Removes what isn't for the public: how the agents are started, and what they tell only their authors, except those
    /// of the visitor's own seats.
    #[must_use]
    pub fn public(mut self, own: &[Seat]) -> Self {
        for seat in &mut self.seats {
            seat.agent = None;
            seat.command.clear();
        }
        self.progress = self.progress.public(own);
        self.public = true;
        self
    }
}

fn notations(game: &str) -> Vec<&'static str> {
    let known = kind(game).map(|kind| kind.notations).unwrap_or_default();
    known.iter().map(|notation| notation.ending).collect()
}

impl MatchUpdate {
    /// Returns what came after a line of the transcript, from 1, the header; see [`MatchPage::new`].
    pub fn since(line: u64, playback: &Playback, state: &MatchState, for_ms: u64) -> Self {
        let frames = Frames::new(&playback.plies()[0].view);
        let asked = playback.asked().filter(|_| *state == MatchState::Running);
        Self {
            plies: frames.from(playback, playback.changed_since(line)),
            asked: asked.map(|asked| OpenRequest {
                seat: asked.seat,
                turn: asked.turn,
                left_ms: asked.left_ms,
                for_ms,
            }),
            state: state.name(),
            problem: state.problem(),
            line: playback.lines(),
        }
    }

    /// The same for the public: without `info` messages and stderr, except those of the visitor's own seats.
    #[must_use]
    pub(super) fn public(mut self, own: &[Seat]) -> Self {
        for ply in &mut self.plies {
            ply.infos.retain(|info| own.contains(&info.seat));
            ply.stderr.retain(|piece| own.contains(&piece.seat));
            for piece in &mut ply.stderr {
                piece.text = without_copies(&piece.text);
            }
        }
        self
    }
}

impl MatchPageSeat {
    fn of(header: &Header, seat: &HeaderSeat) -> Self {
        Self {
            seat: seat.seat,
            name: seat.name.clone(),
            colour: seat_colour(header, &seat.colour).to_owned(),
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
