//! Openings: positions drawn from a seed.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use referee_games::{AnyGame, GameKind, Turn};
use referee_match::named_seed;
use serde_json::Value;

/// How often an opening is drawn again because it is already decided.
const TRIES: u64 = 200;

/// Why there is no opening.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpeningError {
    /// The game doesn't start.
    #[error("{0}")]
    Setup(String),
    /// The program that has the rules failed.
    #[error("{0}")]
    Rules(String),
    /// All drawn openings are decided.
    #[error(
        "found no opening of {plies} random plies that leaves the game open in {TRIES} tries; use \
         fewer plies"
    )]
    Decided {
        /// The number of plies.
        plies: u32,
    },
}

/// Returns the setup of a game that begins after `plies` random legal actions, drawn from the seed,
/// such that it is not over and no single action ends it.
pub fn draw_opening(
    kind: GameKind,
    setup: &Value,
    plies: u32,
    seed: u64,
) -> Result<Value, OpeningError> {
    if plies == 0 && kind.program().is_some() {
        // It is whole, and its rules needn't be asked.
        return Ok(setup.clone());
    }
    if kind.program().is_some_and(|rules| !rules.lists()) {
        let text = "its rules list no actions, so no random plies can be played; use 0 plies (`--openings 0`), or a file with positions";
        return Err(OpeningError::Setup(text.to_owned()));
    }
    let start = started(kind, setup)?;
    if plies == 0 {
        return Ok(start.setup());
    }
    for attempt in 0..TRIES {
        let mut random =
            ChaCha8Rng::seed_from_u64(named_seed(&format!("opening:{seed}:{attempt}")));
        let mut game = start.clone();
        let reached = (0..=plies).all(|ply| {
            let is_drawn = draw_all(game.as_mut(), &mut random);
            is_drawn && (ply == plies || play_any(game.as_mut(), &mut random))
        });
        let is_open = reached && is_open(game.as_ref())?;
        failed(game.as_ref())?;
        if is_open {
            return Ok(begun_from(start.setup(), game.origin()));
        }
    }
    Err(OpeningError::Decided { plies })
}

/// Starts a game.
pub(crate) fn started(kind: GameKind, setup: &Value) -> Result<Box<dyn AnyGame>, OpeningError> {
    kind.start(setup).map_err(|error| {
        let text = error.to_string();
        if error.rules_failed { OpeningError::Rules(text) } else { OpeningError::Setup(text) }
    })
}

/// A failure of the rules would else look like another position.
fn failed(game: &dyn AnyGame) -> Result<(), OpeningError> {
    let text = |failure| OpeningError::Rules(format!("the rules failed in an opening: {failure}"));
    game.failure().map_or(Ok(()), |failure| Err(text(failure)))
}

/// Draws until a seat is to move. Returns false if the rules fail.
fn draw_all(game: &mut dyn AnyGame, random: &mut ChaCha8Rng) -> bool {
    while let Turn::Chance(_) = game.turn() {
        if !play_any(game, random) {
            return false;
        }
    }
    true
}

/// Plays a random action, or draws. Returns false if there is neither.
pub(crate) fn play_any(game: &mut dyn AnyGame, random: &mut ChaCha8Rng) -> bool {
    if let Turn::Chance(chance) = game.turn() {
        let total = chance.weights.iter().sum::<u64>().max(1);
        let mut rest = random.next_u64() % total;
        let drawn = chance.weights.iter().position(|&weight| {
            let is_drawn = rest < weight;
            rest = rest.saturating_sub(weight);
            is_drawn
        });
        return drawn.is_some_and(|outcome| game.draw(outcome).is_ok());
    }
    let actions = game.actions();
    let Some(index) = random.next_u64().checked_rem(actions.len() as u64) else { return false };
    usize::try_from(index).is_ok_and(|index| game.play(&actions[index]).is_ok())
}

/// Whether the game is not over and no single action ends it.
fn is_open(game: &dyn AnyGame) -> Result<bool, OpeningError> {
    if !matches!(game.turn(), Turn::Of(_)) {
        return Ok(false);
    }
    for action in game.actions() {
        let mut next = game.clone_box();
        let is_played = next.play(&action).is_ok();
        failed(next.as_ref())?;
        if !is_played || matches!(next.turn(), Turn::Over(_)) {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(crate) fn begun_from(mut setup: Value, position: Value) -> Value {
    setup["position"] = position;
    setup
}

/// Returns the numbers below `count` in an order drawn from `name`.
pub(crate) fn shuffled(count: usize, name: &str) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(named_seed(name));
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        let other = random.next_u64() % (last as u64 + 1);
        order.swap(last, usize::try_from(other).unwrap_or(last));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::{OpeningError, draw_opening, shuffled};
    use referee_games::{GAMES, GameKind, Turn};
    use serde_json::{Value, json};

    #[test]
    fn too_many_plies_are_an_error() {
        let hex = GAMES.iter().find(|kind| kind.name == "hex").unwrap();
        let refused = draw_opening(*hex, &json!({"size": 3}), 9, 1);
        assert_eq!(refused, Err(OpeningError::Decided { plies: 9 }));
    }

    #[test]
    fn a_shuffle_has_every_number_once() {
        let mut order = shuffled(100, "a");
        assert_ne!(order, shuffled(100, "b"));
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }

    /// Returns the number of plies from which no opening leaves the game open: the limits end it
    /// first, or the next stone must join something.
    fn too_short(game: &str, setup: &Value) -> u32 {
        let cases = [
            ("chexers", json!({"repetitions": 1}), 1),
            ("chexers", json!({"turns_per_seat": 1}), 2),
            ("freckers", json!({"turn_limit": 1}), 1),
            ("hex", json!({"size": 3}), 8),
        ];
        let mut found = cases.iter().filter(|case| case.0 == game && case.1 == *setup);
        found.next().map_or(u32::MAX, |case| case.2)
    }

    #[test]
    fn openings_of_every_setup_are_positions_to_play_from() {
        for kind in GAMES {
            let mut setups = kind.about().variants.clone();
            setups.push(json!({}));
            for asked in setups {
                let start = kind.start(&asked).unwrap();
                if start.seats() == 1 {
                    continue;
                }
                let none = draw_opening(*kind, &asked, 0, 1).unwrap();
                assert_eq!(none, start.setup(), "no plies: no position");
                for plies in 1..=8 {
                    let draw = || draw_opening(*kind, &asked, plies, u64::from(plies));
                    let drawn = draw();
                    assert_eq!(drawn, draw(), "the same seed, the same opening");
                    let label = format!("{} {asked}, {plies} plies", kind.name);
                    if plies >= too_short(kind.name, &asked) {
                        assert_eq!(drawn, Err(OpeningError::Decided { plies }), "{label}");
                        continue;
                    }
                    plays_on(*kind, &drawn.expect(&label), plies, &label);
                }
            }
        }
    }

    /// The game begins from there, as many plies on, and everything legal there can be played and
    /// ends nothing.
    fn plays_on(kind: GameKind, setup: &Value, plies: u32, label: &str) {
        let game = kind.start(setup).expect(label);
        assert_eq!(game.setup(), *setup, "{label}");
        assert_eq!(game.position(), setup["position"], "{label}");
        assert_eq!(game.turn_number(), u64::from(plies), "{label}");
        let actions = game.actions();
        assert!(!actions.is_empty(), "{label}");
        for action in actions {
            let mut next = game.clone_box();
            assert_eq!(next.play(&action), Ok(action), "{label}");
            assert!(matches!(next.turn(), Turn::Of(_)), "{label}");
        }
    }
}
