//! Keys of earlier versions. A file with one gets an error that names the new key; that of a contest which was
//! begun with an earlier version is read as if it had the new one, or none if it was removed.

use super::problem::Source;
use crate::settings::Mistake;
use toml::{Table, Value};

/// The table and the key as they were, and as they are. A number of milliseconds became a time.
const RENAMED: &[([&str; 2], [&str; 2])] = &[
    (["clock", "start_ms"], ["clock", "start"]),
    (["clock", "bank_ms"], ["clock", "bank"]),
    (["clock", "increment_ms"], ["clock", "increment"]),
    (["clock", "move_ms"], ["clock", "move"]),
    (["clock", "margin_ms"], ["clock", "margin"]),
    (["clock", "backstop_ms"], ["clock", "backstop"]),
    (["policy", "build_time"], ["build", "time"]),
];

/// A table that was removed: the requirements on the machines of a contest on many machines.
const REMOVED: &str = "workers";

/// Returns the mistake of the first key that has another name now, or was removed.
pub(super) fn mistake(source: &Source) -> Option<Mistake> {
    if source.place(REMOVED).is_some() {
        let mistake = Mistake::at(REMOVED, "contests have no requirements on machines any more");
        let help =
            "remove it, and start workers only on machines that suit (docs/many-machines.md)";
        return Some(Mistake { is_unknown: true, ..mistake.help(help) });
    }
    let given = |(old, _): &&([&str; 2], _)| source.place(&old.join(".")).is_some();
    let (old, [table, new]) = RENAMED.iter().find(given)?;
    let key = old.join(".");
    let text = source.text.get(source.place(&key)?)?;
    let mistake = if old[0] == *table {
        let value = if text.parse::<u64>().is_ok() { text } else { "500" };
        let message = format!("`{}` is now `{new}`, with a unit", old[1]);
        Mistake::at(key, message).help(format!("write {new} = \"{value}ms\""))
    } else {
        Mistake::at(key, format!("`{}` is now `{new}` of [{table}]", old[1]))
    };
    Some(Mistake { is_unknown: true, ..mistake })
}

/// Returns the text with the new keys, without comments.
pub(super) fn upgraded(text: &str) -> Option<String> {
    let mut file: Table = text.parse().ok()?;
    file.remove(REMOVED);
    for ([old_table, old], [table, new]) in RENAMED {
        let from = file.get_mut(*old_table).and_then(Value::as_table_mut);
        let Some(value) = from.and_then(|from| from.remove(*old)) else { continue };
        let value = if old.ends_with("_ms") { Value::from(format!("{value}ms")) } else { value };
        let to = file.entry(*table).or_insert_with(|| Table::new().into());
        to.as_table_mut()?.insert((*new).to_owned(), value);
    }
    toml::to_string(&file).ok()
}
