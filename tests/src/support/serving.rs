//! A running web viewer.

use super::http::{Reply, ask};
use super::{Running, TestDir};
use nix::sys::signal::Signal;
use serde_json::Value;

/// A running server.
#[derive(Debug)]
pub struct Serving {
    pub running: Running,
    pub port: u16,
}

impl Serving {
    /// Serves the test's folder with these options.
    pub fn start(dir: &TestDir, options: &[&str]) -> Self {
        let words: Vec<&str> = ["serve", "--port", "0"].iter().chain(options).copied().collect();
        let running = dir.start(&words);
        let url = running.wait_for_stdout("\n");
        let port = url.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next());
        let port = port.and_then(|port| port.trim().parse().ok());
        Self { running, port: port.unwrap_or_else(|| panic!("no port in {url}")) }
    }

    pub fn get(&self, path: &str) -> Reply {
        ask(self.port, "GET", path, &[], "")
    }

    #[track_caller]
    pub fn json(&self, path: &str) -> Value {
        let reply = self.get(path);
        let (status, output) = (reply.status, reply.json());
        assert_eq!(status, 200, "{path}: {output}");
        output
    }

    /// Posts JSON as the page does.
    pub fn post(&self, path: &str, body: &Value) -> Reply {
        let headers = [("content-type", "application/json"), ("x-referee", "1")];
        ask(self.port, "POST", path, &headers, body.to_string())
    }

    pub fn end(self) {
        self.running.send(Signal::SIGINT);
        self.running.wait().code(130);
    }
}
