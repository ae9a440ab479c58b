//! Fuzzes actions, positions and setups in every game.

use super::edits::edited;
use super::{Draw, byte};
use referee_games::{AnyGame, GAMES, Game, GameKind, Refusal, SetupError, Turn, Visitor, visit};
use referee_protocol::{Seat, parse_strict};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Debug;

/// Far more actions than any position has.
const ACTIONS_MAX: usize = 100_000;

/// Four bytes choose the game, the setup, the number of random actions and their seed. Three optional
/// lines follow: an action, a position, a setup. A line that isn't JSON is a script that changes a legal
/// action or the current position. The result is refused, or it fulfils every invariant of a game.
pub fn games(bytes: &[u8]) {
    let (game, bytes) = byte(bytes);
    let (setup, bytes) = byte(bytes);
    let (plies, bytes) = byte(bytes);
    let (seed, bytes) = byte(bytes);
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let kind = GAMES[usize::from(game) % GAMES.len()];
    let given = Given {
        variant: variant(kind, setup),
        plies: usize::from(plies),
        draw: Draw::of(&[seed]),
        action: line(),
        position: line(),
        setup: line(),
    };
    visit(kind.name, given).expect("a game of the registry");
}

fn variant(kind: GameKind, number: u8) -> Value {
    let variants = &kind.about().variants;
    let number = usize::from(number) % (variants.len() + 1);
    variants.get(number).cloned().unwrap_or_else(|| json!({}))
}

struct Given<'a> {
    variant: Value,
    plies: usize,
    draw: Draw,
    action: &'a [u8],
    position: &'a [u8],
    setup: &'a [u8],
}

impl Visitor for Given<'_> {
    type Output = ();

    fn visit<G: Game>(mut self, start: fn(&Value) -> Result<G, SetupError>) {
        let setup = parse_strict(self.setup).unwrap_or(self.variant);
        let Some(mut game) = started(start, &setup) else { return };
        check(&game, start);
        for _ in 0..self.plies {
            let actions = Game::actions(&game);
            if actions.is_empty() {
                break;
            }
            game.play_listed(&actions[self.draw.below(actions.len())]);
        }
        check(&game, start);
        if !self.position.is_empty() {
            let mut setup = json(&Game::setup(&game));
            setup["position"] = parse_strict(self.position)
                .unwrap_or_else(|_| edited(json(&Game::position(&game)), self.position));
            let Some(begun) = started(start, &setup) else { return };
            check(&begun, start);
            game = begun;
        }
        if let Ok(text) = std::str::from_utf8(self.action) {
            try_text(&game, text);
        }
        let actions = Game::actions(&game);
        match (parse_strict(self.action), actions.get(self.draw.below(actions.len()))) {
            (Ok(action), _) => try_action(&game, &action),
            (Err(_), Some(action)) => try_action(&game, &edited(json(action), self.action)),
            (Err(_), None) => {}
        }
    }
}

fn started<G: Game>(start: fn(&Value) -> Result<G, SetupError>, setup: &Value) -> Option<G> {
    match start(setup) {
        Ok(game) => Some(game),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// Checks the invariants of a game in any position.
fn check<G: Game>(game: &G, start: fn(&Value) -> Result<G, SetupError>) {
    let actions = Game::actions(game);
    assert!(actions.len() < ACTIONS_MAX, "{} actions", actions.len());
    match Game::turn(game) {
        Turn::Chance(_) => panic!("no built-in game has chance"),
        Turn::Of(seat) => {
            assert!(seat.index() < Game::seats(game));
            assert!(!actions.is_empty(), "a game that isn't over has an action");
            for seat in Seat::all(Game::seats(game)) {
                Game::estimate(game, seat);
            }
        }
        Turn::Over(outcome) => {
            assert!(actions.is_empty(), "nothing is legal when the game is over");
            assert_eq!(outcome.places.len(), Game::seats(game));
        }
    }
    Game::notes(game);
    let view = Game::view(game);
    let mut taken = BTreeSet::new();
    for piece in &view.pieces {
        assert!(view.shape.contains(piece.at) && taken.insert(piece.at), "{piece:?}");
    }
    // A position contains everything except the history.
    let position = Game::position(game);
    let mut setup = json(&Game::setup(game));
    setup["position"] = json(&position);
    let again = start(&setup).unwrap_or_else(|error| panic!("{setup}: {error}"));
    assert_eq!(Game::position(&again), position);
    assert_eq!(Game::turn_number(&again), Game::turn_number(game));
    // The history may end the game by repetition.
    if matches!(Game::turn(game), Turn::Of(_)) {
        same(&Game::actions(&again), &actions);
        assert_eq!(Game::turn(&again), Game::turn(game));
    }
    let whole = json(&Game::setup(&again));
    assert_eq!(start(&whole).as_ref(), Ok(&again), "{whole}");
}

fn same<T: PartialEq + Debug>(one: &[T], other: &[T]) {
    // The lists may be long, so print only one difference.
    let differs = one.iter().zip(other).find(|(one, other)| one != other);
    assert!(differs.is_none() && one.len() == other.len(), "{differs:?}");
}

/// Tries an action in text notation.
fn try_text<G: Game>(game: &G, text: &str) {
    if let Ok(action) = text.trim().parse::<G::Action>() {
        let shown = action.to_string();
        assert_eq!(shown.parse::<G::Action>().as_ref(), Ok(&action), "{shown}");
        play(game, &action);
    }
    let mut erased: Box<dyn AnyGame> = Box::new(game.clone());
    let replayed = erased.play_text(text).map(|action| action.value());
    // The fast path accepts exactly the same.
    let action = serde_json::from_str::<G::Action>(text).ok();
    let recorded = action.and_then(|action| play(game, &action));
    assert_eq!(replayed, recorded.as_ref().map(json), "{text}");
}

/// An action is legal exactly if it is listed, a refusal changes nothing, and every way to read it agrees.
fn try_action<G: Game>(game: &G, value: &Value) {
    let mut erased: Box<dyn AnyGame> = Box::new(game.clone());
    erased.format_action(value);
    let answer = erased.play(value);
    let Ok(action) = serde_json::from_value::<G::Action>(value.clone()) else {
        assert!(matches!(answer, Err(Refusal::Malformed(_))), "{answer:?}");
        return;
    };
    let mut quick: Box<dyn AnyGame> = Box::new(game.clone());
    let replayed = quick.play_text(&value.to_string()).map(|action| action.value());
    match (play(game, &action), answer) {
        (Some(recorded), Ok(played)) => {
            assert_eq!(json(&recorded), played);
            assert_eq!(replayed, Some(json(&recorded)));
            assert_eq!(erased.position(), quick.position());
        }
        (None, Err(Refusal::Illegal(_))) => assert_eq!(replayed, None),
        (played, answer) => panic!("{played:?}, but erased {answer:?}"),
    }
}

fn play<G: Game>(game: &G, action: &G::Action) -> Option<G::Action> {
    let actions = Game::actions(game);
    let is_listed = actions.contains(action);
    let mut next = game.clone();
    match next.play(action) {
        Err(rule) => {
            assert!(!is_listed, "{action} is listed, but {rule}");
            assert_eq!(&next, game, "a refused action leaves no trace");
            None
        }
        Ok(recorded) => {
            // Another notation of a listed action gives the same position.
            let leads = |other: &G::Action| {
                let mut listed = game.clone();
                listed.play_listed(other);
                Game::position(&listed) == Game::position(&next)
            };
            assert!(is_listed || actions.iter().any(leads), "{action} is legal, but not listed");
            Some(recorded)
        }
    }
}

fn json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("what games have is JSON")
}
