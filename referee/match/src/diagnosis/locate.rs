//! Finding the place of a field in a line of JSON.

use serde::de::IgnoredAny;

/// Returns the index of the byte at which the value of `path`, such as `action.path[2]`, begins. An
/// empty path is the whole value. `None` if the line has no such field.
pub(super) fn locate(line: &str, path: &str) -> Option<usize> {
    let mut scan = Scan { bytes: line.as_bytes(), at: 0 };
    scan.space();
    // `a.b[2]` is `a`, `b`, 2.
    for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
        match step.strip_suffix(']').and_then(|digits| digits.parse().ok()) {
            Some(index) => scan.enter_item(index)?,
            None => scan.enter_field(step)?,
        };
    }
    Some(scan.at)
}

/// Returns the byte, from 1, of a key in the object at `path`.
pub(super) fn locate_key(line: &str, path: &str, key: &str) -> Option<usize> {
    let mut scan = Scan { bytes: line.as_bytes(), at: locate(line, path)? };
    scan.enter_field(key).map(|index| index + 1)
}

/// A place in well-formed JSON.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Takes this byte with the space around it, if it is next.
    fn take(&mut self, byte: u8) -> Option<()> {
        self.space();
        if self.peek() != Some(byte) {
            return None;
        }
        self.at += 1;
        self.space();
        Some(())
    }

    /// Moves to a field's value and returns where its key begins.
    fn enter_field(&mut self, key: &str) -> Option<usize> {
        self.take(b'{')?;
        loop {
            let begin = self.at;
            self.skip()?;
            let read: String = serde_json::from_slice(&self.bytes[begin..self.at]).ok()?;
            self.take(b':')?;
            if read == key {
                return Some(begin);
            }
            self.skip()?;
            self.take(b',')?;
        }
    }

    /// Moves to an item of an array.
    fn enter_item(&mut self, index: usize) -> Option<usize> {
        self.take(b'[')?;
        for _ in 0..index {
            self.skip()?;
            self.take(b',')?;
        }
        (self.peek()? != b']').then_some(self.at)
    }

    /// Skips a value and the space after it.
    fn skip(&mut self) -> Option<()> {
        let rest = serde_json::Deserializer::from_slice(&self.bytes[self.at..]);
        let mut values = rest.into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        self.at += values.byte_offset();
        self.space();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{locate, locate_key};

    #[test]
    fn a_path_leads_to_its_value() {
        let line = r#" {"a": [1, {"b,]": "x\"}"}, [2]] , "c":{"d":7}}"#;
        for (path, wanted) in [
            ("", "{\"a\""),
            ("a", "[1"),
            ("a[0]", "1,"),
            ("a[1]", "{\"b,]\""),
            ("a[1].b,]", "\"x"),
            ("a[2][0]", "2]"),
            ("c.d", "7}"),
        ] {
            let index = locate(line, path).unwrap_or_else(|| panic!("{path}"));
            assert!(line[index..].starts_with(wanted), "{path}: {}", &line[index..]);
        }
        for path in ["b", "a[3]", "c.e", "c.d.e", "a.b"] {
            assert_eq!(locate(line, path), None, "{path}");
        }
        assert_eq!(locate_key(line, "c", "d"), line.find("\"d\"").map(|index| index + 1));
    }
}
