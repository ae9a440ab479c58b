//! Counts and lists of games in sentences.

/// How many games of a list are shown.
const GAMES_SHOWN: usize = 5;

/// Formats a count with its noun: "1 game", "2 games".
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Formats a list of game numbers; of many, the first ones.
pub fn games(numbers: &[u64]) -> String {
    let (shown, more) = numbers.split_at(numbers.len().min(GAMES_SHOWN));
    let mut words: Vec<String> = shown.iter().map(u64::to_string).collect();
    if !more.is_empty() {
        words.push(format!("{} more", more.len()));
    }
    match words.split_last() {
        None => "no games".to_owned(),
        Some((only, [])) => format!("game {only}"),
        Some((last, first)) => format!("games {} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::games;

    #[test]
    fn of_many_games_the_first_are_named() {
        let named = [0, 1, 2, 5, 6, 17].map(|count| games(&(3..3 + count).collect::<Vec<u64>>()));
        let words = [
            "no games",
            "game 3",
            "games 3 and 4",
            "games 3, 4, 5, 6 and 7",
            "games 3, 4, 5, 6, 7 and 1 more",
            "games 3, 4, 5, 6, 7 and 12 more",
        ];
        assert_eq!(named, words);
    }
}
