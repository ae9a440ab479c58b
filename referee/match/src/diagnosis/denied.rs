//! Finding the paths that a program could not read, in the error messages of many languages and
//! tools. In a mount namespace, such a file does not exist.

/// How many of the last lines are searched.
const LINES: usize = 40;
/// The most paths that are returned.
const PATHS_MAX: usize = 16;
/// How many of the lines after a report belong to it: the places where a file was searched.
const LINES_OF_REPORT: usize = 3;
/// The longest line that is searched, in bytes.
const LINE_BYTES_MAX: usize = 1024;
/// What such a line contains, in lower case.
const DENIED: &[&str] = &[
    "permission denied",
    "permissiondenied",
    "operation not permitted",
    "access denied",
    "accessdenied",
    "access is denied",
    "eacces",
    "eperm",
    "errno 13",
    "os error 13",
    "no such file",
    "could not find",
    "cannot find",
    "can't find",
    "does not exist",
    "could not open",
    "nosuchfile",
    "filenotfound",
    "enoent",
    "cannot open",
    "can't open",
    "not found",
    "os error 2)",
];

/// Returns the paths in the last lines that report a denial, the last line's first. Some are not
/// paths at all: check whether they exist.
pub fn denied_paths(stderr: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let lines = stderr.lines().rev().take(LINES).filter(|line| line.len() <= LINE_BYTES_MAX);
    let lines: Vec<&str> = lines.collect();
    let reports: Vec<bool> = lines.iter().map(|line| reports_denial(line)).collect();
    for (at, line) in lines.iter().enumerate() {
        if !reports.iter().skip(at).take(1 + LINES_OF_REPORT).any(|&reports| reports) {
            continue;
        }
        // A path at the beginning is that of the program that says so, if another one follows.
        let said = line.split_once(": ").map(|(_, said)| said);
        let is_other = |said: &&str| said.contains('/') || is_command(said);
        let line = said.filter(|said| line.starts_with('/') && is_other(said)).unwrap_or(line);
        for path in quoted(line).chain(plain(line)) {
            if paths.len() < PATHS_MAX && !paths.iter().any(|known| known == path) {
                paths.push(path.to_owned());
            }
        }
    }
    paths
}

/// Whether `sh` says so of a command, such as `3: [[: Permission denied`, after the name of the script.
fn is_command(said: &str) -> bool {
    let parts: Vec<&str> = said.split(": ").collect();
    matches!(parts[..], [line, command, _] if line.parse::<u32>().is_ok() && !command.contains(' '))
}

fn reports_denial(line: &str) -> bool {
    let lower = line.to_lowercase();
    DENIED.iter().any(|text| lower.contains(text))
}

/// Returns quoted text, which may be a path with spaces or a relative one.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    [('\'', '\''), ('"', '"'), ('`', '`'), ('\u{2018}', '\u{2019}'), ('`', '\'')]
        .into_iter()
        .flat_map(move |(begin, end)| {
            line.match_indices(begin).filter_map(move |(at, quote)| {
                let rest = &line[at + quote.len()..];
                let inside = &rest[..rest.find(end)?];
                (!inside.is_empty()).then_some(inside)
            })
        })
}

/// Returns text that begins with a slash: up to what usually follows a path, and up to the next space
/// or punctuation mark.
fn plain(line: &str) -> impl Iterator<Item = &str> {
    let begins = line.match_indices('/').map(|(at, _)| at).filter(|at| {
        let before = line[..*at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || "'\"`([{<=:\u{2018}".contains(c))
    });
    begins.flat_map(|at| {
        let rest = &line[at..];
        let to = |end: usize| rest[..end].trim_end();
        let long = [": ", " ("].into_iter().filter_map(|end| rest.find(end));
        let short = rest.find(|c: char| c.is_whitespace() || ":'\"`)]}>,;\u{2019}".contains(c));
        let whole = [to(rest.len()), to(short.unwrap_or(rest.len()))];
        long.map(to).chain(whole).collect::<Vec<_>>()
    })
}

#[cfg(test)]
mod tests {
    use super::denied_paths;

    #[test]
    fn paths_are_found_in_the_errors_of_languages() {
        let path = "/srv/models/a net.bin";
        for line in [
            "PermissionError: [Errno 13] Permission denied: '/srv/models/a net.bin'",
            "python3: can't open file '/srv/models/a net.bin': [Errno 13] Permission denied",
            "Error: EACCES: permission denied, open '/srv/models/a net.bin'",
            "java.io.FileNotFoundException: /srv/models/a net.bin (Permission denied)",
            "Exception: java.nio.file.AccessDeniedException: /srv/models/a net.bin",
            "panic: open /srv/models/a net.bin: permission denied",
            "bot.rb:1:in `initialize': Permission denied @ rb_sysopen - /srv/models/a net.bin (Errno::EACCES)",
            "Can't open '/srv/models/a net.bin': Permission denied at bot.pl line 3.",
            "bot: /srv/models/a net.bin: Operation not permitted",
            "bot.sh: 3: cannot open /srv/models/a net.bin: Permission denied",
            "lua: cannot open file '/srv/models/a net.bin' (Permission denied)",
            "fopen(/srv/models/a net.bin): Failed to open stream: Permission denied in bot.php",
            "FileNotFoundError: [Errno 2] No such file or directory: '/srv/models/a net.bin'",
            "cannot open \u{2018}/srv/models/a net.bin\u{2019}: Permission denied",
        ] {
            let found = denied_paths(&format!("hello\n{line}\nbye\n"));
            let found = found.iter().any(|it| it.trim_end_matches(')') == path);
            assert!(found || line.contains("fopen"), "{line}: {:?}", denied_paths(line));
        }
        let named = denied_paths("/usr/bin/python3: can't open file '/a/bot.py': No such file");
        assert!(named.contains(&"/a/bot.py".to_owned()), "{named:?}");
        assert!(!named.contains(&"/usr/bin/python3".to_owned()), "{named:?}");
        assert_eq!(denied_paths("/a/bot.sh: 3: [[: Permission denied"), [""; 0]);
        let relative = denied_paths("PermissionError: [Errno 13] Permission denied: '../w.bin'");
        assert!(relative.contains(&"../w.bin".to_owned()));
        let searched = "Could not find 'net.txt'. Tried \n\t'/a/net.txt' and\n\t'/b/net.txt'.\nbye\n\
                        saved '/c'";
        let found = denied_paths(searched);
        assert!(["/a/net.txt", "/b/net.txt"].iter().all(|it| found.iter().any(|path| path == it)));
        assert!(!found.contains(&"/c".to_owned()), "{found:?}");
        let short = denied_paths("open(/opt/x.so): Permission denied");
        assert!(short.contains(&"/opt/x.so".to_owned()), "{short:?}");
    }

    #[test]
    fn other_and_hostile_lines_have_no_paths() {
        assert!(denied_paths("").is_empty());
        assert!(denied_paths("reading '/srv/x'").is_empty());
        assert!(denied_paths(&format!("{}permission denied", "/a ".repeat(5000))).is_empty());
        let many = (0..50).map(|n| format!("/x/{n}: permission denied")).collect::<Vec<_>>();
        assert_eq!(denied_paths(&many.join("\n")).len(), 16);
        assert_eq!(denied_paths("permission denied '\"`/'/'/\u{2018}")[0], "\"`/");
    }
}
