//! Where language runtimes are installed: the only files outside of an agent's folder that its own
//! files can open by naming them.

use super::UNPRIVILEGED_UID;
use super::grants::{is_home, is_wide};
use super::interpreter::Installed;
use super::system::is_system;
use super::unreachable::Unreachable;
use nix::unistd::Uid;
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

/// Whether a link's target is part of a language runtime.
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
    is_runtime(&named) && named.canonicalize().is_ok_and(|found| is_runtime(&found))
}

/// Whether a canonical path is part of a language runtime that no author of an agent can have put there: below a place
/// for installations, or in the caller's PATH. Never a device, a socket, or another hidden folder of a home folder.
/// Not a virtual environment elsewhere: an agent's own files look like one if its author wants that.
pub(super) fn is_runtime(path: &Path) -> bool {
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

/// Whether a file or folder is root's or the caller's alone to change: another user may be the author of an agent, who
/// could change what is there during a contest. A user's own group, which has the same number, is no other user.
fn is_own(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| {
        let others = if it.gid() == it.uid() { 0o002 } else { 0o022 };
        [0, Uid::effective().as_raw()].contains(&it.uid())
            && (it.is_symlink() || it.mode() & others == 0)
    })
}

/// Whether what is at a path, whose folder is canonical, can be trusted to name other files.
pub(super) fn is_kept(path: &Path) -> bool {
    is_system(path) || is_own(path) && path.parent().is_some_and(is_own)
}

/// Returns the rest of a path below a home folder.
fn in_home(path: &Path) -> Option<&Path> {
    let home = path.ancestors().skip(1).find(|above| is_home(above))?;
    path.strip_prefix(home).ok()
}

#[cfg(test)]
mod tests {
    use super::{is_kept, is_runtime};
    use nix::unistd::{Gid, Uid, chown};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    #[test]
    fn only_installations_are_runtimes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in ["venv/pyvenv.cfg", "venv/bin/python", "venv/lib/x.py"] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
            assert!(!is_runtime(&root.join(file)), "{file}: an author makes such files too");
        }
        assert!(!is_runtime(&root.join("venv")) && !is_runtime(&root));
        assert!(is_runtime(&Path::new("/bin/sh").canonicalize().unwrap()));
        for path in ["/", "/opt", "/home", "/root", "/root/.ssh", "/dev/tty", "/dev/mem", "/etc"] {
            assert!(!is_runtime(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn what_others_can_change_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let file = root.join("pyvenv.cfg");
        fs::write(&file, "").unwrap();
        let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
        assert!(is_kept(&file) && is_kept(Path::new("/usr/bin/env")));
        for (of, shared, kept) in [(&file, 0o646, 0o644), (&root, 0o1777, 0o700)] {
            mode(of, shared).unwrap();
            assert!(!is_kept(&file), "{}", of.display());
            mode(of, kept).unwrap();
        }
        if Uid::effective().is_root() {
            let another = super::UNPRIVILEGED_UID;
            for (user, group) in [(Some(Uid::from_raw(another)), None), (None, Some(another))] {
                for path in [&file, &root] {
                    chown(path, user, group.map(Gid::from_raw)).unwrap();
                    mode(path, 0o770).unwrap();
                    assert!(!is_kept(&file), "{}", path.display());
                    chown(path, Some(Uid::from_raw(0)), Some(Gid::from_raw(0))).unwrap();
                    assert!(is_kept(&file), "its group is its owner's own");
                }
            }
        }
    }
}
