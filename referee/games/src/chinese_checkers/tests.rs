//! The points that the rule text leaves open, as positions; and how far simple agents get by the
//! estimate.

use super::{Action, ChineseCheckers};
use crate::view::{Colour, GroundKind};
use crate::{Game, SetupError, Turn, perft};
use referee_protocol::{Outcome, Seat};
use serde_json::{Value, json};

fn start(setup: &Value) -> Result<ChineseCheckers, SetupError> {
    crate::any::start(setup)
}

/// A game of two seats from a position, seat 0 to move.
fn placed(setup: &Value, own: &[u64], other: &[u64]) -> ChineseCheckers {
    let mut setup = setup.clone();
    setup["position"] = json!({"to_move": 0, "marbles": [own, other], "turn": 0});
    start(&setup).unwrap()
}

/// What an action is recorded as, or why it is refused.
fn played(game: &ChineseCheckers, action: &str) -> String {
    let action: Action = action.parse().unwrap();
    match game.clone().play(&action) {
        Ok(recorded) => recorded.to_string(),
        Err(illegal) => illegal.to_string(),
    }
}

fn listed(game: &ChineseCheckers, action: &str) -> bool {
    game.actions().iter().any(|listed| listed.to_string() == action)
}

/// The reason and the places, or that it isn't over.
fn outcome(game: &ChineseCheckers) -> String {
    match game.turn() {
        Turn::Of(_) | Turn::Chance(_) => not_over(),
        Turn::Over(Outcome { places, reason, .. }) => format!("{reason} {places:?}"),
    }
}

fn not_over() -> String {
    "not over".to_owned()
}

fn won(places: &[u32]) -> String {
    format!("home {places:?}")
}

fn drawn(seats: usize, reason: &str) -> String {
    format!("{reason} {:?}", vec![1; seats])
}

#[test]
fn jumps_go_over_the_marble_half_way() {
    let (long, adjacent) = (json!({}), json!({"jumps": "adjacent"}));
    for (setup, others, action, expected) in [
        (&long, &[60][..], "57-63", "57-63"),
        (&adjacent, &[60], "57-63", "no step and no sequence of jumps leads from 57 to 63"),
        (&adjacent, &[58], "57-59", "57-59"),
        (&long, &[58], "57-59", "57-59"),
        (&long, &[59], "57-61", "57-61"),
        (&long, &[59], "57-63", "no step and no sequence of jumps leads from 57 to 63"),
        (&long, &[60, 62], "57-63", "no step and no sequence of jumps leads from 57 to 63"),
        (&long, &[59, 60], "57-63", "no step and no sequence of jumps leads from 57 to 63"),
        (&long, &[60, 63], "57-63", "position 63 is occupied"),
        (&long, &[64], "57-58", "57-58"),
        (&long, &[58], "57-58", "position 58 is occupied"),
        // Along a longer path, each jump has its own refusal.
        (&adjacent, &[60], "57-63-57-63", "only jumps over a neighbouring position are allowed"),
        (&long, &[59], "57-63-57-63", "needs a marble half-way, on 60"),
        (
            &long,
            &[60, 62],
            "57-63-57-63",
            "needs empty positions before and behind the marble: 62 is",
        ),
        (&long, &[60], "57-60-57-63", "57 to 60 has none"),
        (&long, &[60], "57-63-52-61", "a jump follows a line of the board: 63 to 52 doesn't"),
        (&long, &[60, 65], "57-65-57-63", "position 65 is occupied"),
    ] {
        let game = placed(setup, &[57], others);
        let result = played(&game, action);
        assert!(result.contains(expected), "{setup} {others:?} {action}: {result}");
        assert_eq!(listed(&game, action), result == action, "{setup} {others:?} {action}");
    }
}

#[test]
fn paths_are_completed_by_the_smallest_of_the_shortest() {
    // Two ways around lead from 61 to 84, over 62 and 73 and over 71 and 83.
    let game = placed(&json!({}), &[61], &[62, 71, 73, 83]);
    let there_and_back = ["61-63"; 32].join("-");
    let too_long = format!("{there_and_back}-61");
    for (action, expected) in [
        ("61-84", "61-63-84"),
        ("61-63-84", "61-63-84"),
        ("61-82-84", "61-82-84"),
        ("61-63-61-82-84", "61-63-61-82-84"),
        ("61-63-61-63", "61-63-61-63"),
        (&there_and_back, &there_and_back),
        (&too_long, "a path has 2 to 64 entries, not 65"),
        ("61-63-61", "a move must end on another position than its start"),
        ("61-61", "a move must end on another position than its start"),
        ("61-63-64", "a step is a whole turn: 63 to 64 can't be part of a longer path"),
        ("61-60-59", "a step is a whole turn: 61 to 60 can't be part of a longer path"),
        ("61-63-63-84", "a jump follows a line of the board: 63 to 63 doesn't"),
        ("62-63", "seat 0 has no marble on 62"),
        ("60-59", "seat 0 has no marble on 60"),
        ("61-122", "there is no position 122: the board has 1 to 121"),
        ("0-61", "there is no position 0: the board has 1 to 121"),
        ("pass", "a pass is legal only if no marble can move: the one on 61 can"),
    ] {
        assert_eq!(played(&game, action), expected, "{action}");
    }
    assert!(listed(&game, "61-63-84") && !listed(&game, "61-82-84"));
    for path in [vec![], vec![61]] {
        let refused = game.clone().play(&Action::Move { path }).unwrap_err().to_string();
        assert!(refused.starts_with("a path has 2 to 64 entries"), "{refused}");
    }
}

#[test]
fn the_moving_marbles_start_counts_as_empty() {
    // The last jump, from 82 over 51 to 15, crosses 61.
    let game = placed(&json!({}), &[61], &[62, 72, 51]);
    assert_eq!(played(&game, "61-15"), "61-63-82-15");
    // With another marble there, it can't.
    let game = placed(&json!({}), &[61, 71], &[62, 72, 51]);
    assert!(played(&game, "61-63-82-15").contains("71 is occupied"));
}

#[test]
fn neutral_zones_are_closed_to_different_degrees() {
    // 45 and 56 lie in a zone that is neutral for both seats, 43 and 64 don't; from 45 a second
    // jump leads out. 23 is the zone's tip: the jump to 19 crosses what is left of it.
    let (end, landing) = ("a turn may not end in a neutral zone", "no jump may land in a neutral");
    let unreachable = "no step and no sequence of jumps";
    for (neutral, own, action, expected) in [
        ("pass", 65, "65-56", end),
        ("free", 65, "65-56", "65-56"),
        ("closed", 65, "65-56", end),
        ("pass", 64, "64-45", end),
        ("free", 64, "64-45", "64-45"),
        ("closed", 64, "64-45", end),
        ("pass", 64, "64-43", "64-45-43"),
        ("free", 64, "64-43", "64-45-43"),
        ("closed", 64, "64-43", unreachable),
        ("closed", 64, "64-45-43", landing),
        ("closed", 23, "23-19", "23-19"),
        ("pass", 23, "23-22", end),
    ] {
        let game = placed(&json!({"neutral": neutral}), &[own], &[55, 44, 21]);
        let result = played(&game, action);
        assert!(result.starts_with(expected), "{neutral} {action}: {result}");
        let ends = |listed: &Action| {
            let Action::Move { path } = listed else { return false };
            action.ends_with(&format!("-{}", path[path.len() - 1]))
        };
        let is_listed = game.actions().iter().any(ends);
        assert_eq!(is_listed, result == expected, "{neutral} {action}");
    }
}

#[test]
fn seats_start_on_their_points_and_aim_at_the_opposite_ones() {
    // The tips of the points, clockwise from the top.
    let tips = [1, 23, 111, 121, 99, 11];
    let colours =
        [Colour::Red, Colour::Yellow, Colour::Green, Colour::Blue, Colour::Purple, Colour::Orange];
    for (seats, points) in
        [(2, &[0, 3][..]), (3, &[0, 2, 4]), (4, &[1, 2, 4, 5]), (6, &[0, 1, 2, 3, 4, 5])]
    {
        let game = start(&json!({"seats": seats})).unwrap();
        let (position, view) = (game.position(), Game::view(&game));
        assert_eq!(view.ground.len(), 10 * seats);
        for (seat, &point) in points.iter().enumerate() {
            assert_eq!(position.marbles[seat].len(), 10);
            assert!(position.marbles[seat].contains(&tips[point]), "{seats} seats, seat {seat}");
            let target = usize::try_from(tips[(point + 3) % 6]).unwrap() - 1;
            let cell = view.shape.cells()[target];
            let mark = view.ground.iter().find(|ground| ground.at == cell).unwrap();
            assert_eq!(mark.kind, GroundKind::Target(colours[seat]));
        }
        assert_eq!(position.retired.is_some(), seats > 2);
    }
}

#[test]
fn home_is_judged_by_the_setup() {
    // Seat 0 lacks 112; its marble on 103 is one step away.
    let almost: Vec<u64> = std::iter::once(103).chain(113..=121).collect();
    let beside: Vec<u64> = (57..=65).chain([51]).collect();
    let spoiling: Vec<u64> = (57..=65).chain([112]).collect();
    let home: Vec<u64> = (112..=121).collect();
    for (win, own, other, at_start, action, after) in [
        ("own", &almost, &beside, not_over(), "103-112", won(&[1, 2])),
        ("filled", &almost, &beside, not_over(), "103-112", won(&[1, 2])),
        ("own", &almost, &spoiling, not_over(), "103-104", not_over()),
        ("filled", &almost, &spoiling, won(&[1, 2]), "103-104", won(&[1, 2])),
        ("own", &beside, &home, not_over(), "60-70", not_over()),
        ("filled", &beside, &home, not_over(), "60-70", not_over()),
    ] {
        let mut game = placed(&json!({"win": win}), own, other);
        assert_eq!(outcome(&game), at_start, "{win} {own:?} {other:?}");
        let played = game.play(&action.parse().unwrap());
        assert_eq!(played.is_err(), at_start != not_over());
        assert_eq!(outcome(&game), after, "{win} {own:?} {other:?}");
    }
    // The seat that moved last is checked first.
    for (to_move, places) in [(0, [2, 1]), (1, [1, 2])] {
        let marbles = [home.clone(), (1..=10).collect()];
        let position = json!({"to_move": to_move, "marbles": marbles, "turn": 60});
        assert_eq!(outcome(&start(&json!({"position": position})).unwrap()), won(&places));
    }
}

#[test]
fn home_beats_the_turn_limit() {
    let almost: Vec<u64> = std::iter::once(103).chain(113..=121).collect();
    for (action, expected) in [("103-112", won(&[1, 2])), ("103-104", drawn(2, "turn_limit"))] {
        let mut game = placed(&json!({"max_turns": 1}), &almost, &[61]);
        game.play(&action.parse().unwrap()).unwrap();
        assert_eq!(outcome(&game), expected, "{action}");
        let refused = game.play(&"103-104".parse().unwrap()).unwrap_err();
        assert_eq!(refused.to_string(), "the game is over");
    }
}

#[test]
fn marbles_of_retired_seats_count_as_filled() {
    let almost: Vec<u64> = std::iter::once(103).chain(113..=121).collect();
    let all: Vec<u64> = (112..=121).collect();
    for (win, own, left_behind, retired, expected) in [
        ("own", &almost, &vec![112, 61], vec![], not_over()),
        ("own", &almost, &vec![112, 61], vec![1], won(&[1, 2, 2])),
        ("own", &almost, &vec![61], vec![1], not_over()),
        ("own", &vec![103, 104], &all, vec![1], not_over()),
        ("own", &vec![103, 112], &all[1..].to_vec(), vec![1], won(&[1, 2, 2])),
        ("filled", &vec![103, 104], &all, vec![1], not_over()),
        ("filled", &almost, &vec![112, 61], vec![1], won(&[1, 2, 2])),
    ] {
        let marbles = json!([own, left_behind, [62, 63]]);
        let mut position = json!({"to_move": 0, "marbles": marbles, "turn": 30});
        position["retired"] = json!(retired);
        let game = start(&json!({"seats": 3, "win": win, "position": position})).unwrap();
        assert_eq!(outcome(&game), expected, "{win} {own:?} {left_behind:?} {retired:?}");
        if retired.is_empty() {
            let mut game = game;
            game.retire(Seat(1));
            assert_eq!(outcome(&game), won(&[1, 2, 2]), "as soon as the seat is out");
        }
    }
}

#[test]
fn who_cannot_move_passes_and_a_round_of_passes_is_a_draw() {
    // Both jumps from the tip are blocked.
    let mut game = placed(&json!({}), &[1], &[2, 3, 4, 6, 61]);
    assert_eq!(game.actions(), [Action::Pass {}]);
    assert_eq!(played(&game, "1-4"), "position 4 is occupied");
    assert_eq!(played(&game, "1-11"), "a turn may not end in a neutral zone: 11 is in one");
    game.play(&Action::Pass {}).unwrap();
    assert_eq!((game.turn_number(), game.position().passes), (1, 1));
    assert!(!game.actions().contains(&Action::Pass {}));
    game.play(&"6-9".parse().unwrap()).unwrap();
    assert_eq!(game.position().passes, 0);

    // Marbles alone at the tips of neutral zones can never move.
    let mut game = placed(&json!({}), &[23], &[99]);
    assert_eq!([1, 2, 3].map(|depth| perft(&game, depth)), [1, 1, 0]);
    game.play(&Action::Pass {}).unwrap();
    assert_eq!(outcome(&game), not_over());
    game.play(&Action::Pass {}).unwrap();
    assert_eq!(outcome(&game), drawn(2, "no_moves"));
}

#[test]
fn only_the_passes_of_seats_that_are_left_count() {
    let stuck = json!({"to_move": 0, "marbles": [[23], [1], [121]], "turn": 0, "retired": []});
    let stuck = json!({"seats": 3, "position": stuck});
    // Seats 0 and 1 pass, then a seat is out.
    for (out, passes, over) in [(2, 2, true), (1, 1, false), (0, 1, false)] {
        let mut game = start(&stuck).unwrap();
        game.play(&Action::Pass {}).unwrap();
        game.play(&Action::Pass {}).unwrap();
        game.retire(Seat(out));
        assert_eq!(game.position().passes, passes, "seat {out}");
        assert_eq!(outcome(&game) != not_over(), over, "seat {out}");
        if !over {
            game.play(&Action::Pass {}).unwrap();
            assert_eq!(outcome(&game), drawn(3, "no_moves"), "seat {out}");
        }
    }
}

#[test]
fn turns_of_retired_seats_are_passed_over_but_counted() {
    let mut game = start(&json!({"seats": 3, "max_turns": 5})).unwrap();
    game.retire(Seat(1));
    game.play(&"4-15".parse().unwrap()).unwrap();
    assert_eq!((game.turn(), game.turn_number()), (Turn::Of(Seat(2)), 2));
    game.retire(Seat(2));
    assert_eq!((game.turn(), game.turn_number()), (Turn::Of(Seat(0)), 3));
    game.play(&"5-16".parse().unwrap()).unwrap();
    assert_eq!((outcome(&game), game.turn_number()), (drawn(3, "turn_limit"), 5));
}

#[test]
fn a_position_is_sorted() {
    let position = json!({"to_move": 0, "marbles": [[5, 3], [121]], "turn": 9});
    let game = start(&json!({ "position": position })).unwrap();
    assert_eq!(game.position().marbles[0], [3, 5]);
}

/// `SplitMix64`: the same games on every machine.
struct Random(u64);

impl Random {
    fn choose<T>(&mut self, mut from: Vec<T>) -> T {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let index = (mixed ^ (mixed >> 31)) % from.len() as u64;
        from.swap_remove(usize::try_from(index).unwrap())
    }
}

/// The actions after which the seat's estimate is best; a win is better than any.
fn best(game: &ChineseCheckers, seat: Seat) -> Vec<Action> {
    let (mut best, mut actions) = (i64::MIN, Vec::new());
    for action in game.actions() {
        let mut next = game.clone();
        next.play_listed(&action);
        let value = match next.turn() {
            Turn::Over(outcome) if outcome.reason == "home" => i64::MAX,
            Turn::Over(_) => 0,
            Turn::Of(_) | Turn::Chance(_) => next.estimate(seat),
        };
        if value > best {
            best = value;
            actions.clear();
        }
        if value == best {
            actions.push(action);
        }
    }
    actions
}

/// Plays greedy seats against random ones.
fn play_out(setup: &Value, greedy: &[bool], seed: u64) -> ChineseCheckers {
    let mut game = start(setup).unwrap();
    let mut random = Random(seed);
    while let Turn::Of(seat) = game.turn() {
        let choices = if greedy[seat.index()] { best(&game, seat) } else { game.actions() };
        game.play_listed(&random.choose(choices));
    }
    game
}

#[test]
fn greedy_players_bring_each_other_home() {
    for seed in 0..3 {
        for setup in [json!({}), json!({"win": "filled"}), json!({"seats": 6})] {
            let game = play_out(&setup, &[true; 6], seed);
            assert!(game.turn_number() <= 300, "{setup} seed {seed}: {:?}", game.position());
            assert!(outcome(&game).starts_with("home"), "{setup} seed {seed}");
        }
    }
}

#[test]
fn a_greedy_player_beats_a_random_one() {
    for seed in 0..10 {
        let mut greedy = [false; 2];
        let seat = usize::from(seed % 2 == 0);
        greedy[seat] = true;
        let game = play_out(&json!({}), &greedy, seed);
        let expected = if seat == 0 { won(&[1, 2]) } else { won(&[2, 1]) };
        assert_eq!(outcome(&game), expected, "seed {seed}");
    }
}
