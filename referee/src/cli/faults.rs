//! The advice after a fault: how to fix it, and the command that replays it.

use super::shell::{join, option};
use referee_match::diagnosis::{Evidence, find};
use referee_match::transcript;
use referee_play::input_files::read_transcript;
use referee_protocol::plain::sanitize;
use referee_protocol::{Event, Fault, FaultKind, Header, HeaderSeat, Seat, Verdict, line_bytes};

/// What the transcript contains about a seat's fault.
#[derive(Default)]
pub(super) struct Record {
    /// The last line received from it.
    line: Option<Vec<u8>>,
    /// How its process ended, unless it was killed.
    status: Option<String>,
    /// Whether it speaks another protocol than the referee's.
    foreign: bool,
}

impl Record {
    /// Reads the transcript; `None` if it can't be read.
    pub(super) fn read(path: &str, seat: Seat) -> Option<Self> {
        let bytes = read_transcript(path).ok()?;
        let reading = transcript::read(&bytes).ok()?;
        let listed = reading.header.seats.get(seat.index());
        let foreign = listed.is_some_and(HeaderSeat::is_foreign);
        let mut record = Self { foreign, ..Self::default() };
        for event in reading {
            match event {
                Event::Line(event) if event.seat == seat => {
                    record.line = Some(line_bytes(&event));
                }
                Event::Exit(event) if event.seat == seat && !event.late => {
                    record.status.get_or_insert(event.status);
                }
                _ => {}
            }
        }
        Some(record)
    }
}

/// Returns a line that says how to fix a fault; empty if that is not known.
pub(super) fn advice(
    fault: &Fault,
    stderr: Option<&str>,
    denied: Option<&str>,
    record: Option<&Record>,
) -> String {
    let ended = matches!(fault.kind, FaultKind::Gone | FaultKind::Start);
    let known = Evidence {
        got: record.and_then(|record| record.line.as_deref()),
        foreign: record.is_some_and(|record| record.foreign),
        status: record.and_then(|record| record.status.as_deref()).filter(|_| ended),
        stderr: stderr.unwrap_or_default(),
        denied,
        legal: fault.legal.as_deref().unwrap_or_default(),
        ..Evidence::default()
    };
    find(fault, &known)
        .map_or(String::new(), |finding| format!("fix: {}\n", sanitize(&finding.fix)))
}

/// Returns the command that replays the turn of the first fault.
pub(super) fn debug_command(
    header: &Header,
    verdict: &Verdict,
    transcript: &str,
) -> Option<String> {
    let faults = verdict.seats.iter().filter_map(|seat| Some((seat.seat, seat.fault.as_ref()?)));
    let failures = faults.filter(|(_, fault)| fault.kind != FaultKind::Resigned);
    let programs = failures.filter(|(seat, _)| !header.seats[seat.index()].is_human());
    let (seat, fault) = programs.min_by_key(|(_, fault)| fault.turn)?;
    let mut words = vec!["referee".to_owned(), "debug".to_owned(), transcript.to_owned()];
    words.extend(option("--seat", Some(seat)));
    words.extend(option("--turn", Some(fault.turn).filter(|_| fault.kind != FaultKind::Start)));
    Some(join(&words))
}
