//! The kit for rules in Python, and for agents with such rules. All game programs find it in `PYTHONPATH`.

use std::fs;
use std::io;
use std::path::Path;

/// Where Python looks for modules.
const VARIABLE: &str = "PYTHONPATH";

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

/// Returns a program's own variables (`NAME=value`) and the one that leads to the kit, before what it has there itself.
pub(super) fn environment(own: &[String], folder: &Path) -> Vec<String> {
    let value = |it: &String| it.strip_prefix(VARIABLE)?.strip_prefix('=').map(str::to_owned);
    let theirs = own.iter().find_map(value).map_or_else(String::new, |path| format!(":{path}"));
    let others = own.iter().filter(|it| value(it).is_none()).cloned();
    others.chain([format!("{VARIABLE}={}{theirs}", folder.display())]).collect()
}

#[cfg(test)]
mod tests {
    use super::environment;
    use std::path::Path;

    #[test]
    fn the_kit_is_found_whatever_path_a_program_sets() {
        let with = |own: &[&str]| {
            environment(
                &own.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(),
                Path::new("/kit"),
            )
        };
        assert_eq!(with(&[]), ["PYTHONPATH=/kit"]);
        assert_eq!(with(&["PYTHONPATH=lib", "A=1"]), ["A=1", "PYTHONPATH=/kit:lib"]);
    }
}
