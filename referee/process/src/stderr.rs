//! Keeps the head and the tail of an agent's stderr: the head is handed out turn by turn, the tail
//! at the end. The rest is dropped and counted.

use std::collections::VecDeque;

/// A piece is handed out when it has this many bytes, or when the turn ends.
const PIECE_BYTES: usize = 4096;

/// The most that is copied.
const COPY_BYTES_MAX: usize = 1 << 18;

/// Adds to a text of which only the end is kept.
pub fn keep_end(end: &mut String, more: &str, bytes_max: usize) {
    end.push_str(more);
    let mut surplus = end.len().saturating_sub(bytes_max);
    while !end.is_char_boundary(surplus) {
        surplus += 1;
    }
    end.drain(..surplus);
}

/// An agent's stderr, bounded.
#[derive(Debug)]
pub struct Stderr {
    /// How many bytes of the head may still be kept.
    head_left: usize,
    tail_max: usize,
    /// Bytes of the head that have not been handed out.
    pending: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
    /// What was added since copying began.
    copy: Option<Vec<u8>>,
    /// Whether what comes is only copied.
    is_aside: bool,
}

/// A piece of text to record.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text; invalid UTF-8 is replaced.
    pub text: String,
    /// How many bytes were dropped before it.
    pub dropped_bytes: u64,
}

impl Stderr {
    /// Keeps `bytes` bytes at the head and as many at the tail.
    pub fn new(bytes: u64) -> Self {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        Self {
            head_left: bytes,
            tail_max: bytes,
            pending: Vec::new(),
            tail: VecDeque::new(),
            dropped: 0,
            copy: None,
            is_aside: false,
        }
    }

    /// Copies what is added from here on. With `aside`, it is only copied: it isn't the agent's own.
    pub fn copy(&mut self, aside: bool) {
        (self.copy, self.is_aside) = (Some(Vec::new()), aside);
    }

    /// Returns what was copied; invalid UTF-8 is replaced.
    pub fn copied(&self) -> String {
        String::from_utf8_lossy(self.copy.as_deref().unwrap_or_default()).into_owned()
    }

    /// Adds bytes that were read.
    pub fn add(&mut self, bytes: &[u8]) {
        if let Some(copy) = &mut self.copy {
            let room = COPY_BYTES_MAX.saturating_sub(copy.len());
            copy.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        if self.is_aside {
            return;
        }
        let (head, rest) = bytes.split_at(bytes.len().min(self.head_left));
        self.head_left -= head.len();
        self.pending.extend_from_slice(head);
        let skipped = rest.len().saturating_sub(self.tail_max);
        self.tail.extend(&rest[skipped..]);
        let over = self.tail.len().saturating_sub(self.tail_max);
        self.tail.drain(..over);
        self.dropped += (skipped + over) as u64;
    }

    /// Whether there is enough for a piece.
    pub fn is_full(&self) -> bool {
        self.pending.len() >= PIECE_BYTES
    }

    /// Returns what was added to the head since the last call. An incomplete character at the end
    /// waits for its remaining bytes.
    pub fn take(&mut self) -> Option<Piece> {
        let whole = self.pending.len() - incomplete(&self.pending);
        if whole == 0 {
            return None;
        }
        let rest = self.pending.split_off(whole);
        let bytes = std::mem::replace(&mut self.pending, rest);
        Some(Piece { text: String::from_utf8_lossy(&bytes).into_owned(), dropped_bytes: 0 })
    }

    /// Returns the rest when the match is over: the end of the head, and the tail. What is added from
    /// here on is that of another match.
    pub fn finish(&mut self) -> Vec<Piece> {
        self.head_left = self.tail_max;
        let mut pieces = Vec::new();
        let head = std::mem::take(&mut self.pending);
        let tail: Vec<u8> = std::mem::take(&mut self.tail).into();
        for (bytes, dropped_bytes) in [(head, 0), (tail, std::mem::take(&mut self.dropped))] {
            if !bytes.is_empty() {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                pieces.push(Piece { text, dropped_bytes });
            }
        }
        pieces
    }
}

/// Returns how many bytes at the end belong to an incomplete character.
fn incomplete(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    for (index, &byte) in tail.iter().enumerate().rev() {
        let there = tail.len() - index;
        let wanted = match byte {
            0x80..=0xBF => continue,
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => return 0,
        };
        return if there < wanted { there } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::{Piece, Stderr};

    fn piece(text: &str, dropped_bytes: u64) -> Piece {
        Piece { text: text.to_owned(), dropped_bytes }
    }

    #[test]
    fn head_and_tail_are_kept_and_the_rest_counted() {
        let mut stderr = Stderr::new(4);
        stderr.add(b"ab");
        assert_eq!(stderr.take(), Some(piece("ab", 0)));
        assert_eq!(stderr.take(), None);
        stderr.add(b"cdefghijkl");
        assert_eq!(stderr.take(), Some(piece("cd", 0)));
        stderr.add(b"mn");
        assert_eq!(stderr.finish(), [piece("klmn", 6)]);
    }

    #[test]
    fn nothing_is_left_out_up_to_twice_the_bound() {
        let mut stderr = Stderr::new(4);
        stderr.add(b"abcdefgh");
        assert_eq!(stderr.finish(), [piece("abcd", 0), piece("efgh", 0)]);
    }

    #[test]
    fn each_match_has_its_own_bounds() {
        let mut stderr = Stderr::new(4);
        for _ in 0..2 {
            stderr.add(b"abcdefghij");
            assert_eq!(stderr.take(), Some(piece("abcd", 0)));
            assert_eq!(stderr.finish(), [piece("ghij", 2)]);
        }
    }

    #[test]
    fn a_character_is_not_cut_in_two() {
        let mut stderr = Stderr::new(100);
        stderr.add("x⬢".as_bytes().split_last().unwrap().1);
        assert_eq!(stderr.take(), Some(piece("x", 0)));
        stderr.add(&"⬢".as_bytes()[2..]);
        assert_eq!(stderr.take(), Some(piece("⬢", 0)));
        stderr.add(b"\xFF\xE2");
        assert_eq!(stderr.take(), Some(piece("\u{FFFD}", 0)));
        assert_eq!(stderr.finish(), [piece("\u{FFFD}", 0)]);
    }
}
