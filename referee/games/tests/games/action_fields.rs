//! The fast parser of actions agrees with serde: it accepts nothing that serde refuses or reads
//! differently.

use proptest::prelude::*;
use referee_games::{ActionFields, GAMES, Game, SetupError, Turn, Visitor, visit};
use serde_json::{Value, json};

/// Reads texts in both ways; returns how many the quick way took.
struct BothWays<'a>(&'a [String]);

impl Visitor for BothWays<'_> {
    type Output = usize;

    fn visit<G: Game>(self, _: fn(&Value) -> Result<G, SetupError>) -> usize {
        let taken = self.0.iter().filter(|text| {
            let Some(action) = ActionFields::read(text).and_then(|quick| G::read_fields(&quick))
            else {
                return false;
            };
            let derived = serde_json::from_str::<G::Action>(text);
            assert!(
                derived.as_ref().is_ok_and(|derived| *derived == action),
                "{text}: {derived:?}"
            );
            true
        });
        taken.count()
    }
}

/// Every action that is listed in one game by a fixed choice.
fn listed(name: &str) -> Vec<String> {
    let mut game = referee_games::kind(name).unwrap().start(&json!({})).unwrap();
    let mut texts = Vec::new();
    while let Turn::Of(_) = game.turn() {
        let actions = game.actions();
        texts.extend(actions.iter().map(Value::to_string));
        game.play(&actions[texts.len() % actions.len()]).unwrap();
        if texts.len() > 5000 {
            break;
        }
    }
    texts
}

#[test]
fn listed_actions_are_read_the_same() {
    for kind in GAMES {
        let texts = listed(kind.name);
        let taken = visit(kind.name, BothWays(&texts)).unwrap();
        let passes = texts.iter().filter(|text| text.contains("\"pass\"")).count();
        if ["chinese-checkers", "chexers", "hex"].contains(&kind.name) {
            assert_eq!(taken + passes, texts.len(), "{}", kind.name);
        }
    }
}

#[test]
fn odd_layouts_are_left_to_serde() {
    for text in [
        r#"{"type":"place","at":[1,2]"#,
        r#"{"type":"place","at":[1,2]}}"#,
        r#"{"type":"place","at":[1,2],}"#,
        r#"{"type":"place", "at":[1,2]}"#,
        r#"{"type":"place","type":"place","at":[1,2]}"#,
        r#"{"at":[1,2]}"#,
        r#"{"type":"","at":[1,2]}"#,
        r#"{"type":"place","at":[1,2],"from":[1,2],"to":[1,2]}"#,
        r#"{"t\u0079pe":"place","at":[1,2]}"#,
        "{}",
        "",
    ] {
        assert!(ActionFields::read(text).is_none(), "{text}");
    }
    for numbers in ["", "1.0,2", "1, 2", "+1,2", "1e1,2", "[1],2"] {
        let text = format!(r#"{{"type":"place","at":[{numbers}]}}"#);
        assert!(ActionFields::read(&text).is_none(), "{text}");
    }
    for numbers in ["1", "1,2,3", "-0,1", "01,2", "1,", ",", "-,1", "1,-", "--1,2", "1-2", "1,00"] {
        let text = format!(r#"{{"type":"place","at":[{numbers}]}}"#);
        let quick = ActionFields::read(&text).expect("only the numbers are odd");
        assert_eq!(quick.fields(["at"]).unwrap()[0].pair(), None, "{text}");
        assert!(quick.fields(["to"]).is_none() && quick.fields(["at", "to"]).is_none());
    }
}

proptest! {
    #[test]
    fn changed_actions_are_read_the_same(
        game in 0..GAMES.len(), text in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(), with in "[-0-9,\"{}:a-z\\[\\] .]{0,2}",
    ) {
        let name = GAMES[game].name;
        let mut game = referee_games::kind(name).unwrap().start(&json!({})).unwrap();
        game.play(&game.actions()[0]).unwrap();
        let mut texts: Vec<String> = game.actions().iter().map(Value::to_string).collect();
        let text = texts.swap_remove(text.index(texts.len()));
        let at = at.index(text.len());
        let changed = format!("{}{with}{}", &text[..at], &text[at + 1..]);
        visit(name, BothWays(&[changed]));
    }
}
