//! Intervals by bootstrap: what the ratings would have been, had other blocks been played.
//!
//! Blocks are drawn with replacement, as many as there are, because the games of one block depend
//! on each other (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993).

use super::RatingField;
use super::cholesky::Factor;
use super::fit::{ELO, mean};
use super::likelihood::Model;
use super::links::Links;
use super::optimizer::optimize_with_factor;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// A player in fewer blocks has no interval: there are too few different samples.
pub(super) const BLOCKS_MIN: usize = 10;

/// Returns, for each rated player, the 95 % interval of its rating against the mean of its group,
/// in Elo.
pub(super) fn intervals(
    model: &Model<'_>,
    links: &Links,
    best: &[f64],
    factor: &Factor,
    field: &RatingField,
) -> Vec<Option<(f64, f64)>> {
    let evidence = model.evidence;
    let bounded = |player: usize| evidence.blocks_of[player] >= BLOCKS_MIN;
    let mut found = vec![Vec::new(); evidence.rated.len()];
    if !(0..found.len()).any(bounded) {
        return vec![None; found.len()];
    }
    let mut random = ChaCha8Rng::seed_from_u64(field.seed);
    for _ in 0..field.samples {
        let mut counts = vec![0.0; evidence.counts.len()];
        for _ in 0..evidence.blocks.len() {
            for &count in &evidence.blocks[random.random_range(0..evidence.blocks.len())] {
                counts[count] += 1.0;
            }
        }
        let at = optimize_with_factor(model, &counts, best.to_vec(), |slope| factor.solve(slope));
        for group in &links.groups {
            let centre = mean(group.iter().map(|&player| at[player]));
            for &player in group {
                found[player].push((at[player] - centre) * ELO);
            }
        }
    }
    let interval = |(player, found): (usize, &mut Vec<f64>)| {
        found.sort_by(f64::total_cmp);
        let (low, high) = (quantile(found, 0.025)?, quantile(found, 0.975)?);
        // Blocks that are all alike give no width, but no certainty either.
        (bounded(player) && high - low > WIDTH_MIN).then_some((low, high))
    };
    found.iter_mut().enumerate().map(interval).collect()
}

/// An interval narrower than this, in natural logarithms of odds, is not shown.
const WIDTH_MIN: f64 = 1e-6;

/// Returns a quantile of sorted values, with linear interpolation.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = u32::try_from(sorted.len().checked_sub(1)?).ok()?;
    let place = share * f64::from(last);
    // At most `last`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to a u32")]
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    Some(sorted[below] + (sorted[above] - sorted[below]) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_lie_between_values() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[3.0], 0.975), Some(3.0));
        assert_eq!(quantile(&[0.0, 1.0, 3.0], 0.5), Some(1.0));
        assert_eq!(quantile(&[0.0, 1.0, 3.0], 0.75), Some(2.0));
        assert_eq!(quantile(&[0.0, 1.0, 3.0], 1.0), Some(3.0));
    }
}
