//! The people of a match that this server plays: which visitors play for them, and which may stop the match. Visitors
//! are told apart by their sessions, since one token lets in many of them.

use super::errors::{ApiError, ApiResult};
use super::visitor::Session;
use axum::http::StatusCode;
use referee_games::AnyGame;
use referee_play::human::{AnswerError, PlayerPrompts};
use referee_process::lock::lock;
use referee_protocol::Seat;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// After so long without an answer of a person, anyone may stop a match with people: its visitor may have left, and
/// such matches are limited.
const LEFT_AFTER: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(super) struct People {
    prompts: Arc<PlayerPrompts>,
    /// Who started it; `None` if that was another part of the program.
    starter: Option<Session>,
    /// Whether a person plays, for whom it may wait.
    waits: bool,
    players: Mutex<Players>,
}

#[derive(Debug)]
struct Players {
    /// Who plays for a person. A single one is who started the match, each of several is whoever answers first.
    seats: BTreeMap<Seat, Session>,
    /// When one of them answered last, or the match began.
    answered: Instant,
}

impl People {
    /// Returns the people at these seats.
    pub(super) fn new(
        prompts: Arc<PlayerPrompts>,
        starter: Option<Session>,
        seats: &[Seat],
    ) -> Self {
        let only = match seats {
            [seat] => starter.clone().map(|starter| (*seat, starter)),
            _ => None,
        };
        let players = Players { seats: only.into_iter().collect(), answered: Instant::now() };
        Self { prompts, starter, waits: !seats.is_empty(), players: Mutex::new(players) }
    }

    /// Whether this visitor may stop the match.
    pub(super) fn may_stop(&self, who: &Session) -> bool {
        let has_left = || lock(&self.players).answered.elapsed() > LEFT_AFTER;
        self.starter.as_ref() == Some(who) || (self.waits && has_left())
    }

    /// Returns the seat for which this visitor is asked, and the game.
    pub(super) fn asked(&self, who: &Session) -> Option<(Seat, Box<dyn AnyGame>)> {
        let players = lock(&self.players);
        self.prompts.asked().filter(|(seat, _)| players.may_answer(*seat, who))
    }

    /// Takes a visitor's answer for this turn.
    pub(super) fn answer(&self, turn: u64, text: &str, who: &Session) -> ApiResult<()> {
        let mut players = lock(&self.players);
        let asked = self.prompts.asked().map(|(seat, _)| seat);
        if asked.is_some_and(|seat| !players.may_answer(seat, who)) {
            return Err(ApiError::new(StatusCode::FORBIDDEN, "another visitor plays here")
                .help("start a match of your own on the first page"));
        }
        self.prompts.answer(turn, text).map_err(|error| match error {
            AnswerError::NotAsked => {
                ApiError::conflict(format!("turn {turn} is not waiting for an answer"))
                    .help("the match has continued; load the page again")
            }
            AnswerError::Refused(why) => ApiError::unfit(why)
                .help("choose a marked cell, or an action that the field suggests"),
        })?;
        players.seats.extend(asked.map(|seat| (seat, who.clone())));
        players.answered = Instant::now();
        Ok(())
    }
}

impl Players {
    fn may_answer(&self, seat: Seat, who: &Session) -> bool {
        self.seats.get(&seat).is_none_or(|player| player == who)
    }
}
