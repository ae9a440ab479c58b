//! One joint fit, and what follows from it.

use super::super::{Contest, Player, Record};
use super::bootstrap::intervals;
use super::cholesky::Factor;
use super::evidence::{Evidence, Games};
use super::likelihood::Model;
use super::links::Links;
use super::notes::notes;
use super::optimizer::maximize;
use super::{Rating, Ratings, Term};
use statrs::distribution::{ContinuousCDF, Normal};
use std::f64::consts::LN_10;

/// Elo points per unit of the fit, in which odds are powers of e.
pub(super) const ELO: f64 = 400.0 / LN_10;

/// Half the width of a 95 % interval of a normal distribution, in standard deviations.
const WIDTH_95: f64 = 1.959_963_984_540_054;

/// How many games won, and as many lost, the prior adds for every player.
pub(super) const PRIOR: f64 = 1.0;

/// What is rated, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RatingField {
    /// How many players the contest has.
    pub players: usize,
    /// How many seats a game has.
    pub seats: usize,
    /// Whether games with a fault count.
    pub rate_faults: bool,
    /// How many samples the bootstrap draws; 0 for no bootstrap.
    pub samples: usize,
    /// The seed of the bootstrap's draws.
    pub seed: u64,
}

impl RatingField {
    /// How many samples the bootstrap draws by default: the ends of an interval are then about the
    /// fifth lowest and the fifth highest.
    pub const SAMPLES: usize = 200;

    /// Returns the settings of a contest.
    pub fn of(contest: &Contest) -> Self {
        Self {
            players: contest.players.len(),
            seats: contest.games.first().map_or(0, |game| game.seats),
            rate_faults: contest.policy.rate_faults,
            samples: Self::SAMPLES,
            seed: contest.seed,
        }
    }
}

/// Rates all players by all games at once. The same records in any order give the same bits.
/// Records that don't fit the field (other numbers of seats, unknown players, a player against
/// itself, void games, games of one seat or of more than eight) are left out.
pub fn rate(field: &RatingField, records: &[Record]) -> Ratings {
    let games = Games::of(field, records);
    let evidence = Evidence::of(field.seats, games.fitted.iter().copied());
    let links = Links::of(&evidence);
    let model = Model { evidence: &evidence, prior: PRIOR, seat_terms: true };
    let at = maximize(&model, &evidence.counts, vec![0.0; model.size()]);
    let factor = Factor::of(&model.information(&evidence.counts, &at));
    let fit = Fit { field, model: &model, links: &links, at, factor };
    let as_players =
        |found: &[usize]| found.iter().map(|&player| evidence.rated[player]).collect::<Vec<_>>();
    let players = fit.players();
    Ratings {
        model: if field.seats > 2 { "plackett-luce" } else { "bradley-terry-davidson" }.to_owned(),
        anchor: if links.groups.len() > 1 {
            "the mean of all rated players of the same group"
        } else {
            "the mean of all rated players"
        }
        .to_owned(),
        prior: "for every player one game won and one lost against an average player".to_owned(),
        seats: fit.seats(),
        draw: fit.draw(),
        games: games.fitted.len() as u64,
        blocks: evidence.blocks.len() as u64,
        duplicates: games.duplicates,
        groups: players.iter().map(|rating| rating.group + 1).max().unwrap_or(0),
        won_all: as_players(&links.won_all),
        lost_all: as_players(&links.lost_all),
        notes: notes(field, &games, &evidence, &links),
        players,
    }
}

/// The best parameters, and the factor of the information there.
struct Fit<'a> {
    field: &'a RatingField,
    model: &'a Model<'a>,
    links: &'a Links,
    at: Vec<f64>,
    factor: Factor,
}

impl Fit<'_> {
    fn players(&self) -> Vec<Rating> {
        let evidence = self.model.evidence;
        let unrated = |player| Rating {
            player,
            elo: 0.0,
            error: None,
            bootstrap: None,
            better_than_next: None,
            games: 0,
            group: 0,
        };
        let mut ratings: Vec<Rating> = Player::all(self.field.players).map(unrated).collect();
        let intervals = intervals(self.model, self.links, &self.at, &self.factor, self.field);
        let mut leaders = vec![None; ratings.len()];
        for group in &self.links.groups {
            let centre = mean(group.iter().map(|&player| self.at[player]));
            for &player in group {
                let rating = &mut ratings[evidence.rated[player].index()];
                rating.elo = (self.at[player] - centre) * ELO;
                rating.error = self.error(against_mean(self.at.len(), player, group));
                rating.bootstrap = intervals[player];
                rating.games = evidence.games[player];
                leaders[rating.player.index()] = Some(evidence.rated[group[0]].index());
            }
            for (player, better) in self.better(group) {
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
            let mut weights = vec![0.0; self.at.len()];
            (weights[pair[0]], weights[pair[1]]) = (1.0, -1.0);
            let ahead = self.at[pair[0]] - self.at[pair[1]];
            let deviation = self.factor.variance(weights).sqrt();
            let chance = Normal::standard().cdf(ahead / deviation) * 100.0;
            (pair[0], Some(chance).filter(|chance| chance.is_finite()))
        });
        pairs.collect()
    }

    /// Returns half the width of the 95 % interval of a weighted sum of parameters, in Elo.
    fn error(&self, weights: Vec<f64>) -> Option<f64> {
        let error = self.factor.variance(weights).sqrt() * WIDTH_95 * ELO;
        Some(error).filter(|error| error.is_finite())
    }

    fn seats(&self) -> Vec<Term> {
        let seats: Option<Vec<usize>> =
            (0..self.model.evidence.seats).map(|seat| self.model.seat(seat)).collect();
        let seats = seats.unwrap_or_default();
        if self.model.evidence.rated.is_empty() {
            return vec![Term { elo: 0.0, error: None }; seats.len()];
        }
        let centre = mean(seats.iter().map(|&seat| self.at[seat]));
        let term = |&seat: &usize| Term {
            elo: (self.at[seat] - centre) * ELO,
            error: self.error(against_mean(self.at.len(), seat, &seats)),
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
        let seat = |seat| self.model.seat(seat).map_or(0.0, |seat| self.at[seat]);
        let half = (seat(0) - seat(1)) / 2.0;
        let most = half.abs().max(self.at[self.model.tie(0)]);
        let share = |worth: f64| (worth - most).exp();
        let draw = share(self.at[self.model.tie(0)]);
        Some(draw / (draw + share(half) + share(-half)))
    }
}

/// Returns the weights of one parameter against the mean of several, itself among them.
fn against_mean(size: usize, one: usize, all: &[usize]) -> Vec<f64> {
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
