//! Advice from the last line that a program wrote before it ended with an error.

use super::{Defect, Finding};

/// Beginnings of a last line, and what to do.
const KNOWN: [(&[&str], &str); 4] = [
    (
        &["ModuleNotFoundError", "ImportError"],
        "install the module for the interpreter that runs the agent, or copy it into the agent's folder",
    ),
    (
        &["SyntaxError", "IndentationError", "TabError"],
        "fix the syntax, and run it with the version of the language for which it is written",
    ),
    (
        &["FileNotFoundError"],
        "it isn't there: put files into the agent's folder and open them by a path that starts there (in \
         Python, `pathlib.Path(__file__).parent`), and install the programs that it starts",
    ),
    (
        &[
            "Caused by: java.lang.ClassNotFoundException",
            "Error: Could not find or load main class",
        ],
        "compile it first, by the `build` command of its agent.toml or with `referee play --build`, and \
         compare the class path in its command",
    ),
];

/// Words in any line, in lower case, and what to do.
const KNOWN_ANYWHERE: [(&[&str], &str); 2] = [
    (
        &["too many open files", "emfile"],
        "close files when you have read them: an agent may have as many open as `files` of `hello.limits` \
         says, or more with `--limit files=N`",
    ),
    (
        &["file too large", "efbig", "no space left on device", "enospc"],
        "write less: the private folder of an agent has the size `work_mb` of `hello.limits`, or more with \
         `--limit work_mb=N`",
    ),
];

/// Returns the finding of a program that ended with an error.
pub(super) fn crash(what: String, stderr: &str) -> Finding {
    let finding = Finding::new(Defect::Crash, what);
    let last =
        stderr.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if last.contains("can't open file") {
        return finding.fix("the script in its command doesn't exist: correct the command");
    }
    let known = KNOWN.iter().find(|(begins, _)| begins.iter().any(|it| last.starts_with(it)));
    let anywhere = || {
        let lower = stderr.to_lowercase();
        KNOWN_ANYWHERE.iter().find(|(words, _)| words.iter().any(|word| lower.contains(word)))
    };
    match known.or_else(anywhere) {
        Some((_, fix)) => finding.fix(*fix),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::crash;

    #[test]
    fn the_last_line_decides() {
        for (stderr, expected) in [
            ("Traceback\nModuleNotFoundError: No module named 'numpy'\n\n", "install the module"),
            ("    run(\nSyntaxError: '(' was never closed\n", "fix the syntax"),
            ("python3: can't open file '/a/bot.pyy': [Errno 2]\n", "correct the command"),
            ("FileNotFoundError: 'book'\n", "put files into the agent's folder"),
            ("Caused by: java.lang.ClassNotFoundException: Bot\n", "compile it first"),
            ("SyntaxError\nKeyError: 'x'\n", "read its stderr"),
            ("OSError: [Errno 24] Too many open files: 'a'\n", "close files"),
            ("Error: EFBIG: file too large, write\n    at x\n\nNode.js v18\n", "write less"),
            ("", "read its stderr"),
        ] {
            let fix = crash("ended".to_owned(), stderr).fix;
            assert!(fix.contains(expected), "{stderr}: {fix}");
        }
    }
}
