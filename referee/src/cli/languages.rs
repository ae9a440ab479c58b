//! The languages in which an agent can be begun, and whether what they need is on this machine.

use super::output::{print, print_json, row, table};
use referee_games::nearest;
use referee_process::Failure;
use sample_agents::starters::{Need, STARTERS, Starter, starter};
use schemars::JsonSchema;
use serde::Serialize;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// The languages as `new --lang list --json` prints them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AllTold {
    /// The languages.
    languages: Vec<Told>,
}

/// A language in [`AllTold`].
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    /// The name, as `--lang` takes it.
    language: &'static str,
    /// Other names that `--lang` takes.
    aliases: &'static [&'static str],
    /// The programs that it needs.
    needs: Vec<NeedTold>,
}

/// A program in [`Told`].
#[derive(Debug, Serialize, JsonSchema)]
struct NeedTold {
    /// Its name.
    program: &'static str,
    /// The package of Debian that has it.
    package: &'static str,
    /// Where it is; null where it isn't in PATH.
    found: Option<String>,
}

pub(super) fn list(json: bool) -> Result<(), Failure> {
    if json {
        return print_json(&AllTold { languages: all() });
    }
    let mut rows = vec![row(["language", "needs", "on this machine"])];
    rows.extend(STARTERS.iter().map(|starter| {
        let needs: Vec<&str> = starter.needs.iter().map(|need| need.program).collect();
        let here =
            missing(starter).map_or_else(|| "yes".to_owned(), |install| format!("no: {install}"));
        row([starter.language, &needs.join(", "), &here])
    }));
    print(&table(&rows))
}

/// Every language, with what it needs and where that is.
pub(super) fn all() -> Vec<Told> {
    let need = |need: &Need| NeedTold {
        program: need.program,
        package: need.package,
        found: find_program(need.program).map(|path| path.display().to_string()),
    };
    let told = |starter: &Starter| Told {
        language: starter.language,
        aliases: starter.aliases,
        needs: starter.needs.iter().map(need).collect(),
    };
    STARTERS.iter().map(told).collect()
}

impl Told {
    /// Its name, and the file that runs it where all that it needs is here.
    pub(super) fn found(&self) -> (&'static str, Option<&str>) {
        let whole = self.needs.iter().all(|need| need.found.is_some());
        let program = self.needs.last().and_then(|need| need.found.as_deref());
        (self.language, program.filter(|_| whole))
    }
}

/// The command that installs what a language needs and isn't here, as Debian names it.
pub(super) fn missing(starter: &Starter) -> Option<String> {
    let absent = |need: &&Need| find_program(need.program).is_none();
    let mut packages: Vec<&str> =
        starter.needs.iter().filter(absent).map(|need| need.package).collect();
    packages.dedup();
    (!packages.is_empty()).then(|| format!("apt install {}", packages.join(" ")))
}

/// The starter of a language as it was named; a mistyped one names the nearest.
pub(super) fn find(language: &str) -> Result<&'static Starter, Failure> {
    starter(language).ok_or_else(|| {
        let known = STARTERS.iter().flat_map(|it| it.aliases.iter().copied().chain([it.language]));
        let near = nearest(language, known).and_then(starter);
        let near = near.map(|near| format!("did you mean `{}`? ", near.language));
        let names: Vec<&str> = STARTERS.iter().map(|it| it.language).collect();
        Failure::usage(format!("unknown language `{language}`")).help(format!(
            "{}the languages are {}; an agent in any other only has to speak the protocol",
            near.unwrap_or_default(),
            names.join(", ")
        ))
    })
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let can_be_executed = |file: &PathBuf| {
        file.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(can_be_executed)
}
