//! JSON values: [`Json::read`] makes one from text, [`fmt::Display`] makes text again.

use std::fmt::{self, Write};

const DEPTH_MAX: usize = 500;
static NULL: Json = Json::Null;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// As it was written, so that every digit is kept.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a text that is one value.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut reader = Reader { text, at: 0 };
        match reader.value(0) {
            Some(value) if reader.peek().is_none() => Ok(value),
            _ => Err(format!("no JSON at byte {}", reader.at)),
        }
    }

    /// The field of an object; null where there is none.
    pub fn get(&self, key: &str) -> &Json {
        let Self::Object(fields) = self else { return &NULL };
        fields.iter().find(|(name, _)| name == key).map_or(&NULL, |(_, value)| value)
    }

    /// What is in a list; nothing in what is none.
    pub fn items(&self) -> &[Json] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// What a text says; nothing in what is none.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    /// A number's value; not a number in what is none.
    pub fn number(&self) -> f64 {
        match self {
            Self::Number(digits) => digits.parse().unwrap_or(f64::NAN),
            _ => f64::NAN,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

/// Each part reads on from `at`, and is `None` where the text isn't what it must be.
impl Reader<'_> {
    /// The next byte that is no space, which is left where it is.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text[self.at..].trim_start_matches([' ', '\t', '\r', '\n']);
        self.at = self.text.len() - rest.len();
        rest.bytes().next()
    }

    fn take(&mut self, wanted: &str) -> Option<()> {
        self.peek();
        self.text[self.at..].starts_with(wanted).then(|| self.at += wanted.len())
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > DEPTH_MAX {
            return None;
        }
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'"' => self.string().map(Json::Text),
            b't' => self.take("true").map(|()| Json::Bool(true)),
            b'f' => self.take("false").map(|()| Json::Bool(false)),
            b'n' => self.take("null").map(|()| Json::Null),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        let mut fields = Vec::new();
        self.take("{")?;
        while self.take("}").is_none() {
            if !fields.is_empty() {
                self.take(",")?;
            }
            let name = self.string()?;
            self.take(":")?;
            fields.push((name, self.value(depth + 1)?));
        }
        Some(Json::Object(fields))
    }

    fn list(&mut self, depth: usize) -> Option<Json> {
        let mut items = Vec::new();
        self.take("[")?;
        while self.take("]").is_none() {
            if !items.is_empty() {
                self.take(",")?;
            }
            items.push(self.value(depth + 1)?);
        }
        Some(Json::List(items))
    }

    fn number(&mut self) -> Option<Json> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !"+-.eE0123456789".contains(c)).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then(|| Json::Number(rest[..end].to_owned()))
    }

    fn string(&mut self) -> Option<String> {
        self.take("\"")?;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(['"', '\\'])?;
            out.push_str(&rest[..plain]);
            self.at += plain + 1;
            if rest[plain..].starts_with('"') {
                return Some(out);
            }
            out.push(self.escaped()?);
        }
    }

    /// What follows a backslash.
    fn escaped(&mut self) -> Option<char> {
        let letter = self.text[self.at..].chars().next()?;
        self.at += letter.len_utf8();
        Some(match letter {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.unit()?;
                // What UTF-16 needs two units for comes as two escapes.
                let mut units = vec![first];
                if (0xD800..0xDC00).contains(&first) && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    units.push(self.unit()?);
                }
                char::decode_utf16(units).next()?.unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => other,
        })
    }

    fn unit(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        u16::from_str_radix(digits, 16).ok()
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(digits) => f.write_str(digits),
            Self::Text(text) => quote(f, text),
            Self::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index == 0 { "[" } else { "," })?;
                }
                f.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Self::Object(fields) => {
                for (index, (name, value)) in fields.iter().enumerate() {
                    f.write_char(if index == 0 { '{' } else { ',' })?;
                    quote(f, name)?;
                    write!(f, ":{value}")?;
                }
                f.write_str(if fields.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

fn quote(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\0'..='\u{1f}' => write!(f, "\\u{:04x}", u32::from(c))?,
            _ => f.write_char(c)?,
        }
    }
    f.write_char('"')
}
