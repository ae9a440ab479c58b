//! From the contenders of a contest to the bundles that workers get.

use super::archive::{Bounds, Piece, write};
use super::files::{Exclude, Files, join, relative};
use super::portable::{check_folder, is_sent, refusal};
use crate::messages::FORM;
use crate::{AgentPackage, Brief, BundleRef};
use referee_play::adapted::COMP30024;
use referee_play::contender::{Contender, Parts, Sort, package_of};
use referee_process::Failure;
use referee_process::sandbox::reach::is_wide;
use referee_protocol::plain::{count, tame};
use referee_runner::Prepared;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A contest's agents, ready to be sent.
#[derive(Debug)]
pub struct Packed {
    /// What a worker needs of each agent, by player.
    pub packages: Vec<AgentPackage>,
    /// The bundles, each once, and the files that they are in.
    pub bundles: Vec<(BundleRef, PathBuf)>,
    /// What stands for the contest's folder in each bundle: [`crate::Brief::folder`].
    pub folder: String,
    /// What all agents may read, where files of the contest's folder are among that.
    pub shared: Option<BundleRef>,
    /// What a person should know, in sentences.
    pub notes: Vec<String>,
    /// Where the files are, as long as this is kept.
    files: TempDir,
}

/// Packs the agents of a contest, or says which of them can't be sent and what to do about it. It
/// reads all of their files.
pub fn pack(prepared: &Prepared) -> Result<Packed, Failure> {
    pack_within(prepared, Bounds::default())
}

/// The same with other bounds of a bundle.
pub(super) fn pack_within(prepared: &Prepared, bounds: Bounds) -> Result<Packed, Failure> {
    let base = &prepared.base;
    let named = |name: &str, failure: &Failure| {
        Failure::new(failure.code(), format!("{}: {failure}", tame(name)))
            .or_help(failure.help_text().map(str::to_owned))
    };
    let mut agents = Vec::new();
    let mut notes = Vec::new();
    for (contender, info) in prepared.contenders.iter().zip(&prepared.contest.players) {
        let parts = Parts::of(&info.run, base);
        if !is_sent(parts.sort) {
            return Err(refusal(contender, &parts, base));
        }
        let files = files(prepared, contender, parts.sort);
        let files = files.map_err(|failure| named(&contender.name, &failure))?;
        if files.links > 0 {
            let links = count(files.links as u64, "link");
            notes.push(format!("{}: {links} not sent, only files are", tame(&contender.name)));
        }
        agents.push((run(contender, &parts, base)?, files.list));
    }
    let shared = shared(prepared)?;
    let all = || agents.iter().flat_map(|(_, files)| files).chain(&shared);
    // The nearest folder that holds everything, so that all keeps its place relative to the rest.
    let holds_all = |folder: &&Path| all().all(|file| file.place.starts_with(folder));
    let root = base.ancestors().find(holds_all).unwrap_or(base);
    let root = root.to_owned();
    let folder = base.strip_prefix(&root).unwrap_or(Path::new("")).to_string_lossy().into_owned();
    let files = tempfile::Builder::new().prefix("referee-bundles-").tempdir();
    let files =
        files.map_err(|error| Failure::machine(format!("no folder for bundles: {error}")))?;
    let (packages, bundles) = (Vec::new(), Vec::new());
    let mut packed = Packed { packages, bundles, folder, shared: None, notes, files };
    for ((run, files), contender) in agents.into_iter().zip(&prepared.contenders) {
        let bundle = packed.bundle(files, &root, bounds);
        let bundle = bundle.map_err(|failure| named(&contender.name, &failure))?;
        packed.packages.push(AgentPackage { run, bundle });
    }
    check_unchanged(prepared)?;
    packed.shared = packed.bundle(shared, &root, bounds)?;
    Ok(packed)
}

/// Whether the agents that were packed are those of the contest.
fn check_unchanged(prepared: &Prepared) -> Result<(), Failure> {
    for (contender, info) in prepared.contenders.iter().zip(&prepared.contest.players) {
        let now = Contender::read_in(&info.run, &prepared.base)?;
        if !now.is_still(&info.digest, &contender.files) {
            let name = tame(&info.name);
            return Err(Failure::operation(format!("{name}: it changed while it was packed")));
        }
    }
    Ok(())
}

/// The files of an agent.
fn files(prepared: &Prepared, contender: &Contender, sort: Sort) -> Result<Files, Failure> {
    let mut files = Files::default();
    let Some(launch) = &contender.launch else { return Ok(files) };
    let folder = &launch.folder;
    match sort {
        Sort::Folder => {
            check_folder(launch, contender.build.is_some(), prepared)?;
            if contender.build.is_none() {
                files.add(folder, folder, Exclude::default())?;
            } else {
                // What the build makes is made on the worker.
                for file in contender.files.iter().map(|file| folder.join(file)) {
                    files.add(&file, &file, Exclude::default())?;
                }
            }
        }
        Sort::Package => {
            // The package, and what lies beside it: the course's own package, weights.
            let beside = contender.own.first().and_then(|own| own.parent()).unwrap_or(folder);
            if is_wide(beside) {
                let beside = tame(&beside.display().to_string());
                return Err(Failure::usage(format!("{beside} holds too much to be sent"))
                    .help("put the package into a folder of its own"));
            }
            let others = prepared.contenders.iter().flat_map(|other| &other.own);
            let others = others.filter(|own| !contender.own.iter().any(|it| it.starts_with(own)));
            let paths: Vec<PathBuf> = others.cloned().chain(prepared.secrets()).collect();
            let exclude = Exclude { hidden: true, paths: &paths };
            files.add(beside, beside, exclude)?;
            let rules = folder.join("referee");
            if beside != folder && rules.is_dir() {
                files.add(&rules, &rules, exclude)?;
            }
        }
        Sort::BuiltIn | Sort::File | Sort::Command => {}
    }
    Ok(files)
}

/// An agent as a worker reads it, relative to the contest's folder.
fn run(contender: &Contender, parts: &Parts<'_>, base: &Path) -> Result<String, Failure> {
    let mut run = match (parts.sort, &contender.launch) {
        (Sort::Folder, Some(launch)) => written(base, &launch.folder)?,
        (Sort::Package, _) => package(base, parts.agent)?,
        _ => parts.agent.to_owned(),
    };
    if let Some(protocol) = parts.protocol {
        run = format!("{protocol}:{run}");
    }
    // What stands before a `=` would be taken for a name otherwise.
    Ok(if run.contains('=') { format!("agent={run}") } else { run })
}

/// A package of the course: a dotted name, or a path.
fn package(base: &Path, agent: &str) -> Result<String, Failure> {
    let text = package_of(agent).unwrap_or_default();
    let (path, class) = text.split_at(text.rfind(':').unwrap_or(text.len()));
    match base.join(path).canonicalize() {
        Ok(found) if join(base, Path::new(path)).as_ref() != Some(&found) => {
            Ok(format!("{COMP30024}:{}{class}", written(base, &found)?))
        }
        _ => Ok(agent.to_owned()),
    }
}

/// A path relative to the contest's folder, as the command line takes it; no name along PATH.
fn written(base: &Path, path: &Path) -> Result<String, Failure> {
    let path = relative(base, path);
    let text = path.to_str().ok_or_else(|| {
        Failure::usage(format!("{} is no UTF-8: rename it", tame(&path.display().to_string())))
    })?;
    Ok(if text.starts_with("..") { text.to_owned() } else { format!("./{text}") })
}

/// The files that all workers need beside those of agents: what all may read, and the program that
/// agents are started by, where it lies beside the contest file.
fn shared(prepared: &Prepared) -> Result<Vec<Piece>, Failure> {
    let sandbox = &prepared.contest.sandbox;
    let mut files = Files::default();
    let read = sandbox.read.iter().map(Path::new).filter(|path| path.is_relative());
    let wrapper = sandbox.wrapper.first().map(Path::new);
    let wrapper = wrapper.filter(|path| path.is_relative() && path.components().count() > 1);
    for path in read.chain(wrapper) {
        let place = join(&prepared.base, path).ok_or_else(|| {
            let path = tame(&path.display().to_string());
            Failure::usage(format!("{path} goes up after it went down, and can't be sent so"))
                .help("write the path without `..` in its middle")
        })?;
        files.add(&prepared.base.join(path), &place, Exclude::default())?;
    }
    Ok(files.list)
}

impl Packed {
    /// What workers are told of the contest. `lease` is that of an order.
    pub fn brief(&self, prepared: &Prepared, lease: Duration) -> Brief {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Brief {
            form: FORM,
            referee: env!("CARGO_PKG_VERSION").to_owned(),
            contest: (*prepared.contest).clone(),
            agents: self.packages.clone(),
            folder: self.folder.clone(),
            shared: self.shared.clone(),
            build_ms: millis(prepared.build_time),
            pin: prepared.pin,
            lease_ms: millis(lease),
            arch: std::env::consts::ARCH.to_owned(),
        }
    }

    /// Writes a bundle, unless it is there already. Places in it are relative to `root`.
    fn bundle(
        &mut self,
        mut pieces: Vec<Piece>,
        root: &Path,
        bounds: Bounds,
    ) -> Result<Option<BundleRef>, Failure> {
        if pieces.is_empty() {
            return Ok(None);
        }
        pieces.sort();
        pieces.dedup_by(|one, other| one.place == other.place);
        for piece in &mut pieces {
            if let Ok(place) = piece.place.strip_prefix(root) {
                piece.place = place.to_owned();
            }
        }
        let file = self.files.path().join(self.bundles.len().to_string());
        let bundle = write(&pieces, &file, bounds).map_err(|error| unwritten(&error, bounds))?;
        if self.bundles.iter().any(|(other, _)| *other == bundle) {
            std::fs::remove_file(&file).ok();
        } else {
            self.bundles.push((bundle.clone(), file));
        }
        Ok(Some(bundle))
    }
}

fn unwritten(error: &io::Error, bounds: Bounds) -> Failure {
    if error.kind() != ErrorKind::FileTooLarge {
        return Failure::operation(tame(&error.to_string()));
    }
    let (files, mib) = (bounds.files, bounds.bytes >> 20);
    Failure::usage(format!("more than {mib} MiB, or {files} files, to send")).help(
        "the agent's whole folder is sent: put the agent and what it needs into a folder of \
         its own, with an agent.toml",
    )
}
