//! The game programs of a contest: those that its file names, and their copies in its folder, from which its games
//! are played.

use super::folder::{Folder, RULES_FOLDER};
use super::prepare::Prepared;
use super::store::{Store, StoredContest};
use super::writer::disk_failure;
use referee_contest::ContestGame;
use referee_contest::file::game_names;
use referee_games::program::Program;
use referee_games::{GameKind, Games};
use referee_play::game_program::{Chosen, is_path, load, spec_of};
use referee_process::Failure;
use referee_process::files::sync_file_system;
use referee_protocol::GameProgramRecord;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The most copies that are started because they lie in a contest's folder: each is a process.
const FOUND_MAX: usize = 8;

/// Loads the game programs that a contest file names. Their paths are relative to `base`.
pub(super) fn named(text: &str, base: &Path) -> Result<Games, Failure> {
    let paths = game_names(text).into_iter().filter(|name| is_path(name));
    let loaded = paths.map(|path| Ok((path.clone(), load(&base.join(&path), Chosen::ByName)?)));
    Ok(Games::default().with(loaded.collect::<Result<Vec<_>, Failure>>()?))
}

/// Loads the game programs of a stored contest, from their copies in its folder.
pub(super) fn stored(stored: &StoredContest, folder: &Folder) -> Result<Games, Failure> {
    games_of(&stored.contest.games, &stored.text, folder)
}

/// The same to verify it: only what is in `given` is trusted.
pub(super) fn to_verify(
    stored: &StoredContest,
    folder: &Folder,
    given: &Games,
) -> Result<Games, Failure> {
    untrusted(&stored.contest.games, &stored.text, folder, given)
}

/// Loads those of the contest in a folder, for this file of it: only what is in `given` is trusted.
pub fn of_file(folder: &Folder, text: &str, given: &Games) -> Result<Games, Failure> {
    untrusted(&Store::open_to_read(folder)?.contest()?.contest.games, text, folder, given)
}

fn untrusted(
    games: &[ContestGame],
    text: &str,
    folder: &Folder,
    given: &Games,
) -> Result<Games, Failure> {
    games_by(games, text, |name, program| {
        given
            .of_record(name, Some(program))
            .or_else(|_| load(&copy_of(folder, program), Chosen::ByPlace))
    })
}

/// Loads those of the contest in a folder. Who works on the contest trusts them.
pub fn of_folder(folder: &Folder) -> Result<Games, Failure> {
    let copies = contest_of(folder.root())
        .map(|it| load_copies(it, &Games::default(), Chosen::ByName))
        .transpose()?;
    Ok(Games::default().with(copies.unwrap_or_default()))
}

/// Where a contest's folder has the copy of a game program.
fn copy_of(folder: &Folder, program: &GameProgramRecord) -> PathBuf {
    folder.path(RULES_FOLDER).join(&program.digest)
}

/// Loads the copies for the games of a contest with this file. Who works on the contest trusts them.
fn games_of(games: &[ContestGame], text: &str, folder: &Folder) -> Result<Games, Failure> {
    games_by(games, text, |_, program| load(&copy_of(folder, program), Chosen::ByName))
}

/// Finds the game programs for the games of a contest with this file.
fn games_by(
    games: &[ContestGame],
    text: &str,
    find: impl Fn(&str, &GameProgramRecord) -> Result<GameKind, Failure>,
) -> Result<Games, Failure> {
    let named = games.iter().zip(game_names(text)).filter_map(|(game, name)| {
        let program = game.program.as_ref()?;
        Some(find(&game.game, program).map(|kind| (name, kind)))
    });
    Ok(Games::default().with(named.collect::<Result<Vec<_>, Failure>>()?))
}

/// Returns the folder of the contest to which a file belongs, if it is in one that has game programs; or a contest's
/// folder itself.
pub fn contest_of(file: &Path) -> Option<&Path> {
    file.ancestors()
        .find(|folder| Folder::has_contest(folder) && folder.join(RULES_FOLDER).is_dir())
}

/// Loads the copies of game programs in a contest's folder, each with its path, except those that are in `given`. The
/// contest may come from anyone.
pub fn copies(folder: &Path, given: &Games) -> Result<Vec<(String, GameKind)>, Failure> {
    load_copies(folder, given, Chosen::ByPlace)
}

fn load_copies(
    folder: &Path,
    given: &Games,
    chosen: Chosen,
) -> Result<Vec<(String, GameKind)>, Failure> {
    let copies = folder.join(RULES_FOLDER);
    let failed = |error: io::Error| Failure::operation(format!("{}: {error}", copies.display()));
    let known = given.iter().filter_map(|kind| Some(kind.program()?.record().digest.as_str()));
    let known: Vec<&OsStr> = known.map(OsStr::new).collect();
    let mut names = Vec::new();
    for entry in copies.read_dir().map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if !known.contains(&name.as_os_str()) {
            names.push(name);
        }
    }
    if chosen == Chosen::ByPlace && names.len() > FOUND_MAX {
        let text = format!("{}: more than {FOUND_MAX} game programs", copies.display());
        return Err(Failure::operation(text).help("name those that you need with --rules"));
    }
    names.sort();
    let paths = names.into_iter().map(|name| copies.join(name));
    paths.map(|path| Ok((path.display().to_string(), load(&path, chosen)?))).collect()
}

impl Prepared {
    /// Copies the game programs to the contest's folder and loads them there.
    pub fn copy_games(&mut self, folder: &Folder) -> Result<(), Failure> {
        let kinds: Vec<GameKind> =
            self.contest.games.iter().filter_map(|it| it.kind(&self.games).ok()).collect();
        let programs: Vec<&Program> = kinds.iter().filter_map(GameKind::program).collect();
        if programs.is_empty() {
            return Ok(());
        }
        let rules = folder.path(RULES_FOLDER);
        if rules.exists() {
            // A run that was killed before its store was made left it.
            fs::remove_dir_all(&rules).map_err(|error| disk_failure(&rules, &error))?;
        }
        for program in programs {
            let (from, to) = (program.folder(), rules.join(&program.record().digest));
            copy(from, &to).map_err(|error| disk_failure(&to, &error))?;
            if spec_of(&to)?.digest != program.record().digest {
                let text = format!("{} was changed while it was copied", from.display());
                return Err(Failure::operation(text).help("run again"));
            }
        }
        sync_file_system(&rules).map_err(|error| disk_failure(&rules, &error))?;
        self.games = games_of(&self.contest.games, &self.text, folder)?;
        Ok(())
    }
}

/// Copies the files of a game program.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for file in spec_of(from).map_err(io::Error::from)?.files {
        let target = to.join(&file);
        fs::create_dir_all(target.parent().unwrap_or(to))?;
        fs::copy(from.join(&file), &target)?;
    }
    Ok(())
}
