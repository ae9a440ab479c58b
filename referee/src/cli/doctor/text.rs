//! The same for people: a line a fact.

use super::machine::Machine;
use super::{LevelTold, ProbeTold, Told};
use referee_protocol::plain::tame;

type Row = Vec<String>;

fn row(name: &str, value: &str, detail: &str) -> Row {
    crate::cli::output::row([name, value, detail])
}

impl Told {
    /// A table; with `all`, every level was tested.
    pub(super) fn rows(&self, all: bool) -> Vec<Row> {
        let mut rows: Vec<Row> = self.levels.iter().flat_map(LevelTold::rows).collect();
        if all {
            rows.push(row("level external", "not tested", "it is what your wrapper makes of it"));
            let auto = self.auto.unwrap_or("none");
            rows.push(row("auto", auto, "what agents are started at unless you say otherwise"));
        }
        rows.extend(self.machine.rows());
        rows.extend(self.languages.iter().map(|language| {
            let (name, found) = language.found();
            let here = if found.is_some() { "here" } else { "not here" };
            row(&format!("language {name}"), here, &found.map(tame).unwrap_or_default())
        }));
        rows
    }
}

impl LevelTold {
    fn rows(&self) -> Vec<Row> {
        let name = format!("level {}", self.level);
        let Some(failed) = &self.failed else {
            let proof = if self.probes.is_empty() {
                "nothing keeps agents apart".to_owned()
            } else {
                format!("{} attacks stopped: {}", self.probes.len(), self.layers.join(", "))
            };
            let mut rows = vec![row(&name, "holds", &proof)];
            let mut open: Vec<&str> =
                self.probes.iter().filter(|it| !it.proof).map(|it| it.attack).collect();
            open.dedup();
            if !open.is_empty() {
                let text = format!("here the machine itself stops: {}", open.join(", "));
                rows.push(row("", "note", &text));
            }
            return rows;
        };
        let mut rows = vec![row(&name, "fails", &tame(&failed.line()))];
        rows.extend(self.help.iter().map(|help| row("", "help", help)));
        rows
    }
}

impl ProbeTold {
    /// `landlock: read a file outside: worked`.
    fn line(&self) -> String {
        format!("{}: {}: {}", self.layer, self.attack, self.told)
    }
}

impl Machine {
    fn rows(&self) -> Vec<Row> {
        let landlock = self
            .landlock_abi
            .map_or_else(|| "no Landlock".to_owned(), |version| format!("Landlock ABI {version}"));
        let (user, detail) = if self.root {
            ("root", "agents get users of their own")
        } else {
            ("ordinary", "agents run as the same user")
        };
        let terminal = match &self.terminal {
            None => row("terminal", "none", ""),
            Some(it) => {
                let size = format!("{} x {}", it.width, it.height);
                let colour = if it.colour { "colour" } else { "no colour" };
                let unicode = if it.unicode { "Unicode" } else { "ASCII" };
                row("terminal", &size, &format!("{colour}, {unicode}"))
            }
        };
        vec![
            row("kernel", &tame(&self.kernel), &landlock),
            row("memory controller", self.memory_controller, ""),
            row("cores", &self.cores.to_string(), ""),
            row("user", user, detail),
            terminal,
        ]
    }
}
