//! Finds where the kernel lets the referee make control groups.
//!
//! Version 2 is used if it has the controllers, otherwise version 1. With version 2, the group that
//! the referee was started in is tried first, then its ancestors: systemd delegates groups to
//! users, and root may make one anywhere.

mod hierarchy;

use super::super::launcher::{Group, Share, can_freeze, weigh};
use super::super::work_folder::lock_folder;
use crate::Failure;
use crate::files::named;
use hierarchy::{Hierarchy, hierarchies};
use referee_protocol::Limits;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is counted and limited.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];

/// In version 1, CPU time has its own controller; version 2 always counts it.
const CONTROLLERS_1: [&str; 3] = ["memory", "pids", "cpuacct"];

/// In version 1, stopping has its own controller too. It is used if there is one, and so is that which divides cores
/// among groups: only in the group at the top, the kernel divides them among sessions.
const OPTIONAL_1: [&str; 2] = ["freezer", CORES];
const CORES: &str = "cpu";

/// Prefix of the names of the referee's own groups.
const PREFIX: &str = "referee-";

/// How long agents may take to die at the end.
const END_WAIT: Duration = Duration::from_millis(500);

/// Groups of this referee, in which its agents get their own. They are removed on drop; those of a
/// referee that was killed are removed by the next one in the same place.
#[derive(Debug)]
pub struct Groups {
    version: u8,
    own_groups: Vec<OwnGroup>,
}

impl Groups {
    /// Makes the groups. Call it before anything else is started: the referee may have to move into
    /// its own group, as only groups without processes can be divided.
    pub fn find() -> Result<Self, Failure> {
        let read = |path| {
            fs::read_to_string(path)
                .map_err(|error| Failure::machine(format!("{path}: {error}")).help("mount /proc"))
        };
        let all = hierarchies(&read("/proc/self/mountinfo")?, &read("/proc/self/cgroup")?);
        let groups = Self::within(&all)?;
        // A group that can be made may still not be usable, so one is tried before there is an
        // agent.
        let limits = Limits { memory_mb: 16, processes: 1, ..Limits::default() };
        match Group::make(&groups.folders(), "probe", &limits, &Share::Match) {
            Ok(_) => Ok(groups),
            Err(error) => Err(unavailable("can't limit a control group", &error)),
        }
    }

    /// Returns the groups in which agents get their own: one, or one per controller with version 1.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.own_groups.iter().map(|own_group| own_group.folder.clone()).collect()
    }

    /// Whether they can stop all processes of an agent.
    pub fn can_freeze(&self) -> bool {
        can_freeze(&self.folders())
    }

    /// Whether the kernel divides cores among them, however many processes each agent has.
    pub fn divide_cores(&self) -> bool {
        let is_divided = |group: &OwnGroup| {
            let on = fs::read_to_string(group.folder.join("cgroup.subtree_control"));
            group.folder.join("cpu.shares").exists()
                || on.is_ok_and(|on| on.split_whitespace().any(|it| it == CORES))
        };
        self.own_groups.iter().any(is_divided)
    }

    /// Gives all agents together this share of the cores, where they are divided among groups: the share of an agent is
    /// that among the agents of this referee.
    pub fn share(&self, share: &Share) {
        for own_group in &self.own_groups {
            weigh(&own_group.folder, share);
        }
    }

    /// Returns the kernel's version of control groups: 1 or 2.
    pub fn version(&self) -> u8 {
        self.version
    }

    fn within(all: &[Hierarchy]) -> Result<Self, Failure> {
        if let Some(unified) = all.iter().find(|one| one.is_unified() && one.has(&CONTROLLERS)) {
            return Self::version_2(unified);
        }
        let mut folders: Vec<&Path> = Vec::new();
        let with = |name| all.iter().find(|one| one.has_own(name));
        for name in CONTROLLERS_1 {
            let Some(found) = with(name) else {
                let text =
                    format!("no control group hierarchy with the controller `{name}` is mounted");
                return Err(Failure::machine(text).help(
                    "run `sudo mount -t cgroup2 none /sys/fs/cgroup`; start a container with \
                     `--privileged`",
                ));
            };
            if !folders.contains(&found.folder.as_path()) {
                folders.push(&found.folder);
            }
        }
        let own_groups = folders.iter().copied().map(OwnGroup::claim).collect::<io::Result<_>>();
        let mut own_groups: Vec<_> =
            own_groups.map_err(|error| unavailable("can't make a control group", &error))?;
        for more in OPTIONAL_1.iter().filter_map(|name| with(name)) {
            if !folders.contains(&more.folder.as_path()) {
                own_groups.extend(OwnGroup::claim(&more.folder).ok());
            }
        }
        let groups = Self { version: 1, own_groups };
        groups.share(&Share::Match);
        Ok(groups)
    }

    fn version_2(unified: &Hierarchy) -> Result<Self, Failure> {
        let mut nearest = None;
        for group in unified.folder.ancestors().take_while(|it| it.starts_with(&unified.top)) {
            match OwnGroup::divided(group, group == unified.folder) {
                Ok(own_group) => {
                    let groups = Self { version: 2, own_groups: vec![own_group] };
                    groups.share(&Share::Match);
                    return Ok(groups);
                }
                Err(error) => nearest = nearest.or(Some(error)),
            }
        }
        let error = nearest.unwrap_or_else(|| ErrorKind::NotFound.into());
        Err(unavailable("can't divide the control group", &error))
    }
}

/// Returns the files in which the kernel may count whom it has killed in this process's group for lack of memory.
pub(crate) fn memory_events() -> Vec<PathBuf> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let all = hierarchies(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"));
    let file = |one: Hierarchy| match one.is_unified() {
        true => Some(one.folder.join("memory.events.local")),
        false if one.has_own("memory") => Some(one.folder.join("memory.oom_control")),
        false => None,
    };
    all.into_iter().filter_map(file).collect()
}

/// Whether the kernel divides cores among sessions, of which each agent has its own: it does so only in the group at the
/// top, not in a container or in a group of systemd that has the controller.
pub(super) fn sessions_divide_cores() -> bool {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let all = hierarchies(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"));
    let is_at_top = |one: &Hierarchy| {
        if one.is_unified() {
            let groups = one.folder.ancestors().take_while(|it| it.starts_with(&one.top));
            groups.into_iter().all(|group| !group.join("cpu.weight").exists())
        } else {
            // Only the group at the top has this file.
            !one.has_own(CORES) || one.folder.join("release_agent").exists()
        }
    };
    read("/proc/sys/kernel/sched_autogroup_enabled").trim() == "1" && all.iter().all(is_at_top)
}

/// Returns why groups are unavailable, and what to do about it.
fn unavailable(action: &str, error: &io::Error) -> Failure {
    let help = match error.kind() {
        ErrorKind::ReadOnlyFilesystem => {
            "control groups are read-only, as in most containers; start it with `--cgroupns \
                 private --security-opt writable-cgroups=true`, or `--privileged`"
        }
        ErrorKind::ResourceBusy => {
            "other programs are in the same group; run `systemd-run --user --scope -p Delegate=yes \
                 referee ..` to start the referee in its own"
        }
        _ => {
            "run `systemd-run --user --scope -p Delegate=yes referee ..` to get a delegated group, \
                 or run as root"
        }
    };
    Failure::machine(format!("{action}: {error}")).help(help)
}

/// One group of the referee's own.
#[derive(Debug)]
struct OwnGroup {
    folder: PathBuf,
    /// Locked as long as the referee lives; a group without a lock is left over.
    _lock: File,
    /// The parent's controllers were switched on for it.
    switched_on: bool,
    /// The same of the one that divides cores.
    divides: bool,
    /// The referee was moved into it from its parent.
    moved: bool,
}

impl OwnGroup {
    /// Makes a new group in `parent`, after removing those that were left behind there.
    fn claim(parent: &Path) -> io::Result<Self> {
        for entry in fs::read_dir(parent)?.flatten() {
            let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
            // Locked until it is removed: another referee that has just made it would take it for its own.
            if ours && let Some(_lock) = lock_folder(&entry.path()) {
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
                // Unless another referee has taken it for a leftover.
                Ok(()) => {
                    if let Some(lock) = lock_folder(&folder) {
                        let (switched_on, divides, moved) = (false, false, false);
                        return Ok(Self { folder, _lock: lock, switched_on, divides, moved });
                    }
                }
            }
            number += 1;
        }
    }

    /// Makes a new group of version 2 in `parent`, in which groups can be limited. `own`: the
    /// referee itself is in `parent`.
    fn divided(parent: &Path, own: bool) -> io::Result<Self> {
        let mut own_group = Self::claim(parent)?;
        let control = parent.join("cgroup.subtree_control");
        let controllers = fs::read_to_string(&control).map_err(|error| named(&control, &error))?;
        if !CONTROLLERS.iter().all(|name| controllers.split_whitespace().any(|it| it == *name)) {
            let mut switched = switch(parent, '+');
            if own && switched.as_ref().is_err_and(|error| error.kind() == ErrorKind::ResourceBusy)
            {
                own_group.move_in()?;
                switched = switch(parent, '+');
            }
            switched?;
            own_group.switched_on = true;
        }
        switch(&own_group.folder, '+')?;
        // Where that is refused, cores are divided among sessions or processes.
        let cores = controllers.split_whitespace().any(|it| it == CORES);
        own_group.divides = !cores && switch_cores(parent, '+').is_ok();
        if cores || own_group.divides {
            switch_cores(&own_group.folder, '+').ok();
        }
        Ok(own_group)
    }

    /// Moves the referee itself, with all its threads, so that its group can be divided.
    fn move_in(&mut self) -> io::Result<()> {
        let inner = self.folder.join("self");
        fs::create_dir(&inner).map_err(|error| named(&inner, &error))?;
        put(&inner.join("cgroup.procs"), "0")?;
        self.moved = true;
        Ok(())
    }
}

impl Drop for OwnGroup {
    fn drop(&mut self) {
        // If this fails, an empty group is left, which the next referee removes.
        let Some(parent) = self.folder.parent() else { return };
        if self.divides {
            switch_cores(&self.folder, '-').ok();
            switch_cores(parent, '-').ok();
        }
        if self.switched_on {
            // Controllers can only be switched off if no subgroup uses them.
            switch(&self.folder, '-').ok();
            switch(parent, '-').ok();
        }
        if self.moved {
            put(&parent.join("cgroup.procs"), "0").ok();
        }
        // Agents that are being killed may still be in their groups.
        let deadline = Instant::now() + END_WAIT;
        while !remove(&self.folder) && Instant::now() < deadline {
            std::thread::sleep(END_WAIT / 100);
        }
    }
}

/// Removes a group and its subgroups; false if processes are in them.
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

/// Switches the controllers on (`+`) or off (`-`) for the subgroups.
fn switch(group: &Path, prefix: char) -> io::Result<()> {
    let words = CONTROLLERS.map(|name| format!("{prefix}{name}"));
    put(&group.join("cgroup.subtree_control"), &words.join(" "))
}

fn switch_cores(group: &Path, prefix: char) -> io::Result<()> {
    put(&group.join("cgroup.subtree_control"), &format!("{prefix}{CORES}"))
}

fn put(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text).map_err(|error| named(path, &error))
}

#[cfg(test)]
mod tests;
