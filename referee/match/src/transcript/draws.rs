//! Draws whose key is recorded at the end of a match.

use crate::identity::{draw_key_sha256, drawn_below};
use referee_games::Chance;
use referee_protocol::Header;

/// What has been drawn, until the key is known from which it follows.
#[derive(Debug, Default)]
pub(super) struct Draws {
    all: Vec<Draw>,
    key: Option<String>,
}

/// A draw: the sum of the weights before its outcome, its own weight, and the sum of all.
#[derive(Debug)]
struct Draw {
    number: u64,
    outcome: usize,
    before: u64,
    weight: u64,
    total: u64,
}

impl Draws {
    /// Adds the draw with this number, from 0.
    pub(super) fn add(
        &mut self,
        number: u64,
        chance: &Chance,
        outcome: usize,
    ) -> Result<(), String> {
        let weights = &chance.weights;
        let Some(&weight) = weights.get(outcome).filter(|weight| **weight > 0) else {
            return Err(format!("draw {number} has no outcome {outcome}"));
        };
        let (before, total) = (weights[..outcome].iter().sum(), weights.iter().sum());
        self.all.push(Draw { number, outcome, before, weight, total });
        Ok(())
    }

    /// Returns the key, once it is known.
    pub(super) fn key(&self) -> Option<String> {
        self.key.clone()
    }

    /// Checks that all draws follow from the key, and that the header has promised this one.
    pub(super) fn check(&mut self, header: &Header, key: Option<&str>) -> Result<(), String> {
        let (hash, key) = match (&header.draw_key_sha256, key) {
            (None, None) => return Ok(()),
            (Some(_), None) => {
                return Err("it has no `draw_key`, and the header has its hash".to_owned());
            }
            (None, Some(_)) => {
                return Err("it has a `draw_key`, but the header has no hash of it".to_owned());
            }
            (Some(hash), Some(key)) => (hash, key),
        };
        if draw_key_sha256(key) != *hash {
            return Err("the header's `draw_key_sha256` is not that of its `draw_key`".to_owned());
        }
        self.key = Some(key.to_owned());
        let is_wrong = |it: &&Draw| {
            let place = drawn_below(it.total, key, it.number);
            !(it.before..it.before + it.weight).contains(&place)
        };
        self.all.iter().find(is_wrong).map_or(Ok(()), |it| {
            Err(format!(
                "draw {} has the outcome {}, but by its `draw_key` it is another",
                it.number, it.outcome
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Draws, draw_key_sha256};
    use crate::identity::drawer;
    use referee_games::{Chance, kind};
    use serde_json::json;

    #[test]
    fn only_the_promised_key_and_its_draws_are_accepted() {
        let game = kind("hex").unwrap().start(&json!({})).unwrap();
        let chance = Chance { weights: vec![1, 0, 2], labels: Vec::new() };
        let own: Vec<usize> =
            (0..20).map(|number| drawer("key")(number, &chance.weights)).collect();
        let check = |outcomes: &[usize], hash: Option<&str>, key: Option<&str>| {
            let mut draws = Draws::default();
            let mut header = crate::header(game.as_ref());
            header.draw_key_sha256 = hash.map(draw_key_sha256);
            for (number, &outcome) in (0..).zip(outcomes) {
                draws.add(number, &chance, outcome)?;
            }
            draws.check(&header, key)
        };
        assert_eq!(check(&own, Some("key"), Some("key")), Ok(()));
        let mut other = own.clone();
        other[7] = 2 - other[7];
        for (outcomes, hash, key, why) in [
            (&other, Some("key"), Some("key"), "draw 7 has the outcome"),
            (&own, Some("key"), Some("other"), "is not that of its `draw_key`"),
            (&own, Some("key"), None, "it has no `draw_key`"),
            (&own, None, Some("key"), "has no hash of it"),
            (&vec![1], Some("key"), Some("key"), "draw 0 has no outcome 1"),
            (&vec![3], Some("key"), Some("key"), "draw 0 has no outcome 3"),
        ] {
            let error = check(outcomes, hash, key).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
