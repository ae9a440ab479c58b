//! Packs the agents of a contest into bundles.

use super::archive::{Bounds, FileEntry, write};
use super::files::{Exclude, Files};
use super::portable::{AGENT_MANIFEST, check_folder, is_sent, refusal};
use crate::{AgentPackage, Brief, BundleRef};
use referee_contest::Player;
use referee_contest::wording::count;
use referee_games::program::Program;
use referee_play::agent_spec::{AgentKind, AgentSpec, Parts};
use referee_play::game_program::{MANIFEST as GAME_MANIFEST, spec_of};
use referee_process::files::is_disk_full;
use referee_process::sandbox::reach::is_wide;
use referee_process::work_folder::create_private;
use referee_process::{Failure, FailureKind};
use referee_protocol::sanitize::sanitize;
use referee_runner::arguments::{join, relative_run};
use referee_runner::{AgentCopy, Prepared};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A contest's agents, ready to be sent.
#[derive(Debug)]
pub struct Packed {
    /// What a worker needs to run each agent, by player.
    pub packages: Vec<AgentPackage>,
    /// The bundles, each once, and their files.
    pub bundles: Vec<(BundleRef, PathBuf)>,
    /// The contest's folder in each bundle: [`crate::Brief::folder`].
    pub folder: String,
    /// Files of the contest's folder that all agents may read.
    pub shared: Option<BundleRef>,
    /// The folders of its game programs, by their digests.
    pub games: BTreeMap<String, BundleRef>,
    /// Notes for the user, as sentences.
    pub notes: Vec<String>,
    /// The folder with the files, removed when this is dropped.
    files: TempDir,
}

/// The agents that can't be sent, by name, and what to do about it.
pub type Unsent = Vec<(String, Failure)>;

/// Packs the agents of a contest that have not left it, or returns which of them can't be sent. Reads all of their
/// files.
pub fn pack(prepared: &Prepared) -> Result<Result<Packed, Unsent>, Failure> {
    pack_with_bounds(prepared, Bounds::default())
}

/// Checks that an agent can be sent which is about to join a contest. Reads none of its files.
pub fn check_sent(agent: &Prepared) -> Result<(), Failure> {
    for (player, spec) in agent.specs.iter().enumerate() {
        let (_, files) = files_of(agent, player)?;
        // What its words lead to may change later; in its copy, nothing does.
        if let Some(launch) = spec.launch.as_ref().filter(|_| spec.has_manifest) {
            check_folder(launch, AGENT_MANIFEST, spec.build.is_some(), agent)?;
        }
        let length = |file: &Path| file.metadata().map_or(0, |about| about.len());
        let bytes: u64 = files.list.iter().map(|file| length(&file.source)).sum();
        Bounds::default().check(files.list.len(), bytes).map_err(|it| write_failure(&it))?;
        let sources: BTreeSet<&Path> = files.list.iter().map(|file| &*file.source).collect();
        let own: u64 = sources.into_iter().map(length).sum();
        if bytes > own.saturating_mul(2).saturating_add(LINKED_BYTES_MAX) {
            let text = "its links, which are sent as files, make it more than twice as large";
            return Err(Failure::usage(text).help("leave out links to large files"));
        }
    }
    Ok(())
}

/// How many bytes links to an agent's own files may add, besides as many as these files have.
const LINKED_BYTES_MAX: u64 = 4 << 20;

/// The same as [`pack`] with other limits.
pub(super) fn pack_with_bounds(
    prepared: &Prepared,
    bounds: Bounds,
) -> Result<Result<Packed, Unsent>, Failure> {
    let base = &prepared.base;
    let named = |name: &str, failure: &Failure| failure.clone().of(&sanitize(name));
    let (mut agents, mut notes, mut unsent) = (Vec::new(), Vec::new(), Unsent::new());
    let players = &prepared.contest.players;
    for player in Player::all(players.len()) {
        // Nothing of it is played any more.
        let found = if prepared.contest.has_left(player) {
            Ok(Default::default())
        } else {
            files_of(prepared, player.index())
        };
        let name = &players[player.index()].name;
        let (run, files) = found.unwrap_or_else(|failure| {
            unsent.push((name.clone(), failure));
            Default::default()
        });
        if files.links > 0 {
            let links = count(files.links as u64, "link");
            notes.push(format!("{}: {links} left out (links are not sent)", sanitize(name)));
        }
        agents.push((run, files.list));
    }
    let shared = shared(prepared)?;
    let all = || agents.iter().flat_map(|(_, files)| files).chain(&shared);
    // The nearest folder that contains everything, so that all relative paths stay valid.
    let holds_all = |folder: &&Path| all().all(|file| file.archive_path.starts_with(folder));
    let root = base.ancestors().find(holds_all).unwrap_or(base);
    let root = root.to_owned();
    let folder = base.strip_prefix(&root).unwrap_or(Path::new("")).to_string_lossy().into_owned();
    let files = create_private("referee-bundles-");
    let files = files
        .map_err(|error| Failure::machine(format!("can't create a folder for bundles: {error}")))?;
    let (packages, bundles) = (Vec::new(), Vec::new());
    let mut packed =
        Packed { packages, bundles, folder, shared: None, games: BTreeMap::new(), notes, files };
    for (player, (run, files)) in agents.into_iter().enumerate() {
        let bundle = packed.bundle(files, &root, bounds).and_then(|bundle| {
            check_unchanged(prepared, player)?;
            Ok(bundle)
        });
        let bundle = match bundle {
            Err(failure) if failure.kind() != FailureKind::Machine => {
                unsent.push((players[player].name.clone(), failure));
                None
            }
            bundle => bundle?,
        };
        let own = prepared.specs[player].build_ms;
        let copied = || prepared.copies.get(&players[player].name)?.build_ms;
        packed.packages.push(AgentPackage { run, bundle, build_ms: own.or_else(copied) });
    }
    if !unsent.is_empty() {
        return Ok(Err(unsent));
    }
    packed.shared = packed.bundle(shared, &root, bounds)?;
    for game in &prepared.contest.games {
        let kind = game.kind(&prepared.games).ok();
        if let Some(program) = kind.and_then(|kind| kind.program()) {
            let files = game_files(prepared, program).map_err(|it| named(&game.game, &it))?;
            let bundle = packed.bundle(files, &root, bounds);
            let bundle = bundle.map_err(|failure| named(&game.game, &failure))?;
            packed.games.extend(bundle.map(|it| (program.record().digest.clone(), it)));
        }
    }
    Ok(Ok(packed))
}

/// Returns the AGENT argument of a player on a worker, and its files.
fn files_of(prepared: &Prepared, player: usize) -> Result<(String, Files), Failure> {
    let (spec, info) = (&prepared.specs[player], &prepared.contest.players[player]);
    let base = &prepared.base;
    let copy = prepared.copies.get(&info.name);
    let parts = match copy {
        Some(copy) => Parts::of(&copy.run, &copy.base(&prepared.agents_folder)),
        None => Parts::of(&info.run, base),
    };
    if !is_sent(parts.kind) {
        return Err(refusal(spec, &parts, base));
    }
    if let Some(copy) = copy {
        return Ok((copy.run.clone(), copied(prepared, spec, copy)?));
    }
    let files = files(prepared, spec, parts.kind)?;
    Ok((relative_run(spec, &parts, base)?, files))
}

/// Checks that a packed agent is that of the contest.
fn check_unchanged(prepared: &Prepared, player: usize) -> Result<(), Failure> {
    let (spec, info) = (&prepared.specs[player], &prepared.contest.players[player]);
    if prepared.read_agent(info)?.has_digest(&info.digest, &spec.files) {
        return Ok(());
    }
    Err(Failure::operation("it changed while it was packed"))
}

/// Returns the files of an agent in the contest's folder, at the paths that they were copied from. That they can be sent
/// was checked when it joined.
fn copied(prepared: &Prepared, spec: &AgentSpec, copy: &AgentCopy) -> Result<Files, Failure> {
    let mut files = Files::default();
    let (from, to) = (copy.root(&prepared.agents_folder), copy.original_root(&prepared.base));
    match &spec.launch {
        // Each worker runs the build.
        Some(launch) if spec.build.is_some() => {
            for file in spec.files.iter().map(|file| launch.folder.join(file)) {
                let place = file.strip_prefix(&from).map(|inside| to.join(inside));
                files.add(&file, &place.unwrap_or_else(|_| file.clone()), Exclude::default())?;
            }
        }
        _ => {
            let exclude = Exclude { hidden: spec.is_adapted(), paths: &[] };
            files.add(&from, &to, exclude)?;
        }
    }
    Ok(files)
}

/// Returns the files of an agent.
fn files(prepared: &Prepared, spec: &AgentSpec, kind: AgentKind) -> Result<Files, Failure> {
    let mut files = Files::default();
    let Some(launch) = &spec.launch else { return Ok(files) };
    let folder = &launch.folder;
    match kind {
        AgentKind::Folder => {
            check_folder(launch, AGENT_MANIFEST, spec.build.is_some(), prepared)?;
            if spec.build.is_none() {
                files.add(folder, folder, Exclude::default())?;
            } else {
                // Each worker runs the build.
                for file in spec.files.iter().map(|file| folder.join(file)) {
                    files.add(&file, &file, Exclude::default())?;
                }
            }
        }
        AgentKind::Package if spec.reads_own => {
            let exclude = Exclude { hidden: true, paths: &[] };
            for path in &spec.own {
                files.add(path, path, exclude)?;
            }
        }
        AgentKind::Package => {
            // The package and what is beside it: other modules of the course, weights.
            let beside = spec.own.last().and_then(|own| own.parent()).unwrap_or(folder);
            if is_wide(beside) {
                let beside = sanitize(&beside.display().to_string());
                return Err(Failure::usage(format!("{beside} is too large a folder to be sent"))
                    .help("move the package to a folder of its own"));
            }
            let others = prepared.specs.iter().flat_map(|other| &other.own);
            let others = others.filter(|own| !spec.own.iter().any(|it| it.starts_with(own)));
            let paths: Vec<PathBuf> = others.cloned().chain(prepared.secrets()).collect();
            let exclude = Exclude { hidden: true, paths: &paths };
            files.add(beside, beside, exclude)?;
            let course = spec.adapter.map(|adapter| folder.join(adapter.course));
            if let Some(course) = course.filter(|course| beside != folder && course.is_dir()) {
                files.add(&course, &course, exclude)?;
            }
        }
        AgentKind::BuiltIn | AgentKind::File | AgentKind::Command => {}
    }
    Ok(files)
}

/// Returns the files of a game program, with their paths in its folder.
fn game_files(prepared: &Prepared, program: &Program) -> Result<Vec<FileEntry>, Failure> {
    let spec = spec_of(program.folder())?;
    if spec.digest != program.record().digest {
        return Err(
            Failure::operation("the rules changed while they were packed").help("run again")
        );
    }
    if let Some(launch) = &spec.launch {
        check_folder(launch, GAME_MANIFEST, false, prepared)?;
    }
    let entry = |file: &PathBuf| FileEntry {
        archive_path: file.clone(),
        source: program.folder().join(file),
    };
    Ok(spec.files.iter().map(entry).collect())
}

/// Returns the files that all workers need besides the agents: what all agents may read, and the
/// wrapper program if it is in the contest's folder.
fn shared(prepared: &Prepared) -> Result<Vec<FileEntry>, Failure> {
    let sandbox = &prepared.contest.sandbox;
    let mut files = Files::default();
    let read = sandbox.read.iter().map(Path::new).filter(|path| path.is_relative());
    let wrapper = sandbox.wrapper.first().map(Path::new);
    let wrapper = wrapper.filter(|path| path.is_relative() && path.components().count() > 1);
    for path in read.chain(wrapper) {
        let place = join(&prepared.base, path).ok_or_else(|| {
            let path = sanitize(&path.display().to_string());
            Failure::usage(format!("{path} has `..` after a name, so it can't be sent"))
                .help("write the path without `..` in the middle")
        })?;
        files.add(&prepared.base.join(path), &place, Exclude::default())?;
    }
    Ok(files.list)
}

impl Packed {
    /// Returns the brief. `lease` is that of an order.
    pub fn brief(&self, prepared: &Prepared, lease: Duration) -> Brief {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Brief {
            contest: (*prepared.contest).clone(),
            agents: self.packages.clone(),
            folder: self.folder.clone(),
            shared: self.shared.clone(),
            games: self.games.clone(),
            build_ms: prepared.build.time_ms,
            build: prepared.build.clone(),
            pin: prepared.pin,
            lease_ms: millis(lease),
            arch: std::env::consts::ARCH.to_owned(),
        }
    }

    /// Writes a bundle, unless the same one exists. Archive paths become relative to `root`.
    fn bundle(
        &mut self,
        mut entries: Vec<FileEntry>,
        root: &Path,
        bounds: Bounds,
    ) -> Result<Option<BundleRef>, Failure> {
        if entries.is_empty() {
            return Ok(None);
        }
        entries.sort();
        entries.dedup_by(|one, other| one.archive_path == other.archive_path);
        for entry in &mut entries {
            if let Ok(place) = entry.archive_path.strip_prefix(root) {
                entry.archive_path = place.to_owned();
            }
        }
        let file = self.files.path().join(self.bundles.len().to_string());
        let bundle = write(&entries, &file, bounds).map_err(|error| write_failure(&error))?;
        if self.bundles.iter().any(|(other, _)| *other == bundle) {
            std::fs::remove_file(&file).ok();
        } else {
            self.bundles.push((bundle.clone(), file));
        }
        Ok(Some(bundle))
    }
}

fn write_failure(error: &io::Error) -> Failure {
    if is_disk_full(error) {
        return Failure::machine(format!("can't write a bundle: {error}"));
    }
    if error.kind() != ErrorKind::FileTooLarge {
        return Failure::operation(sanitize(&error.to_string()));
    }
    Failure::usage(error.to_string()).help(
        "the whole folder is sent: move the program and what it needs to a folder of its own with \
         its agent.toml or game.toml",
    )
}
