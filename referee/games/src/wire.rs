//! What the referee and a game program say to each other, as `docs/game-programs.md` defines it.

use crate::board::{Cell, Points};
use referee_protocol::{Outcome, Seat, read_line, read_typed};
use schemars::{JsonSchema, Schema, schema_for};
use serde::de::{DeserializeOwned, Error, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// A state as JSON text. As values it may take a hundred times the memory.
pub type StateJson = referee_protocol::ActionJson;

/// The version of these messages.
pub const WIRE_VERSION: u32 = 1;

// The schemas say these limits, and what reads the messages keeps them.
/// The most outcomes of a draw, and the highest weight of one.
pub(crate) const OUTCOMES_MAX: usize = 10_000;
pub(crate) const WEIGHT_MAX: u64 = 1_000_000;
/// The most rows or columns of a board, and points of a star.
pub(crate) const SIZE_MAX: u8 = 26;
pub(crate) const STAR_MAX: u8 = 5;
/// The most figures, rows and items of a row.
pub(crate) const BESIDE_MAX: usize = 100;
/// The most characters of names, values and of the text.
pub(crate) const NAME_MAX: usize = 60;
pub(crate) const TEXT_MAX: usize = 10_000;

const COLOUR: &str = "^(red|green|blue|yellow|purple|orange|black|white|#[0-9A-Fa-f]{6})$";
/// A text on a piece, the name of a point, one that is a word, other names, and the text of a board.
const PIECE_TEXT: &str = "^[!-~]{1,3}$";
const POINT: &str = "^[!-~]{1,4}$";
const POINT_WORD: &str = "^[0-9A-Za-z]{1,4}$";
const ONE_LINE: &str = r"^[^\u0000-\u001f\u007f-\u009f]*$";
const LINES: &str = r"^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f]*$";

/// A request without its id.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Request {
    /// Asks for the description of the game.
    Describe {
        /// The version of the messages.
        protocol: u32,
    },
    /// Asks to play these moves, and for the resulting plies.
    Walk(Walk),
}

/// A request to play moves from the start of a game, or from a state.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Walk {
    /// Where to begin.
    #[serde(flatten)]
    pub from: From,
    /// The moves, in order.
    pub moves: Vec<Move>,
    /// The parts that each ply of the answer has besides state and turn.
    pub want: Vec<Want>,
    /// Which plies are wanted.
    pub at: At,
}

/// Returns the request to play moves from a ply.
pub(crate) fn walk_from(ply: &Ply, moves: Vec<Move>, want: &[Want]) -> Walk {
    walk(From::State(ply.state.clone()), moves, want)
}

/// Returns the request to play moves.
pub(crate) fn walk(from: From, moves: Vec<Move>, want: &[Want]) -> Walk {
    Walk { from, moves, want: want.to_vec(), at: At::End }
}

/// Where a walk begins.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum From {
    /// The start of a game: its whole setup.
    Setup(Value),
    /// A state of an earlier answer.
    State(#[schemars(with = "Value")] StateJson),
}

/// A move.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Move {
    /// An action of a seat.
    Action {
        /// The seat.
        seat: Seat,
        /// The action.
        action: Value,
    },
    /// A seat is out.
    Retire {
        /// The seat.
        retire: Seat,
    },
    /// The referee has drawn this outcome.
    Draw {
        /// Its number, from 0.
        draw: usize,
    },
}

/// Which plies an answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// One, after the last move.
    End,
    /// The start, and after every move.
    All,
}

/// A part that a ply may have besides its state and turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// The legal actions.
    Actions,
    /// The position for agents.
    Position,
    /// The picture of the board.
    View,
    /// Notes for the player.
    Notes,
    /// How good the position is for each seat.
    Estimate,
    /// What each seat may know of the position.
    Seen,
    /// What each seat is told of the move before.
    Told,
    /// The picture that each seat may see.
    Views,
}

/// An answer without its id.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// The description of the game.
    Described(Box<Described>),
    /// The moves were played.
    Walked(Walked),
    /// The setup or a move was refused.
    Refused(Refused),
    /// The rules themselves failed.
    Failed {
        /// What happened.
        text: String,
    },
}

/// The result of a walk.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Walked {
    /// The piece that each seat plays; only if the request had a setup.
    #[serde(default)]
    pub seats: Vec<String>,
    /// The actions in the form in which they are recorded; null for other moves.
    #[serde(default)]
    pub recorded: Vec<Value>,
    /// The plies that were wanted.
    #[schemars(length(min = 1))]
    pub plies: Vec<Ply>,
}

/// A refused setup or move.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// The number of the move, from 0.
    #[serde(default, rename = "move")]
    pub index: usize,
    /// The kind of refusal.
    pub kind: RefusalKind,
    /// The broken rule.
    pub rule: String,
}

/// Kinds of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// The action is against the rules in this position.
    Illegal,
    /// The action isn't one of this game's.
    Malformed,
    /// The setup is refused.
    Setup,
}

/// The game at one ply.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ply {
    /// The state that the rules need to go on from here.
    #[schemars(with = "Value", extend("not" = { "type": "null" }))]
    pub state: StateJson,
    /// Whose turn it is.
    pub turn: PlyTurn,
    /// The legal actions, in a game with simultaneous moves a list for each seat in `of`; `None` if they can't be
    /// listed.
    #[serde(default)]
    pub actions: Option<Vec<Value>>,
    /// The position for agents.
    #[serde(default)]
    pub position: Value,
    /// The picture, or what is wrong with it: nothing else of the answer depends on that.
    #[serde(default, deserialize_with = "read_view")]
    #[schemars(with = "Option<Picture>")]
    pub view: Option<Result<Picture, String>>,
    /// Notes for the player.
    #[serde(default)]
    pub notes: Vec<String>,
    /// How good the position is for each seat.
    #[serde(default)]
    pub estimate: Vec<i64>,
    /// What each seat may know of the position, in a game with hidden information.
    #[serde(default)]
    pub seen: Vec<Value>,
    /// What each seat is told of the last move; null for nothing.
    #[serde(default)]
    pub told: Vec<Value>,
    /// The picture that each seat may see.
    #[serde(default)]
    pub views: Vec<Picture>,
}

fn read_view<'de, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<Result<Picture, String>>, D::Error> {
    let view = Option::<Value>::deserialize(reader)?;
    Ok(view.map(|view| read_typed(&view)))
}

/// Whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlyTurn {
    /// These seats are to move; several choose at once.
    Of(#[schemars(length(min = 1), extend("uniqueItems" = true))] Vec<Seat>),
    /// The game is over.
    Over(
        #[serde(deserialize_with = "End::deserialize")]
        #[schemars(with = "End")]
        Outcome,
    ),
    /// The referee draws.
    Chance(Chance),
}

/// How a game ended, read strictly.
#[derive(Deserialize, JsonSchema)]
#[serde(remote = "Outcome", deny_unknown_fields)]
#[schemars(rename = "Outcome")]
struct End {
    /// The place of each seat, from 1.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    places: Vec<u32>,
    /// The score of each seat, in games with scores.
    #[serde(default)]
    scores: Option<Vec<i64>>,
    /// One of the reasons in the description.
    reason: String,
}

/// A draw: the weight and the name of each outcome.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chance {
    /// The weights, not all of them 0.
    #[schemars(length(min = 1, max = OUTCOMES_MAX), inner(range(max = WEIGHT_MAX)))]
    #[schemars(extend("contains" = { "exclusiveMinimum": 0 }))]
    pub weights: Vec<u64>,
    /// The names; none if the outcomes have only numbers.
    #[serde(default)]
    #[schemars(length(max = OUTCOMES_MAX))]
    pub labels: Vec<String>,
}

impl Chance {
    /// Returns the outcome that this number stands for, which is below the sum of the weights.
    pub fn pick(&self, mut number: u64) -> usize {
        let is_it = |&weight: &u64| {
            let is_below = number < weight;
            number = number.saturating_sub(weight);
            is_below
        };
        self.weights.iter().position(is_it).unwrap_or_default()
    }

    /// Returns the name of an outcome.
    pub fn label(&self, outcome: usize) -> String {
        self.labels.get(outcome).cloned().unwrap_or_else(|| outcome.to_string())
    }

    /// Returns the numbers of the outcomes that can be drawn: those with a weight.
    pub fn possible(&self) -> impl Iterator<Item = usize> {
        (0..).zip(&self.weights).filter(|(_, weight)| **weight > 0).map(|(outcome, _)| outcome)
    }

    /// Returns the names of the outcomes that can be drawn.
    pub fn names(&self) -> Vec<String> {
        self.possible().map(|outcome| self.label(outcome)).collect()
    }

    /// Returns the outcome with this name, else the one with this number from 0, if it can be drawn. `draw` may be in
    /// front, as `game check` writes draws.
    pub fn find(&self, text: &str) -> Result<usize, String> {
        let named = |text: &str| self.possible().find(|&outcome| self.label(outcome) == text);
        let numbered = |text: &str| self.possible().find(|&outcome| text.parse() == Ok(outcome));
        let bare = text.strip_prefix("draw ").unwrap_or(text);
        named(text).or_else(|| named(bare)).or_else(|| numbered(bare)).ok_or_else(|| {
            format!("the referee draws next, and the outcomes are {}", self.names().join(", "))
        })
    }
}

/// The description of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "these are the fields of the message")]
pub struct Described {
    /// The name, as in `game.toml`.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// One or two sentences.
    pub summary: String,
    /// The possible numbers of seats.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    pub seats: Vec<u8>,
    /// The fields of the setup.
    #[serde(default, deserialize_with = "known_fields")]
    pub setup: Vec<SetupForm>,
    /// The kinds of action.
    pub actions: Vec<ActionForm>,
    /// The kinds of piece.
    pub pieces: Vec<PieceKind>,
    /// The reasons for an outcome.
    pub reasons: Vec<ReasonForm>,
    /// The unit of the outcome's scores.
    #[serde(default)]
    pub score: Option<ScoreForm>,
    /// How cells are named.
    #[serde(default)]
    pub labels: CellNames,
    /// Whether the legal actions can be listed.
    #[serde(default = "yes")]
    pub lists: bool,
    /// Whether positions can be estimated.
    #[serde(default)]
    pub estimates: bool,
    /// Whether turns can be draws of chance.
    #[serde(default)]
    pub chance: bool,
    /// Whether several seats can choose at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simultaneous: bool,
    /// Whether seats know different things.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// The most moves that a game can have.
    pub plies_max: u64,
}

fn yes() -> bool {
    true
}

/// How cells are named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CellNames {
    /// By their coordinates.
    Coordinates(Coordinates),
    /// Each point by a name of its own, in the order of the points: for boards of points.
    Points(
        #[schemars(length(min = 1, max = Points::MAX), inner(regex(pattern = POINT_WORD)))]
        Vec<String>,
    ),
}

impl Default for CellNames {
    fn default() -> Self {
        Self::Coordinates(Coordinates::Pair)
    }
}

/// How coordinates are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Coordinates {
    /// `3,1`: row and column.
    Pair,
    /// `b4`: the column as a letter, the row from 1.
    LetterNumber,
}

/// A field of the setup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("unevaluatedProperties" = false))]
pub struct SetupForm {
    /// Its name; not `position`, a field that every setup may have.
    #[schemars(length(min = 1), extend("not" = { "const": "position" }))]
    pub name: String,
    /// Its values.
    #[serde(flatten)]
    pub values: Values,
    /// Its default.
    pub default: Value,
    /// Its meaning.
    #[serde(default)]
    pub meaning: String,
}

/// A kind of action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionForm {
    /// Its `type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its text form: `{field}` stands for a field.
    pub text: String,
    /// Its fields.
    #[serde(default, deserialize_with = "known_fields")]
    pub fields: Vec<FieldForm>,
    /// An example.
    pub example: Value,
    /// What it does and when it is legal.
    #[serde(default)]
    pub meaning: String,
}

/// A field of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("unevaluatedProperties" = false))]
pub struct FieldForm {
    /// Its name; not `type`, which every action has.
    #[schemars(length(min = 1), extend("not" = { "const": "type" }))]
    pub name: String,
    /// Its values.
    #[serde(flatten)]
    pub values: Values,
    /// Whether it may be left out.
    #[serde(default)]
    pub optional: bool,
    /// Its meaning, for readers of the rules.
    #[serde(default, skip_serializing)]
    pub meaning: String,
}

/// Reads forms with flattened values, of which serde would read unknown fields, too.
fn known_fields<'de, T: DeserializeOwned + Serialize, D: Deserializer<'de>>(
    reader: D,
) -> Result<Vec<T>, D::Error> {
    let read = |fields: Fields| {
        let form: T = serde_json::from_value(Value::Object(fields.clone()))?;
        let known = serde_json::to_value(&form)?;
        match fields.keys().find(|key| known.get(key).is_none() && *key != "meaning") {
            Some(key) => Err(serde_json::Error::custom(format!("unknown field `{key}`"))),
            None => Ok(form),
        }
    };
    let all = Vec::<Fields>::deserialize(reader)?;
    all.into_iter().map(|fields| read(fields).map_err(D::Error::custom)).collect()
}

/// The values of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Values {
    /// A row and a column.
    Cell,
    /// A list of cells.
    Cells,
    /// A whole number.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// One of these texts.
    Choice {
        /// The texts.
        #[schemars(length(min = 1))]
        values: Vec<String>,
    },
    /// A text.
    String {
        /// The most characters.
        max: usize,
    },
    /// True or false.
    Boolean,
}

/// A kind of piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PieceKind {
    /// Its name.
    pub name: String,
    /// Its colour.
    #[schemars(regex(pattern = COLOUR))]
    pub colour: String,
    /// The text on it.
    #[serde(default)]
    #[schemars(regex(pattern = PIECE_TEXT))]
    pub text: Option<String>,
}

/// A reason for an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReasonForm {
    /// The code in `outcome.reason`.
    pub name: String,
    /// Completes "NAME wins: ...", "draw: ..." or "not solved: ...".
    pub text: String,
    /// The rule behind it.
    #[serde(default)]
    pub meaning: String,
}

/// The unit of scores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScoreForm {
    /// The unit.
    pub unit: String,
    /// Whether fewer is better.
    pub fewer_is_better: bool,
}

/// A picture of the board.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Picture {
    /// The shape; only with a text it may be missing.
    pub shape: Option<PictureShape>,
    /// The pieces.
    pub pieces: Vec<PicturePiece>,
    /// Marks on cells.
    pub ground: Vec<PictureGround>,
    /// Edges of the board that belong to a colour.
    pub edges: Vec<PictureEdge>,
    /// The cells of the last action.
    pub last: Vec<Cell>,
    /// The cells that decided the game.
    pub chain: Vec<Cell>,
    /// Numbers beside the board.
    #[schemars(length(max = BESIDE_MAX))]
    pub figures: Vec<PictureFigure>,
    /// Items beside the board.
    #[schemars(length(max = BESIDE_MAX))]
    pub rows: Vec<PictureRow>,
    /// The board as text.
    #[schemars(length(max = TEXT_MAX), regex(pattern = LINES))]
    pub text: Option<String>,
}

/// The shape of a board.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PictureShape {
    /// Rows and columns.
    Grid(
        #[schemars(range(min = 1, max = SIZE_MAX))] u8,
        #[schemars(range(min = 1, max = SIZE_MAX))] u8,
    ),
    /// A square of n rows.
    Square(#[schemars(range(min = 1, max = SIZE_MAX))] u8),
    /// A diamond of n rows.
    Diamond(#[schemars(range(min = 1, max = SIZE_MAX))] u8),
    /// A triangle of n rows.
    Triangle(#[schemars(range(min = 1, max = SIZE_MAX))] u8),
    /// A hexagon with this radius.
    Hexagon(#[schemars(range(min = 1, max = SIZE_MAX / 2))] u8),
    /// A star with points of n rows.
    Star(#[schemars(range(min = 1, max = STAR_MAX))] u8),
    /// Points with lines between them. A cell is a point's number and 0.
    Points {
        /// The places of the points, in half-cells to the right and downwards.
        #[schemars(with = "Vec<Place>", length(min = 1, max = Points::MAX))]
        places: Vec<(u8, u8)>,
        /// The lines between points, by their numbers.
        #[serde(default)]
        #[schemars(length(max = Points::LINES_MAX))]
        lines: Vec<(u8, u8)>,
        /// The names of the points; none if they have only numbers.
        #[serde(default)]
        #[schemars(length(max = Points::MAX), inner(regex(pattern = POINT)))]
        names: Vec<String>,
    },
}

/// The schema of the place of a point.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used")]
struct Place(
    #[schemars(range(max = Points::REACH))] u8,
    #[schemars(range(max = Points::REACH))] u8,
);

/// A piece of a picture.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PicturePiece {
    /// Where.
    pub at: Cell,
    /// Which kind.
    pub piece: String,
    /// The text on it, instead of that of its kind.
    #[serde(default)]
    #[schemars(regex(pattern = PIECE_TEXT))]
    pub text: Option<String>,
}

/// A mark on a cell.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PictureGround {
    /// Where.
    pub at: Cell,
    /// Its colour.
    #[schemars(regex(pattern = COLOUR))]
    pub colour: String,
}

/// An edge of the board that belongs to a colour.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PictureEdge {
    /// The colour.
    #[schemars(regex(pattern = COLOUR))]
    pub colour: String,
    /// The cells along it, in order.
    pub cells: Vec<Cell>,
    /// The step from each to its mark outside the board, in half-cells to the right and rows downwards.
    pub outward: (i8, i8),
}

/// A number beside the board.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PictureFigure {
    /// The thing that it counts.
    #[schemars(length(max = NAME_MAX), regex(pattern = ONE_LINE))]
    pub name: String,
    /// The piece whose value it is.
    #[serde(default)]
    pub piece: Option<String>,
    /// Its value.
    #[schemars(length(max = NAME_MAX), regex(pattern = ONE_LINE))]
    pub value: String,
}

/// Items beside the board.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PictureRow {
    /// Its name.
    #[schemars(length(max = NAME_MAX), regex(pattern = ONE_LINE))]
    pub name: String,
    /// The piece to which they belong.
    #[serde(default)]
    pub piece: Option<String>,
    /// The items.
    #[schemars(length(max = BESIDE_MAX))]
    pub items: Vec<PictureItem>,
}

/// An item: the name of a kind of piece, or a text of up to three characters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PictureItem(pub String);

/// The JSON of the fields of an answer or request, with its id.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Numbered<T> {
    /// The id of the request; `None` in the answer to one that can't be read.
    pub id: Option<u64>,
    /// The message.
    #[serde(flatten)]
    pub message: T,
}

/// The schema of an answer's line.
pub fn answer_schema() -> Schema {
    let mut schema = schema_for!(Numbered<Answer>);
    // The fields of a message are flattened, of which the generator doesn't know that there are no others.
    schema.insert("unevaluatedProperties".to_owned(), false.into());
    schema
}

/// The longest answer other than `walked`, in bytes.
const SHORT_ANSWER_BYTES_MAX: usize = 2 << 20;

/// Reads the line of an answer; the error names the field. A walk is read in place: a tree of it would take twenty times
/// the line's memory.
pub fn read_answer(line: &[u8]) -> Result<Numbered<Answer>, String> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        id: Option<u64>,
        #[serde(rename = "type")]
        kind: String,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct WalkedLine {
        #[serde(default, rename = "id")]
        _id: IgnoredAny,
        #[serde(rename = "type")]
        _kind: IgnoredAny,
        #[serde(default)]
        seats: Vec<String>,
        #[serde(default)]
        recorded: Vec<Value>,
        plies: Vec<Ply>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Failed {
        text: String,
    }
    let Head { id, kind } = read_line(line)?;
    if kind == "walked" {
        let WalkedLine { seats, recorded, plies, .. } = read_line(line)?;
        return Ok(Numbered { id, message: Answer::Walked(Walked { seats, recorded, plies }) });
    }
    if line.len() > SHORT_ANSWER_BYTES_MAX {
        return Err(format!("only `walked` may be longer than {SHORT_ANSWER_BYTES_MAX} bytes"));
    }
    let mut fields: Fields = read_line(line)?;
    fields.retain(|key, _| key != "id" && key != "type");
    let fields = Value::Object(fields);
    let message = match kind.as_str() {
        "described" => Answer::Described(Box::new(read_typed(&fields)?)),
        "refused" => Answer::Refused(read_typed(&fields)?),
        "failed" => Answer::Failed { text: read_typed::<Failed>(&fields)?.text },
        _ => {
            let known = "`described`, `walked`, `refused` or `failed`";
            return Err(format!("type: unknown value `{kind}`: expected {known}"));
        }
    };
    Ok(Numbered { id, message })
}

/// The fields of an action or a setup.
pub(crate) type Fields = Map<String, Value>;
