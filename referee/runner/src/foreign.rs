//! Stores that somebody else may have made: a database file can contain views, triggers and expressions that work
//! without end when its tables are read.

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result, Row, RowIndex, ffi};
use std::cell::Cell;
use std::collections::BTreeSet;

/// The SQL from each version of the tables to the next. The first creates them.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("store.sql"),
    include_str!("sessions.sql"),
    include_str!("void_causes.sql"),
    include_str!("signatures.sql"),
    include_str!("peak_memory.sql"),
    include_str!("copies.sql"),
    include_str!("changes.sql"),
    include_str!("sums.sql"),
];

/// The longest text or row, in bytes: contest files and lists of players are far smaller.
const TEXT_BYTES_MAX: i32 = 64 << 20;
/// How much reading a foreign store may cost, in steps of `SQLite`'s machine: so many, a second or two, and for each
/// byte of the file ten times as many as a whole report needs.
const STEPS_MAX: u64 = 50_000_000;
const STEPS_A_BYTE: u64 = 20;
/// How often the steps are counted.
const STEPS_AT_ONCE: i32 = 10_000;

/// How many bytes one query of a foreign store may give: so many, and what the file can hold in pages that each belong to
/// one row.
const READ_BYTES_MAX: u64 = 16 << 20;
const READ_A_BYTE: u64 = 2;
/// What a row takes besides its texts, in bytes.
const ROW_BYTES: u64 = 64;

thread_local! {
    /// How many bytes the query that this thread reads may still give; `None` if any number.
    static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Reads a store of so many bytes, if it is foreign: in such a file, rows may share their pages.
pub(super) fn reading<T>(bytes: Option<u64>, read: impl FnOnce() -> Result<T>) -> Result<T> {
    let most = bytes.map(|bytes| READ_BYTES_MAX.saturating_add(bytes.saturating_mul(READ_A_BYTE)));
    let before = LEFT.replace(most);
    let found = read();
    LEFT.set(before);
    found
}

/// Charges a row with texts of so many bytes.
pub(super) fn charge(bytes: usize) -> Result<()> {
    let Some(left) = LEFT.get() else { return Ok(()) };
    let rest = left.checked_sub(ROW_BYTES.saturating_add(bytes as u64));
    LEFT.set(Some(rest.unwrap_or_default()));
    rest.map(drop).ok_or_else(|| {
        let text = "it has more rows than fit into a contest's store of its size".to_owned();
        Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), Some(text))
    })
}

/// Reads a text.
pub(super) fn text(row: &Row<'_>, column: impl RowIndex) -> Result<String> {
    if let ValueRef::Text(text) = row.get_ref(column)? {
        charge(text.len())?;
    }
    row.get(column)
}

/// Reads a text that may be missing.
pub(super) fn some_text(row: &Row<'_>, column: impl RowIndex) -> Result<Option<String>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => text(row, column).map(Some),
    }
}

/// Lets nothing in the file work on its own: no function or view of its schema is trusted, and its schema can't be
/// edited as a table.
pub(super) fn distrust(connection: &Connection) -> Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, TEXT_BYTES_MAX)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    Ok(())
}

/// Interrupts the connection's work once it has cost more than an honest store of this size, in bytes, would, if it is
/// foreign.
pub(super) fn bound(connection: &mut Connection, bytes: Option<u64>) -> Result<()> {
    let Some(bytes) = bytes else { return Ok(()) };
    let mut left = STEPS_MAX.saturating_add(bytes.saturating_mul(STEPS_A_BYTE));
    let is_over = move || {
        left = left.saturating_sub(STEPS_AT_ONCE.unsigned_abs().into());
        left == 0
    };
    connection.progress_handler(STEPS_AT_ONCE, Some(is_over))
}

/// Whether the tables and indices are those of this version: the same names and columns, and nothing else.
pub(super) fn has_own_tables(connection: &Connection, version: usize) -> Result<bool> {
    let own = Connection::open_in_memory()?;
    MIGRATIONS.iter().take(version).try_for_each(|step| own.execute_batch(step))?;
    Ok(tables(connection)? == tables(&own)?)
}

/// Returns a line for each table, index, column and key. The SQL itself differs between versions of `SQLite`.
fn tables(connection: &Connection) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut names = connection.prepare("select type, name, tbl_name from sqlite_schema")?;
    let names = names.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
    })?;
    for name in names {
        let (kind, name, table) = name?;
        found.insert(format!("{kind} {name} of {table}"));
        let columns = match kind.as_str() {
            "table" => {
                "select cid, name, type || hidden || pk || \"notnull\" from pragma_table_xinfo(?1)"
            }
            "index" => "select seqno, cid, name from pragma_index_xinfo(?1)",
            _ => continue,
        };
        let mut columns = connection.prepare(columns)?;
        let mut columns = columns.query([&name])?;
        while let Some(column) = columns.next()? {
            let parts = (0..3).map(|part| Ok(format!("{:?}", column.get_ref(part)?)));
            found.insert(format!("{name}: {}", parts.collect::<Result<Vec<_>>>()?.join(" ")));
        }
    }
    Ok(found)
}
