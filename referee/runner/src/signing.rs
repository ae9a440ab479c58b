//! The keys that sign contests and reports, and the keys that are expected of contests: files in the user's
//! state folder, outside of every contest's folder.

use nix::unistd::{Uid, User, gethostname};
use rand::TryRng;
use rand::rngs::SysRng;
use referee_contest::log::{PrivateKey, PublicKey};
use referee_play::replace_file::replace;
use referee_process::Failure;
use referee_process::files::read_regular;
use referee_protocol::plain::sanitize_line;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The key of contests, in the state folder.
pub const CONTEST_KEY: &str = "contest.key";
/// The key of workers, in the state folder.
pub const WORKER_KEY: &str = "worker.key";
/// The expected keys, in the state folder.
const PINS: &str = "pins.json";
/// Larger files are not read.
const BYTES_MAX: u64 = 16 << 20;
/// The most characters of a name.
const NAME_CHARS: usize = 80;

/// A key with which a contest or a report is signed.
#[derive(Clone, Debug)]
pub struct Signer {
    /// The private key.
    pub key: PrivateKey,
    /// The name of its owner, for people.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
}

/// A private key as its file has it.
#[derive(Serialize, Deserialize)]
struct KeyFile {
    /// The name of its owner, for people.
    name: String,
    /// The public key; only for people.
    public: String,
    /// The private key, in hex.
    private: String,
}

/// Returns the folder of keys: `$XDG_STATE_HOME/referee`, else `~/.local/state/referee`.
pub fn state_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")));
    state.map(|state| state.join("referee"))
}

impl Signer {
    /// Reads a key, or makes one if the file doesn't exist.
    pub fn read_or_create(file: &Path) -> Result<Self, Failure> {
        if !file.exists() {
            create(file).map_err(|error| cannot(file, "cannot make a key", &error))?;
        }
        Self::read(file)
    }

    /// Reads a key.
    pub fn read(file: &Path) -> Result<Self, Failure> {
        let unreadable = |error: &dyn std::fmt::Display| cannot(file, "cannot read the key", error);
        let mode = fs::metadata(file).map_err(|error| unreadable(&error))?.mode();
        if mode & 0o077 != 0 {
            return Err(unreadable(&"other users may read it")
                .help(format!("allow only yourself: chmod 600 {}", file.display())));
        }
        let bytes = read_regular(file, BYTES_MAX).map_err(|error| unreadable(&error))?;
        let parsed: KeyFile = serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))?;
        let key = PrivateKey::from_hex(&parsed.private)
            .ok_or_else(|| unreadable(&"`private` must have 64 hex digits"))?;
        let name = sanitize_line(&parsed.name).chars().take(NAME_CHARS).collect();
        Ok(Self { key, name, file: file.to_owned() })
    }

    /// Returns the public key as a line, as in a `.pub` file of OpenSSH.
    pub fn public_line(&self) -> String {
        format!("{} {}", self.key.public(), self.name)
    }
}

fn cannot(file: &Path, what: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::machine(format!("{}: {what}: {error}", file.display()))
}

/// Makes a key file. If another process makes one at the same time, that one stays.
fn create(file: &Path) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new(""));
    if folder != Path::new("") {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut bytes = [0; 32];
    SysRng.try_fill_bytes(&mut bytes).map_err(io::Error::other)?;
    let key = PrivateKey::from_bytes(&bytes);
    let parsed =
        KeyFile { name: own_name(), public: key.public().to_string(), private: key.to_hex() };
    let new = file.with_extension(format!("new-{}", std::process::id()));
    let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    let done = serde_json::to_writer_pretty(&mut written, &parsed)
        .map_err(io::Error::from)
        .and_then(|()| written.write_all(b"\n"))
        .and_then(|()| written.sync_all())
        .and_then(|()| match fs::hard_link(&new, file) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        });
    fs::remove_file(&new)?;
    done?;
    File::open(if folder == Path::new("") { Path::new(".") } else { folder })?.sync_all()
}

/// Returns `USER@HOST`.
fn own_name() -> String {
    let user = User::from_uid(Uid::current()).ok().flatten();
    let user = user.map_or_else(|| Uid::current().to_string(), |user| user.name);
    let host = gethostname().ok().and_then(|host| host.into_string().ok());
    host.map_or_else(|| user.clone(), |host| format!("{user}@{host}"))
}

/// The keys that contests are expected to have.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pins {
    pins: Vec<Pin>,
}

/// The key that a contest is expected to have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// The contest's folder, absolute.
    pub folder: PathBuf,
    /// The key.
    pub key: PublicKey,
}

impl Pins {
    /// Reads the file; without one no key is expected.
    pub fn read() -> Result<Self, Failure> {
        let Some(file) = state_folder().map(|folder| folder.join(PINS)) else {
            return Ok(Self::default());
        };
        let failed =
            |error: &dyn std::fmt::Display| cannot(&file, "cannot read pinned keys", error);
        match read_regular(&file, BYTES_MAX) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| failed(&error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Returns the key that a contest is expected to have.
    pub fn of(&self, folder: &Path) -> Option<PublicKey> {
        let folder = folder.canonicalize().ok()?;
        self.pins.iter().find(|pin| pin.folder == folder).map(|pin| pin.key)
    }

    /// Sets or removes the key that a contest is expected to have, and writes the file.
    pub fn set(folder: &Path, key: Option<PublicKey>) -> Result<(), Failure> {
        let state = state_folder().ok_or_else(|| {
            Failure::machine("there is no folder for pinned keys: HOME is not set")
                .help("set HOME or XDG_STATE_HOME to an absolute path")
        })?;
        let file = state.join(PINS);
        let failed = |error: io::Error| cannot(&file, "cannot pin the key", &error);
        let folder = folder.canonicalize().map_err(failed)?;
        let mut pins = Self::read()?;
        // A folder that isn't there may only be on another disk.
        pins.pins.retain(|pin| pin.folder != folder);
        pins.pins.extend(key.map(|key| Pin { folder, key }));
        DirBuilder::new().recursive(true).mode(0o700).create(&state).map_err(failed)?;
        let bytes = serde_json::to_vec_pretty(&pins).map_err(|error| failed(error.into()))?;
        replace(&file, &bytes).map_err(failed)
    }
}
