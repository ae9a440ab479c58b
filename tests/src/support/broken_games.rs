//! The variants of tests/games/broken.py, and what `game check` says about each.

use super::{RunResult, TestDir, python, root};

/// A variant, the row that finds its defect, and what the row says.
pub type Broken = (&'static str, &'static str, &'static [&'static str]);

/// Every row of the check has one that only it is asked about.
pub const BROKEN: &[Broken] = &[
    ("OtherDescription", "describe", &["the description differs between two processes: `summary`"]),
    ("Crash", "plays", &["the rules failed: KeyError: 'left' in broken.py:", "an exception"]),
    ("NoReturn", "plays", &["`play` returned None", "the method ends without `return`"]),
    ("Rare", "plays", &["ValueError: two are too many in broken.py:", "the next move: "]),
    ("Stuck", "plays", &["is to move and has no legal action", "the end is not recognised"]),
    (
        "ThreeSides",
        "plays",
        &[
            "a game has 3 seats (red, blue, green), but `describe` says [2]",
            "in Python, `sides(setup)`",
        ],
    ),
    ("ListPosition", "answers", &["at the start", "`position` is [", "not an object"]),
    (
        "NumberNotes",
        "answers",
        &["plies[0].notes[0]: expected text, got 9", "the answer begins: {", "says which field"],
    ),
    ("UnknownReason", "outcome", &["the reason `bored` is not declared", "last_stone"]),
    ("NoRanking", "outcome", &["the places [1, 3] are not a ranking of 2 seats"]),
    (
        "ThreePlaces",
        "outcome",
        &["the outcome has 3 places for 2 seats", "one place for each seat"],
    ),
    ("NoScores", "outcome", &["the outcome has no scores, but `describe` has a `score`"]),
    ("Longer", "plies-max", &["more than 2 moves, which `describe` promises"]),
    (
        "Hashed",
        "determinism",
        &[
            "not deterministic between two processes: `actions` differs",
            "at the start",
            "a set, hash() or id()",
        ],
    ),
    (
        "Random",
        "determinism",
        &[
            "the same question has two answers in one process: `position.luck` differs",
            "random numbers",
        ],
    ),
    (
        "Remembers",
        "determinism",
        &[
            "an answer depends on what was asked before: `position.asked` differs",
            "if this is asked before",
        ],
    ),
    (
        "StartCache",
        "determinism",
        &[
            "a game depends on a game before it in the same process: `position.left` differs",
            "\"stones\":4}, at the start, after the start of a game with setup",
            "a cache whose key lacks the setup's `stones`",
            "--games 3",
        ],
    ),
    (
        "Unlisted",
        "legal",
        &["3 is played, but it is not listed", "`play` lacks a rule", "listed: 1, 2"],
    ),
    (
        "Refused",
        "legal",
        &[
            "the listed action 3 is refused: three are too many",
            "`play` has a rule that `actions` lacks",
        ],
    ),
    ("Wraps", "legal", &["is played, but it is not listed", "a cell is on the board"]),
    (
        "Reads",
        "legal",
        &["take ba is played, but it is not listed", "listed: take a, take ab, take abc"],
    ),
    ("PlaysOn", "turns", &["although the game is over", "refuse every action after the end"]),
    ("AnySeat", "turns", &["but seat 0 is to move", "ignores the `seat` of a move"]),
    ("NotFinal", "recorded", &["a listed action is recorded in another form", "at the start"]),
    (
        "LosesField",
        "text",
        &["the text `1` of an action reads as another action", "leaves out a field"],
    ),
    (
        "SameText",
        "text",
        &["can be read as two actions", "\"type\":\"take\"} and {", "begin the texts of forms"],
    ),
    ("Resign", "text", &["people can't type the text `resign`", "`resign` gives the match up"]),
    (
        "Counts",
        "state",
        &["goes on differently from a state: `view.figures` differs", "not in the state"],
    ),
    ("Looks", "queries", &["a method changed the state that it should only read"]),
    ("Resets", "walk", &["a walk differs from single steps", "`view.figures` differs"]),
    (
        "RecordsLate",
        "walk",
        &[
            "move 1 of a walk of 3 is recorded in another form than as a single step",
            "after 3 moves",
            "as if it were the only one",
        ],
    ),
    ("Chance", "chance", &["the draw 3 is refused: three is no side of the coin", "after 1 move"]),
    (
        "SameNames",
        "chance",
        &["the name `heads` of the draw 1 (heads) does not choose it", "a name of its own"],
    ),
    (
        "ShowsCards",
        "hidden",
        &["`seen` of seat 0 shows what it was never told", "say it in `told`"],
    ),
    ("CardInActions", "hidden", &["`actions` of seat", "shows what it was never told"]),
    (
        "FirstCounts",
        "choices",
        &["the order in which seats 0, 1 choose changes `", "play them together"],
    ),
    (
        "TellsChoice",
        "choices",
        &["the legal actions of seat", "depend on what another seat has chosen"],
    ),
    ("TurnsEarly", "choices", &["but seats 1 have still to choose", "after the last of them"]),
    ("Three", "retire", &["is to move after it has retired", "at the start"]),
    ("NoRetire", "retire", &["the game needs the method `retire`", "three or more seats"]),
    (
        "LastSeat",
        "retire",
        &["the places [1, 3, 3] are not a ranking of 3 seats", "seat 0 retires"],
    ),
    (
        "OffBoard",
        "view",
        &["last: [3,4] is not on the board", "at the start", "names a cell outside of its `shape`"],
    ),
    ("Large", "view", &["last: [9,9] is not on the board", "setup {\"size\":\"large\"}"]),
    ("BadView", "view", &["TypeError: ", "in broken.py:"]),
    ("ShortCell", "view", &["last[0]: expected a list of 2 entries, got 1", "view {"]),
    ("OtherNames", "view", &["point 2 is `c1` in `labels`, and `d1` in the view"]),
    ("TwoPieces", "view", &["two pieces are on [0,0]", "show a stack as one piece"]),
    (
        "Index",
        "robust",
        &["IndexError: list index out of range", "action {", "off the board, huge"],
    ),
    (
        "Slow",
        "speed",
        &["the rules failed: no answer within", "after 9 moves", "raise `answer_ms`"],
    ),
    ("Winner", "golden", &["games/1.jsonl: the end is {", "raise `rules` in game.toml"]),
];

/// Writes a variant as the game in the folder `broken`; `false` without Python.
pub fn write(dir: &TestDir, variant: &str) -> bool {
    if python().is_none() {
        return false;
    }
    let manifest =
        format!("name = \"broken\"\ncommand = [\"python3\", \"broken.py\", \"{variant}\"]\n");
    dir.write("broken/game.toml", manifest);
    dir.write("broken/broken.py", std::fs::read(root().join("tests/games/broken.py")).unwrap());
    true
}

/// Checks a variant by one row.
pub fn check(dir: &TestDir, row: &str) -> RunResult {
    dir.run(&["game", "check", "broken", "--only", row, "--games", "3"])
}

/// Fails unless the defect of a variant is found by its row, and explained.
pub fn assert_found(dir: &TestDir, (variant, row, texts): &Broken) {
    if !write(dir, if *row == "golden" { "Good" } else { variant }) {
        return;
    }
    if *row == "golden" {
        std::fs::create_dir(dir.path("broken/games")).unwrap();
        let match_words = ["play", "./broken", "@first", "@first", "--out", "broken/games/1.jsonl"];
        dir.run(&match_words).code(0);
        check(dir, row).code(0).stdout_has("1 replayed");
        write(dir, variant);
    }
    let ran = check(dir, row).code(1);
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in *texts {
        assert!(words.contains(text), "{variant}: no {text:?} in\n{}", ran.stdout);
    }
    let again = ran.stdout.lines().find_map(|line| line.trim().strip_prefix("again")).unwrap();
    let expected = format!("referee game check broken --only {row}");
    assert!(again.trim().starts_with(&expected), "{again}");
    // The command finds it again, with the same shortest case.
    let repeated = dir.shell(again.trim()).code(1);
    let rest = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let steady = !matches!(
        *variant,
        "Random" | "Remembers" | "Counts" | "Resets" | "Hashed" | "OtherDescription"
    );
    assert!(!steady || rest(&repeated.stdout) == rest(&ran.stdout), "{}", repeated.stdout);
}
