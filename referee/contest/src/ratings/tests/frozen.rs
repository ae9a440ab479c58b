//! What other programs found for the same games: `tests/ratings/freeze.py`.

use super::game;
use crate::Record;
use crate::ratings::evidence::Evidence;
use crate::ratings::fit::mean;
use crate::ratings::games::Finish;
use crate::ratings::likelihood::Model;
use crate::ratings::optimizer::maximize;
use serde::Deserialize;

const CLOSE: f64 = 1e-6;

#[derive(Deserialize)]
struct Case {
    name: String,
    players: usize,
    seats: usize,
    /// Players in seat order, then their places.
    games: Vec<Vec<u32>>,
    prior: f64,
    seat_terms: bool,
    strengths: Vec<f64>,
    #[serde(default)]
    seat_values: Vec<f64>,
    /// Among how many, shared by how many, term.
    #[serde(default)]
    ties: Vec<(usize, usize, f64)>,
}

impl Case {
    fn records(&self) -> Vec<Record> {
        let games = (0..).zip(&self.games);
        let half_points = games.map(|(number, row)| (number, row.split_at(self.seats)));
        half_points
            .map(|(number, (players, places))| game(number, number, players, places))
            .collect()
    }
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("choix.json")).unwrap()
}

fn assert_centred(name: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{name}");
    let centre = mean(found.iter().copied());
    for (found, expected) in found.iter().zip(expected) {
        let found = found - centre;
        assert!((found - expected).abs() < CLOSE, "{name}: {found} is not {expected}");
    }
}

#[test]
fn other_programs_find_the_same() {
    for case in cases() {
        let records = case.records();
        let evidence = Evidence::of(case.seats, records.iter().map(Finish::from));
        let model = Model { evidence: &evidence, prior: case.prior, seat_terms: case.seat_terms };
        let at = maximize(&model, &evidence.counts, vec![0.0; model.size()]);
        let (strengths, rest) = at.split_at(case.players);
        assert_centred(&case.name, strengths, &case.strengths);
        assert_centred(&case.name, &rest[..case.seat_values.len()], &case.seat_values);
        let ties: Vec<(usize, usize)> = case.ties.iter().map(|tie| (tie.0, tie.1)).collect();
        assert_eq!(evidence.ties, ties, "{}", case.name);
        for (index, (_, _, expected)) in case.ties.iter().enumerate() {
            let found = at[model.tie(index)];
            assert!((found - expected).abs() < CLOSE, "{}: tie {found}, {expected}", case.name);
        }
    }
}

/// A third derivation of slope and curvature: differences of values.
#[test]
fn slope_and_information_are_derivatives() {
    const STEP: f64 = 1e-5;
    for case in cases() {
        let records = case.records();
        let evidence = Evidence::of(case.seats, records.iter().map(Finish::from));
        let model = Model { evidence: &evidence, prior: 0.7, seat_terms: true };
        let at: Vec<f64> =
            (0..).take(model.size()).map(|index: i32| (f64::from(index) * 1.7).sin()).collect();
        let mut slope = vec![0.0; at.len()];
        model.slope(&evidence.counts, &at, &mut slope);
        let information = model.information(&evidence.counts, &at);
        for parameter in 0..at.len() {
            let ends = [STEP, -STEP].map(|step| {
                let mut moved = at.clone();
                moved[parameter] += step;
                let mut slope = vec![0.0; at.len()];
                let value = model.slope(&evidence.counts, &moved, &mut slope);
                (value, slope)
            });
            let found = (ends[0].0 - ends[1].0) / (2.0 * STEP);
            assert!((found - slope[parameter]).abs() < 1e-4, "{}: {found}", case.name);
            for other in 0..at.len() {
                let found = -(ends[0].1[other] - ends[1].1[other]) / (2.0 * STEP);
                let expected = information.entry(parameter, other);
                assert!((found - expected).abs() < 1e-4, "{}: {found} {expected}", case.name);
            }
        }
    }
}
