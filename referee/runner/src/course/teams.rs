//! The teams of a course: their names, the ids of the course's own system, and the hashes of their secrets.

use super::instructor::{CourseTimes, Entry};
use super::teams_folder;
use crate::folder::{Folder, TEAMS_FOLDER};
use crate::team_names::version_of;
use crate::writer::disk_failure;
use nix::fcntl::{Flock, FlockArg};
use rand::TryRng;
use rand::rngs::SysRng;
use referee_contest::Contest;
use referee_match::names::unique_names;
use referee_play::replace_file::replace_with_mode;
use referee_process::Failure;
use referee_process::files::read_regular;
use referee_process::open_folder::OpenFolder;
use referee_protocol::encode::to_hex;
use referee_protocol::sanitize::{sanitize, sanitize_name};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// The file with the teams.
const TEAMS_FILE: &str = "teams.json";
/// The largest such file, in bytes.
const BYTES_MAX: u64 = 16 << 20;
/// The most teams.
const TEAMS_MAX: usize = 10_000;
/// The random bytes of a secret.
const SECRET_BYTES: usize = 16;

/// The teams of a course.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Teams {
    /// The address of the site, without a slash at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The address at a reverse proxy that the site was last started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxied: Option<String>,
    /// The teams, by number.
    pub teams: Vec<Team>,
    /// SHA-256 of the instructor's secret, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructor_sha256: Option<String>,
    /// Whether no games are begun.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// The times that have replaced those of the contest file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<CourseTimes>,
    /// What the instructor has done, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<Entry>,
}

/// A team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    /// Its number, from 1, which never changes.
    pub number: u32,
    /// Its name, unique in the course: that of its player.
    pub name: String,
    /// Its id in the course's own system.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Its members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// SHA-256 of its secret, in hex.
    secret_sha256: String,
    /// Its own deadline, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Why it is disqualified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disqualified: Option<String>,
}

/// A team as the course lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct NewTeam {
    /// Its name.
    pub name: String,
    /// Its id in the course's own system.
    #[serde(default)]
    pub id: String,
    /// Its members, with `;` between them.
    #[serde(default)]
    pub members: String,
}

/// A secret that was made just now. Only its hash is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    fn new() -> Result<Self, Failure> {
        let mut bytes = [0; SECRET_BYTES];
        SysRng.try_fill_bytes(&mut bytes).map_err(|error| {
            Failure::machine(format!("cannot get random bytes from the system: {error}"))
        })?;
        Ok(Self(to_hex(&bytes)))
    }

    /// The secret itself.
    pub fn text(&self) -> &str {
        &self.0
    }
}

fn hash(secret: &str) -> String {
    to_hex(&Sha256::digest(secret.as_bytes()))
}

/// Reads a list of teams: CSV with the columns `name`, and if wanted `id` and `members`.
pub fn read_list(text: &[u8]) -> Result<Vec<NewTeam>, Failure> {
    let wrong = |error: csv::Error| {
        Failure::usage(format!("the list of teams: {error}"))
            .help("its first line is `name,id,members`; members are separated by `;`")
    };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text);
    let mut teams: Vec<NewTeam> = Vec::new();
    for row in reader.deserialize() {
        let team: NewTeam = row.map_err(wrong)?;
        if teams.iter().any(|known| known.name == team.name) {
            return Err(Failure::usage(format!(
                "the list of teams: {} is there twice",
                sanitize(&team.name)
            )));
        }
        teams.push(team);
    }
    Ok(teams)
}

/// What tells a version of the file from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileState(Option<(u64, i64, i64, u64)>);

fn path(folder: &Folder) -> PathBuf {
    folder.path(TEAMS_FOLDER).join(TEAMS_FILE)
}

pub(super) fn state(folder: &Folder) -> Result<FileState, Failure> {
    match path(folder).metadata() {
        Ok(it) => Ok(FileState(Some((it.ino(), it.mtime(), it.mtime_nsec(), it.len())))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FileState(None)),
        Err(error) => Err(disk_failure(&path(folder), &error)),
    }
}

impl Teams {
    /// Reads the teams of a contest; there may be none.
    pub fn read(folder: &Folder) -> Result<Self, Failure> {
        let path = path(folder);
        let bytes = match read_regular(&path, BYTES_MAX) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            bytes => bytes.map_err(|error| disk_failure(&path, &error))?,
        };
        serde_json::from_slice(&bytes)
            .map_err(|error| Failure::operation(format!("{}: {error}", path.display())))
    }

    /// Changes the teams of a contest, which may be running. Nothing is stored if the change fails.
    pub fn change<T>(
        folder: &Folder,
        change: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let root = teams_folder(folder)?;
        let failed = |error: io::Error| disk_failure(&root, &error);
        let lock = root.join("lock");
        let file = OpenFolder::open(&root)
            .and_then(|root| root.create_new(OsStr::new("lock"), 0o600))
            .or_else(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => File::options().write(true).open(&lock),
                _ => Err(error),
            })
            .map_err(failed)?;
        let _lock = Flock::lock(file, FlockArg::LockExclusive)
            .map_err(|(_, errno)| failed(errno.into()))?;
        let mut teams = Self::read(folder)?;
        let done = change(&mut teams)?;
        let text = serde_json::to_string_pretty(&teams).unwrap_or_default() + "\n";
        let write = || {
            replace_with_mode(&root.join(TEAMS_FILE), 0o600, |file| {
                file.write_all(text.as_bytes())?;
                file.flush()?;
                file.get_ref().sync_all()
            })?;
            File::open(&root)?.sync_all()
        };
        write().map_err(failed)?;
        Ok(done)
    }

    /// Returns the team with this secret.
    pub fn with_secret(&self, secret: &str) -> Option<&Team> {
        // How long it takes to compare hashes says nothing about the secret.
        let hash = hash(secret);
        self.teams.iter().find(|team| team.secret_sha256 == hash)
    }

    /// Whether this is the instructor's secret.
    pub fn has_instructor(&self, secret: &str) -> bool {
        self.instructor_sha256.as_ref().is_some_and(|known| *known == hash(secret))
    }

    /// Makes a secret for the instructor: the one before no longer works.
    pub fn renew_instructor(&mut self) -> Result<Secret, Failure> {
        let secret = Secret::new()?;
        self.instructor_sha256 = Some(hash(secret.text()));
        Ok(secret)
    }

    /// Returns the team with this name.
    pub fn named(&mut self, name: &str) -> Result<&mut Team, Failure> {
        let wanted = sanitize_name(name);
        let missing = || {
            Failure::usage(format!("there is no team called {}", sanitize(name)))
                .help("`referee contest teams DIR` lists them")
        };
        self.teams.iter_mut().find(|team| team.name == wanted).ok_or_else(missing)
    }

    /// Adds a team, or takes over the id and members of one that is there. Returns the secret of a new one.
    pub fn add(&mut self, new: &NewTeam, contest: &Contest) -> Result<Option<Secret>, Failure> {
        let refused = |why: &str| {
            let text = format!("the team {:?} {why}", sanitize(&new.name));
            Err(Failure::usage(text).help("choose another name"))
        };
        let members = new.members.split(';').map(|member| sanitize_name(member.trim()));
        let members: Vec<String> = members.filter(|member| !member.is_empty()).collect();
        let id = sanitize_name(new.id.trim());
        let name = sanitize_name(new.name.trim());
        if let Some(known) = self.teams.iter_mut().find(|team| team.name == name) {
            (known.id, known.members) = (id, members);
            return Ok(None);
        }
        if name.is_empty() || name != new.name.trim() {
            return refused(
                "has a name that is empty, too long, or has characters that are not shown",
            );
        }
        if version_of(&name).is_some() {
            return refused("has the name of another team's version");
        }
        let players = contest.players.iter().map(|player| player.name.clone());
        let known = self.teams.iter().map(|team| team.name.clone()).chain(players);
        let unique = unique_names(known.chain([name.clone()])).pop();
        if unique.is_some_and(|unique| unique != name) {
            return refused("has the name of another team or player, or looks like one");
        }
        if self.teams.len() >= TEAMS_MAX {
            return refused(&format!("is one too many: a course has at most {TEAMS_MAX}"));
        }
        let secret = Secret::new()?;
        let number = self.teams.iter().map(|team| team.number).max().unwrap_or(0) + 1;
        let secret_sha256 = hash(secret.text());
        self.teams.push(Team {
            number,
            name,
            id,
            members,
            secret_sha256,
            until: None,
            disqualified: None,
        });
        Ok(Some(secret))
    }
}

impl Team {
    /// Gives it a new secret: the one before no longer works.
    pub fn renew(&mut self) -> Result<Secret, Failure> {
        let secret = Secret::new()?;
        self.secret_sha256 = hash(secret.text());
        Ok(secret)
    }

    /// Whether it is the same team with the same link.
    pub(super) fn has_link_of(&self, other: &Self) -> bool {
        (self.number, &self.secret_sha256) == (other.number, &other.secret_sha256)
    }

    /// The name of the folder in which the files of each of its versions are.
    pub(super) fn folder_name(&self) -> String {
        format!("team-{}", self.number)
    }
}
