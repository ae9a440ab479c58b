//! `contest key`: the keys that sign contests.

use crate::cli::output::{check_new, eprint_line, print};
use crate::reading::report::aligned;
use clap::Args;
use referee_contest::log::PublicKey;
use referee_process::Failure;
use referee_process::files::read_regular;
use referee_protocol::plain::sanitize;
use referee_runner::folder::{Folder, LOG_FILE};
use referee_runner::log_file::head;
use referee_runner::signing::{CONTEST_KEY, Pins, Signer, state_folder};
use std::path::{Path, PathBuf};

/// The largest file with a key, in bytes.
const KEY_BYTES_MAX: u64 = 64 << 10;

/// Show, export or pin the keys that sign contests
///
/// The results of every contest are signed with your key, which is made when it is first needed. Without
/// DIR this shows your key, with DIR the key of that contest. A pinned key is the one that `verify` expects
/// of a contest; a contest that you run yourself has its key pinned.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest key --export organiser.pub\n  \
    referee contest key contests/autumn --pin organiser.pub")]
pub(super) struct Options {
    /// Contest folder
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    key: KeyOptions,
    /// Write the public key to a file
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Expect this key of the contest: a public key, or a file with one
    #[arg(long, value_name = "KEY", requires = "folder")]
    pin: Option<String>,
    /// Expect no key of the contest
    #[arg(long, requires = "folder", conflicts_with = "pin")]
    unpin: bool,
}

/// The option that chooses the key to sign with.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct KeyOptions {
    /// File with the key that signs the contest; made if it doesn't exist. Defaults to
    /// ~/.local/state/referee/contest.key
    #[arg(long, value_name = "FILE", env = "REFEREE_KEY", hide_env_values = true)]
    key: Option<PathBuf>,
}

impl KeyOptions {
    /// Returns the key, and makes it if there is none.
    pub(crate) fn signer(&self) -> Result<Signer, Failure> {
        if let Some(file) = &self.key {
            return Signer::read_or_create(file);
        }
        let state = state_folder().ok_or_else(|| {
            Failure::machine("there is no place for the key: HOME is not set")
                .help("name a file with --key")
        })?;
        Signer::read_or_create(&state.join(CONTEST_KEY))
    }

    /// Returns the key for a contest that has begun; `None` if it is not signed.
    pub(super) fn signer_of(&self, folder: &Folder) -> Result<Option<Signer>, Failure> {
        folder.path(LOG_FILE).exists().then(|| self.signer()).transpose()
    }

    /// Returns the key; without one that was asked for, the contest is not signed, with a warning.
    pub(crate) fn signer_if_possible(&self) -> Result<Option<Signer>, Failure> {
        match self.signer() {
            Err(error) if self.key.is_none() => {
                eprint_line(&format!("warning: the contest is not signed: {error}"));
                Ok(None)
            }
            signer => signer.map(Some),
        }
    }
}

/// Pins the key of a contest that is run here; a warning if that fails.
pub(super) fn pin(folder: &Folder, signer: &Signer) {
    let key = signer.key.public();
    let pinned = Pins::read().map(|pins| pins.of(folder.root()));
    if pinned.as_ref().is_ok_and(|pinned| *pinned == Some(key)) {
        return;
    }
    if let Err(error) = pinned.and_then(|_| Pins::set(folder.root(), Some(key))) {
        eprint_line(&format!("warning: {error}"));
    }
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let (key, name, mut rows) = match &options.folder {
        None => {
            let signer = options.key.signer()?;
            let file = signer.file.display().to_string();
            (signer.key.public(), signer.name, vec![row("file", file)])
        }
        Some(root) => {
            let folder = Folder::open(root)?;
            if let Some(text) = &options.pin {
                Pins::set(root, Some(parse_key(text)?))?;
            }
            if options.unpin {
                Pins::set(root, None)?;
            }
            let pinned = match Pins::read()?.of(root) {
                Some(key) => format!("{key} ({})", key.fingerprint()),
                None => "no key".to_owned(),
            };
            let pinned = row("pinned", pinned);
            let Some(head) = head(&folder)? else {
                return print(&aligned(&[row("key", "none: it is not signed".to_owned()), pinned]));
            };
            (head.key, head.name, vec![pinned])
        }
    };
    if let Some(file) = &options.export {
        check_new("--export", file, false)?;
        return std::fs::write(file, format!("{key} {}\n", sanitize(&name)))
            .map_err(|error| referee_runner::disk_failure(file, &error));
    }
    let mut all = vec![
        row("name", sanitize(&name)),
        row("key", key.to_string()),
        row("fingerprint", key.fingerprint()),
    ];
    all.append(&mut rows);
    print(&aligned(&all))
}

/// Reads a public key, as text or from a file.
pub(crate) fn parse_key(text: &str) -> Result<PublicKey, Failure> {
    if let Ok(key) = text.parse() {
        return Ok(key);
    }
    let failed = |error: &dyn std::fmt::Display| {
        Failure::usage(format!("{text}: {error}"))
            .help("give a public key, or a file of `referee contest key --export FILE`")
    };
    let bytes = read_regular(Path::new(text), KEY_BYTES_MAX).map_err(|error| failed(&error))?;
    String::from_utf8_lossy(&bytes).parse().map_err(|error: &str| failed(&error))
}
