//! Numbers of actions, planes and symmetries, checked for every game in every variant. `tests/python` has more.

use crate::Random;
use crate::conformance::setups;
use referee_games::{GAMES, Numbering, Planes, Turn, symmetries};
use referee_protocol::Seat;
use std::collections::BTreeSet;

const PLIES_MAX: usize = 12;

#[test]
fn numbers_stand_for_the_legal_actions() {
    for kind in GAMES {
        for setup in setups(kind.name) {
            let mut game = kind.start(&setup).unwrap();
            let numbering = Numbering::new(game.as_ref()).unwrap();
            let mut random = Random(1);
            for _ in 0..PLIES_MAX {
                let (actions, numbers) = (game.actions(), game.legal_numbers(&numbering).unwrap());
                assert_eq!(actions.len(), numbers.len());
                let different: BTreeSet<&usize> = numbers.iter().collect();
                assert_eq!(different.len(), numbers.len(), "{} {setup}", kind.name);
                for (action, &number) in actions.iter().zip(&numbers) {
                    assert!(number < numbering.total());
                    assert_eq!(game.number_of(action, &numbering), Some(number));
                    let (mut one, mut other) = (game.clone(), game.clone());
                    one.play(action).unwrap();
                    other.play_number(number, &numbering).unwrap();
                    assert_eq!(one.position(), other.position(), "{} {action}", kind.name);
                }
                if actions.is_empty() {
                    break;
                }
                game.play(&actions[random.below(actions.len())]).unwrap();
            }
            assert!(game.play_number(numbering.total(), &numbering).is_err());
        }
    }
}

#[test]
fn planes_are_numbers_from_0_to_1() {
    for kind in GAMES {
        for setup in setups(kind.name) {
            let mut game = kind.start(&setup).unwrap();
            let planes = Planes::new(game.as_ref()).unwrap();
            assert_eq!(planes.names().len(), planes.shape()[0]);
            game.play_at_random(&mut |_| 0, 5).unwrap();
            for seat in Seat::all(game.seats()) {
                let mut out = vec![-1.0; planes.len()];
                planes.write(game.as_ref(), seat, &mut out).unwrap();
                assert!(out.iter().all(|it| (0.0..=1.0).contains(it)), "{} {setup}", kind.name);
            }
        }
    }
}

#[test]
fn random_games_end_as_the_rules_have_it() {
    for kind in GAMES {
        for setup in setups(kind.name) {
            let (mut game, mut random) = (kind.start(&setup).unwrap(), Random(3));
            let mut below = |bound: u64| random.below(usize::try_from(bound).unwrap()) as u64;
            game.play_at_random(&mut below, 20_000).unwrap();
            assert!(matches!(game.turn(), Turn::Over(_)), "{} {setup}", kind.name);
            let mut cut = kind.start(&setup).unwrap();
            let before = cut.turn_number();
            cut.play_at_random(&mut below, 3).unwrap();
            assert!(cut.turn_number() - before <= 3);
        }
    }
}

/// So each is equally likely.
#[test]
fn a_random_ply_is_the_listed_action_of_the_drawn_number() {
    for kind in GAMES {
        for setup in setups(kind.name) {
            let (mut game, mut random) = (kind.start(&setup).unwrap(), Random(5));
            for _ in 0..3 {
                let actions = game.actions();
                for (number, action) in (0u64..).zip(&actions) {
                    let (mut listed, mut drawn) = (game.clone(), game.clone());
                    listed.play(action).unwrap();
                    let mut draw = |bound| {
                        assert_eq!(bound, actions.len() as u64, "{} {setup}", kind.name);
                        number
                    };
                    drawn.play_at_random(&mut draw, 1).unwrap();
                    assert_eq!(drawn.position(), listed.position(), "{} {action}", kind.name);
                    assert_eq!(drawn.view(), listed.view(), "{} {action}", kind.name);
                }
                let mut below = |bound| random.below(usize::try_from(bound).unwrap()) as u64;
                game.play_at_random(&mut below, 30).unwrap();
            }
        }
    }
}

#[test]
fn a_symmetry_moves_every_cell_and_seat_once() {
    for kind in GAMES {
        for setup in setups(kind.name) {
            let game = kind.start(&setup).unwrap();
            let all = symmetries(game.as_ref());
            assert!(all[0].cells.iter().copied().eq(0..all[0].cells.len()));
            for symmetry in all {
                for moved in [symmetry.cells, symmetry.seats] {
                    let different: BTreeSet<usize> = moved.iter().copied().collect();
                    assert!(different.into_iter().eq(0..moved.len()), "{} {setup}", kind.name);
                }
            }
        }
    }
}
