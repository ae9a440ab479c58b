//! Files that a canary was not given.

use super::{Outcome, Targets, plain};
use std::fs::{self, File};
use std::path::Path;

pub(super) fn read(targets: &Targets) -> Outcome {
    plain(fs::read(targets.folder.join("secret")))
}

pub(super) fn list_root() -> Outcome {
    plain(fs::read_dir("/"))
}

/// A new file, which is removed again.
pub(super) fn write_into(folder: &Path) -> Outcome {
    let file = folder.join("planted");
    plain(File::create(&file))?;
    // Another canary may have been quicker; the folder is removed anyway.
    fs::remove_file(file).ok();
    Ok(())
}

/// One of the files in `/proc` that only those may open who might trace the process.
pub(super) fn open_of_victim(targets: &Targets, name: &str) -> Outcome {
    plain(File::open(format!("/proc/{}/{name}", targets.victim)))
}
