//! Checks that a transcript is valid and is the game that the schedule has in its place.

use crate::{Contest, Fixture, OpeningError, Record, Void};
use referee_games::program::Program;
use referee_games::{GameKind, Games};
use referee_match::transcript::{Status, TRANSCRIPT_BYTES_MAX, is_imported, read, unpack, verify};
use referee_match::{MatchTally, draw_key_sha256, match_id};
use referee_protocol::sanitize::sanitize;
use referee_protocol::{Event, Header, HeaderSeat, Outcome};
use serde_json::Value;

/// A transcript whose moves and seal have been verified.
#[derive(Debug)]
pub struct VerifiedTranscript {
    /// The header.
    pub header: Header,
    /// The number of turns.
    pub turns: u64,
    /// The outcome by the rules; `None` if the game is not over.
    pub outcome: Option<Outcome>,
    tally: MatchTally,
    seal: String,
}

/// Verifies a transcript by replaying it, and collects its record. An error is a status and a
/// message.
pub fn verify_and_record(
    bytes: &[u8],
    games: &Games,
) -> Result<VerifiedTranscript, (Status, String)> {
    let report = verify(bytes, games);
    let seal = match (report.status, &report.seal) {
        (Status::Ok, Some(seal)) => seal.sha256.clone(),
        (status, _) => return Err((status, report.detail)),
    };
    let unreadable = |text: String| (Status::Unreadable, text);
    let bytes = unpack(bytes, TRANSCRIPT_BYTES_MAX)
        .ok_or_else(|| unreadable(format!("longer than {TRANSCRIPT_BYTES_MAX} bytes")))?;
    let reading = read(&bytes).map_err(|error| unreadable(error.to_string()))?;
    let header = reading.header.clone();
    let mut tally = MatchTally::default();
    tally.add_event(&Event::Header(Box::new(header.clone())));
    for event in reading {
        tally.add_event(&event);
    }
    Ok(VerifiedTranscript { header, turns: report.turns, outcome: report.outcome, tally, seal })
}

impl VerifiedTranscript {
    /// Returns the record, or why the match doesn't count. `transcript` is its path relative to the
    /// contest's folder.
    pub fn record(
        self,
        contest: &Contest,
        fixture: &Fixture,
        transcript: String,
    ) -> Result<Record, Void> {
        Record::of(self.tally, fixture, &contest.policy, transcript, self.seal)
    }
}

/// Returns the differences between a header and the game in the schedule, as sentences.
pub fn differences(
    contest: &Contest,
    kind: GameKind,
    fixture: &Fixture,
    header: &Header,
) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |what: &str, is: String, wanted: String| {
        if is != wanted {
            found.push(format!("{what} is {is}, but the schedule has {wanted}"));
        }
    };
    let setup = match contest.opening(kind, fixture.game, fixture.opening) {
        Ok(setup) => setup,
        Err(OpeningError::Rules(error)) => {
            return vec![format!("its opening can't be checked, since the rules failed: {error}")];
        }
        Err(error) => return vec![format!("its opening is invalid: {error}")],
    };
    // The recorded setup has its defaults filled in.
    let setup = kind.start(&setup).map_or(setup, |game| game.setup());
    let version = |player| contest.version(player, fixture.number);
    let players: Vec<_> = fixture.players.iter().copied().map(version).collect();
    let digests: Vec<&str> = players.iter().map(|player| player.digest.as_str()).collect();
    compare("the game", header.game.clone(), kind.name.to_owned());
    compare("the setup", header.setup.to_string(), setup.to_string());
    compare("the seed", header.seed.to_string(), fixture.seed.to_string());
    let key = contest.draw_key(&contest.games[fixture.game], fixture.seed);
    let hash = key.map(|key| draw_key_sha256(&key));
    compare("the draw key's hash", text(&header.draw_key_sha256), text(&hash));
    compare("the number", header.game_number.to_string(), fixture.number.to_string());
    compare("the clock", text(&header.clock), text(&contest.clock));
    compare("the limits", text(&header.limits), text(&contest.limits));
    compare("`anonymous`", text(&header.anonymous), text(&contest.anonymous));
    compare("`adjudication`", text(&header.adjudication), text(&contest.adjudication));
    compare("on_fault", text(&header.on_fault), text(&contest.policy.on_fault));
    let named: Vec<_> = header.seats.iter().map(|seat| &seat.name).collect();
    compare(
        "the seating",
        text(&named),
        text(&players.iter().map(|it| &it.name).collect::<Vec<_>>()),
    );
    let recorded: Vec<_> = header.seats.iter().map(|seat| seat.digest.as_str()).collect();
    compare("the agents' digests", text(&recorded), text(&digests));
    let program = kind.program().map(Program::record);
    let id = match_id((kind.name, program), &setup, &digests, fixture.seed, fixture.number);
    compare("the match's id", header.match_id.clone(), id);
    if let Some(wanted) = contest.sandbox.pondering
        && header.sandbox.pondering != Some(wanted)
    {
        found.push(format!("pondering is not {wanted}, as the contest requires"));
    }
    if !contest.reuse && header.seats.iter().any(|seat| seat.games_before > 0) {
        found.push(
            "an agent's process had played before, but the contest doesn't keep processes"
                .to_owned(),
        );
    }
    let unread = |seat: &&HeaderSeat| {
        seat.protocol.as_ref().is_some_and(|spoken| kind.dialect(&spoken.name).is_none())
    };
    if let Some(seat) = header.seats.iter().find(unread) {
        let seat = seat.seat;
        found.push(format!(
            "the lines of seat {seat} are in a protocol that this referee can't read"
        ));
    }
    if is_imported(header) {
        found.push("it was imported, so it has no times".to_owned());
    }
    let level = &header.sandbox.level;
    if let Some(wanted) = contest.sandbox.unmet_level(level) {
        found.push(format!(
            "the sandbox was {}, but the contest requires {wanted}",
            sanitize(level)
        ));
    }
    found
}

fn text<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value).unwrap_or(Value::Null).to_string()
}

/// Returns the differences between two records of the same game, by field.
pub fn record_differences(ours: &Record, theirs: &Record) -> Vec<String> {
    let fields = |record: &Record| serde_json::to_value(record).unwrap_or(Value::Null);
    let (ours, theirs) = (fields(ours), fields(theirs));
    let all = ours.as_object().into_iter().flatten();
    all.filter(|(name, value)| theirs.get(name.as_str()) != Some(value))
        .map(|(name, value)| {
            let kept = theirs.get(name.as_str()).unwrap_or(&Value::Null);
            format!("`{name}` is {value} in the transcript, but {kept} in the store")
        })
        .collect()
}
