//! Splits a stream of bytes into lines of bounded length; the excess is reported, never kept.

/// A line without its end (`\n` or `\r\n`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The line is too long; `bytes` is its beginning.
    pub cut: bool,
}

/// The most memory that is kept for later lines.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// Splits a stream into lines.
#[derive(Debug)]
pub struct Framer {
    line_bytes_max: usize,
    /// Bytes received. Those before `begin` have been returned; there is no line end between
    /// `begin` and `searched`.
    bytes: Vec<u8>,
    begin: usize,
    searched: usize,
}

impl Framer {
    /// Creates a framer for lines of up to `line_bytes_max` bytes, without their ends.
    pub fn new(line_bytes_max: usize) -> Self {
        Self { line_bytes_max, bytes: Vec::new(), begin: 0, searched: 0 }
    }

    /// Adds bytes. Call it when [`Framer::next_line`] has returned all lines.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.begin);
        (self.searched, self.begin) = (self.searched - self.begin, 0);
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next complete line, or a line that is already too long.
    pub fn next_line(&mut self) -> Option<Line> {
        let found = self.bytes[self.searched..].iter().position(|&byte| byte == b'\n');
        if let Some(at) = found {
            let line = self.line(self.searched + at);
            self.begin = self.searched + at + 1;
            self.searched = self.begin;
            if self.begin == self.bytes.len() {
                self.clear();
            }
            return Some(line);
        }
        self.searched = self.bytes.len();
        // One more byte may be the `\r` of a line end.
        let is_long = self.unended().len().saturating_sub(1) > self.line_bytes_max;
        is_long.then(|| self.rest())
    }

    /// Returns the last line if its end is missing. Call it when the stream has ended and
    /// [`Framer::next_line`] has returned all others.
    pub fn finish(&mut self) -> Option<Line> {
        (!self.unended().is_empty()).then(|| self.rest())
    }

    /// Returns the start of a line whose end has not arrived.
    pub fn unended(&self) -> &[u8] {
        &self.bytes[self.begin..]
    }

    /// Discards all bytes, and the memory that a very long line took.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES_MAX);
        (self.begin, self.searched) = (0, 0);
    }

    fn rest(&mut self) -> Line {
        let line = self.line(self.bytes.len());
        self.clear();
        line
    }

    fn line(&self, end: usize) -> Line {
        let line = &self.bytes[self.begin..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let cut = line.len() > self.line_bytes_max;
        Line { bytes: line[..line.len().min(self.line_bytes_max)].to_vec(), cut }
    }
}

#[cfg(test)]
mod tests {
    use super::Framer;
    use proptest::prelude::*;

    /// Returns the lines in these pieces; lines that were cut end with `!`.
    fn lines(pieces: &[&[u8]], bound: usize) -> Vec<String> {
        let mut framer = Framer::new(bound);
        let mut found = Vec::new();
        for piece in pieces {
            framer.push(piece);
            found.extend(std::iter::from_fn(|| framer.next_line()));
        }
        found.extend(framer.finish());
        let shown = found.iter().map(|line| {
            let mark = if line.cut { "!" } else { "" };
            format!("{}{mark}", String::from_utf8_lossy(&line.bytes))
        });
        shown.collect()
    }

    #[test]
    fn lines_end_as_agents_end_them() {
        assert_eq!(lines(&[b"one\ntwo\r\n\nthr", b"ee"], 9), ["one", "two", "", "three"]);
        assert_eq!(lines(&[b"on", b"e", b"\r", b"\n"], 9), ["one"]);
    }

    #[test]
    fn exactly_the_bound_is_accepted() {
        assert_eq!(lines(&[b"1234\n12345\n"], 4), ["1234", "1234!"]);
        assert_eq!(lines(&[b"1234", b"\r", b"\n"], 4), ["1234"]);
        assert_eq!(lines(&[b"1234", b"5", b"6"], 4), ["1234!"]);
        assert_eq!(lines(&[b"12345"], 4), ["1234!"]);
    }

    #[test]
    fn nothing_beyond_the_bound_is_kept() {
        let mut framer = Framer::new(10_000);
        for _ in 0..1000 {
            framer.push(&[b'x'; 4096]);
            assert!(framer.next_line().is_none_or(|line| line.cut));
            assert!(framer.unended().len() <= 10_001);
        }
    }

    #[test]
    fn a_long_line_leaves_no_memory_behind() {
        let mut framer = Framer::new(8 << 20);
        framer.push("x".repeat(4 << 20).as_bytes());
        framer.push(b"\n");
        assert_eq!(framer.next_line().map(|line| line.bytes.len()), Some(4 << 20));
        assert!(framer.bytes.capacity() <= 1 << 20);
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a')], 0..60),
            cut in 0usize..60,
        ) {
            let cut = cut.min(text.len());
            prop_assert_eq!(lines(&[&text], 100), lines(&[&text[..cut], &text[cut..]], 100));
        }
    }
}
