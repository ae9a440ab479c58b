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
        let mut rest = text.strip_prefix('{')?;
        loop {
            let name = take_name(&mut rest)?;
            rest = rest.strip_prefix(':')?;
            if name != "type" {
                let numbers = |byte| matches!(byte, b'0'..=b'9' | b',' | b'-');
                let list = take(&mut rest, b'[', b']', numbers)?;
                *quick.fields.get_mut(quick.count)? = (name, NumberList(list));
                quick.count += 1;
            } else if quick.kind.is_empty() {
                quick.kind = take_name(&mut rest)?;
            } else {
                return None;
            }
            match rest.strip_prefix(',') {
                Some(more) => rest = more,
                None => return (rest == "}" && !quick.kind.is_empty()).then_some(quick),
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
        let mut numbers = self.numbers();
        let pair = [numbers.next()??, numbers.next()??];
        numbers.next().is_none().then_some(pair)
    }

    /// Returns the numbers of a list of at least one.
    pub fn all(self) -> Option<Vec<i64>> {
        self.numbers().collect()
    }

    fn numbers(&self) -> impl Iterator<Item = Option<i64>> {
        self.0.as_bytes().split(|&byte| byte == b',').map(number)
    }
}

/// Takes a quoted name of lower-case letters and underscores from the beginning of a text.
fn take_name<'a>(rest: &mut &'a str) -> Option<&'a str> {
    take(rest, b'"', b'"', |byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Takes what is between these characters from the beginning of a text: bytes, at least one, that are
/// `plain`.
fn take<'a>(
    rest: &mut &'a str,
    open: u8,
    close: u8,
    plain: impl Fn(u8) -> bool,
) -> Option<&'a str> {
    let (&first, bytes) = rest.as_bytes().split_first()?;
    let end = 1 + bytes.iter().position(|&byte| !plain(byte))?;
    let ends = first == open && end > 1 && bytes[end - 1] == close;
    let found = ends.then(|| &rest[1..end]);
    *rest = rest.get(end + 1..)?;
    found
}

/// Parses a JSON integer of at most nine digits; longer ones are left to serde.
fn number(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    // JSON has no leading zeros, and serde reads -0 as a float.
    if !(1..=9).contains(&digits.len()) || (digits[0] == b'0' && text != b"0") {
        return None;
    }
    let value = digits.iter().try_fold(0, |value, digit| {
        digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0'))
    })?;
    Some(if digits.len() < text.len() { -value } else { value })
}
