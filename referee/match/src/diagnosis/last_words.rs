//! Why a program failed, by what it wrote to stderr: the line that says so and its place in the source, in the forms of
//! the languages that agents are written in, and advice about it.

use super::known_errors::{known_anywhere, known_error};
use super::{Defect, Finding};
use referee_protocol::parse_from_agent;
use referee_protocol::sanitize::sanitize;

/// What an adapter says about a missing module, after what is wrong.
const SAID: [&str; 3] = ["; install it: ", "; import it as ", "; put the course's "];

/// Parts of lines that are no words of the program: notices of Java and of Ruby about the surroundings that the referee
/// gives them, and the end of the reports of Node and Perl.
const NOTICES: [&str; 6] = [
    "Picked up JAVA_TOOL_OPTIONS:",
    "warning: timer_create failed",
    "Node.js v",
    "(Use `node ",
    "aborted due to compilation errors.",
    "BEGIN failed--compilation aborted",
];
/// Where the middle of a long stderr was left out.
const LEFT_OUT: &str = "[..]";

/// Beginnings of lines after which a program only reports how it came there, so that the first one counts:
/// Go, glibc, C++, Java, Perl.
const BEGINS: [&str; 7] = [
    "panic: ",
    "Fatal Python error: ",
    "fatal error: ",
    "*** stack smashing detected",
    "terminate called ",
    "Error: Could not find or load main class",
    "Can't locate ",
];

/// The same for parts of lines: Rust, `AddressSanitizer` and its kin.
const PARTS: [&str; 3] = [" panicked at ", "Sanitizer: ", ": runtime error: "];

/// Ends of the names of source files, before the number of a line.
const SOURCES: [&str; 12] = [
    ".js:", ".mjs:", ".cjs:", ".ts:", ".java:", ".kt:", ".go:", ".c:", ".cc:", ".cpp:", ".rb:",
    ".lua:",
];

/// Parts of the paths of files that aren't the agent's.
const FOREIGN: [&str; 9] = [
    "/lib/python",
    "site-packages",
    "<frozen",
    "<string>",
    "node:",
    "node_modules",
    "/lib/go",
    "/local/go",
    "java.base",
];

/// Parts of the paths of a kit's files, to which the author gave a wrong value, if any line of its own is known.
const KITS: [&str; 3] = ["referee_kit", "RefereeKit", "rules.py"];

/// How many characters of the line are shown.
const SHOWN_MAX: usize = 240;

/// Returns the line of a program's stderr that says why it failed, with its place in the source: by the
/// form of its language, else its last line.
pub fn failure_line(stderr: &str) -> Option<String> {
    let lines = own_lines(stderr);
    let at = named(&lines).unwrap_or(lines.len().checked_sub(1)?);
    Some(shown(&lines, at))
}

/// The same if a runtime or a shell reports an error in it.
pub fn cause_line(stderr: &str) -> Option<String> {
    let lines = own_lines(stderr);
    let of_shell = || lines.iter().rposition(|line| shell(line).is_some());
    Some(shown(&lines, named(&lines).or_else(of_shell)?))
}

/// Whether its last line is a message to the referee.
pub(super) fn has_message(stderr: &str) -> bool {
    let last = stderr.lines().rfind(|line| is_own_word(line)).unwrap_or_default();
    parse_from_agent(last.as_bytes()).is_ok()
}

/// Returns a line with its place in the source, and with the next one if that has the message.
fn shown(lines: &[&str], at: usize) -> String {
    let mut text = lines[at].trim().to_owned();
    if PARTS.iter().chain(&BEGINS).any(|known| text.contains(known))
        && let Some(next) = lines.get(at + 1)
        && (text.ends_with(':')
            || text.starts_with("terminate called")
            || next.starts_with("Caused by: "))
    {
        text = format!("{text} {}", next.trim());
    }
    let mut shown: String = text.chars().take(SHOWN_MAX).collect();
    if let Some(place) = place(lines, at).filter(|place| !text.contains(place.as_str())) {
        shown = format!("{shown} ({place})");
    }
    sanitize(&shown)
}

/// Returns the lines of a program itself. The line after what was left out is a piece of one.
fn own_lines(stderr: &str) -> Vec<&str> {
    let lines: Vec<&str> = stderr.lines().map(str::trim_end).collect();
    let is_piece = |at: usize| at > 0 && lines[at - 1].trim() == LEFT_OUT;
    let own = lines.iter().enumerate().filter(|(at, line)| is_own_word(line) && !is_piece(*at));
    own.map(|(_, line)| *line).collect()
}

/// Whether a line is not blank, and no notice of a runtime.
fn is_own_word(line: &str) -> bool {
    !["", LEFT_OUT].contains(&line.trim()) && !NOTICES.iter().any(|notice| line.contains(notice))
}

/// Returns what a program wrote to stderr without the notices of its runtime.
pub fn without_notices(stderr: &str) -> String {
    let is_notice = |line: &str| NOTICES[..2].iter().any(|notice| line.contains(notice));
    stderr.split_inclusive('\n').filter(|line| !is_notice(line)).collect()
}

/// Whether a program wrote anything itself.
pub(super) fn has_words(stderr: &str) -> bool {
    stderr.lines().any(is_own_word)
}

/// Whether it may have ended because a value was missing or empty.
pub fn may_miss_a_value(stderr: &str) -> bool {
    let cause = failure_line(stderr).unwrap_or_default().to_lowercase();
    let named =
        ["nil", "null", "none", "undefined", "\"\"", "''"].iter().any(|name| cause.contains(name));
    named || !has_words(stderr)
}

/// Returns the line that a runtime's report marks as the cause.
fn named(lines: &[&str]) -> Option<usize> {
    let first = lines.iter().position(|line| {
        BEGINS.iter().any(|known| line.starts_with(known))
            || PARTS.iter().any(|known| line.contains(known))
    });
    first
        .or_else(|| after_traceback(lines))
        .or_else(|| ruby(lines))
        .or_else(|| before_frames(lines))
}

/// Ruby: the line that ends with the class of the error, before the source with its marks.
fn ruby(lines: &[&str]) -> Option<usize> {
    let is_cause = |line: &&str| {
        let class =
            line.strip_suffix(')').and_then(|line| line.rsplit_once(" (")).map(|(_, it)| it);
        let is_class = class.is_some_and(|it| it.chars().all(char::is_alphanumeric));
        is_class && line.contains(".rb:") && line.contains(":in ")
    };
    lines.iter().rposition(is_cause)
}

/// Python: the first line after the last traceback that isn't indented.
fn after_traceback(lines: &[&str]) -> Option<usize> {
    let last = lines.iter().rposition(|line| *line == "Traceback (most recent call last):")?;
    let at = last + 1 + lines[last + 1..].iter().position(|line| !line.starts_with(' '))?;
    // The last line of an adapter repeats it with its place.
    let name = lines[at].find(": ").and_then(|end| lines[at][..end].rfind('.'));
    let plain = &lines[at][name.map_or(0, |dot| dot + 1)..];
    Some(if lines.last()?.contains(plain) { lines.len() - 1 } else { at })
}

/// Java, JavaScript, C#, Ruby, Lua: the last line that is followed by frames, perhaps after the indented line of the source.
fn before_frames(lines: &[&str]) -> Option<usize> {
    let is_frame = |line: &str| {
        let inner = line.trim_start();
        inner == "stack traceback:"
            || inner.len() < line.len() && (inner.starts_with("at ") || inner.starts_with("from "))
    };
    let last = lines.iter().rposition(|line| is_frame(line))?;
    let first = lines[..last].iter().rposition(|line| !is_frame(line))?;
    lines[..=first].iter().rposition(|line| !line.starts_with([' ', '\t']))
}

/// Returns the innermost line of the agent's own source in the stack that its runtime wrote.
pub fn stack_place(stack: &str) -> Option<String> {
    let lines: Vec<&str> = stack.lines().collect();
    // Of several tracebacks, the first one shows where the interrupt came, the others what it led to.
    let is_end = |line: &&str| line.starts_with("During handling of the above exception");
    let end = lines.iter().position(is_end).unwrap_or(lines.len());
    place(&lines[..end], end)
}

/// Returns the line of the agent's source, such as `bot.py:12`, in which it failed.
fn place(lines: &[&str], cause: usize) -> Option<String> {
    let of = |others: &[&str]| {
        let is_own = |line: &&&str| !others.iter().any(|part| line.contains(part));
        let (before, after) = lines.split_at(cause);
        // Python's innermost frame is the last.
        let python = before.iter().rev().filter(is_own).find_map(|line| {
            let (path, rest) =
                line.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
            let number = rest.split(',').next()?;
            Some(format!("{}:{number}", path.rsplit('/').next()?))
        });
        // That of others is the first. Node prints the place of a syntax error before it.
        python.or_else(|| after.iter().chain(before).filter(is_own).find_map(|line| source(line)))
    };
    of(&[&FOREIGN[..], &KITS].concat()).or_else(|| of(&FOREIGN))
}

/// Returns the file and the line that are named in a frame.
fn source(line: &str) -> Option<String> {
    let (at, end) = SOURCES.iter().find_map(|end| Some((line.find(end)?, end)))?;
    let stem = line[..at].rsplit(|letter: char| "/ (\t\"'".contains(letter)).next()?;
    let number: String = line[at + end.len()..].chars().take_while(char::is_ascii_digit).collect();
    (!stem.is_empty() && !number.is_empty()).then(|| format!("{stem}{end}{number}"))
}

/// Returns the file and the line at the end of an error of Perl: "at bot.pl line 4".
fn perl(line: &str) -> Option<String> {
    let (file, rest) = line.rsplit_once(" at ")?.1.split_once(" line ")?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let name = file.rsplit('/').next()?;
    (!number.is_empty()).then(|| format!("{name}:{number}"))
}

/// Returns the file and the line in an error of a shell: "/a/bot.sh: line 4: .." or, of dash, "bot.sh: 4: ..".
fn shell(line: &str) -> Option<String> {
    let (file, rest) = line.split_once(".sh: ")?;
    let (number, _) = rest.strip_prefix("line ").unwrap_or(rest).split_once(':')?;
    let name = file.rsplit('/').next()?;
    number.parse::<u32>().ok().map(|number| format!("{name}.sh:{number}"))
}

/// How the advice on an error at a place begins.
pub(super) const CORRECT: &str = "correct the error in";

/// Returns the finding of a program that ended with an error.
pub(super) fn crash(what: String, stderr: &str) -> Finding {
    let Some(line) = failure_line(stderr) else {
        return Finding::new(Defect::Crash, what).fix(
            "it wrote no error to stderr: let it print there where it is (in a shell, `set -x`), and run it again with the same \
             input",
        );
    };
    let finding = Finding::new(Defect::Crash, format!("{what}: {line}"));
    if let Some(said) = SAID.iter().find_map(|said| line.find(said)) {
        return finding.fix(&line[said + 2..]);
    }
    if line.contains("/~/") {
        return finding.fix("no shell replaces `~` in its command: write the whole path");
    }
    if line.contains("can't open file") {
        return finding.fix("the script in its command doesn't exist: correct the command");
    }
    match (known_error(&line).or_else(|| known_anywhere(stderr)), place_in(&line)) {
        (Some(fix), _) => finding.fix(fix),
        (None, Some(place)) if is_raised(stderr) => finding.fix(format!(
            "its own code raises this error in {place}: catch it where that is called (`try` and `except`), or find out why \
             it comes to that"
        )),
        (None, Some(place)) => finding.fix(format!(
            "{CORRECT} {place}; before it, print to stderr the values that are used there, and run it again with the \
             same input"
        )),
        (None, None) => finding,
    }
}

/// Whether the innermost line of a traceback of Python is one of the program that raises an error.
fn is_raised(stderr: &str) -> bool {
    let mut frames = stderr.lines().skip_while(|line| !line.starts_with("Traceback "));
    let mut last = "";
    while let Some(line) = frames.next() {
        if line.starts_with("  File \"") {
            let is_own = !FOREIGN.iter().chain(&KITS).any(|part| line.contains(part));
            last = frames.next().filter(|_| is_own).unwrap_or_default();
        }
    }
    last.trim_start().starts_with("raise ")
}

/// Returns the place in the source of the line that says why a program failed, such as `bot.py:12`.
pub fn failure_place(stderr: &str) -> Option<String> {
    place_in(&failure_line(stderr)?)
}

fn place_in(line: &str) -> Option<String> {
    source(line).or_else(|| perl(line)).or_else(|| shell(line)).or_else(|| {
        let (_, place) = line.strip_suffix(')')?.rsplit_once('(')?;
        (!place.contains(' ') && place.contains(':')).then(|| place.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::{crash, failure_line, stack_place};

    #[test]
    fn the_cause_decides() {
        for (stderr, expected) in [
            ("Traceback\nModuleNotFoundError: No module named 'numpy'\n\n", "install the module"),
            (
                "Traceback\nModuleNotFoundError: No module named 'a'; install it: python3 -m pip install a\n",
                "install it: python3 -m pip install a",
            ),
            ("    run(\nSyntaxError: '(' was never closed\n", "fix the syntax"),
            ("python3: can't open file '/a/bot.pyy': [Errno 2]\n", "correct the command"),
            ("FileNotFoundError: 'book'\n", "put files into the agent's folder"),
            ("Caused by: java.lang.ClassNotFoundException: Bot\n", "compile it first"),
            ("SyntaxError\nValueError: x\n", "read its stderr"),
            (
                "SyntaxError: Unexpected non-whitespace character after JSON at position 86\n    at JSON.parse (<anonymous>)\n",
                "several may come at once",
            ),
            ("OSError: [Errno 24] Too many open files: 'a'\n", "close files"),
            ("Error: EFBIG: file too large, write\n    at x\n\nNode.js v18\n", "write less"),
            ("", "no error to stderr"),
            (
                "no move for 4 at /a/bot.pl line 4, <STDIN> line 8.\n",
                "correct the error in bot.pl:4",
            ),
            (
                "lua: bot.lua:3: attempt to concatenate a nil value (local 'a')\n",
                "a value there is nil",
            ),
            (
                "bot.rb:6:in `<main>': undefined method `sample' for nil:NilClass (NoMethodError)\n\n  puts(m.sample)\n        ^^^^^^^\n",
                "a value there is nil",
            ),
            (
                "Fatal Python error: _enter_buffered_busy: could not acquire lock at interpreter shutdown\n\n<no Python frame>\n",
                "let the main thread wait",
            ),
            ("ModuleNotFoundError: No module named 'Json'\n", "upper and lower case"),
            ("AttributeError: 'dict' object has no attribute 'type'\n", "message[\"type\"]"),
            (
                "  File \"/a/bot.py\", line 9, in <module>\nNameError: name 'x' is not defined\n",
                "define that name",
            ),
            (
                "Traceback (most recent call last):\n  File \"/a/bot.py\", line 9, in <module>\nValueError: no good\n",
                "correct the error in bot.py:9",
            ),
            ("panic: runtime error: index out of range [10] with length 7\n", "another size than"),
            (
                "lua: bot.lua:6: attempt to index a nil value (local 'board')\n",
                "a value there is nil",
            ),
            (
                "Error: Could not find or load main class Main\nCaused by: java.lang.ClassNotFoundException: Main\n",
                "the name of the class",
            ),
            (
                "cannot read weights: No such file or directory at bot.pl line 3.\n",
                "put files into",
            ),
            ("Traceback\nKeyError: 'actions'\n", "\"want\":[\"actions\""),
            ("*** stack smashing detected ***: terminated\n", "a local array is too short"),
            ("terminate called without an active exception\n", "`join()`"),
            ("/a/bot.sh: 3: [[: Permission denied\n", "#!/bin/bash"),
            ("bot.sh: 5: Syntax error: \"(\" unexpected\n", "#!/bin/bash"),
            ("bot.sh: 2: Bad substitution\n", "#!/bin/bash"),
        ] {
            let fix = crash("ended".to_owned(), stderr).fix;
            assert!(fix.contains(expected), "{stderr}: {fix}");
        }
    }

    #[test]
    fn errors_of_all_languages_have_their_advice() {
        for (stderr, expected) in [
            ("/a/bot.sh: line 7: x: bad array subscript\n", "correct the error in bot.sh:7"),
            (
                "/a/bot.sh: line 7: RANDOM % n: division by 0 (error token is \"n\")\n",
                "a divisor is 0",
            ),
            ("Traceback\nZeroDivisionError: division by zero\n", "a divisor is 0"),
            (
                "Traceback (most recent call last):\n  File \"/a/bot.py\", line 9, in <module>\n    search(3)\n  File \
                 \"/a/bot.py\", line 5, in search\n    raise OutOfTime()\nOutOfTime\n",
                "its own code raises this error in bot.py:5",
            ),
            (
                "Traceback (most recent call last):\n  File \"/a/bot.py\", line 9, in <module>\n    json.dumps(x)\n  File \
                 \"/usr/lib/python3.11/json/encoder.py\", line 180, in default\n    raise TypeError(x)\n\
                 TypeError: Object of type set is not JSON serializable\n",
                "convert that value",
            ),
            ("ImportError: attempted relative import with no known parent package\n", "from board"),
            (
                "ImportError: cannot import name 'Template' from 'string' (/a/string.py)\n",
                "rename it",
            ),
            ("UnboundLocalError: cannot access local variable 'n'\n", "`global NAME`"),
            ("TypeError: unhashable type: 'list'\n", "tuple(cell)"),
            ("UnicodeDecodeError: 'ascii' codec can't decode byte 0xc3\n", "encoding=\"utf-8\""),
            ("TypeError: choose returned (3, 0): neither an action nor None\n", "a single action"),
            ("TypeError: choose() missing 1 required positional argument: 't'\n", "one argument"),
            (
                "Traceback (most recent call last):\n  File \"/a/bot.py\", line 7, in choose\n    game.play(action)\n\
                 KeyError: 4\n",
                "`game.after(action)`",
            ),
            ("RuntimeError: dictionary changed size during iteration\n", "through a copy"),
            (
                "Exception in thread \"main\" java.util.InputMismatchException\n\tat Bot.main(Bot.java:8)\n",
                "is no number",
            ),
            (
                "Exception in thread \"main\" java.lang.NullPointerException: it is null\n\tat Bot.main(Bot.java:8)\n",
                "a value is missing there",
            ),
            (
                "Exception: java.lang.OutOfMemoryError thrown from the UncaughtExceptionHandler in thread \"main\"\n",
                "memory_mb",
            ),
            (
                "Error: Could not find or load main class Bot\nCaused by: java.lang.NoClassDefFoundError: Bot (wrong name: \
                 team/Bot)\n",
                "the class is in a package",
            ),
            ("no main manifest attribute, in bot.jar\n", "java -cp bot.jar Bot"),
            ("fatal error: all goroutines are asleep - deadlock!\n", "to which nobody sends"),
            ("panic: interface conversion: interface {} is float64, not int\n", "float64 in Go"),
            (
                "SyntaxError: Cannot use import statement outside a module\n    at wrapSafe (node:internal:1)\n",
                "`.mjs`",
            ),
            (
                "SyntaxError: Unexpected token '}'\n    at wrapSafe (node:internal:1)\n",
                "fix the syntax",
            ),
            (
                "UnhandledPromiseRejection: by rejecting a promise which was not handled: \"no\"\n    at x (node:y)\n",
                "where it is awaited",
            ),
            (
                "Can't locate Game/Hex.pm in @INC (you may need to) at bot.pl line 2.\nBEGIN failed--compilation aborted at \
                 bot.pl line 2.\n",
                "install the module",
            ),
            (
                "Global symbol \"$m\" requires explicit package name at bot.pl line 4.\nExecution of bot.pl aborted due to \
                 compilation errors.\n",
                "declare that variable",
            ),
            ("/a/bot.sh: line 3: jqq: command not found\n", "name of that command"),
            ("Traceback\nKeyError: 'directions'\n", "other fields"),
            (
                "terminate called after throwing an instance of 'std::out_of_range'\n  what():  map::at\n",
                "that key is not there",
            ),
            (
                "Traceback (most recent call last):\n  File \"/a/bot.py\", line 9, in f\n[..]\n  File \"/a/bot.py\", \
                 line 9, in f\nRecursionError: maximum\n",
                "limit its depth",
            ),
            ("bot.rb:3:in `x': uninitialized constant JSON (NameError)\n", "`require` the library"),
            (
                "lua: bot.lua:1: module 'cjson' not found:\n\tno file './cjson.lua'\nstack traceback:\n\t[C]: in ?\n",
                "install the module",
            ),
            ("python3: can't open file '/a/~/bot.py': [Errno 2]\n", "no shell replaces `~`"),
        ] {
            let fix = crash("ended".to_owned(), stderr).fix;
            assert!(fix.contains(expected), "{stderr}: {fix}");
        }
    }

    #[test]
    fn the_innermost_own_line_of_a_stack_is_found() {
        for (stack, expected) in [
            (
                "Traceback (most recent call last):\n  File \"/a/bot.py\", line 20, in <module>\n    main()\n  File \
                 \"/a/bot.py\", line 18, in main\n    time.sleep(9)\nKeyboardInterrupt\n",
                "bot.py:18",
            ),
            (
                "SIGQUIT: quit\nPC=0x46 m=0\n\ngoroutine 1 [sleep]:\ntime.Sleep(0x2)\n\t/usr/lib/go-1.19/src/runtime/\
                 time.go:195 +0x135\nmain.main()\n\t/a/bot.go:12 +0x2a\n",
                "bot.go:12",
            ),
            (
                "Full thread dump OpenJDK 64-Bit Server VM:\n\n\"main\" #1 prio=5 waiting on condition\n   \
                 java.lang.Thread.State: TIMED_WAITING (sleeping)\n\tat java.lang.Thread.sleep(java.base@17/Native \
                 Method)\n\tat Bot.main(Bot.java:7)\n",
                "Bot.java:7",
            ),
        ] {
            assert_eq!(stack_place(stack).as_deref(), Some(expected));
        }
        assert_eq!(stack_place("{\"type\":\"ready\"}\n"), None);
    }

    /// Written by the runtimes themselves, cut to a few frames.
    #[test]
    fn the_cause_is_found_in_the_reports_of_all_languages() {
        for (stderr, expected) in [
            (
                "loading\nTraceback (most recent call last):\n  File \"/a/bot.py\", line 9, in <module>\n    \
                 main()\n  File \"/a/bot.py\", line 5, in main\n    return cells[3]\n           ~~~~~^^^\n\
                 IndexError: list index out of range\n\nException ignored in: <stdout>\n\
                 BrokenPipeError: [Errno 32] Broken pipe\n",
                "IndexError: list index out of range (bot.py:5)",
            ),
            (
                "Traceback (most recent call last):\n  File \"/a/bot.py\", line 40, in <module>\n    run(choose)\n  File \
                 \"/a/referee_kit.py\", line 90, in run\n    action = choose(game)\n  File \"/a/bot.py\", line 12, in \
                 choose\n    game.after(cell)\n  File \"/a/rules.py\", line 55, in after\n    kind = action[\"type\"]\n\
                 TypeError: tuple indices must be integers or slices, not str\n",
                "TypeError: tuple indices must be integers or slices, not str (bot.py:12)",
            ),
            (
                "Traceback (most recent call last):\n  File \"/a/bot.py\", line 3, in action\n\
                 agent.program.Odd: first\nbot.py:3: Odd: first\n",
                "bot.py:3: Odd: first",
            ),
            (
                "Traceback (most recent call last):\n  File \"/a/bot.py\", line 3, in <module>\n  File \
                 \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw_decode\n\
                 json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n",
                "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0) (bot.py:3)",
            ),
            (
                "  File \"/a/bot.py\", line 2\n    run(\n       ^\nSyntaxError: '(' was never closed\n",
                "SyntaxError: '(' was never closed (bot.py:2)",
            ),
            (
                "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\n\
                 main.main()\n\t/a/bot.go:7 +0x1d\nexit status 2\n",
                "panic: runtime error: index out of range [5] with length 3 (bot.go:7)",
            ),
            (
                "Exception in thread \"main\" java.lang.RuntimeException: x\n\tat Bot.main(Bot.java:5)\nCaused by: \
                 java.io.IOException: y\n\tat java.base/java.io.Reader.read(Reader.java:1)\n\tat \
                 Bot.read(Bot.java:9)\n\t... 1 more\n",
                "Caused by: java.io.IOException: y (Bot.java:9)",
            ),
            (
                "/a/bot.js:3\n  boom();\n  ^\n\nReferenceError: boom is not defined\n    at turn (/a/bot.js:3:3)\n    \
                 at node:internal/main/run_main_module:23:47\n\nNode.js v20.20.2\n",
                "ReferenceError: boom is not defined (bot.js:3)",
            ),
            (
                "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds\nnote: run with \
                 `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
                "thread 'main' panicked at src/main.rs:4:5: index out of bounds",
            ),
            (
                "=====\n==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6\n    #0 0x4 in main \
                 /a/bot.c:5:3\n==7==ABORTING\n",
                "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6 (bot.c:5)",
            ),
            (
                "terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector\n",
                "terminate called after throwing an instance of 'std::out_of_range' what():  vector",
            ),
            (
                "*** stack smashing detected ***: terminated\n",
                "*** stack smashing detected ***: terminated",
            ),
            (
                "lua5.4: bot.lua:3: attempt to index a nil value\nstack traceback:\n\t[C]: in ?\n",
                "lua5.4: bot.lua:3: attempt to index a nil value",
            ),
            (
                "bot.rb:3:in `turn': undefined method `x' (NoMethodError)\n\tfrom bot.rb:9:in `<main>'\n",
                "bot.rb:3:in `turn': undefined method `x' (NoMethodError)",
            ),
            (
                "<main>: warning: timer_create failed: Operation not permitted, signals racy\nbot.rb:12:in `block in \
                 <main>': undefined method `map' for nil:NilClass (NoMethodError)\n\n    row = m['at'].map\n              \
                 ^^^^\n\tfrom bot.rb:4:in `each'\n\tfrom bot.rb:4:in `<main>'\n",
                "bot.rb:12:in `block in <main>': undefined method `map' for nil:NilClass (NoMethodError)",
            ),
            ("Can't locate JSON.pm at bot.pl line 2.\n", "Can't locate JSON.pm at bot.pl line 2."),
        ] {
            assert_eq!(failure_line(stderr).as_deref(), Some(expected));
        }
        assert_eq!(failure_line(""), None);
        let long = "Traceback (most recent call last):\n  File \"/a/b.py\", line 9, in f\n[..]\ne 3, in f\nE: y\n";
        assert_eq!(failure_line(long).as_deref(), Some("E: y (b.py:9)"));
        assert_eq!(failure_line("Picked up JAVA_TOOL_OPTIONS: -Xmx1g\n\n"), None);
    }
}
