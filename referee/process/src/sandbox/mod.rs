//! Keeping agents from each other, from the referee and from the machine.

mod groups;
pub mod reach;
pub mod canary;
mod selftest;
mod mend;
mod choose;

pub use choose::{Made, Wish, choose, prepare};
pub use groups::Groups;
pub use mend::{mend, mend_untested};
pub use referee_protocol::{Layer, Layers, Level};
pub use selftest::{Depth, Probe, SelfTest, attack, mishap_from_environment};

use super::agent::Launch;
use super::launcher::Jail;
use crate::cores;
use referee_protocol::{Pondering, Sandbox};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What agents are started in, once it is known to hold.
#[derive(Clone, Debug)]
pub struct Enclosure {
    /// The level.
    pub level: Level,
    /// What the launcher does.
    pub jail: Jail,
    /// What is told of it in transcripts and manifests.
    pub told: Sandbox,
    /// The command that agents are started by, at level `external`: its words, in which `{folder}`
    /// stands for the agent's folder and `{work}` for its private one. The first is the file of its
    /// program. Empty at other levels.
    pub wrapper: Vec<String>,
    /// The control groups that agents get their own in; they go with it.
    pub groups: Option<Arc<Groups>>,
    /// Stronger levels that were tried first and can't be had, each with the reason, in words; not
    /// `metered`, which few machines give and nobody asked for.
    pub missing: Vec<String>,
}

impl Enclosure {
    /// Nothing keeps agents in.
    pub fn none() -> Self {
        let level = Level::None;
        Self {
            level,
            jail: Jail::default(),
            told: Sandbox { level: level.name().to_owned(), ..Sandbox::default() },
            wrapper: Vec::new(),
            groups: None,
            missing: Vec::new(),
        }
    }

    /// The same with what agents may do while it isn't their turn, where so many of them may be there
    /// at once: what is wished for, or what is usual.
    #[must_use]
    pub fn pondering(mut self, wished: Option<Pondering>, agents: usize) -> Self {
        let usual = || usual_pondering(self.level, agents, cores::count());
        self.told.pondering = Some(wished.unwrap_or_else(usual));
        self
    }

    /// `confined; isolated: ..`, for people: the level, and why it is no stronger one. With the
    /// layers, `confined [landlock, .., seccomp]; isolated: ..`.
    pub fn line(&self, layers: bool) -> String {
        let mut line = if layers { line(&self.told) } else { self.told.level.clone() };
        for missing in &self.missing {
            line.push_str("; ");
            line.push_str(missing);
        }
        line
    }

    /// What is started for an agent whose private folder is `work`.
    pub fn wrapped(&self, launch: &Launch, work: &Path) -> io::Result<Launch> {
        let Some(program) = self.wrapper.first() else { return Ok(launch.clone()) };
        // A link to whoever follows it would be one to the wrapper.
        let file = if launch.file.starts_with("/proc/self") {
            std::fs::read_link(&launch.file)?
        } else {
            launch.file.clone()
        };
        let text = |path: &Path| {
            let text = path.to_str().map(str::to_owned);
            let name = path.display();
            text.ok_or_else(|| io::Error::other(format!("{name}: a wrapper takes UTF-8 alone")))
        };
        let (folder, work) = (text(&launch.folder)?, text(work)?);
        let filled = |word: &String| word.replace("{folder}", &folder).replace("{work}", &work);
        let mut command: Vec<String> = self.wrapper.iter().map(filled).collect();
        command.push(text(&file)?);
        command.extend(launch.command.iter().skip(1).cloned());
        Ok(Launch { file: program.into(), command, folder: launch.folder.clone() })
    }
}

/// `isolated [userns, .., seccomp]`, for people.
pub fn line(told: &Sandbox) -> String {
    match told.layers.as_slice() {
        [] => told.level.clone(),
        layers => format!("{} [{}]", told.level, layers.join(", ")),
    }
}

/// Where more agents may be there at once than there are cores, whoever works while it isn't their
/// turn takes the time of another.
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
