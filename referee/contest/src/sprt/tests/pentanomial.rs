use crate::Player;
use crate::formats::{Pairing, PairingResult};
use crate::sprt::Pentanomial;
use proptest::prelude::{prop_assert, proptest};

#[test]
fn counts_come_from_blocks() {
    let pairing = Pairing { round: 1, players: Player::all(2).collect() };
    let blocks = vec![vec![4, 0], vec![1, 3]];
    let met = PairingResult { pairing, half_points: vec![5, 3], block_half_points: blocks };
    let pairs = Pentanomial::of(&[met.clone(), met]);
    assert_eq!(pairs, Pentanomial([0, 2, 0, 0, 2]));
    assert_eq!((pairs.pairs(), pairs.score()), (4, Some(0.625)));
}

/// By hand: the score is 0.55, the squared deviations sum to 7.25, with one even pair to 7.375.
#[test]
fn an_estimate_as_by_hand() {
    let pairs = Pentanomial([10, 10, 40, 30, 10]);
    // A game's deviation is the root of 2 * 7.25 / 100.
    assert!((pairs.normalized_elo().unwrap() - 45.62).abs() < 0.005);
    assert_eq!(Pentanomial([0, 0, 0, 0, 10]).normalized_elo(), None);
    let estimate = pairs.estimate().unwrap();
    assert!((estimate.elo - 400.0 * (0.55_f64 / 0.45).log10()).abs() < 1e-9);
    let deviation = 7.375_f64.sqrt() / 100.0;
    let slope = 400.0 / 10_f64.ln() / (0.55 * 0.45);
    assert!((estimate.error - 1.959_964 * deviation * slope).abs() < 1e-4, "{estimate:?}");
    // Normal tables: 0.05 / 0.027157 = 1.8411 deviations are 96.72 %.
    assert!((estimate.los - 96.72).abs() < 0.01, "{estimate:?}");
    assert_eq!((pairs.draw_ratio(), pairs.pairs_ratio()), (Some(0.4), Some(2.0)));
}

#[test]
fn nothing_is_known_before_the_first_pair() {
    let none = Pentanomial::default();
    assert_eq!((none.score(), none.estimate()), (None, None));
    assert_eq!((none.draw_ratio(), none.pairs_ratio()), (None, None));
}

#[test]
fn pairs_that_ended_alike_are_no_certainty() {
    let won = Pentanomial([0, 0, 0, 0, 10]).estimate().unwrap();
    // As if half a draw of 20 games had been given: 79 to 1.
    assert!((won.elo - 400.0 * 79_f64.log10()).abs() < 1e-9, "{won:?}");
    let slope = 400.0 / 10_f64.ln() / (0.975 * 0.025);
    assert!((won.error - 1.959_964 * 0.125_f64.sqrt() / 10.0 * slope).abs() < 1e-3, "{won:?}");
    let lost = Pentanomial([10, 0, 0, 0, 0]).estimate().unwrap();
    assert!((won.elo + lost.elo).abs() < 1e-9 && (won.error - lost.error).abs() < 1e-9);
    assert!((won.los + lost.los - 100.0).abs() < 1e-9);
    let even = Pentanomial([0, 0, 10, 0, 0]).estimate().unwrap();
    assert!(even.elo.abs() < 1e-12 && even.error > 20.0, "{even:?}");
    assert!((even.los - 50.0).abs() < 1e-9);
    assert_eq!(Pentanomial([0, 0, 0, 0, 10]).pairs_ratio(), None);
}

proptest! {
    #[test]
    fn estimates_are_finite(
        pairs in proptest::array::uniform5(0..1_000_000_u64),
        zeros in proptest::array::uniform5(0..2_u64),
    ) {
        let pairs: [u64; 5] = std::array::from_fn(|index| pairs[index] * zeros[index]);
        if let Some(estimate) = Pentanomial(pairs).estimate() {
            prop_assert!(estimate.elo.is_finite());
            prop_assert!(estimate.error.is_finite() && estimate.error > 0.0);
            prop_assert!((0.0..=100.0).contains(&estimate.los));
        }
    }
}
