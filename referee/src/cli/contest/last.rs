//! `contest final`: the field of a final contest, from what teams handed in on the web.

use crate::cli::file_names::folder_name;
use crate::cli::global::Global;
use crate::cli::output::{print, table};
use clap::Args;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use referee_runner::course::{copy_version, last_versions};
use referee_runner::disk_failure;
use referee_runner::folder::Folder;
use std::path::PathBuf;

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
    let versions = last_versions(&folder)?;
    std::fs::create_dir(&options.out).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::usage(format!("--out {}: it is there already", options.out.display()))
                .help("choose a new folder")
        }
        _ => disk_failure(&options.out, &error),
    })?;
    let mut rows = Vec::new();
    for (team, version) in versions {
        let mut number = "-".to_owned();
        match version {
            Some((version, files)) => {
                copy_version(&files, &options.out.join(folder_name(&team.name)))?;
                number = version.to_string();
            }
            None => global.note([format!("{} has no version that plays", sanitize(&team.name))]),
        }
        rows.push(vec![sanitize(&team.name), sanitize(&team.id), number]);
    }
    print(&table(&rows))
}
