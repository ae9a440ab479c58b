//! The way to the server, which can be cut, stalled and mended.

use super::server::free_port;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// How often a proxy that has nothing to do looks whether it is to end.
const LOOK: Duration = Duration::from_millis(5);

/// What becomes of what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It arrives.
    Open,
    /// Connections are closed, and new ones too.
    Cut,
    /// Nothing arrives, and nobody is told.
    Stalled,
    /// The proxy ends.
    Gone,
}

/// Somebody who stands between a server and whoever connects to it.
pub(crate) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    way: Mutex<Way>,
    changed: Condvar,
    /// Both ends of all connections.
    ends: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Before the server at this port.
    pub(crate) fn before(server: u16) -> Self {
        let port = free_port();
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let (way, changed, ends) = (Mutex::new(Way::Open), Condvar::new(), Mutex::default());
        let shared = Arc::new(Shared { way, changed, ends });
        let theirs = shared.clone();
        std::thread::spawn(move || theirs.take_connections(&listener, server));
        Self { port, shared }
    }

    /// For whoever is to go through it.
    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Closes all connections, and takes no new ones.
    pub(crate) fn cut(&self) {
        self.shared.set(Way::Cut);
    }

    /// Lets nothing through, and closes nothing: as if packets were lost.
    pub(crate) fn stall(&self) {
        self.shared.set(Way::Stalled);
    }

    /// Lets everything through again, what had stalled first.
    pub(crate) fn mend(&self) {
        self.shared.set(Way::Open);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.set(Way::Gone);
    }
}

impl Shared {
    fn set(&self, way: Way) {
        // Held until all are closed, so that none comes about meanwhile.
        let mut held = self.way.lock().unwrap();
        *held = way;
        self.changed.notify_all();
        if matches!(way, Way::Cut | Way::Gone) {
            for end in self.ends.lock().unwrap().drain(..) {
                end.shutdown(Shutdown::Both).ok();
            }
        }
    }

    fn way(&self) -> Way {
        *self.way.lock().unwrap()
    }

    fn take_connections(self: &Arc<Self>, listener: &TcpListener, server: u16) {
        loop {
            // In this order: whoever comes after a cut is not taken for one who came before.
            match (listener.accept(), self.way()) {
                (_, Way::Gone) => return,
                (Ok((near, _)), Way::Cut) => drop(near),
                (Ok((near, _)), _) => self.join(near, server),
                (Err(error), _) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
                    std::thread::sleep(LOOK);
                }
            }
        }
    }

    fn join(self: &Arc<Self>, near: TcpStream, server: u16) {
        // While the server is down, whoever comes is sent away, as by the server's own machine.
        let Ok(far) = TcpStream::connect(("127.0.0.1", server)) else { return };
        near.set_nonblocking(false).unwrap();
        for end in [&near, &far] {
            end.set_nodelay(true).unwrap();
        }
        let way = self.way.lock().unwrap();
        if matches!(*way, Way::Cut | Way::Gone) {
            return;
        }
        let mut ends = self.ends.lock().unwrap();
        ends.extend([near.try_clone().unwrap(), far.try_clone().unwrap()]);
        for (from, to) in [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)] {
            let shared = self.clone();
            std::thread::spawn(move || shared.pass_on(from, to));
        }
    }

    fn pass_on(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut piece = [0; 16 * 1024];
        loop {
            let count = from.read(&mut piece).unwrap_or(0);
            let way = self.way.lock().unwrap();
            let way = self.changed.wait_while(way, |way| *way == Way::Stalled).unwrap();
            drop(way);
            if count == 0 || to.write_all(&piece[..count]).is_err() {
                break;
            }
        }
        from.shutdown(Shutdown::Both).ok();
        to.shutdown(Shutdown::Both).ok();
    }
}
