//! From a game of the schedule to the match that a pool plays, and what counts of it when it has been
//! played: the same on this machine and on a worker.

use referee_contest::{Contest, Fixture, OpeningError, Player, RecordBuilder};
use referee_games::GameKind;
use referee_play::agent_spec::AgentSpec;
use referee_play::destination::Destination;
use referee_play::human::HumanInput;
use referee_play::match_settings::MatchSettings;
use referee_play::pool::{Job, Watching};
use referee_play::reach::ReadableFiles;
use referee_process::lock::lock;
use referee_protocol::Event;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Makes matches of the games of a contest.
#[derive(Debug)]
pub struct Staging {
    contest: Arc<Contest>,
    kinds: Vec<GameKind>,
    /// The setup that was made last: the games of a block share it.
    setup: Option<(usize, u64, Value)>,
}

impl Staging {
    /// For this contest, whose games have these rules.
    pub fn new(contest: Arc<Contest>, kinds: Vec<GameKind>) -> Self {
        Self { contest, kinds, setup: None }
    }

    /// A game as the pool takes it. `seat` tells who plays for whom.
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
            },
            seed: fixture.seed,
            readable_files,
            human_input: HumanInput::default(),
            destination,
            durable: false,
        })
    }
}

/// What was seen of games that have come to their end, by number.
#[derive(Clone, Debug, Default)]
pub struct Notes(Arc<Mutex<BTreeMap<u64, RecordBuilder>>>);

impl Notes {
    /// What looks on at each game, and notes what counts of it.
    pub fn watching(&self) -> Box<Watching> {
        let notes = self.clone();
        Box::new(move |number| {
            let (notes, mut seen) = (notes.clone(), RecordBuilder::default());
            Box::new(move |event, _| {
                seen.add_event(event);
                if matches!(event, Event::Over(_)) {
                    lock(&notes.0).insert(number, std::mem::take(&mut seen));
                }
            })
        })
    }

    /// What was seen of a game; nothing of one that has no end.
    pub fn take(&self, number: u64) -> RecordBuilder {
        lock(&self.0).remove(&number).unwrap_or_default()
    }
}
