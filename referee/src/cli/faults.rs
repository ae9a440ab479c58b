//! What is said of a fault when a match ends: how to mend it, and the command that shows it again.

use super::words::{join, option};
use referee_match::diagnosis::{Evidence, find};
use referee_match::transcript;
use referee_play::input_files::read_transcript;
use referee_protocol::plain::tame;
use referee_protocol::{Event, Fault, FaultKind, Header, HeaderSeat, Seat, Verdict, line_bytes};

/// What the transcript tells of a seat at its end, beside the fault.
#[derive(Default)]
pub(super) struct Record {
    /// The last line that came from it.
    line: Option<Vec<u8>>,
    /// How its process ended, if it did so by itself.
    status: Option<String>,
    /// It speaks another protocol than the referee's own.
    foreign: bool,
}

impl Record {
    /// `None` where it can't be read; the advice is then less precise.
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

/// How to mend what an agent did wrong.
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
    find(fault, &known).map_or(String::new(), |finding| format!("fix: {}\n", tame(&finding.fix)))
}

/// The command that shows the turn of the first fault once more.
pub(super) fn debug_command(
    header: &Header,
    verdict: &Verdict,
    transcript: &str,
) -> Option<String> {
    let faults = verdict.seats.iter().filter_map(|seat| Some((seat.seat, seat.fault.as_ref()?)));
    let errors = faults.filter(|(_, fault)| fault.kind != FaultKind::Resigned);
    let programs = errors.filter(|(seat, _)| !header.seats[seat.index()].is_human());
    let (seat, fault) = programs.min_by_key(|(_, fault)| fault.turn)?;
    let mut words = vec!["referee".to_owned(), "debug".to_owned(), transcript.to_owned()];
    words.extend(option("--seat", Some(seat)));
    words.extend(option("--turn", Some(fault.turn).filter(|_| fault.kind != FaultKind::Start)));
    Some(join(&words))
}
