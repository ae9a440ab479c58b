//! What a canary sees of the machine, by what the kernel tells it.

use super::{Outcome, Targets, open_if};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether it is in the referee's namespace of this kind; also where the kernel doesn't tell.
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
