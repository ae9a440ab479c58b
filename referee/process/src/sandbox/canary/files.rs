//! Files that a canary was not given, and what it sees of the machine by what the kernel says.

use super::{Outcome, Targets, open_if, plain};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A new file, which is removed again.
pub(super) fn write_into(targets: &Targets, folder: &str) -> Outcome {
    let file = targets.folder.join(folder).join("planted");
    plain(File::create(&file))?;
    // Another canary may have been quicker; the folder is removed anyway.
    fs::remove_file(file).ok();
    Ok(())
}

/// One of the files in `/proc` that only those may open who might trace the process.
pub(super) fn open_of_victim(targets: &Targets, name: &str) -> Outcome {
    plain(File::open(format!("/proc/{}/{name}", targets.victim)))
}

/// Whether it is in the referee's namespace of this kind; also where the kernel doesn't say.
pub(super) fn shares(targets: &Targets, kind: &str) -> Outcome {
    let its = targets.namespaces.iter().find(|(name, _)| name == kind);
    let Ok(own) = fs::read_link(format!("/proc/self/ns/{kind}")) else { return Ok(()) };
    open_if(its.is_none_or(|(_, link)| own == Path::new(link)))
}

/// Whether the victim is in `/proc`: by its command line, for its number may be somebody else's.
pub(super) fn sees_process(targets: &Targets) -> Outcome {
    let words = fs::read_to_string(format!("/proc/{}/cmdline", targets.victim));
    open_if(words.is_ok_and(|words| words.contains(&targets.word)))
}

/// Whether `/tmp` is the machine's; asking for its number is never refused.
pub(super) fn sees_tmp(targets: &Targets) -> Outcome {
    let own = fs::metadata("/tmp").ok().map(|it| (it.dev(), it.ino()));
    open_if(own == targets.tmp)
}
