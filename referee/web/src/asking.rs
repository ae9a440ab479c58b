//! Asks an agent for its action in any position, by a match that ends after its first turn, and replays a
//! recorded turn to its agent, as `debug` does.

use super::App;
use super::branch::BranchQuery;
use super::errors::{ApiError, ApiResult, FOUND_RULES_MAX};
use super::frames::{Frame, Frames};
use super::hosted_matches::{MatchRequest, Slot, job};
use super::matches::up_to;
use super::read_json;
use super::tail::Tail;
use super::visitor::{Asker, Session, Visitor};
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use referee_games::{Games, Turn};
use referee_match::transcript::Playback;
use referee_play::core_context::{CoreContext, Orders, PausedTime};
use referee_play::destination::Destination;
use referee_play::game_program::limit_waiting_for_found;
use referee_play::human::{HumanInput, PlayerPrompts};
use referee_play::pool::{Job, Pool, PoolSize, Watching};
use referee_play::recorded_turn::{RecordedTurn, TurnReport};
use referee_play::rerun::{RerunError, RerunRequest, rerun};
use referee_play::running_matches::RunningMatches;
use referee_process::lock::lock;
use referee_process::sandbox::Sandbox;
use referee_protocol::{Event, Header};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};
use tokio::task::LocalSet;

/// The time that an asked agent has, besides that to start.
const CLOCK: &str = "10s";
/// How long to wait for it, more than it has.
const WAIT: Duration = Duration::from_secs(30);
/// How long a turn is replayed, whatever clock the transcript has.
const RERUN_TIME: Duration = Duration::from_secs(60);

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

/// What visitors are asking agents now: one question each, the last.
#[derive(Debug, Default)]
pub(super) struct Questions(Mutex<BTreeMap<Asker, watch::Sender<Orders>>>);

/// A question until it is dropped: when it is answered, or its visitor has left.
#[derive(Debug)]
struct Asked {
    questions: Arc<Questions>,
    from: Asker,
    orders: watch::Sender<Orders>,
}

impl Questions {
    /// Begins a question, and ends the one that the visitor asked before.
    fn begin(self: &Arc<Self>, from: Asker) -> Asked {
        let orders = watch::Sender::new(Orders::default());
        if let Some(before) = lock(&self.0).insert(from.clone(), orders.clone()) {
            stop(&before, "the same visitor asks something else");
        }
        Asked { questions: self.clone(), from, orders }
    }

    /// Ends all of them.
    pub(super) fn stop_all(&self) {
        lock(&self.0).values().for_each(|orders| stop(orders, "the server is stopping"));
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        stop(&self.orders, "nobody waits for the answer");
        let mut all = lock(&self.questions.0);
        if all.get(&self.from).is_some_and(|last| last.same_channel(&self.orders)) {
            all.remove(&self.from);
        }
    }
}

fn stop(orders: &watch::Sender<Orders>, why: &str) {
    orders.send_modify(|orders| orders.stop = orders.stop.take().or(Some(why.to_owned())));
}

/// Answers a question on a thread of its own: those that read files are for all visitors.
async fn answer<Q: DeserializeOwned + Send + 'static>(
    app: Arc<App>,
    from: Asker,
    bytes: &[u8],
    handler: fn(&App, &Q, &watch::Sender<Orders>) -> ApiResult<Value>,
) -> ApiResult<Json<Value>> {
    let question = read_json(bytes)?;
    app.matches.allowed()?;
    let permit = app.matches.enter(Slot::Question, from.1)?;
    let asked = app.questions.begin(from);
    let orders = asked.orders.clone();
    let (sender, receiver) = oneshot::channel();
    let work = move || {
        limit_waiting_for_found(FOUND_RULES_MAX);
        let answer = handler(&app, &question, &orders);
        // Whoever has the answer may ask the next question.
        drop(permit);
        sender.send(answer).ok();
    };
    let failed = |error: std::io::Error| ApiError::machine(error.to_string());
    std::thread::Builder::new().name("question".to_owned()).spawn(work).map_err(failed)?;
    let answer = receiver.await;
    drop(asked);
    answer.map_err(|_| ApiError::machine("the referee failed"))?.map(Json)
}

pub(super) async fn rerun_turn(
    State(app): State<Arc<App>>,
    who: Session,
    from: Visitor,
    bytes: Bytes,
) -> ApiResult<Json<Value>> {
    answer(app, (who, from), &bytes, run_turn_again).await
}

pub(super) async fn ask(
    State(app): State<Arc<App>>,
    who: Session,
    from: Visitor,
    bytes: Bytes,
) -> ApiResult<Json<Value>> {
    answer(app, (who, from), &bytes, ask_agent).await
}

/// Replays the turn of a ply to the recorded agent, and returns its new answer with the judgement.
fn run_turn_again(
    app: &App,
    question: &RerunQuestion,
    orders: &watch::Sender<Orders>,
) -> ApiResult<Value> {
    let RerunQuestion { file, ply } = question;
    let turn = up_to(app, file, *ply)?.plies()[*ply].turn;
    let tail = Tail::open(file, &app.served)?;
    let case = RecordedTurn::read(&tail.bytes()?, &tail.games, file, None, Some(turn))?;
    let play = app.matches.allowed()?;
    let help = format!("run: referee debug {file} --turn {turn}");
    let unfit = |text: String| ApiError::unfit(text).help(&help);
    let limits = &case.header.limits;
    limits.check().map_err(unfit)?;
    // A transcript may name any program, and any limits.
    let spec = play
        .recorded(&case.header.seats[case.seat.index()])
        .map_err(|error| unfit(error.text().to_owned()))?;
    if spec.launch.is_none() {
        return Err(ApiError::unfit("a person played this turn"));
    }
    let header = Header { limits: limits.bounded(1), ..case.header.clone() };
    let failed = |error: std::io::Error| ApiError::machine(error.to_string());
    let (events, seat, turn) = (&case.events[..], case.seat, case.turn);
    let wanted =
        RerunRequest { header: &header, games: &tail.games, events, seat, turn, is_patient: false };
    let sandbox = play.sandbox(1)?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let mut stopped = orders.subscribe();
    let report = LocalSet::new().block_on(&runtime, async {
        let context = CoreContext::alone(sandbox).map_err(failed)?;
        tokio::select! {
            report = rerun(&wanted, &spec, &context, async |_| Ok(())) => {
                report.map_err(|error| match error {
                    RerunError::Transcript(text) => ApiError::unfit(text),
                    RerunError::Machine(error) => failed(error),
                })
            }
            orders = stopped.wait_for(|orders| orders.stop.is_some()) => {
                let why = orders.ok().and_then(|orders| orders.stop.clone());
                Err(ApiError::conflict(why.unwrap_or_default()))
            }
            () = tokio::time::sleep(RERUN_TIME) => {
                let text = format!("the agent took longer than {} s", RERUN_TIME.as_secs());
                Err(unfit(text))
            }
        }
    });
    let report = report?;
    let wrong = case.wrong(&spec, &report);
    let (note, report) =
        (case.note(&spec, &report), TurnReport::new(&case, &spec, &report, wrong.as_ref()));
    Ok(json!({ "report": report, "note": note }))
}

/// Returns what the agent did in its turn, as a frame.
fn ask_agent(app: &App, question: &Question, orders: &watch::Sender<Orders>) -> ApiResult<Value> {
    let Question { file, ply, actions, agent } = question;
    let playback = BranchQuery::new(file.clone(), *ply, actions.clone()).playback(app)?;
    let Turn::Of(to_move) = playback.game().turn() else {
        return Err(ApiError::unfit("the game is over, so nobody is to move"));
    };
    let mut setup: Map<String, Value> =
        playback.header().setup.as_object().cloned().unwrap_or_default();
    setup.insert("position".to_owned(), playback.game().origin());
    // Nobody answers for the others.
    let mut seats = vec!["@human".to_owned(); playback.header().seats.len()];
    agent.clone_into(&mut seats[to_move.index()]);
    let game = playback.header().game.clone();
    let request = MatchRequest { game, setup, seats, clock: Some(CLOCK.to_owned()), pace_ms: 0 };
    let play = app.matches.allowed()?;
    let mut job = job(&app.served, playback.game().kind(), play, &request)?;
    job.destination = Destination::Nowhere;
    job.human_input = HumanInput::Prompts(Arc::<PlayerPrompts>::default());
    let sandbox = play.sandbox(play.jobs)?;
    job.readable_files.check(sandbox.launcher.layers, &job.seated)?;
    Ok(json!({ "frame": first_turn(job, sandbox, orders)? }))
}

/// Plays the first turn of a match.
fn first_turn(job: Job, sandbox: Sandbox, orders: &watch::Sender<Orders>) -> ApiResult<Frame> {
    let failed = |error: std::io::Error| ApiError::machine(error.to_string());
    let (sender, events) = mpsc::channel();
    let watching: Box<Watching> = Box::new(move |_| {
        let sender = sender.clone();
        Box::new(move |event, _| {
            sender.send(event.clone()).ok();
        })
    });
    let games = Games::of([job.kind]);
    let size = PoolSize { matches: 1, pin: false, uses_free_cores: false };
    let (paused, live) = (PausedTime::default(), RunningMatches::default());
    let pool = Pool::start(size, sandbox, orders.subscribe(), paused, watching, live);
    let Pool { jobs, mut results, threads } = pool.map_err(failed)?;
    let sent = jobs.blocking_send(job).is_ok();
    let frame = if sent { frame_of(&events, &games) } else { None };
    stop(orders, "the question is answered");
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
fn frame_of(events: &mpsc::Receiver<Event>, games: &Games) -> Option<Frame> {
    let mut playback: Option<Playback> = None;
    while let Ok(event) = events.recv_timeout(WAIT) {
        match (&mut playback, &event) {
            (None, Event::Header(header)) => {
                playback = Playback::begin(*header.clone(), games).ok();
            }
            (Some(playback), event) => playback.take(event).ok()?,
            (None, _) => {}
        }
        if let Some(playback) = playback.as_ref().filter(|playback| playback.plies().len() > 1) {
            return Some(Frames::new(&playback.game().view()).frame(playback, 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::Questions;
    use crate::visitor::{Session, Visitor};
    use std::sync::Arc;

    #[test]
    fn a_question_ends_only_the_one_before_of_its_session() {
        let questions = Arc::<Questions>::default();
        let ask = |number| {
            let from = (Session::of(number), Visitor::of([10, 0, 0, 1].into()));
            questions.begin(from)
        };
        let [first, other] = ["1", "2"].map(ask);
        assert!(first.orders.borrow().stop.is_none() && other.orders.borrow().stop.is_none());
        let _second = ask("1");
        assert!(first.orders.borrow().stop.is_some() && other.orders.borrow().stop.is_none());
    }
}
