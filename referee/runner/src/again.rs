//! Prepares a contest that has begun, from its folder: to resume it, or to add a submission.

use super::arguments::relative;
use super::copies::{AgentCopy, restore};
use super::entrants::{
    Candidate, Submission, at_its_own_place, candidate, check_games, describe, unpacked_or_itself,
};
use super::folder::{AGENTS_FOLDER, Folder};
use super::prepare::{Broken, Entrants, Prepared, build, contest_files, failure, read_again};
use super::programs;
use super::store::StoredContest;
use crate::parallel::{self, Progress};
use referee_contest::file::{ContestFile, FileError, FoundAgent, OtherFiles};
use referee_contest::formats::TieRules;
use referee_contest::{Contest, Player, PlayerInfo};
use referee_games::Games;
use referee_play::agent_spec::AgentSpec;
use referee_process::files::{absolute, is_disk_full};
use referee_process::{Cause, Failure};
use referee_protocol::sanitize::sanitize;
use std::collections::{BTreeMap, BTreeSet};
use std::env::temp_dir;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Prepares a stored contest to resume it. The contest file, the submissions and other files may have changed:
/// everything is read from the contest's folder, except agents that have no copy there.
pub fn prepare_again(stored: &StoredContest, folder: &Folder) -> Result<Prepared, Failure> {
    let read = stored_file(stored, folder)?;
    let mut prepared = without_agents(stored, folder, read);
    let players: Vec<_> =
        Player::all(stored.contest.players.len()).zip(&stored.contest.players).collect();
    // Agents may share a copy.
    let copies: BTreeMap<&str, &AgentCopy> =
        stored.copies.values().map(|copy| (copy.sha256.as_str(), copy)).collect();
    let copies: Vec<&AgentCopy> = copies.into_values().collect();
    let restored = parallel::map(&copies, None, &|_, _| {}, |copy| {
        let place = copy.root(&prepared.agents_folder);
        restore(copy, &prepared.agents_folder)
            .map_err(|error| Failure::operation(format!("{}: {error}", place.display())))
    });
    let restored = restored.into_iter().collect::<Result<Vec<bool>, _>>()?;
    let different: BTreeSet<&str> =
        copies.iter().zip(restored).filter(|(_, same)| !same).map(|(it, _)| &*it.sha256).collect();
    let read = |player: &PlayerInfo| {
        let copy = stored.copies.get(&player.name);
        if copy.is_some_and(|copy| different.contains(&*copy.sha256)) {
            return Err(changed(player, copy, &prepared.agents_folder));
        }
        let mut spec = prepared.read_agent(player)?;
        let files = stored.files.get(&player.name).map_or(&[][..], Vec::as_slice);
        if !spec.has_digest(&player.digest, files) {
            return Err(changed(player, copy, &prepared.agents_folder));
        }
        spec.digest.clone_from(&player.digest);
        if !files.is_empty() {
            spec.files = files.to_vec();
        }
        Ok(spec)
    };
    let found = parallel::map(&players, None, &|_, _| {}, |(number, player)| match read(player) {
        // Those who have left play no more.
        Err(_) if stored.contest.has_left(*number) => {
            Ok(AgentSpec { name: player.name.clone(), ..AgentSpec::default() })
        }
        read => read,
    });
    prepared.specs = found.into_iter().collect::<Result<_, _>>()?;
    Ok(prepared)
}

/// Returns the agents of a stored contest, from their copies, and those that were left out.
pub(super) fn stored_entrants(
    stored: &StoredContest,
    folder: &Folder,
) -> Result<Entrants, Failure> {
    let read = stored_file(stored, folder)?;
    let prepared = without_agents(stored, folder, read);
    let entrant = |name: &str, written: &str, spec| Submission {
        name: name.to_owned(),
        written: written.to_owned(),
        shown: written.to_owned(),
        entry: None,
        place: None,
        spec,
    };
    let player = |player: &PlayerInfo| {
        let spec = prepared.read_agent(player).map_err(|failure| describe(&failure));
        entrant(&player.name, &player.run, spec)
    };
    let left_out = |(name, why): &(String, String)| entrant(name, name, Err(why.clone()));
    let found = stored.contest.players.iter().map(player);
    Ok(Entrants {
        settings: stored.contest.clone(),
        found: found.chain(stored.left_out().map(left_out)).collect(),
        base: stored.base.clone(),
        games: prepared.games,
        notes: Vec::new(),
        others: hidden_files(stored, folder),
    })
}

/// Returns what no agent of a stored contest may read but its own files.
pub fn hidden_files(stored: &StoredContest, folder: &Folder) -> Vec<PathBuf> {
    let mut hidden = contest_files(&stored.base);
    hidden.extend(folder.records());
    hidden.push(folder.path(AGENTS_FOLDER));
    // A copy is all that is left of an agent, also for others.
    hidden.extend(stored.copies.values().flat_map(|copy| copy.own.clone()));
    hidden
}

/// Reads the contest of a contest file, with the players and opening positions of another contest: the
/// agents and the openings file may no longer exist. `None` if the file names other agents.
fn contest_of_text(
    text: &str,
    name: &str,
    other: &Contest,
    games: &Games,
) -> Result<Option<Contest>, FileError> {
    let file = ContestFile::read_stored(text, name, &other.name, games)?;
    let is_named = |player: &PlayerInfo| file.agents.iter().any(|it| it.run == player.run);
    let plays = |run: &str| other.players.iter().any(|player| player.run == run);
    let others_may_play = file.submissions.is_some() || other.players.iter().all(is_named);
    if !others_may_play || !file.agents.iter().all(|agent| plays(&agent.run)) {
        return Ok(None);
    }
    let agent = |player: &PlayerInfo| FoundAgent { player: player.clone(), span: 0..0 };
    let agents: Vec<FoundAgent> = other.players.iter().map(agent).collect();
    let (mut contest, _) = file.contest(&agents, &OtherFiles::default())?;
    if file.openings.is_some() {
        contest.openings.positions.clone_from(&other.openings.positions);
    }
    // Contests of earlier versions have no seed for each game, no preset, no policy on broken submissions, and neither
    // lots nor other settings of ties.
    contest.own_seeds = other.own_seeds;
    contest.policy.on_broken = other.policy.on_broken;
    contest.preset = contest.preset.filter(|_| other.preset.is_some());
    if other.format.tie_rules() == Some(TieRules::default()) {
        (contest.format, contest.players) = (other.format.clone(), other.players.clone());
    }
    if contest.format.had_another_seeding() {
        // They seeded submissions by name; the seeding shows in the pairings.
        contest.players.clone_from(&other.players);
    }
    Ok(Some(contest))
}

/// Returns how the contest file differs from the original one, or the stored contest from the file.
pub(super) fn file_difference(
    folder: &Folder,
    stored: &StoredContest,
    games: &Games,
) -> Option<String> {
    match folder.read_file() {
        Ok(text) if text == stored.text => contest_difference(&text, folder, stored, games),
        Ok(_) => {
            let name = folder.file();
            Some(format!("{}: the file was changed after the contest began", name.display()))
        }
        Err(error) => Some(format!("{}: {error}", folder.file().display())),
    }
}

/// Returns how the stored contest differs from what this text says.
fn contest_difference(
    text: &str,
    folder: &Folder,
    stored: &StoredContest,
    games: &Games,
) -> Option<String> {
    let (name, begun) = (folder.file().display().to_string(), stored.contest.with_changes(0));
    match contest_of_text(text, &name, &begun, games) {
        Ok(Some(contest)) if contest == begun => None,
        Ok(_) => Some(format!("{name}: the contest in the store differs from the file")),
        Err(error) => Some(error.to_string()),
    }
}

/// Reads the contest file of a stored contest. It is an error if they differ: whoever reads the file knows what is started.
pub(super) fn stored_file(stored: &StoredContest, folder: &Folder) -> Result<ContestFile, Failure> {
    let name = folder.file().to_string_lossy().into_owned();
    let games = programs::stored(stored, folder)?;
    // Comments, tables for the site, and marks may differ.
    let text =
        folder.read_file().map_err(|error| Failure::operation(format!("{name}: {error}")))?;
    let changed = Some(&text).filter(|text| **text != stored.text);
    let differs = |text: &String| contest_difference(text, folder, stored, &games);
    if let Some(why) = changed.into_iter().chain([&stored.text]).find_map(differs) {
        return Err(Failure::operation(why)
            .help("restore the folder from a copy; `referee verify DIR` says what else differs"));
    }
    ContestFile::read_stored(&stored.text, &name, &stored.contest.name, &games)
        .map_err(|error| failure(&error))
}

/// Prepares a submission for a stored contest: builds it and copies it to the contest's folder. The result has it
/// as its only player.
pub(super) fn prepare_submission(
    stored: &StoredContest,
    folder: &Folder,
    path: &Path,
    name: &str,
    progress: Progress<'_>,
) -> Result<Prepared, Failure> {
    let read = stored_file(stored, folder)?;
    let refused = |why: String| Failure::usage(format!("{}: {why}", path.display()));
    let given = place(path)?;
    let entry = unpacked_or_itself(&given).map_err(|error| {
        if is_disk_full(&error) {
            let text = format!("it doesn't fit into {}: {error}", temp_dir().display());
            Failure::machine(text)
                .because(Cause::NoTemporaryRoom)
                .help("free some space, or name another folder by TMPDIR")
        } else {
            refused(sanitize(&error.to_string()))
        }
    })?;
    let template = read.submissions.as_ref().and_then(|submissions| submissions.run.clone());
    // As a submission would be named in the contest file.
    let inside = stored.base.join(relative(&stored.base, &entry));
    let (spec, entry) = candidate(template.as_deref(), &inside, &stored.base)
        .and_then(|spec| spec.ok_or_else(|| "it is not an agent".to_owned()))
        .and_then(|(spec, place)| Ok((check_games(&read, spec)?, place)))
        .map_err(refused)?;
    let is_private = entry != inside || inside != given;
    let (run, entry) = (spec.written.clone(), place(&entry)?);
    let own = template.as_deref().filter(|_| is_private);
    let shown = own.and_then(|run| at_its_own_place(run, &given, &stored.base));
    let shown = shown.unwrap_or_else(|| run.clone());
    let mut candidates = [Candidate {
        name: name.to_owned(),
        run,
        shown: shown.clone(),
        span: 0..0,
        is_submission: true,
        entry: Some(entry.clone()),
        spec: Ok(spec),
    }];
    build(&read, &mut candidates, &stored.base, hidden_files(stored, folder), progress)?;
    read_again(&mut candidates, &stored.base);
    let [Candidate { spec, .. }] = candidates;
    let spec = AgentSpec { name: name.to_owned(), ..spec.map_err(refused)? };
    let player = PlayerInfo { name: name.to_owned(), run: shown, digest: spec.digest.clone() };
    let mut prepared = without_agents(stored, folder, read);
    prepared.contest = Arc::new(Contest { players: vec![player], ..stored.contest.clone() });
    prepared.specs = vec![spec];
    prepared.copies.clear();
    prepared.entries.insert(name.to_owned(), entry);
    if let Some((_, why)) = prepared.add_copies(folder, &|_, _| {})?.pop() {
        return Err(refused(why));
    }
    if prepared.copies.is_empty() {
        let why = prepared.notes.join("; ");
        return Err(Failure::usage(format!("it can't be copied to the contest's folder: {why}"))
            .help("make it a folder with an agent.toml that needs nothing outside it"));
    }
    Ok(prepared)
}

/// Returns the full path of a submission, which is not followed if it is a link.
pub(super) fn place(path: &Path) -> Result<PathBuf, Failure> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(absolute(parent)?.join(name)),
        _ => absolute(path),
    }
}

/// Prepares a stored contest without its agents.
fn without_agents(stored: &StoredContest, folder: &Folder, read: ContestFile) -> Prepared {
    let agents_folder = folder.path(AGENTS_FOLDER);
    Prepared {
        contest: Arc::new(stored.contest.clone()),
        specs: Vec::new(),
        left_out: stored.left_out().cloned().collect(),
        notes: Vec::new(),
        jobs: read.jobs,
        pin: read.pin,
        build: read.build,
        text: stored.text.clone(),
        is_seeded: true,
        games: read.known_games.clone(),
        named: read.agents.iter().map(|agent| agent.run.clone()).collect(),
        base: stored.base.clone(),
        entries: BTreeMap::new(),
        copies: stored.copies.clone(),
        broken: Broken::AsWritten,
        agents_folder: agents_folder.canonicalize().unwrap_or(agents_folder),
    }
}

/// The failure for an agent that is not the one with which the contest began.
fn changed(player: &PlayerInfo, copy: Option<&AgentCopy>, agents: &Path) -> Failure {
    let name = sanitize(&player.name);
    let place = copy.map(|copy| format!(" in {}", copy.root(agents).display()));
    let text = format!("{name} was changed{} after the contest began", place.unwrap_or_default());
    Failure::operation(text).help(
        "undo the change to resume this contest, or start a new one with `referee contest run`",
    )
}
