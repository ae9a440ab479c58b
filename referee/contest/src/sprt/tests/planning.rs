use super::test_of;
use crate::SprtSettings;
use crate::sprt::pentanomial::EVEN_VARIANCE;
use crate::sprt::{Expectation, expected_score};

#[test]
fn the_chances_of_error_are_the_nominal_ones() {
    let settings = SprtSettings { alpha: 0.02, beta: 0.1, ..test_of(-10.0, 30.0) };
    let at = |elo| Expectation::of(&settings, elo, EVEN_VARIANCE).better;
    assert!((at(-10.0) - 0.02).abs() < 1e-9);
    assert!((at(30.0) - 0.9).abs() < 1e-9);
    assert!(at(-1000.0) < 1e-9 && at(1000.0) > 1.0 - 1e-9);
}

/// Half-way between the hypotheses there is no drift, and the mean time of a Brownian motion to
/// leave an interval is the product of the distances to its ends over its variance.
#[test]
fn half_way_takes_longest() {
    let settings = test_of(-20.0, 20.0);
    let at = |elo| Expectation::of(&settings, elo, EVEN_VARIANCE).pairs;
    let width = expected_score(20.0) - expected_score(-20.0);
    let middle = 19_f64.ln().powi(2) * EVEN_VARIANCE / width.powi(2);
    assert!((at(0.0) - middle).abs() < 1e-6);
    assert!((at(0.01) - middle).abs() < 0.01 * middle, "no step next to the middle");
    let along: Vec<f64> = (0..50).map(|step| at(f64::from(step) * 20.0)).collect();
    assert!(along.is_sorted_by(|near, far| near > far), "{along:?}");
    assert!(along.iter().all(|pairs| pairs.is_finite() && *pairs > 0.0));
}

/// The table in the documentation: for each test, the mean number of pairs, with three digits.
#[test]
fn the_documentation_has_the_expected_numbers() {
    let docs = include_str!("../../../../../docs/comparing.md");
    for elo1 in [10.0, 20.0, 40.0, 100.0] {
        let settings = test_of(0.0, elo1);
        let at = |elo: f64| Expectation::of(&settings, elo, EVEN_VARIANCE);
        let pairs = |elo| {
            let pairs = at(elo).pairs.max(1.0);
            let unit = 10_f64.powf(pairs.log10().floor() - 2.0).max(1.0);
            (pairs / unit).round() * unit
        };
        let row =
            format!("| 0, {elo1} | {} | {} | {} |", pairs(elo1), pairs(elo1 / 2.0), pairs(200.0));
        assert_eq!(pairs(0.0).to_bits(), pairs(elo1).to_bits());
        assert!(docs.contains(&row), "missing in docs/comparing.md: {row}");
    }
    let settings = test_of(0.0, 100.0);
    for (elo, percent) in [(20.0, 15), (40.0, 37), (80.0, 86)] {
        let found = 100.0 * Expectation::of(&settings, elo, EVEN_VARIANCE).better;
        assert!((found - f64::from(percent)).abs() < 0.5, "{elo}: {found}");
    }
}
