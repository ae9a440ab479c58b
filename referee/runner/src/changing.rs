//! Changes of a contest that has begun. Each is checked against the schedule, then stored in one step with the
//! results that it removes. No referee plays the contest meanwhile: the caller has the folder's lock.

use super::again::{prepare_submission, stored_file};
use super::arguments::relative;
use super::entrants::stem;
use super::folder::Folder;
use super::prepare::Prepared;
use super::store::{REMOVED, Store, StoredContest, VoidAttempt};
use super::sums;
use super::team_names::unfit;
use super::writer::disk_failure;
use crate::parallel::Progress;
use nix::unistd::{Uid, User, gethostname};
use referee_contest::report::ChangeRow;
use referee_contest::wording::count;
use referee_contest::{Change, ChangeKind, Fixture, PLAYERS_MAX, Player, PlayerInfo, Schedule};
use referee_games::nearest;
use referee_process::Failure;
use referee_protocol::sanitize::{sanitize, sanitize_line, sanitize_name};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Games that are chosen by their numbers, or by a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GamesOf {
    /// These games.
    Numbers(Vec<u64>),
    /// All games of the player with this name that may be played again.
    Player(String),
}

/// Whether a player with a team's name is of the team.
#[derive(Clone, Copy, Debug)]
pub enum Earlier<'a> {
    /// So much is known.
    Known(bool),
    /// It is if its AGENT leads through this path.
    At(&'a Path),
    /// It is if its AGENT leads through a file or folder of the same name.
    OfTheSameName,
}

/// A contest that is changed.
#[derive(Debug)]
pub struct Changing {
    folder: Folder,
    store: Store,
    stored: StoredContest,
    schedule: Schedule,
    /// The games with a row in the store.
    played: BTreeSet<u64>,
    reason: String,
}

impl Changing {
    /// Opens a contest to change it once, for this reason.
    pub fn open(folder: &Folder, reason: &str) -> Result<Self, Failure> {
        let mut store = Store::open(folder)?;
        store.fence()?;
        let stored = store.contest()?;
        let mut schedule = Schedule::new(Arc::new(stored.contest.clone()));
        let mut played = BTreeSet::new();
        store.each_result(|number, places| {
            schedule.record(number, places);
            played.insert(number);
        })?;
        let (folder, reason) = (folder.clone(), reason.to_owned());
        Ok(Self { folder, store, stored, schedule, played, reason })
    }

    /// Adds a player, whose submission is at `path`. Without a name it is that of the file or folder.
    pub fn add(
        self,
        path: &Path,
        name: Option<&str>,
        progress: Progress<'_>,
    ) -> Result<String, Failure> {
        let from = self.schedule.known();
        let new = PlayerInfo { name: String::new(), run: String::new(), digest: String::new() };
        self.check(&ChangeKind::Add { player: new, from, team: None })?;
        let name = sanitize_name(&name.map_or_else(|| stem(path), str::to_owned));
        let players = &self.stored.contest.players;
        if players.iter().any(|player| player.name == name) {
            return Err(Failure::usage(format!("there is a player called {name} already"))
                .help("choose another name with --name, or use `contest replace`"));
        }
        if name.is_empty() || players.len() >= PLAYERS_MAX {
            let text = format!("a player needs a name, and a contest has at most {PLAYERS_MAX}");
            return Err(Failure::usage(text).help("choose a name with --name"));
        }
        let agent = prepare_submission(&self.stored, &self.folder, path, &name, progress)?;
        let player = agent.contest.players[0].clone();
        self.apply(ChangeKind::Add { player, from, team: None }, Vec::new(), Some(&agent))
    }

    /// Adds a version of a team's agent as a player of its own, such as `team` or `team v2`, if `check` doesn't
    /// refuse it. Returns the player's name, and what the change does as a sentence; without a sentence it is
    /// the same as that player.
    pub fn add_version(
        self,
        path: &Path,
        team: &str,
        earlier: Earlier<'_>,
        progress: Progress<'_>,
        check: impl FnOnce(&Prepared) -> Result<(), Failure>,
    ) -> Result<(String, Option<String>), Failure> {
        let (team, from) = (self.team(path, team, earlier)?, self.schedule.known());
        let players = &self.stored.contest.players;
        let known =
            |name: &str| Player::all(players.len()).zip(players).find(|(_, it)| it.name == name);
        let names = std::iter::once(team.clone()).chain((2..).map(|it| format!("{team} v{it}")));
        let mut earlier = Vec::new();
        let mut name = team.clone();
        for next in names {
            name = next;
            match known(&name) {
                Some((number, player)) => earlier.push((number, player.clone())),
                None => break,
            }
        }
        let agent = prepare_submission(&self.stored, &self.folder, path, &name, progress)?;
        let player = agent.contest.players[0].clone();
        let first = earlier.first().map(|(number, _)| *number);
        if let Some((_, same)) = earlier.into_iter().find(|(_, it)| it.digest == player.digest) {
            return Ok((same.name, None));
        }
        let kind = ChangeKind::Add { player, from, team: first };
        self.check(&kind)?;
        check(&agent)?;
        let text = self.apply(kind, Vec::new(), Some(&agent))?;
        Ok((name, Some(text)))
    }

    /// Returns the name of a team with a submission at `path`, unless it would be taken for another player.
    fn team(&self, path: &Path, team: &str, earlier: Earlier<'_>) -> Result<String, Failure> {
        let refused = |why: &str| {
            Err(Failure::usage(format!("its name {why}")).help("rename the submission"))
        };
        let players = &self.stored.contest.players;
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let is_teams = |run: &str| match earlier {
            Earlier::Known(is_teams) => is_teams,
            Earlier::At(place) => leads_through(run, &self.stored.base, place),
            Earlier::OfTheSameName => names_file(run, &file),
        };
        if let Some(player) = players.iter().find(|player| player.name == team)
            && (!is_teams(&player.run) || self.is_in_contest_file(team)?)
        {
            return refused("is that of another player");
        }
        let others = players.iter().map(|player| player.name.clone()).filter(|name| name != team);
        unfit(team, &others.collect::<Vec<_>>())
            .map_or_else(|| Ok(team.to_owned()), |why| refused(&why))
    }

    /// Whether the contest file names this player among its agents.
    fn is_in_contest_file(&self, name: &str) -> Result<bool, Failure> {
        let begun = self.stored.contest.with_changes(0);
        let Some(player) = begun.players.iter().find(|player| player.name == name) else {
            return Ok(false);
        };
        let file = stored_file(&self.stored, &self.folder)?;
        Ok(file.agents.iter().any(|agent| agent.run == player.run))
    }

    /// Replaces a player's agent by a new version at `path`.
    pub fn replace(
        self,
        name: &str,
        path: &Path,
        progress: Progress<'_>,
    ) -> Result<String, Failure> {
        if self.stored.left_out().any(|(left_out, _)| left_out == name) {
            let text = format!("{} was left out and doesn't play yet", sanitize(name));
            let (folder, path) = (self.folder.root().display(), path.display());
            let words = [folder.to_string(), path.to_string(), sanitize(name)];
            let [folder, path, name] =
                words.map(|word| shlex::try_quote(&word).map_or_else(|_| word.clone(), Into::into));
            return Err(Failure::usage(text).help(format!(
                "add it: referee contest add {folder} {path} --name {name} --reason \"handed in again\""
            )));
        }
        let player = self.active_player(name)?;
        let before = self.stored.contest.players[player.index()].clone();
        let from = self.schedule.first_open();
        let kind = |after| ChangeKind::Replace { player, before: before.clone(), after, from };
        self.check(&kind(before.clone()))?;
        let agent = prepare_submission(&self.stored, &self.folder, path, &before.name, progress)?;
        let after = agent.contest.players[0].clone();
        if after.digest == before.digest {
            let text = format!("{} has this version already", sanitize(&before.name));
            return Err(Failure::usage(text).help("`contest rerun --agent` plays its games again"));
        }
        let removes = self.open_games(player);
        let kind = kind(after);
        self.apply(kind, removes, Some(&agent))
    }

    /// Lets a player forfeit all games that were not played.
    pub fn withdraw(self, name: &str) -> Result<String, Failure> {
        let player = self.active_player(name)?;
        let from = Some(self.schedule.known());
        let kind = ChangeKind::Withdraw { player, played: self.games(player).collect(), from };
        self.apply(kind, Vec::new(), None)
    }

    /// Lets a player who has left come back: it plays all games on which no later pairing depends.
    pub fn come_back(self, name: &str) -> Result<String, Failure> {
        let player = self.player(name)?;
        if !self.stored.contest.has_left(player) {
            let name = self.name(player);
            return Err(Failure::usage(format!("{name} has not left the contest")));
        }
        let from = self.schedule.first_open();
        self.apply(ChangeKind::Return { player, from }, Vec::new(), None)
    }

    /// Has games played again.
    pub fn replay(self, games: &GamesOf) -> Result<String, Failure> {
        let removes = match games {
            GamesOf::Player(name) => {
                let player = self.active_player(name)?;
                self.open_games(player)
            }
            GamesOf::Numbers(numbers) => {
                let numbers: BTreeSet<u64> = numbers.iter().copied().collect();
                for &number in &numbers {
                    let fixture = self.open_game(number)?;
                    if let Some(player) = self.gone(&fixture) {
                        let text =
                            format!("game {number}: {} has left the contest", self.name(player));
                        return Err(Failure::usage(text));
                    }
                    if !self.schedule.has(number) {
                        return Err(Failure::usage(format!(
                            "game {number} has no result yet: `contest resume` plays it"
                        )));
                    }
                }
                numbers.into_iter().collect()
            }
        };
        let removes: Vec<u64> = removes;
        if removes.is_empty() {
            return Err(Failure::usage("there is no game to play again: none has a result yet"));
        }
        self.apply(ChangeKind::Replay, removes, None)
    }

    /// Has a player lose a game without playing it; a result that it has no longer counts.
    pub fn forfeit(self, game: u64, loser: &str) -> Result<String, Failure> {
        let loser = self.active_player(loser)?;
        let fixture = self.open_game(game)?;
        if !fixture.players.contains(&loser) {
            let names: Vec<String> = fixture.players.iter().map(|it| self.name(*it)).collect();
            let text = format!("{} does not play game {game}", self.name(loser));
            return Err(Failure::usage(text).help(format!("its players are {}", names.join(", "))));
        }
        let removes = Some(game).filter(|game| self.played.contains(game)).into_iter().collect();
        self.apply(ChangeKind::Forfeit { game, loser }, removes, None)
    }

    /// Returns the player with a name.
    fn player(&self, name: &str) -> Result<Player, Failure> {
        find_player(&self.stored.contest.players, name)
    }

    /// The same, if it has not left.
    fn active_player(&self, name: &str) -> Result<Player, Failure> {
        let player = self.player(name)?;
        if self.stored.contest.has_left(player) {
            let name = self.name(player);
            return Err(Failure::usage(format!("{name} has left the contest")));
        }
        Ok(player)
    }

    fn name(&self, player: Player) -> String {
        sanitize(&self.stored.contest.players[player.index()].name)
    }

    /// Returns a player of a game who has left.
    fn gone(&self, fixture: &Fixture) -> Option<Player> {
        fixture.players.iter().copied().find(|it| self.stored.contest.has_left(*it))
    }

    /// Returns the games of a player that were played.
    fn games(&self, player: Player) -> impl Iterator<Item = u64> {
        let plays = move |number: &u64| {
            self.schedule.fixture(*number).is_some_and(|it| it.players.contains(&player))
        };
        self.played.iter().copied().filter(plays)
    }

    /// Returns those on which no later pairing depends.
    fn open_games(&self, player: Player) -> Vec<u64> {
        self.games(player).filter(|number| *number >= self.schedule.first_open()).collect()
    }

    /// Returns a known game on whose result no later pairing depends.
    fn open_game(&self, number: u64) -> Result<Fixture, Failure> {
        let (known, first) = (self.schedule.known(), self.schedule.first_open());
        let fixture = self.schedule.fixture(number).ok_or_else(|| {
            Failure::usage(format!(
                "there is no game {number}: the contest has {}",
                count(known, "game")
            ))
            .help("games are counted from 0; the report lists them")
        })?;
        if number < first {
            return Err(Failure::usage(format!(
                "later pairings depend on the result of game {number}"
            ))
            .help(format!(
                "in a contest of format {} only games of the last round can be changed: from game \
                 {first} on",
                self.stored.contest.format.name()
            )));
        }
        Ok(fixture)
    }

    /// Checks that the format can take a change.
    fn check(&self, kind: &ChangeKind) -> Result<(), Failure> {
        if let Some(why) = self.stored.contest.refuses(kind) {
            return Err(Failure::usage(why));
        }
        if !matches!(kind, ChangeKind::Add { .. }) {
            return Ok(());
        }
        // A contest that becomes too large can't be read any more.
        let mut contest = self.stored.contest.clone();
        contest.change(self.change_now(kind.clone(), Vec::new()));
        contest.check_schedule().map_err(|why| Failure::usage(why.message).help(why.help))
    }

    fn change_now(&self, kind: ChangeKind, removes: Vec<u64>) -> Change {
        let (at, by) = (jiff::Timestamp::now().to_string(), own_name());
        Change { at, by, reason: self.reason.clone(), removes, kind }
    }

    /// Stores a change; returns what it does, as a sentence.
    fn apply(
        mut self,
        kind: ChangeKind,
        removes: Vec<u64>,
        agent: Option<&Prepared>,
    ) -> Result<String, Failure> {
        self.check(&kind)?;
        let change = self.change_now(kind, removes);
        if let Some(agent) = agent {
            self.stored.copies.extend(agent.copies.clone());
            // Of the agent that it replaces, which an earlier version kept.
            self.stored.files.retain(|name, _| !agent.copies.contains_key(name));
        }
        // A kill after this leaves no list that has the store as it was.
        sums::write(&self.folder, &self.store)?;
        let voids = self.keep_transcripts(&change)?;
        self.stored.contest.change(change.clone());
        self.store.change(&self.stored, &change, &voids)?;
        // Before the removed transcripts go: a kill leaves no file missing that is listed.
        sums::write(&self.folder, &self.store)?;
        for void in &voids {
            fs::remove_file(self.folder.path(Folder::transcript(void.number))).ok();
        }
        let row = ChangeRow::of(&self.stored.contest).pop();
        Ok(row.map_or_else(String::new, |row| sanitize(&row.text)))
    }

    /// Copies the transcripts of the removed results to the names of void attempts: a kill before the change is
    /// stored leaves the games as they were.
    fn keep_transcripts(&self, change: &Change) -> Result<Vec<VoidAttempt>, Failure> {
        let mut attempts: BTreeMap<u64, u32> = BTreeMap::new();
        for void in self.store.voids()? {
            attempts.insert(void.number, void.attempt);
        }
        let mut voids = Vec::new();
        for &number in change.removes.iter().filter(|number| self.played.contains(number)) {
            let attempt = attempts.get(&number).copied().unwrap_or_default() + 1;
            let name = Folder::void_transcript(number, attempt);
            let (from, to) =
                (self.folder.path(Folder::transcript(number)), self.folder.path(&name));
            let copied = fs::copy(from, &to).and_then(|_| File::open(&to)?.sync_all());
            copied.map_err(|error| disk_failure(&to, &error))?;
            voids.push(VoidAttempt {
                number,
                attempt,
                cause: REMOVED.to_owned(),
                text: change.reason.clone(),
                player: None,
                transcript: Some(name),
            });
        }
        let folders: BTreeSet<PathBuf> = voids
            .iter()
            .filter_map(|void| {
                Some(self.folder.path(void.transcript.as_ref()?).parent()?.to_owned())
            })
            .collect();
        let synced = folders.iter().try_for_each(|folder| File::open(folder)?.sync_all());
        synced.map_err(|error: io::Error| disk_failure(self.folder.root(), &error))?;
        Ok(voids)
    }
}

/// Returns `USER@HOST`.
pub fn own_name() -> String {
    let user = User::from_uid(Uid::current()).ok().flatten();
    let user = user.map_or_else(|| Uid::current().to_string(), |user| user.name);
    let host = gethostname().ok().and_then(|host| host.into_string().ok());
    let name = host.map_or_else(|| user.clone(), |host| format!("{user}@{host}"));
    sanitize_line(&name)
}

/// Whether an AGENT's path leads through a file or folder of this name.
fn names_file(run: &str, file: &str) -> bool {
    let is_file = |part: &str| part.trim_matches(['\'', '"']) == file;
    run.split('/').any(|part| is_file(part) || part.split([':', ' ']).any(is_file))
}

/// Whether an AGENT, whose paths are relative to a folder or absolute, leads through this path.
fn leads_through(run: &str, base: &Path, place: &Path) -> bool {
    let places = [relative(base, place), place.to_owned()];
    let words = shlex::split(run).unwrap_or_default();
    words.iter().flat_map(|word| word.split(':')).any(|part| {
        let part = part.strip_prefix("./").unwrap_or(part);
        places.iter().any(|place| Path::new(part).starts_with(place))
    })
}

/// Returns the player with a name.
pub fn find_player(players: &[PlayerInfo], name: &str) -> Result<Player, Failure> {
    let wanted = sanitize_name(name);
    let found = Player::all(players.len()).find(|it| players[it.index()].name == wanted);
    found.ok_or_else(|| {
        let near = nearest(&wanted, players.iter().map(|player| player.name.as_str()));
        Failure::usage(format!("there is no player called {}", sanitize(&wanted)))
            .or_help(near.map(|near| format!("did you mean {}?", sanitize(near))))
    })
}

#[cfg(test)]
mod tests {
    use super::{leads_through, names_file};
    use std::path::Path;

    #[test]
    fn a_player_is_known_by_its_place() {
        let [base, place] = ["/c", "/c/in/amy"].map(Path::new);
        for (run, expected) in [
            ("in/amy", true),
            ("python3 'in/amy/main.py'", true),
            ("comp30024:./in/amy:Agent", true),
            ("/c/in/amy", true),
            ("../referee-unpacked-0/00/amy", false),
            ("in/amy2", false),
            ("in", false),
        ] {
            assert_eq!(leads_through(run, base, place), expected, "{run}");
        }
    }

    #[test]
    fn a_player_is_known_by_its_file() {
        for (run, file, expected) in [
            ("bots/amy", "amy", true),
            ("bots/amy.py", "amy", false),
            ("d/submissions/amy.py/2/amy.py", "amy.py", true),
            ("python3 'bots/amy b/main.py'", "amy b", true),
            ("python3 bots/amy/main.py", "amy", true),
            ("'./amy.py'", "amy.py", true),
            ("comp30024:./amy:Agent", "amy", true),
            ("@amy", "amy", false),
        ] {
            assert_eq!(names_file(run, file), expected, "{run} {file}");
        }
    }
}
