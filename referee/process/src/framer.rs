//! Lines out of a stream of bytes, bounded: what is over the bound is told, never kept.

/// Cuts a stream into lines.
#[derive(Debug, Default)]
pub struct Framer {
    /// The beginning of a line whose end hasn't come.
    partial: Vec<u8>,
}

impl Framer {
    /// Takes in bytes and gives each whole line, without its end (`\n` or `\r\n`), to `take`,
    /// whose second argument is true for a line longer than `line_bytes_max`: then only its
    /// beginning is given. Stops as soon as `take` returns false.
    pub fn push(
        &mut self,
        mut bytes: &[u8],
        line_bytes_max: usize,
        mut take: impl FnMut(&[u8], bool) -> bool,
    ) {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            let go_on = if self.partial.is_empty() {
                give(line, line_bytes_max, &mut take)
            } else {
                self.partial.extend_from_slice(line);
                let whole = std::mem::take(&mut self.partial);
                give(&whole, line_bytes_max, &mut take)
            };
            if !go_on {
                return;
            }
        }
        self.partial.extend_from_slice(bytes);
        // One byte more may be the `\r` of a line end.
        if self.partial.len().saturating_sub(1) > line_bytes_max {
            let beginning = std::mem::take(&mut self.partial);
            take(&beginning[..line_bytes_max], true);
        }
    }

    /// The beginning of a line whose end has not come.
    pub fn unended(&self) -> &[u8] {
        &self.partial
    }

    /// The stream has ended: its last line may lack its end.
    pub fn finish(&mut self, line_bytes_max: usize, mut take: impl FnMut(&[u8], bool) -> bool) {
        let last = std::mem::take(&mut self.partial);
        if !last.is_empty() {
            give(&last, line_bytes_max, &mut take);
        }
    }
}

fn give(line: &[u8], line_bytes_max: usize, take: &mut impl FnMut(&[u8], bool) -> bool) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > line_bytes_max {
        return take(&line[..line_bytes_max], true);
    }
    take(line, false)
}

#[cfg(test)]
mod tests {
    use super::Framer;
    use proptest::prelude::*;

    /// The lines that come of pieces, those that were cut marked with `!`.
    fn lines(pieces: &[&[u8]], bound: usize) -> Vec<String> {
        let mut framer = Framer::default();
        let mut found = Vec::new();
        let mut take = |line: &[u8], cut: bool| {
            let mark = if cut { "!" } else { "" };
            found.push(format!("{}{mark}", String::from_utf8_lossy(line)));
            true
        };
        for piece in pieces {
            framer.push(piece, bound, &mut take);
        }
        framer.finish(bound, &mut take);
        found
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
        let mut framer = Framer::default();
        for _ in 0..1000 {
            framer.push(&[b'x'; 4096], 10_000, |_, cut| {
                assert!(cut);
                false
            });
            assert!(framer.partial.len() <= 10_001 + 4096);
        }
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
