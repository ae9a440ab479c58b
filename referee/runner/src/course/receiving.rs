//! An upload that is received, and how it is kept on the disk and unpacked.

use super::give;
use super::uploads::{FILES_FOLDER, Refusal, RefusalKind};
use jiff::Timestamp;
use referee_play::archives::{self, Most};
use referee_play::digest::digest_file;
use referee_play::found_command::{FoundCommand, found_command, has_manifest, manifest_of};
use referee_process::files::{named, read_regular, size_of_files, sync_file_system};
use referee_protocol::encode::to_hex;
use referee_protocol::sanitize::sanitize;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The file with what was received.
const RECEIVED_FILE: &str = "upload.json";
/// The largest such file that is read, in bytes.
const LIST_BYTES_MAX: u64 = 64 << 20;
/// The folder with the files as they were sent, named by their places in the list.
pub(super) const SENT_FOLDER: &str = "sent";
/// The beginning of the names of uploads that are not complete.
pub(super) const PARTIAL: &str = ".new-";
/// The most files of an upload that are written to the disk one by one.
const SYNCED_ALONE_MAX: usize = 8;
/// The longest name of a file.
const NAME_BYTES_MAX: usize = 1024;

/// A file as it was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SentFile {
    /// Its name, with those of the folders above it.
    name: String,
    bytes: u64,
}

/// What was received, as it is kept on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct List {
    at: Timestamp,
    sha256: String,
    files: Vec<SentFile>,
    /// The command that its team confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<Vec<String>>,
}

/// What was received. Names are not kept in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) at: Timestamp,
    /// SHA-256 of the only file, or of the list of all files with theirs.
    pub(super) sha256: String,
    /// How many files there are, and their bytes.
    pub(super) files: usize,
    pub(super) bytes: u64,
    /// The bytes of the list of them on the disk.
    pub(super) list_bytes: u64,
}

impl List {
    /// Reads what is in a version's folder.
    pub(super) fn read(folder: &Path) -> io::Result<(Self, Received)> {
        let file = folder.join(RECEIVED_FILE);
        let read = || {
            let text = read_regular(&file, LIST_BYTES_MAX)?;
            let list: Self = serde_json::from_slice(&text)?;
            let received = list.received(text.len());
            Ok((list, received))
        };
        read().map_err(|error: io::Error| named(&file, &error))
    }

    fn received(&self, list_bytes: usize) -> Received {
        Received {
            at: self.at,
            sha256: self.sha256.clone(),
            files: self.files.len(),
            bytes: self.files.iter().map(|file| file.bytes).sum(),
            list_bytes: list_bytes as u64,
        }
    }
}

/// Returns the names and places of the files in an upload's folder.
fn places(folder: &Path, files: &[SentFile]) -> Vec<(String, PathBuf)> {
    let sent = folder.join(SENT_FOLDER);
    let place =
        |(index, file): (usize, &SentFile)| (file.name.clone(), sent.join(index.to_string()));
    files.iter().enumerate().map(place).collect()
}

/// An upload that is under way. It leaves nothing unless it is accepted.
#[derive(Debug)]
pub struct Upload {
    folder: Partial,
    files: Vec<SentFile>,
    /// The bytes of all files and of their names.
    bytes: u64,
    names: usize,
    bytes_max: u64,
    files_max: usize,
}

/// Its folder. Removing many files takes time, which whoever lets go of it may not have.
#[derive(Debug)]
struct Partial(Option<TempDir>);

impl Partial {
    fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new(""), TempDir::path)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if let Some(folder) = self.0.take() {
            std::thread::spawn(|| drop(folder));
        }
    }
}

impl Upload {
    pub(super) fn new(root: &Path, bytes_max: u64, files_max: usize) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PARTIAL).tempdir_in(root)?;
        fs::create_dir(folder.path().join(SENT_FOLDER))?;
        let (folder, files) = (Partial(Some(folder)), Vec::new());
        Ok(Self { folder, files, bytes: 0, names: 0, bytes_max, files_max })
    }

    /// Begins the next file, with its path in the folder that is handed in. Returns where it is to be created.
    pub fn file(&mut self, name: &str) -> Result<PathBuf, Refusal> {
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            let text = format!("a file needs a name in UTF-8, of at most {NAME_BYTES_MAX} bytes");
            return Err(Refusal::new(RefusalKind::Invalid, text));
        }
        if self.files.len() >= self.files_max {
            let text = format!("an upload may have {} files (files)", self.files_max);
            return Err(Refusal::new(RefusalKind::TooLarge, text));
        }
        let names = self.names + name.len();
        let names_max = archives::names_max(self.files_max);
        if names > names_max {
            let text = archives::long_names(names_max).to_string();
            return Err(Refusal::new(RefusalKind::TooLarge, text));
        }
        let path = self.folder.path().join(SENT_FOLDER).join(self.files.len().to_string());
        self.files.push(SentFile { name: name.to_owned(), bytes: 0 });
        self.names = names;
        Ok(path)
    }

    /// Notes that so many bytes come next in the last file.
    pub fn more(&mut self, bytes: u64) -> Result<(), Refusal> {
        if let Some(file) = self.files.last_mut() {
            file.bytes += bytes;
            self.bytes += bytes;
        }
        if self.bytes > self.bytes_max {
            return Err(self.too_large());
        }
        Ok(())
    }

    /// The refusal of an upload that is too large.
    pub fn too_large(&self) -> Refusal {
        let text = format!("an upload may have {} MiB (upload_mb)", self.bytes_max >> 20);
        Refusal::new(RefusalKind::TooLarge, text)
    }

    /// Writes everything to the disk.
    pub(super) fn finish(
        mut self,
        command: Option<Vec<String>>,
        at: Timestamp,
    ) -> Result<Synced, Refusal> {
        if self.files.is_empty() {
            return Err(Refusal::new(RefusalKind::Invalid, "the upload has no files"));
        }
        let write = || {
            let mut hashes = Vec::new();
            if self.files.len() > SYNCED_ALONE_MAX {
                sync_file_system(self.folder.path())?;
            }
            for (index, file) in self.files.iter().enumerate() {
                let path = self.folder.path().join(SENT_FOLDER).join(index.to_string());
                if self.files.len() <= SYNCED_ALONE_MAX {
                    File::open(&path)?.sync_all()?;
                }
                hashes.push((digest_file(&path)?, file.name.as_str()));
            }
            let sha256 = match &hashes[..] {
                [(only, _)] => only.clone(),
                all => {
                    let lines = all.iter().map(|(hash, name)| format!("{hash}  {name}\n"));
                    to_hex(&Sha256::digest(lines.collect::<String>().as_bytes()))
                }
            };
            let list = List { at, sha256, files: self.files.clone(), command };
            let text = serde_json::to_vec(&list)?;
            let mut file = File::create_new(self.folder.path().join(RECEIVED_FILE))?;
            file.write_all(&text)?;
            file.sync_all()?;
            File::open(self.folder.path().join(SENT_FOLDER))?.sync_all()?;
            File::open(self.folder.path())?.sync_all()?;
            Ok(list.received(text.len()))
        };
        let received = write().map_err(|error: io::Error| Refusal::machine(&error))?;
        let folder = self.folder.0.take();
        let folder = folder.ok_or_else(|| Refusal::new(RefusalKind::Machine, "it was finished"))?;
        Ok(Synced { folder, received })
    }

    /// Unpacks it to look at it.
    pub(super) fn look(&self, most: Most, has_command: bool) -> Result<Looked, String> {
        let to = self.folder.path().join("look");
        let sent = places(self.folder.path(), &self.files);
        let looked = archives::unpack(&sent, &to, most).and_then(|at| looked(&at, has_command));
        fs::remove_dir_all(&to).ok();
        looked.map_err(|error| sanitize(&error.to_string()))
    }
}

/// A complete upload, which is on the disk under a temporary name.
#[derive(Debug)]
pub(super) struct Synced {
    pub(super) folder: TempDir,
    pub(super) received: Received,
}

/// What was found in an upload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// Whether it needs no command: its own `agent.toml` or the contest says how it is started.
    pub is_set: bool,
    /// How it is started, if that was found.
    pub command: Option<Vec<String>>,
    /// The language.
    pub language: Option<String>,
}

/// Finds how an agent is started.
fn looked(folder: &Path, has_command: bool) -> io::Result<Looked> {
    if has_command || has_manifest(folder) {
        return Ok(Looked { is_set: true, ..Looked::default() });
    }
    Ok(found_command(folder)?.map_or_else(Looked::default, |FoundCommand { language, command }| {
        Looked { is_set: false, command: Some(command), language: Some(language.to_owned()) }
    }))
}

/// What is needed to unpack a version.
pub(super) struct Sent {
    pub(super) folder: PathBuf,
    /// The name of the agent's folder.
    pub(super) name: String,
}

/// A version that is unpacked.
pub(super) struct Unpacked {
    pub(super) looked: Looked,
    pub(super) bytes: u64,
}

impl Sent {
    /// Reads the list of its files.
    pub(super) fn list(&self) -> io::Result<List> {
        Ok(List::read(&self.folder)?.0)
    }

    /// Unpacks it. An earlier try may have been interrupted.
    pub(super) fn unpack(
        &self,
        list: &List,
        most: Most,
        has_command: bool,
    ) -> io::Result<Unpacked> {
        let (to, files) = (self.folder.join(".unpacking"), self.folder.join(FILES_FOLDER));
        for left in [&to, &files] {
            match fs::remove_dir_all(left) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        let sent = places(&self.folder, &list.files);
        let unpacked = archives::unpack(&sent, &to, most).and_then(|agent| {
            let mut looked = looked(&agent, has_command)?;
            if !looked.is_set {
                let command = list.command.clone().or(looked.command.take());
                let command = command.ok_or_else(|| {
                    io::Error::other(
                        "it has no agent.toml, and it isn't clear which file starts it: add an agent.toml with \
                         `command = [\"python3\", \"bot.py\"]`, or hand it in with its command",
                    )
                })?;
                File::create_new(agent.join("agent.toml"))?
                    .write_all(manifest_of(&command).as_bytes())?;
                looked.command = Some(command);
            }
            fs::create_dir(&files)?;
            fs::rename(&agent, files.join(&self.name))?;
            give(&files)?;
            Ok(Unpacked { looked, bytes: size_of_files(&files)? })
        });
        fs::remove_dir_all(&to).ok();
        unpacked
    }
}
