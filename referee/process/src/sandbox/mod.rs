//! Isolates agents from each other, from the referee and from the machine.

#[cfg_attr(portable, path = "../portable/attacker.rs")]
pub(crate) mod attacker;
mod choose;
#[cfg_attr(portable, path = "../portable/groups.rs")]
mod groups;
mod inherited;
mod layers;
mod probes;
pub mod reach;
mod remedy;
#[cfg_attr(portable, path = "../portable/selftest.rs")]
mod selftest;

pub use attacker::Attack;
pub use choose::{Prepared, SandboxRequest, choose, prepare, readable};
pub use groups::Groups;
pub(crate) use groups::memory_events;
use groups::sessions_divide_cores;
pub use layers::{Layer, Layers};
pub use probes::{Depth, Probe, SelfTest, injected_failure};
pub use referee_protocol::Level;
pub use remedy::{remedy, remedy_untested};
pub use selftest::attack;

use super::agent::Launch;
use super::launcher::{LauncherConfig, Share};
use crate::cores;
use reach::{ProgramFiles, Reachable, SharedRules, reachable, restricts_files};
use referee_protocol::{Freezer, Pondering, SandboxRecord};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A sandbox that has been tested.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// The level.
    pub level: Level,
    /// The launcher's configuration.
    pub launcher: LauncherConfig,
    /// What transcripts and manifests record.
    pub recorded: SandboxRecord,
    /// At level `external`, the words of the command that starts agents, with `{folder}` for the
    /// agent's folder and `{work}` for its private one. The first is the path of its program. Empty
    /// at other levels.
    pub wrapper: Vec<String>,
    /// What all agents may read besides their own files and the system's; canonical.
    pub read: Vec<PathBuf>,
    /// What no agent that plays alone, and no build, may read besides its own files.
    pub forbidden: Vec<PathBuf>,
    /// The control groups in which agents get their own; removed with the sandbox.
    pub groups: Option<Arc<Groups>>,
}

impl Sandbox {
    /// Returns a sandbox without any layer.
    pub fn none() -> Self {
        let level = Level::None;
        Self {
            level,
            launcher: LauncherConfig::default(),
            recorded: SandboxRecord { level: level.name().to_owned(), ..SandboxRecord::default() },
            wrapper: Vec::new(),
            read: Vec::new(),
            forbidden: Vec::new(),
            groups: None,
        }
    }

    /// Keeps these files and folders from agents that play alone and from builds, unless they are their own.
    #[must_use]
    pub fn forbidding(mut self, paths: Vec<PathBuf>) -> Self {
        self.forbidden = paths;
        self
    }

    /// Finds what a program without opponents may read, if these layers restrict it.
    pub fn reachable(&self, layers: Layers, program: &ProgramFiles<'_>) -> Reachable {
        if !restricts_files(layers) {
            return Reachable::default();
        }
        reachable(program, &SharedRules::new(&[], &self.forbidden, &[], &self.read))
    }

    /// Gives agents this share of the machine.
    #[must_use]
    pub fn sharing(mut self, share: Share) -> Self {
        // Others may play in the same groups, but nobody beside those who only get what is left.
        let groups = self.groups.as_ref();
        let is_shared = |groups: &&Arc<Groups>| {
            matches!(share, Share::Rest(_)) || Arc::strong_count(groups) == 1
        };
        if let Some(groups) = groups.filter(is_shared) {
            groups.share(&share);
        }
        self.launcher.share = share;
        self
    }

    /// Sets what agents may do while it isn't their turn: `wanted`, or the default for this many
    /// agents at once.
    #[must_use]
    pub fn pondering(mut self, wanted: Option<Pondering>, agents: usize) -> Self {
        let are_divided = || match &self.groups {
            Some(groups) if groups.divide_cores() => true,
            _ => sessions_divide_cores(),
        };
        let usual = || {
            // The system may give an agent with many processes all cores.
            let cores = if are_divided() { cores::count() } else { 1 };
            usual_pondering(self.level, agents, cores)
        };
        let pondering = wanted.unwrap_or_else(usual);
        let has_freezer = self.groups.as_ref().is_some_and(|groups| groups.can_freeze());
        let freezer = if has_freezer { Freezer::Cgroup } else { Freezer::Signals };
        self.recorded.pondering = Some(pondering);
        self.recorded.freezer = (pondering == Pondering::Freeze).then_some(freezer);
        self
    }

    /// Returns the level and why it is no stronger one, as `confined; isolated: ..`. With `layers`,
    /// `confined [landlock, .., seccomp]; isolated: ..`.
    pub fn summary(&self, layers: bool) -> String {
        let mut line = if layers { line(&self.recorded) } else { self.recorded.level.clone() };
        for missing in &self.recorded.missing {
            line.push_str("; ");
            line.push_str(missing);
        }
        line
    }

    /// Returns what is started for an agent whose private folder is `work`.
    pub fn wrapped(&self, launch: &Launch, work: &Path) -> io::Result<Launch> {
        let Some(program) = self.wrapper.first() else { return Ok(launch.clone()) };
        // The wrapper would resolve this link to itself.
        let own = Path::new("/proc/self/exe");
        let file = if launch.file == own { own.read_link()? } else { launch.file.clone() };
        let text = |path: &Path| {
            let text = path.to_str().map(str::to_owned);
            let name = path.display();
            text.ok_or_else(|| io::Error::other(format!("{name}: a wrapper needs a UTF-8 path")))
        };
        let (folder, work) = (text(&launch.folder)?, text(work)?);
        let filled = |word: &String| word.replace("{folder}", &folder).replace("{work}", &work);
        let mut command: Vec<String> = self.wrapper.iter().map(filled).collect();
        if !launch.env.is_empty() {
            // The wrapper itself is trusted, so it doesn't get them.
            command.push("/usr/bin/env".to_owned());
            command.extend(launch.env.iter().cloned());
        }
        command.push(text(&file)?);
        command.extend(launch.command.iter().skip(1).cloned());
        let folder = launch.folder.clone();
        Ok(Launch { file: program.into(), command, folder, ..Launch::default() })
    }
}

/// Formats a record as `isolated [userns, .., seccomp]`.
pub fn line(answer: &SandboxRecord) -> String {
    match answer.layers.as_slice() {
        [] => answer.level.clone(),
        layers => format!("{} [{}]", answer.level, layers.join(", ")),
    }
}

/// If more agents than cores may run at once, an agent that works while it isn't its turn would
/// take another's time.
fn usual_pondering(level: Level, agents: usize, cores: usize) -> Pondering {
    if level != Level::None && agents > cores { Pondering::Freeze } else { Pondering::Allow }
}

#[cfg(test)]
mod tests {
    use super::usual_pondering;
    use referee_protocol::{Level, Pondering};

    #[test]
    fn agents_that_share_cores_wait() {
        assert_eq!(usual_pondering(Level::Basic, 2, 2), Pondering::Allow);
        assert_eq!(usual_pondering(Level::Basic, 4, 2), Pondering::Freeze);
        assert_eq!(usual_pondering(Level::None, 4, 2), Pondering::Allow);
    }
}
