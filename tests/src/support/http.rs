//! A minimal HTTP client: requests with any header, and streamed bodies.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The timeout of every wait: only a hang takes longer.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A response.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    /// Names are in lower case.
    pub headers: BTreeMap<String, String>,
    body: Body,
}

/// The body of a response.
#[derive(Debug)]
struct Body {
    stream: BufReader<TcpStream>,
    chunked: bool,
    /// The bytes left of the body or of the current chunk.
    left: u64,
}

/// Sends a request with these headers; `host` is optional.
pub fn ask(
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl AsRef<[u8]>,
) -> Reply {
    let body = body.as_ref();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    if headers.iter().all(|(name, _)| *name != "host") {
        write!(text, "host: 127.0.0.1:{port}\r\n").unwrap();
    }
    for (name, value) in headers {
        write!(text, "{name}: {value}\r\n").unwrap();
    }
    write!(text, "content-length: {}\r\n\r\n", body.len()).unwrap();
    stream.write_all(&[text.as_bytes(), body].concat()).unwrap();
    let mut stream = BufReader::new(stream);
    let status = line(&mut stream).split(' ').nth(1).unwrap().parse().unwrap();
    let mut output = BTreeMap::new();
    loop {
        let line = line(&mut stream);
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").unwrap();
        output.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let chunked = output.get("transfer-encoding").is_some_and(|value| value == "chunked");
    let left = output.get("content-length").map_or(0, |length| length.parse().unwrap());
    Reply { status, headers: output, body: Body { stream, chunked, left } }
}

fn line(stream: &mut impl BufRead) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    line.trim_end_matches(['\r', '\n']).to_owned()
}

impl Read for Body {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 && self.chunked {
            let mut length = line(&mut self.stream);
            if length.is_empty() {
                length = line(&mut self.stream);
            }
            self.left = u64::from_str_radix(&length, 16).unwrap_or(0);
            self.chunked = self.left > 0;
        }
        let count = (&mut self.stream).take(self.left).read(into)?;
        self.left -= count as u64;
        Ok(count)
    }
}

impl Reply {
    pub fn bytes(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.body.read_to_end(&mut bytes).unwrap();
        bytes
    }

    pub fn text(mut self) -> String {
        let mut text = String::new();
        self.body.read_to_string(&mut text).unwrap();
        text
    }

    #[track_caller]
    pub fn json(self) -> Value {
        let status = self.status;
        let text = self.text();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{status}: {error}: {text}"))
    }

    /// Reads the events of a stream: name, id, data.
    pub fn events(self) -> impl Iterator<Item = (String, String, String)> {
        let mut lines = BufReader::new(self.body).lines();
        std::iter::from_fn(move || {
            let (mut name, mut id, mut data) = (String::new(), String::new(), String::new());
            loop {
                let line = lines.next()?.unwrap();
                match line.split_once(": ") {
                    Some(("event", value)) => value.clone_into(&mut name),
                    Some(("id", value)) => value.clone_into(&mut id),
                    Some(("data", value)) => value.clone_into(&mut data),
                    _ if line.is_empty() && !name.is_empty() => return Some((name, id, data)),
                    _ => {}
                }
            }
        })
    }
}
