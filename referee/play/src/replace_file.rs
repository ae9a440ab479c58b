//! Replacing a file atomically.

use referee_process::open_folder::OpenFolder;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Replaces a file or creates it, with its folder. Open readers keep the old file, and on failure it
/// stays.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, |file| file.write_all(bytes))
}

/// Replaces a file by what `write` writes.
pub fn replace_by(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    replace_with_mode(path, 0o666, write)
}

/// The same with the permissions of the new file, as far as the umask allows.
pub fn replace_with_mode(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = OpenFolder::create_all(path.parent().unwrap_or(Path::new("")))?;
    // Beside it, and not listed as a transcript.
    let temporary = format!(".{}.new", name.to_string_lossy());
    let temporary = OsStr::new(&temporary);
    // Left by a run that was killed.
    folder.remove(temporary).ok();
    let written = folder
        .create_new(temporary, mode)
        .and_then(|file| {
            let mut file = BufWriter::new(file);
            write(&mut file)?;
            file.flush()
        })
        .and_then(|()| folder.rename(temporary, name));
    if written.is_err() {
        folder.remove(temporary).ok();
    }
    written
}

#[cfg(test)]
mod tests {
    use super::{replace, replace_with_mode};
    use nix::unistd::{Uid, chown};
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn what_root_writes_into_another_s_folder_is_the_other_s() {
        let place = tempfile::tempdir().unwrap();
        let own = place.path().metadata().unwrap().uid();
        let folder = place.path().join("course");
        fs::create_dir(&folder).unwrap();
        let owner = if Uid::effective().is_root() { 12345 } else { own };
        chown(&folder, Some(owner.into()), None).unwrap();
        replace(&folder.join("new/file"), b"").unwrap();
        fs::write(folder.join("teams.json"), "of root").unwrap();
        replace_with_mode(&folder.join("teams.json"), 0o600, |out| out.write_all(b"1")).unwrap();
        for name in ["new", "new/file", "teams.json"] {
            assert_eq!(folder.join(name).metadata().unwrap().uid(), owner, "{name}");
        }
        replace(&place.path().join("own"), b"").unwrap();
        assert_eq!(place.path().join("own").metadata().unwrap().uid(), own);
        assert_eq!(folder.join("teams.json").metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read(folder.join("teams.json")).unwrap(), b"1");
    }
}
