//! From a contest file to a contest that can be played: its agents are found, built and checked.

use super::building::build_all;
use super::entrants::{Candidate, build_of, find, told, wrong};
use super::store::Kept;
use crate::parallel::Progress;
use referee_contest::file::{ContestFile, FileError, FoundAgent, OnBroken, Source};
use referee_contest::{Contest, SandboxSettings};
use referee_play::agent_spec::{AgentSpec, resolve};
use referee_process::Failure;
use referee_process::agent::Launch;
use referee_process::cores;
use referee_process::files::absolute;
use referee_process::sandbox::Wish;
use referee_process::sandbox::reach::unusual;
use referee_protocol::plain::tame;
use referee_protocol::{LevelChoice, Sandbox};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The longest contest file, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// The longest file with openings, in bytes.
const OPENINGS_BYTES_MAX: u64 = 64 << 20;

/// So many of the agents that the file names are told to be wrong; each is shown in its line.
const ERRORS_TOLD: usize = 100;

/// What is done about agents that have to be built.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it holds a closure, and nobody prints it")]
pub enum Builds<'a> {
    /// Nothing: they need not be there yet.
    Later,
    /// They are built now, and this is called as they are done.
    Now(Progress<'a>),
    /// They were built before, and must be there. Submissions that were left out then, by name, are
    /// left out for the same reasons: what an earlier build of theirs has left behind doesn't count.
    Done(&'a [(String, String)]),
}

/// A contest that can be played.
#[derive(Debug)]
pub struct Prepared {
    /// The contest.
    pub contest: Arc<Contest>,
    /// Who plays, by player; each has the player's name.
    pub specs: Vec<AgentSpec>,
    /// Submissions that don't play, by name, and why.
    pub left_out: Vec<(String, String)>,
    /// What a person should know, in sentences.
    pub notes: Vec<String>,
    /// How many matches may be under way at once, where the file says so.
    pub jobs: Option<usize>,
    /// Whether matches are pinned to cores.
    pub pin: bool,
    /// How long a build may take.
    pub build_time: Duration,
    /// The contest file's text; it names the contest.
    pub text: String,
    /// The folder that its paths are relative to.
    pub base: PathBuf,
}

impl Prepared {
    /// The files that the agents' digests are made of, by player.
    pub fn files(&self) -> BTreeMap<String, Vec<PathBuf>> {
        let folders = self.specs.iter().filter(|spec| !spec.files.is_empty());
        folders.map(|spec| (spec.name.clone(), spec.files.clone())).collect()
    }

    /// What lies beside the contest file and may be one, with the seed of this contest or of another: no
    /// agent may read it.
    pub fn secrets(&self) -> Vec<PathBuf> {
        let files = self.base.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
        let is_toml = |file: &Path| file.extension().is_some_and(|ending| ending == "toml");
        files.filter(|file| is_toml(file) && !file.ends_with("agent.toml")).collect()
    }

    /// What a store keeps of the contest when it is begun.
    pub fn kept(&self, begun: String, sandbox: Option<Sandbox>) -> Kept {
        Kept {
            text: self.text.clone(),
            base: self.base.clone(),
            contest: self.contest.as_ref().clone(),
            left_out: self.left_out.clone(),
            files: self.files(),
            begun,
            sandbox,
        }
    }

    /// Whoever is still what it was has the digest that it had.
    fn take_for(&mut self, kept: &Kept) {
        let contest = Arc::make_mut(&mut self.contest);
        for (player, spec) in contest.players.iter_mut().zip(&mut self.specs) {
            let files = kept.files.get(&player.name).map_or(&[][..], Vec::as_slice);
            let before = kept.contest.players.iter().find(|other| other.name == player.name);
            let before = before.filter(|before| spec.has_digest(&before.digest, files));
            if let Some(before) = before {
                player.digest.clone_from(&before.digest);
                spec.digest.clone_from(&before.digest);
                spec.files = files.to_vec();
            }
        }
    }

    /// What its agents are to be started in.
    pub fn wish(&self) -> Wish {
        sandbox_wish(&self.contest.sandbox, self.base.clone())
    }

    /// What a person should know before anything is played: what is no submission, and who is left
    /// out for which reason.
    pub fn remarks(&self) -> Vec<String> {
        let left_out = |(name, reason): &(String, String)| format!("{name} is left out: {reason}");
        self.notes.iter().cloned().chain(self.left_out.iter().map(left_out)).collect()
    }
}

/// What a contest asks of its sandbox; what is relative is relative to `base`.
pub fn sandbox_wish(settings: &SandboxSettings, base: PathBuf) -> Wish {
    Wish {
        level: settings.level.map_or(LevelChoice::Auto, LevelChoice::Exactly),
        at_least: settings.at_least,
        wrapper: settings.wrapper.clone(),
        base,
    }
}

/// Reads a contest file and prepares its contest.
pub fn prepare(file: &Path, builds: Builds<'_>) -> Result<Prepared, Failure> {
    let text = read(file, FILE_BYTES_MAX).map_err(|failure| {
        failure.help("FILE is a contest file; `contest quick` plays without one")
    })?;
    let base = absolute(file.parent().unwrap_or(Path::new("")))?;
    prepare_text(&text, file, &base, builds)
}

/// What an agent reads that isn't its own, if there is anything unusual, for the people who let it.
fn asked(spec: &AgentSpec) -> Option<String> {
    let paths = spec.files().map(|files| unusual(&files)).unwrap_or_default();
    let shown: Vec<String> = paths.iter().map(|path| tame(&path.display().to_string())).collect();
    let (name, shown) = (tame(&spec.name), shown.join(", "));
    (!paths.is_empty()).then(|| format!("{name} asks to read {shown}"))
}

/// The same with the text of a contest file that lies elsewhere, or no more: `file` is what it was
/// called, and its paths are relative to `base`, which is absolute.
pub fn prepare_text(
    text: &str,
    file: &Path,
    base: &Path,
    builds: Builds<'_>,
) -> Result<Prepared, Failure> {
    let stem = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy();
    let read =
        ContestFile::read(text, &file.to_string_lossy(), &stem).map_err(|error| failure(&error))?;
    let (mut candidates, mut notes) = find(&read, base)?;
    match builds {
        Builds::Later => {}
        Builds::Now(progress) => {
            build(&read, &mut candidates, progress)?;
            read_again(&mut candidates, base);
        }
        Builds::Done(left_out) => {
            read_again(&mut candidates, base);
            leave_out(&mut candidates, left_out);
        }
    }
    let left_out = sift(&read, &mut candidates)?;
    let openings = openings(&read, base)?;
    readable(&read, base)?;
    let playing = |candidate: Candidate| {
        let Candidate { name, run, span, spec, .. } = candidate;
        let spec = spec.ok()?;
        Some((FoundAgent { name, run, digest: spec.digest.clone(), span }, spec))
    };
    let (entrants, specs): (Vec<_>, Vec<_>) = candidates.into_iter().filter_map(playing).unzip();
    let (contest, order) =
        read.contest(&entrants, openings.as_ref()).map_err(|error| failure(&error))?;
    notes.extend(specs.iter().filter_map(asked));
    let player = |(place, player): (&usize, &referee_contest::PlayerInfo)| {
        let spec: &AgentSpec = &specs[*place];
        AgentSpec { name: player.name.clone(), ..spec.clone() }
    };
    Ok(Prepared {
        specs: order.iter().zip(&contest.players).map(player).collect(),
        left_out,
        notes,
        jobs: read.jobs,
        pin: read.pin,
        build_time: read.build_time,
        text: if read.is_named() { text.to_owned() } else { named(text, &contest.name) },
        base: base.to_owned(),
        contest: Arc::new(contest),
    })
}

/// A contest file that names its contest. One without a name goes by its file's, and the copy that
/// is kept has another.
fn named(text: &str, name: &str) -> String {
    format!("name = {}\n{}", toml::Value::from(name), text.trim_start_matches('\u{feff}'))
}

/// A contest that was begun, to go on with.
pub fn prepare_again(kept: &Kept, file: &Path) -> Result<Prepared, Failure> {
    let builds = Builds::Done(&kept.left_out);
    let mut prepared = prepare_text(&kept.text, file, &kept.base, builds)?;
    prepared.take_for(kept);
    Ok(prepared)
}

/// What is wrong with a contest file, for the command line.
fn failure(error: &FileError) -> Failure {
    Failure::usage(error.to_string()).or_help(error.help_text().map(str::to_owned))
}

/// A text file, not too long.
fn read(file: &Path, bytes_max: u64) -> Result<String, Failure> {
    let name = file.display();
    let failed = |error: std::io::Error| Failure::usage(format!("{name}: {error}"));
    let length = file.metadata().map_err(failed)?.len();
    if length > bytes_max {
        return Err(Failure::usage(format!("{name}: longer than {bytes_max} bytes")));
    }
    let bytes = std::fs::read(file).map_err(failed)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage(format!("{name}: no UTF-8 text from byte {at} on"))
    })
}

fn openings(file: &ContestFile, base: &Path) -> Result<Option<Source>, Failure> {
    let Some((name, span)) = &file.openings else { return Ok(None) };
    let text = read(&base.join(name), OPENINGS_BYTES_MAX).map_err(|failure| {
        wrong(file, span, tame(&failure.to_string())).help(
            "a file with openings has one JSON position a line; its path is relative to the \
                   contest file's folder",
        )
    })?;
    Ok(Some(Source { file: tame(name), text }))
}

/// Whether all is there that agents may read besides what is their own.
fn readable(file: &ContestFile, base: &Path) -> Result<(), Failure> {
    for (path, span) in &file.read {
        base.join(path).metadata().map_err(|error| {
            wrong(file, span, format!("{}: {error}", tame(path)))
                .help("`read` has paths that are relative to the contest file's folder")
        })?;
    }
    Ok(())
}

/// Builds all that has to be built, each folder once.
fn build(
    file: &ContestFile,
    candidates: &mut [Candidate],
    progress: Progress<'_>,
) -> Result<(), Failure> {
    let mut builds: Vec<Launch> = Vec::new();
    for candidate in candidates.iter_mut() {
        let Some((folder, words)) = candidate.spec.as_ref().ok().and_then(build_of) else {
            continue;
        };
        if builds.iter().any(|build| build.folder == folder) {
            continue;
        }
        let command = shlex::split(words).unwrap_or_default();
        let program = command.first().map_or("", String::as_str);
        match resolve(program, &folder) {
            Ok(file) => builds.push(Launch { file, command, folder }),
            Err(failure) => {
                candidate.spec = Err(format!("it can't be built: {}", told(&failure)));
            }
        }
    }
    if builds.is_empty() {
        return Ok(());
    }
    let results =
        build_all(&builds, file.jobs.unwrap_or_else(cores::count), file.build_time, progress)?;
    for candidate in candidates {
        let Some((folder, words)) = candidate.spec.as_ref().ok().and_then(build_of) else {
            continue;
        };
        let built = builds.iter().zip(&results).find(|(build, _)| build.folder == folder);
        if let Some((_, Err(reason))) = built {
            candidate.spec = Err(format!("`{}` failed: {reason}", tame(words)));
        }
    }
    Ok(())
}

/// Reads those that had to be built once more: now all of them is there.
fn read_again(candidates: &mut [Candidate], base: &Path) {
    for candidate in candidates {
        if candidate.spec.as_ref().is_ok_and(|spec| spec.build.is_some()) {
            candidate.spec =
                AgentSpec::read_in(&candidate.run, base).map_err(|failure| told(&failure));
        }
    }
}

/// Whoever was left out before is left out again.
fn leave_out(candidates: &mut [Candidate], left_out: &[(String, String)]) {
    for candidate in candidates.iter_mut().filter(|candidate| candidate.is_submission) {
        let name = tame(&candidate.name);
        if let Some((_, reason)) = left_out.iter().find(|(other, _)| *other == name) {
            candidate.spec = Err(reason.clone());
        }
    }
}

/// Takes out submissions that can't play, where that is allowed; tells of all that can't.
fn sift(
    file: &ContestFile,
    candidates: &mut Vec<Candidate>,
) -> Result<Vec<(String, String)>, Failure> {
    let mut errors = Vec::new();
    let mut broken = Vec::new();
    for candidate in &*candidates {
        let Err(reason) = &candidate.spec else { continue };
        if candidate.is_submission {
            broken.push((tame(&candidate.name), reason.clone()));
        } else if errors.len() < ERRORS_TOLD {
            let reason = format!("{}: {reason}", tame(&candidate.name));
            errors.push(file.source.error(candidate.span.clone(), reason).to_string());
        }
    }
    let stops = file.on_broken == OnBroken::Stop && !broken.is_empty();
    if stops && let Some(submissions) = &file.submissions {
        let all = candidates.iter().filter(|candidate| candidate.is_submission).count();
        let message = format!("{} of {all} submissions can't play", broken.len());
        errors.push(file.source.error(submissions.span.clone(), message).to_string());
        errors.extend(broken.iter().map(|(name, reason)| format!("{name}: {reason}")));
    }
    if !errors.is_empty() {
        let failure = Failure::usage(errors.join("\n"));
        let help = "mend them, or let the others play: on_broken = \"leave-out\" in [policy], \
                    --leave-out with `contest quick`";
        return Err(failure.or_help(stops.then(|| help.to_owned())));
    }
    candidates.retain(|candidate| candidate.spec.is_ok());
    Ok(broken)
}
