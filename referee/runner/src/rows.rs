//! Writes contests and games as rows, and reads them back.

use super::foreign::{charge, some_text, text};
use super::store::{StoredContest, VoidAttempt};
use referee_contest::{Change, Player, PlayerInfo, Record, SeatRecord};
use referee_protocol::SandboxRecord;
use rusqlite::types::ValueRef;
use rusqlite::{Row, RowIndex, Statement, params};
use serde::Serialize;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};

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
    sha256: Option<&str>,
) -> rusqlite::Result<()> {
    let added = transaction
        .prepare_cached(
            "insert or ignore into games (number, block, round, game, match_id, seed, result, \
             reason, scores, turns, lag_ns, marked, moves, transcript, seal, sha256) values \
             (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
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
            game.seal,
            sha256
        ])?;
    if added == 0 {
        return Ok(());
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

pub(super) fn from_json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: impl RowIndex,
) -> rusqlite::Result<T> {
    let column = column.idx(row.as_ref())?;
    let text = text(row, column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into())
    })
}

/// Returns an enum's name in JSON.
fn word<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    let quoted = json(value)?;
    Ok(quoted.trim_matches('"').to_owned())
}

/// Returns the value of an enum by its name in JSON.
fn from_word<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let column = row.as_ref().column_index(column)?;
    let text: &str = row.get_ref(column)?.as_str()?;
    let text: StrDeserializer<'_, serde::de::value::Error> = text.into_deserializer();
    T::deserialize(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into())
    })
}

/// The seats of a game, as [`read_game`] needs them.
pub(super) const SEATS: &str = "select player, place, used_ms, cpu_ms, peak_memory_kb, turns, \
     fault, fault_text from seats where game = ?1 order by seat";

/// Reads a row of the table `games` with all columns, and its seats.
pub(super) fn read_game(row: &Row<'_>, seats: &mut Statement<'_>) -> rusqlite::Result<Record> {
    let number: u64 = row.get("number")?;
    let scores = some_text(row, "scores")?;
    let mut record = Record {
        number,
        block: row.get("block")?,
        round: row.get("round")?,
        game: row.get("game")?,
        match_id: text(row, "match_id")?,
        seed: row.get("seed")?,
        result: from_word(row, "result")?,
        reason: text(row, "reason")?,
        scores: scores.map(|_| from_json(row, "scores")).transpose()?,
        turns: row.get("turns")?,
        lag_ns: row.get("lag_ns")?,
        marked: row.get("marked")?,
        moves: text(row, "moves")?,
        transcript: text(row, "transcript")?,
        seal: text(row, "seal")?,
        players: Vec::new(),
        places: Vec::new(),
        seats: Vec::new(),
    };
    let mut rows = seats.query([number])?;
    while let Some(seat) = rows.next()? {
        charge(0)?;
        let fault = if seat.get_ref("fault")? == ValueRef::Null {
            None
        } else {
            Some(from_word(seat, "fault")?)
        };
        record.players.push(Player(seat.get("player")?));
        record.places.push(seat.get("place")?);
        record.seats.push(SeatRecord {
            used_ms: seat.get("used_ms")?,
            cpu_ms: seat.get("cpu_ms")?,
            peak_memory_kb: seat.get("peak_memory_kb")?,
            turns: seat.get("turns")?,
            fault,
            fault_text: some_text(seat, "fault_text")?,
        });
    }
    Ok(record)
}
