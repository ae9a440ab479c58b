//! The games that are rated, a few numbers each, so that a million of them fit in little memory.

use super::RatingField;
use crate::repeats::Repeats;
use crate::{FORFEIT, Player, Record};
use referee_protocol::MatchResult;
use std::collections::BTreeSet;

/// Games with more seats aren't rated: the number of ways to share a place doubles with every seat.
pub(super) const SEATS_MAX: usize = 8;

/// The games to fit, and the numbers of those left out.
#[derive(Clone, Debug)]
pub struct RatedGames {
    pub(crate) field: RatingField,
    /// Of each game in turn: the players, and the place of each, in seat order.
    players: Vec<Player>,
    places: Vec<u32>,
    /// The block of each game.
    blocks: Vec<u64>,
    /// Which of the games have scores, and the score of each of their seats; `None` if it left.
    scored: Vec<usize>,
    scores: Vec<Option<i64>>,
    /// Games that repeat an earlier one.
    pub(super) duplicates: u64,
    /// Games left out because of a fault.
    pub(super) faulty: u64,
}

impl RatedGames {
    /// Returns a collection without games.
    pub fn new(field: RatingField) -> Self {
        Self {
            field,
            players: Vec::new(),
            places: Vec::new(),
            blocks: Vec::new(),
            scored: Vec::new(),
            scores: Vec::new(),
            duplicates: 0,
            faulty: 0,
        }
    }

    /// Collects the games of records in any order.
    pub fn of(field: &RatingField, records: &[Record]) -> Self {
        let mut sorted: Vec<&Record> = records.iter().collect();
        sorted.sort_by_key(|game| {
            (game.number, game.block, game.game, &game.players, &game.places, &game.moves)
        });
        let (mut games, mut repeats) = (Self::new(*field), Repeats::default());
        for game in sorted {
            games.add(game, repeats.first(game, &[]).is_some());
        }
        games
    }

    /// Adds the next game by number; games of a block follow each other. Leaves out games that don't
    /// fit the field: other numbers of seats, unknown players, a player against itself, void games,
    /// games of one seat or of more than eight. `repeats` says whether it repeats an earlier game
    /// ([`Repeats`]): such games are counted once.
    pub fn add(&mut self, game: &Record, repeats: bool) {
        if !self.field.can_rate(game) {
            return;
        }
        if !self.field.rate_faults && game.has_fault() {
            self.faulty += 1;
        } else if repeats {
            self.duplicates += 1;
        } else {
            let scores = game.scores.as_ref().filter(|it| it.len() == self.field.seats);
            if let Some(scores) = scores.filter(|_| self.field.has_scores) {
                self.scored.push(self.blocks.len());
                let left = |seat: usize| game.seats.get(seat).is_some_and(|it| it.fault.is_some());
                let scores = scores.iter().enumerate();
                self.scores.extend(scores.map(|(seat, &score)| (!left(seat)).then_some(score)));
            }
            self.players.extend(&game.players);
            self.places.extend(&game.places);
            self.blocks.push(game.block);
        }
    }

    /// Returns the first games of the list alone, rated without an anchor.
    pub(super) fn first(&self, games: usize) -> Self {
        let seats = self.field.seats;
        Self {
            field: RatingField { anchor: None, ..self.field },
            players: self.players[..games * seats].to_vec(),
            places: self.places[..games * seats].to_vec(),
            blocks: self.blocks[..games].to_vec(),
            scored: Vec::new(),
            scores: Vec::new(),
            ..*self
        }
    }

    /// Returns the number of games to fit.
    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Returns some of the games, by their places in the list.
    pub(super) fn part(
        &self,
        games: std::ops::Range<usize>,
    ) -> impl Iterator<Item = Finish<'_>> + Clone {
        let seats = self.field.seats;
        games.map(move |game| {
            let own = game * seats..(game + 1) * seats;
            let (players, places) = (&self.players[own.clone()], &self.places[own]);
            Finish { players, places, block: self.blocks[game], times: 1 }
        })
    }

    /// Returns the games with the scores of their seats; none if no game has scores. A seat that left, or is
    /// not first where the rules didn't end the game, is as far behind the first as any seat was in any game: else whoever is about
    /// to lose would leave.
    pub(super) fn scored(&self) -> impl Iterator<Item = Scored<'_>> {
        let seats = self.field.seats;
        let mut by_rules = self.scored.iter().zip(self.finished()).peekable();
        let lag = self.greatest_lag();
        let games = if self.scored.is_empty() { 0 } else { self.len() };
        self.part(0..games).enumerate().map(
            move |(index, Finish { players, places, block, .. })| {
                let scores =
                    by_rules.next_if(|(game, _)| **game == index).map(|(_, scores)| scores);
                let first = scores.and_then(|scores| self.first_of(scores));
                let score = |seat: usize| match (first, scores) {
                    (Some(first), Some(scores)) => scores[seat].map_or(first + lag, as_number),
                    _ if places[seat] == 1 => 0.0,
                    _ => lag,
                };
                Scored { players, scores: (0..seats).map(score).collect(), block }
            },
        )
    }

    /// Returns how many games have a seat whose score is [`RatedGames::greatest_lag`] behind.
    pub(super) fn without_scores(&self) -> usize {
        let left = self.finished().filter(|scores| scores.contains(&None)).count();
        if self.scored.is_empty() { 0 } else { self.len() - self.scored.len() + left }
    }

    /// Returns the score of a seat that is as far behind as any was in a game, against that of the first.
    pub(super) fn greatest_lag(&self) -> f64 {
        let greatest = self.finished().fold(1.0, |greatest: f64, scores| {
            let known = || scores.iter().flatten().copied();
            let most = known().max().zip(known().min());
            most.map_or(greatest, |(most, least)| greatest.max(as_number(most) - as_number(least)))
        });
        if self.field.fewer_is_better { greatest } else { -greatest }
    }

    /// Returns the best score.
    fn first_of(&self, scores: &[Option<i64>]) -> Option<f64> {
        let known = scores.iter().flatten();
        let best = if self.field.fewer_is_better { known.min() } else { known.max() };
        best.copied().map(as_number)
    }

    /// Returns the scores by the rules, of each game that has them.
    fn finished(&self) -> impl Iterator<Item = &[Option<i64>]> {
        self.scores.chunks(self.field.seats.max(1))
    }

    /// Returns all games.
    pub(super) fn all(&self) -> impl Iterator<Item = Finish<'_>> + Clone {
        self.part(0..self.len())
    }
}

impl RatingField {
    /// Whether the record is complete and has players to compare. A forfeit says nothing about strength, unless the player
    /// came back: else whoever expects to lose would be away for a game.
    fn can_rate(&self, game: &Record) -> bool {
        let is_resigned = |game: &Record| game.seats.iter().any(|seat| seat.fault.is_some());
        let distinct: BTreeSet<Player> = game.players.iter().copied().collect();
        (2..=SEATS_MAX).contains(&self.seats)
            && game.result != MatchResult::Void
            && (game.reason != FORFEIT || is_resigned(game))
            && game.players.len() == self.seats
            && game.places.len() == self.seats
            && distinct.len() == self.seats
            && distinct.iter().all(|player| player.index() < self.players)
    }
}

/// How a game ended, as far as a fit needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finish<'a> {
    /// The players, in seat order.
    pub(crate) players: &'a [Player],
    /// The place of each of them: lower is better, equal places are shared.
    pub(crate) places: &'a [u32],
    /// The block; its games are not independent of each other.
    pub(crate) block: u64,
    /// How many games ended like this.
    pub(crate) times: u64,
}

/// How a game with scores ended.
#[derive(Clone, Debug)]
pub(super) struct Scored<'a> {
    /// The players, in seat order.
    pub(super) players: &'a [Player],
    /// The score of each of them.
    pub(super) scores: Vec<f64>,
    /// The block.
    pub(super) block: u64,
}

impl<'a> From<&'a Record> for Finish<'a> {
    fn from(game: &'a Record) -> Self {
        Self { players: &game.players, places: &game.places, block: game.block, times: 1 }
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody scores 2^53")]
fn as_number(score: i64) -> f64 {
    score as f64
}
