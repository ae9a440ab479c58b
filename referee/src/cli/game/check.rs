//! `game check`: tests the rules of a game program, and explains what is wrong with them.

use crate::cli::bars::{progress_bar, style};
use crate::cli::exit;
use crate::cli::global::Global;
use crate::cli::output::{print_if_read, print_json};
use crate::cli::rows::Rows;
use crate::cli::setup::unknown;
use crate::cli::shell::join;
use clap::Args;
use referee_games::view::View;
use referee_play::game_check::{
    Bench, Found, GameCheckReport, Problem, ROWS, Reach, Row, RowReport, RowStatus,
};
use referee_play::game_program::{Direct, is_path};
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use referee_render::{Charset, Style, Theme, board, terminal, thumbnail};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// How many random games are played if nobody says how many.
const GAMES: u64 = 8;

/// Test the rules of a game program
///
/// Plays random games in two processes, compares their answers, and repeats and alters requests.
/// Explains each failure with the shortest game found that shows it.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 all rows passed, 1 a row failed or was not run, 2 usage error, 4 machine failure\n\nExamples:\n  \
    referee game check ./tetress\n  \
    referee game check ./tetress --only determinism --case 7"
)]
pub(in crate::cli) struct Options {
    /// Folder of the game, with game.toml
    dir: PathBuf,
    /// Row to run (repeatable). Defaults to all
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Test only the random game with this number; 0 has the default setup
    #[arg(long, value_name = "N")]
    case: Option<u64>,
    /// Number of random games
    #[arg(long, value_name = "N", default_value_t = GAMES, conflicts_with = "case")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=10_000))]
    games: u64,
    /// Seed of the random games, below 2^53
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Maximum number of seconds for the whole check. Slow rules are tested in fewer games
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    time_limit: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let rows = options.rows()?;
    let cases: Vec<u64> =
        options.case.map_or_else(|| (0..options.games).collect(), |case| vec![case]);
    let shown = !options.json && !global.quiet;
    let process = Direct::prepare(&options.dir, &[])?;
    let mut report = GameCheckReport {
        folder: options.dir.display().to_string(),
        name: process.name().to_owned(),
        digest: process.digest().to_owned(),
        seed: options.seed,
        ok: true,
        rows: Vec::new(),
    };
    drop(process);
    if shown {
        print_if_read(&format!("game check {}\n", sanitize(&report.name)))?;
    }
    let mut take = |number: usize, row: &Row, found: Found| {
        let again = options.again(row, &found);
        let row = RowReport::new(number, row, found, again);
        report.ok &= matches!(row.status, RowStatus::Passed | RowStatus::NotApplicable);
        let line = line(&row);
        let is_shown = shown || !options.json && row.status == RowStatus::Failed;
        report.rows.push(row);
        if is_shown { print_if_read(&line).map(drop) } else { Ok(()) }
    };
    let time = Duration::from_secs(options.time_limit);
    let mut lists = false;
    match Bench::begin(&options.dir, options.seed, time, &draw)? {
        // Nothing else can be asked.
        Err(problem) => take(1, &ROWS[0], Found::Problem(Reach::Row, problem))?,
        Ok(bench) => {
            lists = bench.program().lists();
            let bar = progress_bar(rows.len() * cases.len(), shown);
            bar.set_style(style("{bar:20} {percent}%  {elapsed}  {wide_msg}"));
            bar.enable_steady_tick(Duration::from_secs(1));
            let all = rows.len();
            for (done, (number, row)) in rows.into_iter().enumerate() {
                bar.set_message(row.title);
                bar.set_position((done * cases.len()) as u64);
                let found = row.run(&bench, &cases, all - done, |does| match does {
                    Some(text) => bar.set_message(text.to_owned()),
                    None => bar.inc(1),
                });
                bar.suspend(|| take(number, row, found))?;
            }
            bar.finish_and_clear();
        }
    }
    if options.json {
        print_json(&report)?;
    } else if shown {
        print_if_read(&summary(options, &report, lists))?;
    }
    Ok(exit::success_or(exit::OPERATION, report.ok))
}

impl Options {
    /// Returns the rows to run, with their numbers.
    fn rows(&self) -> Result<Vec<(usize, &'static Row)>, Failure> {
        for name in &self.only {
            if ROWS.iter().all(|row| row.name != name) {
                return Err(unknown("row", name, ROWS.iter().map(|row| row.name)));
            }
        }
        let numbered = (1..).zip(ROWS);
        let chosen = numbered
            .filter(|(_, row)| self.only.is_empty() || self.only.iter().any(|it| it == row.name));
        Ok(chosen.collect())
    }

    /// Returns the command that runs one row, so that it finds the same.
    fn again(&self, row: &Row, found: &Found) -> String {
        let reach = match found {
            Found::Problem(reach, _) => *reach,
            _ => Reach::Row,
        };
        let folder = self.dir.to_string_lossy();
        let mut words = vec!["referee", "game", "check", &folder];
        match reach {
            Reach::Check => words.extend(self.only.iter().flat_map(|name| ["--only", name])),
            _ => words.extend(["--only", row.name]),
        }
        let seed = self.seed.to_string();
        if self.seed != 1 {
            words.extend(["--seed", &seed]);
        }
        let (option, value) = match (reach, self.case) {
            (Reach::Case(case), _) | (Reach::Games | Reach::Check, Some(case)) => ("--case", case),
            (Reach::Games | Reach::Check, None) if self.games != GAMES => ("--games", self.games),
            _ => return join(&words),
        };
        let value = value.to_string();
        words.extend([option, &value]);
        join(&words)
    }
}

/// Draws a picture with every renderer.
fn draw(view: &View) -> Result<(), String> {
    let drawn = std::panic::catch_unwind(|| {
        for charset in [Charset::Ascii, Charset::Unicode] {
            let style = Style { charset, coordinates: true, legend: true, ..Style::default() };
            terminal(view, &style);
        }
        board(view, []);
        thumbnail(view, Theme::Light)
    });
    match drawn {
        Ok(svg) if svg.starts_with("<svg") => Ok(()),
        Ok(_) => Err("the picture is empty".to_owned()),
        Err(_) => Err("a renderer of the referee failed; please report it".to_owned()),
    }
}

/// Returns one row as text.
fn line(row: &RowReport) -> String {
    let (green, red, dim, off) = ("\x1b[32m", "\x1b[1;31m", "\x1b[2m", "\x1b[0m");
    let RowReport { number, name, title, .. } = row;
    let note = row.note.as_ref().map_or(String::new(), |note| format!("  {dim}({note}){off}"));
    match (row.status, &row.problem) {
        (RowStatus::Passed, _) => format!("{number:3} {green}ok{off}      {title}{note}\n"),
        (RowStatus::NotTested, _) => format!("{number:3} {dim}-{off}       {title}{note}\n"),
        (RowStatus::NotApplicable, _) => format!("{number:3} {dim}n/a{off}     {title}{note}\n"),
        (RowStatus::NotRun, _) => format!("{number:3} {red}not run{off} {title}\n"),
        (RowStatus::Failed, None) => format!("{number:3} {red}FAILED{off}  {title}\n"),
        (RowStatus::Failed, Some(problem)) => {
            format!(
                "{number:3} {red}FAILED{off}  {name}: {title}\n{}",
                explain(problem, &row.again)
            )
        }
    }
}

fn explain(problem: &Problem, again: &str) -> String {
    let mut rows = Rows::new(6, 7);
    rows.wrapped("what", &problem.what);
    if !problem.position.is_empty() {
        rows.wrapped("where", &problem.position);
    }
    for (number, line) in problem.shown.iter().enumerate() {
        rows.wrapped(if number == 0 { "got" } else { "" }, line);
    }
    rows.wrapped("why", &problem.why);
    rows.wrapped("fix", &problem.fix);
    rows.verbatim("again", again);
    rows.finish()
}

fn summary(options: &Options, report: &GameCheckReport, lists: bool) -> String {
    let count = |status| report.rows.iter().filter(|row| row.status == status).count();
    let (passed, failed) = (count(RowStatus::Passed), count(RowStatus::Failed));
    let mut text = format!("{passed} passed, {failed} failed");
    let (not_tested, not_run) = (count(RowStatus::NotTested), count(RowStatus::NotRun));
    if not_tested > 0 {
        write!(text, ", {not_tested} not tested").ok();
    }
    if not_run > 0 {
        let limit = options.time_limit;
        write!(text, ", {not_run} not run: the time limit of {limit} s was reached; --time-limit SECONDS sets another").ok();
    }
    text.push('\n');
    if report.ok {
        let dir = options.dir.to_string_lossy();
        let game = if is_path(&dir) { dir.into_owned() } else { format!("./{dir}") };
        // Only listed actions can be counted.
        let next: &[&str] =
            if lists { &["perft", &game, "3"] } else { &["new", "mybot", "--game", &game] };
        writeln!(text, "next: {}", join(&[&["referee"][..], next].concat())).ok();
    }
    text
}
