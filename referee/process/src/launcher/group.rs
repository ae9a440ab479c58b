//! An agent's own control group: the kernel measures and limits its whole process tree.
//!
//! The referee creates, reads and removes it; the agent enters it before exec, through file
//! descriptors that the referee opened. So neither the supervisor's user nor its namespaces need
//! access to it.

use super::wire::{LauncherConfig, Limit, Share};
use crate::files::named;
use crate::sandbox::Layer;
use nix::sys::uio::pread;
use nix::unistd::write;
use referee_protocol::{Limits, Nanos};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The control group of one agent, in one hierarchy (version 2) or several (version 1). Dropping it
/// removes it; by then no process of the agent may be left.
#[derive(Debug)]
pub struct Group {
    procs_files: Vec<File>,
    counters: Counters,
    switches: Vec<File>,
    cpu: File,
    /// What earlier agents in it have used.
    cpu_before: Nanos,
    files: &'static Files,
    limits: Limits,
    _folders: Folders,
}

impl Group {
    /// Makes a group of this name in each of these groups, limited to `memory_mb` and `processes`
    /// of `limits`, with this share of the cores.
    pub fn make(
        parents: &[PathBuf],
        name: &str,
        limits: &Limits,
        share: &Share,
    ) -> io::Result<Self> {
        let mut made = Folders(Vec::new());
        for parent in parents {
            let folder = parent.join(name);
            fs::create_dir(&folder).map_err(|error| named(&folder, &error))?;
            made.0.push(folder);
        }
        Self::limited(made, limits, share)
    }

    fn limited(made: Folders, limits: &Limits, share: &Share) -> io::Result<Self> {
        let folders = &made.0;
        let files = Files::of(folders);
        for limit in files.limits {
            limit.set(folders, (limits, share))?;
        }
        let procs_files = folders.iter().map(|folder| writable(&folder.join("cgroup.procs")));
        let switches =
            files.switches(folders).map(|switch| writable(&path_of(folders, switch.name)));
        Ok(Self {
            procs_files: procs_files.collect::<io::Result<_>>()?,
            counters: Counters::open(folders, files)?,
            switches: switches.collect::<io::Result<_>>()?,
            cpu: open(folders, files.cpu)?,
            cpu_before: Nanos(0),
            files,
            limits: limits.clone(),
            _folders: made,
        })
    }

    /// Returns the file descriptors for [`Membership::take`].
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.procs_files.iter().chain(&self.counters.0).chain(&self.switches).map(AsFd::as_fd)
    }

    /// Lets another agent with the same limits use it when no process is left in it; false if that
    /// isn't possible.
    pub(super) fn restore(&mut self) -> bool {
        self.cpu_before = self.counted_cpu().unwrap_or_default();
        self.counters.restore(&self.limits)
    }

    /// Returns the CPU time of all processes that ran in it, exact up to the last clock tick.
    pub fn cpu(&self) -> Option<Nanos> {
        Some(self.counted_cpu()?.since(self.cpu_before))
    }

    fn counted_cpu(&self) -> Option<Nanos> {
        let time = number(&self.cpu, "usage_usec")?;
        time.checked_mul(self.files.cpu_unit_ns).map(Nanos)
    }

    /// Returns the most memory that all its processes had at once, in KiB.
    pub fn peak_memory_kb(&self) -> Option<u64> {
        Some(self.counters.peak_memory()? / 1024)
    }

    /// Returns how much memory its processes may have, in KiB.
    pub fn memory_max_kb(&self) -> u64 {
        self.limits.memory_mb.saturating_mul(1024)
    }

    /// Whether its limits hold.
    pub fn holds(&self) -> bool {
        self.counters.hold().is_ok()
    }

    /// Measures the peak of memory anew; false if the kernel can't.
    pub fn restart_peak_memory(&self) -> bool {
        self.counters.restart_peak_memory()
    }

    /// Returns the limit that the kernel enforced, if it did.
    pub fn passed(&self) -> Option<Limit> {
        self.counters.passed(&self.limits)
    }

    /// Whether the kernel has killed one of its processes for lack of memory, of this group or of others
    /// around it.
    pub fn has_killed(&self) -> bool {
        self.counters.count(0, "oom_kill") > Some(0)
    }
}

/// The folders of a group, which are removed on drop.
#[derive(Debug)]
struct Folders(Vec<PathBuf>);

impl Drop for Folders {
    fn drop(&mut self) {
        for folder in &self.0 {
            // If a process is not quite gone, the folder is removed with its parent.
            fs::remove_dir(folder).ok();
        }
    }
}

/// A supervisor's side of an agent's group.
#[derive(Debug)]
pub(super) struct Membership {
    procs_files: Vec<OwnedFd>,
    counters: Counters,
    switches: Vec<(&'static Switch, OwnedFd)>,
}

impl Membership {
    /// Takes [`Group::descriptors`] from the end of those that came with a request, if agents get
    /// their own groups.
    pub(super) fn take(received: &mut Vec<OwnedFd>, config: &LauncherConfig) -> Option<Self> {
        if !config.layers.has(Layer::Cgroup) {
            return None;
        }
        let switches: Vec<_> = Files::of(&config.groups).switches(&config.groups).collect();
        let from = received.len().checked_sub(switches.len())?;
        let counters = from.checked_sub(Counters::COUNT)?;
        let procs_files = counters.checked_sub(config.groups.len())?;
        let switches = switches.into_iter().zip(received.split_off(from)).collect();
        let counters = received.split_off(counters).into_iter().map(File::from).collect();
        let procs_files = received.split_off(procs_files);
        Some(Self { procs_files, counters: Counters(counters), switches })
    }

    /// Returns the file descriptors for [`Membership::take`].
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let switches = self.switches.iter().map(|(_, file)| file.as_fd());
        let counters = self.counters.0.iter().map(AsFd::as_fd);
        self.procs_files.iter().map(AsFd::as_fd).chain(counters).chain(switches)
    }

    /// Stops all its processes, or lets them run again; false if it has no freezer. Nothing that a
    /// frozen process has arranged before continues it.
    pub(super) fn freeze(&self, frozen: bool) -> bool {
        self.switch(Act::Freeze, frozen)
    }

    /// Kills all its processes if the kernel can do that at once. Otherwise lets them run, so that
    /// they can die of the signals that they have got.
    pub(super) fn kill(&self) {
        if !self.switch(Act::Kill, true) {
            self.freeze(false);
        }
    }

    fn switch(&self, act: Act, on: bool) -> bool {
        let mut switches = self.switches.iter().filter(|(switch, _)| switch.act == act);
        let written = |(switch, file): &(&Switch, OwnedFd)| {
            write(file, if on { switch.on } else { switch.off }).is_ok()
        };
        switches.next().is_some_and(written)
    }

    /// Adds the calling process. Fails if the limits no longer hold. Makes system calls only.
    pub(super) fn enter(&self) -> nix::Result<()> {
        self.procs_files.iter().try_for_each(|file| write(file, b"0").map(drop))?;
        self.counters.hold()
    }

    /// Returns the limit that the kernel enforced, if it did.
    pub(super) fn passed(&self, limits: &Limits) -> Option<Limit> {
        self.counters.passed(limits)
    }
}

/// Files that show exceeded limits: processes killed for lack of memory and the peak of memory,
/// refused processes and the peak of processes.
#[derive(Debug)]
struct Counters(Vec<File>);

impl Counters {
    const COUNT: usize = 4;

    fn open(folders: &[PathBuf], files: &Files) -> io::Result<Self> {
        let most_memory = path_of(folders, files.most_memory);
        // Older kernels have no way to measure a peak anew.
        let most_memory = File::options().read(true).write(true).open(&most_memory);
        let rest = ["pids.events", "pids.peak"].map(|name| open(folders, name));
        let most_memory = most_memory.or_else(|_| open(folders, files.most_memory));
        let all = [open(folders, files.kills), most_memory].into_iter().chain(rest);
        all.collect::<io::Result<_>>().map(Self)
    }

    /// Fails if the limits no longer hold: in version 2 controllers can be switched off under a group, and its files are
    /// gone then. Makes system calls only.
    fn hold(&self) -> nix::Result<()> {
        self.0.iter().try_for_each(|file| pread(file, &mut [0; 16], 0).map(drop))
    }

    fn count(&self, index: usize, name: &str) -> Option<u64> {
        number(self.0.get(index)?, name)
    }

    fn peak_memory(&self) -> Option<u64> {
        self.count(1, "")
    }

    /// Measures the peak of memory anew; false if it can't, or if something was killed or refused. The
    /// other peak stays, and matters only in a group that has refused a process.
    fn restore(&self, limits: &Limits) -> bool {
        let counted = (self.count(0, "oom_kill"), self.count(2, "max"));
        counted == (Some(0), Some(0))
            && self.count(3, "").is_some_and(|peak| peak < limits.processes)
            && self.restart_peak_memory()
    }

    fn restart_peak_memory(&self) -> bool {
        self.0.get(1).is_some_and(|file| file.write_at(b"0", 0).is_ok())
    }

    /// A process may also have been killed or refused because a parent group or the whole machine
    /// was full: then this group never was. Memory is refused some pages at a time, so the peak can
    /// be a little below the limit.
    fn passed(&self, limits: &Limits) -> Option<Limit> {
        // What was refused was at least one page, or one process.
        let memory = memory(limits, &Share::Match);
        if self.count(0, "oom_kill")? > 0 && self.peak_memory()? >= memory / 16 * 15 {
            return Some(Limit::Memory(limits.memory_mb.saturating_mul(1024).saturating_add(4)));
        }
        if self.count(2, "max")? > 0 && self.count(3, "")? >= limits.processes {
            return Some(Limit::Processes(limits.processes.saturating_add(1)));
        }
        None
    }
}

/// Reads a number from a file of a group: its whole content, or the number after `name`.
fn number(file: &File, name: &str) -> Option<u64> {
    // Long enough for all names that are read here.
    let mut text = [0; 512];
    let count = file.read_at(&mut text, 0).ok()?;
    number_in(std::str::from_utf8(&text[..count]).ok()?, name)
}

fn number_in(text: &str, name: &str) -> Option<u64> {
    let named = || text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    text.trim_end().parse().ok().or_else(|| named()?.parse().ok())
}

/// The file names of a version.
#[derive(Debug)]
struct Files {
    limits: &'static [Setting],
    kills: &'static str,
    most_memory: &'static str,
    cpu: &'static str,
    /// The unit of the CPU time.
    cpu_unit_ns: u64,
    switches: &'static [Switch],
}

/// A file that acts on all processes of a group. Not every machine has it.
#[derive(Debug)]
struct Switch {
    act: Act,
    name: &'static str,
    on: &'static [u8],
    off: &'static [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Freeze,
    Kill,
}

impl Files {
    /// Returns the files of groups, by the version that these groups have.
    fn of(folders: &[PathBuf]) -> &'static Self {
        let is_unified = folders[0].join(VERSION_2.limits[0].name).exists();
        if is_unified { &VERSION_2 } else { &VERSION_1 }
    }

    fn switches(&self, folders: &[PathBuf]) -> impl Iterator<Item = &'static Switch> {
        self.switches.iter().filter(|switch| path_of(folders, switch.name).exists())
    }
}

/// Whether groups in these folders can freeze their processes.
pub(crate) fn can_freeze(folders: &[PathBuf]) -> bool {
    !folders.is_empty()
        && Files::of(folders).switches(folders).any(|switch| switch.act == Act::Freeze)
}

/// A limit of a group.
#[derive(Debug)]
struct Setting {
    name: &'static str,
    value: fn(&Limits, &Share) -> u64,
    /// Whether every kernel with such groups has it.
    needed: bool,
}

/// From the kernel's admin guide, `cgroup-v2`.
const VERSION_2: Files = Files {
    limits: &[
        Setting { name: "memory.max", value: memory, needed: true },
        // Missing if the kernel was built without swap.
        Setting { name: "memory.swap.max", value: |_, _| 0, needed: false },
        Setting { name: "memory.oom.group", value: |_, _| 1, needed: true },
        Setting { name: "pids.max", value: |limits, _| limits.processes, needed: true },
        Setting { name: "cpu.weight", value: |_, share| weight(share), needed: false },
        Setting { name: "cpu.idle", value: is_idle, needed: false },
    ],
    kills: "memory.events",
    most_memory: "memory.peak",
    cpu: "cpu.stat",
    cpu_unit_ns: 1000,
    switches: &[
        Switch { act: Act::Freeze, name: "cgroup.freeze", on: b"1", off: b"0" },
        Switch { act: Act::Kill, name: "cgroup.kill", on: b"1", off: b"0" },
    ],
};

/// From the kernel's admin guide, `cgroup-v1/memory`, `pids`, `cpuacct` and `freezer`. It kills one process at
/// a time; the supervisor kills the rest of the tree.
const VERSION_1: Files = Files {
    limits: &[
        Setting { name: "memory.limit_in_bytes", value: memory, needed: true },
        Setting { name: "memory.swappiness", value: |_, _| 0, needed: false },
        Setting { name: "memory.memsw.limit_in_bytes", value: memory, needed: false },
        Setting { name: "pids.max", value: |limits, _| limits.processes, needed: true },
        Setting { name: "cpu.shares", value: |_, share| shares(weight(share)), needed: false },
        Setting { name: "cpu.idle", value: is_idle, needed: false },
    ],
    kills: "memory.oom_control",
    most_memory: "memory.max_usage_in_bytes",
    cpu: "cpuacct.usage",
    cpu_unit_ns: 1,
    switches: &[Switch { act: Act::Freeze, name: "freezer.state", on: b"FROZEN", off: b"THAWED" }],
};

fn memory(limits: &Limits, _: &Share) -> u64 {
    limits.memory_mb.saturating_mul(1024 * 1024)
}

/// The weight of an agent's group among groups of [`USUAL_WEIGHT`]: where cores are divided among groups, its sessions
/// and priorities count only within it.
fn weight(share: &Share) -> u64 {
    match share {
        Share::Match => USUAL_WEIGHT,
        Share::Beside(cores) if !cores.is_empty() => USUAL_WEIGHT,
        Share::Beside(_) => USUAL_WEIGHT / 10,
        Share::Rest(_) => 1,
    }
}

fn is_idle(_: &Limits, share: &Share) -> u64 {
    u64::from(matches!(share, Share::Rest(_)))
}

/// The weight of a group in version 2, unless it is set.
const USUAL_WEIGHT: u64 = 100;

/// Returns a weight as version 1 has it.
fn shares(weight: u64) -> u64 {
    (weight * 1024 / USUAL_WEIGHT).max(2)
}

/// Gives a group for all agents of a referee together this share. It is no larger for more cores: whoever looks after an
/// agent has as much of a core as a single program, and must keep up with it.
pub(crate) fn weigh(group: &Path, of: &Share) {
    let (weight, idle) = (weight(of), is_idle(&Limits::default(), of));
    for (name, value) in
        [("cpu.weight", weight), ("cpu.shares", shares(weight)), ("cpu.idle", idle)]
    {
        // Never create a file that the kernel has not made. What it refuses is as it was.
        let file = File::options().write(true).open(group.join(name));
        file.and_then(|file| file.write_all_at(value.to_string().as_bytes(), 0)).ok();
    }
}

impl Setting {
    fn set(&self, folders: &[PathBuf], (limits, share): (&Limits, &Share)) -> io::Result<()> {
        let path = path_of(folders, self.name);
        // Never create a file that the kernel has not made.
        let file = File::options().write(true).open(&path);
        let value = (self.value)(limits, share).to_string();
        let written = file.and_then(|file| file.write_all_at(value.as_bytes(), 0));
        match written {
            Err(error) if self.needed || error.kind() != ErrorKind::NotFound => {
                Err(named(&path, &error))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the path of a file in the first hierarchy that has it.
fn path_of(folders: &[PathBuf], name: &str) -> PathBuf {
    let mut paths = folders.iter().map(|folder| folder.join(name));
    paths.find(|path| path.exists()).unwrap_or_else(|| folders[0].join(name))
}

fn writable(path: &Path) -> io::Result<File> {
    File::options().write(true).open(path).map_err(|error| named(path, &error))
}

fn open(folders: &[PathBuf], name: &str) -> io::Result<File> {
    let path = path_of(folders, name);
    File::open(&path).map_err(|error| named(&path, &error))
}

#[cfg(test)]
mod tests {
    use super::{
        Counters, Folders, Group, LauncherConfig, Layer, Limits, Membership, Share, can_freeze,
        number_in, weigh,
    };
    use crate::sandbox::Layers;
    use std::fs::{self, File};
    use std::os::fd::OwnedFd;
    use std::path::Path;

    /// What a group of each version has, without its optional files.
    const NEEDED: [&[&str]; 2] = [
        &[
            "memory.limit_in_bytes",
            "pids.max",
            "memory.oom_control",
            "memory.max_usage_in_bytes",
            "pids.events",
            "pids.peak",
            "cpuacct.usage",
            "cgroup.procs",
        ],
        &[
            "memory.max",
            "memory.oom.group",
            "pids.max",
            "memory.events",
            "memory.peak",
            "pids.events",
            "pids.peak",
            "cpu.stat",
            "cgroup.procs",
        ],
    ];

    /// Acts on a group of plain files, as a supervisor does; returns what was written.
    fn acted(group: &Path, act: impl Fn(&Membership)) -> String {
        let folders = vec![group.to_owned()];
        // It is not the one that removes the folder.
        let made =
            Group::limited(Folders(folders.clone()), &Limits::default(), &Share::Match).unwrap();
        let layers = Layers::of(&[Layer::Cgroup]);
        let config = LauncherConfig { layers, groups: folders, ..LauncherConfig::default() };
        let sent = made.descriptors().map(|it| it.try_clone_to_owned().unwrap());
        let mut received: Vec<_> = [tempfile::tempfile().unwrap().into()].into_iter().collect();
        received.extend(sent);
        let membership = Membership::take(&mut received, &config).unwrap();
        assert_eq!(received.len(), 1);
        act(&membership);
        let read = |name: &str| fs::read_to_string(group.join(name)).unwrap_or_default();
        ["cgroup.freeze", "cgroup.kill", "freezer.state"].map(read).join(",")
    }

    fn fake(needed: &[&str], optional: &[&str]) -> tempfile::TempDir {
        let group = tempfile::tempdir().unwrap();
        for name in needed.iter().chain(optional) {
            fs::write(group.path().join(name), "").unwrap();
        }
        group
    }

    #[test]
    fn a_group_is_frozen_and_killed_as_its_version_can() {
        let freeze = |group: &Membership| assert!(group.freeze(true));
        let unified = fake(NEEDED[1], &["cgroup.freeze", "cgroup.kill"]);
        assert!(can_freeze(&[unified.path().to_owned()]));
        assert_eq!(acted(unified.path(), freeze), "1,,");
        assert_eq!(acted(unified.path(), Membership::kill), "1,1,");
        let older = fake(NEEDED[0], &["freezer.state"]);
        assert!(can_freeze(&[older.path().to_owned()]));
        assert_eq!(acted(older.path(), freeze), ",,FROZEN");
        // Frozen processes would not die.
        assert_eq!(acted(older.path(), Membership::kill), ",,THAWED");
        let without = fake(NEEDED[0], &[]);
        assert!(!can_freeze(&[without.path().to_owned()]));
        assert_eq!(acted(without.path(), |group| assert!(!group.freeze(true))), ",,");
        assert_eq!(acted(without.path(), Membership::kill), ",,");
    }

    #[test]
    fn a_group_has_its_share_of_the_cores() {
        let share = |needed, names: [&str; 2], share: &Share| {
            let group = fake(needed, &names);
            let folders = Folders(vec![group.path().to_owned()]);
            Group::limited(folders, &Limits::default(), share).unwrap();
            names.map(|name| fs::read_to_string(group.path().join(name)).unwrap())
        };
        let unified = |of: &Share| share(NEEDED[1], ["cpu.weight", "cpu.idle"], of);
        let older = |of: &Share| share(NEEDED[0], ["cpu.shares", "cpu.idle"], of);
        for (of, weight, shares, idle) in [
            (Share::Match, "100", "1024", "0"),
            (Share::Beside(vec![1]), "100", "1024", "0"),
            (Share::Beside(Vec::new()), "10", "102", "0"),
            (Share::Rest(vec![1]), "1", "10", "1"),
        ] {
            assert_eq!(unified(&of), [weight, idle], "{of:?}");
            assert_eq!(older(&of), [shares, idle], "{of:?}");
        }
        // All agents together.
        let group = fake(NEEDED[1], &["cpu.weight", "cpu.idle"]);
        let read = |name: &str| fs::read_to_string(group.path().join(name)).unwrap();
        weigh(group.path(), &Share::Match);
        assert_eq!((read("cpu.weight"), read("cpu.idle")), ("100".to_owned(), "0".to_owned()));
        let group = fake(NEEDED[0], &["cpu.shares"]);
        weigh(group.path(), &Share::Rest(Vec::new()));
        assert_eq!(fs::read_to_string(group.path().join("cpu.shares")).unwrap(), "10");
        assert!(!group.path().join("cpu.idle").exists());
    }

    #[test]
    fn no_agent_starts_in_a_group_whose_controllers_were_switched_off() {
        for (missing, needed) in
            [("memory.max", NEEDED[1]), ("pids.max", NEEDED[1]), ("pids.max", NEEDED[0])]
        {
            let group = fake(needed, &[]);
            fs::remove_file(group.path().join(missing)).unwrap();
            let made = Group::limited(
                Folders(vec![group.path().to_owned()]),
                &Limits::default(),
                &Share::Match,
            );
            assert!(made.is_err(), "{missing}");
        }
        // Between the making and the start: the kernel no longer lets the open files be read.
        let group = fake(NEEDED[1], &[]);
        acted(group.path(), |membership| {
            membership.enter().unwrap();
            let Membership { procs_files, counters, .. } = membership;
            let unreadable = File::options().write(true).open(group.path().join("pids.events"));
            let again = |file: &OwnedFd| file.try_clone().unwrap();
            let mut counters: Vec<File> =
                counters.0.iter().map(|file| file.try_clone().unwrap()).collect();
            counters[2] = unreadable.unwrap();
            let off = Membership {
                procs_files: procs_files.iter().map(again).collect(),
                counters: Counters(counters),
                switches: Vec::new(),
            };
            assert!(off.enter().is_err());
        });
    }

    #[test]
    fn a_number_is_alone_or_after_its_name() {
        let events = "low 0\nhigh 0\nmax 31\noom 2\noom_kill 3\noom_group_kill 1\n";
        assert_eq!(number_in(events, "oom"), Some(2));
        assert_eq!(number_in(events, "oom_kill"), Some(3));
        assert_eq!(number_in(events, "oom_"), None);
        let control = "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n";
        assert_eq!(number_in(control, "oom_kill"), Some(1));
        assert_eq!(number_in("40031250\n", "usage_usec"), Some(40_031_250));
        assert_eq!(number_in("max\n", "max"), None);
        assert_eq!(number_in("max -1\n", "max"), None);
        assert_eq!(number_in("", "max"), None);
    }
}
