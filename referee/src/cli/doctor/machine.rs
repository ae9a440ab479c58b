//! What a machine has that matters here, besides its sandbox.

use crate::cli::output::stdout_has_colour;
use referee_process::cores;
use referee_process::launcher::landlock_version;
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::path::Path;

/// A machine, as `doctor --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Machine {
    /// The release of the kernel.
    pub(super) kernel: String,
    /// The version of Landlock's interface; null where the kernel has none, or doesn't use it.
    pub(super) landlock_abi: Option<u32>,
    /// The controller of memory: `cgroup v2`, `cgroup v1` or `none`. Whether it may be used here
    /// is what level `metered` tells.
    pub(super) memory_controller: &'static str,
    /// The cores that may be used.
    pub(super) cores: usize,
    /// The referee runs as root.
    pub(super) root: bool,
    /// The terminal; null where stdout is none.
    pub(super) terminal: Option<Terminal>,
}

/// A terminal in [`Machine`].
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Terminal {
    /// Columns.
    pub(super) width: u16,
    /// Lines.
    pub(super) height: u16,
    /// Colour is used.
    pub(super) colour: bool,
    /// The locale has UTF-8.
    pub(super) unicode: bool,
}

impl Machine {
    pub(super) fn look() -> Self {
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            kernel: kernel.trim().to_owned(),
            landlock_abi: landlock_version(),
            memory_controller: memory_controller(),
            cores: cores::allowed().len(),
            root: nix::unistd::geteuid().is_root(),
            terminal: Terminal::look(),
        }
    }
}

impl Terminal {
    fn look() -> Option<Self> {
        let size = terminal_size::terminal_size_of(std::io::stdout());
        let (terminal_size::Width(width), terminal_size::Height(height)) = size?;
        let unicode = crate::cli::output::locale_has_unicode();
        Some(Self { width, height, colour: stdout_has_colour(), unicode })
    }
}

/// By the kernel's table, a controller is in a hierarchy of version 1, which has a number, or free
/// for the one of version 2, which has none.
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
