//! What an instructor does with a course that is open, by a command or on the instructor's page. It is written to the
//! file of the teams, which the ladder follows: no command needs the contest's lock.

use super::teams::{NewTeam, Secret, Team, Teams};
use super::{Course, Task, WebTimes, moment};
use crate::changing::GamesOf;
use crate::folder::Folder;
use crate::store::Store;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use referee_contest::file::ContestFile;
use referee_contest::wording::count;
use referee_match::times::read_time;
use referee_process::Failure;
use referee_process::lock::lock;
use referee_protocol::sanitize::{sanitize, sanitize_line};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The entries of the log that are kept.
const LOG_MAX: usize = 500;
/// The most games that an order names.
const GAMES_MAX: usize = 1000;
/// The most rounds of a final.
const ROUNDS_MAX: u32 = 1000;
/// The longest reason, in characters.
const REASON_MAX: usize = 500;

/// What an instructor does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
pub enum Act {
    /// Begins no more games.
    Pause {
        /// Why.
        reason: String,
    },
    /// Begins games again.
    Unpause,
    /// Sets all times; what is missing or empty is never.
    Times {
        /// When the last version may be handed in.
        #[serde(default)]
        deadline: String,
        /// How long after that versions are taken all the same.
        #[serde(default)]
        grace: String,
        /// From when on the public sees no newer results.
        #[serde(default)]
        freeze_at: String,
    },
    /// Adds a team, or takes over what is given of one that is there.
    Invite {
        /// Its name.
        name: String,
        /// Its id in the course's own system.
        #[serde(default)]
        id: String,
        /// Its members, with `;` between them.
        #[serde(default)]
        members: String,
        /// Its own deadline.
        #[serde(default)]
        until: String,
    },
    /// Sets a team's own deadline; none if it is empty.
    Extend {
        /// The team's name.
        team: String,
        /// The deadline.
        until: String,
    },
    /// Gives a team a new link.
    Renew {
        /// The team's name.
        team: String,
    },
    /// Lets a team play no more.
    Disqualify {
        /// The team's name.
        team: String,
        /// Why.
        reason: String,
    },
    /// Takes that back.
    Requalify {
        /// The team's name.
        team: String,
    },
    /// Has games played again.
    Rerun {
        /// The numbers of the games.
        #[serde(default)]
        games: Vec<u64>,
        /// Or all games of this player that may be played again.
        #[serde(default)]
        player: String,
        /// Why.
        reason: String,
    },
    /// Plays a final contest of the last version of each team.
    Final {
        /// Its rounds.
        rounds: u32,
    },
}

/// What became of an act.
#[derive(Debug)]
pub struct Done {
    /// A sentence about it.
    pub text: String,
    /// The team that it concerns.
    pub team: Option<Team>,
    /// The team's new secret.
    pub secret: Option<Secret>,
    /// The teams after it.
    pub teams: Teams,
}

/// The times of a course, as an instructor has set them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CourseTimes {
    /// When the last version may be handed in, RFC 3339.
    pub deadline: Option<String>,
    /// How long after that versions are taken, in milliseconds.
    pub grace_ms: u64,
    /// From when on the public sees no newer results, RFC 3339.
    pub freeze_at: Option<String>,
}

/// Something that an instructor has done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// Its number, from 1.
    pub number: u64,
    /// When, RFC 3339.
    pub at: String,
    /// Who.
    pub by: String,
    /// What, as a sentence.
    pub text: String,
    /// What the ladder has to do for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// What came of that; missing until it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// What the ladder does when it can.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    /// Has games played again.
    Rerun {
        /// The numbers of the games.
        games: Vec<u64>,
        /// Or the player whose games it are; empty if there is none.
        player: String,
        /// Why.
        reason: String,
    },
    /// Plays a final contest.
    Final {
        /// Its rounds.
        rounds: u32,
        /// The name of its folder, beside the course's.
        folder: String,
    },
}

/// What came of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// When, RFC 3339.
    pub at: String,
    /// Whether it failed.
    pub failed: bool,
    /// What was done, or why it failed.
    pub text: String,
}

/// What an open ladder does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It plays.
    Ladder,
    /// It begins no games.
    Paused,
    /// It plays the final contest of this order.
    Final {
        /// The number of the order.
        order: u64,
        /// The rounds.
        rounds: u32,
        /// The name of its folder, beside the course's.
        folder: String,
    },
}

fn reason(text: &str) -> Result<String, Failure> {
    let line: String = sanitize_line(text.trim()).chars().take(REASON_MAX).collect();
    if line.is_empty() { Err(Failure::usage("give a reason")) } else { Ok(line) }
}

/// Reads a time of day and date; none if it is empty.
fn time(text: &str) -> Result<Option<String>, Failure> {
    let wanted = Some(text.trim()).filter(|text| !text.is_empty());
    let read = |text: &str| moment(text, &TimeZone::system()).map(|at| at.to_string());
    wanted.map(read).transpose().map_err(|why| Failure::usage(format!("{}: {why}", sanitize(text))))
}

fn or_never(time: Option<&String>) -> &str {
    time.map_or("never", String::as_str)
}

/// Does what an instructor asks for, `by` someone. The contest may be open.
pub fn act(folder: &Folder, act: Act, by: &str) -> Result<Done, Failure> {
    let root = referee_process::files::absolute(folder.root())?;
    Teams::change(folder, |teams| {
        let (mut team, mut secret, mut order) = (None, None, None);
        let text = match act {
            Act::Pause { reason: why } => {
                teams.paused = true;
                format!("games are paused: {}", reason(&why)?)
            }
            Act::Unpause => {
                teams.paused = false;
                "games go on".to_owned()
            }
            Act::Times { deadline, grace, freeze_at } => {
                // A contest that can't be read has shown nothing.
                let known = times_of(folder).ok().and_then(|times| times.freeze_at);
                teams.set_times(&deadline, &grace, &freeze_at, known)?
            }
            Act::Invite { name, id, members, until } => {
                let (text, own, new) =
                    teams.invite(folder, NewTeam { name, id, members }, time(&until)?)?;
                (team, secret) = (Some(own), new);
                text
            }
            Act::Extend { team: name, until } => {
                let own = teams.named(&name)?;
                own.until = time(&until)?;
                team = Some(own.clone());
                match &own.until {
                    Some(until) => format!("{} may hand in until {until}", own.name),
                    None => format!("{} has no deadline of its own", own.name),
                }
            }
            Act::Renew { team: name } => {
                let own = teams.named(&name)?;
                secret = Some(own.renew()?);
                team = Some(own.clone());
                format!("{} has a new link", own.name)
            }
            Act::Disqualify { team: name, reason: why } => {
                let (why, own) = (reason(&why)?, teams.named(&name)?);
                let text = format!("{} is disqualified: {why}", own.name);
                own.disqualified = Some(why);
                team = Some(own.clone());
                text
            }
            Act::Requalify { team: name } => {
                let own = teams.named(&name)?;
                if own.disqualified.take().is_none() {
                    let text = format!("{} is not disqualified", sanitize(&name));
                    return Err(Failure::usage(text));
                }
                team = Some(own.clone());
                format!("{} is no longer disqualified", own.name)
            }
            Act::Rerun { games, player, reason: why } => {
                if games.is_empty() == player.is_empty() || games.len() > GAMES_MAX {
                    let text = format!("name up to {GAMES_MAX} games, or a player");
                    return Err(Failure::usage(text));
                }
                let why = reason(&why)?;
                let numbers: Vec<String> = games.iter().map(u64::to_string).collect();
                let which = if player.is_empty() { numbers.join(", ") } else { player.clone() };
                let text = format!("play again {which}: {why}");
                order = Some(Order::Rerun { games, player, reason: why });
                text
            }
            Act::Final { rounds } => {
                let folder = teams.next_final(&root, rounds)?;
                let text =
                    format!("play a final of {} in {folder}", count(u64::from(rounds), "round"));
                order = Some(Order::Final { rounds, folder });
                text
            }
        };
        teams.enter(by, &text, order);
        Ok(Done { text, team, secret, teams: teams.clone() })
    })
}

impl Entry {
    /// Returns the name of the folder of a final.
    pub fn final_folder(&self) -> Option<&str> {
        match &self.order {
            Some(Order::Final { folder, .. }) => Some(folder),
            _ => None,
        }
    }
}

impl Teams {
    /// Sets all times; returns them as a sentence. `known` is the present time of the freeze.
    fn set_times(
        &mut self,
        deadline: &str,
        grace: &str,
        freeze: &str,
        known: Option<Timestamp>,
    ) -> Result<String, Failure> {
        let grace = Some(grace).filter(|grace| !grace.trim().is_empty());
        let grace_ms = grace.map_or(Ok(0), read_time);
        let grace_ms = grace_ms.map_err(|why| Failure::usage(format!("grace: {why}")))?;
        let (deadline, mut freeze_at) = (time(deadline)?, time(freeze)?);
        let (now, mut note) = (Timestamp::now(), "");
        if let Some(freeze) = &mut freeze_at
            && freeze.parse().is_ok_and(|freeze: Timestamp| freeze < now)
        {
            // The results of that time are not known any more: they are as they were frozen, or as they are now.
            *freeze = known.filter(|known| *known <= now).unwrap_or(now).to_string();
            note = " (not earlier: the public has seen the results until then)";
        }
        let text = format!(
            "deadline {}, grace {} s, freeze {}{note}",
            or_never(deadline.as_ref()),
            grace_ms / 1000,
            or_never(freeze_at.as_ref())
        );
        self.times = Some(CourseTimes { deadline, grace_ms, freeze_at });
        Ok(text)
    }

    /// Adds a team, or takes over what is given of one that is there.
    fn invite(
        &mut self,
        folder: &Folder,
        mut new: NewTeam,
        until: Option<String>,
    ) -> Result<(String, Team, Option<Secret>), Failure> {
        let contest = Store::open_to_read(folder)?.contest()?.contest;
        // A known team keeps what isn't given.
        if let Ok(known) = self.named(&new.name) {
            if new.id.is_empty() {
                new.id.clone_from(&known.id);
            }
            if new.members.is_empty() {
                new.members = known.members.join(";");
            }
        }
        let secret = self.add(&new, &contest)?;
        let own = self.named(&new.name)?;
        let does = if secret.is_some() { "is invited" } else { "is changed" };
        let mut text = format!("{} {does}", own.name);
        if let Some(until) = until {
            text = format!("{text}, until {until}");
            own.until = Some(until);
        }
        Ok((text, own.clone(), secret))
    }

    /// Returns the name of the folder of a new final, beside the course's.
    fn next_final(&self, root: &Path, rounds: u32) -> Result<String, Failure> {
        if !(1..=ROUNDS_MAX).contains(&rounds) {
            return Err(Failure::usage(format!("a final has 1 to {ROUNDS_MAX} rounds")));
        }
        if self.open_final().is_some() {
            return Err(Failure::usage("a final is being played already"));
        }
        let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut names = (1..).map(|number| format!("{name}-final-{number}"));
        let is_free = |name: &String| {
            !root.with_file_name(name).exists() && !self.finals().any(|known| known == name)
        };
        Ok(names.find(is_free).unwrap_or_default())
    }

    /// Adds an entry to the log.
    pub fn enter(&mut self, by: &str, text: &str, order: Option<Order>) {
        let number = self.log.last().map_or(1, |last| last.number + 1);
        let (at, by) = (Timestamp::now().to_string(), by.to_owned());
        self.log.push(Entry { number, at, by, text: sanitize(text), order, outcome: None });
        let most = self.log.len().saturating_sub(LOG_MAX);
        self.log.drain(..most);
    }

    /// Returns the names of the folders of all finals.
    fn finals(&self) -> impl Iterator<Item = &str> {
        self.log.iter().filter_map(Entry::final_folder)
    }

    /// Returns the final that is to be played.
    fn open_final(&self) -> Option<Phase> {
        self.log.iter().filter(|entry| entry.outcome.is_none()).find_map(|entry| {
            match entry.order.clone()? {
                Order::Final { rounds, folder } => {
                    Some(Phase::Final { order: entry.number, rounds, folder })
                }
                Order::Rerun { .. } => None,
            }
        })
    }
}

/// Returns the games that are to be played again.
pub(super) fn reruns(teams: &Teams) -> Vec<Task> {
    let open = teams.log.iter().filter(|entry| entry.outcome.is_none());
    let rerun = |entry: &Entry| match entry.order.clone()? {
        Order::Rerun { games, player, reason } => {
            let games =
                if player.is_empty() { GamesOf::Numbers(games) } else { GamesOf::Player(player) };
            Some(Task::Rerun { order: entry.number, games, reason })
        }
        Order::Final { .. } => None,
    };
    open.filter_map(rerun).collect()
}

/// Returns the times of a course, whose contest may be open.
pub fn times_of(folder: &Folder) -> Result<WebTimes, Failure> {
    let (text, _) = Store::open_to_read(folder)?.contest_file()?;
    let web = ContestFile::web_of(&text).map_err(|error| Failure::usage(error.to_string()))?;
    let of_file = WebTimes::of(&web)?;
    Ok(Teams::read(folder)?.times.map_or(of_file, CourseTimes::read))
}

impl CourseTimes {
    pub(super) fn read(self) -> WebTimes {
        let read = |time: Option<String>| time.and_then(|time| time.parse().ok());
        let Self { deadline, grace_ms, freeze_at } = self;
        WebTimes { deadline: read(deadline), grace_ms, freeze_at: read(freeze_at) }
    }
}

impl Course {
    /// Whether this is the instructor's secret.
    pub fn has_instructor(&self, secret: &str) -> Result<bool, Failure> {
        Ok(self.teams()?.has_instructor(secret))
    }

    /// Does what the instructor asks for on the web.
    pub fn act(&self, act: Act) -> Result<Done, Failure> {
        self::act(&self.folder, act, "the instructor, on the web")
    }

    /// Returns the times: those that the instructor has set, else those of the contest file.
    pub fn times(&self) -> WebTimes {
        let last = || lock(&self.teams).as_ref().map(|(_, teams)| teams.clone());
        let teams = self.teams().ok().or_else(last);
        let set = teams.and_then(|teams| teams.times.clone());
        set.map_or(self.times, CourseTimes::read)
    }

    /// Returns what the ladder is to do.
    pub fn phase(&self) -> Result<Phase, Failure> {
        let teams = self.teams()?;
        if teams.paused {
            return Ok(Phase::Paused);
        }
        Ok(teams.open_final().unwrap_or(Phase::Ladder))
    }

    /// Returns the folder of a final, beside the course's.
    pub fn final_folder(&self, name: &str) -> Result<PathBuf, Failure> {
        Ok(referee_process::files::absolute(self.folder.root())?.with_file_name(name))
    }

    /// Notes what came of an order.
    pub fn settle(&self, order: u64, result: Result<String, String>) -> Result<(), Failure> {
        Teams::change(&self.folder, |teams| {
            if let Some(entry) = teams.log.iter_mut().find(|entry| entry.number == order) {
                let failed = result.is_err();
                let (Ok(text) | Err(text)) = result;
                let at = Timestamp::now().to_string();
                entry.outcome = Some(Outcome { at, failed, text: sanitize(&text) });
            }
            Ok(())
        })
    }
}
