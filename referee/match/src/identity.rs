//! Ids and seeds of a match. They depend only on what is played, so the same match has the same ones
//! on every machine.

use referee_protocol::encode::to_hex;
use referee_protocol::{Header, Seat};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Returns the match's id: the first 16 hex digits of SHA-256 over the compact JSON list of game, setup,
/// the agents' digests in seat order, seed and game number.
pub fn match_id(game: &str, setup: &Value, digests: &[&str], seed: u64, number: u64) -> String {
    let text = json!([game, setup, digests, seed, number]).to_string();
    to_hex(&Sha256::digest(text.as_bytes())[..8])
}

/// Returns the id of the match that a header describes.
pub fn id_of(header: &Header) -> String {
    let digests: Vec<&str> = header.seats.iter().map(|seat| seat.digest.as_str()).collect();
    match_id(&header.game, &header.setup, &digests, header.seed, header.game_number)
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

#[cfg(test)]
mod tests {
    use super::{match_id, seat_seed};
    use referee_protocol::Seat;
    use serde_json::json;

    #[test]
    fn ids_and_seeds_do_not_change() {
        // printf '["hex",{"size":3},["aa","bb"],7,0]' | sha256sum | cut -c1-16
        let id = match_id("hex", &json!({"size": 3}), &["aa", "bb"], 7, 0);
        assert_eq!(id, "b93dc32e5d8f9c90");
        assert_ne!(id, match_id("hex", &json!({"size": 3}), &["aa", "bb"], 7, 1));
        // printf "7:0" piped to sha256sum: the first 53 bits.
        assert_eq!(seat_seed(7, Seat(0)), 8_655_270_623_749_753);
        assert_ne!(seat_seed(7, Seat(0)), seat_seed(7, Seat(1)));
        assert!((0..200).all(|seed| seat_seed(seed, Seat(2)) < 1 << 53));
    }
}
