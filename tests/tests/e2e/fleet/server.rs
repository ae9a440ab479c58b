//! A real NATS server with a store of its own, which can be killed and started again.

use crate::support::{eventually, skip};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Below those that a system gives to connections, so that one is free still after a restart.
const PORTS: std::ops::Range<u16> = 12_000..32_000;
/// Debian has it where only root looks.
const MORE_FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// The server's program; `None`, and a line that says so, where there is none and the tests that need
/// it may be left out.
pub(crate) fn nats_server() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).chain(MORE_FOLDERS.map(PathBuf::from));
        folders.map(|folder| folder.join("nats-server")).find(|program| program.is_file())
    });
    if found.is_none() {
        skip("nats-server");
    }
    found.as_deref()
}

/// A port that nobody has, and that no other test asks for.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let count = PORTS.end - PORTS.start;
    // Another run of the tests begins elsewhere.
    let first = u16::try_from(std::process::id() % u32::from(count)).unwrap();
    for _ in 0..count {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = PORTS.start + (first + step % count) % count;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no port is free");
}

/// A server. It ends with its owner, and what it has kept goes with it.
pub(crate) struct Server {
    program: &'static Path,
    folder: TempDir,
    /// Where it takes connections.
    pub(crate) port: u16,
    /// Where it tells of itself, over HTTP.
    pub(crate) monitor: u16,
    /// What else is in its configuration file.
    more: String,
    child: Child,
}

impl Server {
    /// A server with `JetStream` that lets in everybody; `None` where there is none to be had.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with("")
    }

    /// The same with more in its configuration file.
    pub(crate) fn start_with(more: &str) -> Option<Self> {
        let program = nats_server()?;
        let folder = TempDir::with_prefix("referee-tests-nats-").unwrap();
        let (port, monitor) = (free_port(), free_port());
        let child = spawn(program, folder.path(), port, monitor, more);
        let more = more.to_owned();
        let mut server = Self { program, folder, port, monitor, more, child };
        server.wait_until_it_listens();
        Some(server)
    }

    /// For whoever connects to it straight.
    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again where it was, with what it had kept.
    pub(crate) fn restart(&mut self) {
        self.child = self.spawn();
        self.wait_until_it_listens();
    }

    /// The same with this in its configuration file.
    pub(crate) fn restart_with(&mut self, more: &str) {
        more.clone_into(&mut self.more);
        self.restart();
    }

    /// What it had kept is gone. Only while it is down.
    pub(crate) fn forget(&self) {
        fs::remove_dir_all(self.folder.path().join("store")).unwrap();
    }

    fn spawn(&self) -> Child {
        spawn(self.program, self.folder.path(), self.port, self.monitor, &self.more)
    }

    fn wait_until_it_listens(&mut self) {
        let listens = eventually(|| {
            if self.child.try_wait().unwrap().is_some() {
                // A connection that was not told of the end may hold the port for a moment.
                std::thread::sleep(Duration::from_millis(100));
                self.child = self.spawn();
            }
            greets(self.port)
        });
        assert!(listens, "the server doesn't start: {}", self.log());
    }

    /// What it has said so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// What it tells of itself under a path such as `/jsz?streams=true`.
    pub(crate) fn tells(&self, path: &str) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.monitor)).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").expect("an answer has a body").1;
        serde_json::from_str(body).unwrap()
    }

    /// The names of all streams that it keeps, buckets among them.
    pub(crate) fn streams(&self) -> Vec<String> {
        self.kept().into_iter().map(|(name, _)| name).collect()
    }

    /// The same, each with how many messages are in it.
    pub(crate) fn kept(&self) -> Vec<(String, u64)> {
        let told = self.tells("/jsz?streams=true");
        let accounts = told["account_details"].as_array().into_iter().flatten();
        let streams = accounts.flat_map(|it| it["stream_detail"].as_array().into_iter().flatten());
        let one = |stream: &Value| {
            let name = stream["name"].as_str().unwrap().to_owned();
            (name, stream["state"]["messages"].as_u64().unwrap())
        };
        streams.map(one).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn spawn(program: &Path, folder: &Path, port: u16, monitor: u16, more: &str) -> Child {
    let file = folder.join("server.conf");
    let store = folder.join("store");
    let text = format!(
        "listen: \"127.0.0.1:{port}\"\nhttp: \"127.0.0.1:{monitor}\"\n\
         jetstream {{ store_dir: \"{}\" }}\n{more}\n",
        store.display()
    );
    fs::write(&file, text).unwrap();
    let log = File::options().append(true).create(true).open(folder.join("log")).unwrap();
    let mut command = Command::new(program);
    command.arg("-c").arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command.spawn().unwrap()
}

/// A server greets whoever connects, before anything is kept safe.
fn greets(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut begin = [0; 5];
    stream.read_exact(&mut begin).is_ok() && begin == *b"INFO "
}
