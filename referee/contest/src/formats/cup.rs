//! What the knockouts have in common in a contest file: how players are seeded, and how a tie is decided
//! that stays level. Nothing depends on the names of players.

use super::Input;
use crate::Player;
use crate::file::{FileError, Source, Spanned, sanitize_name, within};
use referee_match::named_seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The name of the tie between the losers of the semi-finals.
pub const THIRD_PLACE: &str = "third place";

/// The most replays of a level tie.
const REPLAYS_MAX: u32 = 1000;

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
    pub fn winner(self, seed: u64, round: u32, players: [Player; 2]) -> Player {
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
    pub(super) third_place: Option<Spanned<bool>>,
    /// How players are seeded. Defaults to `lot` if there are `submissions`, else to `list`.
    seeding: Option<Spanned<Seeding>>,
    /// The seeding: a text file with a name per line, the best first, or the folder of an earlier contest,
    /// whose ranking it is. Other players follow by lot.
    pub(super) seeding_from: Option<Spanned<String>>,
    /// How many pairings extend a level tie at most. Defaults to 3.
    replays: Option<Spanned<u32>>,
    /// Who wins a tie that stays level. Defaults to `lot`.
    #[serde(default)]
    level_ties: LevelTies,
}

impl Table {
    /// Checks the settings as far as that needs no agents.
    pub(super) fn check(&self, source: &Source) -> Result<(), FileError> {
        within(source, self.replays.as_ref(), "replays", 0..=REPLAYS_MAX)?;
        match (&self.seeding, &self.seeding_from) {
            (Some(_), Some(from)) => {
                let message = "`seeding` and `seeding_from` contradict each other: give one";
                Err(source.error(from.span(), message))
            }
            _ => Ok(()),
        }
    }

    /// Reads how ties are decided.
    pub(super) fn tie_rules(table: Option<&Self>) -> TieRules {
        let replays = table.and_then(|table| table.replays.as_deref().copied());
        TieRules {
            replays: replays.unwrap_or(TieRules::default().replays),
            level: table.map_or_else(LevelTies::default, |table| table.level_ties),
        }
    }
}

/// Orders the agents by their seeds. Agents that are in this order already stay in it.
pub(super) fn seed(input: &mut Input<'_, Table>) -> Result<(), FileError> {
    let Input { file, table, agents, order, .. } = input;
    let names: Vec<String> = agents.iter().map(|agent| sanitize_name(&agent.player.name)).collect();
    let seed = file.settings.seed;
    let lot = |place: usize| named_seed(&format!("{seed}:seeding:{}", names[place]));
    let default = if file.submissions.is_some() { Seeding::Lot } else { Seeding::List };
    let seeding = table.and_then(|table| table.seeding.as_deref().copied()).unwrap_or(default);
    match table.and_then(|table| table.seeding_from.as_ref()) {
        None if seeding == Seeding::Lot => order.sort_by_key(|&place| lot(place)),
        None => {}
        Some(from) => {
            // A stored contest has been seeded already, and the file may be gone.
            let Some(ranking) = input.ranking else { return Ok(()) };
            let ranks = ranks(&ranking.text);
            let rank = |place: usize| ranks.get(&names[place]).copied();
            if !order.iter().any(|&place| rank(place).is_some()) {
                let message = format!("{} names no player of this contest", ranking.file);
                return Err(file.source.error(from.span(), message).help(
                    "give a text file with a name per line, or the folder of an earlier contest with \
                     the same names",
                ));
            }
            order.sort_by_key(|&place| (rank(place).unwrap_or(usize::MAX), lot(place)));
        }
    }
    Ok(())
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
