//! When two positions of a match are the same: the same board with the same seat to move, however
//! many turns it took to get there.

use referee_games::Game;

/// The position as text without its count of turns, which some games call `moves`. Searches ask for
/// this at every position, so the counter is cut from the text instead of from a tree of values.
pub(crate) fn key<G: Game>(game: &G) -> String {
    let mut text =
        serde_json::to_string(&game.position()).expect("positions have string keys only");
    for counter in ["\"turn\":", "\"moves\":"] {
        if let Some(from) = text.find(counter) {
            let digits = &text[from + counter.len()..];
            let length = digits.bytes().take_while(u8::is_ascii_digit).count();
            text.replace_range(from..from + counter.len() + length, "");
        }
    }
    text
}
