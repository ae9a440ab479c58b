//! Reading a transcript as it grows: bytes in, a match to view out.

use super::playback::Playback;
use super::read::{read_event, read_header, split_line};
use super::recorded_rules::{Viewable, viewable};
use referee_games::Games;
use referee_protocol::{Event, Seal};

/// A transcript as far as it has been written.
#[derive(Debug, Default)]
pub struct TranscriptFollower {
    games: Games,
    /// The beginning of the next line.
    rest: Vec<u8>,
    playback: Option<Playback>,
    state: FollowState,
    line: u64,
    /// All that was read, if the rules aren't there: their moves are then those of the transcript.
    whole: Option<Vec<u8>>,
    /// Why they aren't there.
    missing: Option<String>,
}

/// How far a transcript has been written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FollowState {
    /// It has no end yet: the match is running, or its writer was killed.
    #[default]
    Open,
    /// It has a seal, which only [`verify`](super::verify) checks.
    Sealed(Seal),
    /// It can't be read any further.
    Broken {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        text: String,
    },
}

impl TranscriptFollower {
    /// Creates an empty one, of one of these games.
    pub fn new(games: &Games) -> Self {
        Self { games: games.clone(), ..Self::default() }
    }

    /// A transcript as far as it has been written.
    pub fn of(bytes: &[u8], games: &Games) -> Self {
        let mut following = Self::new(games);
        following.feed(bytes);
        following
    }

    /// Returns the match; `None` before its header.
    pub fn playback(&self) -> Option<&Playback> {
        self.playback.as_ref()
    }

    /// Returns the match.
    pub fn into_playback(self) -> Option<Playback> {
        self.playback
    }

    /// Returns why the rules of its game aren't there, if they aren't, as text that can follow "note: ".
    pub fn missing_rules(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Returns how far it has been written.
    pub fn state(&self) -> &FollowState {
        &self.state
    }

    /// Reads what was appended. Ignores what follows the seal or a line that can't be read.
    pub fn feed(&mut self, bytes: &[u8]) {
        if let Some(whole) = &mut self.whole {
            whole.extend_from_slice(bytes);
            // What is a legal move isn't known before it was made, so the rest is shown when the match is over.
            let last = whole.strip_suffix(b"\n").and_then(|it| it.rsplit(|&it| it == b'\n').next());
            if last.is_some_and(|line| matches!(read_event(line), Ok(Event::Seal(_)))) {
                *self = Self::of(&std::mem::take(whole), &self.games);
            }
            return;
        }
        self.rest.extend_from_slice(bytes);
        if self.line == 0 && split_line(&self.rest).is_some() {
            let Viewable { games, missing } = viewable(&self.rest, &self.games);
            if missing.is_some() {
                let whole = std::mem::take(&mut self.rest);
                let shown = Self { games, rest: whole.clone(), line: 0, ..Self::default() };
                let games = std::mem::take(&mut self.games);
                *self = Self { whole: Some(whole), missing, games, ..shown.read_known() };
                return;
            }
        }
        self.read_on();
    }

    fn read_known(mut self) -> Self {
        self.read_on();
        self
    }

    fn read_on(&mut self) {
        let all = std::mem::take(&mut self.rest);
        let mut rest = all.as_slice();
        while self.state == FollowState::Open {
            let Some((line, after)) = split_line(rest) else { break };
            rest = after;
            self.line += 1;
            if let Err(text) = self.take(line) {
                self.state = FollowState::Broken { line: self.line, text };
            }
        }
        if self.state == FollowState::Open {
            self.rest = rest.to_vec();
        }
    }

    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let Some(playback) = &mut self.playback else {
            let header = read_header(line).map_err(|error| error.to_string())?;
            self.playback = Some(Playback::begin(header, &self.games)?);
            return Ok(());
        };
        match read_event(line)? {
            Event::Seal(seal) => self.state = FollowState::Sealed(seal),
            event => playback.take(&event)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{FollowState, TranscriptFollower};
    use crate::transcript::PlyKind;
    use referee_games::Games;

    const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/tests/transcripts");

    fn golden() -> Vec<(String, Vec<u8>)> {
        let files = std::fs::read_dir(GOLDEN).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files.filter(|path| path.extension().unwrap() == "jsonl").collect();
        files.sort();
        assert!(!files.is_empty());
        let read =
            |path: std::path::PathBuf| (path.display().to_string(), std::fs::read(path).unwrap());
        files.into_iter().map(read).collect()
    }

    #[test]
    fn a_growing_transcript_reads_as_the_whole() {
        for (name, bytes) in golden() {
            let whole = TranscriptFollower::of(&bytes, &Games::default());
            let mut growing = TranscriptFollower::new(&Games::default());
            for piece in bytes.chunks(97) {
                growing.feed(piece);
            }
            assert_eq!(whole.state(), growing.state(), "{name}");
            let (whole, growing) = (whole.playback().unwrap(), growing.playback().unwrap());
            assert_eq!(format!("{whole:?}"), format!("{growing:?}"), "{name}");
        }
    }

    #[test]
    fn plies_are_the_actions_between_start_and_end() {
        for (name, bytes) in golden() {
            let following = TranscriptFollower::of(&bytes, &Games::default());
            assert!(matches!(following.state(), FollowState::Sealed(_)), "{name}: {following:?}");
            let playback = following.playback().unwrap();
            let plies = playback.plies();
            assert!(matches!(plies[0].kind, PlyKind::Start), "{name}");
            assert!(matches!(plies.last().unwrap().kind, PlyKind::Over(_)), "{name}");
            assert_eq!(playback.lines() + 1, bytes.split(|&b| b == b'\n').count() as u64 - 1);
            let text = String::from_utf8(bytes).unwrap();
            let played = text.matches("{\"type\":\"played\"").count();
            let retired = text.matches("{\"type\":\"retired\"").count();
            assert_eq!(plies.len(), 2 + played + retired, "{name}");
            let pieces: usize = plies.iter().map(|ply| ply.output.stderr.len()).sum();
            assert_eq!(pieces, text.matches("{\"type\":\"stderr\"").count(), "{name}");
            let lines: usize = plies.iter().map(|ply| ply.output.lines.len()).sum();
            assert_eq!(lines, text.matches("{\"type\":\"line\"").count(), "{name}");
            assert_eq!(playback.changed_since(0), 0);
            assert_eq!(playback.changed_since(playback.lines()), plies.len());
        }
    }

    #[test]
    fn a_broken_line_is_named_and_keeps_what_came_before() {
        let (_, bytes) = golden().swap_remove(0);
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let broken = format!("{}\n{}\nno event\n", lines[0], lines[1]);
        let following = TranscriptFollower::of(broken.as_bytes(), &Games::default());
        assert!(matches!(following.state(), FollowState::Broken { line: 3, .. }), "{following:?}");
        assert!(following.playback().is_some());
        let foreign = TranscriptFollower::of(b"{}\n", &Games::default());
        assert!(matches!(foreign.state(), FollowState::Broken { line: 1, .. }), "{foreign:?}");
        let cut = TranscriptFollower::of(lines[0].as_bytes(), &Games::default());
        assert_eq!((cut.state(), cut.playback().is_none()), (&FollowState::Open, true));
    }
}
