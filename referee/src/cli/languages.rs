//! `languages`: the languages of `new`, and whether their tools are installed.

use super::output::{print, print_json, row, table};
use super::renamed;
use clap::Args;
use referee_games::nearest;
use referee_process::Failure;
use sample_agents::starters::{STARTERS, Starter, debian_package, starter};
use schemars::JsonSchema;
use serde::Serialize;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// List the languages of `new`, what they need, and whether it is installed
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee languages\n  \
    referee new mybot --lang rust")]
pub(super) struct Options {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The languages, as `languages --json` prints them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LanguagesReport {
    /// The languages.
    languages: Vec<LanguageReport>,
}

/// A language in [`LanguagesReport`].
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LanguageReport {
    /// The name for `--lang`.
    language: &'static str,
    /// Other names for `--lang`.
    aliases: &'static [&'static str],
    /// The programs that it needs.
    needs: Vec<RequirementReport>,
}

/// A program in [`LanguageReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct RequirementReport {
    /// Its name.
    program: &'static str,
    /// The Debian package that contains it.
    package: &'static str,
    /// Its path; null if it isn't in PATH.
    found: Option<String>,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    if options.json {
        return print_json(&LanguagesReport { languages: all() });
    }
    let mut rows = vec![row(["language", "needs", "installed"])];
    rows.extend(STARTERS.iter().map(|starter| {
        let here =
            missing(starter).map_or_else(|| "yes".to_owned(), |install| format!("no: {install}"));
        row([starter.language, &starter.needs.join(", "), &here])
    }));
    print(&table(&rows))
}

/// Returns every language with the programs that it needs.
pub(super) fn all() -> Vec<LanguageReport> {
    let need = |&program: &&'static str| RequirementReport {
        program,
        package: debian_package(program),
        found: find_program(program).map(|path| path.display().to_string()),
    };
    let report = |starter: &Starter| LanguageReport {
        language: starter.language,
        aliases: starter.aliases,
        needs: starter.needs.iter().map(need).collect(),
    };
    STARTERS.iter().map(report).collect()
}

impl LanguageReport {
    /// Returns its name, and the path of its main program if all programs are installed.
    pub(super) fn found(&self) -> (&'static str, Option<&str>) {
        let whole = self.needs.iter().all(|need| need.found.is_some());
        let program = self.needs.last().and_then(|need| need.found.as_deref());
        (self.language, program.filter(|_| whole))
    }
}

/// Returns the Debian command that installs the missing programs, if any are missing.
pub(super) fn missing(starter: &Starter) -> Option<String> {
    let absent = starter.needs.iter().filter(|program| find_program(program).is_none());
    let mut packages: Vec<&str> = absent.map(|program| debian_package(program)).collect();
    packages.dedup();
    (!packages.is_empty()).then(|| format!("apt install {}", packages.join(" ")))
}

/// Returns the starter of a language. The error suggests the nearest name.
pub(super) fn find(language: &str) -> Result<&'static Starter, Failure> {
    if language == "list" {
        return Err(renamed::failure("new --lang list", "languages"));
    }
    starter(language).ok_or_else(|| {
        let known = STARTERS.iter().flat_map(|it| it.aliases.iter().copied().chain([it.language]));
        let near = nearest(language, known).and_then(starter);
        let near = near.map(|near| format!("did you mean `{}`? ", near.language));
        let names: Vec<&str> = STARTERS.iter().map(|it| it.language).collect();
        Failure::usage(format!("unknown language `{language}`")).help(format!(
            "{}the languages are {}; in any other language, follow docs/protocol.md",
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
