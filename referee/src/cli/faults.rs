//! The advice after a fault: how to fix it, and the command that replays it.

use super::shell::{join, option};
use referee_games::{AnyGame, DialectKind, Games};
use referee_match::diagnosis::{Engine, Evidence, Stage, find};
use referee_match::summary::{fault_in_turn, fault_in_words};
use referee_match::transcript;
use referee_play::adapted::is_adapted;
use referee_play::agent_spec::has_kit;
use referee_play::drive::LastSeen;
use referee_play::input_files::read_transcript;
use referee_process::stderr::keep_end;
use referee_protocol::sanitize::{sanitize, sanitize_stderr};
use referee_protocol::{
    Event, Fault, FaultKind, FromAgent, Header, HeaderSeat, Seat, Verdict, line_bytes,
    parse_from_agent,
};
use std::fmt::Write;

/// What is recorded of a seat's fault, in the transcript if there is one.
#[derive(Default)]
pub(super) struct Record {
    /// Its last line since it was asked, except `info`.
    line: Option<Vec<u8>>,
    /// Whether it has sent `ready`.
    is_ready: bool,
    /// How many actions it has played.
    actions: usize,
    /// The game when it was asked last.
    game: Option<Box<dyn AnyGame>>,
    /// How its process ended, unless it was killed.
    status: Option<String>,
    /// Whether it speaks another protocol than the referee's.
    foreign: bool,
    /// That protocol, and what it was sent.
    engine: Option<(&'static DialectKind, String)>,
    /// Whether it uses the Python kit.
    has_kit: bool,
    /// The end of its stderr.
    pub(super) stderr: String,
    /// The transcript itself, empty without one.
    bytes: Vec<u8>,
}

/// How many bytes of the end of stderr are searched for an explanation.
const STDERR_BYTES: usize = 8192;

impl Record {
    /// Returns what is known at the start of a match.
    fn of(seat: &HeaderSeat) -> Self {
        Self {
            is_ready: seat.ready.is_some(),
            foreign: seat.is_foreign(),
            has_kit: seat.agent.as_deref().is_some_and(has_kit),
            ..Self::default()
        }
    }

    /// Returns what is known without a transcript of a seat that has answered this many turns.
    pub(super) fn seen(seat: &HeaderSeat, turns: u64, seen: &LastSeen) -> Self {
        Self {
            actions: usize::try_from(turns).unwrap_or(usize::MAX),
            status: seen.status.clone(),
            stderr: seen.stderr.clone(),
            ..Self::of(seat)
        }
    }

    /// Reads the transcript; `None` if it can't be read.
    pub(super) fn read(path: &str, games: &Games, seat: Seat) -> Option<Self> {
        let bytes = read_transcript(path).ok()?;
        let mut steps = transcript::walk(&bytes, games).ok()?;
        let listed = steps.walk().header().seats.get(seat.index());
        let mut record = listed.map_or_else(Self::default, Self::of);
        while let Ok(Some(event)) = steps.step() {
            match event {
                Event::Turn(event) if event.seat == seat => {
                    record.line = None;
                    record.game = Some(steps.walk().game().clone_box());
                }
                Event::Played(event) if event.seat == seat => record.actions += 1,
                Event::Line(event) if event.seat == seat => {
                    let line = line_bytes(&event);
                    if !matches!(parse_from_agent(&line), Ok(FromAgent::Info(_))) {
                        record.line = Some(line);
                    }
                }
                Event::Stderr(event) if event.seat == seat => {
                    keep_end(&mut record.stderr, &event.text, STDERR_BYTES);
                }
                Event::Exit(event) if event.seat == seat && !event.late => {
                    record.status.get_or_insert(event.status);
                }
                _ => {}
            }
        }
        drop(steps);
        let engine = Self::engine(&bytes, games, seat);
        Some(Self { engine, bytes, ..record })
    }

    fn engine(bytes: &[u8], games: &Games, seat: Seat) -> Option<(&'static DialectKind, String)> {
        let mut reader = transcript::read(bytes).ok()?;
        let events: Vec<Event> = reader.by_ref().collect();
        let (header, kind) = (&reader.header, games.find(&reader.header.game)?);
        let spoken = header.seats.get(seat.index())?.protocol.as_ref()?;
        let input = transcript::sent(header, games, seat, &events, None).ok()?;
        Some((kind.dialect(&spoken.name)?, String::from_utf8_lossy(&input).into_owned()))
    }
}

/// Whether an agent's last words explain its fault: before other faults, stderr says nothing about them,
/// but that of an adapter does.
pub(super) fn stderr_explains(seat: &HeaderSeat, fault: &Fault) -> bool {
    match fault.kind {
        FaultKind::Gone | FaultKind::Start => true,
        FaultKind::Garbled | FaultKind::Memory => is_adapted(seat),
        _ => false,
    }
}

/// Returns a fault of a series: the game, the agent, what happened, and the command that debugs it.
pub(super) fn fault_text(
    game: u64,
    (seat, fault): (&HeaderSeat, &Fault),
    words: Option<&str>,
    transcript: Option<&str>,
) -> String {
    let (name, at, what) = (sanitize(&seat.name), seat.seat, sanitize(&fault_in_turn(fault)));
    let mut shown = format!("game {game}: {name} (seat {at}) {what}\n");
    if let Some(words) = words {
        writeln!(shown, "  last stderr: {}", sanitize_stderr(words)).ok();
    }
    if let Some(transcript) = transcript {
        writeln!(shown, "  debug: {}", debug_command(seat, fault, transcript)).ok();
    }
    shown
}

/// Returns what is known of a fault besides its text, and how to fix it.
pub(super) fn advice(
    fault: &Fault,
    seen: &LastSeen,
    denied: Option<&str>,
    record: &Record,
    games: &Games,
) -> (Option<String>, String) {
    let ended = matches!(fault.kind, FaultKind::Gone | FaultKind::Start);
    let known = Evidence {
        got: record.line.as_deref(),
        foreign: record.foreign,
        engine: record.engine.as_ref().map(|(dialect, sent)| Engine { dialect, sent }),
        has_kit: record.has_kit,
        status: record.status.as_deref().filter(|_| ended && seen.hang.is_none()),
        stderr: &record.stderr,
        unended: &seen.unended,
        used: seen.used,
        hang: seen.hang.as_ref(),
        stage: Stage::after(record.is_ready, record.actions),
        denied,
        game: record.game.as_deref(),
        transcript: Some((record.bytes.as_slice(), games)).filter(|(bytes, _)| !bytes.is_empty()),
        ..Evidence::default()
    };
    let finding = find(fault, &known);
    if fault.kind == FaultKind::Resigned {
        return (Some(sanitize(&finding.what)), sanitize(&finding.fix));
    }
    let words = fault_in_words(&fault.text);
    let more = finding.what.strip_prefix(&*words).map(|more| more.trim_start_matches("; ").trim());
    let more = more.filter(|more| !more.is_empty() && !more.starts_with(':'));
    (more.map(sanitize), sanitize(&finding.fix))
}

/// Returns notes on agents without a fault whose program failed at the end of the match.
pub(super) fn bad_ends(header: &Header, verdict: &Verdict, seen: &[LastSeen]) -> String {
    let mut text = String::new();
    for ((seat, own), seen) in header.seats.iter().zip(&verdict.seats).zip(seen) {
        let status = seen.status.as_deref().filter(|status| *status != "exit status 0");
        if let Some(status) = status.filter(|_| own.fault.is_none()) {
            let words = seen.words().map(|words| format!(": {words}")).unwrap_or_default();
            let name = sanitize(&seat.name);
            writeln!(text, "note: {name} ended with {status} after the match{words}").ok();
        }
    }
    text
}

/// Returns the programs at fault and those that have resigned, the earliest first.
pub(super) fn programs_at_fault<'a>(
    header: &'a Header,
    verdict: &'a Verdict,
) -> Vec<(&'a HeaderSeat, &'a Fault)> {
    let seats = header.seats.iter().zip(&verdict.seats);
    let mut faults: Vec<_> = seats
        .filter(|(seat, _)| !seat.is_human())
        .filter_map(|(seat, own)| Some((seat, own.fault.as_ref()?)))
        .collect();
    faults.sort_by_key(|(_, fault)| fault.turn);
    faults
}

/// Returns the command that replays the turn of a fault, with the agent's program as it is then.
pub(super) fn debug_command(seat: &HeaderSeat, fault: &Fault, transcript: &str) -> String {
    let mut words = vec!["referee".to_owned(), "debug".to_owned(), transcript.to_owned()];
    let agent = seat.agent.as_ref().filter(|agent| !agent.starts_with('@'));
    words.extend(option("--agent", agent));
    words.extend(option("--seat", Some(seat.seat)));
    words.extend(option("--turn", Some(fault.turn).filter(|_| fault.kind != FaultKind::Start)));
    join(&words)
}
