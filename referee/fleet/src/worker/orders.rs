//! Orders as they come from the wire: whether they make sense in their contest.

use super::joined::Checked;
use crate::Order;
use referee_contest::Fixture;
use std::collections::BTreeSet;

/// Seeds are below it, so that every reader of JSON has them whole.
const SEEDS: u64 = 1 << 53;

/// The block that a subject names.
pub(super) fn block_of(subject: &str) -> Option<u64> {
    subject.rsplit('.').next()?.parse().ok()
}

/// The attempt that a message's id names: `BLOCK-ATTEMPT`.
pub(super) fn attempt_of(id: &str) -> Option<u32> {
    id.split_once('-')?.1.parse().ok()
}

/// The order for this block, or what is wrong with it.
pub(super) fn read(bytes: &[u8], block: u64, checked: &Checked) -> Result<Order, String> {
    let order: Order =
        serde_json::from_slice(bytes).map_err(|error| format!("no order: {error}"))?;
    if order.block != block {
        return Err(format!("it is for block {}, under the subject of block {block}", order.block));
    }
    let count = order.fixtures.len() as u64;
    if count == 0 || count > checked.games_a_block {
        return Err(format!("it has {count} games; a block has {}", checked.games_a_block));
    }
    let mut seen = BTreeSet::new();
    for fixture in &order.fixtures {
        let wrong = wrong(fixture, block, checked);
        let wrong = wrong.or((!seen.insert(fixture.number)).then_some("is there twice"));
        if let Some(wrong) = wrong {
            return Err(format!("game {} {wrong}", fixture.number));
        }
    }
    Ok(order)
}

/// What is wrong with a game.
fn wrong(fixture: &Fixture, block: u64, checked: &Checked) -> Option<&'static str> {
    let contest = &checked.contest;
    if fixture.block != block || fixture.number / checked.games_a_block != block {
        return Some("is none of its block's");
    }
    let Some(game) = contest.games.get(fixture.game) else {
        return Some("is of no game of the contest");
    };
    if fixture.players.len() != game.seats {
        return Some("hasn't one player a seat");
    }
    if fixture.players.iter().any(|player| player.index() >= contest.players.len()) {
        return Some("has a player that isn't in the contest");
    }
    let players: BTreeSet<_> = fixture.players.iter().collect();
    if players.len() != fixture.players.len() {
        return Some("has a player on two seats");
    }
    (fixture.seed >= SEEDS).then_some("has a seed that is too large")
}
