//! A real NATS server with its own store, which can be killed and restarted.

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

/// Below the ephemeral ports, so that a port is still free after a restart.
const PORTS: std::ops::Range<u16> = 12_000..32_000;
/// Folders outside of a user's PATH; Debian installs it there.
const MORE_FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// Finds the server's program. Without it, reports a skipped test and returns `None`.
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

/// Returns a free port that no other test uses.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let count = PORTS.end - PORTS.start;
    // Different runs of the tests start at different ports.
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

/// A running server. Dropping it kills the process and deletes its store.
pub(crate) struct Server {
    program: &'static Path,
    folder: TempDir,
    /// The port for clients.
    pub(crate) port: u16,
    /// The port for HTTP monitoring.
    pub(crate) monitor: u16,
    /// More lines of its configuration file.
    more: String,
    child: Child,
}

impl Server {
    /// Starts a server with `JetStream` and without authentication; `None` without nats-server.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with("")
    }

    /// Starts a server with more lines in its configuration file.
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

    /// Returns the address for clients.
    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Sends SIGKILL and waits.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Restarts it with the same port and store.
    pub(crate) fn restart(&mut self) {
        self.child = self.spawn();
        self.wait_until_it_listens();
    }

    /// Restarts it with other lines in its configuration file.
    pub(crate) fn restart_with(&mut self, more: &str) {
        more.clone_into(&mut self.more);
        self.restart();
    }

    /// Deletes its store. Call only while it is down.
    pub(crate) fn delete_store(&self) {
        fs::remove_dir_all(self.folder.path().join("store")).unwrap();
    }

    fn spawn(&self) -> Child {
        spawn(self.program, self.folder.path(), self.port, self.monitor, &self.more)
    }

    fn wait_until_it_listens(&mut self) {
        let listens = eventually(|| {
            if self.child.try_wait().unwrap().is_some() {
                // An old connection may hold the port for a moment.
                std::thread::sleep(Duration::from_millis(100));
                self.child = self.spawn();
            }
            greets(self.port)
        });
        assert!(listens, "the server doesn't start: {}", self.log());
    }

    /// Returns the server's log.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Reads monitoring data from a path such as `/jsz?streams=true`.
    pub(crate) fn monitoring(&self, path: &str) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.monitor)).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").expect("an answer has a body").1;
        serde_json::from_str(body).unwrap()
    }

    /// Returns the names of all streams, including buckets.
    pub(crate) fn streams(&self) -> Vec<String> {
        self.stream_sizes().into_iter().map(|(name, _)| name).collect()
    }

    /// Returns the name and the number of messages of every stream.
    pub(crate) fn stream_sizes(&self) -> Vec<(String, u64)> {
        let output = self.monitoring("/jsz?streams=true");
        let accounts = output["account_details"].as_array().into_iter().flatten();
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

/// Returns whether the server greets a new connection, which it does before TLS.
fn greets(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut begin = [0; 5];
    stream.read_exact(&mut begin).is_ok() && begin == *b"INFO "
}
