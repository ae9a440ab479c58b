//! The declared fields of setups and actions: checked before the rules see them, and written as text.

use crate::about::intern;
use crate::any::nearest;
use crate::board::{Cell, Points};
use crate::picture::kinds;
use crate::view::Kind;
use crate::wire::{
    ActionForm, CellNames, Coordinates, Described, FieldForm, Fields, SetupForm, Values,
};
use crate::{CellIndex, FieldValues, NumberedField, NumberedKind};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The most cells in a list.
const CELLS_MAX: usize = 1000;
/// The most cells of a list, and the most whole numbers from the smallest, of which a guess is made.
const GUESSED_CELLS: usize = 4;
const GUESSED_SPAN: u64 = 1000;
/// The most rows and columns in which a cell is guessed where the board is only a text.
const GUESSED_SIDE: usize = 12;

/// What a game program has declared.
#[derive(Debug)]
pub(crate) struct Forms {
    setup: Vec<SetupForm>,
    actions: Vec<(ActionForm, Vec<Part>)>,
    pub(crate) kinds: Arc<[Kind]>,
    names_of_kinds: Vec<&'static str>,
    pub(crate) names: CellNames,
}

/// Checks that things of one kind have names, and no two the same.
fn distinct<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut known = BTreeSet::new();
    match names.into_iter().find(|name| name.is_empty() || !known.insert(*name)) {
        Some(name) if name.is_empty() => Err(format!("one of the {what} has no name")),
        Some(name) => Err(format!("two of the {what} are named `{name}`")),
        None => Ok(()),
    }
}

/// Checks the names of what is declared, and the numbers of seats.
fn check_declared(described: &Described) -> Result<(), String> {
    let Described { seats, setup, actions, pieces, reasons, .. } = described;
    distinct("setup fields", setup.iter().map(|field| &field.name))?;
    distinct("forms of actions", actions.iter().map(|form| &form.kind))?;
    distinct("pieces", pieces.iter().map(|piece| &piece.name))?;
    distinct("reasons", reasons.iter().map(|reason| &reason.name))?;
    for form in actions {
        distinct(
            &format!("fields of `{}`", form.kind),
            form.fields.iter().map(|field| &field.name),
        )?;
        if form.fields.iter().any(|field| field.name == "type") {
            let kind = &form.kind;
            return Err(format!(
                "a field of `{kind}` is named `type`, which every action has: rename it"
            ));
        }
    }
    let values = setup.iter().map(|field| (&field.name, &field.values));
    let of_actions = actions.iter().flat_map(|form| &form.fields);
    let mut values = values.chain(of_actions.map(|field| (&field.name, &field.values)));
    if let Some((name, _)) = values.find(|(_, values)| values.are_none()) {
        return Err(format!("the field `{name}` can have no value"));
    }
    if setup.iter().any(|field| field.name == "position") {
        return Err("a setup field is named `position`, in which every setup may have a state to begin in: rename it"
            .to_owned());
    }
    if seats.is_empty() || seats.contains(&0) {
        return Err(format!("`seats` is {seats:?}, and must list numbers from 1"));
    }
    let chooses =
        |it: &SetupForm| it.name == "seats" && matches!(it.values, Values::Integer { .. });
    if seats.len() > 1 && !setup.iter().any(chooses) {
        return Err(format!(
            "`seats` is {seats:?}, so the setup needs an integer field `seats` that chooses one"
        ));
    }
    Ok(())
}

/// Checks the names of points: each is another word, which the text of an action can hold.
fn check_names(names: &CellNames) -> Result<(), String> {
    let CellNames::Points(names) = names else { return Ok(()) };
    let is_word = |name: &str| {
        (1..=Points::NAME_MAX).contains(&name.len())
            && name.bytes().all(|it| it.is_ascii_alphanumeric())
    };
    for (number, name) in names.iter().enumerate() {
        if !is_word(name) || names[..number].contains(name) {
            return Err(format!(
                "`labels`: {name:?} is not 1 to {} letters and digits, or is there twice",
                Points::NAME_MAX
            ));
        }
    }
    if names.is_empty() || names.len() > Points::MAX {
        return Err(format!("`labels` needs 1 to {} names", Points::MAX));
    }
    Ok(())
}

pub(crate) fn not_described(piece: &str) -> String {
    format!("the piece `{piece}` is not described")
}

/// A part of an action's text form.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Field(String),
}

impl Forms {
    /// Takes what was declared. Fails if it contradicts itself.
    pub(crate) fn new(described: Described) -> Result<Self, String> {
        check_declared(&described)?;
        let Described { setup, actions, pieces, labels: names, .. } = described;
        for field in &setup {
            if let Err(text) = field.values.check(&field.default) {
                return Err(format!("the default of the setup field `{}`: {text}", field.name));
            }
        }
        let kinds = kinds(&pieces)?;
        check_names(&names)?;
        let with_parts = actions.into_iter().map(|form| {
            let parts = parts(&form)?;
            Ok((form, parts))
        });
        let actions = with_parts.collect::<Result<Vec<_>, String>>()?;
        let names_of_kinds = pieces.iter().map(|piece| intern(&piece.name)).collect();
        let forms = Self { setup, actions, kinds, names_of_kinds, names };
        for (form, _) in &forms.actions {
            let example = forms.action(&form.example);
            let read =
                example.and_then(|example| Ok((forms.parse(&forms.format(&example))?, example)));
            match read {
                Err(text) => return Err(format!("the example of `{}`: {text}", form.kind)),
                Ok((again, example)) if again != example => {
                    return Err(format!(
                        "the example of `{}` has the text `{}`, which reads as {again}",
                        form.kind,
                        forms.format(&example)
                    ));
                }
                Ok(_) => {}
            }
        }
        Ok(forms)
    }

    /// Returns the name of a piece, as long as the process lives.
    pub(crate) fn name_of(&self, piece: &str) -> Result<&'static str, String> {
        let found = self.names_of_kinds.iter().copied().find(|name| *name == piece);
        found.ok_or_else(|| not_described(piece))
    }

    /// Checks a setup, and fills in the defaults.
    pub(crate) fn setup(&self, setup: &Value) -> Result<Fields, String> {
        let Value::Object(given) = setup else {
            return Err(format!("expected an object, got {setup}"));
        };
        let known = || self.setup.iter().map(|field| field.name.as_str());
        if let Some(unknown) = given.keys().find(|key| known().all(|name| name != key.as_str())) {
            let hint = nearest(unknown, known()).map(|name| format!("; did you mean `{name}`?"));
            return Err(format!("unknown field `{unknown}`{}", hint.unwrap_or_default()));
        }
        let whole = self.setup.iter().map(|field| {
            let value = given.get(&field.name).unwrap_or(&field.default);
            field.values.check(value).map_err(|text| format!("{}: {text}", field.name))?;
            Ok((field.name.clone(), value.clone()))
        });
        whole.collect()
    }

    /// Returns the kinds of action with their fields. Fails if the values of one can't be counted.
    pub(crate) fn numbered(&self, index: &CellIndex) -> Result<Vec<NumberedKind>, String> {
        let kind = |(form, _): &(ActionForm, Vec<Part>)| {
            let field = |field: &FieldForm| {
                let (name, kind) = (&field.name, &form.kind);
                let (values, count) = match &field.values {
                    _ if field.optional => Err("may be left out"),
                    Values::Cell => Ok((FieldValues::Cells, None)),
                    Values::Integer { min, max } => {
                        let count = max.checked_sub(*min).and_then(|it| usize::try_from(it).ok());
                        Ok((FieldValues::From(*min), count.and_then(|count| count.checked_add(1))))
                    }
                    Values::Choice { values } => {
                        let values = values.iter().map(|it| json!(it)).collect();
                        Ok((FieldValues::Listed(values), None))
                    }
                    Values::Boolean => {
                        Ok((FieldValues::Listed(vec![json!(false), json!(true)]), None))
                    }
                    Values::Cells => Err("is a list of cells"),
                    Values::String { .. } => Err("is a text"),
                }
                .map_err(|why| {
                    format!("the actions can't be numbered: the field `{name}` of `{kind}` {why}")
                })?;
                Ok(NumberedField::new(name, values, index, count))
            };
            let fields = form.fields.iter().map(field).collect::<Result<_, String>>()?;
            Ok(NumberedKind::new(&form.kind, fields))
        };
        self.actions.iter().map(kind).collect()
    }

    fn form(&self, kind: &str) -> Option<&(ActionForm, Vec<Part>)> {
        self.actions.iter().find(|(form, _)| form.kind == kind)
    }

    /// Checks an action: its type and its fields. Unknown fields are refused.
    pub(crate) fn action(&self, action: &Value) -> Result<Value, String> {
        let examples = || self.actions.iter().map(|(form, _)| form.example.to_string());
        let Value::Object(given) = action else {
            let example = examples().next().unwrap_or_default();
            return Err(format!("expected an object such as {example}"));
        };
        let Some(kind) = given.get("type").and_then(Value::as_str) else {
            return Err("missing field `type`".to_owned());
        };
        let Some((form, _)) = self.form(kind) else {
            let known: Vec<String> =
                self.actions.iter().map(|(form, _)| format!("`{}`", form.kind)).collect();
            return Err(format!("unknown type `{kind}`; known ones are {}", known.join(", ")));
        };
        let is_known = |key: &str| key == "type" || form.fields.iter().any(|it| it.name == key);
        if let Some(unknown) = given.keys().find(|key| !is_known(key)) {
            return Err(format!("unknown field `{unknown}`"));
        }
        for field in &form.fields {
            match given.get(&field.name) {
                Some(value) => {
                    let checked = field.values.check(value);
                    checked.map_err(|text| format!("{}: {text}", field.name))?;
                }
                None if field.optional => {}
                None => return Err(format!("missing field `{}`", field.name)),
            }
        }
        Ok(action.clone())
    }

    /// Writes an action as text, without blanks around it, as people type it; as JSON if it isn't one of this game.
    pub(crate) fn format(&self, action: &Value) -> String {
        let kind = action.get("type").and_then(Value::as_str).unwrap_or_default();
        let Some((form, parts)) = self.form(kind).filter(|_| self.action(action).is_ok()) else {
            return action.to_string();
        };
        let part = |part: &Part| match part {
            Part::Literal(text) => text.clone(),
            Part::Field(name) => {
                let field = form.fields.iter().find(|field| field.name == *name);
                match (field, action.get(name)) {
                    (Some(field), Some(value)) => field.values.format(value, &self.names),
                    _ => String::new(),
                }
            }
        };
        parts.iter().map(part).collect::<String>().trim().to_owned()
    }

    /// Returns an action of a random form with random values, or one like an example or a known one, elsewhere. Cells
    /// are of these, if there are any.
    pub(crate) fn guess(
        &self,
        known: &[Value],
        cells: &[Cell],
        below: &mut dyn FnMut(usize) -> usize,
    ) -> Value {
        let (form, _) = &self.actions[below(self.actions.len())];
        let like = known.get(below(known.len() + 1)).unwrap_or(&form.example);
        if below(2) == 1
            && let Some(moved) = self.moved(like, cells, below)
        {
            return moved;
        }
        let mut action = Fields::new();
        action.insert("type".to_owned(), form.kind.clone().into());
        for field in &form.fields {
            if field.optional && below(2) == 0 {
                continue;
            }
            let usual = form.example.get(&field.name).cloned();
            action.insert(field.name.clone(), field.values.guess(usual, cells, below));
        }
        action.into()
    }

    /// Returns an action with all its cells moved by one random step, so that a shape stays what it is, and with some of
    /// its other fields at random.
    fn moved(
        &self,
        action: &Value,
        cells: &[Cell],
        below: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Value> {
        let (form, _) = self.form(action["type"].as_str()?)?;
        let mut moved = action.as_object()?.clone();
        let first = self.cells(action).first().map(|cell| cell.pair());
        let to = Values::Cell.guess(None, cells, below);
        let step =
            first.map(|first| [0, 1].map(|axis| to[axis].as_i64().unwrap_or(0) - first[axis]));
        for field in &form.fields {
            let Some(value) = moved.get_mut(&field.name) else { continue };
            match (&field.values, value.as_array_mut(), step) {
                (Values::Cell, Some(cell), Some(step)) => move_cell(cell, step),
                (Values::Cells, Some(cells), Some(step)) => {
                    cells
                        .iter_mut()
                        .filter_map(Value::as_array_mut)
                        .for_each(|it| move_cell(it, step));
                }
                _ if below(2) == 1 => {
                    *value = field.values.guess(Some(value.take()), cells, below);
                }
                _ => {}
            }
        }
        Some(moved.into())
    }

    /// Returns the cells in the fields of an action, in the order in which they are declared.
    pub(crate) fn cells(&self, action: &Value) -> Vec<Cell> {
        let kind = action.get("type").and_then(Value::as_str).unwrap_or_default();
        let fields = self.form(kind).into_iter().flat_map(|(form, _)| &form.fields);
        let values = fields.flat_map(|field| match (&field.values, action.get(&field.name)) {
            (Values::Cell, Some(cell)) => vec![cell],
            (Values::Cells, Some(cells)) => cells.as_array().into_iter().flatten().collect(),
            _ => Vec::new(),
        });
        values.filter_map(|cell| serde_json::from_value(cell.clone()).ok()).collect()
    }

    /// Returns the actions that a text can be read as.
    pub(crate) fn readings(&self, text: &str) -> impl Iterator<Item = Value> {
        self.actions.iter().filter_map(move |(form, parts)| self.read(text, form, parts))
    }

    /// Reads an action's text form.
    pub(crate) fn parse(&self, text: &str) -> Result<Value, String> {
        self.readings(text).next().ok_or_else(|| {
            let known: Vec<String> = self
                .actions
                .iter()
                .map(|(form, _)| format!("`{}`", self.format(&form.example)))
                .collect();
            format!("`{text}` is not an action of this game, such as {}", known.join(" or "))
        })
    }

    fn read(&self, text: &str, form: &ActionForm, parts: &[Part]) -> Option<Value> {
        let mut action = Fields::new();
        action.insert("type".to_owned(), form.kind.clone().into());
        let mut rest = text.trim();
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Literal(literal) => {
                    let own = found(rest, literal).filter(|(at, _)| *at == 0);
                    rest = &rest[own?.1..];
                }
                Part::Field(name) => {
                    let field = form.fields.iter().find(|field| field.name == *name)?;
                    // A field ends where the next literal begins.
                    let end = match parts.get(index + 1) {
                        Some(Part::Literal(literal)) => found(rest, literal)?.0,
                        _ => rest.len(),
                    };
                    let (own, after) = rest.split_at(end);
                    rest = after;
                    if own.is_empty() && field.optional {
                        continue;
                    }
                    action.insert(name.clone(), field.values.read(own, &self.names)?);
                }
            }
        }
        let action = Value::Object(action);
        (rest.is_empty() && self.action(&action).is_ok()).then_some(action)
    }
}

/// Returns where a literal of a text form begins and ends in a text. At the end of the text the blanks that it ends
/// with may be missing: an optional field that is left out may follow.
fn found(text: &str, literal: &str) -> Option<(usize, usize)> {
    let bare = literal.trim_end();
    let whole = text.find(literal).map(|at| (at, at + literal.len()));
    whole.or_else(|| text.ends_with(bare).then(|| (text.len() - bare.len(), text.len())))
}

/// Splits the text form of an action.
fn parts(form: &ActionForm) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = form.text.trim();
    while let Some(begin) = rest.find('{') {
        if begin > 0 {
            parts.push(Part::Literal(rest[..begin].to_owned()));
        }
        let Some(length) = rest[begin..].find('}') else {
            return Err(format!("the text `{}` has a `{{` without `}}`", form.text));
        };
        let name = &rest[begin + 1..begin + length];
        if !form.fields.iter().any(|field| field.name == name) {
            return Err(format!("the text `{}` names no field of `{}`", form.text, form.kind));
        }
        if matches!(parts.last(), Some(Part::Field(_))) {
            return Err(format!("the text `{}` needs something between two fields", form.text));
        }
        parts.push(Part::Field(name.to_owned()));
        rest = &rest[begin + length + 1..];
    }
    if !rest.is_empty() {
        parts.push(Part::Literal(rest.to_owned()));
    }
    Ok(parts)
}

impl Values {
    /// Whether there are none.
    fn are_none(&self) -> bool {
        match self {
            Self::Integer { min, max } => min > max,
            Self::Choice { values } => values.is_empty(),
            _ => false,
        }
    }

    /// Checks a value.
    fn check(&self, value: &Value) -> Result<(), String> {
        let wrong = |expected: String| Err(format!("expected {expected}, got {value}"));
        match self {
            Self::Cell if !is_cell(value) => wrong("a cell such as [3,1]".to_owned()),
            Self::Cells
                if !value
                    .as_array()
                    .is_some_and(|all| all.len() <= CELLS_MAX && all.iter().all(is_cell)) =>
            {
                wrong("a list of cells such as [[3,1],[3,2]]".to_owned())
            }
            Self::Integer { min, max }
                if !value.as_i64().is_some_and(|number| (*min..=*max).contains(&number)) =>
            {
                wrong(format!("a whole number, {min} to {max}"))
            }
            Self::Choice { values }
                if !value.as_str().is_some_and(|text| values.iter().any(|it| it == text)) =>
            {
                wrong(self.text())
            }
            Self::String { max }
                if value.as_str().is_none_or(|text| text.chars().count() > *max) =>
            {
                wrong(format!("a text of at most {max} characters"))
            }
            Self::Boolean if !value.is_boolean() => wrong("true or false".to_owned()),
            _ => Ok(()),
        }
    }

    /// Returns a random one. Texts are the `usual` ones.
    fn guess(
        &self,
        usual: Option<Value>,
        cells: &[Cell],
        below: &mut dyn FnMut(usize) -> usize,
    ) -> Value {
        match self {
            Self::Cell if cells.is_empty() => {
                // Often in a small square: nobody knows how large the board is.
                let side = 1 + below(GUESSED_SIDE);
                json!([below(side), below(side)])
            }
            Self::Cell => json!(cells[below(cells.len())]),
            Self::Cells => {
                let count = 1 + below(GUESSED_CELLS);
                (0..count).map(|_| Self::Cell.guess(None, cells, below)).collect()
            }
            Self::Integer { min, max } => {
                let span = max.abs_diff(*min).saturating_add(1).min(GUESSED_SPAN);
                let more = below(usize::try_from(span).unwrap_or(1));
                json!(min.saturating_add(i64::try_from(more).unwrap_or(0)))
            }
            Self::Choice { values } if !values.is_empty() => json!(values[below(values.len())]),
            Self::Boolean => json!(below(2) == 1),
            _ => usual.unwrap_or_default(),
        }
    }

    /// Describes the values, as help shows them.
    pub fn text(&self) -> String {
        match self {
            Self::Cell => "[row, column]".to_owned(),
            Self::Cells => "[[row, column], ..]".to_owned(),
            Self::Integer { min, max } => format!("{min}..{max}"),
            Self::Choice { values } => {
                let quoted: Vec<String> = values.iter().map(|it| json!(it).to_string()).collect();
                quoted.join(" | ")
            }
            Self::String { max } => format!("a text of at most {max} characters"),
            Self::Boolean => "true | false".to_owned(),
        }
    }

    /// Writes a value as part of an action's text.
    fn format(&self, value: &Value, names: &CellNames) -> String {
        match self {
            Self::Cell => cell_text(value, names),
            Self::Cells => {
                let cells = value.as_array().into_iter().flatten();
                let cells: Vec<String> = cells.map(|cell| cell_text(cell, names)).collect();
                cells.join("-")
            }
            _ => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        }
    }

    /// Reads a value from an action's text.
    fn read(&self, text: &str, names: &CellNames) -> Option<Value> {
        Some(match self {
            Self::Cell => read_cell(text, names)?,
            Self::Cells if text.is_empty() => json!([]),
            Self::Cells => {
                let cells = text.split('-').map(|cell| read_cell(cell, names));
                Value::Array(cells.collect::<Option<_>>()?)
            }
            Self::Integer { .. } => text.parse::<i64>().ok()?.into(),
            Self::Choice { .. } | Self::String { .. } => text.into(),
            Self::Boolean => text.parse::<bool>().ok()?.into(),
        })
    }
}

/// Moves a cell, if it is one.
fn move_cell(cell: &mut [Value], step: [i64; 2]) {
    for (number, by) in cell.iter_mut().zip(step) {
        *number = json!(number.as_i64().unwrap_or(0).saturating_add(by));
    }
}

fn is_cell(value: &Value) -> bool {
    let pair = value.as_array().filter(|pair| pair.len() == 2);
    pair.is_some_and(|pair| pair.iter().all(|number| number.as_i64().is_some()))
}

fn cell_text(value: &Value, names: &CellNames) -> String {
    let at = |index: usize| value[index].as_i64().unwrap_or_default();
    let (row, column) = (at(0), at(1));
    match (names, u8::try_from(column)) {
        (CellNames::Coordinates(Coordinates::LetterNumber), Ok(column @ 0..26)) if row >= 0 => {
            format!("{}{}", char::from(b'a' + column), row.saturating_add(1))
        }
        (CellNames::Points(names), Ok(0)) => {
            let name = usize::try_from(row).ok().and_then(|number| names.get(number));
            name.cloned().unwrap_or_else(|| format!("{row},{column}"))
        }
        _ => format!("{row},{column}"),
    }
}

fn read_cell(text: &str, names: &CellNames) -> Option<Value> {
    if let Some((row, column)) = text.split_once(',') {
        return Some(json!([row.trim().parse::<i64>().ok()?, column.trim().parse::<i64>().ok()?]));
    }
    if let CellNames::Points(names) = names {
        let number = names.iter().position(|name| name == text)?;
        return Some(json!([number, 0]));
    }
    let first = text.bytes().next().filter(u8::is_ascii_alphabetic)?.to_ascii_lowercase();
    let row = text[1..].parse::<i64>().ok().filter(|row| *row > 0)?;
    let lettered = *names == CellNames::Coordinates(Coordinates::LetterNumber);
    lettered.then(|| json!([row - 1, i64::from(first - b'a')]))
}
