//! More resources than the attacker may use.

use super::{Outcome, Targets, plain, refused};
use crate::launcher::raw;
use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::dup;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

const MIB: usize = 1024 * 1024;
/// More than a private `/tmp` allows, and few enough for any machine.
const INODES: u32 = 512;

fn bytes(mib: u64) -> u64 {
    mib.saturating_mul(MIB as u64)
}

pub(super) fn long_file(targets: &Targets) -> Outcome {
    // The signal that comes with it would kill this process.
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    plain(signals.thread_block())?;
    let path = targets.work.join("long");
    let grown =
        File::create(&path).and_then(|file| file.set_len(bytes(targets.limits.work_mb) + 1));
    fs::remove_file(path).ok();
    plain(grown)
}

pub(super) fn many_files(targets: &Targets) -> Outcome {
    let mut held = Vec::new();
    for _ in 0..=targets.limits.files {
        held.push(dup(io::stdin()).map_err(refused)?);
    }
    Ok(())
}

/// The pause between two pieces of [`MIB`].
const PAUSE: Duration = Duration::from_millis(1);

/// Returns twice the limit. It is taken piece by piece, and noticed in the pause that follows.
fn twice(targets: &Targets) -> usize {
    usize::try_from(bytes(targets.limits.memory_mb * 2)).unwrap_or(usize::MAX)
}

pub(super) fn private_memory(targets: &Targets) -> Outcome {
    let mut pages = Vec::new();
    pages.try_reserve_exact(twice(targets)).map_err(|_| refused(Errno::ENOMEM))?;
    let piece = vec![1_u8; MIB];
    while pages.len() < twice(targets) {
        pages.extend_from_slice(&piece);
        std::thread::sleep(PAUSE);
    }
    std::thread::sleep(targets.stay);
    std::hint::black_box(pages);
    Ok(())
}

pub(super) fn shared_memory(targets: &Targets) -> Outcome {
    for piece in raw::shared_pages(twice(targets)).map_err(refused)?.chunks_mut(MIB) {
        piece.fill(1);
        std::thread::sleep(PAUSE);
    }
    std::thread::sleep(targets.stay);
    Ok(())
}

pub(super) fn many_tasks(targets: &Targets) -> Outcome {
    for _ in 0..targets.limits.processes * 2 {
        let thread = std::thread::Builder::new().stack_size(64 * 1024);
        // Until the attacker is killed.
        plain(thread.spawn(std::thread::park))?;
    }
    std::thread::sleep(targets.stay);
    Ok(())
}

/// Writes two files, each as long as one may be.
pub(super) fn fill_tmp(targets: &Targets) -> Outcome {
    let paths = [0, 1].map(|number| Path::new("/tmp").join(format!("{}-{number}", targets.word)));
    let write = |path| {
        let mut zeros = io::repeat(0).take(bytes(targets.limits.work_mb));
        io::copy(&mut zeros, &mut File::create(path)?).map(drop)
    };
    let filled = paths.iter().try_for_each(write);
    for path in paths {
        fs::remove_file(path).ok();
    }
    plain(filled)
}

pub(super) fn fill_inodes(targets: &Targets) -> Outcome {
    let folder = Path::new("/tmp").join(format!("{}-inodes", targets.word));
    plain(fs::create_dir(&folder))?;
    let files = (0..INODES).map(|number| File::create(folder.join(number.to_string())).map(drop));
    let filled = plain(files.collect::<Result<(), _>>());
    fs::remove_dir_all(folder).ok();
    filled
}
