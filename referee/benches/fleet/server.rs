//! A real NATS server with a store of its own, and its statistics.

use crate::Outcome;
use crate::process::Process;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The timeout for its start.
const START: Duration = Duration::from_secs(30);

/// A server that is stopped when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    /// Ends with this.
    _process: Process,
    /// Its address.
    pub(crate) url: String,
    monitor: String,
}

impl Server {
    /// Starts a server on free ports, with its store in this folder.
    pub(crate) fn start(folder: &Path) -> Outcome<Self> {
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", "-1", "-m", "-1", "-js", "-sd"]);
        command.arg(folder.join("store")).arg("--ports_file_dir").arg(folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = Process::start(command)?;
        let ports = folder.join(format!("nats-server_{}.ports", process.id()));
        let end = Instant::now() + START;
        loop {
            let text = std::fs::read_to_string(&ports).unwrap_or_default();
            if let Ok(statistics) = serde_json::from_str::<Value>(&text)
                && let Some(url) = statistics["nats"][0].as_str()
                && let Some(monitor) = statistics["monitoring"][0].as_str()
            {
                let monitor = monitor.trim_start_matches("http://").to_owned();
                return Ok(Self { _process: process, url: url.to_owned(), monitor });
            }
            if process.ended()?.is_some() || Instant::now() > end {
                return Err("nats-server does not start".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns its statistics under a path such as `/varz`.
    fn statistics(&self, path: &str) -> Outcome<Value> {
        let mut stream = TcpStream::connect(&self.monitor)?;
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").ok_or("an answer without a body")?;
        Ok(serde_json::from_str(body)?)
    }

    /// Returns the number of connections.
    pub(crate) fn connections(&self) -> Outcome<u64> {
        Ok(self.statistics("/varz")?["connections"].as_u64().ok_or("no number of connections")?)
    }
}
