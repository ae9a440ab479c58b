//! Where language runtimes are installed: the only files outside of an agent's folder that its own
//! files can open by naming them.

use super::UNPRIVILEGED_UID;
use super::grants::{is_home, is_wide};
use super::interpreter::Installed;
use super::system::is_system;
use super::unreachable::Unreachable;
use nix::unistd::Uid;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// Variables that agents inherit and that name an installation.
pub(super) const INSTALLED_IN: &[&str] = &["VIRTUAL_ENV", "JAVA_HOME"];
/// Packages that aren't the distribution's; those that every user may read.
const OPTIONAL: &str = "/opt";
/// Where version managers install runtimes, below a home folder; separated by blanks. Never the folder
/// of a manager as a whole, where some keep credentials.
const IN_HOMES: &[&str] = &[
    ".pyenv/versions .pyenv/shims .pyenv/libexec .local/share/uv/python .virtualenvs",
    ".conda/envs miniconda3 miniforge3 anaconda3",
    ".nvm/versions .volta/tools .asdf/installs .local/share/mise/installs",
    ".sdkman/candidates .jdks .rustup/toolchains .cargo/bin .rbenv/versions .juliaup go/bin",
];

/// Whether a canonical path is part of a language runtime: below a place for installations, in the
/// caller's PATH, or in a virtual environment. Never a device, a socket, or another hidden folder of
/// a home folder.
pub(super) fn is_runtime(path: &Path) -> bool {
    is_installed(path)
        || path.metadata().is_ok_and(|it| it.is_file() || it.is_dir())
            && !is_wide(path)
            && in_virtual_environment(path)
}

/// Whether a link's target is part of a language runtime that no author of an agent can have put there: not that
/// of a virtual environment, which is where its author made it.
pub fn leads_to_installation(target: &Path) -> bool {
    let mut parts = target.components();
    if parts.any(|part| part == Component::ParentDir) || !target.is_absolute() {
        return false;
    }
    // Only the system's owner changes what is in `/`, such as the link `/bin`; further links could be anyone's.
    let mut parts = target.components().skip(1);
    let first = parts.next().and_then(|name| Path::new("/").join(name).canonicalize().ok());
    let Some(named) = first.map(|first| first.join(parts.collect::<PathBuf>())) else {
        return false;
    };
    is_installed(&named) && named.canonicalize().is_ok_and(|found| is_installed(&found))
}

fn is_installed(path: &Path) -> bool {
    if is_system(path) {
        return true;
    }
    if !path.metadata().is_ok_and(|it| it.is_file() || it.is_dir()) || is_wide(path) {
        return false;
    }
    let below = |folder: &PathBuf| path.starts_with(folder);
    let is_optional = path.strip_prefix(OPTIONAL).is_ok() && path != Path::new(OPTIONAL);
    (is_optional && Unreachable::of(path, UNPRIVILEGED_UID).is_none())
        || callers().iter().any(below)
        || in_own_installations(path)
}

/// Returns what the caller's environment names: folders of programs, each with its installation.
pub fn callers() -> &'static [PathBuf] {
    static CALLERS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    CALLERS.get_or_init(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let named = INSTALLED_IN.iter().filter_map(std::env::var_os);
        let folders =
            std::env::split_paths(&path).chain(named.map(|it| Path::new(&it).join("bin")));
        let folders: Vec<PathBuf> = folders.filter(|folder| folder.is_absolute()).collect();
        let mut paths: Vec<PathBuf> =
            folders.iter().flat_map(|folder| Installed::around(folder)).collect();
        paths.extend(folders.iter().filter_map(|folder| folder.canonicalize().ok()));
        paths.retain(|path| !is_wide(path));
        paths
    })
}

/// Whether a path is below a place for installations in a home folder that no author of an agent has.
fn in_own_installations(path: &Path) -> bool {
    let Some(inside) = in_home(path) else { return false };
    path.ancestors().nth(inside.components().count()).is_some_and(is_own)
        && IN_HOMES.iter().flat_map(|line| line.split(' ')).any(|it| inside.starts_with(it))
}

/// Whether a folder is root's or the caller's: another user may be the author of an agent, who could change what is
/// there during a contest.
fn is_own(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|it| [0, Uid::effective().as_raw()].contains(&it.uid()))
}

/// Returns the rest of a path below a home folder.
fn in_home(path: &Path) -> Option<&Path> {
    let home = path.ancestors().skip(1).find(|above| is_home(above))?;
    path.strip_prefix(home).ok()
}

/// Whether it is in a virtual environment for Python that isn't hidden in a home folder.
fn in_virtual_environment(path: &Path) -> bool {
    let is_hidden = in_home(path).is_some_and(|inside| inside.as_os_str().as_bytes()[0] == b'.');
    let is_one =
        |folder: &&Path| folder.join("pyvenv.cfg").is_file() && folder.join("bin/python").exists();
    !is_hidden
        && path.ancestors().find(is_one).is_some_and(|folder| !is_wide(folder) && is_own(folder))
}

#[cfg(test)]
mod tests {
    use super::{is_own, is_runtime};
    use nix::unistd::Uid;
    use std::fs;
    use std::path::Path;

    #[test]
    fn only_installations_are_runtimes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in ["venv/pyvenv.cfg", "venv/bin/python", "venv/lib/x.py", "other/pyvenv.cfg"] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        let socket = std::os::unix::net::UnixListener::bind(root.join("venv/socket")).unwrap();
        for (path, expected) in [
            ("venv", true),
            ("venv/lib/x.py", true),
            ("venv/socket", false),
            ("other", false),
            ("other/pyvenv.cfg", false),
            (".", false),
        ] {
            assert_eq!(is_runtime(&root.join(path)), expected, "{path}");
        }
        drop(socket);
        if Uid::effective().is_root() {
            let another = Some(Uid::from_raw(super::UNPRIVILEGED_UID));
            nix::unistd::chown(&root.join("venv"), another, None).unwrap();
            assert!(!is_runtime(&root.join("venv/lib/x.py")), "its owner may change it");
            assert!(!is_own(&root.join("venv")) && is_own(&root));
        }
        assert!(is_runtime(&Path::new("/bin/sh").canonicalize().unwrap()));
        for path in ["/", "/opt", "/home", "/root", "/root/.ssh", "/dev/tty", "/dev/mem", "/etc"] {
            assert!(!is_runtime(Path::new(path)), "{path}");
        }
    }
}
