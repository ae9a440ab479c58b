//! The syntax of SGF: games are trees of nodes, and nodes have properties with values. Parsing
//! doesn't recurse, so that no text is too deep.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

/// A place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    line: usize,
    column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A property's value, without its escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) text: String,
    /// The place of its opening bracket.
    pub(super) at: Place,
}

/// A property; it has at least one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Property {
    /// In upper case.
    pub(super) name: String,
    pub(super) values: Vec<Value>,
}

/// The properties of a node, in order.
pub(super) type Node = Vec<Property>;

/// A game without its variations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MainLine {
    /// At least one.
    pub(super) nodes: Vec<Node>,
    pub(super) has_variations: bool,
    /// The number of games in the text.
    pub(super) games: usize,
}

/// What came before the next character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// The start of the text or the end of a game.
    Game,
    /// The opening of a tree.
    Opening,
    /// A node, or a part of it.
    Node,
    /// The end of a variation.
    Variation,
}

/// Reads the main line of game `number`, from 1, and checks the syntax of all games.
pub(super) fn main_line(text: &str, number: usize) -> Result<MainLine, String> {
    let mut scanner = Scanner::new(text);
    let mut line = MainLine { nodes: Vec::new(), has_variations: false, games: 0 };
    let mut depth = 0usize;
    let mut after = After::Game;
    // The main line is everything before the game's first closing parenthesis.
    let mut takes = false;
    loop {
        scanner.skip_spaces();
        let at = scanner.at;
        let Some(ch) = scanner.next() else { break };
        match (after, ch) {
            (After::Game | After::Node | After::Variation, '(') => {
                if after == After::Game {
                    line.games += 1;
                    takes = line.games == number;
                }
                line.has_variations |= after == After::Variation && line.games == number;
                depth += 1;
                after = After::Opening;
            }
            (After::Opening | After::Node, ';') => {
                if takes {
                    line.nodes.push(Node::new());
                }
                after = After::Node;
            }
            (After::Node | After::Variation, ')') => {
                takes = false;
                depth -= 1;
                after = if depth == 0 { After::Game } else { After::Variation };
            }
            (After::Node, first) if first.is_ascii_alphabetic() => {
                let property = scanner.property(first)?;
                if let Some(node) = line.nodes.last_mut().filter(|_| takes) {
                    node.push(property);
                }
            }
            (after, ch) => return Err(format!("{at}: expected {}, got {ch:?}", after.next())),
        }
    }
    let at = scanner.at;
    match line.games {
        _ if depth > 0 => {
            Err(format!("{at}: the text ends within a game: expected {}", after.next()))
        }
        0 => Err(format!("{at}: the text has no game: expected {}", after.next())),
        games if number == 0 || games < number => {
            Err(format!("there is no game {number}: the text has games 1 to {games}"))
        }
        _ => Ok(line),
    }
}

impl After {
    /// Returns what may come next.
    fn next(self) -> &'static str {
        match self {
            Self::Game => "`(`, where a game begins",
            Self::Opening => "`;`, where a node begins",
            Self::Node => "a property, `;`, `(` or `)`",
            Self::Variation => "`(` or `)`",
        }
    }
}

struct Scanner<'a> {
    chars: Peekable<Chars<'a>>,
    /// The place of the next character.
    at: Place,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { chars: text.chars().peekable(), at: Place { line: 1, column: 1 } }
    }

    /// Returns the next character; each of the four line endings is one line feed.
    fn next(&mut self) -> Option<char> {
        let ch = self.chars.next()?;
        let partner = match ch {
            '\n' => '\r',
            '\r' => '\n',
            _ => {
                self.at.column += 1;
                return Some(ch);
            }
        };
        self.chars.next_if_eq(&partner);
        self.at = Place { line: self.at.line + 1, column: 1 };
        Some('\n')
    }

    fn skip_spaces(&mut self) {
        while self.chars.peek().is_some_and(|ch| ch.is_whitespace()) {
            self.next();
        }
    }

    /// Reads a property whose first letter was read. Lower-case letters are ignored: old versions
    /// wrote `Black` for `B`.
    fn property(&mut self, first: char) -> Result<Property, String> {
        let mut name = String::from(first);
        while let Some(letter) = self.chars.next_if(char::is_ascii_alphabetic) {
            self.at.column += 1;
            name.push(letter);
        }
        let capitals: String = name.chars().filter(char::is_ascii_uppercase).collect();
        let name = if capitals.is_empty() { name.to_ascii_uppercase() } else { capitals };
        let mut values = Vec::new();
        loop {
            self.skip_spaces();
            if self.chars.peek() != Some(&'[') {
                break;
            }
            values.push(self.value()?);
        }
        if values.is_empty() {
            let at = self.at;
            return Err(match self.next() {
                Some(ch) => format!("{at}: expected `[` after the property {name}, got {ch:?}"),
                None => format!("{at}: the text ends after the property {name}: expected `[`"),
            });
        }
        Ok(Property { name, values })
    }

    /// Reads a value whose bracket is next.
    fn value(&mut self) -> Result<Value, String> {
        let at = self.at;
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                None => {
                    return Err(format!("{at}: this value has no end: expected `]`"));
                }
                Some(']') => return Ok(Value { text, at }),
                // A line end after a backslash is dropped.
                Some('\\') => text.extend(self.next().filter(|&ch| ch != '\n')),
                Some(ch) => text.push(ch),
            }
        }
    }
}
