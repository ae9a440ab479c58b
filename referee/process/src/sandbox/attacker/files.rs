//! Files that the attacker may not access, and what it sees of the machine.

use super::{Outcome, Targets, open_if, plain};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Creates a file, and removes it.
pub(super) fn write_into(targets: &Targets, folder: &str) -> Outcome {
    let file = targets.folder.join(folder).join("planted");
    plain(File::create(&file))?;
    // Another attacker may have removed it; the folder is removed anyway.
    fs::remove_file(file).ok();
    Ok(())
}

/// Opens a file in `/proc` that only processes with trace rights may open.
pub(super) fn open_of_victim(targets: &Targets, name: &str) -> Outcome {
    plain(File::open(format!("/proc/{}/{name}", targets.victim)))
}

/// Whether it is in the referee's namespace of this kind; also if that is unknown.
pub(super) fn shares(targets: &Targets, kind: &str) -> Outcome {
    let its = targets.namespaces.iter().find(|(name, _)| name == kind);
    let Ok(own) = fs::read_link(format!("/proc/self/ns/{kind}")) else { return Ok(()) };
    open_if(its.is_none_or(|(_, link)| own == Path::new(link)))
}

/// Whether the victim is in `/proc`, by its command line, since process IDs may be reused.
pub(super) fn sees_process(targets: &Targets) -> Outcome {
    let words = fs::read_to_string(format!("/proc/{}/cmdline", targets.victim));
    open_if(words.is_ok_and(|words| words.contains(&targets.word)))
}

/// Whether `/tmp` is the machine's; stat is never refused.
pub(super) fn sees_tmp(targets: &Targets) -> Outcome {
    let own = fs::metadata("/tmp").ok().map(|it| (it.dev(), it.ino()));
    open_if(own == targets.tmp)
}
