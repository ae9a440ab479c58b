//! What to do about the errors that runtimes report, by their names or words.

/// What to do about a file that is missing.
const NO_FILE: &str = "it isn't there: put files into the agent's folder and open them by a path that starts there (in \
     Python, `pathlib.Path(__file__).parent`), and install the programs that it starts";

/// What to do about input that isn't one message.
const NO_LINE: &str = "parse each line of stdin by itself, since several may come at once, and stop when the input ends: an empty \
     line is its end";

/// What to do about a missing field of a `turn`.
pub(super) const NOT_ASKED: &str = "a `turn` has `actions` and `position` only if `ready` asks for them: \
     {\"type\":\"ready\",\"want\":[\"actions\",\"position\"]}";

/// Names and words of the line that says why a program failed, and what to do. The first row that fits counts.
const KNOWN: &[(&[&str], &str)] = &[
    (
        &[
            "JSONDecodeError",
            "is not valid JSON",
            "end of JSON input",
            "after JSON",
            "in JSON at position",
            "JSON::ParserError",
            "malformed JSON string",
        ],
        NO_LINE,
    ),
    (
        &["attempted relative import"],
        "a file that is started as a program is in no package: write `from board import ..` instead of `from .board import ..`, \
         or start it as a module (`python3 -m PACKAGE.bot`)",
    ),
    (
        &["partially initialized module", "ImportError: cannot import name"],
        "a file of the agent may have the name of a module that it or Python needs (such as `random.py`): rename it; else \
         correct the imported name, and let no two files import each other",
    ),
    (
        &[
            "ModuleNotFoundError",
            "ImportError",
            "Error: Cannot find module",
            "Error [ERR_MODULE_NOT_FOUND]",
            "cannot load such file",
            ".pm in @INC",
            "' not found:",
        ],
        "correct its name, in which upper and lower case count, install the module for the interpreter that runs the agent, \
         or copy it into the agent's folder",
    ),
    (
        &[
            "SyntaxError: Cannot use import statement outside a module",
            "ReferenceError: module is not defined in ES module scope",
            "ReferenceError: require is not defined in ES module scope",
        ],
        "write `require` and `module.exports`, or rename the file to end with `.mjs` and write `import` and `export`, but not \
         both",
    ),
    (
        &["SyntaxError", "IndentationError", "TabError"],
        "fix the syntax, and run it with the version of the language for which it is written",
    ),
    (&["FileNotFoundError", "Error: ENOENT"], NO_FILE),
    (
        &["(wrong name: "],
        "the class is in a package: name it with that, and start it in the folder above (`java PACKAGE.Bot`)",
    ),
    (
        &["no main manifest attribute"],
        "the archive doesn't say which class is the program: name it in the command (`java -cp bot.jar Bot`)",
    ),
    (
        &["java.lang.ClassNotFoundException", "Error: Could not find or load main class"],
        "compile it first, by the `build` command of its agent.toml or with `referee play --build`, and \
         compare the name of the class and the class path in its command",
    ),
    (&["EOFError"], "stop when the input ends instead of reading on"),
    (
        &[
            "KeyError: 'actions'",
            "KeyError: 'position'",
            "key not found: \"actions\"",
            "key not found: \"position\"",
        ],
        NOT_ASKED,
    ),
    (
        &["UnboundLocalError"],
        "a function that assigns to a name has a variable of its own by that name: declare it (`global NAME`) at the beginning \
         of the function, or pass the value as an argument",
    ),
    (&["uninitialized constant"], "`require` the library that defines it, or correct its spelling"),
    (
        &["NameError", "ReferenceError"],
        "define that name before it is used, import it, or correct its spelling",
    ),
    (
        &["AttributeError: 'dict' object has no attribute"],
        "a message is a dict: write `message[\"type\"]` instead of `message.type`",
    ),
    (
        &["unhashable type: 'list'"],
        "a list can be neither in a set nor a key: make it a tuple first (`tuple(cell)`)",
    ),
    (
        &["is not JSON serializable"],
        "JSON has numbers, text, lists, objects, true, false and null: convert that value (`list(..)`, `int(..)`) or leave it out",
    ),
    (
        &["UnicodeDecodeError", "UnicodeEncodeError"],
        "name the encoding when you open the file (`open(.., encoding=\"utf-8\")`)",
    ),
    (
        &["choose returned", "choose() takes", "choose() missing"],
        "`choose` gets one argument, the game, and returns one of `game.actions()`, a single action and not its cell, or None \
         to resign; `run` gets the function itself, `run(choose)`",
    ),
    (
        &["IndexError: Cannot choose from an empty sequence"],
        "the list from which it chooses is empty: print to stderr what it was made from; of the legal actions, it may have \
         left out those of one type",
    ),
    (
        &["KeyError: '", "map::at"],
        "that key is not there: print to stderr the keys that are; actions of other types have other fields (`pass` has only \
         its `type`)",
    ),
    (
        &[
            "IndexError",
            "java.lang.ArrayIndexOutOfBounds",
            "java.lang.IndexOutOfBounds",
            "index out of range",
            "index out of bounds",
            "'std::out_of_range'",
        ],
        "an index is beyond the end of a list: find out which list, such as a board with another size than `setup` of `hello` \
         says, or arguments that its command doesn't give; the last index is the length minus 1, also of a random one",
    ),
    (
        &["ConcurrentModificationException", "changed size during iteration"],
        "the loop changes the collection through which it goes: go through a copy, or make the changes after the loop",
    ),
    (
        &[
            "InputMismatchException",
            "NumberFormatException",
            "invalid literal for int()",
            "could not convert string to float",
            "'std::invalid_argument'",
            "invalid value for Integer()",
        ],
        "that text is no number: print it to stderr; read whole lines, parse each as JSON, and take the numbers from that",
    ),
    (
        &[
            "division by zero",
            "division by 0",
            "/ by zero",
            "divided by 0",
            "divide by zero",
            "modulo by zero",
        ],
        "a divisor is 0 there: test it before, such as a count that is 0 in the first turn or the length of an empty list",
    ),
    (
        &["interface conversion: "],
        "that value has another type, as the error says: a number in JSON is a float64 in Go; convert it (`int(x.(float64))`), \
         or decode into a struct",
    ),
    (
        &["all goroutines are asleep"],
        "it waits for a channel to which nobody sends any more, or for a lock: send a result on every path, or close the channel",
    ),
    (
        &["by rejecting a promise"],
        "a promise was rejected for that reason: handle it where it is awaited (`try` and `catch`, or `.catch(..)`)",
    ),
    (
        &[
            "TypeError: 'NoneType'",
            "AttributeError: 'NoneType'",
            "TypeError: Cannot read properties of",
            "java.lang.NullPointerException",
            "panic: runtime error: invalid memory address or nil",
        ],
        "a value is missing there (None, null, undefined or nil): find out which one, and where it should have come from",
    ),
    (
        &[": attempt to", ": undefined method", "Not an ARRAY reference", "Not a HASH reference"],
        "a value there is nil, or not of the type that it should be: find out which one, and where it should have come from",
    ),
    (
        &["command not found", ": not found"],
        "correct the name of that command, or install it; agents have the PATH with which `referee` was started",
    ),
    (&["requires explicit package name"], "declare that variable (`my`), or correct its spelling"),
    (
        &["terminate called without an active exception"],
        "a `std::thread` was destroyed while it still ran: call `join()` on every path, also before an early `return`",
    ),
    (
        &["*** stack smashing detected"],
        "a local array is too short for what is written to it; compiled with `-g -fsanitize=address`, the program names \
         the line",
    ),
];

/// Words in any line, in lower case, and what to do.
const KNOWN_ANYWHERE: &[(&[&str], &str)] = &[
    (
        &[
            "stack overflow",
            "stackoverflowerror",
            "recursionerror",
            "stack level too deep",
            "maximum call stack",
        ],
        "look for a recursion that doesn't end, or is deeper than the stack allows, and limit its depth",
    ),
    (
        &[": [[: ", "bad substitution", "syntax error: \"(\" unexpected"],
        "this is the syntax of bash, but `sh` runs the script: write `#!/bin/bash` as its first line, or name `bash` in its \
         command",
    ),
    (
        &["at interpreter shutdown"],
        "a thread still ran when the main thread had ended: let the main thread wait for it (`thread.join()`)",
    ),
    (
        &["has finished its bootstrapping phase"],
        "put what starts the agent below `if __name__ == \"__main__\":`, since each worker process imports its file",
    ),
    (
        &["too many open files", "emfile"],
        "close files when you have read them: an agent may have as many open as `files` of `hello.limits` \
         says, or more with `--limit files=N`",
    ),
    (
        &["outofmemoryerror", "memoryerror", "bad_alloc", "out of memory"],
        "it needs more memory than `memory_mb` of `hello.limits`: make its tables smaller, free what it keeps from turn to \
         turn, or allow more with `--limit memory_mb=N`",
    ),
    (
        &["game.play("],
        "`game.play` changes the game itself: try an action on a copy, with `game.after(action)`",
    ),
    (&["no such file or directory"], NO_FILE),
    (
        &["file too large", "efbig", "no space left on device", "enospc"],
        "write less: the private folder of an agent has the size `work_mb` of `hello.limits`, or more with \
         `--limit work_mb=N`",
    ),
];

/// Returns the advice about the line that says why a program failed.
pub(super) fn known_error(line: &str) -> Option<&'static str> {
    let is_said = |name: &&str| {
        let begins = |at: usize| {
            !line[..at].ends_with(char::is_alphanumeric) || !name.starts_with(char::is_alphanumeric)
        };
        line.match_indices(name).any(|(at, _)| begins(at))
    };
    KNOWN.iter().find(|(names, _)| names.iter().any(is_said)).map(|(_, fix)| *fix)
}

/// Returns the advice about words that count in any line.
pub(super) fn known_anywhere(stderr: &str) -> Option<&'static str> {
    let lower = stderr.to_lowercase();
    let is_said = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    KNOWN_ANYWHERE.iter().find(|(words, _)| is_said(words)).map(|(_, fix)| *fix)
}
