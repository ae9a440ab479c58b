//! The properties of the machine in `doctor`.

use crate::cli::output::stdout_has_colour;
use referee_process::cores;
use referee_process::launcher::landlock_version;
use schemars::JsonSchema;
use serde::Serialize;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// The machine in `doctor --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Machine {
    /// The name of the system: `Linux`, `Darwin`.
    pub(super) system: String,
    /// The release of the kernel.
    pub(super) kernel: String,
    /// The version of the Landlock ABI; null if the kernel has none or it is off.
    pub(super) landlock_abi: Option<u32>,
    /// The memory controller: `cgroup v2`, `cgroup v1` or `none`. Whether it can be used is tested by level
    /// `metered`.
    pub(super) memory_controller: &'static str,
    /// The number of cores that may be used.
    pub(super) cores: usize,
    /// Whether the referee runs as root.
    pub(super) root: bool,
    /// The terminal; null if stdout is not a terminal.
    pub(super) terminal: Option<Terminal>,
}

/// A terminal in [`Machine`].
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Terminal {
    /// Columns.
    pub(super) width: u16,
    /// Lines.
    pub(super) height: u16,
    /// Whether colour is used.
    pub(super) colour: bool,
    /// Whether the locale is UTF-8.
    pub(super) unicode: bool,
}

impl Machine {
    pub(super) fn detect() -> Self {
        let system = nix::sys::utsname::uname().ok();
        let text = |text: &OsStr| text.to_string_lossy().into_owned();
        Self {
            system: system.as_ref().map(|it| text(it.sysname())).unwrap_or_default(),
            kernel: system.as_ref().map(|it| text(it.release())).unwrap_or_default(),
            landlock_abi: landlock_version(),
            memory_controller: memory_controller(),
            cores: cores::count(),
            root: nix::unistd::geteuid().is_root(),
            terminal: Terminal::detect(),
        }
    }
}

impl Terminal {
    fn detect() -> Option<Self> {
        let size = terminal_size::terminal_size_of(std::io::stdout());
        let (terminal_size::Width(width), terminal_size::Height(height)) = size?;
        let unicode = crate::cli::output::locale_has_unicode();
        Some(Self { width, height, colour: stdout_has_colour(), unicode })
    }
}

/// Returns the version of the memory controller. In /proc/cgroups, a controller of version 1 has a
/// hierarchy number, one of version 2 has 0.
fn memory_controller() -> &'static str {
    let unified = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].into_iter().any(|folder| {
        let list = fs::read_to_string(Path::new(folder).join("cgroup.controllers"));
        list.is_ok_and(|list| list.split_whitespace().any(|name| name == "memory"))
    });
    if unified {
        return "cgroup v2";
    }
    let table = fs::read_to_string("/proc/cgroups").unwrap_or_default();
    let bound = table.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("memory") && words.next().is_some_and(|number| number != "0")
    });
    if bound { "cgroup v1" } else { "none" }
}
