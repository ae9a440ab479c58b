//! Numbers for actions.

use crate::board::Cell;
use crate::wire::Fields;
use crate::{AnyGame, CellIndex};
use serde_json::{Value, json};

/// The most numbers of a game's actions, so that a mask fits into memory.
const NUMBERS_MAX: usize = 1 << 24;

/// What the rules need to tell a built-in game's action from its others: the place of its kind in [`Game::KINDS`] and
/// as many cells as the kind has.
///
/// [`Game::KINDS`]: crate::Game::KINDS
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActionKey {
    /// The place of its kind.
    pub kind: usize,
    /// Its cells.
    pub cells: [Cell; 2],
}

impl ActionKey {
    /// Returns a key without cells.
    pub fn of(kind: usize) -> Self {
        Self { kind, ..Self::default() }
    }

    /// Returns a key with one cell.
    pub fn at(kind: usize, [first, second]: [i64; 2]) -> Option<Self> {
        let cell = Cell(i8::try_from(first).ok()?, i8::try_from(second).ok()?);
        Some(Self { kind, cells: [cell, Cell::default()] })
    }

    /// Returns a key with the cells where an action begins and ends.
    pub fn between(kind: usize, from: [i64; 2], to: [i64; 2]) -> Option<Self> {
        let (from, to) = (Self::at(kind, from)?, Self::at(kind, to)?);
        Some(Self { kind, cells: [from.cells[0], to.cells[0]] })
    }
}

/// The numbers of a game's actions, from 0. Kinds follow each other; within a kind, the last field counts fastest.
#[derive(Clone, Debug)]
pub struct Numbering {
    index: CellIndex,
    kinds: Vec<NumberedKind>,
    total: usize,
}

/// A kind of action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedKind {
    /// The `type` of its actions.
    pub name: String,
    /// The number of its first action.
    pub first: usize,
    /// The fields that tell its actions apart.
    pub fields: Vec<NumberedField>,
}

/// A field of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedField {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: FieldValues,
    /// The number of values.
    pub count: usize,
}

/// The values of a field, in the order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValues {
    /// The cells of the board.
    Cells,
    /// Whole numbers from this one on.
    From(i64),
    /// These values.
    Listed(Vec<Value>),
}

impl FieldValues {
    fn count(&self, index: &CellIndex, wanted: Option<usize>) -> usize {
        match self {
            Self::Cells => index.cells.len(),
            // More than can be counted are too many.
            Self::From(_) => wanted.unwrap_or(usize::MAX),
            Self::Listed(values) => values.len(),
        }
    }
}

impl NumberedField {
    /// Creates a field. `count` is the number of values where they are whole numbers.
    pub(crate) fn new(
        name: &str,
        values: FieldValues,
        index: &CellIndex,
        count: Option<usize>,
    ) -> Self {
        let count = values.count(index, count);
        Self { name: name.to_owned(), values, count }
    }

    fn value(&self, digit: usize, index: &CellIndex) -> Value {
        match &self.values {
            FieldValues::Cells => json!(index.cells[digit].pair()),
            FieldValues::From(least) => json!(least + i64::try_from(digit).unwrap_or_default()),
            FieldValues::Listed(values) => values[digit].clone(),
        }
    }

    fn digit(&self, value: &Value, index: &CellIndex) -> Option<usize> {
        let digit = match &self.values {
            FieldValues::Cells => {
                let at = |place: usize| i8::try_from(value.get(place)?.as_i64()?).ok();
                index.number(Cell(at(0)?, at(1)?))
            }
            FieldValues::From(least) => usize::try_from(value.as_i64()?.checked_sub(*least)?).ok(),
            FieldValues::Listed(values) => values.iter().position(|it| it == value),
        };
        digit.filter(|digit| *digit < self.count)
    }
}

impl Numbering {
    /// Numbers the actions of a game. Fails if there are too many, or if they can't be told apart by a few numbers.
    pub fn new(game: &dyn AnyGame) -> Result<Self, String> {
        let index = CellIndex::new(&game.layout());
        let kinds = game.numbered_kinds(&index)?;
        Self::of_kinds(index, kinds)
    }

    fn of_kinds(index: CellIndex, mut kinds: Vec<NumberedKind>) -> Result<Self, String> {
        let mut total = 0_usize;
        for kind in &mut kinds {
            kind.first = total;
            let count = kind.count().filter(|count| *count <= NUMBERS_MAX - total);
            total += count.ok_or_else(|| {
                let name = &kind.name;
                format!("there are more than {NUMBERS_MAX} actions up to those of type `{name}`")
            })?;
        }
        Ok(Self { index, kinds, total })
    }

    /// The number of numbers; an action's is below it.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The kinds of action.
    pub fn kinds(&self) -> &[NumberedKind] {
        &self.kinds
    }

    /// The cells of the board.
    pub fn index(&self) -> &CellIndex {
        &self.index
    }

    /// Returns the number of a built-in game's action; `None` off the board.
    pub fn of_key(&self, key: ActionKey) -> Option<usize> {
        let kind = &self.kinds[key.kind];
        let cells = &key.cells[..kind.fields.len()];
        let digits = cells.iter().try_fold(0, |number, &cell| {
            Some(number * self.index.cells.len() + self.index.number(cell)?)
        });
        Some(kind.first + digits?)
    }

    /// Returns the key of a built-in game's action; `None` if no action has this number.
    pub fn key(&self, number: usize) -> Option<ActionKey> {
        let (place, kind) = self.kind_of(number)?;
        let mut key = ActionKey::of(place);
        let mut rest = number - kind.first;
        let cells = &self.index.cells;
        for cell in key.cells[..kind.fields.len()].iter_mut().rev() {
            (*cell, rest) = (cells[rest % cells.len()], rest / cells.len());
        }
        Some(key)
    }

    /// Returns the number of an action by its declared fields; `None` if it has others or is off the board.
    pub fn of_fields(&self, action: &Value) -> Option<usize> {
        let name = action.get("type")?.as_str()?;
        let kind = self.kinds.iter().find(|kind| kind.name == name)?;
        kind.fields
            .iter()
            .try_fold(0, |number, field| {
                Some(number * field.count + field.digit(action.get(&field.name)?, &self.index)?)
            })
            .map(|number| kind.first + number)
    }

    /// Returns the action with this number by its declared fields.
    pub fn fields(&self, number: usize) -> Option<Value> {
        let (kind, digits) = self.digits(number)?;
        let mut action = Fields::new();
        action.insert("type".to_owned(), kind.name.clone().into());
        for (field, digit) in kind.fields.iter().zip(digits) {
            action.insert(field.name.clone(), field.value(digit, &self.index));
        }
        Some(Value::Object(action))
    }

    /// Returns the number of each action after its cells have become others. `cells` has the number of the cell
    /// that each becomes.
    pub fn moved(&self, cells: &[usize]) -> Vec<usize> {
        let moved = |number: usize| {
            let (kind, digits) = self.digits(number).expect("there is an action");
            let digit = |(field, digit): (&NumberedField, usize)| match field.values {
                FieldValues::Cells => (field.count, cells[digit]),
                _ => (field.count, digit),
            };
            let digits = kind.fields.iter().zip(digits).map(digit);
            kind.first + digits.fold(0, |number, (count, digit)| number * count + digit)
        };
        (0..self.total).map(moved).collect()
    }

    /// Returns the kind of an action, and the number of the value of each of its fields.
    fn digits(&self, number: usize) -> Option<(&NumberedKind, Vec<usize>)> {
        let (_, kind) = self.kind_of(number)?;
        let mut rest = number - kind.first;
        let mut digits = vec![0; kind.fields.len()];
        for (digit, field) in digits.iter_mut().zip(&kind.fields).rev() {
            (*digit, rest) = (rest % field.count, rest / field.count);
        }
        Some((kind, digits))
    }

    /// Returns the kind of an action and its place.
    fn kind_of(&self, number: usize) -> Option<(usize, &NumberedKind)> {
        let kinds = self.kinds.iter().enumerate();
        kinds.rev().find(|(_, kind)| kind.first <= number).filter(|_| number < self.total)
    }
}

impl NumberedKind {
    /// Creates a kind whose first number is not known yet.
    pub(crate) fn new(name: &str, fields: Vec<NumberedField>) -> Self {
        Self { name: name.to_owned(), first: 0, fields }
    }

    /// Returns the kind of a built-in game's actions that this many cells tell apart.
    pub(crate) fn of_cells(name: &str, cells: usize, index: &CellIndex) -> Self {
        let names: &[&str] = if cells == 1 { &["at"] } else { &["from", "to"] };
        let field = |name: &&str| NumberedField::new(name, FieldValues::Cells, index, None);
        Self::new(name, names.iter().take(cells).map(field).collect())
    }

    /// The number of its actions; `None` if they can't be counted.
    pub fn count(&self) -> Option<usize> {
        self.fields.iter().try_fold(1_usize, |all, field| all.checked_mul(field.count))
    }
}
