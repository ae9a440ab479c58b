//! A private copy of an agent's own files, in which it may write. The agent's own process makes it, in the
//! sandbox: so the copy is bounded like the work folder that it is in, and removed with it.

use crate::agent_spec::AgentSpec;
use crate::digest::BYTECODE_FOLDER;
use referee_process::agent::Launch;
use referee_process::files::open_regular;
use referee_process::launcher::Bytes;
use referee_process::own_program;
use std::env;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The hidden command that runs a program in the copy of its folder.
pub const COPY_COMMAND: &str = "run-in-copy";
/// The variable with the files to copy, relative to the working directory; empty: all.
const OWN: &str = "REFEREE_OWN_FILES";
/// The variable with the folder of a copy that is kept.
const KEPT: &str = "REFEREE_KEPT_FILES";
/// The variable with the path below the copy at which the files are.
const INSIDE: &str = "REFEREE_FILES_INSIDE";
/// The name of the copy in the private work folder.
const NAME: &str = "files";
/// What a copy may contain. What doesn't fit is linked, so it can only be read.
const BYTES_MAX: u64 = 32 << 20;
/// Folders that are never copied.
const LINKED: &[&str] = &["node_modules", "target"];

/// The variables, which agents don't see.
pub const VARIABLES: [&str; 3] = [OWN, KEPT, INSIDE];

/// Returns the variables that ask for a copy of an agent's own files, which are below `folder`.
pub(super) fn variables(folder: &Path, spec: &AgentSpec) -> Vec<Bytes> {
    let own = spec.own.iter().filter_map(|path| path.strip_prefix(folder).ok());
    let own = env::join_paths(own).unwrap_or_default();
    let kept = spec.kept.iter().map(|kept| Bytes::variable(KEPT, kept));
    let inside = spec.inside.iter().map(|inside| Bytes::variable(INSIDE, inside));
    std::iter::once(Bytes::variable(OWN, own)).chain(kept).chain(inside).collect()
}

/// Returns the launch of a program in the copy of its folder.
pub(super) fn wrapped(launch: &Launch) -> Launch {
    let program = launch.file.to_string_lossy().into_owned();
    let words = ["referee".to_owned(), COPY_COMMAND.to_owned(), program];
    let command = words.into_iter().chain(launch.command.iter().cloned()).collect();
    Launch {
        file: own_program().into(),
        command,
        folder: launch.folder.clone(),
        env: launch.env.clone(),
    }
}

/// Runs [`COPY_COMMAND`]; returns why it can't.
pub fn run() -> String {
    let mut words = env::args_os().skip(2);
    let (Some(program), Some(name)) = (words.next(), words.next()) else {
        return format!("{COPY_COMMAND} needs a program");
    };
    let started = enter().map(|copy| {
        let (from, to) = copy.unwrap_or_default();
        let program = Path::new(&program);
        let inside = program.strip_prefix(&from).ok().filter(|_| !to.as_os_str().is_empty());
        let program = inside.map_or_else(|| program.to_owned(), |inside| to.join(inside));
        let mut command = Command::new(&program);
        for name in VARIABLES {
            command.env_remove(name);
        }
        command.arg0(name).args(words).exec()
    });
    let error = started.unwrap_or_else(|error| error);
    format!("{}: {error}", Path::new(&program).display())
}

/// Whether the environment asks for a copy that is kept.
pub fn is_kept() -> bool {
    env::var_os(KEPT).is_some()
}

/// Makes the copy that the environment asks for, if it does, and changes to it. Returns the folder before and
/// the copy.
pub fn enter() -> io::Result<Option<(PathBuf, PathBuf)>> {
    let Some(own) = env::var_os(OWN) else { return Ok(None) };
    let from = env::current_dir()?;
    let kept = env::var_os(KEPT).map(PathBuf::from);
    let to = kept.unwrap_or_else(|| env::temp_dir().join(NAME));
    let inside = env::var_os(INSIDE).map_or_else(|| to.clone(), |inside| to.join(inside));
    fs::create_dir_all(&inside)?;
    let own = env::split_paths(&own).collect();
    Mirror { own, rest: BYTES_MAX }.folder(&from, &inside, Path::new(""))?;
    env::set_current_dir(&to)?;
    Ok(Some((from, to)))
}

/// Makes a copy of some files of a folder; all others are linked.
struct Mirror {
    /// What is copied, relative to the folder.
    own: Vec<PathBuf>,
    /// How many bytes still fit.
    rest: u64,
}

impl Mirror {
    /// Copies or links the entries of a folder; `inner` is its path in the copied folder.
    fn folder(&mut self, from: &Path, to: &Path, inner: &Path) -> io::Result<()> {
        for name in self.names(from, inner) {
            if name == BYTECODE_FOLDER {
                continue;
            }
            let (from, to, inner) = (from.join(&name), to.join(&name), inner.join(&name));
            let Ok(kind) = from.symlink_metadata().map(|it| it.file_type()) else { continue };
            let is_own = self.own.iter().any(|own| inner.starts_with(own));
            let holds_own = self.own.iter().any(|own| own.starts_with(&inner));
            let text = name.to_string_lossy();
            let is_linked = text.starts_with('.') || LINKED.contains(&text.as_ref());
            if kind.is_dir() && (is_own && !is_linked || holds_own) {
                fs::create_dir_all(&to)?;
                self.folder(&from, &to, &inner)?;
            } else if !(kind.is_file() && is_own && self.file(&from, &to)?)
                && to.symlink_metadata().is_err()
            {
                // Without a link, a file is only missing from the copy.
                symlink(&from, &to).ok();
            }
        }
        Ok(())
    }

    /// Returns what is in a folder; of one that may not be listed, what leads to the agent's own files.
    fn names(&self, from: &Path, inner: &Path) -> Vec<OsString> {
        if let Ok(entries) = from.read_dir() {
            return entries.flatten().map(|entry| entry.file_name()).collect();
        }
        let below = self.own.iter().filter_map(|own| own.strip_prefix(inner).ok());
        below.filter_map(|own| Some(own.components().next()?.as_os_str().to_owned())).collect()
    }

    /// Copies a file with its time; false if it doesn't fit. Keeps a copy that is no older, since the agent has
    /// changed it.
    fn file(&mut self, from: &Path, to: &Path) -> io::Result<bool> {
        let Ok(mut source) = open_regular(from, u64::MAX) else { return Ok(false) };
        let data = source.metadata()?;
        let Some(rest) = self.rest.checked_sub(data.len()) else { return Ok(false) };
        let changed = data.modified()?;
        if to.metadata().and_then(|it| it.modified()).is_ok_and(|kept| kept >= changed) {
            return Ok(true);
        }
        self.rest = rest;
        let mode = data.permissions().mode() & 0o777 | 0o600;
        let mut copy =
            OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(to)?;
        let copied = io::copy(&mut source, &mut copy).and_then(|_| copy.set_modified(changed));
        if copied.is_err() {
            // The work folder is full.
            fs::remove_file(to)?;
        }
        Ok(copied.is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES_MAX, Mirror};
    use std::fs;
    use std::path::Path;

    #[test]
    fn own_files_are_copied_and_others_linked() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        for file in [
            "teams/a/agent.py",
            "teams/b/agent.py",
            "teams/a/.git/head",
            "teams/a/__pycache__/agent.cpython-312.pyc",
            "notes",
        ] {
            let file = from.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "first").unwrap();
        }
        fs::create_dir(&to).unwrap();
        let mirror = || {
            let mut mirror = Mirror { own: vec!["teams/a".into()], rest: BYTES_MAX };
            mirror.folder(&from, &to, Path::new("")).unwrap();
        };
        mirror();
        for (path, is_link) in [
            ("teams", false),
            ("teams/a/agent.py", false),
            ("teams/a/.git", true),
            ("teams/b", true),
            ("notes", true),
        ] {
            assert_eq!(to.join(path).is_symlink(), is_link, "{path}");
        }
        assert!(fs::symlink_metadata(to.join("teams/a/__pycache__")).is_err());
        // What the agent wrote stays, until its author changes the file.
        fs::write(to.join("teams/a/agent.py"), "by the agent").unwrap();
        mirror();
        assert_eq!(fs::read_to_string(to.join("teams/a/agent.py")).unwrap(), "by the agent");
        assert_eq!(fs::read_to_string(from.join("teams/a/agent.py")).unwrap(), "first");
    }

    #[test]
    fn what_does_not_fit_is_linked() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("weights"), "12345").unwrap();
        let to = place.path().join("to");
        fs::create_dir(&to).unwrap();
        let mut mirror = Mirror { own: vec!["weights".into()], rest: 4 };
        assert!(!mirror.file(&place.path().join("weights"), &to.join("weights")).unwrap());
    }
}
