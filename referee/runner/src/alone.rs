//! Submissions that a course's adapter imports by their own name, which takes the folder around them. There others hand
//! in: a package or module of theirs must not be found instead of one that is installed, nor one team's by another.

use super::arguments::relative;
use super::copies::content;
use super::inbox::copied;
use super::tree::{self, NOTHING, Tree};
use referee_play::adapted::import_folder;
use referee_play::archives::Private;
use referee_process::open_folder::OpenFolder;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the place of a copy of a submission in a private folder, which nobody can change.
pub(super) fn private_copy(path: &Path) -> io::Result<PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::other("it has no name"));
    };
    let private = Private::new()?;
    let whole = private.path("files");
    let to = OpenFolder::create(&whole)?;
    copied(&OpenFolder::open(parent)?, parent, name, &to)?;
    kept(&private, &to, &whole, name, None)
}

/// Keeps what is called `top` in a new private folder, and what is `beside` it, by the digest of all files there.
fn kept(
    private: &Private,
    new: &OpenFolder,
    path: &Path,
    top: &OsStr,
    beside: Option<&OsStr>,
) -> io::Result<PathBuf> {
    let entries = tree::entries(Tree { folder: new, path }, NOTHING)?;
    tree::open_to_all(new, &entries)?;
    let digest = content(path, &entries)?;
    if let Some(known) = private.known(&digest, top)? {
        return Ok(known);
    }
    if let Some(beside) = beside {
        private.keep(&path.join(beside), &digest, beside)?;
    }
    private.keep(&path.join(top), &digest, top)
}

/// Returns the place of a submission in a private folder with nothing else but the course's program; `None` if it has
/// that already and the adapter imports it from within, or if it is alone. Both paths are canonical.
pub(super) fn alone(template: &str, path: &Path, base: &Path) -> io::Result<Option<PathBuf>> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let Some(written) = relative(base, path).to_str().map(str::to_owned) else { return Ok(None) };
    let run = template.replace("{}", &format!("./{written}"));
    let Some((adapter, from)) = import_folder(&run, base) else { return Ok(None) };
    let inbox = OpenFolder::open(parent)?;
    // The organiser's, for the game of another year.
    let course = OsStr::new(adapter.course);
    let has_course = |folder: &Path| folder != parent && folder.join(course).is_dir();
    let lacks_course = !adapter.names_folders && has_course(base) && !from.join(course).exists();
    let is_inside = from.starts_with(path);
    if !lacks_course && (is_inside || from == parent && inbox.names(2)?.len() == 1) {
        return Ok(None);
    }
    let private = Private::new()?;
    let whole = private.path("files");
    let to = OpenFolder::create(&whole)?;
    if is_inside {
        copied(&inbox, parent, name, &to)?;
        let inner = from.strip_prefix(parent).unwrap_or(Path::new(name));
        copied(&OpenFolder::open(base)?, base, course, &to.folder_at(inner)?)?;
        return kept(&private, &to, &whole, name, None).map(Some);
    }
    let (inner, organiser) = match parent.strip_prefix(&from) {
        Ok(inner) if adapter.names_folders => (inner, &*from),
        _ => (Path::new(""), base),
    };
    copied(&inbox, parent, name, &to.create_folders(inner)?)?;
    let top = inner.iter().next().unwrap_or(name);
    let has_course = has_course(organiser) && top != course;
    if has_course {
        copied(&OpenFolder::open(organiser)?, organiser, course, &to)?;
    }
    let beside = has_course.then_some(course);
    let place = kept(&private, &to, &whole, top, beside)?;
    let inside = inner.join(name);
    Ok(Some(inside.iter().skip(1).fold(place, |place, name| place.join(name))))
}
