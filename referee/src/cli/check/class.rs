//! `check` of a whole folder of submissions: one line per agent.

use super::{Options, Shown};
use crate::cli::global::Global;
use crate::cli::output::{print_if_read, to_json};
use referee_play::agent_spec::{AgentKind, Parts};
use referee_process::Failure;
use referee_process::files::absolute;
use referee_protocol::plain::{count, sanitize};
use referee_runner::{Submission, submissions};
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
        let (found, notes) = submissions(&folder, self.run, &base).map_err(failed)?;
        global.note(notes);
        if found.is_empty() {
            return Err(Failure::usage(format!("no agents in {}", self.folder.display())));
        }
        let width = found.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
        let (mut reports, mut broken) = (Vec::new(), 0);
        for Submission { name, spec } in found {
            let written = match &spec {
                Ok(spec) => spec.written.clone(),
                Err(_) => self.folder.join(&name).display().to_string(),
            };
            let spec = spec.map_err(Failure::usage);
            let (report, interrupted) = options.check(&written, spec, Shown::Nothing, global)?;
            if let Some(code) = interrupted {
                return Ok(code);
            }
            let mut report = report.output;
            report.name.get_or_insert(name.clone());
            broken += usize::from(!report.ok);
            print_if_read(&if options.json {
                to_json(&report)?
            } else {
                format!("{name:width$}  {}\n", sanitize(&report.line()))
            })?;
            reports.push(report);
        }
        options.write_junit(&reports)?;
        if !options.json {
            let all = count(reports.len() as u64, "agent");
            print_if_read(&format!("{all}, {broken} failed\n"))?;
        }
        Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::from(Failure::AGENT) })
    }
}
