//! Ids and seeds of a match. They depend only on what is played, so the same match has the same ones
//! on every machine.

use referee_games::program::Drawer;
use referee_protocol::encode::to_hex;
use referee_protocol::{GameProgramRecord, Header, Seat};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Display;
use std::sync::Arc;

/// Returns the match's id: the first 16 hex digits of SHA-256 over the compact JSON list of game, setup,
/// the agents' digests in seat order, seed and game number. Of a game whose rules are a program, `game` is its name,
/// `@` and the program's digest. Agents get it: what is hidden from them has no part in it.
pub fn match_id(
    (game, program): (&str, Option<&GameProgramRecord>),
    setup: &Value,
    digests: &[&str],
    seed: u64,
    number: u64,
) -> String {
    let name = program.map_or_else(|| game.to_owned(), |it| format!("{game}@{}", it.digest));
    let setup = setup_for_agents(setup, program);
    let text = json!([name, setup, digests, seed, number]).to_string();
    to_hex(&Sha256::digest(text.as_bytes())[..8])
}

/// Returns the setup as agents get it: a position in which a game with hidden information begins isn't for them.
pub(crate) fn setup_for_agents(setup: &Value, program: Option<&GameProgramRecord>) -> Value {
    let mut setup = setup.clone();
    let is_hidden = program.is_some_and(|it| it.declares("hidden"));
    if let Some(fields) = setup.as_object_mut().filter(|_| is_hidden) {
        fields.remove("position");
    }
    setup
}

/// Returns the id of the match that a header describes.
pub fn id_of(header: &Header) -> String {
    let digests: Vec<&str> = header.seats.iter().map(|seat| seat.digest.as_str()).collect();
    let game = (header.game.as_str(), header.program.as_ref());
    match_id(game, &header.setup, &digests, header.seed, header.game_number)
}

/// Returns a seat's seed: below 2^53, so that every language can hold it in a number.
pub fn seat_seed(match_seed: u64, seat: Seat) -> u64 {
    named_seed(&format!("{match_seed}:{seat}"))
}

/// Returns the seed of a game in a series; the first game has the seed of the series.
pub fn game_seed(series_seed: u64, number: u64) -> u64 {
    if number == 0 { series_seed } else { named_seed(&format!("{series_seed}/{number}")) }
}

/// Returns the seed for a name: the first 53 bits of its SHA-256.
pub fn named_seed(name: &str) -> u64 {
    let hash = Sha256::digest(name.as_bytes());
    let first: [u8; 8] = hash[..8].try_into().expect("a SHA-256 has 32 bytes");
    u64::from_be_bytes(first) >> 11
}

/// Returns what draws in a match with this seed, or with this key in its place: the outcome of a draw follows from it
/// and the number of draws before it.
pub fn drawer(seed_or_key: impl Display) -> Drawer {
    let seed = seed_or_key.to_string();
    Arc::new(move |number, weights| outcome(&seed, number, weights))
}

/// Returns the key of a match for its draws, in hex. Who knows the seed of the match, but not the secret, learns nothing
/// of it.
pub fn draw_key(secret: &str, match_seed: u64) -> String {
    to_hex(&Sha256::digest(format!("{secret}:draws:{match_seed}").as_bytes()))
}

/// Returns what a header says of a key.
pub fn draw_key_sha256(key: &str) -> String {
    to_hex(&Sha256::digest(key.as_bytes()))
}

/// Returns the outcome of the draw with this number, from 0: the first 64 bits of SHA-256 of `SEED:draw:NUMBER`, as a
/// fraction of 2^64, choose among the weights in order.
fn outcome(seed: &str, number: u64, weights: &[u64]) -> usize {
    let mut rest = drawn_below(weights.iter().sum(), seed, number);
    for (index, &weight) in weights.iter().enumerate() {
        if rest < weight {
            return index;
        }
        rest -= weight;
    }
    0
}

/// Returns what the draw with this number is below the sum of its weights.
pub(crate) fn drawn_below(total: u64, seed: &str, number: u64) -> u64 {
    let hash = Sha256::digest(format!("{seed}:draw:{number}").as_bytes());
    let first: [u8; 8] = hash[..8].try_into().expect("a SHA-256 has 32 bytes");
    let place = (u128::from(u64::from_be_bytes(first)) * u128::from(total)) >> 64;
    u64::try_from(place).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{match_id, outcome, seat_seed};
    use referee_protocol::{GameProgramRecord, Seat};
    use serde_json::json;

    #[test]
    fn ids_and_seeds_do_not_change() {
        // printf '["hex",{"size":3},["aa","bb"],7,0]' | sha256sum | cut -c1-16
        let id = match_id(("hex", None), &json!({"size": 3}), &["aa", "bb"], 7, 0);
        assert_eq!(id, "b93dc32e5d8f9c90");
        assert_ne!(id, match_id(("hex", None), &json!({"size": 3}), &["aa", "bb"], 7, 1));
        // printf "7:0" piped to sha256sum: the first 53 bits.
        assert_eq!(seat_seed(7, Seat(0)), 8_655_270_623_749_753);
        assert_ne!(seat_seed(7, Seat(0)), seat_seed(7, Seat(1)));
        assert!((0..200).all(|seed| seat_seed(seed, Seat(2)) < 1 << 53));
        // printf "7:draw:0" piped to sha256sum begins with 2a1dab8ae7092bb2: its first 64 bits are 0.16 of 2^64, so the first of six faces.
        assert_eq!(outcome("7", 0, &[1; 6]), 0);
    }

    /// An agent could try positions until the id is its own match's.
    #[test]
    fn an_id_tells_nothing_of_a_hidden_position() {
        for hidden in [true, false] {
            let described = json!({ "hidden": hidden });
            let program = GameProgramRecord { digest: String::new(), described };
            let id = |position: u8| {
                match_id(("a", Some(&program)), &json!({ "position": position }), &[], 7, 0)
            };
            assert_eq!(id(1) == id(2), hidden);
        }
    }

    #[test]
    fn draws_follow_the_weights() {
        let mut counts = [0; 4];
        (0..8000).for_each(|number| counts[outcome("1", number, &[3, 0, 1, 4])] += 1);
        assert_eq!(counts[1], 0);
        for (count, expected) in counts.into_iter().zip([3000, 0, 1000, 4000_i32]) {
            assert!((count - expected).abs() < 200, "{counts:?}");
        }
        // One draw says nothing of the next.
        let pairs =
            (0..8000).filter(|&n| outcome("1", n, &[1, 1]) == outcome("1", n + 1, &[1, 1])).count();
        assert!((3800..4200).contains(&pairs), "{pairs}");
    }
}
