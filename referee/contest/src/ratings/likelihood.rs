//! The model: how likely the results are, given the strengths of players, seats and ties.
//!
//! A remaining player in a seat has the worth `exp(strength + seat)`. The chance that some of the
//! remaining players share the next place is proportional to the geometric mean of their worths,
//! times a term that depends on how many share it among how many. This is the Davidson-Luce model
//! (Firth, Kosmidis and Turner, "Davidson-Luce model for multi-item choice with ties", 2019), with
//! a tie term for every number that remains. With two seats it is Davidson's (1970); without ties
//! it is Plackett and Luce's; without both it is Bradley and Terry's. Its logarithm is concave:
//! there is one optimum.

use super::cholesky::Symmetric;
use super::evidence::{ChoiceOption, ChoiceSet, Evidence, Shape};
use std::ops::Range;

/// The prior of all terms other than players' strengths.
const TERM_PRIOR: f64 = 1.0;

/// What is fitted, and to what.
#[derive(Debug)]
pub(super) struct Model<'a> {
    pub(super) evidence: &'a Evidence,
    /// The prior: each player gets this many extra wins and losses against the average. All other
    /// terms get the equivalent of [`TERM_PRIOR`].
    pub(super) prior: f64,
    /// Whether seats have terms.
    pub(super) seat_terms: bool,
}

/// Buffers for one set: what each of its choices is worth, and how likely it is.
#[derive(Debug, Default)]
struct Workspace {
    /// The worth of each seated player, then each tie term, as logarithms.
    worths: Vec<f64>,
    /// The parameters whose sum each of these is.
    parameters: Vec<[Option<usize>; 2]>,
    /// The chance of each option.
    chances: Vec<f64>,
    /// One entry for each of `worths`.
    slopes: Vec<f64>,
}

impl Model<'_> {
    /// Returns the number of parameters: players', seats' and ties'.
    pub(super) fn size(&self) -> usize {
        self.tie(0) + self.evidence.ties.len()
    }

    /// Returns the index of a seat's parameter.
    pub(super) fn seat(&self, seat: usize) -> Option<usize> {
        self.seat_terms.then(|| self.evidence.rated.len() + seat)
    }

    /// Returns the index of a tie term's parameter.
    pub(super) fn tie(&self, tie: usize) -> usize {
        let seats = if self.seat_terms { self.evidence.seats } else { 0 };
        self.evidence.rated.len() + seats + tie
    }

    fn prior(&self, parameter: usize) -> f64 {
        if parameter < self.evidence.rated.len() { self.prior } else { TERM_PRIOR }
    }

    /// Returns, for each option of each set, the sum of these values of the parameters that make its
    /// worth: at the parameters, the logarithm of its worth.
    pub(super) fn exponents(&self, at: &[f64]) -> Vec<f64> {
        let mut exponents = Vec::with_capacity(self.evidence.counts.len());
        for set in &self.evidence.sets {
            let shape = &self.evidence.shapes[set.remaining.len()];
            exponents.extend(shape.options.iter().map(|option| {
                let members = option.members.iter().map(|&member| {
                    let spot = set.remaining[member];
                    at[spot.player] + self.seat(spot.seat).map_or(0.0, |seat| at[seat])
                });
                let tie = option.tie.map_or(0.0, |tie| at[self.tie(shape.ties[tie])]);
                members.sum::<f64>() * share(option.members.len()) + tie
            }));
        }
        exponents
    }

    /// Returns the chance of each option of each set.
    pub(super) fn chances(&self, at: &[f64]) -> Vec<f64> {
        let mut chances = self.exponents(at);
        for range in self.ranges() {
            let chances = &mut chances[range];
            let most = chances.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = chances.iter().map(|chance| (chance - most).exp()).sum();
            for chance in chances {
                *chance = (*chance - most).exp() / total;
            }
        }
        chances
    }

    /// Returns the counts for which the most likely parameters have hardly any bias. Those for the counts
    /// themselves, which are at `at`, are too far apart: by the leverage of its players, each choice is
    /// counted as if any of them had been as likely (Firth, "Bias reduction of maximum likelihood
    /// estimates", 1993). For a player that is about one game won and one lost. The leverage is as if
    /// the opponents' strengths were known.
    pub(super) fn counts_without_bias(&self, at: &[f64]) -> Vec<f64> {
        let mut counts = self.evidence.counts.clone();
        let information: Vec<f64> = self.information(&counts, at).diagonal().collect();
        let chances = self.chances(at);
        for (set, range) in self.evidence.sets.iter().zip(self.ranges()) {
            let options = &self.evidence.shapes[set.remaining.len()].options;
            let (counts, chances) = (&mut counts[range.clone()], &chances[range]);
            let all: f64 = counts.iter().sum();
            let part = |player: usize, option: &ChoiceOption| {
                if option.members.contains(&player) { share(option.members.len()) } else { 0.0 }
            };
            let leverage = set.remaining.iter().enumerate().map(|(player, spot)| {
                let moment = |power| {
                    let parts = options.iter().map(|option| part(player, option).powi(power));
                    parts.zip(chances).map(|(part, chance)| part * chance).sum::<f64>()
                };
                (moment(2) - moment(1).powi(2)) / information[spot.player]
            });
            let extra = all * leverage.sum::<f64>();
            for (count, option) in counts.iter_mut().zip(options) {
                let alike = options.iter().zip(chances);
                let alike = alike.filter(|(other, _)| other.members.len() == option.members.len());
                let (ways, chance) =
                    alike.fold((0.0, 0.0), |(ways, sum), (_, chance)| (ways + 1.0, sum + chance));
                *count += extra * chance / ways;
            }
        }
        counts
    }

    /// Returns, for each option of each set, the variance of the difference between its strength and the mean
    /// of its set.
    pub(super) fn variances(&self, chances: &[f64], covariance: &Symmetric) -> Vec<f64> {
        let mut variances = Vec::with_capacity(chances.len());
        for (set, range) in self.evidence.sets.iter().zip(self.ranges()) {
            let shape = &self.evidence.shapes[set.remaining.len()];
            let mut mean = vec![0.0; set.remaining.len()];
            for (option, chance) in shape.options.iter().zip(&chances[range]) {
                for &member in &option.members {
                    mean[member] += chance * share(option.members.len());
                }
            }
            variances.extend(shape.options.iter().map(|option| {
                let mut part: Vec<f64> = mean.iter().map(|mean| -mean).collect();
                for &member in &option.members {
                    part[member] += share(option.members.len());
                }
                let row = |row: usize| {
                    let entry = |column: usize| {
                        covariance.entry(set.remaining[row].player, set.remaining[column].player)
                    };
                    (0..part.len()).map(|column| part[column] * entry(column)).sum::<f64>()
                        * part[row]
                };
                (0..part.len()).map(row).sum::<f64>()
            }));
        }
        variances
    }

    /// Returns where the options of each set are, in the order of the sets.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let size = |set: &ChoiceSet| self.evidence.shapes[set.remaining.len()].options.len();
        self.evidence.sets.iter().map(move |set| set.first_count..set.first_count + size(set))
    }

    /// Returns the logarithm of the likelihood of these counts, prior included; overwrites
    /// `gradient`.
    pub(super) fn slope(&self, counts: &[f64], at: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for (parameter, &place) in at.iter().enumerate() {
            // A game won and a game lost against 0: log(p (1 - p)).
            value += self.prior(parameter) * (place - 2.0 * softplus(place));
            gradient[parameter] = self.prior(parameter) * (1.0 - 2.0 * logistic(place));
        }
        let mut work = Workspace::default();
        for (set, shape, counts, all) in self.sets(counts) {
            value += work.value(self, set, shape, counts, all, at);
            for (slope, parameters) in work.slopes.iter().zip(&work.parameters) {
                for parameter in parameters.iter().flatten() {
                    gradient[*parameter] += slope;
                }
            }
        }
        value
    }

    /// Returns the information matrix: the second derivatives with their signs changed. In this
    /// model the observed and the expected one are equal.
    pub(super) fn information(&self, counts: &[f64], at: &[f64]) -> Symmetric {
        let mut information = Symmetric::zero(self.size());
        for (parameter, &place) in at.iter().enumerate() {
            let chance = logistic(place);
            let amount = self.prior(parameter) * 2.0 * chance * (1.0 - chance);
            information.add(parameter, parameter, amount);
        }
        let mut work = Workspace::default();
        for (set, shape, counts, all) in self.sets(counts) {
            work.value(self, set, shape, counts, all, at);
            work.spread(shape, all, &mut information);
        }
        information
    }

    /// Returns the sets from which a choice was made, each with its counts and their sum.
    fn sets<'a>(
        &'a self,
        counts: &'a [f64],
    ) -> impl Iterator<Item = (&'a ChoiceSet, &'a Shape, &'a [f64], f64)> {
        self.evidence.sets.iter().filter_map(move |set| {
            let shape = &self.evidence.shapes[set.remaining.len()];
            let counts = &counts[set.first_count..set.first_count + shape.options.len()];
            let all: f64 = counts.iter().sum();
            (all > 0.0).then_some((set, shape, counts, all))
        })
    }
}

impl Workspace {
    /// Returns the set's part of the logarithm of the likelihood, and fills the buffers.
    fn value(
        &mut self,
        model: &Model<'_>,
        set: &ChoiceSet,
        shape: &Shape,
        counts: &[f64],
        all: f64,
        at: &[f64],
    ) -> f64 {
        self.parameters.clear();
        let seated_players =
            set.remaining.iter().map(|spot| [Some(spot.player), model.seat(spot.seat)]);
        self.parameters.extend(seated_players);
        self.parameters.extend(shape.ties.iter().map(|&tie| [Some(model.tie(tie)), None]));
        self.worths.clear();
        for parts in &self.parameters {
            self.worths.push(parts.iter().flatten().map(|&part| at[part]).sum());
        }
        self.slopes.clear();
        self.slopes.resize(self.worths.len(), 0.0);
        self.chances.clear();
        let seated_players = set.remaining.len();
        for option in &shape.options {
            let members: f64 = option.members.iter().map(|&member| self.worths[member]).sum();
            let tie = option.tie.map_or(0.0, |tie| self.worths[seated_players + tie]);
            self.chances.push(members * share(option.members.len()) + tie);
        }
        let most = self.chances.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut value = 0.0;
        let mut total = 0.0;
        for (chance, count) in self.chances.iter_mut().zip(counts) {
            *chance -= most;
            value += count * *chance;
            *chance = chance.exp();
            total += *chance;
        }
        for (index, option) in shape.options.iter().enumerate() {
            self.chances[index] /= total;
            let slope = counts[index] - all * self.chances[index];
            for &member in &option.members {
                self.slopes[member] += slope * share(option.members.len());
            }
            if let Some(tie) = option.tie {
                self.slopes[seated_players + tie] += slope;
            }
        }
        value - all * total.ln()
    }

    /// Adds the set's information: the variance of the parameters over the options.
    fn spread(&self, shape: &Shape, all: f64, information: &mut Symmetric) {
        let size = self.worths.len();
        let seated_players = size - shape.ties.len();
        let mut mean = vec![0.0; size];
        let mut square = vec![0.0; size * size];
        let mut made_of = vec![0.0; size];
        for (option, &chance) in shape.options.iter().zip(&self.chances) {
            made_of.fill(0.0);
            for &member in &option.members {
                made_of[member] = share(option.members.len());
            }
            if let Some(tie) = option.tie {
                made_of[seated_players + tie] = 1.0;
            }
            for row in (0..size).filter(|&row| made_of[row] > 0.0) {
                mean[row] += chance * made_of[row];
                for column in 0..size {
                    square[row * size + column] += chance * made_of[row] * made_of[column];
                }
            }
        }
        for row in 0..size {
            for column in 0..size {
                let amount = all * (square[row * size + column] - mean[row] * mean[column]);
                for &left in self.parameters[row].iter().flatten() {
                    // Mirrored entries are stored once.
                    let right = self.parameters[column].iter().flatten();
                    for &right in right.filter(|&&right| right <= left) {
                        information.add(left, right, amount);
                    }
                }
            }
        }
    }
}

/// Returns the weight of one value in a mean of `members`.
fn share(members: usize) -> f64 {
    match members {
        1 => 1.0,
        2 => 0.5,
        more => 1.0 / f64::from(u32::try_from(more).unwrap_or(u32::MAX)),
    }
}

/// Returns the chance that corresponds to log odds.
pub(super) fn logistic(odds: f64) -> f64 {
    if odds >= 0.0 { 1.0 / (1.0 + (-odds).exp()) } else { odds.exp() / (1.0 + odds.exp()) }
}

/// Returns the logarithm of `1 + exp(at)`, for any size of `at`.
fn softplus(at: f64) -> f64 {
    at.max(0.0) + (-at.abs()).exp().ln_1p()
}
