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

/// Returns the place of a submission in a private folder with nothing else but the course's program; `None` if the adapter imports it from
/// within, or with the course's own program around the folder of submissions, or if it is alone already. Both paths
/// are canonical.
pub(super) fn alone(template: &str, path: &Path, base: &Path) -> io::Result<Option<PathBuf>> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let Some(written) = relative(base, path).to_str().map(str::to_owned) else { return Ok(None) };
    let run = template.replace("{}", &format!("./{written}"));
    let Some((adapter, from)) = import_folder(&run, base) else { return Ok(None) };
    // From further above if the folder of submissions would be a package itself.
    let is_package = || parent.starts_with(&from) && parent.join("__init__.py").exists();
    let inbox = OpenFolder::open(parent)?;
    if from != parent && !is_package() || inbox.names()?.len() == 1 {
        return Ok(None);
    }
    let private = Private::new()?;
    let whole = private.path("files");
    let to = OpenFolder::create(&whole)?;
    let (inner, organiser) = match parent.strip_prefix(&from) {
        Ok(inner) if adapter.names_folders => (inner, &*from),
        _ => (Path::new(""), base),
    };
    copied(&inbox, parent, name, &to.create_folders(inner)?)?;
    let top = inner.iter().next().unwrap_or(name);
    // The organiser's, for the game of another year.
    let course = OsStr::new(adapter.course);
    let has_course = organiser != parent && organiser.join(course).is_dir() && top != course;
    if has_course {
        copied(&OpenFolder::open(organiser)?, organiser, course, &to)?;
    }
    let entries = tree::entries(Tree { folder: &to, path: &whole }, NOTHING)?;
    let digest = content(&whole, &entries)?;
    let known = private.known(&digest, top)?;
    if known.is_none() && has_course {
        private.keep(&whole.join(course), &digest, course)?;
    }
    let place = known.map_or_else(|| private.keep(&whole.join(top), &digest, top), Ok)?;
    let inside = inner.join(name);
    Ok(Some(inside.iter().skip(1).fold(place, |place, name| place.join(name))))
}
