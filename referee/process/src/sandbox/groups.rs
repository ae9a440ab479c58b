//! Where the kernel lets the referee make control groups.
//!
//! Version 2 is taken where it has the controllers, else version 1. Of version 2, the group that
//! the referee was started in is tried first, then the ones around it: systemd hands a user the
//! groups of their own services, and root may make one anywhere.

mod hierarchy;

use super::super::launcher::{Bounds, Group};
use super::super::work_folder::hold;
use crate::Failure;
use crate::files::named;
use hierarchy::{Hierarchy, hierarchies};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is counted and limited.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];

/// Version 1 has a controller of its own for what version 2 always counts.
const CONTROLLERS_1: [&str; 3] = ["memory", "pids", "cpuacct"];

/// What the names of the referee's own groups begin with.
const PREFIX: &str = "referee-";

/// How long agents may take to die at the end.
const END_WAIT: Duration = Duration::from_millis(500);

/// Groups of this referee, in which its agents get their own. They are removed when this is
/// dropped; those of a referee that was killed are, by the next one that is started in the same
/// place.
#[derive(Debug)]
pub struct Groups {
    version: u8,
    homes: Vec<Home>,
}

impl Groups {
    /// Makes them. To be called before anything else is started: the referee itself may have to
    /// move into a group of its own, as only groups without processes can be divided.
    pub fn find() -> Result<Self, Failure> {
        let read = |path| {
            fs::read_to_string(path)
                .map_err(|error| Failure::machine(format!("{path}: {error}")).help("mount /proc"))
        };
        let all = hierarchies(&read("/proc/self/mountinfo")?, &read("/proc/self/cgroup")?);
        let groups = Self::within(&all)?;
        // What can be made is not what can be used: a first one tells before there is an agent.
        let bounds = Bounds { files: 0, memory_mb: 16, processes: 1, work_mb: 0 };
        match Group::make(&groups.folders(), "probe", bounds) {
            Ok(_) => Ok(groups),
            Err(error) => Err(lack("can't limit a control group", &error)),
        }
    }

    /// The groups in which agents get their own: one, or with version 1 one a controller.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.homes.iter().map(|home| home.folder.clone()).collect()
    }

    /// The kernel's version of control groups: 1 or 2.
    pub fn version(&self) -> u8 {
        self.version
    }

    fn within(all: &[Hierarchy]) -> Result<Self, Failure> {
        if let Some(unified) = all.iter().find(|one| one.is_unified() && one.has(&CONTROLLERS)) {
            return Self::version_2(unified);
        }
        let mut folders: Vec<&Path> = Vec::new();
        for name in CONTROLLERS_1 {
            let Some(found) = all.iter().find(|one| one.controllers.iter().any(|it| it == name))
            else {
                let text = format!("no control groups with the controller `{name}` are mounted");
                return Err(Failure::machine(text).help(
                    "mount them: `mount -t cgroup2 none /sys/fs/cgroup`; in a container, start it \
                     with `--privileged`",
                ));
            };
            if !folders.contains(&found.folder.as_path()) {
                folders.push(&found.folder);
            }
        }
        let homes = folders.into_iter().map(Home::claim).collect::<io::Result<_>>();
        let homes = homes.map_err(|error| lack("can't make a control group", &error))?;
        Ok(Self { version: 1, homes })
    }

    fn version_2(unified: &Hierarchy) -> Result<Self, Failure> {
        let mut nearest = None;
        for group in unified.folder.ancestors().take_while(|it| it.starts_with(&unified.top)) {
            match Home::divided(group, group == unified.folder) {
                Ok(home) => return Ok(Self { version: 2, homes: vec![home] }),
                Err(error) => nearest = nearest.or(Some(error)),
            }
        }
        let error = nearest.unwrap_or_else(|| ErrorKind::NotFound.into());
        Err(lack("can't divide the control group", &error))
    }
}

/// Why there can be no groups, and what to do about it.
fn lack(action: &str, error: &io::Error) -> Failure {
    let help = match error.kind() {
        ErrorKind::ReadOnlyFilesystem => {
            "control groups are read-only here, as in most containers: run it with `--cgroupns \
                 private --security-opt writable-cgroups=true`, or `--privileged`"
        }
        ErrorKind::ResourceBusy => {
            "other programs are in the same group: `systemd-run --user --scope -p Delegate=yes \
                 referee ..` starts it in one of its own"
        }
        _ => {
            "have systemd hand over a group: `systemd-run --user --scope -p Delegate=yes \
                 referee ..`, or run as root"
        }
    };
    Failure::machine(format!("{action}: {error}")).help(help)
}

/// One group of the referee's own.
#[derive(Debug)]
struct Home {
    folder: PathBuf,
    /// Locked for as long as the referee lives, by which it is told from one left behind.
    _lock: File,
    /// The controllers of the group around it were switched on for it.
    switched_on: bool,
    /// The referee was moved into it from the group around it.
    moved: bool,
}

impl Home {
    /// A new group in this one, after those are removed that were left behind in it.
    fn claim(parent: &Path) -> io::Result<Self> {
        for entry in fs::read_dir(parent)?.flatten() {
            let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
            if ours && hold(&entry.path()).is_some() {
                remove(&entry.path());
            }
        }
        let mut number = 1;
        loop {
            let name = format!("{PREFIX}{}-{number}", std::process::id());
            let folder = parent.join(name);
            match fs::create_dir(&folder) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(named(&folder, &error)),
                // Not if another referee has taken it for one left behind.
                Ok(()) => {
                    if let Some(lock) = hold(&folder) {
                        return Ok(Self { folder, _lock: lock, switched_on: false, moved: false });
                    }
                }
            }
            number += 1;
        }
    }

    /// A new group in this one of version 2, which is `own` if the referee is in it, with all that
    /// is needed to limit groups in the new one.
    fn divided(parent: &Path, own: bool) -> io::Result<Self> {
        let mut home = Self::claim(parent)?;
        let control = parent.join("cgroup.subtree_control");
        let controllers = fs::read_to_string(&control).map_err(|error| named(&control, &error))?;
        if !CONTROLLERS.iter().all(|name| controllers.split_whitespace().any(|it| it == *name)) {
            let mut switched = switch(parent, '+');
            if own && switched.as_ref().is_err_and(|error| error.kind() == ErrorKind::ResourceBusy)
            {
                home.move_in()?;
                switched = switch(parent, '+');
            }
            switched?;
            home.switched_on = true;
        }
        switch(&home.folder, '+')?;
        Ok(home)
    }

    /// Moves the referee itself, with all its threads, out of the way of dividing its group.
    fn move_in(&mut self) -> io::Result<()> {
        let inner = self.folder.join("self");
        fs::create_dir(&inner).map_err(|error| named(&inner, &error))?;
        put(&inner.join("cgroup.procs"), "0")?;
        self.moved = true;
        Ok(())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // What fails here leaves an empty group, which the next referee removes.
        let Some(parent) = self.folder.parent() else { return };
        if self.switched_on {
            // Only what no group in it passes on can be switched off in a group.
            switch(&self.folder, '-').ok();
            switch(parent, '-').ok();
        }
        if self.moved {
            put(&parent.join("cgroup.procs"), "0").ok();
        }
        // Of agents that are just being killed something is still in theirs.
        let deadline = Instant::now() + END_WAIT;
        while !remove(&self.folder) && Instant::now() < deadline {
            std::thread::sleep(END_WAIT / 100);
        }
    }
}

/// Removes a group and those in it, as far as no process is in them; false if there are some.
fn remove(folder: &Path) -> bool {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path());
        }
    }
    match fs::remove_dir(folder) {
        Ok(()) => true,
        Err(error) => error.kind() != ErrorKind::ResourceBusy,
    }
}

/// Switches the controllers on (`+`) or off (`-`) for the groups in this one.
fn switch(group: &Path, sign: char) -> io::Result<()> {
    let words = CONTROLLERS.map(|name| format!("{sign}{name}"));
    put(&group.join("cgroup.subtree_control"), &words.join(" "))
}

fn put(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text).map_err(|error| named(path, &error))
}

#[cfg(test)]
mod tests;
