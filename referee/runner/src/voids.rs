//! The void attempts of a contest: how many each game had, and how many each agent has caused.

use super::store::VoidAttempt;
use referee_contest::report::CausedVoids;
use referee_contest::{Contest, Fixture, Player, Void};
use referee_match::RULES;
use std::collections::{BTreeMap, BTreeSet};

/// The void attempts over all runs.
#[derive(Debug, Default)]
pub(super) struct VoidTally {
    /// Attempts of each game.
    attempts: BTreeMap<u64, u32>,
    /// Attempts that each player has caused.
    caused: BTreeMap<u32, u32>,
    /// The players whose actions the rules have failed at.
    at_rules: BTreeSet<u32>,
}

impl VoidTally {
    /// Returns the tally of a contest's store.
    pub(super) fn of(voids: &[VoidAttempt]) -> Self {
        let mut tally = Self::default();
        for void in voids {
            tally.add(void);
        }
        tally
    }

    fn add(&mut self, void: &VoidAttempt) {
        // Ordered by attempt.
        self.attempts.insert(void.number, void.attempt);
        if let Some(player) = void.player {
            *self.caused.entry(player.0).or_default() += 1;
            if void.cause == RULES {
                self.at_rules.insert(player.0);
            }
        }
    }

    /// Adds an attempt at a game, without its transcript.
    pub(super) fn count(
        &mut self,
        fixture: Option<&Fixture>,
        number: u64,
        void: Void,
    ) -> VoidAttempt {
        let attempt = self.attempts.get(&number).copied().unwrap_or_default() + 1;
        let Void { cause, text, seat } = void;
        let player = fixture.zip(seat).and_then(|(it, seat)| it.players.get(seat.index()).copied());
        let void = VoidAttempt { number, attempt, cause, text, player, transcript: None };
        self.add(&void);
        void
    }

    /// Returns how many attempts a player has caused.
    pub(super) fn caused_by(&self, player: Player) -> u32 {
        self.caused.get(&player.0).copied().unwrap_or_default()
    }

    /// Whether the rules have failed at actions of more than half of the teams, and of at least two: then it isn't the
    /// players that make them fail. A team may have any number of versions.
    pub(super) fn are_rules_broken(&self, contest: &Contest) -> bool {
        let teams = contest.teams();
        let failed: BTreeSet<_> =
            self.at_rules.iter().filter_map(|&player| teams.get(Player(player).index())).collect();
        let all: BTreeSet<_> = teams.iter().collect();
        failed.len() > (all.len() / 2).max(1)
    }

    /// Writes to a game how many more its agents may cause.
    pub(super) fn limit(&self, contest: &Contest, fixture: &mut Fixture) {
        let most = contest.policy.agent_voids;
        let are_broken = self.are_rules_broken(contest);
        let left = |player: &Player| {
            if are_broken { most } else { most.saturating_sub(self.caused_by(*player)) }
        };
        fixture.voids_left = fixture.players.iter().map(left).collect();
    }
}

/// Returns how many void attempts each player has caused, in the order of the players, without those
/// who caused none.
pub(super) fn caused(contest: &Contest, voids: &[VoidAttempt]) -> Vec<CausedVoids> {
    let tally = VoidTally::of(voids);
    let at_most = u64::from(contest.policy.agent_voids);
    let caused = tally.caused.iter().filter_map(|(&player, &attempts)| {
        let name = contest.players.get(Player(player).index())?.name.clone();
        Some(CausedVoids { name, attempts: u64::from(attempts), at_most })
    });
    caused.collect()
}
