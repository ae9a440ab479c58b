//! The identity of an agent: SHA-256 over its files.

use referee_process::files::{named, open_regular, too_large};
use referee_process::open_folder::{DEPTH_MAX, Kind, OpenFolder, too_deep};
use referee_protocol::encode::to_hex;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The most bytes of an agent's files: hashing a file of many terabytes, all of it holes, would take days.
const AGENT_BYTES_MAX: u64 = 4 << 30;

/// The most memory that the list of an agent's files takes, in bytes.
const LIST_BYTES_MAX: usize = 64 << 20;

/// Where Python keeps bytecode, which it loads instead of the source.
pub const BYTECODE_FOLDER: &str = "__pycache__";
/// Folders that building and running an agent leaves in its folder.
const LEFT_OUT: &[&str] = &[BYTECODE_FOLDER, "node_modules", "target", "matches"];

/// Hashes a folder's files, sorted by path: each path, its length and its bytes. Skips hidden files,
/// links and build output.
pub fn digest_folder(folder: &Path) -> io::Result<String> {
    let opened = OpenFolder::open(folder)?;
    digest_files_in(&opened, &folder_files(&opened)?)
}

/// Returns the files of a folder's digest, relative to it and sorted by path.
pub fn folder_files(folder: &OpenFolder) -> io::Result<Vec<PathBuf>> {
    let mut files = Files::default();
    files.collect(folder, Path::new(""), 0)?;
    files.found.sort();
    Ok(files.found)
}

/// Returns a folder with bytecode beside these files of a folder, if there is one: the digest leaves it out.
pub fn bytecode_beside(folder: &OpenFolder, files: &[PathBuf]) -> Option<PathBuf> {
    let name = OsStr::new(BYTECODE_FOLDER);
    let has_bytecode = |inside: &&Path| {
        let is_root = inside.as_os_str().is_empty();
        let kind = if is_root {
            folder.kind(name)
        } else {
            folder.folder_at(inside).and_then(|inside| inside.kind(name))
        };
        kind.is_ok()
    };
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    Some(folders.into_iter().find(has_bytecode)?.join(name))
}

/// Hashes these files of a folder, in this order.
pub fn digest_files(folder: &Path, files: &[PathBuf]) -> io::Result<String> {
    digest_files_in(&OpenFolder::open(folder)?, files)
}

/// The same with an open folder.
pub fn digest_files_in(folder: &OpenFolder, files: &[PathBuf]) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut bytes: u64 = 0;
    for path in files {
        let (file, state) = folder.file_at(path).map_err(|error| named(path, &error))?;
        bytes = bytes.saturating_add(state.length);
        if bytes > AGENT_BYTES_MAX {
            return Err(too_large(AGENT_BYTES_MAX));
        }
        hash.update(format!("{}\0{}\0", path.to_string_lossy(), state.length).as_bytes());
        add(&mut hash, &file, state.length)?;
    }
    Ok(to_hex(&hash.finalize()))
}

/// Hashes one file, like `sha256sum`.
pub fn digest_file(file: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    add_file(&mut hash, file)?;
    Ok(to_hex(&hash.finalize()))
}

/// The same by a path in an open folder. No link is followed.
pub fn digest_file_in(folder: &OpenFolder, file: &Path) -> io::Result<String> {
    let (file, state) = folder.file_at(file)?;
    if state.length > AGENT_BYTES_MAX {
        return Err(too_large(AGENT_BYTES_MAX));
    }
    let mut hash = Sha256::new();
    add(&mut hash, &file, state.length)?;
    Ok(to_hex(&hash.finalize()))
}

/// Hashes these bytes, like `sha256sum`.
pub fn digest_bytes(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

/// Hashes a command line and the files that its words name.
pub fn digest_command(words: &[String], folder: &Path) -> String {
    let mut hash = Sha256::new();
    for word in words {
        hash.update(word.as_bytes());
        hash.update(b"\0");
        let file = folder.join(word);
        if file.is_file() {
            // A file that can't be read can't be run either, which is an error later.
            add_file(&mut hash, &file).ok();
        }
    }
    to_hex(&hash.finalize())
}

/// Files that are found in a folder.
#[derive(Default)]
struct Files {
    found: Vec<PathBuf>,
    /// The memory that they take, in bytes.
    bytes: usize,
    /// How many names were listed.
    listed: usize,
}

impl Files {
    /// `inside` is the folder's path in the whole.
    fn collect(&mut self, folder: &OpenFolder, inside: &Path, depth: usize) -> io::Result<()> {
        if depth > DEPTH_MAX {
            return Err(named(inside, &too_deep()));
        }
        let most = LIST_BYTES_MAX / size_of::<PathBuf>();
        let names = folder.names((most + 1).saturating_sub(self.listed))?;
        self.listed += names.len();
        if self.listed > most {
            return Err(too_long());
        }
        for name in names {
            let shown = name.to_string_lossy();
            if shown.starts_with('.') || LEFT_OUT.contains(&shown.as_ref()) {
                continue;
            }
            let path = inside.join(&name);
            match folder.kind(&name).map_err(|error| named(&path, &error))?.0 {
                Kind::Folder => {
                    let inner = folder.folder(&name).map_err(|error| named(&path, &error))?;
                    self.collect(&inner, &path, depth + 1)?;
                }
                // The digest and the lists of a contest have its name as text.
                Kind::File if path.to_str().is_none() => {
                    return Err(named(
                        &path,
                        &io::Error::other("its name is not UTF-8: rename it"),
                    ));
                }
                Kind::File => self.add(path)?,
                Kind::Link(_) | Kind::Other => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, path: PathBuf) -> io::Result<()> {
        self.bytes += size_of::<PathBuf>() + path.as_os_str().len();
        if self.bytes > LIST_BYTES_MAX {
            return Err(too_long());
        }
        self.found.push(path);
        Ok(())
    }
}

fn too_long() -> io::Error {
    let text = format!("the list of its files has more than {} MiB", LIST_BYTES_MAX >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

fn add_file(hash: &mut Sha256, file: &Path) -> io::Result<()> {
    let file = open_regular(file, AGENT_BYTES_MAX)?;
    let length = file.metadata()?.len();
    add(hash, &file, length)
}

/// Adds as much as a file had when it was opened.
fn add(hash: &mut Sha256, file: &File, length: u64) -> io::Result<()> {
    let mut file = file.take(length);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(()),
            count => hash.update(&buffer[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Files, digest_command, digest_file, digest_folder};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_digest_changes_with_the_agent_and_with_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::write(path.join("bot.py"), "print()").unwrap();
        let before = digest_folder(path).unwrap();
        std::fs::create_dir(path.join("__pycache__")).unwrap();
        std::fs::write(path.join("__pycache__/bot.pyc"), "x").unwrap();
        std::fs::write(path.join(".hidden"), "x").unwrap();
        assert_eq!(digest_folder(path).unwrap(), before);
        std::fs::write(path.join("bot.py"), "print(1)").unwrap();
        assert_ne!(digest_folder(path).unwrap(), before);
        // printf 'print(1)' | sha256sum
        let digest = "d287bb7f9d15abdc5b6e98536263815744b6ef21c8f3c839fc434ca70d8efe99";
        assert_eq!(digest_file(&path.join("bot.py")).unwrap(), digest);
        let words = ["python3".to_owned(), "bot.py".to_owned()];
        let one = digest_command(&words, path);
        std::fs::write(path.join("bot.py"), "print(2)").unwrap();
        assert_ne!(digest_command(&words, path), one);
    }

    #[test]
    fn a_name_that_is_not_text_is_refused() {
        for place in [&b"x\xff"[..], b"x\xff/y"] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join(OsStr::from_bytes(place));
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
            let refused = digest_folder(folder.path()).unwrap_err().to_string();
            assert!(refused.contains("its name is not UTF-8"), "{refused}");
        }
    }

    #[test]
    fn a_sparse_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("weights.bin");
        std::fs::File::create(&file).unwrap().set_len(8 << 40).unwrap();
        for refused in [digest_file(&file), digest_folder(folder.path())] {
            assert_eq!(refused.unwrap_err().to_string(), "larger than 4096 MB");
        }
        assert_eq!(digest_command(&["./weights.bin".into()], folder.path()).len(), 64);
    }

    #[test]
    fn a_list_without_end_is_refused() {
        let mut files = Files::default();
        let path = std::path::PathBuf::from("x".repeat(1000));
        let refused = (0..100_000).find_map(|_| files.add(path.clone()).err()).unwrap();
        assert_eq!(refused.to_string(), "the list of its files has more than 64 MiB");
    }
}
