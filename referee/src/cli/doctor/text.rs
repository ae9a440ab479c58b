//! The report of `doctor` as text.

use super::machine::Machine;
use super::{DoctorReport, LevelReport, ProbeReport};
use referee_process::launcher::WEAKEST;
use referee_protocol::Level;
use referee_protocol::sanitize::sanitize;

type Row = Vec<String>;

fn row(name: &str, value: &str, detail: &str) -> Row {
    crate::cli::output::row([name, value, detail])
}

impl DoctorReport {
    /// Returns the rows of a table; `all` if every level was tested.
    pub(super) fn rows(&self, all: bool) -> Vec<Row> {
        let mut rows: Vec<Row> = self.levels.iter().flat_map(LevelReport::rows).collect();
        // Advice that several levels need is given once.
        let mut advice = Vec::new();
        rows.retain(|row| {
            let is_new = !advice.contains(row);
            advice.extend((row[1] == "help").then(|| row.clone()));
            is_new
        });
        if all {
            rows.push(row("level external", "not tested", "depends on your wrapper"));
            let auto = self.auto.unwrap_or("none");
            rows.push(row("auto", auto, "the level used by default"));
        }
        rows.extend(self.limitations.iter().map(|text| row("limitation", "", text)));
        rows.extend(self.machine.rows());
        rows.extend(self.languages.iter().map(|language| {
            let (name, found) = language.found();
            let state = if found.is_some() { "installed" } else { "not installed" };
            row(&format!("language {name}"), state, &found.map(sanitize).unwrap_or_default())
        }));
        rows
    }
}

impl LevelReport {
    fn rows(&self) -> Vec<Row> {
        let name = format!("level {}", self.level);
        let Some(failed) = &self.failed else {
            let proof = if self.probes.is_empty() {
                "agents are not isolated".to_owned()
            } else {
                format!("{} attacks stopped: {}", self.probes.len(), self.layers.join(", "))
            };
            let mut rows = vec![row(&name, "holds", &proof)];
            let mut open: Vec<&str> =
                self.probes.iter().filter(|it| !it.proof).map(|it| it.attack).collect();
            open.dedup();
            if !open.is_empty() {
                let text = format!(
                    "not proven, since the machine stops them without a sandbox: {}",
                    open.join(", ")
                );
                rows.push(row("", "note", &text));
            }
            return rows;
        };
        let mut rows = vec![row(&name, "fails", &sanitize(&failed.line()))];
        rows.extend(self.help.iter().map(|help| row("", "help", help)));
        rows
    }
}

impl ProbeReport {
    /// `landlock: read a file outside: worked`.
    fn line(&self) -> String {
        format!("{}: {}: {}", self.layer, self.attack, self.result)
    }
}

impl Machine {
    fn rows(&self) -> Vec<Row> {
        let landlock = self
            .landlock_abi
            .map_or_else(|| "no Landlock".to_owned(), |version| format!("Landlock ABI {version}"));
        let user = if self.root { "root" } else { "ordinary" };
        let detail = if self.root && WEAKEST != Level::None {
            "each agent runs as its own user"
        } else {
            "agents run as the same user"
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
            row("kernel", &sanitize(&format!("{} {}", self.system, self.kernel)), &landlock),
            row("memory controller", self.memory_controller, ""),
            row("cores", &self.cores.to_string(), ""),
            row("user", user, detail),
            terminal,
        ]
    }
}
