//! Sets the variable `REFEREE_BUILD`: the version, with a hash of the sources that decide how games are played
//! and counted. Two builds of one version differ in it unless their sources are the same.

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::Path;

/// The sources, relative to this crate.
const SOURCES: [&str; 9] = [
    "../../protocol/src",
    "../../sample-agents",
    "../contest/src",
    "../games/src",
    "../match/src",
    "../play/src",
    "../process/src",
    "../runner/src",
    "src",
];

fn main() -> io::Result<()> {
    let mut hasher = DefaultHasher::new();
    for folder in SOURCES {
        println!("cargo::rerun-if-changed={folder}");
        add(Path::new(folder), &mut hasher)?;
    }
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    println!("cargo::rustc-env=REFEREE_BUILD={version}+{:016x}", hasher.finish());
    Ok(())
}

/// Adds the files below a path, by name. The same sources give the same hash on every machine.
fn add(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    if path.is_file() {
        path.to_string_lossy().hash(hasher);
        fs::read(path)?.hash(hasher);
        return Ok(());
    }
    let mut inner =
        fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    inner.retain(|path| !path.ends_with("__pycache__") && !path.ends_with("target"));
    inner.sort();
    inner.iter().try_for_each(|path| add(path, hasher))
}
