//! Verifying a transcript: whether its seal matches its bytes, and whether a replay gives what it says.
//!
//! The status follows from two questions. How does it end: with a seal that matches, with one that
//! does not, or with none, as after a cut? And does a replay of the lines give what they say? The
//! second question counts only with a matching seal. Without one, the lines only distinguish a
//! truncated file from one that truncation can't have made.

use super::difference::first_difference;
use super::gzip::{StreamEnd, TRANSCRIPT_BYTES_MAX, TRANSCRIPT_LINE_BYTES_MAX, read_pieces};
use super::import::is_imported;
use super::read::{
    HeaderError, may_begin_header, may_begin_line, read_event, read_header, split_line,
};
use super::record::HASH_BLOCK_BYTES;
use super::scan::scan;
use super::walk::Walk;
use crate::id_of;
use referee_games::wire::Described;
use referee_games::{GameKind, Games, NoRules};
use referee_protocol::encode::to_hex;
use referee_protocol::{Event, Header, Level, Outcome, Seal};
use serde::Serialize;
use serde_json::{Value, from_value, to_value};
use sha2::{Digest as _, Sha256};
use std::io::{self, BufRead};

/// How many events wait for a program with the rules at most, and how many bytes their lines have.
const WAITING_MAX: usize = 2000;
const WAITING_BYTES_MAX: usize = 1 << 20;
/// How a seal's line begins.
const SEAL_START: &[u8] = b"{\"type\":\"seal\"";

/// The status of a transcript (protocol.md, "Transcript").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// Sealed, and the replay gives what it says.
    Ok,
    /// Truncated: no whole seal at the end, and valid up to the cut.
    Torn,
    /// Seal and bytes differ, bytes follow the seal, or truncation can't have left this.
    Tampered,
    /// Sealed, but the replay gives something else.
    Disagrees,
    /// Not a transcript, or of an unknown version or game.
    Unreadable,
    /// It was played by the rules of a program that was not named, so it could not be replayed.
    RulesNotAvailable,
    /// The program that was named for its game is another than that of the match.
    OtherRules,
    /// The program with the rules failed while it was replayed.
    RulesFailed,
}

/// The result of verifying.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The status.
    pub status: Status,
    /// How many turns could be replayed.
    pub turns: u64,
    /// The outcome after them; null if the game was not over.
    pub outcome: Option<Outcome>,
    /// The seal, if it matches the bytes. A store compares it with its own copy.
    pub seal: Option<Seal>,
    /// Where and how something differs; lines are counted from 1.
    pub detail: String,
}

/// Verifies a whole file, packed or not.
pub fn verify(bytes: &[u8], games: &Games) -> Report {
    verify_from(bytes, games).expect("memory can be read")
}

/// Verifies a whole file, packed or not, in bounded memory.
pub fn verify_from(reader: impl BufRead, games: &Games) -> io::Result<Report> {
    let mut verifier = Verifier::new(games);
    let end = read_pieces(reader, TRANSCRIPT_BYTES_MAX, |piece| verifier.push(piece))?;
    let mut report = verifier.finish();
    match end {
        StreamEnd::Whole => {}
        StreamEnd::TooLong => {
            (report.status, report.seal) = (Status::Unreadable, None);
            report.detail = format!(
                "larger than {TRANSCRIPT_BYTES_MAX} bytes unpacked, the limit of a transcript"
            );
        }
        StreamEnd::Cut => {
            if matches!(report.status, Status::Ok | Status::Disagrees | Status::Torn) {
                report.status = Status::Torn;
                report.detail = format!("the compressed data is cut off; {}", report.detail);
            }
        }
        StreamEnd::Damaged(text) => {
            report.status = Status::Tampered;
            report.seal = None;
            report.detail = format!("the compressed data is damaged: {text}");
        }
    }
    Ok(report)
}

/// Verifies a transcript in pieces (unpacked), in bounded memory: it keeps at most one line.
#[derive(Debug, Default)]
pub struct Verifier {
    games: Games,
    /// The hash of all lines so far.
    hash: Sha256,
    /// The number of lines so far.
    lines: u64,
    /// The beginning of the next line.
    tail: Vec<u8>,
    replay: Replay,
    /// The first line that is not an event, and why.
    broken: Option<String>,
    /// The first difference from the rules.
    differs: Option<String>,
    seal: SealSeen,
    /// A note if the header has another revision of the rules.
    other_rules: Option<String>,
    /// A note if it names a sandbox level that this referee doesn't know.
    other_level: Option<String>,
    /// Events of a game whose rules are a program, with their lines: it is asked about many at once.
    waiting: Vec<(u64, Event)>,
    waiting_bytes: usize,
    /// A line is longer than lines may be: nothing after its start is read.
    is_too_long: bool,
}

/// How the transcript can be verified, by its header.
#[derive(Debug, Default)]
enum Replay {
    /// The header has not been read.
    #[default]
    NotBegun,
    /// The match is replayed.
    Playing(Box<Walk>),
    /// The match can't be replayed; `differs` says why.
    Impossible,
    /// It is not a readable transcript.
    Unreadable(HeaderError),
    /// The rules are not there, or failed.
    NoRules(Status, String),
}

/// The seal that was found.
#[derive(Debug, Default)]
enum SealSeen {
    /// None.
    #[default]
    None,
    /// The last line is a seal that matches.
    Fits(Seal),
    /// The last line is not a seal, but has parts that only seals have.
    Resembled,
    /// A seal that doesn't match, or isn't at the end.
    Broken(String),
}

impl Verifier {
    /// Creates a verifier.
    pub fn new(games: &Games) -> Self {
        Self { games: games.clone(), ..Self::default() }
    }

    /// Verifies the next bytes.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if self.is_too_long {
            return;
        }
        if !self.tail.is_empty() {
            let Some((line, rest)) = split_line(bytes) else {
                self.keep(bytes);
                return;
            };
            let mut whole = std::mem::take(&mut self.tail);
            whole.extend_from_slice(line);
            whole.push(b'\n');
            self.push_lines(&whole);
            if self.is_too_long {
                return;
            }
            bytes = rest;
        }
        let tail = self.push_lines(bytes);
        self.keep(tail);
    }

    /// Keeps the beginning of a line.
    fn keep(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > TRANSCRIPT_LINE_BYTES_MAX {
            (self.is_too_long, self.tail) = (true, Vec::new());
        }
    }

    /// Verifies whole lines and returns the rest.
    fn push_lines<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let mut unhashed = bytes;
        let mut rest = bytes;
        while let Some((line, after)) = split_line(rest) {
            if line.len() > TRANSCRIPT_LINE_BYTES_MAX {
                self.is_too_long = true;
                return &[];
            }
            let waiting = unhashed.len() - rest.len();
            if waiting >= HASH_BLOCK_BYTES || line.starts_with(SEAL_START) {
                self.hash.update(&unhashed[..waiting]);
                unhashed = rest;
            }
            self.line(line, after);
            self.lines += 1;
            rest = after;
        }
        self.hash.update(&unhashed[..unhashed.len() - rest.len()]);
        rest
    }

    /// Returns the result when all bytes have been pushed.
    pub fn finish(mut self) -> Report {
        self.walk_waiting();
        if self.is_too_long {
            self.seal = SealSeen::None;
        }
        if let SealSeen::Fits(_) = self.seal
            && !self.tail.is_empty()
        {
            self.seal = SealSeen::Broken("bytes follow the seal".to_owned());
        }
        let (status, detail) = match &self.seal {
            SealSeen::Fits(_) => self.judge_sealed(),
            SealSeen::Broken(text) => (Status::Tampered, self.with_first_trouble(text.clone())),
            SealSeen::Resembled => (Status::Tampered, "the last line is a damaged seal".to_owned()),
            SealSeen::None => self.judge_unsealed(),
        };
        let (turns, outcome) = match &self.replay {
            Replay::Playing(walk) => (walk.turns(), walk.outcome()),
            _ => (0, None),
        };
        Report {
            status,
            turns,
            outcome,
            seal: if let SealSeen::Fits(seal) = self.seal { Some(seal) } else { None },
            detail,
        }
    }

    fn judge_sealed(&self) -> (Status, String) {
        let differs = match &self.replay {
            Replay::Unreadable(why) => return (Status::Unreadable, why.to_string()),
            Replay::NoRules(status, why) => return (*status, why.clone()),
            Replay::Playing(walk) => walk.finish().err(),
            Replay::NotBegun | Replay::Impossible => None,
        };
        if let Some(text) = self.broken.as_ref().or(self.differs.as_ref()).or(differs.as_ref()) {
            let rules = self.other_rules.iter().filter(|rules| !text.contains(*rules));
            let text = rules.fold(text.clone(), |text, rules| text + "; " + rules);
            return (Status::Disagrees, text);
        }
        let Replay::Playing(walk) = &self.replay else { return (Status::Ok, String::new()) };
        let turns = walk.turns();
        let text = format!("the seal matches, and replaying {turns} turns gives the same verdict");
        let unread = walk.unread().map(|unread| format!("; {unread}"));
        let others = self.other_rules.iter().chain(&self.other_level);
        let text = text + &unread.unwrap_or_default();
        (Status::Ok, others.fold(text, |text, other| text + "; " + other))
    }

    fn judge_unsealed(&self) -> (Status, String) {
        if self.is_too_long {
            let text = format!(
                "line {} is longer than {TRANSCRIPT_LINE_BYTES_MAX} bytes, the limit of a line",
                self.lines + 1
            );
            return (Status::Unreadable, text);
        }
        match &self.replay {
            Replay::NotBegun if may_begin_header(&self.tail) => {
                return (Status::Torn, HeaderError::Cut.to_string());
            }
            Replay::NotBegun => {
                return (Status::Unreadable, "not a transcript: it has no header".to_owned());
            }
            Replay::Unreadable(why) => return (Status::Unreadable, why.to_string()),
            Replay::NoRules(..) | Replay::Playing(_) | Replay::Impossible => {}
        }
        if let Some(text) = &self.broken {
            return (Status::Tampered, text.clone());
        }
        let number = self.lines + 1;
        let possible = if self.tail.starts_with(SEAL_START) {
            let (_, wanted) = self.seal_wanted();
            wanted.as_bytes().starts_with(&self.tail)
        } else {
            may_begin_line(&self.tail)
        };
        if !possible {
            let text = format!("line {number}: truncation can't leave this");
            return (Status::Tampered, text);
        }
        let text = if self.tail.is_empty() {
            format!("no seal after line {}", self.lines)
        } else {
            format!("line {number} is cut off after {} bytes", self.tail.len())
        };
        (Status::Torn, self.with_first_trouble(text))
    }

    fn with_first_trouble(&self, text: String) -> String {
        match self.broken.as_ref().or(self.differs.as_ref()) {
            Some(trouble) => format!("{text}; {trouble}"),
            None => text,
        }
    }

    /// Verifies a line; `after` are the bytes after it, as far as they are known.
    fn line(&mut self, line: &[u8], after: &[u8]) {
        if self.lines == 0 {
            self.first_line(line);
            return;
        }
        match self.seal {
            SealSeen::None => {}
            // It resembled a seal but was not the last line, so it is only unknown.
            SealSeen::Resembled => self.seal = SealSeen::None,
            SealSeen::Fits(_) => {
                self.seal = SealSeen::Broken(format!("line {} follows the seal", self.lines + 1));
                return;
            }
            SealSeen::Broken(_) => return,
        }
        if line.starts_with(SEAL_START) {
            self.seal_line(line);
            return;
        }
        // The first error decides. Only the last line can still be what is left of a seal.
        let is_last = !after.contains(&b'\n');
        if self.broken.is_some() || matches!(self.replay, Replay::Unreadable(_)) {
            if is_last {
                self.seal = resembles_seal(line);
            }
            return;
        }
        let scanned = std::str::from_utf8(line).ok().and_then(scan);
        match scanned.map_or_else(|| read_event(line), Ok) {
            Ok(Event::Seal(_)) => self.seal_line(line),
            Ok(Event::Unknown) if is_last => self.seal = resembles_seal(line),
            Ok(Event::Unknown) => {}
            Ok(event) => self.event(event, line.len()),
            Err(error) => self.no_event(line, &error),
        }
    }

    fn first_line(&mut self, line: &[u8]) {
        self.replay = match read_header(line) {
            Ok(header) => self.begin(header),
            Err(why) => {
                self.seal = resembles_seal(line);
                Replay::Unreadable(why)
            }
        };
    }

    fn begin(&mut self, header: Header) -> Replay {
        let kind = match self.games.of_record(&header.game, header.program.as_ref()) {
            Ok(kind) => kind,
            Err(error) => {
                let status = match &error {
                    NoRules::Unknown(_) => Status::Unreadable,
                    NoRules::NotAvailable(_) => Status::RulesNotAvailable,
                    NoRules::Other(_) => Status::OtherRules,
                };
                return Replay::NoRules(status, error.to_string());
            }
        };
        if kind.rules != header.rules {
            let (then, now) = (header.rules, kind.rules);
            self.other_rules =
                Some(format!("recorded under rules {then}, this referee has rules {now}"));
        }
        let level = &header.sandbox.level;
        if !level.is_empty() && level.parse::<Level>().is_err() {
            self.other_level = Some(format!("this referee knows no sandbox level {level:?}"));
        }
        // Another version may have had others; its own had these, and a program's files say which they are.
        let is_of_this = header.referee == env!("CARGO_PKG_VERSION");
        let rules = self.other_rules.as_ref().filter(|_| is_of_this || kind.program().is_some());
        let level = self.other_level.as_ref().filter(|_| is_of_this);
        if let Some(other) = rules.or(level) {
            self.differs = Some(format!("line 1: {other}"));
        }
        // Of a game that was played elsewhere it depends on what the record said.
        if !is_imported(&header) && header.match_id != id_of(&header) {
            let (recorded, made) = (&header.match_id, id_of(&header));
            self.differs.get_or_insert_with(|| {
                format!("line 1: such a match is {made}, the header says {recorded:?}")
            });
        }
        if kind.program().is_some()
            && let Err(error) = kind.start(&header.setup)
            && error.rules_failed
        {
            return Replay::NoRules(Status::RulesFailed, format!("line 1: {error}"));
        }
        let described = differs_from_program(&header, kind);
        match Walk::begin(header, &self.games) {
            Ok(walk) => {
                // As with levels.
                let unread = || walk.unread().filter(|_| is_of_this && !walk.is_imported());
                let differs = described.or_else(|| differs_in_colour(&walk)).or_else(unread);
                if let Some(text) = differs {
                    self.differs.get_or_insert_with(|| format!("line 1: {text}"));
                }
                Replay::Playing(Box::new(walk))
            }
            Err(text) => {
                self.differs = Some(format!("line 1: {text}"));
                Replay::Impossible
            }
        }
    }

    /// Only a line that is byte for byte the seal matches: the hash does not cover the seal itself.
    fn seal_line(&mut self, line: &[u8]) {
        let (seal, wanted) = self.seal_wanted();
        if line == wanted.as_bytes() {
            self.seal = SealSeen::Fits(seal);
            return;
        }
        let number = self.lines + 1;
        let text = match serde_json::from_slice(line) {
            Ok(Event::Seal(written)) if written.lines != seal.lines => {
                let (written, found) = (written.lines, seal.lines);
                format!("the seal counts {written} lines before it, but there are {found}")
            }
            // The bytes before a line that begins otherwise may not be hashed yet.
            Ok(Event::Seal(written))
                if line.starts_with(SEAL_START) && written.sha256 != seal.sha256 =>
            {
                let (written, found) = (written.sha256, seal.sha256);
                format!("the seal's sha256 is {written:?}, but the bytes before it have {found:?}")
            }
            _ => "the seal is not in the form of a seal".to_owned(),
        };
        self.seal = SealSeen::Broken(format!("line {number}: {text}"));
    }

    /// Returns the seal that matches the lines so far, and its line.
    fn seal_wanted(&self) -> (Seal, String) {
        let seal = Seal { lines: self.lines, sha256: to_hex(&self.hash.clone().finalize()) };
        let line = serde_json::to_string(&Event::Seal(seal.clone()))
            .expect("a seal is a number and a text");
        (seal, line)
    }

    fn no_event(&mut self, line: &[u8], why: &str) {
        self.seal = resembles_seal(line);
        let number = self.lines + 1;
        self.broken.get_or_insert_with(|| format!("line {number} is not an event: {why}"));
    }

    /// Replays an event, or keeps it until there are many.
    fn event(&mut self, event: Event, bytes: usize) {
        let line = self.lines + 1;
        let Replay::Playing(walk) = &self.replay else { return };
        if walk.game().kind().program().is_none() {
            return self.walk(line, event);
        }
        self.waiting.push((line, event));
        self.waiting_bytes += bytes;
        if self.waiting.len() >= WAITING_MAX || self.waiting_bytes >= WAITING_BYTES_MAX {
            self.walk_waiting();
        }
    }

    fn walk_waiting(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        if let Replay::Playing(walk) = &self.replay {
            walk.foresee(&waiting);
        }
        for (line, event) in waiting {
            self.walk(line, event);
        }
    }

    /// Replays an event, unless an earlier one broke the rules.
    fn walk(&mut self, line: u64, event: Event) {
        if self.differs.is_none()
            && let Replay::Playing(walk) = &mut self.replay
            && let Err(text) = walk.event_in(line, event)
        {
            if let Some(failure) = walk.game().failure() {
                let text = format!("line {line}: the rules failed: {failure}");
                self.replay = Replay::NoRules(Status::RulesFailed, text);
                return;
            }
            self.differs = Some(format!("line {line}: {text}"));
        }
    }
}

/// Returns how the recorded description of a game program differs from its own.
fn differs_from_program(header: &Header, kind: GameKind) -> Option<String> {
    let (recorded, program) = (header.program.as_ref()?, kind.program()?);
    // Other versions may know fewer of its fields.
    let read = from_value::<Described>(recorded.described.clone()).and_then(to_value);
    let Ok(recorded) = read else {
        return Some("program.described: the description can't be read".to_owned());
    };
    let own = &program.record().described;
    (recorded != *own).then(|| {
        let (path, own, recorded) = first_difference(own, &recorded);
        format!("program.described.{path}: the program says {own}, the transcript says {recorded}")
    })
}

/// Returns how the recorded colours differ from those of the game.
fn differs_in_colour(walk: &Walk) -> Option<String> {
    let colours = walk.game().colours().into_iter();
    let mut seats = walk.header().seats.iter().zip(colours);
    let (seat, colour) = seats.find(|(seat, colour)| seat.colour != *colour)?;
    Some(format!("seat {} is {colour:?}, the header says {:?}", seat.seat, seat.colour))
}

/// Whether a line that is not a seal was one before it was changed: it has the fields of a seal, or
/// contains one (inside a text the quotes would be escaped).
fn resembles_seal(line: &[u8]) -> SealSeen {
    let has_fields = serde_json::from_slice::<Value>(line)
        .is_ok_and(|line| ["lines", "sha256"].iter().all(|field| line.get(field).is_some()));
    let has_seal = line.windows(SEAL_START.len()).any(|window| window == SEAL_START);
    if has_fields || has_seal { SealSeen::Resembled } else { SealSeen::None }
}
