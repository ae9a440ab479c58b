//! Recognizing what the sandbox kept a program from doing, by the error messages of many languages.

use super::failure_line;

/// What an agent may not do in the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restriction {
    /// Use the network.
    Network,
    /// Write outside of its work folder.
    Writing,
    /// Read a variable that is not in its environment.
    Environment,
}

/// Signs of each restriction in lower case: a line has one of the first, and the text one of the second.
const SIGNS: &[(Restriction, &[&str], &[&str])] = &[
    (
        Restriction::Network,
        &["network is unreachable", "enetunreach", "name resolution", "name or service not known"],
        &[""],
    ),
    (Restriction::Network, &["getaddrinfo", "eai_again", "unknownhostexception"], &[""]),
    (
        Restriction::Network,
        &["operation not permitted", "permission denied", "eperm", "eacces"],
        &["socket", "connect(", "urlopen", "http"],
    ),
    (Restriction::Writing, &["read-only file system", "erofs", "readonlyfilesystem"], &[""]),
    (Restriction::Environment, &["keyerror"], &["environ"]),
];

/// Returns the restriction that the error in a program's stderr is about, if any.
pub fn restriction(stderr: &str) -> Option<Restriction> {
    let lower = stderr.to_lowercase();
    let last = failure_line(stderr)?.to_lowercase();
    let fits = |(_, error, about): &&(_, &[&str], &[&str])| {
        error.iter().any(|text| last.contains(text))
            && about.iter().any(|text| lower.contains(text))
    };
    SIGNS.iter().find(fits).map(|(restriction, ..)| *restriction)
}

impl Restriction {
    /// Returns the layer that it comes from, and what to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Network => {
                "the sandbox gives agents no network: put what it needs into its folder, or try it with \
                 --sandbox basic"
            }
            Self::Writing => {
                "the sandbox lets it write only below HOME and TMPDIR, its private work folder, which is \
                 removed after the match; with `write = true` under [sandbox] of its agent.toml, it plays \
                 in a private copy of its folder"
            }
            Self::Environment => {
                "agents have a small environment without your variables: set them in its agent.toml, such \
                 as `env = { NAME = \"value\" }`"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Restriction, restriction};

    #[test]
    fn restrictions_are_found_in_the_errors_of_languages() {
        for (stderr, expected) in [
            (
                "File \"x.py\", in <module>\n  socket.create_connection(a)\nPermissionError: [Errno 1] \
                 Operation not permitted\n",
                Some(Restriction::Network),
            ),
            ("Error: connect ENETUNREACH 1.2.3.4:80", Some(Restriction::Network)),
            (
                "Get \"http://x\": dial tcp: socket: operation not permitted",
                Some(Restriction::Network),
            ),
            (
                "socket.gaierror: [Errno -3] Temporary failure in name resolution",
                Some(Restriction::Network),
            ),
            ("OSError: [Errno 30] Read-only file system: '/var/tmp/x'", Some(Restriction::Writing)),
            ("  t = os.environ[\"T\"]\nKeyError: 'T'", Some(Restriction::Environment)),
            (
                "/a/bot.rb:4:in `initialize': Read-only file system @ rb_sysopen - /a/bot.log (Errno::EROFS)\n\tfrom \
                 /a/bot.rb:4:in `open'\n\tfrom /a/bot.rb:4:in `<main>'\n",
                Some(Restriction::Writing),
            ),
            ("KeyError: 'T'", None),
            ("socket closed\nZeroDivisionError: division by zero", None),
            ("PermissionError: [Errno 13] Permission denied: 'x'", None),
            ("", None),
        ] {
            assert_eq!(restriction(stderr), expected, "{stderr}");
        }
    }
}
