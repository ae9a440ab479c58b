//! The likely causes of failures of the rules.

use crate::game_program::{NO_ANSWER, UNREADABLE};

/// How a problem begins if the rules failed.
pub(super) const FAILED: &str = "the rules failed: ";

const VERBOSE: &str = "-vv shows what the program writes to stderr";

/// How a failure begins, or a part of it; its likely cause, and what to do.
const CAUSES: &[(&str, &str, &str)] = &[
    (
        NO_ANSWER,
        "an answer may take 1000 ms, and 20 ms more for each ply that it is about; in a match, a later one makes the \
         match void",
        "flush stdout after each answer; else make the rules faster, or raise `answer_ms` and `ply_ms` under [limits] in game.toml",
    ),
    (
        "it can't be started",
        "`command` in game.toml names a program that isn't there or can't be run in the game's folder",
        "run the command in that folder yourself",
    ),
    (
        UNREADABLE,
        "a line on stdout isn't an answer as the page on game programs defines it: the error says which field",
        "give the field a value as on that page; write one JSON object a line, and everything else to stderr",
    ),
    (
        "its answer is longer",
        "a state or position that grows with every move, or a very long list of actions",
        "keep in the state only what the rest of the game depends on",
    ),
    (
        "has another id",
        "answers are in another order than the requests, or one request has two answers",
        "answer each request once, with its `id`",
    ),
    ("it ended with", "the program crashed, or exits after an answer", VERBOSE),
    ("it closed its std", "the program closes its pipes or exits before its stdin ends", VERBOSE),
    (
        "memory",
        "the program keeps more and more, or its tables are large",
        "raise `memory_mb` under [limits] in game.toml, if it needs that much",
    ),
    (
        "in `recorded`",
        "`recorded` has one entry for each move of the request: the action, or null for a draw or a retirement",
        "add one entry for each move",
    ),
    (
        "in `plies`",
        "with \"at\":\"end\", `plies` has one entry; with \"all\", one more than the request has moves",
        "return the plies that `at` asks for",
    ),
    (
        "`state` is null",
        "a request with null for a state is one without a state; a function that returns nothing often returns null",
        "return an object or a list from every function that makes a state",
    ),
    (
        "`refused` is of",
        "`move` is the number of the refused move in the request, from 0, and `setup` is for setups",
        "refuse what the request has",
    ),
    (
        "`turn`",
        "`turn` is one of {\"of\":[SEAT]}, {\"over\":{..}} and {\"chance\":{..}}",
        "with the kit: return a seat, `over(..)` or `chance(..)`",
    ),
    (
        "many `labels` as",
        "each outcome of a draw has one label, or none has",
        "return as many `labels` as `weights`",
    ),
    (
        "`weights`",
        "`weights` of a draw has an integer for each outcome, and not only zeros",
        "count the outcomes that are possible",
    ),
    (
        "the example of",
        "an example must be an action of its form, and the same after being written as `text` and read",
        "give the example every field of its form, and name every field in `text`",
    ),
    (
        "needs the method",
        "the kit has no default for it: `draw` is for games with chance, `retire` for three or more seats",
        "write it; the docstrings of referee_kit/game.py say what it gets and returns",
    ),
    (
        "a method changed the state",
        "only `play`, `retire` and `draw` may change the state that they get",
        "copy what the others change, and let `draw` keep what was drawn",
    ),
    (
        "returned None",
        "the method ends without `return`",
        "return the state, or whose turn it is, in every case",
    ),
    (
        "needs the answer",
        "the answer's `type` belongs to another request",
        "answer `describe` by `described`, and `walk` by `walked` or `refused`",
    ),
];

/// Returns the likely cause of a failure, and what to do.
pub(super) fn of_failure(failure: &str) -> (&'static str, &'static str) {
    let known =
        CAUSES.iter().filter(|_| !is_own(failure)).find(|(part, ..)| failure.contains(part));
    let usual = if is_own(failure) {
        "an exception in the rules"
    } else {
        "the rules answer what the page on game programs doesn't allow, or the kit doesn't take"
    };
    known.map_or(
        (
            usual,
            "follow the error to its place in the rules; -vv shows what a program writes to stderr",
        ),
        |(_, why, fix)| (why, fix),
    )
}

/// Whether a program says of itself why it failed: that comes from its own code.
fn is_own(failure: &str) -> bool {
    ![NO_ANSWER, UNREADABLE].iter().any(|start| failure.starts_with(start))
        && ["Error: ", "Exception: ", " panicked at "].iter().any(|part| failure.contains(part))
}

/// Returns what is equal in all problems that are the same failure of the rules; `None` if they didn't fail.
pub(super) fn known_again(what: &str) -> Option<String> {
    let failure = what.strip_prefix(FAILED)?;
    if !failure.starts_with(UNREADABLE) {
        return Some(failure.to_owned());
    }
    // The same field has other values in other plies.
    let field = failure.split_once(", got ").map_or(failure, |(field, _)| field);
    Some(field.chars().filter(|c| !c.is_ascii_digit()).collect())
}
