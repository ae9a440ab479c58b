//! What the dispatch does about silence, one rule at a time; and all of them in a storm.

mod world;

use super::{Dispatch, Effect, FAILURES_MAX, HOPELESS_LEASES};
use crate::{Beat, WorkerInfo};

const LEASE: u64 = 30_000;

fn beat(id: &str, slots: u32, orders: &[u64]) -> Beat {
    let worker = WorkerInfo { id: id.to_owned(), name: id.to_owned(), slots, ..Default::default() };
    Beat { worker, orders: orders.iter().map(|&block| (block, 0)).collect(), ..Default::default() }
}

/// The orders among what is to be done: block, attempt, and who is to leave it to others.
fn orders(dispatch: &mut Dispatch) -> Vec<(u64, u32, Vec<String>)> {
    let orders = dispatch.effects().into_iter().filter_map(|effect| match effect {
        Effect::Order { block, attempt, avoid } => Some((block, attempt, avoid)),
        _ => None,
    });
    orders.collect()
}

/// What is done about block 5 when it is given up.
fn given_up(why: &str) -> [Effect; 2] {
    [Effect::Withdraw { block: 5 }, Effect::GiveUp { block: 5, why: why.to_owned() }]
}

/// Ticks once a second until then, while these workers beat.
fn pass(dispatch: &mut Dispatch, from: u64, to: u64, beats: &[Beat]) {
    for now in (from..=to).step_by(1000) {
        for beat in beats {
            dispatch.beat(beat, now);
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
                return dispatch.out();
            }
            if !dispatch.is_out(block) {
                dispatch.ask(block, 0);
            }
        }
        unreachable!()
    };
    assert_eq!(fill(&mut dispatch), 16);
    dispatch.beat(&beat("a", 10, &[]), 0);
    assert_eq!(fill(&mut dispatch), 20);
    dispatch.beat(&beat("b", 10, &[]), 0);
    assert_eq!(fill(&mut dispatch), 40);
    dispatch.beat(&Beat { leaving: true, ..beat("a", 10, &[]) }, 0);
    dispatch.beat(&Beat { refused: Some("too slow".to_owned()), ..beat("b", 10, &[]) }, 0);
    assert_eq!((dispatch.crew(), dispatch.has_room()), ((0, 0), false));
}

#[test]
fn a_worker_that_says_nothing_any_more_has_failed_and_is_forgotten() {
    let mut dispatch = Dispatch::new(LEASE, 7);
    for block in 0..3 {
        dispatch.ask(block, 0);
    }
    assert_eq!(orders(&mut dispatch).len(), 3);
    dispatch.beat(&beat("a", 4, &[0, 1]), 0);
    assert!(dispatch.has("a", 1) && !dispatch.has("a", 2));
    assert!(dispatch.begun().eq([0, 1]));
    pass(&mut dispatch, 0, LEASE, &[]);
    assert_eq!(dispatch.effects(), []);
    pass(&mut dispatch, LEASE + 1000, LEASE + 1000, &[]);
    let lost = Effect::Lost { worker: "a".to_owned(), name: "a".to_owned(), orders: 2 };
    assert_eq!(dispatch.effects(), [lost], "the server hands its orders out again by itself");
    assert_eq!((dispatch.begun().count(), dispatch.crew()), (0, (0, 0)));
    // And if nobody takes them, they are ordered again; the third was never heard of at all.
    pass(&mut dispatch, LEASE + 2000, 2 * LEASE + 1000, &[]);
    assert_eq!(orders(&mut dispatch), [(2, 8, vec![])]);
    pass(&mut dispatch, 2 * LEASE + 2000, 3 * LEASE + 2000, &[]);
    let avoid = Vec::new();
    assert_eq!(orders(&mut dispatch), [(0, 8, avoid.clone()), (1, 8, avoid)]);
}

#[test]
fn what_waits_in_the_queue_is_not_silent() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    for block in 0..4 {
        dispatch.ask(block, 0);
        dispatch.published(block, 0, 10 + block, 0);
    }
    orders(&mut dispatch);
    for now in (0..=10 * LEASE).step_by(1000) {
        // The first two were given to somebody who says nothing; the last is not in the stream.
        dispatch.queue(11, 12, now);
        dispatch.tick(now, false);
        if now <= 2 * LEASE {
            assert_eq!(dispatch.effects(), []);
        }
    }
    let blocks: std::collections::BTreeSet<u64> =
        orders(&mut dispatch).into_iter().map(|(block, ..)| block).collect();
    assert!(blocks.into_iter().eq([0, 1, 3]));
}

#[test]
fn nobody_is_silent_while_nobody_can_be_heard() {
    for case in ["the connection", "this process", "the reports"] {
        let mut dispatch = Dispatch::new(LEASE, 0);
        dispatch.ask(0, 0);
        dispatch.beat(&beat("a", 1, &[0]), 0);
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
                    dispatch.beat(&beat("a", 1, &[]), now);
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
fn who_fails_is_avoided_as_long_as_there_are_others() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    dispatch.beat(&beat("a", 1, &[]), 0);
    dispatch.ask(5, 0);
    dispatch.failed(5, 0, "a", "no room", 0);
    assert_eq!(orders(&mut dispatch), [(5, 0, vec![]), (5, 1, vec![])], "there is nobody else");
    dispatch.beat(&beat("b", 1, &[]), 0);
    dispatch.failed(5, 1, "a", "no room", 0);
    assert_eq!(orders(&mut dispatch), [(5, 2, vec!["a".to_owned()])]);
    // Late news of an order that another has taken the place of.
    dispatch.beat(&beat("b", 1, &[5]), 0);
    let mut again = Dispatch::new(LEASE, 0);
    again.ask(5, 0);
    again.failed(5, 0, "a", "x", 0);
    again.failed(5, 0, "a", "x", 0);
    assert_eq!(orders(&mut again).len(), 2, "one order, and one for the first failure");
    // Whoever fails at everything is left out of other blocks, too.
    dispatch.ask(6, 0);
    dispatch.failed(6, 0, "a", "no room", 0);
    orders(&mut dispatch);
    dispatch.ask(7, 0);
    assert_eq!(orders(&mut dispatch), [(7, 0, vec!["a".to_owned()])]);
    dispatch.taken(7, "a");
    dispatch.ask(8, 0);
    assert_eq!(orders(&mut dispatch), [(8, 0, vec![])], "it can do it after all");
}

#[test]
fn a_block_that_so_many_fail_at_is_given_up_with_their_reasons() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    dispatch.ask(5, 0);
    orders(&mut dispatch);
    for (attempt, worker) in ["a", "b", "c"].into_iter().enumerate() {
        dispatch.beat(&beat(worker, 1, &[5]), 0);
        assert!(dispatch.is_out(5));
        dispatch.failed(5, u32::try_from(attempt).unwrap(), worker, "no room", 0);
    }
    let effects = dispatch.effects();
    let end = given_up("no room (a, b, c)");
    assert!(effects.ends_with(&end), "{effects:?}");
    assert_eq!(effects.len(), FAILURES_MAX - 1 + end.len());
    assert!(!dispatch.taken(5, "a"), "whoever has played it even so isn't waited for");
}

#[test]
fn a_worker_that_fails_again_is_still_one() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    let beats = [beat("a", 2, &[]), beat("b", 1, &[])];
    pass(&mut dispatch, 0, 0, &beats);
    dispatch.ask(5, 0);
    for attempt in 0..10 {
        dispatch.failed(5, attempt, "a", "no room", 0);
    }
    pass(&mut dispatch, 0, 10 * LEASE, &beats);
    assert!(dispatch.is_out(5), "the other may still play it");
    assert!(orders(&mut dispatch).iter().skip(1).all(|(.., avoid)| *avoid == ["a"]));
    dispatch.failed(5, 99, "b", "too slow", 0);
    assert!(dispatch.is_out(5));
}

#[test]
fn what_everybody_has_failed_at_waits_a_while_for_others() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    let (broken, good) = (beat("a", 1, &[]), beat("b", 1, &[]));
    let leaving = Beat { leaving: true, ..beat("c", 1, &[6]) };
    let (end, wait) = (4 * LEASE, HOPELESS_LEASES * LEASE);
    for comes in [None, Some(wait / 2)] {
        pass(&mut dispatch, 0, 0, &[broken.clone(), leaving.clone()]);
        dispatch.ask(5, 0);
        dispatch.failed(5, 0, "a", "no room", 0);
        dispatch.failed(5, 1, "a", "no room at all\nof lines the first", 0);
        pass(&mut dispatch, 0, wait - 1000, &[broken.clone(), leaving.clone()]);
        assert!(dispatch.is_out(5));
        let mut beats = vec![broken.clone(), leaving.clone()];
        if let Some(comes) = comes {
            beats.push(good.clone());
            // Heard before its time is up.
            dispatch.beat(&good, comes);
        }
        dispatch.effects();
        pass(&mut dispatch, wait, end, &beats);
        let is_given_up = dispatch.effects().ends_with(&given_up("no room at all (a)"));
        assert_eq!((is_given_up, dispatch.is_out(5)), (comes.is_none(), comes.is_some()));
        dispatch = Dispatch::new(LEASE, 0);
    }
    // Nobody is there who could have failed.
    dispatch.ask(5, 0);
    dispatch.beat(&broken, 0);
    dispatch.failed(5, 0, "a", "no room", 0);
    pass(&mut dispatch, 0, end, &[leaving]);
    assert!(dispatch.is_out(5));
}

/// Who was cut off, or stood still, plays on; that there is nobody else is no reason to stop it.
#[test]
fn what_is_being_played_is_not_given_up() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    let (holds, idle) = (beat("a", 1, &[5]), beat("a", 1, &[]));
    dispatch.ask(5, 0);
    pass(&mut dispatch, 0, 0, std::slice::from_ref(&holds));
    let back = LEASE + 2000;
    pass(&mut dispatch, 1000, back - 1000, &[]);
    assert!(dispatch.effects().iter().any(|it| matches!(it, Effect::Lost { .. })));
    let end = back + 5 * LEASE;
    pass(&mut dispatch, back, end, std::slice::from_ref(&holds));
    assert!(dispatch.is_out(5));
    assert_eq!(dispatch.effects(), []);
    // It has let go of it, and may take it again.
    let wait = HOPELESS_LEASES * LEASE;
    pass(&mut dispatch, end + 1000, end + wait - 1000, std::slice::from_ref(&idle));
    assert!(dispatch.is_out(5));
    pass(&mut dispatch, end + wait, end + wait, &[idle]);
    assert!(dispatch.effects().ends_with(&given_up("not heard of any more (a)")));
}

#[test]
fn what_the_only_worker_takes_long_to_fail_at_is_given_up() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    let holds = [beat("a", 1, &[5])];
    dispatch.ask(5, 0);
    let takes = 2 * HOPELESS_LEASES * LEASE;
    for (attempt, out) in [(0, true), (1, false)] {
        let from = u64::from(attempt) * takes;
        pass(&mut dispatch, from, from + takes - 1000, &holds);
        assert!(dispatch.is_out(5));
        dispatch.failed(5, attempt, "a", "no room", from + takes - 1000);
        assert_eq!(dispatch.is_out(5), out);
    }
    assert!(dispatch.effects().ends_with(&given_up("no room (a)")));
}

#[test]
fn a_worker_that_leaves_in_order_is_not_lost() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    dispatch.ask(5, 0);
    dispatch.beat(&beat("a", 1, &[5]), 0);
    dispatch.beat(&Beat { leaving: true, ..beat("a", 1, &[5]) }, 1000);
    orders(&mut dispatch);
    let last = Beat { leaving: true, ..beat("a", 1, &[]) };
    dispatch.beat(&last, 2000);
    let left = Effect::Left { worker: "a".to_owned(), name: "a".to_owned() };
    assert_eq!((dispatch.effects(), dispatch.begun().count()), (vec![left], 0));
    assert!(!dispatch.beat(&last, 3000), "it is told once");
    pass(&mut dispatch, 3000, 10 * LEASE, &[]);
    let effects = dispatch.effects();
    assert!(!effects.iter().any(|it| matches!(it, Effect::Lost { .. })), "{effects:?}");
    assert!(dispatch.beat(&beat("a", 1, &[]), 10 * LEASE), "it may come back");
}

/// Where nobody asks for orders, the server never says that they were given to somebody.
#[test]
fn what_is_taken_back_is_not_waited_for() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    for block in 0..4 {
        dispatch.ask(block, 0);
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
fn only_what_nobody_has_is_taken_back() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    for block in 0..4 {
        dispatch.ask(block, 0);
    }
    dispatch.found(4, 0);
    dispatch.beat(&beat("a", 2, &[1, 3]), 0);
    dispatch.effects();
    dispatch.close(0);
    let withdrawn = [0, 2, 4].map(|block| Effect::Withdraw { block });
    assert_eq!(dispatch.effects(), withdrawn);
    // Begun before it was taken back, and told only now.
    let beats = [beat("a", 2, &[1, 3]), beat("b", 1, &[2])];
    pass(&mut dispatch, 0, 10_000, &beats);
    assert_eq!(dispatch.effects(), [0, 4].map(|block| Effect::Drop { block }));
    dispatch.failed(2, 0, "b", "no room", 0);
    assert_eq!(dispatch.effects(), [Effect::Drop { block: 2 }], "nobody else begins it now");
    assert!(dispatch.taken(1, "a"));
    assert_eq!(dispatch.effects(), [], "there was one order");
    pass(&mut dispatch, 10_000, 60_000, &beats[1..]);
    let effects = dispatch.effects();
    assert!(matches!(effects[..], [Effect::Lost { .. }, Effect::Drop { block: 3 }]), "{effects:?}");
    assert_eq!(dispatch.out(), 0);
}

#[test]
fn another_order_for_what_was_played_is_taken_back() {
    let mut dispatch = Dispatch::new(LEASE, 0);
    dispatch.ask(3, 0);
    dispatch.again(3, 0);
    assert_eq!(orders(&mut dispatch).len(), 2);
    assert!(dispatch.taken(3, "a"));
    assert_eq!(dispatch.effects(), [Effect::Withdraw { block: 3 }]);
    assert!(!dispatch.taken(3, "b"));
}
