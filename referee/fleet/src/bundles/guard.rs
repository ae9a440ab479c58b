//! What an agent on a worker may be and may ask to read: what came with it, what is the system's,
//! and what the worker lends. A command line names any file that it likes, and what an agent's words
//! name it may read: so nothing of the machine's owner may be among that.

use referee_contest::PlayerInfo;
use referee_play::contender::{Contender, Parts, Sort};
use referee_play::digest::{digest_command, digest_files};
use referee_process::sandbox::reach::{is_system, unusual};
use referee_protocol::plain::tame;
use std::path::{Component, Path, PathBuf};

/// Where an agent's files are on a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard<'a> {
    /// Where its bundle was unpacked; canonical.
    pub(super) root: &'a Path,
    /// What else the worker lets agents read; canonical.
    pub(super) lent: &'a [PathBuf],
}

impl Guard<'_> {
    /// Whether an agent may read a canonical path, or why not.
    pub(super) fn allows(&self, path: &Path) -> Result<(), String> {
        let lent = self.lent.iter().any(|lent| path.starts_with(lent));
        if path.starts_with(self.root) || is_system(path) || lent {
            return Ok(());
        }
        let path = tame(&path.display().to_string());
        Err(format!("it asks for {path}, which this worker doesn't lend (--lend)"))
    }

    /// Whether an agent is and reads only what it may, or why it can't play here.
    pub(super) fn check(
        &self,
        contender: &Contender,
        run: &str,
        base: &Path,
    ) -> Result<(), String> {
        let Some(launch) = &contender.launch else {
            return Err("nobody sits at the terminal of a worker".to_owned());
        };
        if Parts::of(run, base).sort == Sort::BuiltIn {
            return Ok(());
        }
        let folder = launch.folder.canonicalize().unwrap_or_else(|_| launch.folder.clone());
        let unusual = contender.files().map(|files| unusual(&files)).unwrap_or_default();
        let paths = contender.own.iter().chain(&contender.read).chain(&unusual).chain([&folder]);
        for path in paths {
            self.allows(path)?;
        }
        Ok(())
    }

    /// The digest of what arrived, to be compared with the contest's; `None` where it depends on
    /// more than that: the system's files, or how a command line that had to be rewritten reads.
    pub(super) fn digest(
        &self,
        contender: &Contender,
        run: &str,
        info: &PlayerInfo,
        base: &Path,
        digested: &[PathBuf],
    ) -> Option<String> {
        let parts = Parts::of(run, base);
        let launch = contender.launch.as_ref()?;
        match parts.sort {
            Sort::BuiltIn | Sort::Package => Some(contender.digest.clone()),
            Sort::File => launch.file.starts_with(self.root).then(|| contender.digest.clone()),
            Sort::Folder => {
                let inside = |file: &PathBuf| {
                    let file = self.root.join(file);
                    file.strip_prefix(&launch.folder).ok().map(Path::to_owned)
                };
                let files: Option<Vec<PathBuf>> = digested.iter().map(inside).collect();
                let digest = digest_files(&launch.folder, &files?).ok()?;
                Some(match parts.protocol {
                    None => digest,
                    Some(name) => digest_command(&[format!("{name}:"), digest], Path::new("/")),
                })
            }
            Sort::Command => {
                let written = Parts::of(&info.run, base).agent;
                let same = shlex::split(written).as_ref() == Some(&launch.command);
                let system = launch.command.iter().any(|word| Path::new(word).is_absolute());
                (same && !system).then(|| contender.digest.clone())
            }
        }
    }
}

/// A place below a folder, by a text from the wire: normal components only. The empty text is the
/// folder itself.
pub(super) fn place_of(root: &Path, text: &str) -> Option<PathBuf> {
    let path = Path::new(text);
    let normal = path.components().all(|part| matches!(part, Component::Normal(_)));
    normal.then(|| root.join(path))
}
