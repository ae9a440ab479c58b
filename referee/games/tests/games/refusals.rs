//! Checks every game's `refusals.txt`: `SETUP : WORDS`, or `SETUP : ACTION; .. : WORDS`, where all
//! actions but the last are legal. Each refusal must contain the words.

use crate::data_lines;
use referee_games::GAMES;
use serde_json::Value;

#[test]
fn refusals_name_the_rule() {
    for kind in GAMES {
        for line in data_lines(kind.name, "refusals.txt") {
            let parts: Vec<&str> = line.split(" : ").collect();
            let setup: Value = serde_json::from_str(parts[0]).expect(&line);
            let (refused, words) = match parts[1..] {
                [words] => (kind.start(&setup).expect_err(&line).to_string(), words),
                [actions, words] => {
                    let mut game = kind.start(&setup).expect(&line);
                    let mut actions: Vec<Value> = actions
                        .split("; ")
                        .map(|action| game.parse_action(action).expect(&line))
                        .collect();
                    let last = actions.pop().expect(&line);
                    for action in actions {
                        game.play(&action).expect(&line);
                    }
                    let before = (game.position(), game.actions());
                    let refused = game.play(&last).expect_err(&line).to_string();
                    assert_eq!((game.position(), game.actions()), before, "{line}");
                    (refused, words)
                }
                _ => panic!("{}: {line}", kind.name),
            };
            assert!(refused.contains(words), "{line}: {refused}");
        }
    }
}
