//! 95 % intervals of differences between players, and how likely one player is stronger than another.
//!
//! The likelihood is followed along a line: the difference changes, and all other parameters move with
//! it as the information matrix says. The signed root of twice the drop, corrected for skewness and for
//! the number of parameters, is about normal (r*: Barndorff-Nielsen, "Inference on full or partial
//! parameters based on the standardized signed log likelihood ratio", 1986). Unlike an estimate with
//! an error, such an interval knows that a player who lost one game of a hundred may be much
//! stronger, but not much weaker.
//!
//! The games of a block depend on each other. The drop is divided by how much more the scores of
//! blocks vary than those of independent games would (Liang and Zeger, "Longitudinal data analysis
//! using generalized linear models", 1986).

use super::WIDTH_95;
use super::cholesky::{Factor, Symmetric, dot};
use super::fit::against_mean;
use super::likelihood::{Model, logistic};
use super::links::Group;
use statrs::distribution::{ContinuousCDF, Normal};

/// An end that is further away, in natural logarithms of odds, is no end: about 3,500 Elo.
const END_MAX: f64 = 20.0;

/// How many steps the search for an end takes: to a millionth of its distance.
const HALVINGS: usize = 20;

/// The likelihood of a choice whose worths the line moves apart by less than this part of the
/// difference is taken as quadratic.
const MOVE_MIN: f64 = 0.1;

/// How many blocks of one player it takes until their variance counts as much as what is assumed
/// without them: that of all players, and for these that of independent games.
const BLOCKS_HALF: f64 = 10.0;

/// The least part of a block's variance that is left after the fit.
const REST_MIN: f64 = 0.1;

/// The intervals of a fit.
pub(super) struct Intervals<'a> {
    profile: Profile<'a>,
    /// For each rated player, its difference to the centre of its group.
    lines: Vec<Line>,
    /// How much more the scores of all players' blocks vary than those of independent games would.
    pub(super) dispersion: f64,
    /// What variances are multiplied by besides.
    inflation: f64,
}

impl<'a> Intervals<'a> {
    /// Prepares the intervals; the most likely parameters are at `at`. `usual` are the groups without an anchor, if
    /// there is one: what games say about each other does not depend on it.
    pub(super) fn new(
        model: &'a Model<'a>,
        groups: &[Group],
        usual: Option<&[Group]>,
        at: Vec<f64>,
        inflation: f64,
    ) -> Self {
        let profile = Profile::new(model, at);
        let lines = profile.lines(groups);
        let usual = usual.map(|usual| profile.lines(usual));
        let usual = usual.as_ref().unwrap_or(&lines);
        let blocks: f64 = usual.iter().map(|line| line.blocks).sum();
        let sum: f64 = usual.iter().map(|line| line.blocks * line.dispersion).sum();
        let dispersion = (BLOCKS_HALF + sum) / (BLOCKS_HALF + blocks);
        Self { profile, lines, dispersion, inflation }
    }

    /// Returns the variance of a weighted sum of parameters, were all games independent.
    pub(super) fn variance_of(&self, weights: &[f64]) -> f64 {
        dot(weights, &self.profile.covariance.times(weights))
    }

    /// Returns the interval of a player's difference to its centre, with the ends that results bound.
    pub(super) fn interval(&self, player: usize, bounded: [bool; 2]) -> [Option<f64>; 2] {
        let line = &self.lines[player];
        // The anchor itself.
        if line.variance <= 0.0 {
            return [Some(0.0); 2];
        }
        let variance = self.variance(line);
        let end = |side: usize, direction| {
            let step = bounded[side].then(|| line.end(direction, variance)).flatten();
            step.map(|step| line.best + step)
        };
        [end(0, -1.0), end(1, 1.0)]
    }

    /// Returns how likely it is that a player is stronger than another one.
    pub(super) fn chance(&self, one: usize, other: usize) -> f64 {
        let mut weights = vec![0.0; self.profile.at.len()];
        (weights[one], weights[other]) = (1.0, -1.0);
        let line = self.profile.line(&weights);
        let root = line.root(-line.best, self.variance(&line));
        Normal::standard().cdf(root * line.best.signum())
    }

    /// Returns how much larger the variance is than that of independent games: the blocks' own, drawn
    /// towards that of all blocks.
    fn variance(&self, line: &Line) -> f64 {
        let sum = BLOCKS_HALF * self.dispersion + line.blocks * line.dispersion;
        self.inflation * sum / (BLOCKS_HALF + line.blocks)
    }
}

/// The fit with the most likely parameters.
struct Profile<'a> {
    model: &'a Model<'a>,
    at: Vec<f64>,
    /// The inverse of the information.
    covariance: Symmetric,
    /// The chance of each option of each set.
    chances: Vec<f64>,
    /// The variance of the strength of each option against the mean of its set.
    variances: Vec<f64>,
}

/// The likelihood along a line through the best parameters.
struct Line {
    /// The difference at the best parameters.
    best: f64,
    /// Its variance, were all games independent.
    variance: f64,
    /// The choices that the line moves: how many, and for each option its chance and how it moves
    /// against the mean.
    moving: Vec<(f64, Vec<(f64, f64)>)>,
    /// The information of all other choices.
    rest: f64,
    /// How fast the information of the other parameters changes.
    tilt: f64,
    /// How much more the scores of blocks vary than those of independent games would.
    dispersion: f64,
    /// How many blocks show that; fewer if most of the evidence is in rare results.
    blocks: f64,
}

/// What each option's set says about the scores of blocks along a line.
struct Scores {
    /// How the option moves against the mean of its set: its score.
    moves: Vec<f64>,
    /// The variance of the score.
    variance: Vec<f64>,
    /// Its fourth cumulant.
    fourth: Vec<f64>,
    /// The part of it that the fit takes up.
    leverage: Vec<f64>,
}

impl<'a> Profile<'a> {
    fn new(model: &'a Model<'a>, at: Vec<f64>) -> Self {
        let information = model.information(&model.evidence.counts, &at);
        let covariance = Factor::of(&information).inverse();
        let chances = model.chances(&at);
        let variances = model.variances(&chances, &covariance);
        Self { model, at, covariance, chances, variances }
    }

    /// Returns each rated player's line: its difference to the centre of its group.
    fn lines(&self, groups: &[Group]) -> Vec<Line> {
        let mut centres = vec![&[][..]; self.model.evidence.rated.len()];
        for group in groups {
            for &player in &group.members {
                centres[player] = &group.centre;
            }
        }
        let weights = |(player, centre)| against_mean(self.at.len(), player, centre);
        centres.into_iter().enumerate().map(|own| self.line(&weights(own))).collect()
    }

    /// Returns the line along which a weighted sum of parameters changes.
    fn line(&self, weights: &[f64]) -> Line {
        let mut step = self.covariance.times(weights);
        let variance = dot(weights, &step);
        for step in step.iter_mut().filter(|_| variance > 0.0) {
            *step /= variance;
        }
        let (mut moving, mut tilt, mut rest) = (Vec::new(), 0.0, 1.0 / variance);
        let mut scores = Scores::new(self.model.exponents(&step));
        for range in self.model.ranges() {
            let chances = &self.chances[range.clone()];
            let all: f64 = self.model.evidence.counts[range.clone()].iter().sum();
            let mean = |values: &mut dyn Iterator<Item = f64>| -> f64 {
                values.zip(chances).map(|(value, chance)| value * chance).sum()
            };
            let moves = &mut scores.moves[range.clone()];
            let centre = mean(&mut moves.iter().copied());
            for one in &mut *moves {
                *one -= centre;
            }
            let power = |power| mean(&mut moves.iter().map(|one| one.powi(power)));
            let (square, fourth) = (power(2), power(4));
            let variances = &self.variances[range.clone()];
            let change = mean(&mut moves.iter().zip(variances).map(|(one, spread)| one * spread));
            tilt += all * (change - variance * power(3)) / 2.0;
            if moves.iter().any(|one| one.abs() > MOVE_MIN) {
                rest -= all * square;
                moving.push((all, chances.iter().copied().zip(moves.iter().copied()).collect()));
            }
            let leverage = mean(&mut variances.iter().copied()) / self.ways();
            scores.variance[range.clone()].fill(square);
            scores.fourth[range.clone()].fill(fourth - 3.0 * square * square);
            scores.leverage[range].fill(leverage);
        }
        for (all, options) in self.prior(&step) {
            rest -= all * options.iter().map(|(chance, one)| chance * one * one).sum::<f64>();
            moving.push((all, options));
        }
        let (dispersion, blocks) = self.dispersion(&scores);
        let best = dot(weights, &self.at);
        Line { best, variance, moving, rest: rest.max(0.0), tilt, dispersion, blocks }
    }

    /// In how many ways the strengths of a game's players can differ: one less than there are.
    fn ways(&self) -> f64 {
        let seats = u32::try_from(self.model.evidence.seats).unwrap_or(u32::MAX);
        f64::from(seats.saturating_sub(1))
    }

    /// Returns the games of the prior that a line moves.
    fn prior(&self, step: &[f64]) -> impl Iterator<Item = (f64, Vec<(f64, f64)>)> {
        let players = self.at.iter().zip(step).take(self.model.evidence.rated.len());
        players.filter(|(_, step)| step.abs() > MOVE_MIN).map(|(&at, &step)| {
            let chance = logistic(at);
            let options = vec![(chance, step * (1.0 - chance)), (1.0 - chance, -step * chance)];
            (2.0 * self.model.prior, options)
        })
    }

    /// Returns how much more the scores of blocks vary than those of independent games would, and how many
    /// blocks show it: as many as would give the same error if every block's score had two values.
    #[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^53 blocks")]
    fn dispersion(&self, scores: &Scores) -> (f64, f64) {
        let (mut found, mut left, mut all, mut error) = (0.0, 0.0, 0.0, 0.0);
        for (block, times) in &self.model.evidence.blocks {
            let sum = |values: &[f64]| block.iter().map(|&count| values[count]).sum::<f64>();
            let (variance, times) = (sum(&scores.variance), *times as f64);
            found += times * sum(&scores.moves).powi(2);
            left += times * variance * (1.0 - sum(&scores.leverage)).max(REST_MIN);
            all += times * variance;
            error += times * (sum(&scores.fourth) + 3.0 * variance * variance);
        }
        let blocks = all * all / error.max(f64::MIN_POSITIVE);
        (found / left.max(f64::MIN_POSITIVE), blocks)
    }
}

impl Scores {
    fn new(moves: Vec<f64>) -> Self {
        let zeros = || vec![0.0; moves.len()];
        Self { variance: zeros(), fourth: zeros(), leverage: zeros(), moves }
    }
}

impl Line {
    /// Returns the size of the signed root after a step; the variance is against that of independent
    /// games.
    fn root(&self, step: f64, variance: f64) -> f64 {
        let mut drop = self.rest * step * step / 2.0;
        for (all, options) in &self.moving {
            let most = options.iter().map(|(_, one)| one * step).fold(f64::NEG_INFINITY, f64::max);
            let worth = options.iter().map(|(chance, one)| chance * (one * step - most).exp());
            drop += all * (worth.sum::<f64>().ln() + most);
        }
        let root = (2.0 * drop).max(0.0).sqrt();
        // Here the correction is a quotient of rounding errors.
        if root < 1e-3 {
            return 0.0;
        }
        let correction = (step.abs() / self.variance.sqrt() / root).ln() - step * self.tilt;
        let root = root / variance.sqrt();
        root + correction / root
    }

    /// Returns the step from the best parameters to an end of the interval.
    fn end(&self, direction: f64, variance: f64) -> Option<f64> {
        let inside = |step: f64| self.root(step, variance) < WIDTH_95;
        let mut outside = direction * (self.variance * variance).sqrt().min(END_MAX);
        while inside(outside) {
            outside *= 2.0;
            if outside.abs() > 2.0 * END_MAX {
                return None;
            }
        }
        let mut near = 0.0;
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(near, outside);
            if inside(middle) {
                near = middle;
            } else {
                outside = middle;
            }
        }
        (outside.abs() < END_MAX).then_some(outside)
    }
}
