//! The person at the terminal as an agent: asked in words, answering in the game's text form or in
//! the action's JSON. A
//! slip of the fingers is told and asked again; only what the rules allow reaches the match.

use super::agent::Sign;
use referee_games::AnyGame;
use referee_protocol::parse_strict;
use serde_json::json;
use std::io::{BufRead, Write};
use std::sync::mpsc as thread_channel;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// The person, as the match holds them. Their terminal is served by a thread of its own.
#[derive(Debug)]
pub struct Human {
    questions: thread_channel::Sender<Box<dyn AnyGame>>,
    answers: mpsc::Receiver<Vec<u8>>,
    left: bool,
}

impl Human {
    /// Starts to serve the terminal: questions on stderr, answers from stdin.
    pub fn at_terminal() -> Self {
        let (questions, asked) = thread_channel::channel();
        let (answer, answers) = mpsc::channel(1);
        std::thread::spawn(move || {
            let (input, output) = (std::io::stdin().lock(), std::io::stderr());
            serve(input, output, &asked, |line| answer.blocking_send(line).is_ok());
        });
        Self { questions, answers, left: false }
    }

    /// It is their turn in this game.
    pub fn ask(&mut self, game: &dyn AnyGame) {
        // A terminal that is gone shows itself as the end of the answers.
        self.questions.send(game.clone_box()).ok();
    }

    /// They are out of the match.
    pub fn leave(&mut self) {
        self.left = true;
    }

    /// See [`Human::leave`].
    pub fn has_left(&self) -> bool {
        self.left
    }

    /// The next thing that they did.
    pub fn poll_sign(&mut self, context: &mut Context<'_>, scratch: &mut [u8]) -> Poll<Sign> {
        if self.left {
            return Poll::Pending;
        }
        match self.answers.poll_recv(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => {
                self.left = true;
                Poll::Ready(Sign::Closed)
            }
            Poll::Ready(Some(line)) => {
                scratch[..line.len()].copy_from_slice(&line);
                Poll::Ready(Sign::Output(line.len()))
            }
        }
    }
}

/// Serves questions until the match or the input ends.
fn serve(
    mut input: impl BufRead,
    mut output: impl Write,
    questions: &thread_channel::Receiver<Box<dyn AnyGame>>,
    mut answer: impl FnMut(Vec<u8>) -> bool,
) {
    while let Ok(game) = questions.recv() {
        let Some(line) = converse(&mut input, &mut output, game.as_ref()) else { return };
        if !answer(line) {
            return;
        }
    }
}

/// Asks until there is an answer that the rules allow; `None` at the end of the input.
fn converse(
    input: &mut impl BufRead,
    output: &mut impl Write,
    game: &dyn AnyGame,
) -> Option<Vec<u8>> {
    loop {
        let turn = game.turn_number();
        write!(output, "turn {turn}, your action (? lists them, `resign` gives up): ").ok()?;
        output.flush().ok()?;
        let mut text = String::new();
        if input.read_line(&mut text).ok()? == 0 {
            return None;
        }
        let text = text.trim();
        let message = match text {
            "" => continue,
            "?" => {
                let shown: Vec<String> =
                    game.actions().iter().map(|action| game.show_action(action)).collect();
                writeln!(output, "{}", shown.join("  ")).ok()?;
                continue;
            }
            "resign" => json!({"type": "resign"}),
            _ => match allowed(game, text) {
                Ok(action) => json!({"type": "action", "action": action}),
                Err(why) => {
                    writeln!(output, "{why}").ok()?;
                    continue;
                }
            },
        };
        return Some(format!("{message}\n").into_bytes());
    }
}

fn allowed(game: &dyn AnyGame, text: &str) -> Result<serde_json::Value, String> {
    let action = if text.starts_with('{') {
        parse_strict(text.as_bytes()).map_err(|garbled| garbled.to_string())?
    } else {
        game.parse_action(text)?
    };
    game.clone_box().play(&action).map_err(|refusal| refusal.to_string())
}
