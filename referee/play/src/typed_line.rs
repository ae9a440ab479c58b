//! A line that a person types, at the terminal with Tab to complete it. The terminal itself still edits and echoes, and
//! makes signals of keys: Tab and the key that erases only end a part of the line, as Enter ends all of it.

use nix::libc::_POSIX_VDISABLE;
use nix::sys::termios::{
    LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr,
};
use referee_process::lock::lock;
use std::io::{self, BufRead, IsTerminal, Write, stderr, stdin};
use std::os::fd::AsFd;
use std::sync::Mutex;

/// What Backspace sends, unless the terminal says something else.
const DELETE: u8 = 0x7f;
/// Moves to the begin of the row, and clears it.
const CLEAR: &str = "\r\x1b[K";
const BELL: &str = "\x07";

/// The settings of the terminal as they were, while it reads a line.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// The keys that end a part of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    erase: u8,
}

impl Keys {
    /// Sets up the terminal, until [`give_back`] is called; `None` if there is none.
    pub(crate) fn take() -> Option<Self> {
        let stdin = stdin();
        if !stdin.is_terminal() || !stderr().is_terminal() {
            return None;
        }
        let before = tcgetattr(stdin.as_fd()).ok()?;
        let mut settings = before.clone();
        let is_usual = LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::IEXTEN;
        if !settings.local_flags.contains(is_usual) {
            return None;
        }
        let keys = &mut settings.control_chars;
        let erase = match keys[SpecialCharacterIndices::VERASE as usize] {
            _POSIX_VDISABLE => DELETE,
            erase => erase,
        };
        keys[SpecialCharacterIndices::VERASE as usize] = _POSIX_VDISABLE;
        keys[SpecialCharacterIndices::VEOL as usize] = b'\t';
        keys[SpecialCharacterIndices::VEOL2 as usize] = erase;
        lock(&BEFORE).get_or_insert(before);
        tcsetattr(stdin.as_fd(), SetArg::TCSANOW, &settings).ok()?;
        Some(Self { erase })
    }
}

/// Restores the terminal, perhaps while a line is still read that nobody waits for.
pub(crate) fn give_back() {
    if let Some(before) = lock(&BEFORE).take() {
        tcsetattr(stdin().as_fd(), SetArg::TCSANOW, &before).ok();
    }
}

/// Reads a line; `None` at the end of the input. With `keys`, Tab completes what is typed to one of the texts that
/// `known` returns, or lists those that begin with it.
pub(crate) fn read(
    input: &mut impl BufRead,
    output: &mut impl Write,
    prompt: &str,
    keys: Option<Keys>,
    known: impl Fn() -> Vec<String>,
) -> io::Result<Option<String>> {
    let ends = match keys {
        Some(Keys { erase }) => vec![b'\n', b'\t', erase],
        None => vec![b'\n'],
    };
    let mut typed = String::new();
    write!(output, "{prompt}")?;
    loop {
        output.flush()?;
        let end = read_part(input, &ends, &mut typed)?;
        match end {
            Some(b'\n') => return Ok(Some(typed)),
            Some(b'\t') => {
                let (more, others) = completed(&typed, &known());
                if more == typed {
                    write!(output, "{BELL}")?;
                }
                if !others.is_empty() {
                    write!(output, "{CLEAR}{}\r\n", others.join("  "))?;
                }
                typed = more;
            }
            Some(_) => drop(typed.pop()),
            None if keys.is_none() && !typed.is_empty() => return Ok(Some(typed)),
            None if typed.is_empty() => return Ok(None),
            // The end of a line that is in parts: the next end is that of the input.
            None => typed.clear(),
        }
        write!(output, "{CLEAR}{prompt}{typed}")?;
    }
}

/// Adds what comes before one of these bytes, and returns that byte; `None` at the end.
fn read_part(input: &mut impl BufRead, ends: &[u8], typed: &mut String) -> io::Result<Option<u8>> {
    let mut part = Vec::new();
    let end = loop {
        let bytes = input.fill_buf()?;
        let found = bytes.iter().position(|byte| ends.contains(byte));
        part.extend_from_slice(&bytes[..found.unwrap_or(bytes.len())]);
        let end = found.map(|at| bytes[at]);
        let (read, is_over) = (found.map_or(bytes.len(), |at| at + 1), bytes.is_empty());
        input.consume(read);
        if end.is_some() || is_over {
            break end;
        }
    };
    typed.push_str(&String::from_utf8_lossy(&part));
    Ok(end)
}

/// Returns as much as all texts that begin with `typed` share, and these texts if that is no more.
fn completed(typed: &str, known: &[String]) -> (String, Vec<String>) {
    let matching: Vec<&String> = known.iter().filter(|text| text.starts_with(typed)).collect();
    let Some((first, others)) = matching.split_first() else {
        return (typed.to_owned(), Vec::new());
    };
    let shared = others.iter().fold(first.as_str(), |shared, other| {
        let same = shared.chars().zip(other.chars()).take_while(|(one, other)| one == other);
        &shared[..same.map(|(one, _)| one.len_utf8()).sum()]
    });
    let is_more = shared.len() > typed.len() || others.is_empty();
    let listed = if is_more { Vec::new() } else { matching.into_iter().cloned().collect() };
    (shared.to_owned(), listed)
}

#[cfg(test)]
mod tests {
    use super::{Keys, completed, read};

    const KNOWN: [&str; 4] = ["roll", "hold 1", "hold 12", "hé"];

    fn known() -> Vec<String> {
        KNOWN.map(str::to_owned).into()
    }

    fn typed(input: &str, keys: Option<Keys>) -> (Option<String>, String) {
        let mut output = Vec::new();
        let line = read(&mut input.as_bytes(), &mut output, "> ", keys, known).unwrap();
        (line, String::from_utf8(output).unwrap())
    }

    #[test]
    fn tab_completes_what_is_listed() {
        for (text, more, listed) in [
            ("r", "roll", &[][..]),
            ("roll", "roll", &[]),
            ("x", "x", &[]),
            ("ho", "hold 1", &[]),
            ("hold 1", "hold 1", &["hold 1", "hold 12"]),
            ("h", "h", &["hold 1", "hold 12", "hé"]),
            ("", "", &KNOWN),
        ] {
            assert_eq!(
                completed(text, &known()),
                (more.to_owned(), listed.iter().map(|&it| it.to_owned()).collect())
            );
        }
    }

    #[test]
    fn keys_end_parts_of_a_line() {
        let keys = Some(Keys { erase: 0x7f });
        let line = |input| typed(input, keys).0;
        assert_eq!(line("r\t\n").as_deref(), Some("roll"));
        assert_eq!(line("ho\t2\n").as_deref(), Some("hold 12"));
        // A completed text can be erased, and what is typed after it.
        assert_eq!(line("r\tx\u{7f}\u{7f}\u{7f}\n").as_deref(), Some("ro"));
        assert_eq!(line("\u{7f}é\u{7f}a\n").as_deref(), Some("a"));
        assert_eq!(line(""), None);
        assert_eq!(line("r\t"), None);
        let (_, output) = typed("h\tx\n", keys);
        assert_eq!(output, "> \x07\r\x1b[Khold 1  hold 12  hé\r\n\r\x1b[K> h");
    }

    #[test]
    fn what_is_piped_has_no_keys() {
        assert_eq!(typed("r\t\n", None), (Some("r\t".to_owned()), "> ".to_owned()));
        assert_eq!(typed("roll", None).0.as_deref(), Some("roll"));
    }
}
