//! Text forms shared by several games.

/// Parses `3,1` as a pair of coordinates, which may be off the board.
pub(crate) fn read_pair(text: &str) -> Result<[i64; 2], String> {
    let number = |part: &str| part.trim().parse::<i64>().ok();
    text.split_once(',')
        .and_then(|(first, second)| Some([number(first)?, number(second)?]))
        .ok_or_else(|| format!("expected two coordinates such as `3,1`, got `{text}`"))
}

/// Formats a pair of coordinates so that [`read_pair`] parses it.
pub(crate) fn format_pair([first, second]: [i64; 2]) -> String {
    format!("{first},{second}")
}

#[cfg(test)]
mod tests {
    use super::{format_pair, read_pair};

    #[test]
    fn pairs_are_read_and_written() {
        for (text, pair) in [("3,1", [3, 1]), ("-3,0", [-3, 0]), ("99,-1000000", [99, -1_000_000])]
        {
            assert_eq!(read_pair(text), Ok(pair));
            assert_eq!(format_pair(pair), text);
        }
        for text in ["", "3", "3 1", "3,", ",1", "3,1,2", "a,b", "3,1.5"] {
            assert!(read_pair(text).is_err(), "{text}");
        }
    }
}
