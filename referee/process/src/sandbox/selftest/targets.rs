//! What attackers attack: files, sockets and a process, all made for this.

use super::super::attacker::{ATTACKER_COMMAND, PROGRAM, Targets, VICTIM};
use crate::files::own_program;
use crate::launcher::raw::Segment;
use nix::unistd::Pid;
use referee_protocol::Limits;
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

/// The kinds of namespaces, as named in `/proc`.
const NAMESPACES: [&str; 7] = ["user", "pid", "net", "ipc", "uts", "cgroup", "mnt"];

/// All targets; removed on drop.
#[derive(Debug)]
pub(super) struct TestTargets {
    /// Has all targets.
    pub(super) folder: TempDir,
    _victim: Victim,
    _sockets: (TcpListener, UdpSocket, UnixListener, UnixListener),
    _segment: Option<Segment>,
    targets: Targets,
}

/// A process that stays until its stdin ends.
#[derive(Debug)]
struct Victim(Child);

impl Drop for Victim {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Victim {
    /// Starts it, and returns the address of eight bytes in its memory.
    fn start(word: &str) -> io::Result<(Self, usize)> {
        let mut child = Command::new(own_program())
            .args([ATTACKER_COMMAND, VICTIM, word])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take();
        let victim = Self(child);
        let mut line = String::new();
        if let Some(stdout) = stdout {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let address = line.trim().parse();
        Ok((victim, address.map_err(|_| io::Error::other("the self-test's victim process ended"))?))
    }
}

impl TestTargets {
    /// Makes the targets, for attackers with these limits. File permissions allow everything, so
    /// that other layers have to stop it.
    pub(super) fn prepare(limits: Limits) -> io::Result<Self> {
        let open = Permissions::from_mode(0o777);
        let folder =
            tempfile::Builder::new().prefix("referee-").permissions(open.clone()).tempdir()?;
        let at = |name: &str| folder.path().join(name);
        fs::set_permissions(folder.path(), open.clone())?;
        for name in ["opponent", "referee", PROGRAM] {
            fs::create_dir(at(name))?;
            fs::set_permissions(at(name), open.clone())?;
        }
        fs::write(at("secret"), "attack")?;
        fs::set_permissions(at("secret"), Permissions::from_mode(0o666))?;
        let unix = UnixListener::bind(at("socket"))?;
        fs::set_permissions(at("socket"), open)?;
        let word = format!("{}-{}", name_of(folder.path()), Pid::this());
        let name = SocketAddr::from_abstract_name(&word)?;
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (segment, key) = segment().unzip();
        let (victim, address) = Victim::start(&word)?;
        let targets = Targets {
            referee: Pid::this().as_raw(),
            victim: victim.0.id().cast_signed(),
            daemon: String::new(),
            address,
            folder: folder.path().to_owned(),
            work: PathBuf::new(),
            tmp: fs::metadata("/tmp").ok().map(|it| (it.dev(), it.ino())),
            tcp: tcp.local_addr()?.port(),
            udp: udp.local_addr()?.port(),
            segment: key.unwrap_or(0),
            namespaces: NAMESPACES.into_iter().filter_map(namespace).collect(),
            limits,
            stay: Duration::ZERO,
            word,
        };
        let sockets = (tcp, udp, unix, UnixListener::bind_addr(&name)?);
        Ok(Self { folder, _victim: victim, _sockets: sockets, _segment: segment, targets })
    }

    /// Returns the targets for an attacker with this work folder, which stays this long over a
    /// limit.
    pub(super) fn targets(&self, work: &Path, stay: Duration) -> Targets {
        let work = work.to_owned();
        Targets { daemon: name_of(&work), work, stay, ..self.targets.clone() }
    }
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the referee's own namespace of this kind.
fn namespace(kind: &str) -> Option<(String, String)> {
    let link = fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
    Some((kind.to_owned(), link.to_string_lossy().into_owned()))
}

/// Makes a segment with an unused key; `None` if the system has none.
fn segment() -> Option<(Segment, i32)> {
    let first = Pid::this().as_raw();
    (0..16).map(|turn| first.wrapping_add(turn << 24) | 1 << 23).find_map(|key| {
        let segment = Segment::make(key).ok()?;
        Some((segment, key))
    })
}
