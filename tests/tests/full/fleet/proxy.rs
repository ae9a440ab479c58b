//! A TCP proxy in front of the server, which can be cut, stalled and restored.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// How often an idle proxy checks its state.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// What the proxy does with connections and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProxyState {
    /// Forwards everything.
    Open,
    /// Closes connections, also new ones.
    Cut,
    /// Keeps connections open and forwards nothing.
    Stalled,
    /// Ends the proxy's threads.
    Gone,
}

/// A proxy between a server and its clients.
pub(crate) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<ProxyState>,
    changed: Condvar,
    /// Both ends of all connections.
    ends: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Starts a proxy for the server at this port.
    pub(crate) fn start(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        listener.set_nonblocking(true).unwrap();
        let (state, changed, ends) =
            (Mutex::new(ProxyState::Open), Condvar::new(), Mutex::default());
        let shared = Arc::new(Shared { state, changed, ends });
        let theirs = shared.clone();
        std::thread::spawn(move || theirs.take_connections(&listener, server));
        Self { port, shared }
    }

    /// Returns the address for clients.
    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Closes all connections and refuses new ones.
    pub(crate) fn cut(&self) {
        self.shared.set(ProxyState::Cut);
    }

    /// Forwards nothing and closes nothing, as if packets were lost.
    pub(crate) fn stall(&self) {
        self.shared.set(ProxyState::Stalled);
    }

    /// Forwards everything again, starting with stalled bytes.
    pub(crate) fn restore(&self) {
        self.shared.set(ProxyState::Open);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.set(ProxyState::Gone);
    }
}

impl Shared {
    fn set(&self, state: ProxyState) {
        // Held until all are closed, so no connection is added meanwhile.
        let mut held = self.state.lock().unwrap();
        *held = state;
        self.changed.notify_all();
        if matches!(state, ProxyState::Cut | ProxyState::Gone) {
            for end in self.ends.lock().unwrap().drain(..) {
                end.shutdown(Shutdown::Both).ok();
            }
        }
    }

    fn state(&self) -> ProxyState {
        *self.state.lock().unwrap()
    }

    fn take_connections(self: &Arc<Self>, listener: &TcpListener, server: u16) {
        loop {
            // Accept before reading the state: a connection made after a cut must see it.
            match (listener.accept(), self.state()) {
                (_, ProxyState::Gone) => return,
                (Ok((near, _)), ProxyState::Cut) => drop(near),
                (Ok((near, _)), _) => self.join(near, server),
                (Err(error), _) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
                    std::thread::sleep(POLL_INTERVAL);
                }
            }
        }
    }

    fn join(self: &Arc<Self>, near: TcpStream, server: u16) {
        // While the server is down, connections are closed.
        let Ok(far) = TcpStream::connect(("127.0.0.1", server)) else { return };
        near.set_nonblocking(false).unwrap();
        for end in [&near, &far] {
            end.set_nodelay(true).unwrap();
        }
        let state = self.state.lock().unwrap();
        if matches!(*state, ProxyState::Cut | ProxyState::Gone) {
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
            let state = self.state.lock().unwrap();
            let state =
                self.changed.wait_while(state, |state| *state == ProxyState::Stalled).unwrap();
            drop(state);
            if count == 0 || to.write_all(&piece[..count]).is_err() {
                break;
            }
        }
        from.shutdown(Shutdown::Both).ok();
        to.shutdown(Shutdown::Both).ok();
    }
}
