//! How an open ladder divides its time. Nothing is played while versions are built and checked, so that they disturb
//! no game; whoever hands in builds that only sleep must not stop the games by that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The next version of a team waits this many times as long as its last one took: a team has a twentieth of the
/// time.
const TEAM_FACTOR: u32 = 20;

/// For so long further versions are taken in before games are played again.
pub const AT_ONCE: Duration = Duration::from_secs(60);

/// What it costs at least to stop the games and to begin again.
const INTERRUPTION: Duration = Duration::from_secs(1);

/// When versions may be taken in. Games have at least half of the time.
#[derive(Debug, Default)]
pub struct Pace {
    /// Until when games are played in any case.
    games_until: Option<Instant>,
    /// Submissions whose next versions wait until then.
    held: BTreeMap<PathBuf, Instant>,
    /// How much time versions of each user's submissions took.
    used: BTreeMap<u32, Duration>,
    /// The players that have joined.
    players: BTreeMap<String, Joined>,
}

/// Who handed in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// A user of this machine.
    User(u32),
    /// A team of the course's site.
    Team(u32),
}

/// A player that has joined.
#[derive(Debug)]
struct Joined {
    submission: PathBuf,
    author: Author,
    /// How long others have waited for it so far.
    waited: Duration,
}

impl Pace {
    /// Notes that a version of this submission has been built and checked. Returns how long its next version waits.
    pub fn took(&mut self, submission: PathBuf, began: Instant, ended: Instant) -> Duration {
        let time = ended.saturating_duration_since(began);
        // What is taken in together is paid for together.
        let from = self.games_until.map_or(began, |until| until.max(began));
        self.games_until = Some(from + time * 2);
        self.held.insert(submission, ended + time * TEAM_FACTOR);
        time * TEAM_FACTOR
    }

    /// Notes that these have been looked at, for which the games were interrupted, and that there is no version of them.
    pub fn looked(&mut self, submissions: Vec<PathBuf>, began: Instant, ended: Instant) {
        if submissions.is_empty() {
            return;
        }
        let time = ended.saturating_duration_since(began).max(INTERRUPTION);
        let from = self.games_until.map_or(began, |until| until.max(began));
        self.games_until = Some(from + time * 2);
        self.held.extend(submissions.into_iter().map(|path| (path, ended + time * TEAM_FACTOR)));
    }

    /// Notes whose version plays under this name.
    pub fn joined(&mut self, player: &str, submission: PathBuf, author: Author) {
        let waited = Duration::ZERO;
        self.players.insert(player.to_owned(), Joined { submission, author, waited });
    }

    /// Notes that others have waited so long in all for a player's agent to be built on the machines that play: that counts
    /// like a build here. Returns whose next version waits longer because of that, and how long.
    pub fn waited(
        &mut self,
        player: &str,
        time: Duration,
        now: Instant,
    ) -> Option<(Author, Duration)> {
        let joined = self.players.get_mut(player)?;
        let more = time.saturating_sub(joined.waited);
        if more.is_zero() {
            return None;
        }
        joined.waited = time;
        let (submission, author) = (joined.submission.clone(), joined.author);
        if let Author::User(user) = author {
            self.charge(user, more);
        }
        self.games_until = self.games_until.max(Some(now + time));
        let held = self.held.entry(submission).or_insert(now);
        let until = now + time * TEAM_FACTOR;
        let is_longer = until > *held;
        *held = until.max(*held);
        is_longer.then_some((author, time * TEAM_FACTOR))
    }

    /// Notes that a submission of this user took so much time.
    pub fn charge(&mut self, user: u32, time: Duration) {
        *self.used.entry(user).or_default() += time;
    }

    /// How much time the submissions of this user took so far.
    pub fn used(&self, user: u32) -> Duration {
        self.used.get(&user).copied().unwrap_or_default()
    }

    /// How long games are played in any case.
    pub fn games_for(&self, now: Instant) -> Duration {
        self.games_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    /// Whether the next version of this submission has to wait.
    pub fn is_held(&self, submission: &Path, now: Instant) -> bool {
        self.held.get(submission).is_some_and(|&until| now < until)
    }

    /// Forgets those that no longer wait.
    pub fn tidy(&mut self, now: Instant) {
        self.held.retain(|_, until| now < *until);
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_ONCE, Author, Pace};
    use std::path::{Path, PathBuf};
    use std::time::{Duration, Instant};

    const LOOK: Duration = Duration::from_secs(3);

    /// Plays an open ladder for a week without a clock: teams hand in a new version at every look, whose build takes
    /// so many seconds. Returns how many games of a second are played, and how many versions of each team are taken in.
    fn week(teams: &[(&str, u64)]) -> (u64, Vec<u64>) {
        let (start, mut pace) = (Instant::now(), Pace::default());
        let (mut now, mut games, mut taken) = (start, 0, vec![0; teams.len()]);
        while now < start + Duration::from_secs(7 * 24 * 3600) {
            let played = pace.games_for(now).max(LOOK);
            (now, games) = (now + played, games + played.as_secs());
            let free: Vec<bool> =
                teams.iter().map(|(team, _)| !pace.is_held(Path::new(team), now)).collect();
            pace.tidy(now);
            let until = now + AT_ONCE;
            for ((index, (team, seconds)), _) in
                teams.iter().enumerate().zip(free).filter(|(_, free)| *free)
            {
                if now >= until {
                    break;
                }
                let began = now;
                now += Duration::from_secs(*seconds);
                pace.took(PathBuf::from(team), began, now);
                taken[index] += 1;
            }
        }
        // What was taken in last is not paid for yet.
        (games + pace.games_for(now).as_secs(), taken)
    }

    #[test]
    fn handing_in_again_and_again_cuts_no_games() {
        let (alone, _) = week(&[]);
        let (games, taken) = week(&[("sleeper", 600)]);
        assert!(games * 21 >= alone * 20, "{games} of {alone}");
        assert_eq!(taken, [48]);
        // However many do so together, games have half of the time.
        let many: Vec<String> = (0..100).map(|team| team.to_string()).collect();
        let many: Vec<(&str, u64)> = many.iter().map(|team| (team.as_str(), 600)).collect();
        let (games, _) = week(&many);
        assert!(games * 2 >= alone, "{games} of {alone}");
    }

    #[test]
    fn a_team_pays_for_its_own_builds() {
        let (_, taken) = week(&[("sleeper", 600), ("quick", 1)]);
        let (_, alone) = week(&[("quick", 1)]);
        assert!(taken[1] * 10 >= alone[0] * 8, "{taken:?} {alone:?}");
    }

    #[test]
    fn a_build_for_which_others_wait_counts_like_one_here() {
        let (now, mut pace, name) = (Instant::now(), Pace::default(), Path::new("sleeper"));
        let seconds = Duration::from_secs;
        pace.took(name.to_owned(), now, now + seconds(1));
        pace.joined("sleeper v2", name.to_owned(), Author::User(7));
        assert_eq!(pace.waited("another", seconds(9), now), None);
        // It waits longer for the build here.
        assert_eq!(pace.waited("sleeper v2", Duration::from_millis(5), now), None);
        let later = now + seconds(600);
        let held = pace.waited("sleeper v2", seconds(600), later);
        assert_eq!(held, Some((Author::User(7), seconds(12_000))));
        assert!(pace.is_held(name, later + seconds(11_999)));
        assert!(!pace.is_held(name, later + seconds(12_000)));
        assert_eq!(pace.games_for(later), seconds(600));
        // The same wait is heard of again.
        assert_eq!(pace.waited("sleeper v2", seconds(600), later + seconds(9)), None);
        assert_eq!(pace.used(7), seconds(600));
    }
}
