//! Whether a transcript is that of the game which the schedule has in its place, and what it says of
//! it, from its bytes alone.

use super::{Contest, Fixture, Onlooker, Record, Void};
use referee_games::GameKind;
use referee_match::match_id;
use referee_match::transcript::{Status, read, unpack, verify};
use referee_protocol::plain::tame;
use referee_protocol::{Event, Header, Outcome};
use serde_json::Value;

/// The largest transcript that is heard, unpacked, in bytes.
const TRANSCRIPT_BYTES_MAX: usize = 1 << 30;

/// What a transcript says, its rules and its seal checked.
#[derive(Debug)]
pub struct Heard {
    /// What the match was played under.
    pub header: Header,
    /// The turns that could be played again.
    pub turns: u64,
    /// What the rules say after them; null while the game goes on.
    pub outcome: Option<Outcome>,
    onlooker: Onlooker,
    seal: String,
}

/// Plays a transcript again. An error is a status and what is wrong, in words.
pub fn hear(bytes: &[u8]) -> Result<Heard, (Status, String)> {
    let report = verify(bytes);
    let seal = match (report.status, &report.seal) {
        (Status::Ok, Some(seal)) => seal.sha256.clone(),
        (status, _) => return Err((status, report.detail)),
    };
    let unreadable = |text: String| (Status::Unreadable, text);
    let bytes = unpack(bytes, TRANSCRIPT_BYTES_MAX)
        .ok_or_else(|| unreadable(format!("longer than {TRANSCRIPT_BYTES_MAX} bytes")))?;
    let reading = read(&bytes).map_err(|error| unreadable(error.to_string()))?;
    let header = reading.header.clone();
    let mut onlooker = Onlooker::default();
    onlooker.see(&Event::Header(Box::new(header.clone())));
    for event in reading {
        onlooker.see(&event);
    }
    Ok(Heard { header, turns: report.turns, outcome: report.outcome, onlooker, seal })
}

impl Heard {
    /// The record that follows from it, or why the match doesn't count. `transcript` is its name
    /// relative to the contest's folder.
    pub fn record(
        self,
        contest: &Contest,
        fixture: &Fixture,
        transcript: String,
    ) -> Result<Record, Void> {
        self.onlooker.record(fixture, &contest.policy, transcript, self.seal)
    }
}

/// Where a header differs from what the schedule wants of a game, each in words.
pub fn differences(
    contest: &Contest,
    kind: GameKind,
    fixture: &Fixture,
    header: &Header,
) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |what: &str, is: String, wanted: String| {
        if is != wanted {
            found.push(format!("{what} is {is}, and the schedule has {wanted}"));
        }
    };
    let setup = match contest.opening(kind, fixture.game, fixture.opening) {
        Ok(setup) => setup,
        Err(error) => return vec![format!("its opening can't be made: {error}")],
    };
    // The recorded setup has its defaults filled in.
    let setup = kind.start(&setup).map_or(setup, |game| game.setup());
    let players: Vec<_> = fixture.players.iter().map(|it| &contest.players[it.index()]).collect();
    let digests: Vec<&str> = players.iter().map(|player| player.digest.as_str()).collect();
    compare("the game", header.game.clone(), kind.name.to_owned());
    compare("the setup", header.setup.to_string(), setup.to_string());
    compare("the seed", header.seed.to_string(), fixture.seed.to_string());
    compare("the number", header.game_number.to_string(), fixture.number.to_string());
    compare("the clock", text(&header.clock), text(&contest.clock));
    compare("the limits", text(&header.limits), text(&contest.limits));
    compare("on_fault", text(&header.on_fault), text(&contest.policy.on_fault));
    let named: Vec<_> = header.seats.iter().map(|seat| &seat.name).collect();
    compare(
        "the seating",
        text(&named),
        text(&players.iter().map(|it| &it.name).collect::<Vec<_>>()),
    );
    let told: Vec<_> = header.seats.iter().map(|seat| seat.digest.as_str()).collect();
    compare("the agents' digests", text(&told), text(&digests));
    let id = match_id(kind.name, &setup, &digests, fixture.seed, fixture.number);
    compare("the match's id", header.match_id.clone(), id);
    if let Some(wanted) = contest.sandbox.pondering
        && header.sandbox.pondering != Some(wanted)
    {
        found.push(format!("pondering is not {wanted}, which the contest demands"));
    }
    let told = &header.sandbox.level;
    if let Some(wanted) = contest.sandbox.missed_by(told) {
        found.push(format!("the sandbox was {}, and the contest demands {wanted}", tame(told)));
    }
    found
}

fn text<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value).unwrap_or(Value::Null).to_string()
}

/// Where two records of the same game differ, as the names of their fields.
pub fn record_differences(ours: &Record, theirs: &Record) -> Vec<String> {
    let fields = |record: &Record| serde_json::to_value(record).unwrap_or(Value::Null);
    let (ours, theirs) = (fields(ours), fields(theirs));
    let all = ours.as_object().into_iter().flatten();
    all.filter(|(name, value)| theirs.get(name.as_str()) != Some(value))
        .map(|(name, value)| {
            let kept = theirs.get(name.as_str()).unwrap_or(&Value::Null);
            format!("`{name}` is {value} by the transcript and {kept} in the store")
        })
        .collect()
}
