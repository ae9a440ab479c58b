//! Asks an agent for its action in any position, by a match that ends after its first turn, and replays a
//! recorded turn to its agent, as `debug` does.

use super::App;
use super::branch::BranchQuery;
use super::errors::{ApiError, ApiResult};
use super::frames::{Frame, Frames};
use super::hosted_matches::{MatchRequest, job, spec};
use super::matches::up_to;
use super::tail::Tail;
use referee_games::Turn;
use referee_match::transcript::Playback;
use referee_play::core_context::{CoreContext, Orders, PausedTime};
use referee_play::destination::Destination;
use referee_play::human::{HumanInput, PlayerPrompts};
use referee_play::pool::{Job, Pool, PoolSize, Watching};
use referee_play::recorded_turn::{RecordedTurn, TurnReport};
use referee_play::rerun::{RerunError, RerunRequest, rerun};
use referee_play::running_matches::RunningMatches;
use referee_process::sandbox::Sandbox;
use referee_protocol::Event;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::task::LocalSet;

/// The time that the agent has, besides that to start.
const CLOCK: &str = "10s";
/// How long to wait for it, more than it has.
const WAIT: Duration = Duration::from_secs(30);

/// A question to an agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    file: String,
    ply: usize,
    #[serde(default)]
    actions: String,
    agent: String,
}

/// The ply whose turn is replayed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RerunQuestion {
    file: String,
    ply: usize,
}

/// Replays the turn of a ply to the recorded agent, and returns its new answer with the judgement.
pub(super) fn rerun_turn(app: &App, question: &RerunQuestion) -> ApiResult<Value> {
    let RerunQuestion { file, ply } = question;
    let turn = up_to(app, file, *ply)?.plies()[*ply].turn;
    let case =
        RecordedTurn::read(&Tail::open(file, &app.served)?.bytes()?, file, None, Some(turn))?;
    let play = app.matches.allowed()?;
    let unfit = |text: String| {
        ApiError::unfit(text).help(format!("run: referee debug {file} --turn {turn}"))
    };
    case.header.limits.check().map_err(unfit)?;
    let agent = case.header.seats[case.seat.index()].agent.as_deref().unwrap_or_default();
    let below = app.listing.contents(&app.served);
    // Only what may be started from the page: a transcript may name any program.
    let spec = spec(&app.served, play, &below.agents, agent)
        .map_err(|error| unfit(error.text().to_owned()))?;
    if spec.launch.is_none() {
        return Err(ApiError::unfit("a person played this turn"));
    }
    let _permit = app.matches.enter(false)?;
    let failed = |error: std::io::Error| ApiError::machine(error.to_string());
    let (header, events, seat, turn) = (&case.header, &case.events[..], case.seat, case.turn);
    let wanted = RerunRequest { header, events, seat, turn, is_patient: false };
    let sandbox = (play.sandbox)(1)?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let report = LocalSet::new().block_on(&runtime, async {
        let context = CoreContext::alone(sandbox)?;
        rerun(&wanted, &spec, &context, async |_| Ok(())).await
    });
    let report = report.map_err(|error| match error {
        RerunError::Transcript(text) => ApiError::unfit(text),
        RerunError::Machine(error) => failed(error),
    })?;
    let wrong = case.wrong(&report);
    let (note, report) =
        (case.note(&spec, &report), TurnReport::new(&case, &spec, &report, wrong.as_ref()));
    Ok(json!({ "report": report, "note": note }))
}

/// Returns what the agent did in its turn, as a frame.
pub(super) fn ask(app: &App, question: &Question) -> ApiResult<Value> {
    let Question { file, ply, actions, agent } = question;
    let playback = BranchQuery::new(file.clone(), *ply, actions.clone()).playback(app)?;
    let Turn::Of(to_move) = playback.game().turn() else {
        return Err(ApiError::unfit("the game is over, so nobody is to move"));
    };
    let mut setup: Map<String, Value> =
        playback.header().setup.as_object().cloned().unwrap_or_default();
    setup.insert("position".to_owned(), playback.game().position());
    // Nobody answers for the others.
    let mut seats = vec!["@human".to_owned(); playback.header().seats.len()];
    agent.clone_into(&mut seats[to_move.index()]);
    let game = playback.header().game.clone();
    let request = MatchRequest { game, setup, seats, clock: Some(CLOCK.to_owned()), pace_ms: 0 };
    let play = app.matches.allowed()?;
    let below = app.listing.contents(&app.served);
    let mut job = job(&app.served, play, &below.agents, &request)?;
    job.destination = Destination::Nowhere;
    job.human_input = HumanInput::Prompts(Arc::<PlayerPrompts>::default());
    let _permit = app.matches.enter(false)?;
    let sandbox = (play.sandbox)(play.jobs)?;
    job.readable_files.check(sandbox.launcher.layers, &job.seated)?;
    Ok(json!({ "frame": first_turn(job, sandbox)? }))
}

/// Plays the first turn of a match.
fn first_turn(job: Job, sandbox: Sandbox) -> ApiResult<Frame> {
    let failed = |error: std::io::Error| ApiError::machine(error.to_string());
    let (sender, events) = mpsc::channel();
    let watching: Box<Watching> = Box::new(move |_| {
        let sender = sender.clone();
        Box::new(move |event, _| {
            sender.send(event.clone()).ok();
        })
    });
    let orders = watch::Sender::new(Orders::default());
    let size = PoolSize { matches: 1, pin: false };
    let (paused, live) = (PausedTime::default(), RunningMatches::default());
    let pool = Pool::start(size, sandbox, orders.subscribe(), paused, watching, live);
    let Pool { jobs, mut results, threads } = pool.map_err(failed)?;
    let sent = jobs.blocking_send(job).is_ok();
    let frame = if sent { frame_of(&events) } else { None };
    orders.send_modify(|orders| orders.stop = Some("the question is answered".to_owned()));
    drop(jobs);
    let played = results.blocking_recv();
    threads.join();
    match (frame, played.map(|played| played.result)) {
        (Some(frame), _) => Ok(frame),
        (None, Some(Err(error))) => Err(failed(error)),
        (None, _) => Err(ApiError::unfit("the agent did not answer")),
    }
}

/// Returns the first ply that the events make.
fn frame_of(events: &mpsc::Receiver<Event>) -> Option<Frame> {
    let mut playback: Option<Playback> = None;
    while let Ok(event) = events.recv_timeout(WAIT) {
        match (&mut playback, &event) {
            (None, Event::Header(header)) => playback = Playback::begin(*header.clone()).ok(),
            (Some(playback), event) => playback.take(event).ok()?,
            (None, _) => {}
        }
        if let Some(playback) = playback.as_ref().filter(|playback| playback.plies().len() > 1) {
            return Some(Frames::new(&playback.game().view()).frame(playback, 1));
        }
    }
    None
}
