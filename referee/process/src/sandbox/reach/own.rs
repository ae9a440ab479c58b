//! Which files named on a command line are the agent's own, so that no other agent may read them.

use super::system::is_system;
use std::path::{Path, PathBuf};

/// Returns the files that the words name, and the program if it is in the folder and no
/// interpreter; if there are none, the folders below `folder` that they name. Canonical.
pub fn files_of_command(words: &[String], folder: &Path) -> Vec<PathBuf> {
    let mut own = Vec::new();
    if let Some(program) = words.first() {
        own.extend(found(program, folder).filter(|file| {
            let installed = file.parent().and_then(Path::parent);
            file.starts_with(folder) && !installed.is_some_and(|it| it.join("pyvenv.cfg").exists())
        }));
    }
    let arguments = words.get(1..).unwrap_or_default();
    own.extend(arguments.iter().filter_map(|word| found(word, folder)));
    own.retain(|path| path.is_file());
    if own.is_empty() {
        let modules = arguments.windows(2).filter(|words| words[0] == "-m").flat_map(|words| {
            let module = words[1].split('.').next().unwrap_or_default();
            [module.to_owned(), format!("{module}.py")]
        });
        let parts = arguments.iter().flat_map(|word| word.split(':')).map(str::to_owned);
        let named = modules.chain(parts).filter_map(|part| found(&part, folder));
        own.extend(named.filter(|path| path.starts_with(folder) && path != folder));
    }
    own
}

/// Returns the path that a word names, unless it is the system's.
fn found(word: &str, folder: &Path) -> Option<PathBuf> {
    let path = folder.join(word).canonicalize().ok().filter(|_| !word.is_empty())?;
    (!is_system(&path)).then_some(path)
}
