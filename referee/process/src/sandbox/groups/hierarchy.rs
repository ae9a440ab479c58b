//! Parses where control group hierarchies are mounted, and which groups a process is in.

use crate::files::unescaped;
use std::fs;
use std::path::{Path, PathBuf};

/// A control group hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hierarchy {
    /// The controllers in version 1; empty in version 2.
    pub controllers: Vec<String>,
    /// Where it is mounted.
    pub top: PathBuf,
    /// The group that the process is in.
    pub folder: PathBuf,
}

impl Hierarchy {
    /// Whether it is version 2.
    pub(super) fn is_unified(&self) -> bool {
        self.controllers.is_empty()
    }

    /// Whether it is that of a controller in version 1.
    pub(super) fn has_own(&self, name: &str) -> bool {
        self.controllers.iter().any(|it| it == name)
    }

    /// Whether a hierarchy of version 2 has these controllers.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        let list = fs::read_to_string(self.top.join("cgroup.controllers")).unwrap_or_default();
        names.iter().all(|name| list.split_whitespace().any(|it| it == *name))
    }
}

/// Returns the hierarchies in which a process has a group that it can reach, from its
/// `/proc/PID/mountinfo` and `/proc/PID/cgroup` (`proc_pid_mountinfo(5)`, `cgroups(7)`).
pub(super) fn hierarchies(mountinfo: &str, cgroup: &str) -> Vec<Hierarchy> {
    cgroup.lines().filter_map(|line| hierarchy(mountinfo, line)).collect()
}

/// Parses `4:memory:/a/group` (version 1) or `0::/a/group` (version 2).
fn hierarchy(mountinfo: &str, line: &str) -> Option<Hierarchy> {
    let (_, line) = line.split_once(':')?;
    let (names, group) = line.split_once(':')?;
    let controllers: Vec<String> =
        names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    mountinfo.lines().find_map(|mount| {
        // 35 31 0:32 /root /mount/point rw,relatime optional - cgroup source rw,memory
        let (place, kind) = mount.split_once(" - ")?;
        let mut kind = kind.split(' ');
        let (system, options) = (kind.next()?, kind.nth(1)?);
        let fits = if controllers.is_empty() {
            system == "cgroup2"
        } else {
            let has = |name: &String| options.split(',').any(|option| option == name.as_str());
            system == "cgroup" && controllers.iter().all(has)
        };
        let mut place = place.split(' ');
        let (root, top) = (place.nth(3)?, place.next()?);
        // Only what is below the mounted root is visible; `/..` is outside of it.
        let inside = Path::new(group).strip_prefix(unescaped(root)).ok()?;
        if !fits || group.starts_with("/..") {
            return None;
        }
        let top = unescaped(top);
        let folder = if inside.as_os_str().is_empty() { top.clone() } else { top.join(inside) };
        Some(Hierarchy { controllers: controllers.clone(), top, folder })
    })
}

#[cfg(test)]
mod tests {
    use super::{Hierarchy, hierarchies};

    const HYBRID: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

    fn of(controllers: &[&str], top: &str, folder: &str) -> Hierarchy {
        let controllers = controllers.iter().map(|&name| name.to_owned()).collect();
        Hierarchy { controllers, top: top.into(), folder: folder.into() }
    }

    #[test]
    fn groups_are_found_below_their_mounts() {
        let cgroup = "9:name=systemd:/\n8:pids:/\n4:memory:/a/b\n2:cpu,cpuacct:/\n0::/\n";
        let systemd = "/sys/fs/cgroup/systemd";
        let cpu = "/sys/fs/cgroup/cpu,cpuacct";
        let unified = "/sys/fs/cgroup/unified";
        assert_eq!(
            hierarchies(HYBRID, cgroup),
            [
                of(&["name=systemd"], systemd, systemd),
                of(&["memory"], "/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory/a/b"),
                of(&["cpu", "cpuacct"], cpu, cpu),
                of(&[], unified, unified),
            ]
        );
    }

    #[test]
    fn a_container_sees_a_part() {
        let mount = "612 601 0:27 /box/7 /sys/fs/cgroup ro - cgroup2 cgroup rw,nsdelegate\n";
        let top = "/sys/fs/cgroup";
        assert_eq!(hierarchies(mount, "0::/box/7\n"), [of(&[], top, top)]);
        let inner = "/sys/fs/cgroup/init.scope";
        assert_eq!(hierarchies(mount, "0::/box/7/init.scope\n"), [of(&[], top, inner)]);
        assert_eq!(hierarchies(mount, "0::/box/8\n"), []);
        let whole = mount.replace("/box/7", "/");
        assert_eq!(hierarchies(&whole, "0::/../other\n"), []);
    }

    #[test]
    fn unusual_names_and_broken_lines() {
        let mount = "1 2 0:3 / /my\\040groups\\134 rw - cgroup2 none rw\nnonsense\n- - \n";
        let (top, folder) = ("/my groups\\", "/my groups\\/a\\b:c");
        assert_eq!(hierarchies(mount, "nonsense\n0::/a\\b:c\n\n"), [of(&[], top, folder)]);
    }
}
