//! JSON without a library: a value is the text in which it was written, and you look into it as
//! far as you need.

use std::fmt;

/// A value. The referee writes valid JSON, so only the ends of its parts are looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Json<'a>(pub &'a str);

impl<'a> Json<'a> {
    /// Returns the field of an object; null if there is none.
    pub fn get(self, key: &str) -> Self {
        let parts = self.parts('{');
        let mut fields = parts.chunks_exact(2);
        fields.find(|field| field[0].text() == key).map_or(Json("null"), |field| field[1])
    }

    /// Returns the items of a list; nothing for any other value.
    pub fn items(self) -> Vec<Self> {
        self.parts('[')
    }

    /// Returns the value of a number; "not a number" for any other value.
    pub fn number(self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Returns the characters of a text; nothing for any other value.
    pub fn text(self) -> String {
        let inside = self.0.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let mut units = Vec::new();
        let mut rest = inside.unwrap_or_default().chars();
        while let Some(c) = rest.next() {
            let unit = match if c == '\\' { rest.next() } else { None } {
                None => c,
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('u') => {
                    let digits: String = rest.by_ref().take(4).collect();
                    units.extend(u16::from_str_radix(&digits, 16));
                    continue;
                }
                Some(other) => other,
            };
            units.extend_from_slice(unit.encode_utf16(&mut [0; 2]));
        }
        String::from_utf16_lossy(&units)
    }

    /// Returns the parts of an object or a list, without what separates them: of an object a key,
    /// its value, the next key, and so on.
    fn parts(self, open: char) -> Vec<Self> {
        let mut parts = Vec::new();
        let Some(inside) = self.0.trim().strip_prefix(open) else { return parts };
        let (mut depth, mut start, mut in_text, mut escaped) = (0, 0, false, false);
        for (at, byte) in inside.bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_text = !in_text,
                _ if in_text => {}
                b'{' | b'[' => depth += 1,
                b',' | b':' | b'}' | b']' if depth == 0 => {
                    parts.push(Json(inside[start..at].trim()));
                    start = at + 1;
                }
                b'}' | b']' => depth -= 1,
                _ => {}
            }
        }
        // What is empty has no parts.
        parts.retain(|part| !part.0.is_empty());
        parts
    }
}

/// Writes the value as it was written, so that every digit is kept.
impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
