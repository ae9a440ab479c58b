//! Row l: the cost of the sandbox when an agent starts.

use crate::measure::Pairs;
use crate::report::Bounds::AtMost;
use crate::report::Row;
use crate::script::Script;
use crate::start::{by_launcher, plainly, start_conditions};
use referee_process::agent::StartConditions;
use referee_process::launcher::{Bytes, Launcher, LauncherConfig};
use referee_process::sandbox::{Layer, Layers};
use referee_protocol::Level;
use std::error::Error;
use std::path::Path;

/// Files and folders that a program needs.
const SYSTEM: &[&str] = &["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache"];
/// The command of bubblewrap, a comparable program, used if it is installed.
const BUBBLEWRAP: &[&str] = &[
    "bwrap",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--unshare-all",
    "--die-with-parent",
];

/// Measures each level against a plain spawn, and notes bubblewrap's time beside the strongest level.
pub(crate) fn rows(pairs: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let script = Script::chinese_checkers(1)?;
    let work = script.folder().join("work");
    std::fs::create_dir(&work)?;
    let mut conditions = start_conditions();
    let own = [std::env::current_exe()?, script.folder().to_owned()];
    // As for a match: links in paths are not followed.
    let system = SYSTEM.iter().filter_map(|path| Path::new(path).canonicalize().ok());
    conditions.reach.read = system.chain(own).map(Bytes::of).collect();
    conditions.reach.work = Bytes::of(work);
    let mut rows = Vec::new();
    for (level, what, target) in [
        (Level::None, "start, level none, over plain spawn", (0.1, 0.2)),
        (Level::Basic, "start, level basic, over plain spawn", (0.2, 0.4)),
        (Level::Confined, "start, level confined, over plain spawn", (1.0, 1.2)),
        (Level::Isolated, "start, level isolated, over plain spawn", (2.5, 2.5)),
    ] {
        rows.push(row(pairs, &script, &conditions, (level, what, target))?);
    }
    if plainly(&script, BUBBLEWRAP).is_ok()
        && let Some(strongest) = rows.last_mut()
    {
        let plain = || plainly(&script, &[]);
        let times = Pairs::alternate(pairs, plain, || plainly(&script, BUBBLEWRAP))?;
        let (plain, wrapped) = times.medians();
        let note = &mut strongest.note;
        *note = format!("{note}; bubblewrap +{:.2} ms", (wrapped - plain) / 1e3);
    }
    rows.push(crate::turn::sandboxed(pairs)?);
    Ok(rows)
}

fn row(
    pairs: usize,
    script: &Script,
    conditions: &StartConditions,
    (level, what, (target, gate)): (Level, &'static str, (f64, f64)),
) -> Result<Row, Box<dyn Error>> {
    let mut layers = Layers::of_level(level);
    if nix::unistd::geteuid().is_root() && level != Level::None {
        layers = layers.with(&[Layer::User]);
    }
    let launcher = Launcher::start(&LauncherConfig { layers, ..LauncherConfig::default() })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let times = Pairs::alternate(
        pairs,
        || plainly(script, &[]),
        || runtime.block_on(by_launcher(&launcher, script, conditions)),
    )?;
    let (plain, measured) = times.medians();
    Ok(Row {
        letter: 'l',
        what,
        figure: (measured - plain) / 1e3,
        unit: "ms",
        bounds: AtMost(target, gate),
        note: format!("{measured:.0} us against {plain:.0} us to the first answer"),
    })
}
