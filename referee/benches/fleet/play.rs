//! Plays a game without agents: the match's state machine with the messages that agents would
//! send, and the transcript of that.

use crate::Outcome;
use flate2::Compression;
use flate2::write::GzEncoder;
use referee_contest::{Contest, Fixture};
use referee_games::{AnyGame, kind};
use referee_match::transcript::Recorder;
use referee_match::{Effect, Input, Match, Reading, named_seed};
use referee_play::agent_spec::AgentSpec;
use referee_play::match_settings::{self, MatchSettings};
use referee_protocol::{Header, Level, Nanos, SandboxRecord, Seat};
use serde_json::json;
use std::collections::VecDeque;
use std::io::Write;

/// The time between two inputs.
const STEP: Nanos = Nanos(50_000);

/// Returns a transcript of a game of the contest, sealed and gzipped.
pub(crate) fn play(contest: &Contest, fixture: &Fixture) -> Outcome<Vec<u8>> {
    let kind = kind(&contest.games[fixture.game].game).ok_or("no such game")?;
    let setup = contest.opening(kind, fixture.game, fixture.opening)?;
    let game = kind.start(&setup)?;
    let header = header(contest, fixture, game.as_ref());
    let seats = game.seats();
    let (state, greetings) = Match::begin(game, header);
    let mut player = GamePlayer {
        state,
        now: Nanos(0),
        drawn: fixture.seed,
        recorder: Recorder::new(),
        coming: greetings.into(),
    };
    for seat in Seat::all(seats) {
        player.says(seat, br#"{"type":"ready"}"#);
    }
    player.carry_out();
    for seat in Seat::all(seats) {
        let status = "exit status 0".to_owned();
        player.step(Input::Exited { seat, status, late: false, reading: Reading::default() });
    }
    player.carry_out();
    player.recorder.seal();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&player.recorder.take())?;
    Ok(packed.finish()?)
}

struct GamePlayer {
    state: Match,
    now: Nanos,
    drawn: u64,
    recorder: Recorder,
    coming: VecDeque<Effect>,
}

impl GamePlayer {
    fn carry_out(&mut self) {
        while let Some(effect) = self.coming.pop_front() {
            match effect {
                Effect::Record(event) => self.recorder.record(&event),
                Effect::Ask(seat, _) => {
                    self.step(Input::Asked(seat, Reading::default()));
                    let actions = self.state.game().actions();
                    self.drawn = named_seed(&self.drawn.to_string());
                    let index = usize::try_from(self.drawn).unwrap_or(0) % actions.len().max(1);
                    let line = json!({ "type": "action", "action": actions.get(index) });
                    self.says(seat, line.to_string().as_bytes());
                }
                _ => {}
            }
        }
    }

    fn says(&mut self, seat: Seat, line: &[u8]) {
        let reading = Reading::default();
        self.step(Input::Line { seat, line, cut: false, reading, meaning: None });
    }

    fn step(&mut self, input: Input<'_>) {
        self.now = self.now.plus(STEP);
        let mut effects = Vec::new();
        self.state.step(self.now, input, &mut effects);
        self.coming.extend(effects);
    }
}

fn header(contest: &Contest, fixture: &Fixture, game: &dyn AnyGame) -> Header {
    let players = fixture.players.iter().map(|it| &contest.players[it.index()]);
    let seated: Vec<AgentSpec> = players
        .map(|player| AgentSpec {
            name: player.name.clone(),
            written: player.run.clone(),
            digest: player.digest.clone(),
            ..AgentSpec::default()
        })
        .collect();
    let level = contest.sandbox.level.unwrap_or(Level::None).name().to_owned();
    let pondering = contest.sandbox.pondering;
    let sandbox = SandboxRecord { level, pondering, ..SandboxRecord::default() };
    let conditions = MatchSettings {
        clock: contest.clock.clone(),
        limits: contest.limits.clone(),
        on_fault: contest.policy.on_fault,
        anonymous: contest.anonymous,
        adjudication: contest.adjudication.clone(),
        reuse: contest.reuse,
    };
    let seated: Vec<&AgentSpec> = seated.iter().collect();
    match_settings::header(game, &seated, &conditions, &sandbox, fixture.seed, fixture.number)
}
