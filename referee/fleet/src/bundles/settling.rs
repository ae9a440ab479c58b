//! From a bundle that has arrived to an agent that can be started.

use super::archive::Bounds;
use super::guard::{Guard, place_of};
use super::unpack::{Trouble, unpack};
use crate::{Brief, BundleRef, Traveller, WorkerFault};
use referee_contest::PlayerInfo;
use referee_play::contender::{Contender, resolve};
use referee_process::Failure;
use referee_process::agent::Launch;
use referee_process::sandbox::reach::missing;
use referee_runner::building::build_foreign;
use std::fs::Permissions;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The files of a bundle on a worker.
#[derive(Debug)]
pub(super) struct Files {
    /// The folder that they are in; canonical.
    pub(super) root: PathBuf,
    /// The files, in the order of the bundle, relative to it.
    pub(super) list: Vec<PathBuf>,
}

/// Unpacks a bundle, if there is one, into a folder that is new, and removes its file.
pub(super) fn unpacked(
    root: &Path,
    packed: Option<&Path>,
    bundle: Option<&BundleRef>,
) -> Result<Files, WorkerFault> {
    if root.exists() {
        std::fs::remove_dir_all(root).map_err(|error| disk(root, &error))?;
    }
    create_folder(root)?;
    let root = root.canonicalize().map_err(|error| disk(root, &error))?;
    let (Some(packed), Some(bundle)) = (packed, bundle) else {
        return Ok(Files { root, list: Vec::new() });
    };
    let list = unpack(packed, bundle, &root, Bounds::default());
    std::fs::remove_file(packed).ok();
    let list = list.map_err(|trouble| match trouble {
        Trouble::Bundle(text) => WorkerFault::new("bundle", format!("{}: {text}", bundle.sha256)),
        Trouble::Disk(text) => WorkerFault::new("disk", &text),
    })?;
    Ok(Files { root, list })
}

impl Files {
    /// What all agents of a contest may read, where these are the files for all; canonical. And the
    /// folder that stands for the contest's.
    pub(super) fn read_by_all(
        &self,
        brief: &Brief,
        lent: &[PathBuf],
    ) -> Result<(Vec<PathBuf>, PathBuf), WorkerFault> {
        let base = self.base(brief)?;
        let guard = Guard { root: &self.root, lent };
        let mut paths = Vec::new();
        for path in &brief.contest.sandbox.read {
            let found = base.join(path).canonicalize();
            let found =
                found.map_err(|error| WorkerFault::new("agent", format!("{path}: {error}")))?;
            guard.allows(&found).map_err(|text| WorkerFault::new("agent", &text))?;
            paths.push(found);
        }
        Ok((paths, base))
    }

    /// What stands for the contest's folder.
    fn base(&self, brief: &Brief) -> Result<PathBuf, WorkerFault> {
        let base = place_of(&self.root, &brief.folder).ok_or_else(|| {
            WorkerFault::new("bundle", "the contest's folder is no path within a bundle")
        })?;
        create_folder(&base)?;
        Ok(base)
    }
}

/// An agent whose files are there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settling<'a> {
    pub(super) brief: &'a Brief,
    pub(super) player: usize,
    pub(super) files: &'a Files,
    /// What else of this machine agents may read.
    pub(super) lent: &'a [PathBuf],
}

impl Settling<'_> {
    /// Puts what all may read beside an agent's own files, where it would find it at home. They are
    /// the same files.
    pub(super) fn share(&self, shared: &Files) -> Result<(), WorkerFault> {
        for file in &shared.list {
            let place = self.files.root.join(file);
            create_folder(place.parent().unwrap_or(&place))?;
            match std::fs::hard_link(shared.root.join(file), &place) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(disk(&place, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Builds and reads it.
    pub(super) fn settle(&self) -> Result<Arc<Contender>, WorkerFault> {
        let known =
            (self.brief.agents.get(self.player), self.brief.contest.players.get(self.player));
        let (Some(traveller), Some(info)) = known else {
            return Err(WorkerFault::new(
                "bundle",
                format!("the contest has no player {}", self.player),
            ));
        };
        let base = self.files.base(self.brief)?;
        let digested = self.files.list.get(..traveller.digested as usize).unwrap_or_default();
        let guard = Guard { root: &self.files.root, lent: self.lent };
        // What is to be done about it is for whoever gave the AGENT, not for who reads of a worker.
        let unread =
            |failure: Failure| WorkerFault::new("agent", format!("{}: {failure}", info.name));
        let mut contender = Contender::read_unbuilt(&traveller.run, &base).map_err(unread)?;
        self.check(guard, &contender, traveller, info)?;
        let digest = guard.digest(&contender, &traveller.run, info, &base, digested);
        if digest.is_some_and(|digest| digest != info.digest) {
            let text = format!("{}: what arrived is not what the contest has", info.name);
            return Err(WorkerFault::new("bundle", &text));
        }
        if contender.build.is_some() {
            self.build(&contender, info)?;
            contender = Contender::read_in(&traveller.run, &base).map_err(unread)?;
            self.check(guard, &contender, traveller, info)?;
        }
        self.starts(&contender, info)?;
        let shared = self.brief.contest.sandbox.read.iter().map(Path::new);
        let shared = shared.filter(|path| path.is_relative());
        contender.read.extend(shared.filter_map(|path| base.join(path).canonicalize().ok()));
        contender.name.clone_from(&info.name);
        contender.written.clone_from(&info.run);
        contender.digest.clone_from(&info.digest);
        Ok(Arc::new(contender))
    }

    fn check(
        &self,
        guard: Guard<'_>,
        contender: &Contender,
        traveller: &Traveller,
        info: &PlayerInfo,
    ) -> Result<(), WorkerFault> {
        let base = self.files.base(self.brief)?;
        let checked = guard.check(contender, &traveller.run, &base);
        checked.map_err(|text| WorkerFault::new("agent", format!("{}: {text}", info.name)))
    }

    /// Whether this machine has what it is started by. A file of its own that nobody may execute
    /// can't be started at home either: that is the agent's doing.
    fn starts(&self, contender: &Contender, info: &PlayerInfo) -> Result<(), WorkerFault> {
        let is_its_own = |path: &Path| {
            let plain = |file: std::fs::Metadata| file.permissions().mode() & 0o111 == 0;
            path.starts_with(&self.files.root) && path.metadata().is_ok_and(plain)
        };
        let missing = contender
            .files()
            .map(|files| missing(&files))
            .unwrap_or_default()
            .into_iter()
            .find(|path| !is_its_own(path));
        missing.map_or(Ok(()), |path| {
            let (name, path) = (&info.name, path.display());
            let text = format!(
                "{name} can't be started: {path} is not on this machine, or can't be executed here"
            );
            Err(WorkerFault::new("agent", &text))
        })
    }

    /// Runs its build command, in its folder.
    fn build(&self, contender: &Contender, info: &PlayerInfo) -> Result<(), WorkerFault> {
        let (Some(launch), Some(build)) = (&contender.launch, &contender.build) else {
            return Ok(());
        };
        let failed =
            |text: String| WorkerFault::new("build", format!("{}: `{build}`: {text}", info.name));
        let command = shlex::split(build).unwrap_or_default();
        let program = command.first().map_or("", String::as_str);
        let file = resolve(program, &launch.folder).map_err(|it| failed(it.to_string()))?;
        let launch = Launch { file, command, folder: launch.folder.clone() };
        build_foreign(&launch, Duration::from_millis(self.brief.build_ms)).map_err(failed)
    }
}

fn disk(path: &Path, error: &io::Error) -> WorkerFault {
    WorkerFault::new("disk", format!("{}: {error}", path.display()))
}

/// A folder that is there, with those above it. What is new can be entered by all, whatever the
/// umask.
pub(super) fn create_folder(folder: &Path) -> Result<(), WorkerFault> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    for folder in missing.into_iter().rev() {
        let made = std::fs::create_dir(folder)
            .and_then(|()| std::fs::set_permissions(folder, Permissions::from_mode(0o755)));
        made.map_err(|error| disk(folder, &error))?;
    }
    Ok(())
}
