//! What any program may need of the system: its libraries, interpreters that are installed for
//! everyone, and facts about the machine.
//!
//! That a file exists can't be hidden, and a program that sees a file but can't open it often
//! fails, where it would have continued without the file. So the files that standard libraries look
//! for are included, unless they contain secrets.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Programs, libraries and their data, as distributions install them. Not `/opt`: an interpreter
/// there has to be named. Like the other lists below, separated by blanks.
const INSTALLED: &[&str] = &[
    "/usr /bin /sbin /lib /lib32 /lib64 /libx32",
    // Distributions with a package store that everyone may read.
    "/nix/store /gnu/store",
    // Ruby's packages on Debian.
    "/var/lib/gems",
];

/// In `/etc`; nothing that names secrets, hosts or services of this machine.
const SETTINGS: &[&str] = &[
    // The loader.
    "ld.so.cache ld.so.conf ld.so.conf.d ld.so.preload",
    // Time, locale and file types.
    "localtime timezone locale.alias locale.conf terminfo inputrc",
    "mime.types apache2/mime.types httpd/mime.types httpd/conf/mime.types",
    // The distribution.
    "os-release debian_version lsb-release",
    // Users, and names such as `localhost`.
    "nsswitch.conf passwd group host.conf hosts gai.conf protocols services",
    // Alternatives of programs.
    "alternatives",
    // Settings and certificates that TLS libraries load. Keys are beside them.
    "ssl/openssl.cnf ssl/certs pki/tls/openssl.cnf pki/tls/openssl.d pki/tls/certs",
    "pki/tls/cert.pem pki/java pki/ca-trust/extracted crypto-policies ca-certificates/extracted",
    // Languages.
    "R mono dotnet julia matplotlibrc",
];

/// Prefixes of names in `/etc`: settings of languages, with a version in the name.
const SETTINGS_BEGIN: &[&str] =
    &["java", "jvm", "ld-musl", "perl", "php", "python", "ruby", "guile", "swi-prolog"];

/// Devices without anyone's data.
const DEVICES: &[&str] = &["/dev/null /dev/zero /dev/full /dev/random /dev/urandom"];

/// What runtimes read to choose threads, heaps and page sizes. The launcher allows what a process
/// reads about itself.
const MACHINE: &[&str] = &[
    "/proc/cpuinfo /proc/meminfo /proc/stat /proc/loadavg /proc/uptime /proc/version",
    "/proc/filesystems /proc/cgroups",
    "/proc/sys/kernel/osrelease /proc/sys/kernel/pid_max /proc/sys/kernel/threads-max",
    "/proc/sys/kernel/ngroups_max /proc/sys/kernel/cap_last_cap",
    "/proc/sys/vm/overcommit_memory /proc/sys/vm/max_map_count",
    "/sys/devices/system/cpu /sys/devices/system/node",
    "/sys/kernel/mm/transparent_hugepage /sys/kernel/mm/hugepages",
];

/// Files with the limits of a control group.
const GROUP_LIMITS: &[&str] = &[
    // Version 2.
    "memory.max memory.high cpu.max cpuset.cpus.effective",
    // Version 1.
    "memory.limit_in_bytes memory.soft_limit_in_bytes memory.use_hierarchy memory.stat",
    "cpu.cfs_quota_us cpu.cfs_period_us cpu.shares",
    // Both.
    "pids.max",
];
/// Where control groups are mounted.
const GROUPS: &str = "/sys/fs/cgroup";
/// How many ancestors of the referee's control group are searched for limits.
const GROUPS_ABOVE_MAX: usize = 8;

fn words(list: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    list.iter().flat_map(|line| line.split(' '))
}

/// Returns those that exist, canonical, and none below another; computed once.
pub(crate) fn system() -> &'static [PathBuf] {
    static SYSTEM: OnceLock<Vec<PathBuf>> = OnceLock::new();
    SYSTEM.get_or_init(|| {
        let etc = Path::new("/etc");
        let begin = |name: &str| SETTINGS_BEGIN.iter().any(|begin| name.starts_with(begin));
        let entries = etc.read_dir().into_iter().flatten().flatten();
        let languages = entries.filter(|entry| begin(&entry.file_name().to_string_lossy()));
        let mut paths: Vec<PathBuf> =
            [INSTALLED, DEVICES, MACHINE].into_iter().flat_map(words).map(PathBuf::from).collect();
        paths.extend(words(SETTINGS).map(|name| etc.join(name)));
        paths.extend(languages.map(|entry| entry.path()));
        paths.extend(group_limits());
        let mut found: Vec<PathBuf> =
            paths.iter().filter_map(|it| it.canonicalize().ok()).collect();
        found.sort();
        // A path sorts before the paths below it.
        found.dedup_by(|path, above| path.starts_with(above));
        found
    })
}

/// Whether a canonical path is the system's, and so the same for everyone with this system.
pub fn is_system(path: &Path) -> bool {
    system().iter().any(|it| path.starts_with(it))
}

/// Returns the files with the limits of this process's control groups and of those above.
fn group_limits() -> Vec<PathBuf> {
    limits_of(&std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default())
}

fn limits_of(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        // `0::/a/group` in version 2, `4:memory:/a/group` in version 1.
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let root = Path::new(GROUPS).join(controllers);
        let group = root.join(path.trim_start_matches('/'));
        for group in group.ancestors().take(GROUPS_ABOVE_MAX).filter(|it| it.starts_with(&root)) {
            files.extend(words(GROUP_LIMITS).map(|name| group.join(name)));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::{limits_of, system, words};
    use std::path::Path;

    #[test]
    fn limits_are_those_of_a_group_and_those_above() {
        for (groups, file, count) in [
            ("0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max", 3),
            (
                "5:cpu,cpuacct:/\n4:memory:/slurm/job_1\n",
                "/sys/fs/cgroup/memory/slurm/job_1/memory.limit_in_bytes",
                4,
            ),
        ] {
            let files = limits_of(groups);
            assert!(files.iter().any(|found| found == Path::new(file)), "{files:?}");
            assert_eq!(files.iter().filter(|found| found.ends_with("memory.max")).count(), count);
        }
    }

    #[test]
    fn programs_are_there_and_secrets_are_not() {
        let may = |path: &str| {
            let path = Path::new(path).canonicalize().unwrap_or_else(|_| path.into());
            system().iter().any(|it| path.starts_with(it))
        };
        for path in ["/bin/sh", "/usr/bin/env", "/etc/passwd", "/dev/null", "/proc/meminfo"] {
            assert!(may(path), "{path}");
        }
        for path in words(&[
            "/ /etc /etc/shadow /etc/gshadow /etc/ssl /etc/ssl/private /etc/pki/tls/private /etc/ssh",
            "/root /home /opt /var /tmp /run /proc /proc/1 /proc/self /sys /dev /dev/shm /dev/mem",
            "/sys/fs/cgroup",
        ]) {
            assert!(!may(path), "{path}");
        }
    }

    #[test]
    fn none_lies_below_another() {
        for (index, path) in system().iter().enumerate() {
            let others = system().iter().enumerate().filter(|(other, _)| *other != index);
            assert!(others.clone().all(|(_, other)| !path.starts_with(other)), "{path:?}");
        }
    }
}
