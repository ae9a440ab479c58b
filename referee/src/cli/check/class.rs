//! `check` of a whole folder of submissions: one line per agent.

use super::{Options, Shown};
use crate::cli::exit;
use crate::cli::global::Global;
use crate::cli::output::{print_if_read, to_json};
use referee_contest::wording::count;
use referee_play::agent_spec::{AgentKind, AgentSpec, Parts};
use referee_play::check::CheckReport;
use referee_process::Failure;
use referee_process::files::absolute;
use referee_protocol::sanitize::sanitize;
use referee_runner::{Submission, read_apart, submissions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The place of a submission's path in an AGENT.
const PLACE: &str = "{}";

/// The folder of submissions to check, and the AGENT for each of them.
pub(super) struct Class<'a> {
    folder: PathBuf,
    run: Option<&'a str>,
}

impl<'a> Class<'a> {
    /// Returns what the options name; `None` if it is a single agent.
    pub(super) fn of(options: &'a Options) -> Result<Option<Self>, Failure> {
        let agent = options.agent.as_str();
        match (&options.submissions, agent.contains(PLACE)) {
            (Some(folder), true) => {
                return Ok(Some(Self { folder: folder.clone(), run: Some(agent) }));
            }
            (Some(_), false) => {
                return Err(Failure::usage(format!(
                    "{agent} has no {PLACE} for a submission's path"
                ))
                .help("write the agent as `comp30024:{}` or \"python3 {}/main.py\""));
            }
            (None, true) => {
                return Err(Failure::usage(format!("{agent} needs --submissions DIR"))
                    .help("DIR is the folder with the submissions"));
            }
            (None, false) => {}
        }
        let folder = Path::new(agent);
        let is_class = Parts::of(agent, Path::new("")).kind == AgentKind::Folder
            && !folder.join("agent.toml").exists()
            && folder.read_dir().is_ok_and(|entries| {
                entries.flatten().any(|entry| entry.path().join("agent.toml").is_file())
            });
        Ok(is_class.then(|| Self { folder: folder.to_owned(), run: None }))
    }

    /// Checks all of them, one after the other.
    pub(super) fn check(&self, options: &Options, global: &Global) -> Result<ExitCode, Failure> {
        let failed = |error: io::Error| {
            Failure::usage(format!("can't list {}: {error}", self.folder.display()))
        };
        let base = absolute(Path::new(""))?;
        let folder = self.folder.canonicalize().map_err(failed)?;
        let (mut found, notes) = submissions(&folder, self.run, &base, |_| true).map_err(failed)?;
        global.note(notes);
        if found.is_empty() {
            return Err(Failure::usage(format!("no agents in {}", self.folder.display())));
        }
        read_apart(&mut found, &folder, self.run, &base);
        let all = [folder];
        let check = |agent: &str, spec| {
            let (report, interrupted) =
                options.check(agent, spec, (Shown::Nothing, &all), global)?;
            Ok((report.output, interrupted))
        };
        check_all(found, options.json, check, |reports| options.write_results(reports))
    }
}

/// The report on an agent, and the exit code of an interrupt, if one came.
pub(super) type Checked = (CheckReport, Option<ExitCode>);

/// Returns the failure of a submission that can't play for this reason, with what its author can do.
fn refused(reason: String) -> Failure {
    let failed = reason.strip_prefix('`').and_then(|text| text.split_once("` failed: "));
    let help = failed.map(|(command, _)| {
        format!("run `{command}` in the agent's folder until it succeeds; a contest runs it without a network")
    });
    let manifest = "add an `agent.toml` with at least `command = [\"python3\", \"bot.py\"]`";
    let help = help.or_else(|| reason.contains("has no agent.toml").then(|| manifest.to_owned()));
    Failure::usage(reason).or_help(help)
}

/// Checks agents one after the other, and prints a line each. `write` writes the files at the end.
pub(super) fn check_all(
    found: Vec<Submission>,
    json: bool,
    check: impl Fn(&str, Result<AgentSpec, Failure>) -> Result<Checked, Failure>,
    write: impl Fn(&[CheckReport]) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    let width = found.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    let mut reports = Vec::new();
    for Submission { name, shown, spec, .. } in found {
        let (mut report, interrupted) = check(&shown, spec.map_err(refused))?;
        if let Some(code) = interrupted {
            return Ok(code);
        }
        report.name = Some(name.clone());
        print_if_read(&if json {
            to_json(&report)?
        } else {
            format!("{:width$}  {}\n", sanitize(&name), sanitize(&report.line()))
        })?;
        reports.push(report);
    }
    write(&reports)?;
    let failed = reports.iter().filter(|report| !report.ok).count();
    if !json {
        let all = count(reports.len() as u64, "agent");
        print_if_read(&format!("{all}, {failed} failed\n"))?;
    }
    Ok(exit::success_or(exit::AGENT, failed == 0))
}
