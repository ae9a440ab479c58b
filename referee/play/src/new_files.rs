//! Creating a folder of new files: all or none, without overwriting.

use referee_process::files::named;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Creates the folder, if it is missing, and these files in it, which must not exist. Scripts are made
/// executable. On failure, removes what it created; the error names the path.
pub fn create_files(folder: &Path, files: &[(&str, &str)]) -> io::Result<()> {
    let mut created = Vec::new();
    let result = create(folder, files, &mut created);
    if result.is_err() {
        // What can't be removed has been changed by another program meanwhile.
        for path in created.iter().rev() {
            fs::remove_file(path).or_else(|_| fs::remove_dir(path)).ok();
        }
    }
    result
}

/// The same; adds each created path to `created`.
fn create(folder: &Path, files: &[(&str, &str)], created: &mut Vec<PathBuf>) -> io::Result<()> {
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
    for (name, text) in files {
        let path = folder.join(name);
        let mode = if text.starts_with("#!") { 0o777 } else { 0o666 };
        let mut options = OpenOptions::new();
        let opened = options.write(true).create_new(true).mode(mode).open(&path);
        let mut file = opened.map_err(|error| named(&path, &error))?;
        created.push(path.clone());
        file.write_all(text.as_bytes()).map_err(|error| named(&path, &error))?;
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
        create_files(&folder, &[("x.sh", "#!/bin/sh\n"), ("y", "text\n")]).unwrap();
        assert_eq!(fs::read_to_string(folder.join("y")).unwrap(), "text\n");
        let mode = |name| fs::metadata(folder.join(name)).unwrap().permissions().mode();
        assert_ne!(mode("x.sh") & 0o100, 0);
        assert_eq!(mode("y") & 0o111, 0);
    }

    #[test]
    fn what_fails_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a/b");
        let error = create_files(&folder, &[("x", ""), ("no/where", "")]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("a/b/no/where: "), "{error}");
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
