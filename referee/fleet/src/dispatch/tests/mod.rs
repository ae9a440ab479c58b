//! Tests of each rule about silence; `world` tests all of them together.

mod world;

use super::{ALL_FAILED_LEASES, Dispatch, Effect, FAILURES_MAX};
use crate::{Heartbeat, WorkerInfo};
use referee_contest::Player;
use referee_runner::backend::WorkerCount;

const LEASE: u64 = 30_000;

fn heartbeat(id: &str, slots: u32, orders: &[u64]) -> Heartbeat {
    let worker = WorkerInfo { id: id.to_owned(), name: id.to_owned(), slots, ..Default::default() };
    Heartbeat {
        worker,
        orders: orders.iter().map(|&block| (block, 0)).collect(),
        ..Default::default()
    }
}

/// Returns the orders among the effects: block and attempt.
fn orders(dispatch: &mut Dispatch) -> Vec<(u64, u32)> {
    let orders = dispatch.effects().into_iter().filter_map(|effect| match effect {
        Effect::Order { block, attempt } => Some((block, attempt)),
        _ => None,
    });
    orders.collect()
}

/// The effects of giving up block 5.
fn given_up(why: &str) -> [Effect; 2] {
    [Effect::Withdraw { block: 5 }, Effect::GiveUp { block: 5, why: why.to_owned(), player: None }]
}

/// Ticks once a second in this range, with heartbeats of these workers.
fn pass(dispatch: &mut Dispatch, from: u64, to: u64, beats: &[Heartbeat]) {
    for now in (from..=to).step_by(1000) {
        for beat in beats {
            dispatch.heartbeat(beat, now);
        }
        dispatch.tick(now, false);
    }
}

#[test]
fn the_window_grows_with_the_slots() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    let fill = |dispatch: &mut Dispatch| {
        for block in 0.. {
            if !dispatch.has_room() {
                return dispatch.outstanding();
            }
            if !dispatch.blocks.contains_key(&block) {
                dispatch.order_block(block, 0);
            }
        }
        unreachable!()
    };
    assert_eq!(fill(&mut dispatch), 16);
    dispatch.heartbeat(&heartbeat("a", 10, &[]), 0);
    assert_eq!(fill(&mut dispatch), 20);
    dispatch.heartbeat(&heartbeat("b", 10, &[]), 0);
    assert_eq!(fill(&mut dispatch), 40);
    dispatch.heartbeat(&Heartbeat { leaving: true, ..heartbeat("a", 10, &[]) }, 0);
    dispatch.heartbeat(
        &Heartbeat { refused: Some("too slow".to_owned()), ..heartbeat("b", 10, &[]) },
        0,
    );
    assert_eq!((dispatch.worker_count(), dispatch.has_room()), (WorkerCount::default(), false));
}

#[test]
fn a_silent_worker_has_failed_and_is_forgotten() {
    let mut dispatch = Dispatch::new(LEASE, 7);
    for block in 0..3 {
        dispatch.order_block(block, 0);
    }
    assert_eq!(orders(&mut dispatch).len(), 3);
    dispatch.heartbeat(&heartbeat("a", 4, &[0, 1]), 0);
    assert!(dispatch.has("a", 1) && !dispatch.has("a", 2));
    assert!(dispatch.started().eq([0, 1]));
    pass(&mut dispatch, 0, LEASE, &[]);
    assert_eq!(dispatch.effects(), []);
    pass(&mut dispatch, LEASE + 1000, LEASE + 1000, &[]);
    let lost = Effect::Lost { worker: "a".to_owned(), name: "a".to_owned(), orders: 2 };
    assert_eq!(dispatch.effects(), [lost], "the server delivers its orders again");
    assert_eq!((dispatch.started().count(), dispatch.worker_count()), (0, WorkerCount::default()));
    // If no worker takes them, they are ordered again; there was never any news of the third.
    pass(&mut dispatch, LEASE + 2000, 2 * LEASE + 1000, &[]);
    assert_eq!(orders(&mut dispatch), [(2, 8)]);
    pass(&mut dispatch, 2 * LEASE + 2000, 3 * LEASE + 2000, &[]);
    assert_eq!(orders(&mut dispatch), [(0, 8), (1, 8)]);
}

#[test]
fn waiting_orders_are_not_silent() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    for block in 0..4 {
        dispatch.order_block(block, 0);
        dispatch.published(block, 0, 10 + block, 0);
    }
    orders(&mut dispatch);
    for now in (0..=10 * LEASE).step_by(1000) {
        // The first two were delivered to a silent worker; the last is not in the stream.
        dispatch.queue(11, 12, now);
        dispatch.tick(now, false);
        if now <= 2 * LEASE {
            assert_eq!(dispatch.effects(), []);
        }
    }
    let blocks: std::collections::BTreeSet<u64> =
        orders(&mut dispatch).into_iter().map(|(block, _)| block).collect();
    assert!(blocks.into_iter().eq([0, 1, 3]));
}

#[test]
fn silence_does_not_count_while_no_message_can_arrive() {
    for case in ["the connection", "this process", "the reports"] {
        let mut dispatch = Dispatch::new(LEASE, 0);
        dispatch.order_block(0, 0);
        dispatch.heartbeat(&heartbeat("a", 1, &[0]), 0);
        orders(&mut dispatch);
        let away = 10 * LEASE;
        match case {
            "the connection" => {
                dispatch.connected(false, 1000);
                pass(&mut dispatch, 1000, away, &[]);
                dispatch.connected(true, away);
            }
            "this process" => {}
            _ => {
                for now in (0..=away).step_by(1000) {
                    dispatch.heartbeat(&heartbeat("a", 1, &[]), now);
                    dispatch.tick(now, true);
                }
            }
        }
        pass(&mut dispatch, away, away, &[]);
        let effects = dispatch.effects();
        if case == "the reports" {
            assert!(matches!(effects[..], [Effect::Order { block: 0, .. }]), "{effects:?}");
        } else {
            assert_eq!(effects, [], "{case}");
            pass(&mut dispatch, away, away + LEASE + 1000, &[]);
            assert!(matches!(dispatch.effects()[..], [Effect::Lost { .. }]), "{case}");
        }
    }
}

#[test]
fn a_block_is_ordered_again_once_for_each_failure() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    dispatch.order_block(5, 0);
    dispatch.failed(5, 0, "a", ("no room", None), 0);
    assert_eq!(orders(&mut dispatch), [(5, 0), (5, 1)]);
    dispatch.failed(5, 0, "a", ("no room", None), 0);
    assert_eq!(orders(&mut dispatch), [], "a late failure of a replaced order");
}

#[test]
fn a_block_that_too_many_fail_at_is_given_up_with_their_reasons() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    dispatch.order_block(5, 0);
    orders(&mut dispatch);
    for (attempt, worker) in ["a", "b", "c"].into_iter().enumerate() {
        dispatch.heartbeat(&heartbeat(worker, 1, &[5]), 0);
        assert!(dispatch.blocks.contains_key(&5));
        dispatch.failed(5, u32::try_from(attempt).unwrap(), worker, ("no room", None), 0);
    }
    let effects = dispatch.effects();
    let end = given_up("no room (a, b, c)");
    assert!(effects.ends_with(&end), "{effects:?}");
    assert_eq!(effects.len(), FAILURES_MAX - 1 + end.len());
    assert!(!dispatch.completed(5), "a late result is not waited for");
}

#[test]
fn a_player_is_the_reason_if_every_worker_says_so() {
    let (one, other) = (Some(Player(1)), Some(Player(2)));
    for (players, expected) in [
        ([one, one, one], one),
        ([one, one, other], None),
        ([one, None, one], None),
        ([None, None, None], None),
    ] {
        let mut dispatch = Dispatch::new(LEASE, 0);
        dispatch.order_block(5, 0);
        for ((attempt, worker), player) in (0..).zip(["a", "b", "c"]).zip(players) {
            dispatch.failed(5, attempt, worker, ("no room", player), 0);
        }
        let ended = dispatch.effects().pop().unwrap();
        assert!(matches!(ended, Effect::GiveUp { player, .. } if player == expected), "{ended:?}");
    }
}

/// A ladder that is interrupted whenever somebody joins would wait for it for ever.
#[test]
fn what_all_workers_fail_at_because_of_a_player_is_given_up_when_nothing_new_is_ordered() {
    for (fails, expected) in [(Some(Player(1)), Some(Player(1))), (None, None)] {
        let mut dispatch = Dispatch::new(LEASE, 0);
        dispatch.order_block(5, 0);
        // One that was lost with it says nothing about the agent.
        dispatch.heartbeat(&heartbeat("lost", 1, &[5]), 0);
        let beats = [heartbeat("a", 1, &[])];
        pass(&mut dispatch, 0, LEASE + 2000, &beats);
        dispatch.failed(5, 0, "a", ("no room", fails), LEASE + 2000);
        pass(&mut dispatch, LEASE + 3000, LEASE + 3000, &beats);
        dispatch.effects();
        dispatch.close(LEASE + 4000);
        let given_up = dispatch.effects().into_iter().find_map(|effect| match effect {
            Effect::GiveUp { player, .. } => Some(player),
            _ => None,
        });
        assert_eq!(given_up, expected.map(Some));
    }
}

#[test]
fn repeated_failures_of_a_worker_count_once() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    let beats = [heartbeat("a", 2, &[]), heartbeat("b", 1, &[])];
    pass(&mut dispatch, 0, 0, &beats);
    dispatch.order_block(5, 0);
    for attempt in 0..10 {
        dispatch.failed(5, attempt, "a", ("no room", None), 0);
    }
    pass(&mut dispatch, 0, 10 * LEASE, &beats);
    assert!(dispatch.blocks.contains_key(&5), "the other may still play it");
    dispatch.failed(5, 99, "b", ("too slow", None), 0);
    assert!(dispatch.blocks.contains_key(&5));
}

#[test]
fn a_block_that_all_have_failed_at_waits_a_while_for_others() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    let (broken, good) = (heartbeat("a", 1, &[]), heartbeat("b", 1, &[]));
    let leaving = Heartbeat { leaving: true, ..heartbeat("c", 1, &[6]) };
    let (end, wait) = (4 * LEASE, ALL_FAILED_LEASES * LEASE);
    for comes in [None, Some(wait / 2)] {
        pass(&mut dispatch, 0, 0, &[broken.clone(), leaving.clone()]);
        dispatch.order_block(5, 0);
        dispatch.failed(5, 0, "a", ("no room", None), 0);
        dispatch.failed(5, 1, "a", ("no room at all\nof lines the first", None), 0);
        pass(&mut dispatch, 0, wait - 1000, &[broken.clone(), leaving.clone()]);
        assert!(dispatch.blocks.contains_key(&5));
        let mut beats = vec![broken.clone(), leaving.clone()];
        if let Some(comes) = comes {
            beats.push(good.clone());
            // A heartbeat before the time is up.
            dispatch.heartbeat(&good, comes);
        }
        dispatch.effects();
        pass(&mut dispatch, wait, end, &beats);
        let is_given_up = dispatch.effects().ends_with(&given_up("no room at all (a)"));
        assert_eq!(
            (is_given_up, dispatch.blocks.contains_key(&5)),
            (comes.is_none(), comes.is_some())
        );
        dispatch = Dispatch::new(LEASE, 0);
    }
    // No worker is connected that could have failed.
    dispatch.order_block(5, 0);
    dispatch.heartbeat(&broken, 0);
    dispatch.failed(5, 0, "a", ("no room", None), 0);
    pass(&mut dispatch, 0, end, &[leaving]);
    assert!(dispatch.blocks.contains_key(&5));
}

/// A worker that was cut off or paused continues to play; without other workers there is no reason
/// to stop it.
#[test]
fn a_block_that_is_being_played_is_not_given_up() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    let (holds, idle) = (heartbeat("a", 1, &[5]), heartbeat("a", 1, &[]));
    dispatch.order_block(5, 0);
    pass(&mut dispatch, 0, 0, std::slice::from_ref(&holds));
    let back = LEASE + 2000;
    pass(&mut dispatch, 1000, back - 1000, &[]);
    assert!(dispatch.effects().iter().any(|it| matches!(it, Effect::Lost { .. })));
    let end = back + 5 * LEASE;
    pass(&mut dispatch, back, end, std::slice::from_ref(&holds));
    assert!(dispatch.blocks.contains_key(&5));
    assert_eq!(dispatch.effects(), []);
    // It no longer holds it, and may take it again.
    let wait = ALL_FAILED_LEASES * LEASE;
    pass(&mut dispatch, end + 1000, end + wait - 1000, std::slice::from_ref(&idle));
    assert!(dispatch.blocks.contains_key(&5));
    pass(&mut dispatch, end + wait, end + wait, &[idle]);
    assert!(dispatch.effects().ends_with(&given_up("lost contact (a)")));
}

#[test]
fn a_block_that_the_only_worker_fails_at_slowly_is_given_up() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    let holds = [heartbeat("a", 1, &[5])];
    dispatch.order_block(5, 0);
    let takes = 2 * ALL_FAILED_LEASES * LEASE;
    for (attempt, out) in [(0, true), (1, false)] {
        let from = u64::from(attempt) * takes;
        pass(&mut dispatch, from, from + takes - 1000, &holds);
        assert!(dispatch.blocks.contains_key(&5));
        dispatch.failed(5, attempt, "a", ("no room", None), from + takes - 1000);
        assert_eq!(dispatch.blocks.contains_key(&5), out);
    }
    assert!(dispatch.effects().ends_with(&given_up("no room (a)")));
}

#[test]
fn a_worker_that_leaves_is_not_lost() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    dispatch.order_block(5, 0);
    dispatch.heartbeat(&heartbeat("a", 1, &[5]), 0);
    dispatch.heartbeat(&Heartbeat { leaving: true, ..heartbeat("a", 1, &[5]) }, 1000);
    orders(&mut dispatch);
    let last = Heartbeat { leaving: true, ..heartbeat("a", 1, &[]) };
    dispatch.heartbeat(&last, 2000);
    let left = Effect::Left { worker: "a".to_owned(), name: "a".to_owned() };
    assert_eq!((dispatch.effects(), dispatch.started().count()), (vec![left], 0));
    dispatch.heartbeat(&last, 3000);
    assert_eq!(dispatch.effects(), [], "it is reported once");
    pass(&mut dispatch, 3000, 10 * LEASE, &[]);
    let effects = dispatch.effects();
    assert!(!effects.iter().any(|it| matches!(it, Effect::Lost { .. })), "{effects:?}");
    dispatch.heartbeat(&heartbeat("a", 1, &[]), 10 * LEASE);
    assert_eq!(dispatch.worker_count().workers, 1, "it may come back");
}

/// If no worker pulls orders, the server never reports them as delivered.
#[test]
fn withdrawn_orders_are_not_waited_for() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    for block in 0..4 {
        dispatch.order_block(block, 0);
        dispatch.published(block, 0, block + 1, 0);
    }
    dispatch.close(0);
    dispatch.effects();
    for now in (0..10_000).step_by(1000) {
        dispatch.queue(0, 4, now);
        dispatch.tick(now, false);
    }
    assert_eq!(dispatch.effects(), [0, 1, 2, 3].map(|block| Effect::Drop { block }));
}

#[test]
fn only_orders_that_no_worker_holds_are_withdrawn() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    for block in 0..4 {
        dispatch.order_block(block, 0);
    }
    dispatch.adopt(4, 0);
    dispatch.heartbeat(&heartbeat("a", 2, &[1, 3]), 0);
    dispatch.effects();
    dispatch.close(0);
    let withdrawn = [0, 2, 4].map(|block| Effect::Withdraw { block });
    assert_eq!(dispatch.effects(), withdrawn);
    // Started before it was withdrawn, and reported only now.
    let beats = [heartbeat("a", 2, &[1, 3]), heartbeat("b", 1, &[2])];
    pass(&mut dispatch, 0, 10_000, &beats);
    assert_eq!(dispatch.effects(), [0, 4].map(|block| Effect::Drop { block }));
    dispatch.failed(2, 0, "b", ("no room", None), 0);
    assert_eq!(dispatch.effects(), [Effect::Drop { block: 2 }], "no other worker starts it now");
    assert!(dispatch.completed(1));
    assert_eq!(dispatch.effects(), [], "there was one order");
    pass(&mut dispatch, 10_000, 60_000, &beats[1..]);
    let effects = dispatch.effects();
    assert!(matches!(effects[..], [Effect::Lost { .. }, Effect::Drop { block: 3 }]), "{effects:?}");
    assert_eq!(dispatch.outstanding(), 0);
}

#[test]
fn the_other_order_of_a_played_block_is_withdrawn() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    dispatch.order_block(3, 0);
    dispatch.reorder(3, 0);
    assert_eq!(orders(&mut dispatch).len(), 2);
    assert!(dispatch.completed(3));
    assert_eq!(dispatch.effects(), [Effect::Withdraw { block: 3 }]);
    assert!(!dispatch.completed(3));
}
