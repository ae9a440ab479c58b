//! What every notation of whole games promises: a game that is written is read back the same, and
//! no text is a reason to panic.

use crate::Random;
use proptest::prelude::*;
use referee_games::{
    AnyGame, GAMES, GameKind, GameRecord, NotationKind, RecordEnd, Turn, notations,
};
use referee_protocol::Seat;
use serde_json::{Value, json};

/// Random games a setup.
const GAMES_PER_SETUP: usize = 40;

fn setups(kind: GameKind) -> Vec<Value> {
    std::iter::once(json!({})).chain(kind.about().variants.iter().cloned()).collect()
}

/// Plays up to `plies` random actions and returns them.
fn play(game: &mut Box<dyn AnyGame>, plies: usize, draw: &mut Random) -> Vec<Value> {
    let mut played = Vec::new();
    while played.len() < plies {
        let actions = game.actions();
        if actions.is_empty() {
            break;
        }
        // The last actions of a list are often the unusual ones.
        let index = if draw.below(4) == 0 { actions.len() - 1 } else { draw.below(actions.len()) };
        played.push(game.play(&actions[index]).unwrap());
    }
    played
}

/// A game from the start of a setup, or from a position that is reached in it.
fn random_record(kind: GameKind, setup: &Value, draw: &mut Random) -> GameRecord {
    let mut game = kind.start(setup).unwrap();
    if draw.below(2) == 0 {
        let plies = 1 + draw.below(12);
        play(&mut game, plies, draw);
        let mut setup = game.setup();
        setup["position"] = game.position();
        game = kind.start(&setup).unwrap();
    }
    let setup = game.setup();
    let plies = [0, 1, 2, 3, 9, 10, 11, 1000][draw.below(8)];
    let actions = play(&mut game, plies, draw);
    let seat = Seat(u8::try_from(draw.below(game.seats())).unwrap());
    let end = match (game.turn(), draw.below(4)) {
        (Turn::Over(_), _) => RecordEnd::Played,
        (Turn::Of(_), 0) => RecordEnd::Resigned(seat),
        (Turn::Of(_), 1) => RecordEnd::TimedOut(seat),
        (Turn::Of(_), 2) => RecordEnd::Forfeited(seat),
        _ => RecordEnd::Unfinished,
    };
    let names = ["plain", "brack]et [s", "back\\slash\\", "semi;colon:(", "ähm 🙂 日本"];
    let name = |draw: &mut Random| {
        let index = draw.below(names.len() + 1);
        names.get(index).map(|&name| name.to_owned())
    };
    GameRecord {
        setup,
        names: (0..game.seats()).map(|_| name(draw)).collect(),
        title: name(draw),
        date: (draw.below(2) == 0).then(|| "2026-05-01".to_owned()),
        actions,
        end,
        comment: "a [comment], with\nlines; and (more) \\ ".repeat(draw.below(3)),
    }
}

fn read_back(notation: &NotationKind, record: &GameRecord) -> GameRecord {
    let text = notation.write(record).unwrap_or_else(|error| panic!("{record:?}: {error}"));
    let read = notation.read(&text, 1).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(read.notes, [""; 0], "{text}");
    read.record
}

#[test]
fn a_game_is_read_back_as_it_was_written() {
    let mut ends = Vec::new();
    for (kind, notation) in notations() {
        for setup in setups(kind) {
            let mut draw = Random(7);
            for _ in 0..GAMES_PER_SETUP {
                let record = random_record(kind, &setup, &mut draw);
                let wanted = GameRecord { comment: String::new(), ..record.clone() };
                assert_eq!(read_back(notation, &record), wanted);
                ends.push(record.end);
            }
        }
    }
    assert!(ends.contains(&RecordEnd::Played) && ends.contains(&RecordEnd::Resigned(Seat(1))));
}

#[test]
fn every_notation_says_what_it_is() {
    for (kind, notation) in notations() {
        assert!(!notation.name.is_empty() && !notation.about.is_empty());
        let found = kind.notation(notation.ending).unwrap();
        assert_eq!(found.name, notation.name);
        assert!(kind.notation("jsonl").is_none());
        assert!(notation.read("", 1).is_err());
    }
    assert!(GAMES.iter().any(|kind| !kind.notations.is_empty()));
}

/// A written game with some of its parts exchanged, doubled or left out.
fn damaged() -> impl Strategy<Value = String> {
    let edits = prop::collection::vec((any::<u16>(), any::<u8>(), any::<char>()), 0..6);
    (any::<u64>(), edits).prop_map(|(seed, edits)| {
        let mut draw = Random(seed);
        let all: Vec<_> = notations().collect();
        let (kind, notation) = all[draw.below(all.len())];
        let setups = setups(kind);
        let setup = &setups[draw.below(setups.len())];
        let record = random_record(kind, setup, &mut draw);
        let mut chars: Vec<char> = notation.write(&record).unwrap().chars().collect();
        let special = ['(', ')', ';', '[', ']', '\\', 'B', 'W', 'a', '1', '\n', '\r', ':'];
        for (place, how, ch) in edits {
            let at = usize::from(place) % (chars.len() + 1);
            match how % 4 {
                0 if at < chars.len() => drop(chars.remove(at)),
                1 => chars.insert(at, ch),
                2 => chars.insert(at, special[usize::from(how / 4) % special.len()]),
                _ => {
                    let end = (at + usize::from(how / 4)).min(chars.len());
                    chars.extend_from_within(at..end);
                }
            }
        }
        chars.into_iter().collect()
    })
}

proptest! {
    #[test]
    fn what_is_read_is_a_game_and_stays_the_same(text in damaged(), number in 0usize..3) {
        for (_, notation) in notations() {
            match notation.read(&text, number) {
                Ok(read) => {
                    let text = notation.write(&read.record).unwrap();
                    prop_assert_eq!(notation.read(&text, 1).unwrap().record, read.record);
                }
                Err(error) => prop_assert!(!error.is_empty() && !error.ends_with('.')),
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        for (_, notation) in notations() {
            let read = notation.read(&text, 1);
            prop_assert!(read.is_err() || text.contains('('));
        }
    }
}
