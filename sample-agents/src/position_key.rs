//! Keys to compare positions: the same board with the same seat to move, regardless of the turn.

use crate::board::Board;

/// Returns the position as text without its turn number, which some games call `moves`. Searches call
/// this for every position, so the number is cut from the text, not from a JSON tree.
pub(crate) fn position_key<B: Board>(game: &B) -> String {
    let mut text = game.position();
    for counter in ["\"turn\":", "\"moves\":"] {
        if let Some(from) = text.find(counter) {
            let digits = &text[from + counter.len()..];
            let length = digits.bytes().take_while(u8::is_ascii_digit).count();
            text.replace_range(from..from + counter.len() + length, "");
        }
    }
    text
}
