//! Who may use a server: one-time codes, and a token if there is one, are exchanged for sessions.

use rand::TryRng;
use rand::rngs::SysRng;
use referee_process::Failure;
use referee_process::lock::lock;
use referee_protocol::encode::to_hex;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::sync::Mutex;
use tokio::sync::watch;

/// The length of a code and of a session in random bytes.
const SECRET_BYTES: usize = 16;
/// The most sessions; a further one ends the oldest.
const SESSIONS_MAX: usize = 1000;

/// Who may use a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Visitors {
    Everyone,
    /// One browser for each code.
    WithCode,
    /// The same, and everyone who has the token.
    WithCodeOrToken(String),
}

/// What a visitor presents in the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key<'a> {
    Code(&'a str),
    Token(&'a str),
}

/// The secrets of a server.
#[derive(Debug)]
pub(super) struct Access {
    token: Option<Secret>,
    /// The code that works once; then another takes its place.
    code: watch::Sender<String>,
    sessions: Mutex<VecDeque<Secret>>,
}

/// The hash of a secret, compared in constant time.
#[derive(Clone, Debug)]
struct Secret([u8; 32]);

impl Secret {
    fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    fn is(&self, text: &str) -> bool {
        let given = Self::of(text);
        self.0.iter().zip(given.0).fold(0, |different, (a, b)| different | (a ^ b)) == 0
    }
}

impl Access {
    /// Makes the secrets; none if everyone may visit.
    pub(super) fn new(visitors: &Visitors) -> Result<Option<Self>, Failure> {
        let token = match visitors {
            Visitors::Everyone => return Ok(None),
            Visitors::WithCode => None,
            Visitors::WithCodeOrToken(token) => Some(Secret::of(token)),
        };
        let code = watch::Sender::new(new_secret()?);
        Ok(Some(Self { token, code, sessions: Mutex::default() }))
    }

    /// Returns the code that works next, and its changes.
    pub(super) fn code(&self) -> watch::Receiver<String> {
        self.code.subscribe()
    }

    /// Exchanges a key for a new session; a code then no longer works.
    pub(super) fn exchange(&self, key: Key<'_>) -> Option<String> {
        let (session, next) = (new_secret().ok()?, new_secret().ok()?);
        let fits = match key {
            Key::Token(given) => self.token.as_ref().is_some_and(|token| token.is(given)),
            Key::Code(given) => self.code.send_if_modified(|code| {
                let fits = Secret::of(code).is(given);
                if fits {
                    *code = next;
                }
                fits
            }),
        };
        if !fits {
            return None;
        }
        let mut sessions = lock(&self.sessions);
        if sessions.len() == SESSIONS_MAX {
            sessions.pop_front();
        }
        sessions.push_back(Secret::of(&session));
        Some(session)
    }

    pub(super) fn has_session(&self, session: &str) -> bool {
        lock(&self.sessions).iter().any(|known| known.is(session))
    }
}

fn new_secret() -> Result<String, Failure> {
    let mut bytes = [0; SECRET_BYTES];
    SysRng.try_fill_bytes(&mut bytes).map_err(|error| {
        Failure::machine(format!("cannot get random bytes from the system: {error}"))
    })?;
    Ok(to_hex(&bytes))
}
