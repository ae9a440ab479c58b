//! Prepares the contest of a contest file: finds, builds and checks its agents.

use super::again::{place, stored_entrants};
use super::building::{Builder, build_agents};
use super::copies::{AgentCopy, read_agent, read_submission};
use super::entrants::{Candidate, Submission, check_inside, describe, error_at, find, read_apart};
use super::folder::{CONTEST_FILE, Folder};
use super::inbox::beyond_users;
use super::programs;
use super::store::{Store, StoredContest};
use crate::parallel::Progress;
use rand::TryRng;
use rand::rngs::SysRng;
use referee_contest::file::{
    BuildSettings, ContestFile, FileError, FoundAgent, OtherFiles, Source, positions,
};
use referee_contest::{
    Contest, ContestGame, OnBroken, Opening, PlayerInfo, SEED_BOUND, SandboxSettings, Seed,
};
use referee_games::Games;
use referee_play::agent_spec::AgentSpec;
use referee_play::reach::requested;
use referee_process::Failure;
use referee_process::cores;
use referee_process::files::{absolute, read_regular};
use referee_process::sandbox::{Depth, SandboxRequest, choose};
use referee_protocol::sanitize::sanitize;
use referee_protocol::{Level, LevelChoice, SandboxRecord};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest contest file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The largest ranking, in bytes: reports list their games.
const RANKING_BYTES_MAX: u64 = 1 << 30;
/// The largest openings file, in bytes.
const OPENINGS_BYTES_MAX: u64 = 64 << 20;

/// Seeds below this can be found by trying.
const SHORT_SEED: u64 = 1 << 40;
/// The most errors about agents in the contest file that are printed.
const ERRORS_SHOWN: usize = 100;

/// How to treat agents with a `build` command.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it contains a closure")]
pub enum Builds<'a> {
    /// Don't build: programs may be missing.
    Later,
    /// Build now and report progress.
    Now(Progress<'a>),
    /// Expect them built. The given submissions, by name, are left out again for the given reasons, also
    /// if an earlier build left a program.
    Done(&'a [(String, String)]),
}

/// A contest that can be played.
#[derive(Debug)]
pub struct Prepared {
    /// The contest.
    pub contest: Arc<Contest>,
    /// The agents, by player; each has the player's name.
    pub specs: Vec<AgentSpec>,
    /// Submissions that don't play, by name, with the reason.
    pub left_out: Vec<(String, String)>,
    /// Remarks to print.
    pub notes: Vec<String>,
    /// The most matches at once, if the file sets it.
    pub jobs: Option<usize>,
    /// Whether matches are pinned to cores.
    pub pin: bool,
    /// What builds may use.
    pub build: BuildSettings,
    /// The contest file's text, with the contest's name and the seed that was drawn.
    pub text: String,
    /// Whether the contest file has a seed.
    pub is_seeded: bool,
    /// The folder that its paths are relative to.
    pub base: PathBuf,
    /// The games that it can play.
    pub games: Games,
    /// The AGENTs in the contest file.
    pub(super) named: BTreeSet<String>,
    /// Where each submission was found, by name.
    pub(super) entries: BTreeMap<String, PathBuf>,
    /// The copies of agents in the contest's folder, by name.
    pub copies: BTreeMap<String, AgentCopy>,
    /// The folder of the copies.
    pub agents_folder: PathBuf,
    pub(super) broken: Broken,
}

impl Prepared {
    /// Returns the files that each agent's digest covers, by player.
    pub fn files(&self) -> BTreeMap<String, Vec<PathBuf>> {
        let folders = self.specs.iter().filter(|spec| !spec.files.is_empty());
        folders.map(|spec| (spec.name.clone(), spec.files.clone())).collect()
    }

    /// The same of those that have no copy. In a copy there is nothing else, and nobody bounds how many names a contest
    /// with many submissions has.
    fn files_of_originals(&self) -> BTreeMap<String, Vec<PathBuf>> {
        let mut files = self.files();
        files.retain(|name, _| !self.copies.contains_key(name));
        files
    }

    /// Returns the files next to the contest file that may be contest files, with a seed. No agent may
    /// read them.
    pub fn secrets(&self) -> Vec<PathBuf> {
        contest_files(&self.base)
    }

    /// Leaves out submissions that can't be sent to workers, if the policy allows it. Fails if one of these is no
    /// submission, or the contest has begun.
    pub fn leave_out_unsent(&mut self, unsent: Vec<(String, Failure)>) -> Result<(), Failure> {
        let mut refused = Vec::new();
        for (name, failure) in unsent {
            let shown = sanitize(&name);
            if !self.entries.contains_key(&name) {
                return Err(failure.of(&shown));
            }
            refused.push((shown, describe(&failure)));
        }
        self.leave_out(refused)
    }

    /// Leaves out submissions, by name, for these reasons, if the policy allows it.
    pub(super) fn leave_out(&mut self, refused: Vec<(String, String)>) -> Result<(), Failure> {
        let mut left_out = self.left_out.clone();
        left_out.extend(refused);
        let place = (Path::new(CONTEST_FILE), self.base.as_path());
        let others = prepare_seeded(&self.text, place, Builds::Done(&left_out), None, self.broken)?;
        // The games are played by their copies.
        *self = Self { games: self.games.clone(), is_seeded: self.is_seeded, ..others };
        Ok(())
    }

    /// Returns the contest as a new store has it.
    pub fn to_stored(&self, begun: String, sandbox: Option<SandboxRecord>) -> StoredContest {
        StoredContest {
            text: self.text.clone(),
            base: self.base.clone(),
            contest: self.contest.as_ref().clone(),
            left_out: self.left_out.clone(),
            files: self.files_of_originals(),
            copies: self.copies.clone(),
            begun,
            sandbox,
        }
    }

    /// Returns the agent of a player as it is now, from its copy if it has one.
    pub fn read_agent(&self, player: &PlayerInfo) -> Result<AgentSpec, Failure> {
        match self.copies.get(&player.name) {
            Some(copy) if !self.named.contains(&player.run) => {
                read_submission(player, copy, &self.agents_folder)
            }
            copy => read_agent(player, copy, &self.agents_folder, &self.base),
        }
    }

    /// Returns the names of players whose agents were changed since the contest began.
    pub fn changed(&self, files: &BTreeMap<String, Vec<PathBuf>>) -> Vec<String> {
        let same = |player: &&PlayerInfo| {
            let files = files.get(&player.name).map_or(&[][..], Vec::as_slice);
            let now = self.read_agent(player);
            now.is_ok_and(|now| now.has_digest(&player.digest, files))
        };
        let players = self.contest.players.iter().filter(|player| !same(player));
        players.map(|player| sanitize(&player.name)).collect()
    }

    /// Returns what to print before the first game: ignored files, and submissions left out with the
    /// reason.
    pub fn remarks(&self) -> Vec<String> {
        let left_out = |(name, reason): &(String, String)| format!("{name} is left out: {reason}");
        self.notes.iter().cloned().chain(self.left_out.iter().map(left_out)).collect()
    }
}

/// Returns the sandbox that a contest asks for; its paths are relative to `base`.
pub fn sandbox_request(settings: &SandboxSettings, base: PathBuf) -> SandboxRequest {
    SandboxRequest {
        level: settings.level.map_or(LevelChoice::Auto, LevelChoice::Exactly),
        at_least: settings.at_least,
        wrapper: settings.wrapper.clone(),
        read: settings.read.iter().map(PathBuf::from).collect(),
        base,
    }
}

/// What happens with submissions that can't be read or built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// What the contest file says.
    AsWritten,
    /// They don't play yet: the contest is open for their next versions.
    LeaveOut,
}

/// Reads a contest file and prepares its contest.
pub fn prepare(file: &Path, builds: Builds<'_>, broken: Broken) -> Result<Prepared, Failure> {
    let text = read_contest_file(file).map_err(|failure| {
        failure.help("give a contest file, or play without one: `referee contest quick`")
    })?;
    let base = absolute(file.parent().unwrap_or(Path::new("")))?;
    let seed = matches!(builds, Builds::Now(_)).then(new_key).transpose()?;
    prepare_seeded(&text, (file, &base), builds, seed, broken)
}

/// Draws a new seed that is a number, for what one repeats by an option.
pub fn new_seed() -> Result<u64, Failure> {
    Ok(random_u64()? % SEED_BOUND)
}

/// Draws the seed of a contest, or its key for draws.
pub fn new_key() -> Result<Seed, Failure> {
    Ok(Seed::Key(u128::from(random_u64()?) << 64 | u128::from(random_u64()?)))
}

fn random_u64() -> Result<u64, Failure> {
    SysRng.try_next_u64().map_err(|error| {
        Failure::machine(format!("cannot get random bytes from the system: {error}"))
    })
}

/// Prepares the contest of a contest file's text. `file` is its name in errors; its paths are relative to
/// `base`, which is absolute. Without a seed in the text, it is that of old contests.
pub fn prepare_text(
    text: &str,
    file: &Path,
    base: &Path,
    builds: Builds<'_>,
) -> Result<Prepared, Failure> {
    prepare_seeded(text, (file, base), builds, None, Broken::AsWritten)
}

/// The same; `drawn` is the seed if the text has none.
fn prepare_seeded(
    text: &str,
    (file, base): (&Path, &Path),
    builds: Builds<'_>,
    drawn: Option<Seed>,
    broken: Broken,
) -> Result<Prepared, Failure> {
    let stem = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy();
    let games = programs::named(text, base)?;
    let mut read = ContestFile::read(text, &file.to_string_lossy(), &stem, &games)
        .map_err(|error| failure(&error))?;
    let (is_named, is_seeded) = (read.is_named(), read.is_seeded());
    let drawn = drawn.filter(|_| !is_seeded);
    read.settings.seed = drawn.unwrap_or(read.settings.seed);
    let needs_key = read.settings.games.iter().any(ContestGame::draws_are_hidden)
        && read.settings.draw_key.is_none()
        && !matches!(builds, Builds::Later);
    let draw_key = needs_key.then(new_key).transpose()?;
    read.settings.draw_key = draw_key.or(read.settings.draw_key);
    let is_open = broken == Broken::LeaveOut;
    let (mut candidates, mut notes) = candidates(&read, base, builds, is_open)?;
    let left_out = reject_broken(&read, &mut candidates, broken)?;
    let others = OtherFiles { openings: openings(&read, base)?, ranking: ranking(&read, base)? };
    let readable = readable(&read, base)?;
    let mut places = Vec::new();
    let playing = |candidate: Candidate| {
        let Candidate { name, shown, span, spec, entry, .. } = candidate;
        let spec = spec.ok()?;
        places.push(entry.and_then(|entry| place(&entry).ok()));
        let player = PlayerInfo { name, run: shown, digest: spec.digest.clone() };
        Some((FoundAgent { player, span }, spec))
    };
    let (entrants, specs): (Vec<_>, Vec<_>) = candidates.into_iter().filter_map(playing).unzip();
    let missing = read.settings.seats().saturating_sub(entrants.len());
    let (contest, order) = read.contest(&entrants, &others).map_err(|error| {
        let failure = failure(&error);
        if missing == 0 || !is_open {
            return failure;
        }
        failure.help(format!(
            "add {missing} to `agents`, such as \"@random\", or wait until so many are handed in: others can join \
             when the contest has begun"
        ))
    })?;
    notes.extend(guessable(&read.settings).filter(|_| is_seeded));
    notes.extend(specs.iter().flat_map(|spec| requested(spec, &readable)));
    if read.settings.sandbox.level == Some(Level::None) && specs.iter().any(|it| it.build.is_some())
    {
        notes.push("at sandbox level none, builds run as you, without a sandbox".to_owned());
    }
    let entry = |(&index, player): (&usize, &PlayerInfo)| {
        places[index].clone().map(|place| (player.name.clone(), place))
    };
    let entries = order.iter().zip(&contest.players).filter_map(entry).collect();
    let player = |(place, player): (&usize, &PlayerInfo)| {
        let spec: &AgentSpec = &specs[*place];
        AgentSpec { name: player.name.clone(), ..spec.clone() }
    };
    Ok(Prepared {
        specs: order.iter().zip(&contest.players).map(player).collect(),
        left_out,
        notes,
        jobs: read.jobs,
        pin: read.pin,
        build: read.build,
        text: completed(text, (!is_named).then_some(&contest.name), drawn, draw_key),
        is_seeded,
        base: base.to_owned(),
        contest: Arc::new(contest),
        games,
        named: read.agents.iter().map(|agent| agent.run.clone()).collect(),
        entries,
        copies: BTreeMap::new(),
        agents_folder: PathBuf::new(),
        broken,
    })
}

/// Returns a note if agents could try all seeds until one fits the draws so far, and know those to come.
pub(super) fn guessable(contest: &Contest) -> Option<String> {
    let draws = contest.games.iter().any(ContestGame::has_chance);
    let is_short = matches!(contest.seed, Seed::Number(number) if number < SHORT_SEED);
    (is_short && draws).then(|| {
        "all draws follow from `seed`, and an agent can guess a short one: leave it out, and \
         `contest run` draws a long one"
            .to_owned()
    })
}

/// Adds what the stored copy of a file needs: the contest's name, since the copy has another file name,
/// and the seed and the key that were drawn.
fn completed(
    text: &str,
    name: Option<&String>,
    seed: Option<Seed>,
    draw_key: Option<Seed>,
) -> String {
    let name = name.map(|name| format!("name = {}\n", toml::Value::from(name.as_str())));
    let drawn = [("seed", seed), ("draw_key", draw_key)].into_iter().filter_map(|(key, seed)| {
        let seed = toml::Value::try_from(seed?).ok()?;
        Some(format!("{key} = {seed}\n"))
    });
    let added: String = name.into_iter().chain(drawn).collect();
    if added.is_empty() { text.to_owned() } else { added + text.trim_start_matches('\u{feff}') }
}

/// The failure for an error in a contest file.
pub(super) fn failure(error: &FileError) -> Failure {
    Failure::usage(error.to_string()).or_help(error.help.clone())
}

/// Reads the text of a contest file.
pub fn read_contest_file(file: &Path) -> Result<String, Failure> {
    read(file, FILE_BYTES_MAX)
}

/// Reads a text file of at most `bytes_max` bytes.
fn read(file: &Path, bytes_max: u64) -> Result<String, Failure> {
    let name = file.display();
    let failed = |error: std::io::Error| Failure::usage(format!("{name}: {error}"));
    let bytes = read_regular(file, bytes_max).map_err(failed)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage(format!("{name}: not UTF-8 at byte {at}: save the file as UTF-8"))
    })
}

/// Reads an openings file for games without a contest file.
pub fn read_openings(
    file: &Path,
    games: &[ContestGame],
    known: &Games,
) -> Result<Vec<Vec<Opening>>, Failure> {
    let text = read(file, OPENINGS_BYTES_MAX)
        .map_err(|failure| failure.help("an openings file has one JSON position per line"))?;
    let source = Source { file: sanitize(&file.to_string_lossy()), text };
    positions(&source, games, known).map_err(|error| failure(&error))
}

fn openings(file: &ContestFile, base: &Path) -> Result<Option<Source>, Failure> {
    let Some((name, span)) = &file.openings else { return Ok(None) };
    let text = read(&base.join(name), OPENINGS_BYTES_MAX).map_err(|failure| {
        error_at(file, span, sanitize(&failure.to_string())).help(
            "an openings file has one JSON position per line; its path is relative to the contest \
             file's folder",
        )
    })?;
    Ok(Some(Source { file: sanitize(name), text }))
}

/// Reads the ranking by which players are seeded: a file with a name per line, or the report of the
/// contest in a folder.
fn ranking(file: &ContestFile, base: &Path) -> Result<Option<Source>, Failure> {
    let Some((name, span)) = &file.ranking else { return Ok(None) };
    let path = base.join(name);
    let path = if path.is_dir() { path.join("report.json") } else { path };
    let text = read(&path, RANKING_BYTES_MAX).map_err(|failure| {
        error_at(file, span, sanitize(&failure.to_string())).help(
            "give a text file with a name per line, or the folder of an earlier contest, relative to the \
             contest file's folder; `referee contest report` writes a contest's report",
        )
    })?;
    Ok(Some(Source { file: sanitize(name), text }))
}

/// Returns the canonical paths of `read`, which must exist.
fn readable(file: &ContestFile, base: &Path) -> Result<Vec<PathBuf>, Failure> {
    let found = file.read.iter().map(|(path, span)| {
        base.join(path).canonicalize().map_err(|error| {
            error_at(file, span, format!("{}: {error}", sanitize(path)))
                .help("paths in `read` are relative to the contest file's folder")
        })
    });
    found.collect()
}

/// Finds and builds the agents of a contest file.
fn candidates(
    file: &ContestFile,
    base: &Path,
    builds: Builds<'_>,
    is_open: bool,
) -> Result<(Vec<Candidate>, Vec<String>), Failure> {
    let (mut candidates, notes) = find(file, base, is_open)?;
    if is_open {
        let plays = |it: &&mut Candidate| it.is_submission && it.spec.is_ok();
        let mut playing: Vec<_> = candidates.iter_mut().filter(plays).collect();
        let paths: Vec<_> = playing.iter().map(|it| it.entry.as_deref()).collect();
        let beyond = beyond_users(&paths);
        for (candidate, why) in playing.iter_mut().zip(beyond) {
            if let Some(why) = why {
                candidate.spec = Err(why);
            }
        }
    }
    match builds {
        Builds::Later => {}
        Builds::Now(progress) => {
            build(file, &mut candidates, base, contest_files(base), progress)?;
            read_again(&mut candidates, base);
        }
        Builds::Done(left_out) => {
            read_again(&mut candidates, base);
            leave_out_again(&mut candidates, left_out);
        }
    }
    Ok((candidates, notes))
}

/// The agents of a contest, also those that can't play.
#[derive(Debug)]
pub struct Entrants {
    /// The contest without its players.
    pub settings: Contest,
    /// The agents, in the order of the file.
    pub found: Vec<Submission>,
    /// The folder that the contest file's paths are relative to.
    pub base: PathBuf,
    /// The games that it can play.
    pub games: Games,
    /// Files among the submissions that are not agents.
    pub notes: Vec<String>,
    /// What none of them may read but its own files: submissions and the contest's files.
    pub others: Vec<PathBuf>,
}

/// Returns the files in a folder that may be contest files.
pub(super) fn contest_files(base: &Path) -> Vec<PathBuf> {
    let files = base.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let is_toml = |file: &Path| file.extension().is_some_and(|ending| ending == "toml");
    files.filter(|file| is_toml(file) && !file.ends_with("agent.toml")).collect()
}

/// Finds the agents of a contest file and builds them, or those of a stored contest as they play in it.
pub fn entrants(path: &Path, progress: Progress<'_>) -> Result<Entrants, Failure> {
    if Folder::has_contest(path) {
        let folder = Folder::open(path)?;
        return stored_entrants(&Store::open_to_read(&folder)?.contest()?, &folder);
    }
    let text = read_contest_file(path)
        .map_err(|failure| failure.help("give a contest file, or a contest's folder"))?;
    let base = absolute(path.parent().unwrap_or(Path::new("")))?;
    let games = programs::named(&text, &base)?;
    let file = ContestFile::read(&text, &path.to_string_lossy(), "contest", &games);
    let file = file.map_err(|error| failure(&error))?;
    let (candidates, mut notes) = candidates(&file, &base, Builds::Now(progress), false)?;
    notes.extend(guessable(&file.settings).filter(|_| file.is_seeded()));
    let found = candidates.into_iter().map(|candidate| {
        let Candidate { name, run: written, shown, spec, entry, .. } = candidate;
        Submission { name, written, shown, place: entry.clone(), entry, spec }
    });
    let mut found: Vec<Submission> = found.collect();
    let mut others = contest_files(&base);
    if let Some(submissions) = &file.submissions {
        let folder = base.join(&submissions.folder);
        read_apart(&mut found, &folder, submissions.run.as_deref(), &base);
        others.push(folder);
    }
    Ok(Entrants { found, settings: file.settings, base, games, notes, others })
}

/// Returns what no build may read, besides its own copy of its folder: the agents, the submissions, and the contest that
/// the submissions of a final are from.
fn others(file: &ContestFile, candidates: &[Candidate], base: &Path) -> Vec<PathBuf> {
    let submissions = file.submissions.as_ref().map(|it| base.join(&it.folder));
    let above = submissions.iter().flat_map(|folder| folder.ancestors());
    let course =
        above.filter(|folder| Folder::has_contest(folder)).find_map(|it| Folder::open(it).ok());
    let mut others = course.map_or_else(Vec::new, |course| course.records());
    for Candidate { entry, spec, .. } in candidates {
        others.extend(entry.clone());
        others
            .extend(spec.iter().filter(|spec| spec.has_manifest).flat_map(|spec| spec.own.clone()));
    }
    others.extend(submissions);
    others
}

/// Runs the `build` commands, once per folder. No build may read what is `hidden`.
pub(super) fn build(
    file: &ContestFile,
    candidates: &mut [Candidate],
    base: &Path,
    mut hidden: Vec<PathBuf>,
    progress: Progress<'_>,
) -> Result<(), Failure> {
    hidden.extend(others(file, candidates, base));
    let agents: Vec<&AgentSpec> =
        candidates.iter().filter_map(|candidate| candidate.spec.as_ref().ok()).collect();
    let builder = || {
        let request = sandbox_request(&file.settings.sandbox, base.to_owned());
        let sandbox = choose(&request, Depth::Quick)?.forbidding(hidden);
        Builder::new(sandbox, file.build.clone(), base)
    };
    let jobs = file.jobs.unwrap_or_else(cores::count);
    let results = build_agents(&agents, builder, jobs, progress)?;
    let found = candidates.iter_mut().filter(|candidate| candidate.spec.is_ok());
    for (candidate, result) in found.zip(results) {
        let Ok(spec) = &mut candidate.spec else { continue };
        match result {
            Ok(took) => spec.build_ms = took.and_then(|took| u64::try_from(took.as_millis()).ok()),
            Err(reason) => candidate.spec = Err(reason),
        }
    }
    Ok(())
}

/// Reads agents with a `build` command again: their programs exist now.
pub(super) fn read_again(candidates: &mut [Candidate], base: &Path) {
    for candidate in candidates {
        if let Ok(AgentSpec { build: Some(_), build_ms, .. }) = candidate.spec {
            let spec = AgentSpec::read_in(&candidate.run, base)
                .map(|spec| AgentSpec { build_ms, ..spec })
                .map_err(|failure| describe(&failure));
            candidate.spec = spec.and_then(|spec| {
                let entry = candidate.entry.as_ref();
                entry.map_or(Ok(()), |entry| check_inside(&spec, entry, &[])).map(|()| spec)
            });
        }
    }
}

/// Leaves the same submissions out as before.
fn leave_out_again(candidates: &mut [Candidate], left_out: &[(String, String)]) {
    for candidate in candidates.iter_mut().filter(|candidate| candidate.is_submission) {
        let name = sanitize(&candidate.name);
        if let Some((_, reason)) = left_out.iter().find(|(other, _)| *other == name) {
            candidate.spec = Err(reason.clone());
        }
    }
}

/// Removes submissions that can't play, if the policy allows it; else fails with all reasons.
fn reject_broken(
    file: &ContestFile,
    candidates: &mut Vec<Candidate>,
    broken: Broken,
) -> Result<Vec<(String, String)>, Failure> {
    let mut errors = Vec::new();
    let mut left_out = Vec::new();
    for candidate in &*candidates {
        let Err(reason) = &candidate.spec else { continue };
        if candidate.is_submission {
            left_out.push((sanitize(&candidate.name), reason.clone()));
        } else if errors.len() < ERRORS_SHOWN {
            let reason = format!("{}: {reason}", sanitize(&candidate.name));
            errors.push(file.source.error(candidate.span.clone(), reason).to_string());
        }
    }
    let may_stop = broken == Broken::AsWritten && file.settings.policy.on_broken == OnBroken::Stop;
    let stops = may_stop && !left_out.is_empty();
    if stops && let Some(submissions) = &file.submissions {
        let all = candidates.iter().filter(|candidate| candidate.is_submission).count();
        let message = format!("{} of {all} submissions can't play", left_out.len());
        errors.push(file.source.error(submissions.span.clone(), message).to_string());
        errors.extend(left_out.iter().map(|(name, reason)| format!("{name}: {reason}")));
    }
    if !errors.is_empty() {
        let failure = Failure::usage(errors.join("\n"));
        let help = "fix them, or play without them: on_broken = \"leave-out\" in [policy], or \
                    --leave-out with `contest quick`";
        return Err(failure.or_help(stops.then(|| help.to_owned())));
    }
    candidates.retain(|candidate| candidate.spec.is_ok());
    Ok(left_out)
}
