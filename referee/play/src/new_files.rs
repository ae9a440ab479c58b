//! Creating a folder of new files: all or none, without overwriting.

use referee_process::files::named;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Creates the folder, if it is missing, and these files in it or below, which must not exist. Scripts are made
/// executable. On failure, removes what it created; the error names the path.
pub fn create_files<T: AsRef<[u8]>>(folder: &Path, files: &[(&str, T)]) -> io::Result<()> {
    let mut created = Vec::new();
    let result = create_folder(folder, &mut created).and_then(|()| {
        let mut files = files.iter();
        files.try_for_each(|(name, text)| create(&folder.join(name), text.as_ref(), &mut created))
    });
    if result.is_err() {
        // What can't be removed has been changed by another program meanwhile.
        for path in created.iter().rev() {
            fs::remove_file(path).or_else(|_| fs::remove_dir(path)).ok();
        }
    }
    result
}

/// Creates a file and the folders on the way; adds each created path to `created`.
fn create(path: &Path, text: &[u8], created: &mut Vec<PathBuf>) -> io::Result<()> {
    create_folder(path.parent().unwrap_or(Path::new("")), created)?;
    let mode = if text.starts_with(b"#!") { 0o777 } else { 0o666 };
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(mode).open(path);
    let mut file = opened.map_err(|error| named(path, &error))?;
    created.push(path.to_owned());
    file.write_all(text).map_err(|error| named(path, &error))
}

fn create_folder(folder: &Path, created: &mut Vec<PathBuf>) -> io::Result<()> {
    let is_missing = |it: &&Path| !it.as_os_str().is_empty() && !it.exists();
    let missing: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            Ok(()) => created.push(folder.to_owned()),
            // `a/..` exists as soon as `a` does.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(error) => return Err(named(folder, &error)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::create_files;
    use std::fs;
    use std::io::ErrorKind;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn folders_on_the_way_are_made_and_scripts_can_be_executed() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a/b");
        create_files(&folder, &[("x.sh", "#!/bin/sh\n"), ("y", "text\n"), ("c/z", "")]).unwrap();
        assert!(folder.join("c/z").is_file());
        assert_eq!(fs::read_to_string(folder.join("y")).unwrap(), "text\n");
        let mode = |name| fs::metadata(folder.join(name)).unwrap().permissions().mode();
        assert_ne!(mode("x.sh") & 0o100, 0);
        assert_eq!(mode("y") & 0o111, 0);
    }

    #[test]
    fn what_fails_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a/b");
        let error = create_files(&folder, &[("x", ""), ("x/y", "")]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotADirectory);
        assert!(error.to_string().contains("a/b/x/y: "), "{error}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_there_stays() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("y"), "old").unwrap();
        let error = create_files(place.path(), &[("x", "new"), ("y", "new")]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(place.path().join("y")).unwrap(), "old");
        assert!(!place.path().join("x").exists());
    }
}
