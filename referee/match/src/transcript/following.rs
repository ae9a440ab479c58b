//! A transcript that is read as it grows: bytes in, a match to be looked at out.

use super::playback::Playback;
use super::read::{read_event, read_header, split_line};
use referee_protocol::{Event, Seal};

/// A transcript as far as it is there.
#[derive(Debug, Default)]
pub struct Following {
    /// Bytes of a line that isn't whole yet.
    rest: Vec<u8>,
    playback: Option<Playback>,
    state: State,
    line: u64,
}

/// How far a transcript is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It has no end yet: the match is under way, or what wrote it was killed.
    #[default]
    Open,
    /// Its seal is there. Whether it fits is [`verify`](super::verify)'s to say.
    Sealed(Seal),
    /// It can't be read on.
    Broken {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        text: String,
    },
}

impl Following {
    /// A transcript, of which nothing is there yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A transcript as far as it is there.
    pub fn of(bytes: &[u8]) -> Self {
        let mut following = Self::new();
        following.feed(bytes);
        following
    }

    /// The match; `None` before its header is there.
    pub fn playback(&self) -> Option<&Playback> {
        self.playback.as_ref()
    }

    /// The match, to be kept.
    pub fn into_playback(self) -> Option<Playback> {
        self.playback
    }

    /// How far it is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Takes in what was appended. After the seal, and after a line that can't be read, nothing is.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let all = std::mem::take(&mut self.rest);
        let mut rest = all.as_slice();
        while self.state == State::Open {
            let Some((line, after)) = split_line(rest) else { break };
            rest = after;
            self.line += 1;
            if let Err(text) = self.take(line) {
                self.state = State::Broken { line: self.line, text };
            }
        }
        if self.state == State::Open {
            self.rest = rest.to_vec();
        }
    }

    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let Some(playback) = &mut self.playback else {
            let header = read_header(line).map_err(|error| error.to_string())?;
            self.playback = Some(Playback::begin(header).map_err(|error| error.to_string())?);
            return Ok(());
        };
        match read_event(line)? {
            Event::Seal(seal) => self.state = State::Sealed(seal),
            event => playback.take(&event)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Following, State};
    use crate::transcript::Happening;

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
            let whole = Following::of(&bytes);
            let mut growing = Following::new();
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
            let following = Following::of(&bytes);
            assert!(matches!(following.state(), State::Sealed(_)), "{name}: {following:?}");
            let playback = following.playback().unwrap();
            let plies = playback.plies();
            assert!(matches!(plies[0].happening, Happening::Start), "{name}");
            assert!(matches!(plies.last().unwrap().happening, Happening::Over(_)), "{name}");
            assert_eq!(playback.lines() + 1, bytes.split(|&b| b == b'\n').count() as u64 - 1);
            let text = String::from_utf8(bytes).unwrap();
            let played = text.matches("{\"type\":\"played\"").count();
            let retired = text.matches("{\"type\":\"retired\"").count();
            assert_eq!(plies.len(), 2 + played + retired, "{name}");
            let complaints: usize = plies.iter().map(|ply| ply.beside.stderr.len()).sum();
            assert_eq!(complaints, text.matches("{\"type\":\"stderr\"").count(), "{name}");
            let lines: usize = plies.iter().map(|ply| ply.beside.lines.len()).sum();
            assert_eq!(lines, text.matches("{\"type\":\"line\"").count(), "{name}");
            assert_eq!(playback.changed_since(0), 0);
            assert_eq!(playback.changed_since(playback.lines()), plies.len());
        }
    }

    #[test]
    fn what_cannot_be_read_is_named_and_keeps_what_was_before() {
        let (_, bytes) = golden().swap_remove(0);
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let broken = format!("{}\n{}\nno event\n", lines[0], lines[1]);
        let following = Following::of(broken.as_bytes());
        assert!(matches!(following.state(), State::Broken { line: 3, .. }), "{following:?}");
        assert!(following.playback().is_some());
        let foreign = Following::of(b"{}\n");
        assert!(matches!(foreign.state(), State::Broken { line: 1, .. }), "{foreign:?}");
        let cut = Following::of(lines[0].as_bytes());
        assert_eq!((cut.state(), cut.playback().is_none()), (&State::Open, true));
    }
}
