//! What a reader of ratings must know, in sentences. Players are named elsewhere: here they are
//! counted.

use super::RatingField;
use super::bootstrap::BLOCKS_MIN;
use super::evidence::{Evidence, Games};
use super::links::Links;

pub(super) fn notes(
    field: &RatingField,
    games: &Games<'_>,
    evidence: &Evidence,
    links: &Links,
) -> Vec<String> {
    let played = games.fitted.len();
    let idle = field.players - evidence.rated.len();
    let few = evidence.blocks_of.iter().filter(|&&blocks| blocks < BLOCKS_MIN).count();
    let nothing = evidence.sets.is_empty();
    let mut notes = Vec::new();
    let mut say = |holds: bool, note: String| notes.extend(holds.then_some(note));
    say(played == 0, "No games were rated.".to_owned());
    say(
        played > 0 && nothing,
        "In every game all shared one place. That says nothing about who is stronger: only the \
         prior holds the ratings."
            .to_owned(),
    );
    say(
        played > 0 && idle > 0,
        format!("Players without a rated game: {idle}. They stand at 0, which says nothing."),
    );
    say(
        links.groups.len() > 1,
        format!(
            "The players form {} groups between which no game was rated. Each group has its own 0; \
             ratings of different groups can't be compared.",
            links.groups.len()
        ),
    );
    let (won, lost) = (links.won_all.len(), links.lost_all.len());
    say(
        won > 0,
        format!("Players who won every game: {won}. How far they are ahead is held by the prior."),
    );
    say(
        lost > 0,
        format!(
            "Players who lost every game: {lost}. How far they are behind is held by the prior."
        ),
    );
    say(
        links.split > 0 && won + lost == 0 && !nothing,
        "Some players won every game against the rest. How far these two parts are apart is held \
         by the prior."
            .to_owned(),
    );
    say(
        games.duplicates > 0,
        format!(
            "Games that repeated an earlier game move by move, with the same players in the same \
             seats: {}. They are no new evidence and were counted once.",
            games.duplicates
        ),
    );
    say(
        games.faulty > 0,
        format!("Games with a fault, which this contest doesn't rate: {}.", games.faulty),
    );
    say(
        field.samples > 0 && few > 0,
        format!(
            "Players with fewer than {BLOCKS_MIN} blocks of games: {few}. They have no bootstrap \
             interval."
        ),
    );
    notes
}
