//! A folder of new files: all of them or none, and never in the place of others.

use referee_process::files::named;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Creates the folder, if it isn't there, and these files in it, which must not be there. What
/// begins like a script can be executed. Where something fails, what was created is removed again,
/// and the error names the path.
pub fn create_files(folder: &Path, files: &[(&str, &str)]) -> io::Result<()> {
    let mut created = Created::default();
    created.folder(folder)?;
    for (name, text) in files {
        created.file(&folder.join(name), text)?;
    }
    created.keep();
    Ok(())
}

/// What was created so far; it is removed unless it is kept.
#[derive(Debug, Default)]
struct Created {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Created {
    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = folder
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
            .collect();
        for folder in missing.into_iter().rev() {
            match std::fs::create_dir(folder) {
                Ok(()) => self.folders.push(folder.to_owned()),
                // `a/..` is there as soon as `a` is.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
                Err(error) => return Err(named(folder, &error)),
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let mode = if text.starts_with("#!") { 0o777 } else { 0o666 };
        let mut options = OpenOptions::new();
        let opened = options.write(true).create_new(true).mode(mode).open(path);
        let mut file = opened.map_err(|error| named(path, &error))?;
        self.files.push(path.to_owned());
        file.write_all(text.as_bytes()).map_err(|error| named(path, &error))
    }

    fn keep(mut self) {
        self.folders.clear();
        self.files.clear();
    }
}

impl Drop for Created {
    fn drop(&mut self) {
        // What can't be removed has been changed by someone else meanwhile, and is theirs.
        for file in &self.files {
            std::fs::remove_file(file).ok();
        }
        for folder in self.folders.iter().rev() {
            std::fs::remove_dir(folder).ok();
        }
    }
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
