//! One joint fit, and what follows from it.

use super::evidence::Evidence;
use super::games::RatedGames;
use super::intervals::Intervals;
use super::likelihood::Model;
use super::links::Links;
use super::notes::notes;
use super::optimizer::maximize;
use super::scores::score_ratings;
use super::{Ends, Rating, Ratings, Term, WIDTH_95};
use crate::Player;
use std::f64::consts::LN_10;

/// Elo points per unit of the fit, in which odds are powers of e.
pub(super) const ELO: f64 = 400.0 / LN_10;

/// How many games won, and as many lost, the prior adds for every player. They hold groups of players
/// in place, and the correction of the intervals needs them where a player won
/// everything: with this weight, an interval ends where winning everything has a chance of 5 %. More would
/// pull the ends of a large field together, since a chain of pairings holds them apart only weakly.
pub(super) const PRIOR: f64 = 0.07;

/// What is rated, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatingField {
    /// How many players the contest has.
    pub players: usize,
    /// How many seats a game has.
    pub seats: usize,
    /// Whether all scores have the same unit.
    pub has_scores: bool,
    /// Whether a lower score is better.
    pub fewer_is_better: bool,
    /// Whether games with a fault count.
    pub rate_faults: bool,
    /// What the variances of ratings are multiplied by, because results decide pairings.
    pub inflation: f64,
    /// The player who is 0 Elo, with whom the others of its group are compared; without one it is a mean.
    pub anchor: Option<Player>,
}

/// Rates all players by all games at once.
pub fn rate(games: &RatedGames) -> Ratings {
    with_fit(games, |fit| fit.ratings(games))
}

/// Returns each player's interval: its ends as in [`Rating`], in Elo.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is for one lifetime, the closure for any"
)]
pub(super) fn intervals(games: &RatedGames) -> Vec<Ends> {
    with_fit(games, |fit| fit.intervals())
}

/// Returns how likely it is, in percent, that the player of a row is stronger than that of a column; `None` for
/// a player and itself, and where no games link the two.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is for one lifetime, the closure for any"
)]
pub fn superiority(games: &RatedGames) -> Vec<Vec<Option<f64>>> {
    with_fit(games, |fit| fit.superiority())
}

/// Fits the model to the games, and reads the result.
fn with_fit<T>(games: &RatedGames, read: impl FnOnce(&Fit<'_>) -> T) -> T {
    let field = &games.field;
    let evidence = Evidence::of(field.seats, games.all()).with_blocks(games.all());
    let links = Links::of(&evidence, field.anchor);
    let model = Model { evidence: &evidence, prior: PRIOR, seat_terms: true };
    let likely = maximize(&model, &evidence.counts, vec![0.0; model.size()]);
    let at = maximize(&model, &model.counts_without_bias(&likely), likely.clone());
    let usual = field.anchor.map(|_| Links::of(&evidence, None));
    let usual = usual.as_ref().map(|usual| &usual.groups[..]);
    let intervals = Intervals::new(&model, &links.groups, usual, likely, field.inflation);
    read(&Fit { field, model: &model, links: &links, at, intervals })
}

/// Returns what 0 Elo is, in words.
fn anchor(links: &Links, player: Option<Player>) -> String {
    if let Some(Player(number)) = player {
        return format!("player {number}, and in other groups the mean");
    }
    let whole = links.groups.iter().all(|group| group.centre.len() == group.members.len());
    let of_group = if links.groups.len() > 1 { " of the same group" } else { "" };
    if whole {
        format!("the mean of all rated players{of_group}")
    } else {
        format!("the mean of the players{of_group} whom wins and losses link in both directions")
    }
}

/// The fit of the model.
struct Fit<'a> {
    field: &'a RatingField,
    model: &'a Model<'a>,
    links: &'a Links,
    at: Vec<f64>,
    intervals: Intervals<'a>,
}

impl Fit<'_> {
    fn ratings(&self, games: &RatedGames) -> Ratings {
        let (field, links, evidence) = (self.field, self.links, self.model.evidence);
        let as_players =
            |found: &[usize]| found.iter().map(|&player| evidence.rated[player]).collect();
        let players = self.players(games);
        let mut centre: Vec<usize> =
            links.groups.iter().flat_map(|group| group.centre.clone()).collect();
        centre.sort_unstable();
        let model = if field.seats > 2 { "plackett-luce" } else { "bradley-terry-davidson" };
        Ratings {
            model: model.to_owned(),
            anchor: anchor(links, field.anchor),
            centre: as_players(&centre),
            prior: format!(
                "for every player {PRIOR} of a game won and as much lost against an average player"
            ),
            seats: self.seats(),
            draw: self.draw(),
            games: games.len() as u64,
            blocks: evidence.blocks.iter().map(|(_, times)| times).sum(),
            dispersion: self.intervals.dispersion,
            duplicates: games.duplicates,
            groups: players.iter().map(|rating| rating.group + 1).max().unwrap_or(0),
            won_all: as_players(&links.won_all),
            lost_all: as_players(&links.lost_all),
            notes: notes(field, games, evidence, links),
            players,
        }
    }

    fn superiority(&self) -> Vec<Vec<Option<f64>>> {
        let size = self.field.players;
        let mut chances = vec![vec![None; size]; size];
        for group in &self.links.groups {
            for (place, &one) in group.members.iter().enumerate() {
                for &other in &group.members[place + 1..] {
                    let chance = self.intervals.chance(one, other) * 100.0;
                    let chance = Some(chance).filter(|chance| chance.is_finite());
                    let [row, column] =
                        [one, other].map(|player| self.model.evidence.rated[player].index());
                    chances[row][column] = chance;
                    chances[column][row] = chance.map(|chance| 100.0 - chance);
                }
            }
        }
        chances
    }

    fn intervals(&self) -> Vec<Ends> {
        let mut all = vec![[None; 2]; self.field.players];
        for group in &self.links.groups {
            for &player in &group.members {
                let bounded = [0, 1].map(|end: usize| group.bounded[end].contains(&player));
                let ends = self.intervals.interval(player, bounded);
                let number = self.model.evidence.rated[player].index();
                all[number] = ends.map(|end| end.map(|end| end * ELO));
            }
        }
        all
    }

    fn players(&self, games: &RatedGames) -> Vec<Rating> {
        let (evidence, at) = (self.model.evidence, &self.at);
        let unrated = |player| Rating {
            player,
            elo: 0.0,
            low: None,
            high: None,
            error: None,
            better_than_next: None,
            score: None,
            games: 0,
            group: 0,
        };
        let mut ratings: Vec<Rating> = Player::all(self.field.players).map(unrated).collect();
        for (rating, score) in ratings.iter_mut().zip(score_ratings(games)) {
            rating.score = score;
        }
        for (rating, ends) in ratings.iter_mut().zip(self.intervals()) {
            [rating.low, rating.high] = ends;
            rating.error = rating.low.zip(rating.high).map(|(low, high)| (high - low) / 2.0);
        }
        let mut leaders = vec![None; ratings.len()];
        for group in &self.links.groups {
            let centre = mean(group.centre.iter().map(|&player| at[player]));
            for &player in &group.members {
                let rating = &mut ratings[evidence.rated[player].index()];
                rating.elo = (at[player] - centre) * ELO;
                rating.games = evidence.games[player];
                leaders[rating.player.index()] = Some(evidence.rated[group.members[0]].index());
            }
            for (player, better) in self.better(&group.members) {
                ratings[evidence.rated[player].index()].better_than_next = better;
            }
        }
        let mut groups = 0;
        for player in 0..ratings.len() {
            // Groups are numbered by their first players; a player without games is a group of its
            // own.
            ratings[player].group = match leaders[player] {
                Some(leader) if leader != player => ratings[leader].group,
                _ => {
                    groups += 1;
                    groups - 1
                }
            };
        }
        ratings
    }

    /// Returns how likely it is, in percent, that each member of a group is stronger than the next.
    fn better(&self, group: &[usize]) -> Vec<(usize, Option<f64>)> {
        let mut order = group.to_vec();
        order.sort_by(|&one, &other| self.at[other].total_cmp(&self.at[one]));
        let pairs = order.windows(2).map(|pair| {
            let chance = self.intervals.chance(pair[0], pair[1]) * 100.0;
            (pair[0], Some(chance).filter(|chance| chance.is_finite()))
        });
        pairs.collect()
    }

    /// Returns half the width of the 95 % interval of a weighted sum of parameters, in Elo.
    fn error(&self, weights: &[f64]) -> Option<f64> {
        let error = self.intervals.variance_of(weights).sqrt() * WIDTH_95 * ELO;
        Some(error).filter(|error| error.is_finite())
    }

    fn seats(&self) -> Vec<Term> {
        let seats: Option<Vec<usize>> =
            (0..self.model.evidence.seats).map(|seat| self.model.seat(seat)).collect();
        let seats = seats.unwrap_or_default();
        if self.model.evidence.rated.is_empty() {
            return vec![Term { elo: 0.0, error: None }; seats.len()];
        }
        let at = &self.at;
        let centre = mean(seats.iter().map(|&seat| at[seat]));
        let term = |&seat: &usize| Term {
            elo: (at[seat] - centre) * ELO,
            error: self.error(&against_mean(at.len(), seat, &seats)),
        };
        seats.iter().map(term).collect()
    }

    /// Returns the chance of a draw between equal players. Which of them moves first makes no
    /// difference.
    fn draw(&self) -> Option<f64> {
        let evidence = self.model.evidence;
        if evidence.seats != 2 || evidence.rated.is_empty() {
            return None;
        }
        if evidence.sets.is_empty() {
            return Some(1.0);
        }
        if evidence.ties.is_empty() {
            return Some(0.0);
        }
        let at = &self.at;
        let seat = |seat| self.model.seat(seat).map_or(0.0, |seat| at[seat]);
        let half = (seat(0) - seat(1)) / 2.0;
        let most = half.abs().max(at[self.model.tie(0)]);
        let share = |worth: f64| (worth - most).exp();
        let draw = share(at[self.model.tie(0)]);
        Some(draw / (draw + share(half) + share(-half)))
    }
}

/// Returns the weights of one parameter against the mean of several, itself among them.
pub(super) fn against_mean(size: usize, one: usize, all: &[usize]) -> Vec<f64> {
    let mut weights = vec![0.0; size];
    let count: f64 = all.iter().map(|_| 1.0).sum();
    for &other in all {
        weights[other] = -1.0 / count;
    }
    weights[one] += 1.0;
    weights
}

/// Returns the mean; 0 of an empty list.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    if count > 0.0 { sum / count } else { 0.0 }
}
