//! People as players: prompted at the terminal or on a page, they answer with an action as text or
//! JSON. An invalid answer is explained and asked again; only legal actions reach the match.

use crate::typed_line::{self, Keys};
use referee_games::AnyGame;
use referee_process::agent::AgentEvent;
use referee_process::framer::Line;
use referee_process::lock::lock;
use referee_protocol::{Seat, parse_strict};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::sync::mpsc as thread_channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// A person who plays.
#[derive(Debug)]
pub struct Human {
    asks: PromptTarget,
    answers: mpsc::Receiver<Vec<u8>>,
    left: bool,
}

/// Where a person is prompted.
#[derive(Debug)]
enum PromptTarget {
    /// By the thread that serves the terminal.
    Terminal(thread_channel::Sender<Box<dyn AnyGame>>),
    /// On a page.
    Page(Arc<PlayerPrompt>),
}

/// Where the people of a match play.
#[derive(Clone, Debug, Default)]
pub enum HumanInput {
    /// At the terminal; one person.
    #[default]
    Terminal,
    /// On pages.
    Prompts(Arc<PlayerPrompts>),
}

impl HumanInput {
    /// Returns the person for a seat.
    pub fn human(&self, seat: Seat) -> Human {
        match self {
            Self::Terminal => Human::at_terminal(),
            Self::Prompts(prompts) => prompts.human(seat),
        }
    }
}

/// The prompts of a match, one per person, by seat.
#[derive(Debug, Default)]
pub struct PlayerPrompts(Mutex<BTreeMap<Seat, Arc<PlayerPrompt>>>);

/// The prompt for one person, usable from any thread.
#[derive(Debug)]
pub struct PlayerPrompt {
    asked: Mutex<Option<Box<dyn AnyGame>>>,
    answer: mpsc::Sender<Vec<u8>>,
}

/// Why an answer was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerError {
    /// No answer is awaited for this turn.
    NotAsked,
    /// It is invalid or illegal.
    Refused(String),
}

impl PlayerPrompts {
    /// Adds a person; replaces that of an earlier match at the same seat.
    fn human(&self, seat: Seat) -> Human {
        let (answer, answers) = mpsc::channel(1);
        let prompt = Arc::new(PlayerPrompt { asked: Mutex::default(), answer });
        lock(&self.0).insert(seat, prompt.clone());
        Human { asks: PromptTarget::Page(prompt), answers, left: false }
    }

    /// Returns the seat whose answer is awaited, and the current game.
    pub fn asked(&self) -> Option<(Seat, Box<dyn AnyGame>)> {
        let prompts = lock(&self.0);
        prompts.iter().find_map(|(&seat, prompt)| Some((seat, lock(&prompt.asked).clone()?)))
    }

    /// Takes the answer for this turn: an action as text or JSON, or `resign`.
    pub fn answer(&self, turn: u64, text: &str) -> Result<(), AnswerError> {
        let prompts = lock(&self.0);
        let taken = prompts.values().map(|prompt| prompt.take(turn, text));
        let mut taken = taken.filter(|taken| *taken != Err(AnswerError::NotAsked));
        taken.next().unwrap_or(Err(AnswerError::NotAsked))
    }
}

impl PlayerPrompt {
    fn take(&self, turn: u64, text: &str) -> Result<(), AnswerError> {
        let mut asked = lock(&self.asked);
        let game = asked.as_ref().filter(|game| game.turn_number() == turn);
        let game = game.ok_or(AnswerError::NotAsked)?;
        let line = message(game.as_ref(), text.trim()).map_err(AnswerError::Refused)?;
        *asked = None;
        // The match may be over.
        self.answer.try_send(line).map_err(|_| AnswerError::NotAsked)
    }
}

impl Human {
    /// Starts to serve the terminal: questions on stderr, answers from stdin.
    fn at_terminal() -> Self {
        let (questions, asked) = thread_channel::channel::<Box<dyn AnyGame>>();
        let (answer, answers) = mpsc::channel(1);
        std::thread::spawn(move || {
            let (mut input, mut output) = (std::io::stdin().lock(), std::io::stderr());
            // Until the match or the input ends.
            while let Ok(game) = asked.recv() {
                let keys = Keys::take();
                let line = converse(&mut input, &mut output, game.as_ref(), keys);
                typed_line::give_back();
                if line.is_none_or(|line| answer.blocking_send(line).is_err()) {
                    break;
                }
            }
        });
        Self { asks: PromptTarget::Terminal(questions), answers, left: false }
    }

    /// Prompts for an action in this game.
    pub fn ask(&mut self, game: &dyn AnyGame) {
        match &self.asks {
            // A closed terminal is seen as the end of the answers.
            PromptTarget::Terminal(questions) => {
                questions.send(game.clone_box()).ok();
            }
            PromptTarget::Page(prompt) => *lock(&prompt.asked) = Some(game.clone_box()),
        }
    }

    /// Takes them out of the match.
    pub fn leave(&mut self) {
        self.left = true;
        if let PromptTarget::Page(prompt) = &self.asks {
            *lock(&prompt.asked) = None;
        }
    }

    /// See [`Human::leave`].
    pub fn has_left(&self) -> bool {
        self.left
    }

    /// Returns their next answer.
    pub fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<AgentEvent> {
        if self.left {
            return Poll::Pending;
        }
        self.answers.poll_recv(context).map(|answer| {
            self.left |= answer.is_none();
            let line = |bytes| AgentEvent::Line(Line { bytes, cut: false });
            answer.map_or(AgentEvent::StdoutClosed, line)
        })
    }
}

impl Drop for Human {
    fn drop(&mut self) {
        if let PromptTarget::Terminal(_) = self.asks {
            // Their time may be up before they have answered.
            typed_line::give_back();
        }
    }
}

/// Prompts until there is a legal answer; `None` at the end of the input.
fn converse(
    input: &mut impl BufRead,
    output: &mut impl Write,
    game: &dyn AnyGame,
    keys: Option<Keys>,
) -> Option<Vec<u8>> {
    let legal =
        || game.actions().iter().map(|action| game.format_action(action)).collect::<Vec<_>>();
    let how = if keys.is_some() { "Tab completes, `?` lists" } else { "`?` lists the legal ones" };
    loop {
        let turn = game.turn_number();
        let prompt = format!("turn {turn}, your action ({how}, `resign` gives up): ");
        let text = typed_line::read(input, output, &prompt, keys, legal).ok()??;
        match text.trim() {
            "" => {}
            "?" => writeln!(output, "{}", legal().join("  ")).ok()?,
            text => match message(game, text) {
                Ok(message) => return Some(message),
                Err(why) => writeln!(output, "{why}").ok()?,
            },
        }
    }
}

/// Converts typed text to a message, without a line end.
fn message(game: &dyn AnyGame, text: &str) -> Result<Vec<u8>, String> {
    let message = match text {
        "resign" => json!({"type": "resign"}),
        _ => json!({"type": "action", "action": allowed(game, text)?}),
    };
    Ok(message.to_string().into_bytes())
}

fn allowed(game: &dyn AnyGame, text: &str) -> Result<serde_json::Value, String> {
    let action = if text.starts_with('{') {
        parse_strict(text.as_bytes()).map_err(|garbled| garbled.to_string())?
    } else {
        game.parse_action(text)?
    };
    game.clone_box().play(&action).map_err(|refusal| refusal.to_string())
}
