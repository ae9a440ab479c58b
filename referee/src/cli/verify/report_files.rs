//! `verify` on the report in a contest's folder: makes its files again from the games, and compares
//! them byte for byte.

use crate::cli::contest::report::{FILES, Form, of_checked};
use referee_contest::log::digest;
use referee_contest::report::Report;
use referee_process::Failure;
use referee_process::files::{open_regular, read_regular};
use referee_runner::checking::ContestCheck;
use referee_runner::folder::Folder;
use referee_runner::results::report_failure;
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

/// The largest report file that is read, in bytes.
const BYTES_MAX: u64 = 1 << 30;
/// How much of a file is shown from where it differs, in characters.
const SHOWN_CHARS: usize = 40;
/// The fields of the report that are made of sentences, which change between versions, or that name the
/// folder.
const SENTENCES: [&str; 8] =
    ["anchor", "commands", "notes", "prior", "ranked_by", "referee", "settings", "text"];

/// Compares the report files in a folder with those that follow from its games, and adds the differences
/// and notes to `checked`.
pub(super) fn compare(folder: &Folder, checked: &mut ContestCheck) -> Result<(), Failure> {
    let report = of_checked(folder, checked)?;
    let is_same = |(name, form): (&str, Form)| is_same(&folder.path(name), form, &report);
    // Without reading them whole: a report may be larger than the memory.
    if FILES.into_iter().all(is_same) {
        return Ok(());
    }
    let mut files = Vec::new();
    for (name, form) in FILES {
        let path = folder.path(name);
        let left = read_regular(&path, BYTES_MAX).ok();
        let mut made = Vec::new();
        form.write(&report, "", &mut made).map_err(|error| report_failure(error, &path))?;
        let made = String::from_utf8_lossy(&made).into_owned();
        let signed = checked.signed_report.as_ref().and_then(|it| it.files.get(name).cloned());
        files.push(ReportFile { name, form, left, made, signed });
    }
    let found = findings(&files, checked.schedule.is_over());
    checked.differences.extend(found.differences);
    checked.notes.extend(found.notes);
    Ok(())
}

/// Whether a file is the report in this format, byte for byte.
fn is_same(file: &Path, form: Form, report: &Report) -> bool {
    let Ok(left) = open_regular(file, u64::MAX) else { return false };
    let mut out = BufWriter::new(Compared { left: BufReader::new(left), read: Vec::new() });
    let written = form.write(report, "", &mut out).and_then(|()| out.flush());
    written.is_ok() && out.get_mut().left.fill_buf().is_ok_and(<[u8]>::is_empty)
}

/// A writer that fails as soon as what is written differs from a file.
struct Compared {
    left: BufReader<File>,
    read: Vec<u8>,
}

impl Write for Compared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.read.resize(bytes.len(), 0);
        self.left.read_exact(&mut self.read)?;
        if self.read == bytes { Ok(bytes.len()) } else { Err(io::Error::other("it differs")) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file of the report.
struct ReportFile {
    name: &'static str,
    form: Form,
    /// What is in the folder; `None` if it can't be read.
    left: Option<Vec<u8>>,
    /// What the games give.
    made: String,
    /// SHA-256 of the file that was signed, if it was.
    signed: Option<String>,
}

impl ReportFile {
    /// Whether what is in the folder is what was signed, or what the games give; `None` if the file isn't
    /// signed.
    fn is_signed(&self) -> Option<bool> {
        let (left, signed) = (self.left.as_ref()?, self.signed.as_ref()?);
        Some(digest(left) == *signed || left == self.made.as_bytes())
    }
}

/// What is found in the files.
#[derive(Debug, Default, PartialEq)]
struct Findings {
    differences: Vec<String>,
    notes: Vec<String>,
}

fn findings(files: &[ReportFile], over: bool) -> Findings {
    let mut found = Findings::default();
    let missing: Vec<&str> =
        files.iter().filter(|file| file.left.is_none()).map(|file| file.name).collect();
    if missing.len() == files.len() {
        let text = "there is no report; `referee contest resume DIR` writes it";
        found.notes.extend(over.then(|| text.to_owned()));
        return found;
    }
    if !missing.is_empty() {
        found.notes.push(format!("not in the folder, so not compared: {}", missing.join(", ")));
    }
    let forged = files.iter().filter(|file| file.is_signed() == Some(false));
    let forged = forged.map(|file| format!("{} is not the file that was signed", file.name));
    found.differences.extend(forged);
    let (json, others): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.form == Form::Json);
    let mut version = None;
    for file in json {
        let Some(left) = &file.left else { continue };
        match compare_json(file, left, over, &mut found) {
            Next::Others(other_version) => version = other_version,
            Next::Nothing => return found,
        }
    }
    let differs = |file: &&ReportFile| {
        let text = first_difference(file.name, file.left.as_deref()?, &file.made)?;
        Some((file.name, text))
    };
    let (names, texts): (Vec<&str>, Vec<String>) = others.iter().filter_map(differs).unzip();
    match version {
        None => found.differences.extend(texts),
        Some(_) if names.is_empty() => {}
        Some(version) => found.notes.push(format!(
            "not compared with the games, because {version} wrote them: {}; `referee contest report DIR --output \
             FILE` makes them from the games",
            names.join(", ")
        )),
    }
    found
}

/// What to do after `report.json`.
enum Next {
    /// Compare the other files; the version that wrote them is named if it isn't this one.
    Others(Option<String>),
    /// The other files can't be compared with these games.
    Nothing,
}

fn compare_json(file: &ReportFile, left: &[u8], over: bool, found: &mut Findings) -> Next {
    let name = file.name;
    let Ok(parsed) = serde_json::from_slice::<Value>(left) else {
        found.differences.push(format!("{name} is not JSON"));
        return Next::Nothing;
    };
    let made: Value = serde_json::from_str(&file.made).unwrap_or_default();
    let changes = |report: &Value| report["changes"].as_array().map_or(0, Vec::len);
    if changes(&parsed) < changes(&made) {
        found
            .notes
            .push("the report is older than the latest change, so it is not compared".to_owned());
        return Next::Nothing;
    }
    let (before, now) = (&parsed["progress"]["played"], &made["progress"]["played"]);
    if before.as_u64() > now.as_u64() {
        let text = format!("{name} counts {before} games, but there are only {now}");
        found.differences.push(text);
        return Next::Nothing;
    }
    if !over && before != now {
        found.notes.push(format!(
            "the report is older than the latest games, so it is not compared: {name} counts \
             {before} of {now}"
        ));
        return Next::Nothing;
    }
    let version = version_other_than(&parsed, &made);
    let skipped: &[&str] = if version.is_some() { &SENTENCES } else { &[] };
    let mut texts = Vec::new();
    differ("", &parsed, &made, skipped, &mut |text| texts.push(format!("{name} {text}")));
    if texts.is_empty() && version.is_none() && left != file.made.as_bytes() {
        if same_but_for_rounding(left, file.made.as_bytes()) {
            let text = "the last digits of numbers differ, as between machines";
            found.notes.push(format!("{name}: {text}"));
        } else {
            texts.extend(first_difference(name, left, &file.made));
        }
    }
    found.differences.extend(texts);
    Next::Others(version)
}

/// Returns which version wrote the report, if that isn't this one.
fn version_other_than(left: &Value, made: &Value) -> Option<String> {
    match &left["referee"] {
        version if *version == made["referee"] => None,
        Value::String(version) => Some(format!("version {}", version.escape_debug())),
        _ => Some("an earlier version".to_owned()),
    }
}

/// Reports each field in which the report left in the folder differs from the one made again, except the
/// fields in `skipped`. Numbers may differ by rounding, since logarithms differ between machines.
fn differ(
    path: &str,
    left: &Value,
    made: &Value,
    skipped: &[&str],
    found: &mut impl FnMut(String),
) {
    let shown = path.trim_start_matches('.');
    match (left, made) {
        (Value::Object(left), Value::Object(fields)) => {
            for (key, value) in fields.iter().filter(|(key, _)| !skipped.contains(&key.as_str())) {
                match left.get(key) {
                    Some(left) => differ(&format!("{path}.{key}"), left, value, skipped, found),
                    // A report of an earlier version lacks newer fields.
                    None if skipped.is_empty() => found(format!("lacks {shown}.{key}")),
                    None => {}
                }
            }
        }
        (Value::Array(all), Value::Array(values)) if all.len() == values.len() => {
            for (index, (left, made)) in all.iter().zip(values).enumerate() {
                differ(&format!("{path}[{index}]"), left, made, skipped, found);
            }
        }
        (Value::Number(a), Value::Number(b)) if close(a.as_f64(), b.as_f64()) => {}
        _ if left == made => {}
        _ => found(format!("has {shown} = {left}, but the games give {made}")),
    }
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    a.zip(b).is_some_and(|(a, b)| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0))
}

/// Whether two JSON texts are the same, except for the last digits of numbers with fractions.
fn same_but_for_rounding(left: &[u8], made: &[u8]) -> bool {
    let (mut left, mut made) = (left, made);
    loop {
        let same = left.iter().zip(made).take_while(|(a, b)| a == b).count();
        if same == left.len() && same == made.len() {
            return true;
        }
        // Back to where the number begins in which they differ.
        let begun = left[..same].iter().rev().take_while(|byte| in_number(**byte)).count();
        let (a, b) = (number_at(&left[same - begun..]), number_at(&made[same - begun..]));
        let fractions = [a, b].iter().all(|text| text.contains(['.', 'e']));
        if !fractions || !close(a.parse().ok(), b.parse().ok()) {
            return false;
        }
        (left, made) = (&left[same - begun + a.len()..], &made[same - begun + b.len()..]);
    }
}

fn in_number(byte: u8) -> bool {
    byte.is_ascii_digit() || b"+-.e".contains(&byte)
}

/// Returns the text at the beginning of `bytes` that may be a number.
fn number_at(bytes: &[u8]) -> &str {
    let length = bytes.iter().take_while(|byte| in_number(**byte)).count();
    std::str::from_utf8(&bytes[..length]).unwrap_or("")
}

/// Says where a file begins to differ from the one made again; `None` if they are equal.
fn first_difference(name: &str, left: &[u8], made: &str) -> Option<String> {
    let made = made.as_bytes();
    if left == made {
        return None;
    }
    let same = left.iter().zip(made).take_while(|(a, b)| a == b).count();
    let line = made[..same].split(|byte| *byte == b'\n').count();
    let start = made[..same].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let shown = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(&bytes[same.min(bytes.len())..]).into_owned();
        let text: String = text.lines().next().unwrap_or("").chars().take(SHOWN_CHARS).collect();
        format!("{text:?}")
    };
    let (column, is, wanted) = (same - start + 1, shown(left), shown(made));
    Some(format!("{name}, line {line}, byte {column}: it has {is}, but the games give {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::{FILES, Findings, Form, ReportFile, findings, same_but_for_rounding};
    use serde_json::{Value, json};

    fn report(version: &str, notes: &str, elo: f64, reason: &str) -> Value {
        json!({"referee": version, "progress": {"played": 2}, "settings": [notes],
               "ratings": {"notes": [notes], "players": [{"elo": elo}]},
               "games": [{"reason": reason}]})
    }

    /// Compares a report with one of version 2; `page` is the content of all files but the JSON.
    fn compared(left: &Value, page: &str) -> Findings {
        let made = report("2", "plain words", 12.5, "late");
        let files: Vec<ReportFile> = FILES
            .iter()
            .map(|&(name, form)| {
                let is_json = form == Form::Json;
                let left = if is_json { left.to_string() } else { page.to_owned() };
                let made = if is_json { made.to_string() } else { "head\nwinner: a\n".to_owned() };
                ReportFile { name, form, left: Some(left.into_bytes()), made, signed: None }
            })
            .collect();
        findings(&files, true)
    }

    const PAGE: &str = "head\nwinner: a\n";

    #[test]
    fn files_of_this_version_are_compared_byte_for_byte() {
        let same = report("2", "plain words", 12.5, "late");
        assert_eq!(compared(&same, PAGE), Findings::default());
        let Findings { differences: found, notes } = compared(&same, "head\nwinner: b\n");
        assert_eq!(found.len(), 4, "{found:?}");
        let wanted = r#"report.html, line 2, byte 9: it has "b", but the games give "a""#;
        assert_eq!(found[0], wanted);
        assert!(notes.is_empty(), "{notes:?}");
        let found = compared(&same, "head\n").differences;
        assert_eq!(found.len(), 4, "{found:?}");
        let found = compared(&report("2", "other words", 13.0, "gone"), PAGE).differences;
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found[0].ends_with(r#"has games[0].reason = "gone", but the games give "late""#));
        let mut more = same;
        more["winner"] = json!("b");
        let found = compared(&more, PAGE).differences;
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn rounding_is_noted() {
        let Findings { differences: found, notes } =
            compared(&report("2", "plain words", 12.5 + 1e-9, "late"), PAGE);
        assert!(found.is_empty(), "{found:?}");
        assert!(notes[0].contains("last digits"), "{notes:?}");
        for (left, made, same) in [
            ("[1.5,2]", "[1.5,2]", true),
            ("[1.5000000001,2]", "[1.5,2]", true),
            ("[1.5,2]", "[1.5,3]", false),
            ("[1.5,2]", "[1.6,2]", false),
            ("[1.5,2] ", "[1.5,2]", false),
            ("[1.5,2", "[1.5,2]", false),
            ("[1.5", "[1.5000000001", true),
            ("", "1.5", false),
        ] {
            assert_eq!(
                same_but_for_rounding(left.as_bytes(), made.as_bytes()),
                same,
                "{left} {made}"
            );
        }
    }

    #[test]
    fn files_of_another_version_are_compared_by_fields_and_the_rest_is_named() {
        let older = |reason| report("1", "older words", 12.5 + 1e-9, reason);
        let Findings { differences: found, notes } = compared(&older("late"), "other words");
        assert!(found.is_empty(), "{found:?}");
        assert!(notes[0].contains("because version 1 wrote them: report.html, report.md"));
        let found = compared(&older("gone"), "other words").differences;
        assert_eq!(
            found,
            [r#"report.json has games[0].reason = "gone", but the games give "late""#]
        );
        let mut oldest = older("late");
        oldest.as_object_mut().unwrap().remove("referee");
        assert!(compared(&oldest, "x").notes[0].contains("an earlier version"));
        assert_eq!(compared(&oldest, PAGE), Findings::default());
    }
}
