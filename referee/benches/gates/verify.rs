//! Row h: how fast transcripts are replayed and verified, on one core.

use crate::measure::{Pinned, median, thread_seconds};
use crate::report::Bounds::AtLeast;
use crate::report::Row;
use crate::turn::succeed;
use referee_games::Games;
use referee_match::transcript::{Status, verify};
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

/// Measures the row for each game.
pub(crate) fn rows(rounds: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let play = |game: &str, games: usize| -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
        let folder = folder.path().join(game);
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        command.args(["play", game, "@random", "@random", "--seed", "1", "--quiet"]);
        command.args(["--games", &games.to_string(), "--fail-on-fault", "--out"]).arg(&folder);
        succeed(&mut command)?;
        read_all(&folder)
    };
    let hex = play("hex", 200)?;
    let chinese_checkers = play("chinese-checkers", 20)?;
    let _pinned = Pinned::to_one_core()?;
    Ok(vec![
        row("replay and verify, Hex", &hex, rounds)?,
        row("replay and verify, Chinese Checkers", &chinese_checkers, rounds)?,
    ])
}

fn read_all(folder: &Path) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    folder.read_dir()?.map(|entry| Ok(std::fs::read(entry?.path())?)).collect()
}

fn row(what: &'static str, transcripts: &[Vec<u8>], rounds: usize) -> Result<Row, Box<dyn Error>> {
    let verify_all = || -> Result<u64, Box<dyn Error>> {
        let mut turns = 0;
        for transcript in transcripts {
            let report = verify(black_box(transcript), &Games::default());
            if report.status != Status::Ok {
                return Err(report.detail.into());
            }
            turns += report.turns;
        }
        Ok(turns)
    };
    let round = || -> Result<(f64, u64), Box<dyn Error>> {
        let (seconds, turns) = thread_seconds(verify_all);
        let turns = turns?;
        Ok((turns as f64 / seconds / 1e6, turns))
    };
    // The first round warms up.
    let (_, turns) = round()?;
    let rates: Vec<f64> =
        (0..rounds).map(|_| round().map(|(rate, _)| rate)).collect::<Result<_, _>>()?;
    let bytes: usize = transcripts.iter().map(Vec::len).sum();
    Ok(Row {
        letter: 'h',
        what,
        figure: median(&rates),
        unit: "M/s",
        bounds: AtLeast(1.0, 0.7),
        note: format!("{turns} moves, {} bytes each", bytes as u64 / turns.max(1)),
    })
}
