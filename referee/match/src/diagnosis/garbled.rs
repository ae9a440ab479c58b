//! Lines that are no message: where the mistake is, and how such a line should look.

use super::history::History;
use super::locate::{locate, locate_key};
use super::nearest::{first_type_mismatch, nearest_action};
use super::repair::repair;
use super::{Defect, Evidence, Finding, Stage};
use crate::transcript;
use referee_games::Turn;
use referee_protocol::{
    Fault, FromAgent, ParseError, ParseErrorKind, parse_from_agent, parse_strict,
};

/// The form of an answer.
const MESSAGE: &str = "{\"type\":\"action\",\"action\":{..}}";

/// What a program prints for a value that it doesn't have, or can't print.
const NO_VALUES: [(&str, &str); 5] = [
    ("undefined", NOTHING),
    ("None", NOTHING),
    ("nil", NOTHING),
    ("null", NOTHING),
    ("[object Object]", "print JSON.stringify(message) instead of the object itself"),
];
/// What an empty object may have been.
const EMPTY: &str = "an empty object is what JavaScript writes for a promise (`await` it) or a Map, and Go for a struct whose \
     fields begin with small letters; write all fields of the message";
/// What null may have been.
const NO_ACTION: &str = "it has chosen no action: its search found none that is better than nothing, or a function returned none; begin with \
     the first legal action, and replace it by better ones";
const NOTHING: &str = "it prints what a function returned that returns nothing: `return` the message there, and print it";

pub(super) fn garbled(fault: &Fault, known: &Evidence<'_>) -> Finding {
    let meant = known.got.and_then(|line| repair(line, known));
    let finding = not_asked(by_place(fault, known, meant.is_some()), known);
    match meant {
        Some(meant) => {
            let why = if finding.fix.is_empty() { "" } else { "; " };
            let fix = format!("write {meant}{why}{}", finding.fix);
            finding.fix(fix)
        }
        None => finding,
    }
}

/// A program that answers with another part of its first request looks for what it hasn't asked for.
fn not_asked(finding: Finding, known: &Evidence<'_>) -> Finding {
    let is_copied = known.got.is_some_and(|line| line.windows(7).any(|it| it == b"left_ms"));
    let is_first =
        is_copied && known.stage == Stage::FirstTurn && finding.defect == Defect::BrokenJson;
    let before = History::before(known).filter(|_| is_first).unwrap_or_default();
    match before.wants {
        Some(wants) if wants.is_empty() => {
            let fix = format!(
                "a `turn` has `actions` and `position` only if `want` in `ready` asks for them; {}",
                finding.fix
            );
            finding.fix(fix)
        }
        _ => finding,
    }
}

fn by_place(fault: &Fault, known: &Evidence<'_>, is_clear: bool) -> Finding {
    if known.foreign {
        return Finding::new(Defect::Shape, fault.text.clone());
    }
    let Some(line) = known.got else { return Finding::new(Defect::Shape, fault.text.clone()) };
    let text = String::from_utf8_lossy(line);
    if let Some((value, fix)) = NO_VALUES.iter().find(|(value, _)| text.trim() == *value) {
        let what = format!("`{value}` is no message");
        return Finding { at_byte: Some(1), ..Finding::new(Defect::DebugText, what) }.fix(*fix);
    }
    if let Err(broken) = parse_strict(line) {
        let finding = broken_json(line, &broken, is_clear);
        return match cut(line, known) {
            Some(bytes) => finding.fix(format!(
                "it is cut where the first {bytes} bytes of the `turn` end: the buffer for a line is too short; make it longer, or \
                 read on to the line end (in C, `getline`), since a line may have 1 MiB"
            )),
            None => finding,
        };
    }
    let (what, within) = match parse_from_agent(line) {
        Err(garbled) => (garbled.to_string(), ""),
        // The message is fine, but its action isn't.
        Ok(FromAgent::Action(action)) => {
            let path = first_type_mismatch(&action.action, &known.legal());
            let text = fault.text.strip_prefix("action: ").unwrap_or(&fault.text);
            (path.map_or(fault.text.clone(), |path| format!("action: {path}: {text}")), "action")
        }
        Ok(_) => (fault.text.clone(), "action"),
    };
    let at_byte = place(line, &what, within);
    match line.trim_ascii_start().first() {
        Some(b'{') => {}
        // Probably meant as a message.
        Some(b'[' | b'"') => {
            let finding = Finding { at_byte: Some(1), ..Finding::new(Defect::Shape, what) };
            let fix = if is_clear && line.windows(2).any(|pair| pair == b"\\\"") {
                "the line is encoded as JSON twice: once is enough".to_owned()
            } else {
                format!("write one JSON object per line, such as {MESSAGE}")
            };
            return finding.fix(fix);
        }
        _ => return Finding { at_byte: Some(1), ..Finding::new(Defect::DebugText, what) },
    }
    let finding = Finding { at_byte, ..Finding::new(Defect::Shape, what.clone()) };
    if is_clear {
        return finding.fix("");
    }
    if what.ends_with("missing field `type`") && line.windows(2).any(|pair| pair == b"{}") {
        return finding.fix(EMPTY);
    }
    if what.starts_with("action: expected an object") && what.ends_with("got null") {
        return finding.fix(NO_ACTION);
    }
    let meant = match parse_from_agent(line) {
        Ok(FromAgent::Action(action)) => nearest_action(&action.action, &known.legal()).cloned(),
        _ => None,
    };
    let forms = "`referee games GAME` shows the forms";
    match meant {
        Some(action) => finding
            .fix(format!("write actions in the form of the legal ones, such as {action}; {forms}")),
        None if within == "action" => finding.fix(format!("write actions in their form: {forms}")),
        None if what.contains("unknown field") => finding.fix(
            "remove the field or correct its name; `referee schema from-agent` has all of them",
        ),
        None if what.contains("unknown type") => finding.fix(
            "answer `hello` with `ready` and each `turn` with `action`; write errors and other text to stderr",
        ),
        None if what.contains("missing field `type`")
            || what.contains("missing field `action`") =>
        {
            finding.fix(format!(
                "write all fields of the message, such as {MESSAGE}; JavaScript leaves out those that are `undefined`"
            ))
        }
        None => finding,
    }
}

/// The least that an answer repeats of the request.
const COPIED_MIN: usize = 10;
/// What an answer may add to it.
const ADDED_MAX: usize = 8;

/// Returns at how many bytes of its request an answer was cut that ends with a copy of them: those of a buffer, perhaps
/// without the NUL of C.
fn cut(line: &[u8], known: &Evidence<'_>) -> Option<usize> {
    let (transcript, games) = known.transcript?;
    let game = known.game?;
    let Turn::Of(seat) = game.turn() else { return None };
    let mut reader = transcript::read(transcript).ok()?;
    let events: Vec<_> = reader.by_ref().collect();
    let turn = Some(game.turn_number());
    let input = transcript::sent(&reader.header, games, seat, &events, turn).ok()?;
    let request = input.trim_ascii_end().rsplit(|&byte| byte == b'\n').next()?;
    let sizes = (6..20).map(|power| 1 << power).flat_map(|size| [size - 1, size]);
    let is_cut = |size: &usize| {
        let read = &request[..*size];
        (line.len().saturating_sub(ADDED_MAX)..=line.len()).any(|end| {
            let copied = line[..end].iter().rev().zip(read.iter().rev());
            line.get(end) != request.get(*size)
                && copied.take_while(|(own, sent)| own == sent).count() >= COPIED_MIN
        })
    };
    sizes.take_while(|size| *size < request.len()).find(is_cut)
}

/// `is_clear` says that it is known which message is meant.
fn broken_json(line: &[u8], broken: &ParseError, is_clear: bool) -> Finding {
    let at_byte = broken.column.or(Some(1));
    let is_nul = |at: usize| line.iter().skip(at).step_by(2).take(4).all(|&byte| byte == 0);
    if line.len() > 4 && (is_nul(0) || is_nul(1)) {
        let finding = Finding::new(Defect::BrokenJson, "this is UTF-16, and messages are UTF-8");
        return finding.fix(
            "write UTF-8: set no other encoding for stdout (in Python, sys.stdout.reconfigure(encoding=\"utf-8\"))",
        );
    }
    if std::str::from_utf8(line).is_err() {
        let finding = Finding { at_byte, ..Finding::new(Defect::BrokenJson, broken.to_string()) };
        return finding.fix("write UTF-8 (in Python, sys.stdout.reconfigure(encoding=\"utf-8\"))");
    }
    if line.contains(&0x1B) {
        let finding = Finding { at_byte, ..Finding::new(Defect::DebugText, broken.to_string()) };
        return finding.fix("write no terminal colours to stdout, only the message");
    }
    let begins = line.trim_ascii_start().first().copied();
    let is_list = begins == Some(b'[') && is_clear && !line.contains(&b'{');
    if line.starts_with(b"b'") || line.starts_with(b"b\"") {
        let finding =
            Finding { at_byte: Some(1), ..Finding::new(Defect::BrokenJson, broken.to_string()) };
        return finding.fix(
            "this is how Python prints bytes: print text, with `.decode()` or without `.encode()`",
        );
    }
    let is_of_bytes = |byte: &u8| byte.is_ascii_digit() || b" []".contains(byte);
    if line.starts_with(b"[123 ") && line.iter().all(is_of_bytes) {
        let finding = Finding {
            at_byte: Some(1),
            ..Finding::new(Defect::BrokenJson, "these are bytes, as Go prints them")
        };
        return finding.fix("print the text: `fmt.Println(string(line))`");
    }
    let has_no_quotes = line.starts_with(b"type:");
    let is_message = begins == Some(b'{') || is_list || has_no_quotes;
    if !is_message && !line.starts_with(b"\xEF\xBB\xBF") {
        let what = format!("not a message: {broken}");
        let finding = Finding { at_byte: Some(1), ..Finding::new(Defect::DebugText, what) };
        // As pdb shows where it stopped: "> /a/bot.py(12)<module>()".
        let is_stop = line.starts_with(b"> ") && line.windows(4).any(|it| it == b".py(");
        return if is_stop {
            finding.fix("remove `breakpoint()`: stdin and stdout are the referee's; print to stderr what you want to see")
        } else {
            finding
        };
    }
    let finding = Finding { at_byte, ..Finding::new(Defect::BrokenJson, broken.to_string()) };
    let at = line.get(at_byte.unwrap_or(1).saturating_sub(2)..).unwrap_or_default();
    let not_a_number = [&b"NaN"[..], b"Inf", b"-Inf"];
    let fix = if line.starts_with(b"{'") {
        "this looks like a printed Python dict; use json.dumps(message)"
    } else if has_no_quotes || line.get(1).is_some_and(u8::is_ascii_alphabetic) {
        "its quotes are missing: use a JSON library or, in a shell, put the whole message into single quotes"
    } else if line.starts_with(b"\xEF\xBB\xBF") {
        "write UTF-8 without BOM (in Python, the encoding `utf-8`, not `utf-8-sig`)"
    } else if not_a_number.iter().any(|text| at.windows(text.len()).take(4).any(|it| it == *text)) {
        "JSON has no NaN and no Infinity: write null or leave the field out (in Python, \
         json.dumps(message, allow_nan=False) finds them)"
    } else {
        match broken.kind {
            ParseErrorKind::Unfinished => {
                "write each message on one line (in Python, json.dumps without `indent`)"
            }
            ParseErrorKind::Trailing if at.contains(&b'{') => {
                "write one message per line, and end each with `\\n`"
            }
            ParseErrorKind::Trailing => "write nothing after a message except the line end",
            ParseErrorKind::Duplicate => "write each field once",
            ParseErrorKind::Depth => {
                "write fewer lists and objects inside each other, such as a summary in `info`"
            }
            ParseErrorKind::Number => {
                "write numbers that fit into 64 bits: this one is probably the result of an overflow or \
                 of a wrong conversion"
            }
            ParseErrorKind::Other => return finding,
        }
    };
    finding.fix(fix)
}

/// Returns the byte, from 1, of what a text such as `want[0]: unknown value ..` or `unknown field ..`
/// is about, in the whole line or in its field `within`.
fn place(line: &[u8], what: &str, within: &str) -> Option<usize> {
    let line = std::str::from_utf8(line).ok()?;
    let what = what.strip_prefix("action: ").filter(|_| within == "action").unwrap_or(what);
    let path = what.split_once(": ").map_or("", |(path, _)| path);
    let whole = match (within, path) {
        (within, "") => within.to_owned(),
        ("", path) => path.to_owned(),
        (within, path) => format!("{within}.{path}"),
    };
    if let Some(key) = what.split("unknown field `").nth(1).and_then(|rest| rest.split('`').next())
    {
        return locate_key(line, &whole, key).or_else(|| {
            let outer = whole.rsplit_once('.').map_or("", |(outer, _)| outer);
            locate_key(line, outer, key)
        });
    }
    locate(line, &whole).or_else(|| locate(line, within)).map(|index| index + 1)
}
