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
    let is_shared = import_folder(&run, base).is_some_and(|from| {
        // From further above if the folder of submissions would be a package itself.
        from == parent || parent.starts_with(&from) && parent.join("__init__.py").exists()
    });
    let inbox = OpenFolder::open(parent)?;
    if !is_shared || inbox.names()?.len() == 1 {
        return Ok(None);
    }
    let private = Private::new()?;
    let whole = private.path("files");
    let to = OpenFolder::create(&whole)?;
    copied(&inbox, parent, name, &to)?;
    // The organiser's, for the game of another year.
    let course = OsStr::new("referee");
    let has_course = base != parent && base.join(course).is_dir() && name != course;
    if has_course {
        copied(&OpenFolder::open(base)?, base, course, &to)?;
    }
    let entries = tree::entries(Tree { folder: &to, path: &whole }, NOTHING)?;
    let digest = content(&whole, &entries)?;
    if let Some(known) = private.known(&digest, name)? {
        return Ok(Some(known));
    }
    if has_course {
        private.keep(&whole.join(course), &digest, course)?;
    }
    private.keep(&whole.join(name), &digest, name).map(Some)
}
