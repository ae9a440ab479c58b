//! `contest final`: the field of a final contest, from what teams handed in on the web; and the final that an
//! instructor starts on the web.

use super::deadline::planned_end;
use super::open::first;
use super::run::{SharedRunOptions, created, reopened};
use super::running::EndedRun;
use crate::cli::bars::{advance, count_bar};
use crate::cli::global::Global;
use crate::cli::output::{cell, print, table};
use clap::Args;
use jiff::Timestamp;
use referee_play::interrupts::{Interrupt, Interrupts};
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use referee_runner::course::{Course, collect, prepare_final};
use referee_runner::folder::{Folder, TEAMS_FOLDER};
use referee_runner::{Builds, disk_failure};
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;

/// The folder with what finals have collected, in that of the teams.
const FINALS_FOLDER: &str = "finals";

/// Collect the last version of each team that plays, for a final contest
///
/// Copies the files of each team's last version that passed the check, and that the team didn't take back, to a
/// new folder of submissions. Prints the teams with their ids and versions.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest final course --out bots\n  \
    referee contest quick --game hex --submissions bots --games 500 --out final")]
pub(super) struct Options {
    /// Folder of the contest in which teams handed in on the web
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder to create, with a folder for each team
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let folder = Folder::open(&options.folder)?;
    let mut rows = Vec::new();
    for (team, version) in collect(&folder, &options.out)? {
        if version.is_none() {
            global.note([format!("{} has no version that plays", sanitize(&team.name))]);
        }
        let number = version.map_or_else(|| "-".to_owned(), |version| version.to_string());
        rows.push(vec![cell(&team.name), cell(&team.id), number]);
    }
    print(&table(&rows))
}

/// A final that an instructor has started.
pub(super) struct OrderedFinal<'a> {
    pub(super) course: &'a Course,
    /// The course's folder.
    pub(super) folder: &'a Folder,
    pub(super) rounds: u32,
    /// The name of the final's folder.
    pub(super) name: &'a str,
}

impl OrderedFinal<'_> {
    /// Plays it, or what is missing of it. Another order of the instructor, or a signal, ends that early.
    pub(super) fn play(
        &self,
        (options, deadline): (&SharedRunOptions, Option<Timestamp>),
        runtime: &Runtime,
        interrupts: &mut Interrupts,
        other: impl Future<Output = Interrupt> + 'static,
        global: &Global,
    ) -> Result<EndedRun, Failure> {
        let root = self.course.final_folder(self.name)?;
        let (run, _lock) = if Folder::has_contest(&root) {
            let folder = Folder::open(&root)?;
            let lock = folder.lock()?;
            (reopened(folder, options, runtime, global)?, lock)
        } else {
            let collected = self.collected()?;
            let bar = count_bar("building", !global.quiet);
            let progress = |done, of| advance(&bar, done, of);
            let prepared =
                prepare_final(self.folder, &collected, self.rounds, Builds::Now(&progress))?;
            bar.finish_and_clear();
            created(prepared, Some(&root), options, runtime, global)?
        };
        interrupts.plan_end(Some(Box::pin(first(planned_end(deadline), other))));
        run.play(runtime, interrupts, global)
    }

    /// Collects the last versions; what an earlier try has left is removed.
    fn collected(&self) -> Result<PathBuf, Failure> {
        let teams = referee_process::files::absolute(self.folder.root())?.join(TEAMS_FOLDER);
        let to: PathBuf = teams.join(FINALS_FOLDER).join(Path::new(self.name));
        std::fs::remove_dir_all(&to)
            .or_else(|error| match error.kind() {
                std::io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })
            .and_then(|()| std::fs::create_dir_all(teams.join(FINALS_FOLDER)))
            .map_err(|error| disk_failure(&to, &error))?;
        collect(self.folder, &to)?;
        Ok(to)
    }
}
