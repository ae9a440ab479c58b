//! A fast parser for the usual form of an action: a type and one or two lists of whole numbers. A
//! replay reads millions of them, and serde's derived readers buffer an object until they have seen
//! its `type`, which costs more than playing the action. Any other form is left to serde, so that
//! both accept the same actions.

/// The fields of an action that looks like `{"from":[1,2],"to":[3,4],"type":"move"}`: no spaces,
/// each field once, `type` anywhere.
#[derive(Clone, Copy, Debug)]
pub struct ActionFields<'a> {
    kind: &'a str,
    fields: [(&'a str, NumberList<'a>); 2],
    count: usize,
}

/// The text between the brackets of a list: digits, commas and minus signs, in any order.
#[derive(Clone, Copy, Debug, Default)]
pub struct NumberList<'a>(&'a str);

impl<'a> ActionFields<'a> {
    /// Parses an action's JSON; `None` if it has another form.
    pub fn read(text: &'a str) -> Option<Self> {
        let mut quick = Self { kind: "", fields: <[_; 2]>::default(), count: 0 };
        let mut cursor = Cursor { text, at: 0 };
        cursor.pass(b'{')?;
        loop {
            let name = cursor.name()?;
            cursor.pass(b':')?;
            if name != "type" {
                *quick.fields.get_mut(quick.count)? = (name, cursor.numbers()?);
                quick.count += 1;
            } else if quick.kind.is_empty() {
                quick.kind = cursor.name()?;
            } else {
                return None;
            }
            if cursor.pass(b',').is_none() {
                cursor.pass(b'}')?;
                let is_whole = cursor.at == text.len() && !quick.kind.is_empty();
                return is_whole.then_some(quick);
            }
        }
    }

    /// Returns the action's type.
    pub fn kind(&self) -> &'a str {
        self.kind
    }

    /// Returns the lists of exactly these fields; `None` if one is missing or another exists.
    pub fn fields<const N: usize>(&self, names: [&str; N]) -> Option<[NumberList<'a>; N]> {
        let fields = &self.fields[..self.count];
        let mut lists = [NumberList(""); N];
        if fields.len() != N {
            return None;
        }
        for (list, name) in lists.iter_mut().zip(names) {
            *list = fields.iter().find(|(other, _)| *other == name)?.1;
        }
        Some(lists)
    }
}

impl NumberList<'_> {
    /// Returns the numbers of a list of exactly two.
    pub fn pair(self) -> Option<[i64; 2]> {
        let mut cursor = Cursor { text: self.0, at: 0 };
        let first = cursor.number()?;
        cursor.pass(b',')?;
        let second = cursor.number()?;
        (cursor.at == self.0.len()).then_some([first, second])
    }

    /// Returns the numbers of a list of at least one.
    pub fn all(self) -> Option<Vec<i64>> {
        let mut cursor = Cursor { text: self.0, at: 0 };
        let mut numbers = vec![cursor.number()?];
        while cursor.pass(b',').is_some() {
            numbers.push(cursor.number()?);
        }
        (cursor.at == self.0.len()).then_some(numbers)
    }
}

/// A position in a text that is read byte by byte.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn pass(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Returns the bytes, at least one, that are `plain`, and passes the `end` behind them.
    fn until(&mut self, end: u8, plain: impl Fn(u8) -> bool) -> Option<&'a str> {
        let start = self.at;
        while self.peek().is_some_and(&plain) {
            self.at += 1;
        }
        let found = self.text.get(start..self.at)?;
        self.pass(end)?;
        (!found.is_empty()).then_some(found)
    }

    /// Reads a quoted name of lower-case letters and underscores.
    fn name(&mut self) -> Option<&'a str> {
        self.pass(b'"')?;
        self.until(b'"', |byte| byte.is_ascii_lowercase() || byte == b'_')
    }

    /// Reads a list of possible numbers.
    fn numbers(&mut self) -> Option<NumberList<'a>> {
        self.pass(b'[')?;
        self.until(b']', |byte| matches!(byte, b'0'..=b'9' | b',' | b'-')).map(NumberList)
    }

    /// Reads a JSON integer of at most nine digits; longer ones are left to serde.
    fn number(&mut self) -> Option<i64> {
        let is_negative = self.pass(b'-').is_some();
        let start = self.at;
        let mut number = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number * 10 + i64::from(digit - b'0');
            self.at += 1;
            if self.at - start > 9 {
                return None;
            }
        }
        // JSON has no leading zeros, and serde reads -0 as a float.
        let begins_with_zero = self.text.as_bytes().get(start) == Some(&b'0');
        let is_zero = begins_with_zero && self.at - start == 1 && !is_negative;
        if self.at == start || (begins_with_zero && !is_zero) {
            return None;
        }
        Some(if is_negative { -number } else { number })
    }
}
