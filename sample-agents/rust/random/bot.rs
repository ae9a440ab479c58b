//! Plays any game: picks one of the legal actions that the referee lists.

mod json;

use json::Json;
use std::io::{self, BufRead, Write};

/// Your rule goes here. `hello` says which game this is and which seat is yours; the turn's
/// `position` is the board, and its `actions` are all that is legal now: return one of them.
fn choose<'a>(_hello: Json, turn: Json<'a>, random: &mut Random) -> Json<'a> {
    let actions = turn.get("actions").items();
    actions[random.below(actions.len())]
}

/// A linear congruential generator; its upper bits are the better ones.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut hello = String::new();
    let mut random = Random(0);
    for line in io::stdin().lock().lines() {
        let line = line?;
        let message = Json(&line);
        match message.get("type").text().as_str() {
            "hello" => {
                random = Random(message.get("seed").number() as u64);
                hello.clone_from(&line);
                say(r#"{"type":"ready","name":"random (Rust)","want":["position","actions"]}"#)?;
            }
            "turn" => {
                let action = choose(Json(&hello), message, &mut random);
                let turn = message.get("turn");
                say(&format!(r#"{{"type":"action","turn":{turn},"action":{action}}}"#))?;
            }
            "over" => break,
            // `played` and `retired` report what the others did, for a rule that keeps a board.
            _ => {}
        }
    }
    Ok(())
}

/// One message, one line, flushed. Nothing else may go to stdout: debug with `eprintln!`.
fn say(message: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{message}")?;
    stdout.flush()
}
