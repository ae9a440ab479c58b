//! What the knockouts have in common in a contest file: how players are seeded, and how a tie is decided
//! that stays level. Nothing depends on the names of players.

use super::Entry;
use crate::forms::within;
use crate::settings::Mistake;
use crate::{Player, Seed};
use referee_match::named_seed;
use referee_protocol::sanitize::sanitize_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The name of the tie between the losers of the semi-finals.
pub const THIRD_PLACE: &str = "third place";

/// How ties are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TieRules {
    /// How many pairings extend a level tie at most, one at a time.
    pub replays: u32,
    /// Who advances after them.
    pub level: LevelTies,
}

impl Default for TieRules {
    /// The rules of contests of versions without these settings.
    fn default() -> Self {
        Self { replays: 3, level: LevelTies::HigherSeed }
    }
}

/// Who wins a tie that stays level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LevelTies {
    /// A player drawn by lot, from the contest's seed.
    #[default]
    Lot,
    /// The higher seed.
    HigherSeed,
}

impl TieRules {
    /// Returns the winner of a tie of a round that stays level, in a contest with this seed.
    pub fn winner(self, seed: Seed, round: u32, players: [Player; 2]) -> Player {
        let [higher, lower] = [players[0].min(players[1]), players[0].max(players[1])];
        let tie = format!("{seed}:tie:{round}:{}:{}", higher.0, lower.0);
        let lot = || named_seed(&tie) % 2 == 1;
        if self.level == LevelTies::Lot && lot() { lower } else { higher }
    }
}

/// How players are seeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Seeding {
    /// By lot, from the contest's seed.
    Lot,
    /// In the order of the agents in the file.
    List,
}

/// More about a knockout.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Knockout")]
pub(crate) struct Table {
    /// Whether the losers of the semi-finals play for the third place. Not in a double knockout, where
    /// they play on anyway.
    pub(super) third_place: Option<bool>,
    /// How players are seeded. Defaults to `lot` if there are `submissions`, else to `list`.
    seeding: Option<Seeding>,
    /// The seeding: a text file with a name per line, the best first, or the folder of an earlier contest,
    /// whose ranking it is. Other players follow by lot.
    pub(super) seeding_from: Option<String>,
    /// How many pairings extend a level tie at most. Defaults to 3.
    #[serde(default, deserialize_with = "within::<_, _, 0, 1000>")]
    replays: Option<u32>,
    /// Who wins a tie that stays level. Defaults to `lot`.
    #[serde(default)]
    level_ties: LevelTies,
}

impl Table {
    /// Checks the settings as far as that needs no agents.
    pub(super) fn check(&self) -> Result<(), Mistake> {
        if self.seeding.is_some() && self.seeding_from.is_some() {
            let message = "`seeding` and `seeding_from` contradict each other: give one";
            return Err(Mistake::at(".seeding_from", message));
        }
        Ok(())
    }

    /// Reads how ties are decided.
    pub(super) fn tie_rules(table: Option<&Self>) -> TieRules {
        let replays = table.and_then(|table| table.replays);
        TieRules {
            replays: replays.unwrap_or(TieRules::default().replays),
            level: table.map_or_else(LevelTies::default, |table| table.level_ties),
        }
    }
}

/// Orders the agents by their seeds. Agents that are in this order already stay in it.
pub(super) fn seed(
    table: Option<&Table>,
    entry: &Entry<'_>,
    order: &mut [usize],
) -> Result<(), Mistake> {
    let Entry { names, .. } = entry;
    let default = if entry.has_submissions { Seeding::Lot } else { Seeding::List };
    let seeding = table.and_then(|table| table.seeding).unwrap_or(default);
    if table.is_none_or(|table| table.seeding_from.is_none()) {
        if seeding == Seeding::Lot {
            draw_lots(entry, order);
        }
        return Ok(());
    }
    // A stored contest has been seeded already, and the file may be gone.
    let Some((file, ranking)) = entry.ranking else { return Ok(()) };
    let ranks = ranks(ranking);
    let rank = |place: usize| ranks.get(&names[place]).copied();
    if !order.iter().any(|&place| rank(place).is_some()) {
        let message = format!("{file} names no player of this contest");
        return Err(Mistake::at(".seeding_from", message).help(
            "give a text file with a name per line, or the folder of an earlier contest with the same \
             names",
        ));
    }
    order.sort_by_key(|&place| (rank(place).unwrap_or(usize::MAX), lot(entry, place)));
    Ok(())
}

/// Orders the agents by lot.
pub(super) fn draw_lots(entry: &Entry<'_>, order: &mut [usize]) {
    order.sort_by_key(|&place| lot(entry, place));
}

fn lot(Entry { names, seed, .. }: &Entry<'_>, place: usize) -> u64 {
    named_seed(&format!("{seed}:seeding:{}", names[place]))
}

/// Returns the rank of each name in a report's JSON or a list with a name per line.
fn ranks(text: &str) -> BTreeMap<String, usize> {
    let report: Option<Value> = serde_json::from_str(text).ok();
    let players = report.as_ref().and_then(|it| it["standings"]["players"].as_array());
    let names: Vec<&str> = match players {
        Some(players) => players.iter().filter_map(|player| player["name"].as_str()).collect(),
        None => text.lines().collect(),
    };
    let mut ranks = BTreeMap::new();
    for (rank, name) in names.into_iter().map(sanitize_name).enumerate() {
        ranks.entry(name).or_insert(rank);
    }
    ranks
}
