//! Writes contests and games as rows, and reads them back.

use super::store::{StoredContest, VoidAttempt};
use referee_contest::log::WorkerSignature;
use referee_contest::{Change, PlayerInfo, Record};
use referee_protocol::SandboxRecord;
use rusqlite::{Row, params};
use serde::{Serialize, de::DeserializeOwned};

pub(super) fn add_contest(
    transaction: &rusqlite::Transaction<'_>,
    stored: &StoredContest,
) -> rusqlite::Result<()> {
    transaction.execute(
        "insert into contest (one, text, base, contest, left_out, begun, files, copies, \
         referee) values (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            stored.text,
            stored.base.to_string_lossy(),
            json(&stored.contest)?,
            json(&stored.left_out)?,
            stored.begun,
            json(&stored.files)?,
            json(&stored.copies)?,
            env!("CARGO_PKG_VERSION")
        ],
    )?;
    if let Some(sandbox) = &stored.sandbox {
        add_session(transaction, &stored.begun, sandbox)?;
    }
    for (number, player) in stored.contest.players.iter().enumerate() {
        transaction.execute(
            "insert into players (number, name, run, digest) values (?1, ?2, ?3, ?4)",
            params![number, player.name, player.run, player.digest],
        )?;
    }
    Ok(())
}

pub(super) fn add_session(
    transaction: &rusqlite::Transaction<'_>,
    begun: &str,
    sandbox: &SandboxRecord,
) -> rusqlite::Result<()> {
    let insert = "insert into sessions (begun, sandbox) values (?1, ?2)";
    transaction.execute(insert, params![begun, json(sandbox)?]).map(|_| ())
}

pub(super) fn add_change(
    transaction: &rusqlite::Transaction<'_>,
    stored: &StoredContest,
    number: u64,
    change: &Change,
) -> rusqlite::Result<()> {
    let insert = "insert into changes (number, change) values (?1, ?2)";
    transaction.execute(insert, params![number, json(change)?])?;
    let update = "update contest set files = ?1, copies = ?2";
    transaction.execute(update, params![json(&stored.files)?, json(&stored.copies)?])?;
    for (number, player) in stored.contest.players.iter().enumerate() {
        let PlayerInfo { name, run, digest } = player;
        let insert = "insert into players (number, name, run, digest) values (?1, ?2, ?3, ?4) \
                      on conflict (number) do update set run = ?3, digest = ?4";
        transaction.execute(insert, params![number, name, run, digest])?;
    }
    Ok(())
}

pub(super) fn add_void(
    transaction: &rusqlite::Transaction<'_>,
    void: &VoidAttempt,
) -> rusqlite::Result<()> {
    let VoidAttempt { number, attempt, cause, text, player, transcript } = void;
    let insert = "insert or replace into voids (game, attempt, cause, text, player, transcript) \
                  values (?1, ?2, ?3, ?4, ?5, ?6)";
    let player = player.map(|player| player.0);
    transaction
        .prepare_cached(insert)?
        .execute(params![number, attempt, cause, text, player, transcript])
        .map(|_| ())
}

pub(super) fn add_game(
    transaction: &rusqlite::Transaction<'_>,
    game: &Record,
    worker: Option<&WorkerSignature>,
) -> rusqlite::Result<()> {
    let added = transaction
        .prepare_cached(
            "insert or ignore into games (number, block, round, game, match_id, seed, result, \
             reason, scores, turns, lag_ns, marked, moves, transcript, seal) values \
             (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        )?
        .execute(params![
            game.number,
            game.block,
            game.round,
            game.game,
            game.match_id,
            game.seed,
            word(&game.result)?,
            game.reason,
            game.scores.as_ref().map(json).transpose()?,
            game.turns,
            game.lag_ns,
            game.marked,
            game.moves,
            game.transcript,
            game.seal
        ])?;
    if added == 0 {
        return Ok(());
    }
    if let Some(WorkerSignature { name, key, signature }) = worker {
        transaction
            .prepare_cached(
                "insert into signatures (game, worker, key, signature) values (?1, ?2, ?3, ?4)",
            )?
            .execute(params![game.number, name, key.to_string(), signature])?;
    }
    let mut insert = transaction.prepare_cached(
        "insert into seats (game, seat, player, place, score, used_ms, cpu_ms, \
         peak_memory_kb, turns, fault, fault_text) \
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    for (seat, record) in game.seats.iter().enumerate() {
        let score = game.scores.as_ref().and_then(|scores| scores.get(seat));
        insert.execute(params![
            game.number,
            seat,
            game.players[seat].0,
            game.places[seat],
            score,
            record.used_ms,
            record.cpu_ms,
            record.peak_memory_kb,
            record.turns,
            record.fault.as_ref().map(word).transpose()?,
            record.fault_text
        ])?;
    }
    Ok(())
}

fn json<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

pub(super) fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into())
    })
}

/// Returns an enum's name in JSON.
fn word<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    let quoted = json(value)?;
    Ok(quoted.trim_matches('"').to_owned())
}
