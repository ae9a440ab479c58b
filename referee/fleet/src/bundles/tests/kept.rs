//! Agents that a worker keeps from one contest to the next.

use super::super::{KeptAgents, Packed, WorkerAgents};
use super::agents::{Arrived, BOT, Machines, ONE, runtime, started};
use crate::{Brief, FaultCause};
use referee_contest::Player;
use referee_process::sandbox::Sandbox;
use referee_runner::Prepared;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A worker and the contest that it plays.
struct Worker {
    machines: Machines,
    kept: KeptAgents,
    prepared: Prepared,
    packed: Packed,
}

impl Worker {
    fn new(contest: &str, files: &[(&str, &str)]) -> Self {
        let machines = Machines::with(files);
        let kept = KeptAgents::new(machines.worker(), 2);
        let (prepared, packed) = machines.packed(contest);
        Self { machines, kept, prepared, packed }
    }

    fn arrive(&mut self, change: impl Fn(&mut Brief)) -> WorkerAgents {
        let mut brief = self.packed.brief(&self.prepared, Duration::ZERO);
        change(&mut brief);
        let shared = self.machines.worker().join("shared");
        let (lent, fetch) = (vec![PathBuf::from("/")], self.machines.fetch(&self.packed));
        WorkerAgents::new(shared, &mut self.kept, Arc::new(brief), fetch, lent)
    }

    fn fetched(&self) -> usize {
        self.machines.fetched.load(Ordering::SeqCst)
    }
}

/// Returns a player that nobody else installs.
fn of(agents: &WorkerAgents, player: u32) -> Arrived {
    let spec = runtime().block_on(agents.spec(Player(player), &Sandbox::none()));
    spec.map(|spec| spec.expect("nobody else installs it"))
}

#[test]
fn agents_of_the_contest_before_are_installed_once() {
    let mut worker = Worker::new(ONE, BOT);
    worker.machines.write("bot/words", "");
    let first = of(&worker.arrive(|_| {}), 0);
    // Somebody has joined.
    let later = worker.arrive(|brief| {
        brief.agents.insert(0, brief.agents[1].clone());
        brief.contest.players.insert(0, brief.contest.players[1].clone());
    });
    let again = of(&later, 1);
    assert!(Arc::ptr_eq(first.as_ref().unwrap(), again.as_ref().unwrap()));
    assert_eq!(worker.fetched(), 1);
    // With whatever else it is another agent, and the earlier one stays as long as a contest has it.
    let other = worker.arrive(|brief| brief.contest.players[0].name.push('x'));
    let named = of(&other, 0);
    let folder = |it: &Arrived| it.as_ref().unwrap().launch.as_ref().unwrap().folder.clone();
    assert_eq!(worker.fetched(), 2);
    assert_ne!(folder(&first), folder(&named));
    let strict = worker.arrive(|brief| brief.contest.policy.strict ^= true);
    of(&strict, 0).unwrap();
    assert_eq!(worker.fetched(), 3);
    assert!(folder(&first).exists() && folder(&named).exists());
    drop(later);
    let _next = worker.arrive(|_| {});
    assert!(folder(&named).exists() && folder(&first).exists());
    drop((other, strict));
    let _next = worker.arrive(|_| {});
    assert!(!folder(&named).exists() && folder(&first).exists());
}

#[test]
fn what_failed_is_not_tried_again_for_a_while() {
    let text = "game = \"hex\"\nagents = [\"bot\", \"@random\"]\n[sandbox]\nlevel = \"none\"";
    let place = tempfile::tempdir().unwrap();
    let tool = place.path().join("tool");
    let manifest = format!("command = [\"{}\"]", tool.display());
    std::fs::write(&tool, "").unwrap();
    let mut worker = Worker::new(text, &[("bot/agent.toml", &manifest)]);
    std::fs::remove_file(&tool).unwrap();
    let contest = worker.arrive(|_| {});
    let fault = of(&contest, 0).unwrap_err();
    assert_eq!((fault.cause, fault.player), (FaultCause::Agent, Some(Player(0))), "{fault:?}");
    std::fs::copy("/bin/true", &tool).unwrap();
    assert_eq!(of(&contest, 0).unwrap_err(), fault);
    let next = worker.arrive(|_| {});
    assert_eq!(of(&next, 0).unwrap_err(), fault);
    assert_eq!(worker.fetched(), 1);
    // With other files it is another agent.
    let changed = worker.arrive(|brief| brief.contest.players[0].digest.push('x'));
    assert_eq!(started(&of(&changed, 0)), "");
}

/// Begins what is not done before files were written on another thread.
async fn begin<F: Future<Output: std::fmt::Debug>>(first: Pin<&mut F>) {
    tokio::select! {
        biased;
        done = first => panic!("{done:?}"),
        () = std::future::ready(()) => {}
    }
}

#[test]
fn nobody_waits_while_another_installs_an_agent() {
    let mut worker = Worker::new(ONE, BOT);
    let (contest, next) = (worker.arrive(|_| {}), worker.arrive(|_| {}));
    let sandbox = Sandbox::none();
    let mut others = Worker::new(ONE, BOT);
    let [one, other] = ["x", "y"].map(|name| {
        others.arrive(|brief| {
            brief.agents[0].build_ms = Some(1);
            brief.contest.players[0].name.push_str(name);
        })
    });
    runtime().block_on(async {
        // Of two slots one has agents built.
        let mut first = std::pin::pin!(one.spec(Player(0), &sandbox));
        begin(first.as_mut()).await;
        assert!(other.spec(Player(0), &sandbox).await.unwrap().is_none());
        let building = one.building().into_iter().map(|(player, _)| player);
        assert_eq!(building.collect::<Vec<_>>(), [Player(0)]);
        assert!(other.building().is_empty());
        first.await.unwrap().unwrap();
        assert!(one.building().is_empty());
        other.spec(Player(0), &sandbox).await.unwrap().unwrap();
    });
    runtime().block_on(async {
        let mut first = std::pin::pin!(contest.spec(Player(0), &sandbox));
        begin(first.as_mut()).await;
        assert!(next.spec(Player(0), &sandbox).await.unwrap().is_none());
        let first = first.await.unwrap().unwrap();
        assert!(Arc::ptr_eq(&first, &next.spec(Player(0), &sandbox).await.unwrap().unwrap()));
    });
    assert_eq!(worker.fetched(), 1);
}
