//! What canaries are set upon: files, sockets and a process, all made for this.

use super::super::canary::{CANARY_COMMAND, Targets, VICTIM};
use crate::OWN_PROGRAM;
use crate::launcher::Bounds;
use crate::launcher::raw::Segment;
use nix::unistd::Pid;
use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The namespaces that there are, as `/proc` names them.
const NAMESPACES: [&str; 7] = ["user", "pid", "net", "ipc", "uts", "cgroup", "mnt"];

/// All of it. It is gone when this is dropped.
#[derive(Debug)]
pub(super) struct Range {
    folder: TempDir,
    tcp: TcpListener,
    udp: UdpSocket,
    _unix: UnixListener,
    _abstract: UnixListener,
    segment: Option<(Segment, i32)>,
    victim: Victim,
    word: String,
}

/// A process that stays until its stdin ends.
#[derive(Debug)]
struct Victim {
    child: Child,
    address: usize,
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Victim {
    fn start(word: &str) -> io::Result<Self> {
        let mut child = Command::new(OWN_PROGRAM)
            .args([CANARY_COMMAND, VICTIM, word])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take();
        let mut victim = Self { child, address: 0 };
        let mut line = String::new();
        if let Some(stdout) = stdout {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let address = line.trim().parse();
        victim.address = address.map_err(|_| io::Error::other("the self-test's victim is gone"))?;
        Ok(victim)
    }
}

impl Range {
    /// Makes it. All of it may be read and written by anybody, as far as only rights of files
    /// are concerned, so that other layers have to stop it.
    pub(super) fn prepare() -> io::Result<Self> {
        let open = Permissions::from_mode(0o777);
        let folder =
            tempfile::Builder::new().prefix("referee-").permissions(open.clone()).tempdir()?;
        let at = |name: &str| folder.path().join(name);
        fs::set_permissions(folder.path(), open.clone())?;
        for name in ["opponent", "referee", "program"] {
            fs::create_dir(at(name))?;
            fs::set_permissions(at(name), open.clone())?;
        }
        fs::write(at("secret"), "canary")?;
        fs::set_permissions(at("secret"), Permissions::from_mode(0o666))?;
        let unix = UnixListener::bind(at("socket"))?;
        fs::set_permissions(at("socket"), open)?;
        let word = folder
            .path()
            .file_name()
            .map_or_else(String::new, |name| format!("{}-{}", name.to_string_lossy(), Pid::this()));
        let name = SocketAddr::from_abstract_name(&word)?;
        Ok(Self {
            tcp: TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
            udp: UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?,
            _unix: unix,
            _abstract: UnixListener::bind_addr(&name)?,
            segment: segment(),
            victim: Victim::start(&word)?,
            folder,
            word,
        })
    }

    /// The folder that all of it lies in.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of the canaries' program.
    pub(super) fn program(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    /// As a canary with this work folder is told, which stays so long over a limit.
    pub(super) fn targets(
        &self,
        work: &Path,
        bounds: Bounds,
        stay: Duration,
    ) -> io::Result<Targets> {
        let link = |name: &str| {
            let link = fs::read_link(format!("/proc/self/ns/{name}")).ok()?;
            Some((name.to_owned(), link.to_string_lossy().into_owned()))
        };
        Ok(Targets {
            referee: Pid::this().as_raw(),
            victim: self.victim.child.id().cast_signed(),
            word: self.word.clone(),
            daemon: work.file_name().map_or_else(String::new, |it| it.to_string_lossy().into()),
            address: self.victim.address,
            folder: self.folder.path().to_owned(),
            program: self.program(),
            work: work.to_owned(),
            tmp: fs::metadata("/tmp").ok().map(|it| (it.dev(), it.ino())),
            tcp: self.tcp.local_addr()?.port(),
            udp: self.udp.local_addr()?.port(),
            name: self.word.clone(),
            segment: self.segment.as_ref().map_or(0, |&(_, key)| key),
            namespaces: NAMESPACES.into_iter().filter_map(link).collect(),
            files: bounds.files,
            memory_mb: bounds.memory_mb,
            processes: bounds.processes,
            work_mb: bounds.work_mb,
            stay,
        })
    }
}

/// A segment with a key that nobody uses; `None` where the system has none to give.
fn segment() -> Option<(Segment, i32)> {
    let first = Pid::this().as_raw();
    (0..16).map(|turn| first.wrapping_add(turn << 24) | 1 << 23).find_map(|key| {
        let segment = Segment::make(key).ok()?;
        Some((segment, key))
    })
}
