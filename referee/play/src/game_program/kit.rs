//! The kit for rules in Python, and for agents with such rules. All game programs find it in `PYTHONPATH`.

use referee_process::launcher::Bytes;
use std::fs;
use std::io;
use std::path::Path;

/// Where Python looks for modules.
pub(super) const VARIABLE: &str = "PYTHONPATH";

/// The folder of its files.
const PACKAGE: &str = "referee_kit";
/// Its files.
const FILES: [(&str, &str); 5] = [
    ("__init__.py", ""),
    ("fields.py", include_str!("../../../python/referee_kit/fields.py")),
    ("game.py", include_str!("../../../python/referee_kit/game.py")),
    ("agent.py", include_str!("../../../python/referee_kit/agent.py")),
    ("class_game.py", include_str!("../../../python/referee_kit/class_game.py")),
];

/// Writes it to a folder, which is what the variable must have.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    let package = folder.join(PACKAGE);
    fs::create_dir_all(&package)?;
    FILES.iter().try_for_each(|(name, text)| fs::write(package.join(name), text))
}

/// Returns the files with their texts, for a folder that has a copy of its own.
pub fn kit_files() -> impl Iterator<Item = (String, &'static str)> {
    FILES.iter().map(|(name, text)| (format!("{PACKAGE}/{name}"), *text))
}

/// Returns the variable.
pub(super) fn variable(folder: &Path) -> Bytes {
    Bytes::variable(VARIABLE, folder.as_os_str())
}
