//! Row b: games per second, compared with a model of fastchess.
//!
//! The yardstick is not fastchess but a model of it: one thread per game, engines that stay alive
//! between games, and for every move the messages of fastchess's sources: `isready` three times outside
//! the clock, and the whole game in `position`. It checks no move, keeps no record and has no clock, so
//! it is faster than any real program with these messages.

use crate::agent::Piped;
use crate::measure::Pairs;
use crate::report::Bounds::AtLeast;
use crate::report::Row;
use crate::script::Script;
use crate::turn::{play_instant, succeed};
use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The hidden modes in which this program is the yardstick, and one of its engines.
pub(crate) const MODEL_MODE: &str = "__fastchess_model";
pub(crate) const ENGINE_MODE: &str = "__engine";

/// Turns of each game, and games of each run.
const TURNS: usize = 200;
const GAMES: usize = 96;
/// Matches at once, and the target ratio.
const CONCURRENCY: [(usize, &str, f64); 3] = [
    (2, "games/s at 2 at once / model of fastchess", 10.0),
    (8, "games/s at 8 at once / model of fastchess", 15.0),
    (64, "games/s at 64 at once / model of fastchess", 40.0),
];

/// Measures the row for each number of matches at once.
pub(crate) fn rows(pairs: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let script = Script::chinese_checkers(TURNS)?;
    CONCURRENCY
        .iter()
        .map(|&(at_once, what, target)| row(&script, at_once, what, target, pairs))
        .collect()
}

fn row(
    script: &Script,
    at_once: usize,
    what: &'static str,
    target: f64,
    pairs: usize,
) -> Result<Row, Box<dyn Error>> {
    let rates = Pairs::alternate(
        pairs,
        || {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg(MODEL_MODE).arg(at_once.to_string());
            games_a_second(&mut command)
        },
        || {
            let mut command = play_instant(script, TURNS)?;
            command.args(["--games", &GAMES.to_string(), "--jobs", &at_once.to_string()]);
            command.args(["--start-time", "60s", "--no-transcript", "--fail-on-fault", "--quiet"]);
            command.arg("--pin");
            games_a_second(&mut command)
        },
    )?;
    let (model, ours) = rates.medians();
    Ok(Row {
        letter: 'b',
        what,
        figure: rates.ratio(),
        unit: "x",
        // The targets are for fastchess itself, which does more than the model.
        bounds: AtLeast(target, 0.5),
        note: format!("{ours:.0} games/s against {model:.0}"),
    })
}

fn games_a_second(command: &mut Command) -> Result<f64, Box<dyn Error>> {
    let begin = Instant::now();
    succeed(command)?;
    Ok(GAMES as f64 / begin.elapsed().as_secs_f64())
}

/// Plays all games, `at_once` at a time.
pub(crate) fn run(at_once: usize) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..at_once)
            .map(|_| {
                scope.spawn(|| {
                    let mut engines = [Engine::start()?, Engine::start()?];
                    while next.fetch_add(1, Ordering::Relaxed) < GAMES {
                        play(&mut engines)?;
                    }
                    engines.into_iter().try_for_each(|engine| engine.pipes.end())
                })
            })
            .collect();
        let failed = || Err(io::Error::other("a thread panicked"));
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| failed()))
    })
}

fn play(engines: &mut [Engine; 2]) -> io::Result<()> {
    for engine in &mut *engines {
        engine.ask("ucinewgame\nisready\n", "readyok")?;
    }
    let mut position = "position startpos moves".to_owned();
    for turn in 0..TURNS {
        let engine = &mut engines[turn % 2];
        engine.ask("isready\n", "readyok")?;
        engine.pipes.input.write_all(format!("{position}\n").as_bytes())?;
        engine.ask("isready\n", "readyok")?;
        engine.ask("go wtime 10000 btime 10000 winc 100 binc 100\n", "bestmove ")?;
        position.push_str(engine.line["bestmove".len()..].trim_end());
        engine.ask("isready\n", "readyok")?;
    }
    Ok(())
}

/// Returns a move as long as a move of chess.
fn move_of(turn: usize) -> String {
    format!("m{turn:03}")
}

struct Engine {
    pipes: Piped<ChildStdin, BufReader<ChildStdout>>,
    line: String,
}

impl Engine {
    fn start() -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let Piped { child, input, output } = Piped::start(command.arg(ENGINE_MODE))?;
        let pipes = Piped { child, input, output: BufReader::new(output) };
        let mut engine = Self { pipes, line: String::new() };
        engine.ask("uci\n", "uciok")?;
        Ok(engine)
    }

    /// Writes `words` and reads lines until one begins with `answer`.
    fn ask(&mut self, words: &str, answer: &str) -> io::Result<()> {
        self.pipes.input.write_all(words.as_bytes())?;
        loop {
            self.line.clear();
            if self.pipes.output.read_line(&mut self.line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if self.line.starts_with(answer) {
                return Ok(());
            }
        }
    }
}

/// Runs the engine, which derives its move from the length of the game.
pub(crate) fn run_engine() -> io::Result<()> {
    let mut output = io::stdout().lock();
    let mut moves = 0;
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.starts_with("position") {
            moves = line.split(' ').count() - "position startpos moves".split(' ').count();
            continue;
        }
        let answer = match line.split(' ').next() {
            Some("uci") => "uciok\n".to_owned(),
            Some("isready") => "readyok\n".to_owned(),
            Some("go") => format!("bestmove {}\n", move_of(moves)),
            _ => continue,
        };
        // Flush every line.
        output.write_all(answer.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}
