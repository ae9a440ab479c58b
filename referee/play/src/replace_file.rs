//! Files in the place of others: all of one or nothing.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A new file in the place of whatever is there: who reads that one reads it on, and where
/// it fails, that one stays. Its folder is made where there is none.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let coming = coming(path);
    // What a run left that was killed meanwhile.
    std::fs::remove_file(&coming).ok();
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&coming)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| std::fs::rename(&coming, path));
    if written.is_err() {
        std::fs::remove_file(&coming).ok();
    }
    written
}

/// A name beside it that no list of transcripts has.
fn coming(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.new"))
}
