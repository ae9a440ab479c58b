//! The folder that is served: names of files in it, and files by these names. Nothing outside of it is
//! ever opened, whatever a name or a link says.

use super::errors::{Answer, Refused};
use axum::http::StatusCode;
use nix::fcntl::OFlag;
use referee_play::destination::is_transcript;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

/// Longer names are refused.
const NAME_BYTES_MAX: usize = 4096;
/// Larger transcripts are not shown, packed or unpacked.
pub(super) const TRANSCRIPT_BYTES_MAX: usize = 64 << 20;

/// The folder.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Canonical.
    root: PathBuf,
}

impl Place {
    /// Serves this folder.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        // To be found now, not at the first request.
        root.read_dir()?;
        Ok(Self { root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder's own name.
    pub(super) fn title(&self) -> String {
        let name = self.root.file_name().unwrap_or(self.root.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// What a name means; canonical, and below the folder. The empty name is the folder itself.
    pub(super) fn find(&self, name: &str) -> Answer<PathBuf> {
        let plain = |part: Component<'_>| {
            let name = match part {
                Component::Normal(name) => name.to_string_lossy().into_owned(),
                _ => return false,
            };
            !name.starts_with('.')
        };
        let outside = || {
            Refused::missing(format!("{name:?} is no file of the folder that is served"))
                .help("names are relative to it, with `/`, without `..` and hidden folders")
        };
        if name.len() > NAME_BYTES_MAX || !Path::new(name).components().all(plain) {
            return Err(outside());
        }
        let found = self.root.join(name).canonicalize();
        let found = found.map_err(|error| Refused::missing(format!("{name}: {error}")))?;
        // A link may lead anywhere.
        if found.starts_with(&self.root) { Ok(found) } else { Err(outside()) }
    }

    /// A transcript by its name.
    pub(super) fn transcript(&self, name: &str) -> Answer<PathBuf> {
        let path = self.find(name)?;
        if !is_transcript(&path) {
            return Err(Refused::missing(format!("{name:?} isn't named like a transcript"))
                .help("transcripts end with .jsonl or .jsonl.gz"));
        }
        Ok(path)
    }
}

/// Opens a plain file; anything else, such as a pipe that would be waited for, is an error.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(flags.bits()).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"))
}

/// A transcript that is too long to be shown.
pub(super) fn too_long(name: &str) -> Refused {
    let most = TRANSCRIPT_BYTES_MAX >> 20;
    let told = format!("{name}: the transcript is longer than {most} MB, too long for the page");
    Refused::new(StatusCode::PAYLOAD_TOO_LARGE, told)
        .help("`referee replay` shows it in a terminal")
}

#[cfg(test)]
mod tests {
    use super::{Place, open};
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn names_lead_nowhere_else() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret.jsonl"), "x").unwrap();
        let inside = tempfile::tempdir().unwrap();
        let path = |name: &str| inside.path().join(name);
        fs::create_dir_all(path("a/b")).unwrap();
        fs::create_dir_all(path(".hidden")).unwrap();
        for file in ["a/b/x.jsonl", ".hidden/x.jsonl", "a/x.toml", ".x.jsonl"] {
            fs::write(path(file), "x").unwrap();
        }
        symlink(outside.path().join("secret.jsonl"), path("link.jsonl")).unwrap();
        symlink(outside.path(), path("folder")).unwrap();
        symlink("a/b/x.jsonl", path("inner.jsonl")).unwrap();
        let place = Place::new(inside.path()).unwrap();
        for good in ["a/b/x.jsonl", "inner.jsonl", "a//b/x.jsonl"] {
            assert!(place.transcript(good).is_ok(), "{good}");
        }
        let absolute = path("a/b/x.jsonl").display().to_string();
        let long = "a/".repeat(5000);
        for bad in [
            "",
            ".",
            "..",
            "../x.jsonl",
            "a/../../x.jsonl",
            "a/../a/b/x.jsonl",
            "/etc/passwd",
            &absolute,
            "link.jsonl",
            "folder/secret.jsonl",
            ".hidden/x.jsonl",
            ".x.jsonl",
            "a/x.toml",
            "a",
            "no.jsonl",
            "a\0.jsonl",
            "a/b/x.jsonl/x.jsonl",
            &long,
        ] {
            assert!(place.transcript(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_plain_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("x.jsonl");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(open(&pipe).is_err());
        assert!(open(folder.path()).is_err());
        fs::write(folder.path().join("y"), "x").unwrap();
        assert!(open(&folder.path().join("y")).is_ok());
    }
}
