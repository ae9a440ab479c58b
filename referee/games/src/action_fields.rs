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
                let list = take(&mut rest, '[', ']', numbers)?;
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
        let (first, second) = self.0.split_once(',')?;
        Some([number(first)?, number(second)?])
    }

    /// Returns the numbers of a list of at least one.
    pub fn all(self) -> Option<Vec<i64>> {
        self.0.split(',').map(number).collect()
    }
}

/// Takes a quoted name of lower-case letters and underscores from the beginning of a text.
fn take_name<'a>(rest: &mut &'a str) -> Option<&'a str> {
    take(rest, '"', '"', |byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Takes what is between these characters from the beginning of a text: bytes, at least one, that are
/// `plain`.
fn take<'a>(
    rest: &mut &'a str,
    open: char,
    close: char,
    plain: impl Fn(u8) -> bool,
) -> Option<&'a str> {
    let (found, after) = rest.strip_prefix(open)?.split_once(close)?;
    *rest = after;
    (!found.is_empty() && found.bytes().all(plain)).then_some(found)
}

/// Parses a JSON integer of at most nine digits; longer ones are left to serde.
fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = digits.len() <= 9 && digits.bytes().all(|byte| byte.is_ascii_digit());
    // JSON has no leading zeros, and serde reads -0 as a float.
    let has_zero = digits.starts_with('0') && text != "0";
    text.parse().ok().filter(|_| is_plain && !has_zero)
}
