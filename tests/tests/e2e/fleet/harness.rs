//! That the tests' own tools do what they say.

use super::proxy::Proxy;
use super::server::Server;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A connection that has been greeted, and answers.
struct Talk(TcpStream);

impl Talk {
    fn begin(url: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(url.strip_prefix("nats://").unwrap())?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut talk = Self(stream);
        talk.until("INFO ")?;
        talk.0.write_all(b"CONNECT {\"verbose\":false}\r\n")?;
        Ok(talk)
    }

    fn ping(&mut self) -> std::io::Result<()> {
        self.0.write_all(b"PING\r\n")?;
        self.until("PONG\r\n")
    }

    fn until(&mut self, words: &str) -> std::io::Result<()> {
        let mut told = Vec::new();
        while !told.ends_with(words.as_bytes()) {
            let mut byte = [0];
            self.0.read_exact(&mut byte)?;
            told.push(byte[0]);
        }
        Ok(())
    }
}

#[test]
fn a_way_is_cut_stalled_and_mended() {
    let Some(server) = Server::start() else { return };
    let proxy = Proxy::before(server.port);
    let mut talk = Talk::begin(&proxy.url()).unwrap();
    talk.ping().unwrap();
    proxy.stall();
    talk.0.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert!(talk.ping().is_err());
    talk.0.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    proxy.mend();
    talk.until("PONG\r\n").unwrap();
    talk.ping().unwrap();
    proxy.cut();
    assert!(talk.ping().is_err());
    assert!(Talk::begin(&proxy.url()).is_err());
    proxy.mend();
    Talk::begin(&proxy.url()).unwrap().ping().unwrap();
}

#[test]
fn a_server_comes_back_where_it_was() {
    let Some(mut server) = Server::start() else { return };
    let proxy = Proxy::before(server.port);
    let mut talk = Talk::begin(&proxy.url()).unwrap();
    talk.ping().unwrap();
    server.kill();
    assert!(talk.ping().is_err());
    assert!(Talk::begin(&proxy.url()).is_err());
    server.restart();
    Talk::begin(&proxy.url()).unwrap().ping().unwrap();
    assert_eq!(server.tells("/varz")["port"], server.port);
    assert_eq!(server.streams(), Vec::<String>::new());
}
