//! What a reader of ratings must know, as sentences. Players are counted, not named.

use super::RatingField;
use super::evidence::Evidence;
use super::games::RatedGames;
use super::links::Links;
use crate::wording::count;

pub(super) fn notes(
    field: &RatingField,
    games: &RatedGames,
    evidence: &Evidence,
    links: &Links,
) -> Vec<String> {
    let played = games.len();
    let idle = field.players - evidence.rated.len();
    let nothing = evidence.sets.is_empty();
    let mut notes = Vec::new();
    let mut say = |holds: bool, note: String| notes.extend(holds.then_some(note));
    say(played == 0, "No games were rated.".to_owned());
    say(
        played > 0 && nothing,
        "All players shared one place in every game, so the ratings follow from the prior alone."
            .to_owned(),
    );
    say(played > 0 && idle > 0, format!("{}: shown as 0.", of(idle, "without a rated game")));
    say(
        links.groups.len() > 1,
        format!(
            "The players form {} groups without rated games between them. Each group has its own 0, so \
             ratings can't be compared across groups.",
            links.groups.len()
        ),
    );
    let (won, lost) = (links.won_all.len(), links.lost_all.len());
    say(won > 0, format!("{}: its rating has no upper bound.", of(won, "won every game")));
    say(lost > 0, format!("{}: its rating has no lower bound.", of(lost, "lost every game")));
    say(
        links.split > 0 && won + lost == 0 && !nothing,
        "Some players won every game against the rest, so the distance between the two parts has \
         no upper bound."
            .to_owned(),
    );
    say(
        games.duplicates > 0,
        format!(
            "Games that repeat an earlier game move by move, with the same players in the same seats: \
             {}. Each is rated once.",
            games.duplicates
        ),
    );
    let left = games.without_scores();
    say(
        left > 0,
        format!(
            "Games that a player left, or that agents' scores ended: {left}. In ratings by score their losers are {} \
             behind the first, as far as anybody was in any game.",
            games.greatest_lag().abs()
        ),
    );
    say(games.faulty > 0, format!("Games with a fault, not rated: {}.", games.faulty));
    notes
}

/// Such as "1 player lost every game".
fn of(players: usize, did: &str) -> String {
    format!("{} {did}", count(players as u64, "player"))
}
