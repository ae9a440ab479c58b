use super::test_of;
use crate::SprtSettings;
use crate::sprt::{Decision, Pentanomial, expected_score, real};
use proptest::prelude::{prop_assert, proptest};

/// Figures that other programs gave for the same pairs (logistic model). The first is from the page
/// of raw statistics of a fishtest server (montytest.muzhen.org, test 69d3c8dc7c5b3724e29d2712,
/// "Logistic (exact)"; its second hypothesis is 4 normalised Elo, here in logistic Elo by the
/// variance of the counts). The next two are from fastchess's tests (`sprt_test.cpp`).
#[test]
fn ratios_agree_with_published_ones() {
    for (pairs, elo0, elo1, published, digit) in [
        ([13, 37, 50, 25, 3], 0.0, 2.715_750_43, -0.537_72, 0.000_01),
        ([223, 9863, 20279 + 1000, 10037, 246], 0.5, 2.5, -3.07, 0.01),
        ([871, 26175, 55003 + 980, 26678, 821], 0.0, 2.0, -4.98, 0.01),
    ] {
        let ratio = Pentanomial(pairs).llr(&test_of(elo0, elo1));
        assert!((ratio - published).abs() <= digit / 2.0, "{pairs:?}: {ratio}");
    }
}

#[test]
fn ratios_are_those_of_the_likeliest_distributions() {
    for (pairs, elo0, elo1) in [
        ([10, 20, 40, 20, 10], 0.0, 5.0),
        ([2, 8, 20, 30, 40], 0.0, 20.0),
        ([1, 2, 3, 5, 12], -5.0, 15.0),
        ([30, 20, 10, 4, 1], 0.0, 100.0),
        ([7, 1, 80, 3, 9], -50.0, 300.0),
        ([500, 1, 1, 1, 500], 0.0, 10.0),
    ] {
        let ratio = Pentanomial(pairs).llr(&test_of(elo0, elo1));
        let oracle = best(&pairs, expected_score(elo1)) - best(&pairs, expected_score(elo0));
        assert!((ratio - oracle).abs() < 1e-6, "{pairs:?}: {ratio}, but {oracle}");
    }
}

/// The log-likelihood of the likeliest distribution with this mean, found by walking downhill on
/// ever finer grids over the chances of the three middle outcomes.
fn best(pairs: &[u64; 5], mean: f64) -> f64 {
    let likelihood = |middle: [f64; 3]| {
        let [quarter, half, more] = middle;
        let one = mean - 0.25 * quarter - 0.5 * half - 0.75 * more;
        let chances = [1.0 - quarter - half - more - one, quarter, half, more, one];
        if chances.iter().any(|&chance| chance <= 0.0) {
            return f64::NEG_INFINITY;
        }
        pairs.iter().zip(chances).map(|(&count, chance)| real(count) * chance.ln()).sum()
    };
    let small = 0.1 * mean.min(1.0 - mean);
    let mut at = [small; 3];
    let mut found = likelihood(at);
    let mut step = small / 2.0;
    while step > 1e-10 {
        let mut next = (found, at);
        for neighbour in 0..27 {
            let moves = [neighbour % 3, neighbour / 3 % 3, neighbour / 9];
            let there: [f64; 3] =
                std::array::from_fn(|axis| at[axis] + step * (f64::from(moves[axis]) - 1.0));
            let value = likelihood(there);
            if value > next.0 {
                next = (value, there);
            }
        }
        if next.0 > found {
            (found, at) = next;
        } else {
            step /= 2.0;
        }
    }
    found
}

#[test]
fn one_sided_results_are_decided_and_finite() {
    let settings = test_of(0.0, 40.0);
    assert!(Pentanomial::default().llr(&settings).abs() < 1e-12);
    for (half_points, decision, pairs) in
        [(4, Decision::H1, 28), (0, Decision::H0, 25), (2, Decision::H0, 25)]
    {
        let mut seen = Pentanomial::default();
        while settings.decision(&seen) == Decision::Open {
            seen.push(half_points);
        }
        assert_eq!((settings.decision(&seen), seen.pairs()), (decision, pairs), "{half_points}");
    }
}

proptest! {
    #[test]
    fn ratios_are_finite_and_mirrored(
        pairs in proptest::array::uniform5(0..1_000_000_u64),
        zeros in proptest::array::uniform5(0..2_u64),
        elo0 in -1000.0..999.0,
        width in 0.001..500.0,
    ) {
        let pairs: [u64; 5] = std::array::from_fn(|index| pairs[index] * zeros[index]);
        let elo1 = f64::min(elo0 + width, 1000.0);
        let there = Pentanomial(pairs).llr(&test_of(elo0, elo1));
        prop_assert!(there.is_finite());
        // The old agent's view: everything turned round.
        let mut turned = pairs;
        turned.reverse();
        let back = Pentanomial(turned).llr(&test_of(-elo1, -elo0));
        prop_assert!((there + back).abs() <= 1e-6 * (1.0 + there.abs()), "{there} {back}");
    }
}

#[test]
fn bounds_are_walds() {
    let (lower, upper) = test_of(0.0, 10.0).bounds();
    assert!((lower + 19_f64.ln()).abs() < 1e-12 && (upper - 19_f64.ln()).abs() < 1e-12);
    let strict = SprtSettings { alpha: 0.01, beta: 0.1, ..test_of(0.0, 10.0) };
    let (lower, upper) = strict.bounds();
    assert!((lower - (0.1_f64 / 0.99).ln()).abs() < 1e-12);
    assert!((upper - 90_f64.ln()).abs() < 1e-12);
}
