//! Files that were changed and sealed again: only replaying the game shows it.

use super::samples::{
    hex_adjudicated, hex_failed, hex_played, hex_void, last_seat, retired, sealed, sealed_lines,
    unsealed_lines,
};
use referee_match::transcript::{Report, Status, verify};
use referee_protocol::{
    Event, Fault, FaultKind, OnFault, OverEvent, PlayedEvent, Result as Ending, Seat, TurnEvent,
    VoidNote,
};
use serde_json::json;

/// A change of a match's end, and the words of the report about it.
type Change = (fn(&mut OverEvent), &'static str);

/// The report on a match whose events were changed and sealed again.
fn forged(mut events: Vec<Event>, change: impl FnOnce(&mut Vec<Event>)) -> Report {
    let before = events.clone();
    change(&mut events);
    assert_ne!(events, before, "the forgery changes nothing");
    let bytes = sealed(&events);
    let report = verify(&bytes);
    // The same file with its keys sorted: no line has the layout that is read quickly.
    let sorted =
        |line: String| serde_json::from_str::<serde_json::Value>(&line).unwrap().to_string();
    let lines: Vec<String> = unsealed_lines(&bytes).into_iter().map(sorted).collect();
    let slow = verify(&sealed_lines(&lines));
    assert_eq!((slow.status, &slow.detail), (report.status, &report.detail));
    report
}

fn disagrees(report: &Report, wanted: &str) {
    assert_eq!(report.status, Status::Disagrees, "{}", report.detail);
    assert!(report.detail.contains(wanted), "{:?} lacks {wanted:?}", report.detail);
    assert!(report.seal.is_some(), "the seal does fit");
}

fn played(events: &mut [Event], index: usize) -> &mut PlayedEvent {
    let mut all = events.iter_mut().filter_map(|event| match event {
        Event::Played(played) => Some(played),
        _ => None,
    });
    all.nth(index).expect("enough turns")
}

fn over(events: &mut [Event]) -> &mut OverEvent {
    let over = events.iter_mut().find_map(|event| match event {
        Event::Over(over) => Some(over),
        _ => None,
    });
    over.expect("an end")
}

fn place_of(events: &[Event], wanted: fn(&Event) -> bool) -> usize {
    events.iter().position(wanted).expect("such an event")
}

#[test]
fn actions_against_the_rules_disagree() {
    let first = |events: &mut Vec<Event>| played(events, 0).action.clone();
    let report = forged(hex_played(), |events| played(events, 2).action = first(events));
    disagrees(&report, "turn 2: the action is not legal: ");
    for (action, wanted) in [
        (json!({"type": "place", "at": [9, 9]}), "turn 0: the action is not legal"),
        (json!({"type": "swap"}), "turn 0: the action is not legal"),
        (json!({"type": "grow"}), "turn 0: the action can't be read: unknown value `grow`"),
        (json!({"type": "place"}), "turn 0: the action can't be read: missing field `at`"),
        (json!({"type": "place", "at": [0, 0], "x": 1}), "turn 0: the action can't be read"),
        (json!({}), "turn 0: the action can't be read"),
        (json!([]), "turn 0: the action can't be read"),
        (json!(null), "turn 0: the action can't be read"),
    ] {
        disagrees(&forged(hex_played(), |events| played(events, 0).action = action.into()), wanted);
    }
}

#[test]
fn wrong_seats_and_turn_numbers_disagree() {
    disagrees(&forged(hex_played(), |events| played(events, 2).seat = Seat(1)), "seat 1");
    disagrees(&forged(hex_played(), |events| played(events, 2).seat = Seat(200)), "seat 200");
    disagrees(&forged(hex_played(), |events| played(events, 2).turn = 3), "turn 3");
    let report = forged(hex_played(), |events| {
        let at = place_of(events, |event| matches!(event, Event::Turn(turn) if turn.turn == 1));
        let Event::Turn(turn) = &mut events[at] else { unreachable!() };
        turn.seat = Seat(0);
    });
    disagrees(&report, "it says turn 1 and seat 0, but by the rules it is turn 1 and seat 1");
    let report = forged(hex_played(), |events| {
        let at = place_of(events, |event| matches!(event, Event::Played(_)));
        events.remove(at);
    });
    disagrees(&report, "it says turn 1 and seat 1, but by the rules it is turn 0 and seat 0");
}

#[test]
fn other_ends_than_the_rules_give_disagree() {
    let changes: &[Change] = &[
        (|over| over.outcome.as_mut().unwrap().places.reverse(), "outcome: playing gives"),
        (|over| over.outcome.as_mut().unwrap().reason.push('x'), "outcome: playing gives"),
        (|over| over.outcome.as_mut().unwrap().scores = Some(vec![1, 2]), "outcome: playing gives"),
        (|over| over.outcome = None, "outcome: playing gives"),
        (|over| over.verdict.places.as_mut().unwrap().reverse(), "places: playing gives"),
        (|over| over.verdict.places = None, "places: playing gives"),
        (|over| over.verdict.places = Some(vec![1]), "places: playing gives"),
        (|over| over.verdict.reason.push('x'), "reason: playing gives"),
        (|over| over.verdict.result = Ending::Fault, "result: playing gives Played"),
        (|over| over.verdict.seats.truncate(1), "seats of the verdict"),
        (|over| over.verdict.seats.reverse(), "seat of the verdict's list"),
        (|over| over.verdict.seats[0].fault = Some(fault()), "but it was not retired"),
        (|over| over.verdict.void = Some(note()), "has a `void` note but isn't void"),
        (|over| over.verdict.result = Ending::Void, "must have a `void` note"),
    ];
    for (change, wanted) in changes {
        disagrees(&forged(hex_played(), |events| change(over(events))), wanted);
    }
}

#[test]
fn ends_at_the_wrong_time_disagree() {
    let report = forged(hex_played(), |events| {
        let at = place_of(events, |event| matches!(event, Event::Over(_)));
        events.remove(at);
    });
    disagrees(&report, "there is no `over` event");
    let report = forged(hex_played(), |events| {
        let again = Event::Over(Box::new(over(events).clone()));
        events.push(again);
    });
    disagrees(&report, "a second `over`");
    let report = forged(hex_played(), |events| {
        let over = place_of(events, |event| matches!(event, Event::Over(_)));
        let over = events.remove(over);
        events.insert(5, over);
    });
    disagrees(&report, "the match isn't over: in turn 1, seat 1 is to move");
    let report = forged(hex_played(), |events| {
        let again = Event::Played(played(events, 0).clone());
        let over = place_of(events, |event| matches!(event, Event::Over(_)));
        events.insert(over, again);
    });
    disagrees(&report, "the game has ended (`connected`), so no seat is asked");
    for (index, wanted) in [(0, "the match is over, so no seat is asked"), (1, "the match is over")]
    {
        let report = forged(hex_void(), |events| {
            let late = if index == 0 {
                Event::Played(played(events, 0).clone())
            } else {
                events[1].clone()
            };
            events.push(late);
        });
        disagrees(&report, wanted);
    }
}

#[test]
fn failed_matches_must_tell_of_the_failure() {
    let changes: &[Change] = &[
        (|over| over.verdict.places = Some(vec![2, 1]), "places: playing gives"),
        (|over| over.verdict.places = Some(vec![1, 1]), "places: playing gives"),
        (|over| over.verdict.result = Ending::Resigned, "result: playing gives Fault"),
        (|over| over.verdict.result = Ending::Played, "result: playing gives Fault"),
        (|over| over.verdict.reason = "gone".to_owned(), "reason: playing gives"),
        (|over| over.verdict.seats[1].fault = None, "the verdict has no fault of it"),
        (|over| over.verdict.seats[1].fault = Some(fault()), "fault of seat 1"),
        (|over| over.verdict.seats[0].fault = Some(fault()), "but it was not retired"),
    ];
    for (change, wanted) in changes {
        disagrees(&forged(hex_failed(), |events| change(over(events))), wanted);
    }
    let is_retired = |event: &Event| matches!(event, Event::Retired(_));
    let report = forged(hex_failed(), |events| {
        let again = events[place_of(events, is_retired)].clone();
        let over = place_of(events, |event| matches!(event, Event::Over(_)));
        events.insert(over, again);
    });
    disagrees(&report, "the match ended when a seat left, so no seat is retired");
    for (turn, seat, wanted) in [(9, 1, "it says turn 9"), (3, 7, "there is no seat 7")] {
        let report = forged(hex_failed(), |events| {
            let at = place_of(events, is_retired);
            let Event::Retired(retired) = &mut events[at] else { unreachable!() };
            (retired.turn, retired.seat) = (turn, Seat(seat));
        });
        disagrees(&report, wanted);
    }
}

#[test]
fn scores_decide_as_the_header_says() {
    let changes: &[Change] = &[
        (|over| over.verdict.places = Some(vec![2, 1]), "places: playing gives"),
        (|over| over.verdict.result = Ending::Played, "result: playing gives Adjudicated"),
        (|over| over.verdict.reason = "draw".to_owned(), "reason: playing gives \"win\""),
    ];
    for (change, wanted) in changes {
        disagrees(&forged(hex_adjudicated(), |events| change(over(events))), wanted);
    }
    let report = forged(hex_adjudicated(), |events| played(events, 2).score = Some(0.9));
    disagrees(&report, "the match isn't over: in turn 3, seat 1 is to move");
    let report = forged(hex_adjudicated(), |events| played(events, 0).score = Some(1.0));
    disagrees(&report, "the match is over, so no seat is asked");
    let report = forged(hex_adjudicated(), |events| {
        let Event::Header(header) = &mut events[0] else { unreachable!() };
        header.adjudication = None;
    });
    disagrees(&report, "the match isn't over");
}

/// With two seats the fault that ends a match may be only in its verdict.
#[test]
fn a_last_fault_needs_no_event_of_its_own() {
    let report = forged(hex_failed(), |events| {
        let at = place_of(events, |event| matches!(event, Event::Retired(_)));
        events.remove(at);
    });
    assert_eq!(report.status, Status::Ok, "{}", report.detail);
}

/// Chexers, three seats: two went, in this order.
#[test]
fn retirements_must_be_in_order_and_leave_turns_out() {
    let changes: &[Change] = &[
        (|over| over.verdict.places = Some(vec![1, 2, 3]), "places: playing gives"),
        (|over| over.verdict.places = Some(vec![1, 2, 2]), "places: playing gives"),
        (|over| over.verdict.reason = "resigned".to_owned(), "reason: playing gives \"last_seat\""),
        (|over| over.verdict.seats[0].fault = Some(fault()), "but it was not retired"),
    ];
    for (change, wanted) in changes {
        disagrees(&forged(last_seat(), |events| change(over(events))), wanted);
    }
    let retirements = |events: &[Event]| -> Vec<usize> {
        (0..events.len()).filter(|&at| matches!(events[at], Event::Retired(_))).collect()
    };
    let report = forged(last_seat(), |events| {
        let again = events[retirements(events)[0]].clone();
        let at = retirements(events)[1];
        events.insert(at, again);
    });
    disagrees(&report, "seat 1 is retired a second time");
    let report = forged(last_seat(), |events| {
        events.remove(retirements(events)[0]);
    });
    disagrees(&report, "it says turn 5 and seat 2, but by the rules it is turn 4 and seat 1");
    let report = forged(last_seat(), |events| {
        events.remove(retirements(events)[1]);
    });
    disagrees(&report, "but it was not retired");
    let report = forged(retired(), |events| {
        let turn = Event::Turn(TurnEvent {
            at_ns: 1,
            turn: 3,
            seat: Seat(0),
            left_ms: None,
            pondered_ns: 0,
        });
        let at = place_of(events, |event| matches!(event, Event::Turn(turn) if turn.turn == 4));
        events.insert(at, turn);
    });
    disagrees(&report, "it says turn 3 and seat 0, but by the rules it is turn 4 and seat 1");
    let report = forged(retired(), |events| over(events).verdict.places = Some(vec![1, 1, 1]));
    disagrees(&report, "places: playing gives Some([3, 1, 1]), the transcript says");
    let report = forged(retired(), |events| {
        let Event::Header(header) = &mut events[0] else { unreachable!() };
        header.on_fault = OnFault::End;
    });
    disagrees(&report, "the match ended when a seat left, so no seat is asked");
}

#[test]
fn void_matches_have_no_places() {
    let changes: &[Change] = &[
        (|over| over.verdict.places = Some(vec![1, 2]), "places: playing gives None"),
        (|over| over.verdict.reason = "luck".to_owned(), "reason: playing gives"),
        (|over| over.verdict.void = None, "must have a `void` note"),
        (|over| over.outcome = hex_outcome(), "outcome: playing gives None"),
    ];
    for (change, wanted) in changes {
        disagrees(&forged(hex_void(), |events| change(over(events))), wanted);
    }
}

#[test]
fn headers_that_start_no_such_match_disagree() {
    let edit = |from: &str, to: &str| {
        let mut lines = unsealed_lines(&sealed(&hex_played()));
        assert!(lines[0].contains(from), "{}", lines[0]);
        lines[0] = lines[0].replacen(from, to, 1);
        verify(&sealed_lines(&lines))
    };
    disagrees(&edit("\"size\":3", "\"size\":77"), "line 1: setup of hex");
    disagrees(&edit("\"size\":3", "\"sise\":3"), "did you mean `size`?");
    disagrees(&edit("\"seat\":1", "\"seat\":2"), "line 1: the header must list the seats 0 to 1");
    disagrees(&edit("\"first\":\"black\"", "\"first\":\"red\""), "");
    let mut lines = unsealed_lines(&sealed(&hex_played()));
    lines.insert(1, lines[0].clone());
    disagrees(&verify(&sealed_lines(&lines)), "line 2: a second header");
}

#[test]
fn lines_that_are_no_events_disagree() {
    for line in
        ["", "hello", "[]", "{}", "{\"type\":7}", "{\"type\":\"turn\"}", "{\"type\":\"line\"}"]
    {
        let mut lines = unsealed_lines(&sealed(&hex_played()));
        lines.insert(2, line.to_owned());
        disagrees(&verify(&sealed_lines(&lines)), "line 3 is not an event");
    }
}

/// A match under other rules is replayed anyway; the difference is reported where it matters.
#[test]
fn other_rules_are_reported_where_the_match_disagrees() {
    let rules = |events: &mut Vec<Event>| {
        let Event::Header(header) = &mut events[0] else { unreachable!() };
        header.rules += 1;
    };
    let report = forged(hex_played(), rules);
    assert_eq!(report.status, Status::Ok, "{}", report.detail);
    let report = forged(hex_played(), |events| {
        rules(events);
        played(events, 1).action = json!({"type": "place", "at": [5, 5]}).into();
    });
    disagrees(&report, "; recorded under rules 2, this referee has rules 1");
}

#[test]
fn only_an_agent_that_may_makes_a_match_void() {
    let note = |events: &mut Vec<Event>, seat| {
        over(events).verdict.void.as_mut().expect("a void match").seat = Some(seat);
    };
    let report = forged(hex_void(), |events| note(events, Seat(1)));
    assert_eq!(report.status, Status::Ok, "{}", report.detail);
    let report = forged(hex_void(), |events| note(events, Seat(2)));
    disagrees(&report, "names a seat that there is not");
    let report = forged(hex_void(), |events| {
        note(events, Seat(1));
        let Event::Header(header) = &mut events[0] else { unreachable!() };
        header.seats[1].no_void = true;
    });
    disagrees(&report, "seat 1 may not make the match void");
}

fn hex_outcome() -> Option<referee_protocol::Outcome> {
    over(&mut hex_played()).outcome.clone()
}

fn fault() -> Fault {
    Fault { kind: FaultKind::Gone, by: None, turn: 3, text: String::new(), legal: None }
}

fn note() -> VoidNote {
    VoidNote { cause: "lag".to_owned(), text: String::new(), seat: None }
}
