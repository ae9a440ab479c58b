//! Paths and programs by name, with errors that say which one.

use crate::{Cause, Failure};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// An error with the file that it is about.
pub fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// A path that leads there from everywhere; the empty one is the working directory.
pub fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    path.canonicalize().map_err(|error| {
        Failure::operation(format!("{}: {error}", path.display())).because_of(&error)
    })
}

/// What a file begins with, up to so many bytes; `None` where it is no file. A FIFO would be waited
/// for.
pub(crate) fn head(file: &Path, bytes: u64) -> Option<Vec<u8>> {
    let file = Some(file).filter(|file| file.is_file())?;
    let mut head = Vec::new();
    File::open(file).ok()?.take(bytes).read_to_end(&mut head).ok()?;
    Some(head)
}

/// The file of a program along PATH.
pub(crate) fn in_path(word: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(word)).find(|file| file.is_file())
}

/// The file of a program: in `folder`, where the word names a file there or a path, or along PATH.
pub fn program(word: &str, folder: &Path) -> Result<PathBuf, Failure> {
    let local = folder.join(word);
    if local.is_file() {
        return Ok(local);
    }
    let missing = |text: String| Failure::usage(text).because(Cause::Missing);
    if word.contains('/') {
        return Err(missing(format!("no program `{word}` in {}", folder.display())));
    }
    in_path(word)
        .ok_or_else(|| missing(format!("no program `{word}`: no such file, and none in PATH")))
}
