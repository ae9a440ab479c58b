//! Checks orders from the wire.

use super::active::CheckedBrief;
use crate::Order;
use referee_contest::Fixture;
use referee_protocol::plain_error;
use std::collections::BTreeSet;

/// Seeds are below this, so that every JSON parser reads them exactly.
const SEEDS: u64 = 1 << 53;

/// Returns the block in a subject.
pub(super) fn block_of(subject: &str) -> Option<u64> {
    subject.rsplit('.').next()?.parse().ok()
}

/// Returns the attempt in a message id: `BLOCK-ATTEMPT`.
pub(super) fn attempt_of(id: &str) -> Option<u32> {
    id.split_once('-')?.1.parse().ok()
}

/// Returns the order for this block, or what is wrong with it.
pub(super) fn read(bytes: &[u8], block: u64, checked: &CheckedBrief) -> Result<Order, String> {
    let order: Order = serde_json::from_slice(bytes)
        .map_err(|error| format!("not a valid order: {}", plain_error(&error.to_string())))?;
    if order.block != block {
        return Err(format!("it is for block {}, but arrived as block {block}", order.block));
    }
    let count = order.fixtures.len() as u64;
    let most = checked.contest.games_of_a_block() as u64;
    if count == 0 || count > most {
        return Err(format!("it has {count} games, but a block has 1 to {most}"));
    }
    let mut seen = BTreeSet::new();
    for fixture in &order.fixtures {
        let wrong = wrong(fixture, block, checked);
        let wrong = wrong.or((!seen.insert(fixture.number)).then_some("is listed twice"));
        if let Some(wrong) = wrong {
            return Err(format!("game {} {wrong}", fixture.number));
        }
    }
    Ok(order)
}

/// Returns what is wrong with a game.
fn wrong(fixture: &Fixture, block: u64, checked: &CheckedBrief) -> Option<&'static str> {
    let contest = &checked.contest;
    if fixture.block != block || fixture.number / contest.games_of_a_block() as u64 != block {
        return Some("is not in its block");
    }
    let Some(game) = contest.games.get(fixture.game) else {
        return Some("names an unknown game");
    };
    if fixture.players.len() != game.seats {
        return Some("has a wrong number of players");
    }
    if fixture.players.iter().any(|player| player.index() >= contest.players.len()) {
        return Some("has an unknown player");
    }
    let players: BTreeSet<_> = fixture.players.iter().collect();
    if players.len() != fixture.players.len() {
        return Some("has the same player in two seats");
    }
    (fixture.seed >= SEEDS).then_some("has a seed that is too large")
}

#[cfg(test)]
mod tests {
    use super::super::active::CheckedBrief;
    use super::read;
    use crate::Order;
    use crate::coordinator::tests::brief;
    use referee_contest::Schedule;
    use referee_games::Games;
    use serde_json::{Value, json};

    /// A change that makes an order invalid.
    type Change = fn(&mut Value);

    #[test]
    fn invalid_orders_are_refused() {
        let checked = CheckedBrief::of(brief(""), &Games::default()).unwrap();
        let schedule = Schedule::new(checked.contest.clone());
        let fixtures = (0..2).filter_map(|number| schedule.fixture(number)).collect();
        let order = Order { block: 0, attempt: 7, fixtures, void_retries: 2 };
        let valid = serde_json::to_value(&order).unwrap();
        assert_eq!(read(valid.to_string().as_bytes(), 0, &checked).unwrap(), order);
        let wrong: [(Change, &str); 10] = [
            (|order| order["block"] = json!(1), "but arrived as block 0"),
            (|order| order["fixtures"] = json!([]), "0 games"),
            (|order| order["fixtures"][1] = order["fixtures"][0].clone(), "listed twice"),
            (|order| order["fixtures"][0]["number"] = json!(4), "not in its block"),
            (|order| order["fixtures"][0]["game"] = json!(9), "an unknown game"),
            (|order| order["fixtures"][0]["players"] = json!([0]), "wrong number of players"),
            (|order| order["fixtures"][0]["players"] = json!([0, 77]), "has an unknown player"),
            (|order| order["fixtures"][0]["players"] = json!([1, 1]), "in two seats"),
            (|order| order["fixtures"][0]["seed"] = json!(1_u64 << 53), "seed that is too large"),
            (|order| order["fixtures"] = json!("../../etc/passwd"), "not a valid order"),
        ];
        for (change, expected) in wrong {
            let mut order = valid.clone();
            change(&mut order);
            let error = read(order.to_string().as_bytes(), 0, &checked).unwrap_err();
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }
}
