//! The opening explorer: which other matches had the same position, what was played in it, and how they
//! ended. Equal positions count, also if other actions led to them.

use super::App;
use super::branch::BranchQuery;
use super::errors::ApiResult;
use super::listing::{Entry, Listing};
use super::served_folder::ServedFolder;
use super::tail::Tail;
use referee_games::{AnyGame, Games, Turn};
use referee_match::transcript::walk;
use referee_process::lock::lock;
use referee_protocol::{Event, Seat};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// How long one request reads transcripts; the page asks again until all are read.
const READING_MAX: Duration = Duration::from_millis(300);
/// The most transcripts whose positions are cached: more than one list of them has.
const CACHED_MAX: usize = 40_000;
/// The most matches in an answer, the newest.
const MATCHES_MAX: usize = 50;

/// The positions of the transcripts that were read, by name.
#[derive(Debug, Default)]
pub(super) struct Explorer(Mutex<BTreeMap<String, Cached>>);

/// The positions of a transcript, with the time and size of the file when it was read.
#[derive(Debug)]
struct Cached {
    changed: SystemTime,
    bytes: u64,
    positions: Arc<MatchPositions>,
}

/// The positions of a match, the start first; none of a match that doesn't count.
#[derive(Debug, Default)]
struct MatchPositions {
    plies: Vec<(u64, Next)>,
    places: Vec<u32>,
}

/// The action played in a position; `None` if none was.
type Next = Option<Box<str>>;

/// How often an action was played, and the results of the seat to move.
#[derive(Debug, Default)]
struct Results {
    matches: u64,
    won: u64,
    /// It came first together with another.
    drawn: u64,
}

/// Returns the matches beside this one that had the position, and what was played in it.
pub(super) fn explore(app: &App, query: &BranchQuery) -> ApiResult<Value> {
    let playback = query.playback(app)?;
    let wanted = key(playback.game());
    let mover = match playback.game().turn() {
        Turn::Of(seat) => Some(seat),
        Turn::Over(_) | Turn::Chance(_) => None,
    };
    let found = app.listing.contents(&app.served);
    let (contest, beside) = Listing::beside(&found, query.file());
    let until = Instant::now() + READING_MAX;
    let (mut all, mut read, mut reached) = (0_u64, 0_u64, 0_u64);
    let mut next: HashMap<Box<str>, Results> = HashMap::new();
    let mut matches = Vec::new();
    for entry in beside {
        all += 1;
        let Some(positions) = app.explorer.positions(&app.served, entry, until) else { continue };
        read += 1;
        let Some((ply, action)) = positions.find(wanted) else { continue };
        reached += 1;
        if let (Some(action), Some(mover)) = (action, mover) {
            next.entry(action.clone()).or_default().add(&positions.places, mover);
        }
        let row = (matches.len() < MATCHES_MAX).then(|| app.listing.row(&app.served, entry));
        matches.extend(row.flatten().map(|row| json!({ "row": *row, "ply": ply })));
    }
    let mut next: Vec<_> = next.into_iter().collect();
    next.sort_by(|(a, x), (b, y)| (Reverse(x.matches), a).cmp(&(Reverse(y.matches), b)));
    let next: Vec<Value> = next.iter().map(|(action, results)| results.row(action)).collect();
    Ok(json!({ "contest": contest, "all": all, "read": read, "reached": reached,
               "next": next, "matches": matches }))
}

impl Explorer {
    /// Returns the positions of a transcript; `None` if it was not read yet and the time is over.
    fn positions(
        &self,
        served: &ServedFolder,
        entry: &Entry,
        until: Instant,
    ) -> Option<Arc<MatchPositions>> {
        let Entry { changed, bytes, .. } = *entry;
        let same = |cached: &&Cached| (cached.changed, cached.bytes) == (changed, bytes);
        if let Some(cached) = lock(&self.0).get(&entry.name).filter(same) {
            return Some(cached.positions.clone());
        }
        if Instant::now() > until {
            return None;
        }
        let read = MatchPositions::read(served, &entry.name);
        // Transcripts that can't be read are in the lists with the reason.
        let positions = Arc::new(read.unwrap_or_default());
        let mut cached = lock(&self.0);
        if cached.len() >= CACHED_MAX {
            cached.clear();
        }
        let kept = Cached { changed, bytes, positions: positions.clone() };
        cached.insert(entry.name.clone(), kept);
        Some(positions)
    }
}

impl MatchPositions {
    fn read(served: &ServedFolder, name: &str) -> Option<Self> {
        let tail = Tail::open(name, served).ok()?;
        Self::of(&tail.bytes().ok()?, &tail.games)
    }

    /// Returns the positions of a transcript; `None` if it has no result. Its plies are those of a
    /// [`Playback`](referee_match::transcript::Playback).
    fn of(bytes: &[u8], games: &Games) -> Option<Self> {
        let mut steps = walk(bytes, games).ok()?;
        let mut plies = vec![(key(steps.walk().game()), None)];
        loop {
            match steps.step().ok()?? {
                Event::Played(played) => {
                    let game = steps.walk().game();
                    plies.last_mut()?.1 = Some(game.format_action(&played.action.value()).into());
                    plies.push((key(game), None));
                }
                Event::Retired(_) | Event::Drawn(_) => plies.push((key(steps.walk().game()), None)),
                Event::Over(over) => {
                    return over.verdict.places.map(|places| Self { plies, places });
                }
                _ => {}
            }
        }
    }

    /// Returns the first ply with this position, and what was played in it.
    fn find(&self, wanted: u64) -> Option<(usize, &Next)> {
        let ply = self.plies.iter().position(|(key, _)| *key == wanted)?;
        Some((ply, &self.plies[ply].1))
    }
}

impl Results {
    fn add(&mut self, places: &[u32], mover: Seat) {
        let is_first = places.get(mover.index()) == Some(&1);
        let is_shared = places.iter().filter(|place| **place == 1).count() > 1;
        self.matches += 1;
        self.won += u64::from(is_first && !is_shared);
        self.drawn += u64::from(is_first && is_shared);
    }

    fn row(&self, action: &str) -> Value {
        let Self { matches, won, drawn } = *self;
        json!({ "action": action, "matches": matches, "won": won, "drawn": drawn,
                "lost": matches - won - drawn })
    }
}

/// Returns a number that is equal for equal positions of a game.
fn key(game: &dyn AnyGame) -> u64 {
    let mut hasher = DefaultHasher::new();
    game.kind().name.hash(&mut hasher);
    game.origin().to_string().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::{MatchPositions, Results, key};
    use referee_games::Games;
    use referee_match::transcript::{Playback, PlyKind, walk};
    use referee_protocol::Seat;
    use std::{fs, path::Path};

    /// The plies of the explorer are those of the page, so that its links lead to the position.
    #[test]
    fn every_ply_of_the_stored_transcripts_is_found() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/tests/transcripts");
        let mut plies = 0;
        for entry in Path::new(folder).read_dir().unwrap() {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            let Some(positions) = MatchPositions::of(&bytes, &Games::default()) else { continue };
            let mut steps = walk(&bytes, &Games::default()).unwrap();
            let mut playback =
                Playback::begin(steps.walk().header().clone(), &Games::default()).unwrap();
            let mut found = vec![key(playback.game())];
            while let Some(event) = steps.step().unwrap() {
                let before = playback.plies().len();
                playback.take(&event).unwrap();
                let is_over = playback.over().is_some();
                if playback.plies().len() > before && !is_over {
                    found.push(key(playback.game()));
                }
            }
            let keys: Vec<u64> = positions.plies.iter().map(|(key, _)| *key).collect();
            assert_eq!(keys, found);
            for (ply, (_, next)) in playback.plies()[1..].iter().zip(&positions.plies) {
                let played = match &ply.kind {
                    PlyKind::Played { text, .. } => Some(text.as_str()),
                    _ => None,
                };
                assert_eq!(next.as_deref(), played);
            }
            plies += keys.len();
        }
        assert!(plies > 100, "{plies}");
    }

    #[test]
    fn a_result_is_that_of_the_player_to_move() {
        let counted = |places: &[u32], seat| {
            let mut results = Results::default();
            results.add(places, Seat(seat));
            (results.won, results.drawn)
        };
        assert_eq!([counted(&[1, 2], 0), counted(&[1, 2], 1)], [(1, 0), (0, 0)]);
        assert_eq!([counted(&[1, 1, 3], 1), counted(&[1, 1, 3], 2)], [(0, 1), (0, 0)]);
        assert_eq!([counted(&[1], 0), counted(&[2], 0)], [(1, 0), (0, 0)]);
    }
}
