//! Builds the match of a scheduled game: the same on this machine and on a worker.

use referee_contest::{Contest, Fixture, OpeningError, Player};
use referee_games::GameKind;
use referee_play::agent_spec::AgentSpec;
use referee_play::destination::Destination;
use referee_play::human::HumanInput;
use referee_play::match_settings::MatchSettings;
use referee_play::pool::Job;
use referee_play::reach::ReadableFiles;
use serde_json::Value;
use std::sync::Arc;

/// Builds the matches of a contest's games.
#[derive(Debug)]
pub struct JobBuilder {
    contest: Arc<Contest>,
    kinds: Vec<GameKind>,
    /// The last setup with its game and opening: the games of a block share it.
    setup: Option<(usize, u64, Value)>,
}

impl JobBuilder {
    /// Creates a builder for a contest whose games have these rules.
    pub fn new(contest: Arc<Contest>, kinds: Vec<GameKind>) -> Self {
        Self { contest, kinds, setup: None }
    }

    /// Returns a game as a job for the pool; `seat` returns the agent of a player.
    pub fn job(
        &mut self,
        fixture: &Fixture,
        seat: impl Fn(Player) -> Arc<AgentSpec>,
        readable_files: Arc<ReadableFiles>,
        destination: Destination,
    ) -> Result<Job, OpeningError> {
        let (contest, kind) = (&self.contest, self.kinds[fixture.game]);
        let (game, opening) = (fixture.game, fixture.opening);
        let known = self.setup.take().filter(|known| (known.0, known.1) == (game, opening));
        let setup = match known {
            Some((.., setup)) => setup,
            None => contest.opening(kind, game, opening)?,
        };
        self.setup = Some((game, opening, setup.clone()));
        Ok(Job {
            number: fixture.number,
            kind,
            setup,
            seated: fixture.players.iter().map(|&player| seat(player)).collect(),
            conditions: MatchSettings {
                clock: contest.clock.clone(),
                limits: contest.limits.clone(),
                on_fault: contest.policy.on_fault,
                anonymous: contest.anonymous,
                adjudication: contest.adjudication.clone(),
                reuse: contest.reuse,
            },
            no_void: fixture.no_void(),
            seed: fixture.seed,
            draw_key: contest.draw_key(&contest.games[game], fixture.seed),
            readable_files,
            human_input: HumanInput::default(),
            destination,
            hides: !contest.show_hidden,
            is_single: false,
        })
    }
}
