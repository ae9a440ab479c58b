//! What every game promises, checked for every game in the registry, in its default setup and in
//! every variant that it names. A new game is included automatically.

use crate::Random;
use referee_games::{AnyGame, GAMES, Game, SetupError, Turn, Visitor, reason_text, visit};
use referee_protocol::Seat;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

/// Plies of each game at which every promise is checked, spread over the game.
const CHECKS_PER_GAME: usize = 12;
/// No game may take longer than this many actions, played at random.
const PLIES_MAX: usize = 20_000;

#[test]
fn every_game_keeps_its_promises() {
    let names: BTreeSet<&str> = GAMES.iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), GAMES.len(), "a game is registered twice");
    check_games(0..2);
}

#[test]
#[ignore = "takes long without optimisation: cargo test --release -p referee-games -- --ignored"]
fn every_game_keeps_its_promises_in_more_games() {
    check_games(2..8);
}

/// Checks random games of every setup, one for each seed.
#[expect(clippy::print_stdout, reason = "it is shown if the test fails")]
fn check_games(seeds: Range<u64>) {
    for kind in GAMES {
        for setup in setups(kind.name) {
            for seed in seeds.clone() {
                println!("{} {setup} seed {seed}", kind.name);
                visit(kind.name, Check { setup: &setup, seed }).unwrap();
            }
        }
    }
}

#[test]
fn every_folder_of_a_game_is_registered() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in source.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if !path.join("about.json").is_file() {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap().replace('_', "-");
        assert!(
            GAMES.iter().any(|kind| kind.name == name),
            "{} is not registered: add its two lines to referee/games/src/lib.rs",
            path.display()
        );
    }
}

#[test]
fn bad_setups_are_refused_with_a_hint() {
    for kind in GAMES {
        let unknown = kind.start(&json!({"postion": {}})).unwrap_err();
        assert!(unknown.to_string().contains("did you mean `position`?"), "{unknown}");
        assert!(unknown.help.contains(kind.name));
        assert!(kind.start(&json!([])).is_err());
        for field in &kind.about().setup {
            for wrong in
                [json!({"no": "way"}), json!(-1), json!("neither"), json!(4_000_000_000u64)]
            {
                let setup = json!({ field.name: wrong });
                let refused = kind.start(&setup).expect_err(&setup.to_string());
                assert!(!refused.to_string().is_empty());
            }
        }
    }
}

#[test]
fn what_a_game_says_of_itself_is_true() {
    for kind in GAMES {
        let about = kind.about();
        let game = kind.start(&json!({})).unwrap();
        let setup = game.setup();
        let fields: BTreeSet<&str> =
            setup.as_object().unwrap().keys().map(String::as_str).collect();
        let described: BTreeSet<&str> = about.setup.iter().map(|field| field.name).collect();
        assert_eq!(fields, described, "{}", kind.name);
        for field in &about.setup {
            assert_eq!(setup[field.name], field.default, "{}: {}", kind.name, field.name);
        }
        for form in &about.actions {
            let parsed = game.parse_action(form.text).expect(form.text);
            assert_eq!(parsed["type"], form.example["type"], "{}", form.text);
            assert_eq!(game.format_action(&form.example), form.text, "{}", kind.name);
        }
        assert!(about.seats.contains(&u8::try_from(game.seats()).unwrap()));
        for reason in &about.reasons {
            let text = reason_text(kind.name, None, &json!({}), reason.name).expect(reason.name);
            assert!(
                !text.is_empty() && !text.contains(['{', '}']) && !text.ends_with('.'),
                "{text}"
            );
        }
    }
}

/// An agent that ignores `setup.position` fails in the control, and one that reads it has one legal
/// action in the situation.
#[test]
fn situations_are_what_check_assumes() {
    for kind in GAMES {
        for situation in &kind.about().situations {
            let game = kind.start(&situation.setup).unwrap();
            let Some(control) = &situation.control else { continue };
            assert_eq!(game.actions(), [json!({"type": "pass"})], "{}", kind.name);
            let control = kind.start(control).unwrap();
            assert_eq!(control.turn(), game.turn(), "{}", kind.name);
            let usual = kind.start(&json!({})).unwrap().actions();
            let legal = control.actions();
            assert!(legal.len() > 1 && legal.iter().all(|it| !usual.contains(it)), "{legal:?}");
        }
    }
}

/// The default setup and every variant.
pub(crate) fn setups(name: &str) -> Vec<Value> {
    let kind = GAMES.iter().find(|kind| kind.name == name).unwrap();
    let mut setups = vec![json!({})];
    setups.extend(kind.about().variants.clone());
    setups
}

struct Check<'a> {
    setup: &'a Value,
    seed: u64,
}

impl Visitor for Check<'_> {
    type Output = ();

    fn visit<G: Game>(self, start: fn(&Value) -> Result<G, SetupError>) {
        let mut random = Random(self.seed);
        let mut game = start(self.setup).unwrap();
        check_setup(&game, start);
        let reasons: Vec<&str> = G::about().reasons.iter().map(|reason| reason.name).collect();
        // Actions from earlier in the game, to try where they may no longer be legal.
        let mut pool: Vec<G::Action> = Vec::new();
        let retire_at = 3 + random.below(40);
        let mut retired: Option<Seat> = None;
        let step = 1 + random.below(40);
        for ply in 0.. {
            assert!(ply < PLIES_MAX, "no end after {ply} actions");
            let seat = match game.turn() {
                Turn::Of(seat) => seat,
                Turn::Chance(_) => panic!("no built-in game has chance"),
                Turn::Over(outcome) => {
                    assert!(game.actions().is_empty());
                    assert_eq!(outcome.places.len(), game.seats());
                    assert!(reasons.contains(&outcome.reason.as_str()), "{}", outcome.reason);
                    assert_eq!(outcome.scores.is_some(), G::about().score.is_some());
                    for action in pool.iter().take(5) {
                        check_refused(&game, action);
                    }
                    check_view(&game);
                    return;
                }
            };
            assert!(Some(seat) != retired, "a retired seat is asked");
            let actions = game.actions();
            assert!(!actions.is_empty(), "a game that isn't over has an action, if only a pass");
            if ply < 4 || (ply % step == 0 && ply / step < CHECKS_PER_GAME) {
                check_position(&game, start);
                check_actions(&game, &actions, &pool);
                check_view(&game);
            }
            let action = &actions[random.below(actions.len())];
            if pool.len() < 60 || random.below(20) == 0 {
                pool.push(action.clone());
            }
            game.play_listed(action);
            if game.seats() > 2 && ply == retire_at && matches!(Game::turn(&game), Turn::Of(_)) {
                let seat = Seat::all(game.seats()).nth(random.below(game.seats())).unwrap();
                game.retire(seat);
                retired = Some(seat);
            }
        }
    }
}

/// The whole setup starts the same game again.
fn check_setup<G: Game>(game: &G, start: fn(&Value) -> Result<G, SetupError>) {
    let setup = serde_json::to_value(Game::setup(game)).unwrap();
    assert_eq!(&start(&setup).unwrap(), game, "{setup}");
}

/// A game started from the position is the same game, but for what it remembers.
fn check_position<G: Game>(game: &G, start: fn(&Value) -> Result<G, SetupError>) {
    let position = serde_json::to_value(Game::position(game)).unwrap();
    let mut setup = serde_json::to_value(Game::setup(game)).unwrap();
    setup["position"] = position.clone();
    let again = start(&setup).unwrap_or_else(|error| panic!("{position}: {error}"));
    assert_eq!(Game::position(&again), Game::position(game));
    assert_eq!(Game::actions(&again), Game::actions(game));
    assert_eq!(Game::turn(&again), Game::turn(game));
    assert_eq!(Game::turn_number(&again), Game::turn_number(game));
    check_setup(&again, start);

    // A position that lacks a field or has one too many is refused, and nothing panics.
    let mut broken: Map<String, Value> = position.as_object().unwrap().clone();
    broken.insert("surplus".into(), json!(1));
    assert!(start(&json!({ "position": broken })).is_err());
    for (key, value) in position.as_object().unwrap() {
        for wild in [json!(null), json!(-7), json!([[99, 99]]), json!([[[1, 1]]]), json!("x")] {
            let mut broken = position.clone();
            broken[key] = wild.clone();
            if let Ok(started) = start(&json!({ "position": broken })) {
                assert!(started.actions().len() < 10_000, "{key} {value} {wild}");
            }
        }
    }
}

/// Listed if and only if legal.
fn check_actions<G: Game>(game: &G, actions: &[G::Action], pool: &[G::Action]) {
    let mut texts = BTreeSet::new();
    let mut after = Vec::new();
    for action in actions {
        let text = action.to_string();
        assert!(texts.insert(text.clone()), "{text} is listed twice");
        let mut next = game.clone();
        assert_eq!(next.play(action).as_ref(), Ok(action), "a listed action is recorded as it is");
        let mut parsed = game.clone();
        let from_text: G::Action = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed.play(&from_text).as_ref(), Ok(action), "{text} doesn't parse back");
        let mut listed = game.clone();
        listed.play_listed(action);
        assert_eq!(listed, next, "{text}");
        let json = serde_json::to_value(action).unwrap();
        assert_eq!(&serde_json::from_value::<G::Action>(json.clone()).unwrap(), action);
        let mut surplus = json.clone();
        surplus["surplus"] = json!(1);
        assert!(serde_json::from_value::<G::Action>(surplus).is_err(), "{json}");
        let mut erased: Box<dyn AnyGame> = Box::new(game.clone());
        assert_eq!(erased.play(&json).as_ref(), Ok(&json));
        let mut quick: Box<dyn AnyGame> = Box::new(game.clone());
        assert_eq!(quick.play_text(&json.to_string()).map(|action| action.value()), Some(json));
        assert_eq!(quick.position(), erased.position());
        if after.len() < 400 {
            after.push(Game::position(&next));
        }
    }
    let mut candidates: Vec<G::Action> = pool.to_vec();
    for action in actions.iter().take(12).chain(pool.iter().rev().take(12)) {
        candidates.extend(distorted(action));
    }
    for candidate in candidates {
        if actions.contains(&candidate) {
            continue;
        }
        let mut next = game.clone();
        match next.play(&candidate) {
            // Another way to write a listed action, such as a longer path to the same cell.
            Ok(_) => {
                let position = Game::position(&next);
                let known = actions.len() > 400 || after.contains(&position);
                assert!(known, "{candidate} is legal, but not listed");
            }
            Err(_) => check_refused(game, &candidate),
        }
    }
}

/// A refused action leaves the game equal and names the rule in a sentence.
fn check_refused<G: Game>(game: &G, action: &G::Action) {
    let mut next = game.clone();
    let rule = next.play(action).expect_err("should be refused").to_string();
    assert_eq!(&next, game, "{action} changed the game");
    assert!(rule.len() > 8 && !rule.ends_with('.') && !rule.contains('\n'), "{action}: {rule:?}");
}

/// Returns variants of an action with one number changed a little or a lot, if they still parse.
fn distorted<A: serde::Serialize + serde::de::DeserializeOwned>(action: &A) -> Vec<A> {
    let mut json = serde_json::to_value(action).unwrap();
    let mut found = Vec::new();
    for index in 0..numbers(&mut json).len() {
        for change in [-1_000_000_000_000, -2, -1, 1, 2, 1_000_000_000_000] {
            let mut changed = json.clone();
            let number = numbers(&mut changed).swap_remove(index);
            *number = json!(number.as_i64().unwrap() + change);
            found.extend(serde_json::from_value(changed));
        }
    }
    found
}

/// The numbers in a value, in order.
fn numbers(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Number(_) => vec![value],
        Value::Array(values) => values.iter_mut().flat_map(numbers).collect(),
        Value::Object(fields) => fields.values_mut().flat_map(numbers).collect(),
        _ => Vec::new(),
    }
}

/// Everything in the picture is on the board, and no cell holds two pieces.
fn check_view<G: Game>(game: &G) {
    let view = Game::view(game);
    let mut taken = BTreeSet::new();
    for piece in &view.pieces {
        assert!(view.shape.contains(piece.at), "{piece:?}");
        assert!(taken.insert(piece.at), "two pieces on {:?}", piece.at);
    }
    let mut marked = BTreeSet::new();
    for ground in &view.ground {
        assert!(view.shape.contains(ground.at), "{ground:?}");
        assert!(marked.insert(ground.at), "two marks on {:?}", ground.at);
    }
    let edges = view.edges.iter().flat_map(|edge| &edge.cells);
    for &cell in view.last.iter().chain(&view.chain).chain(edges) {
        assert!(view.shape.contains(cell), "{cell:?}");
    }
}
