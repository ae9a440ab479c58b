//! Who may use a server: one-time codes, and a token if there is one, are exchanged for sessions.

use super::visitor::Visitor;
use rand::TryRng;
use rand::rngs::SysRng;
use referee_process::Failure;
use referee_process::lock::lock;
use referee_protocol::encode::to_hex;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The length of a code and of a session's number in random bytes.
const SECRET_BYTES: usize = 16;
/// How many wrong tokens in a row are looked at at once from one address, so that a class can mistype; and how long each of
/// them counts, and further tokens wait. A few dozen may wait at once, which are too few to find one. Right ones aren't
/// refused with them: many visitors may share an address, such as that of a proxy, and one of them guesses.
pub(super) const WRONG_TOKENS_MAX: u32 = 20;
const WRONG_TOKEN_COUNTS: Duration = Duration::from_secs(10);
/// The most addresses with wrong tokens that are remembered.
const ADDRESSES_MAX: usize = 10_000;

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

/// The result of presenting a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// It fits; the new session.
    Session(String),
    Wrong,
}

/// The secrets of a server.
#[derive(Debug)]
pub(super) struct Access {
    token: Option<Secret>,
    /// The code that works once; then another takes its place.
    code: watch::Sender<String>,
    /// What sessions are made from. They are not stored, so however many there are, none ends another.
    session_key: [u8; 32],
    wrong_tokens: Mutex<WrongTokens>,
}

/// Counts the wrong tokens of each address.
#[derive(Debug, Default)]
struct WrongTokens(BTreeMap<Visitor, (u32, Instant)>);

impl WrongTokens {
    /// Returns how many count now.
    fn count(&self, visitor: Visitor, now: Instant) -> u32 {
        self.0.get(&visitor).map_or(0, |(count, at)| {
            let since = now.saturating_duration_since(*at).as_secs() / WRONG_TOKEN_COUNTS.as_secs();
            count.saturating_sub(u32::try_from(since).unwrap_or(u32::MAX))
        })
    }

    fn add(&mut self, visitor: Visitor, now: Instant) {
        let count = self.count(visitor, now) + 1;
        if self.0.len() >= ADDRESSES_MAX
            && let Some(oldest) = self.0.iter().min_by_key(|(_, (_, at))| *at)
        {
            let oldest = *oldest.0;
            self.0.remove(&oldest);
        }
        self.0.insert(visitor, (count, now));
    }
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
        let code = watch::Sender::new(to_hex(&random::<SECRET_BYTES>()?));
        let wrong_tokens = Mutex::default();
        Ok(Some(Self { token, code, session_key: random()?, wrong_tokens }))
    }

    /// Returns the code that works next, and its changes.
    pub(super) fn code(&self) -> watch::Receiver<String> {
        self.code.subscribe()
    }

    /// Returns how long a key has to wait before it is exchanged. Codes are too long to be guessed.
    pub(super) fn pause(&self, key: Key<'_>, from: Visitor) -> Duration {
        let is_token = matches!(key, Key::Token(_));
        let count = lock(&self.wrong_tokens).count(from, Instant::now());
        if is_token && count >= WRONG_TOKENS_MAX { WRONG_TOKEN_COUNTS } else { Duration::ZERO }
    }

    /// Exchanges a key for a new session; a code then no longer works.
    pub(super) fn exchange(&self, key: Key<'_>, from: Visitor) -> Result<Exchange, Failure> {
        let (number, next) = (random::<SECRET_BYTES>()?, random::<SECRET_BYTES>()?);
        let fits = match key {
            Key::Token(given) => self.token.as_ref().is_some_and(|token| token.is(given)),
            Key::Code(given) => self.code.send_if_modified(|code| {
                let fits = Secret::of(code).is(given);
                if fits {
                    *code = to_hex(&next);
                }
                fits
            }),
        };
        if fits {
            let number = to_hex(&number);
            return Ok(Exchange::Session(number.clone() + &self.mark(&number)));
        }
        if let Key::Token(_) = key {
            lock(&self.wrong_tokens).add(from, Instant::now());
        }
        Ok(Exchange::Wrong)
    }

    /// Whether this server made the session.
    pub(super) fn has_session(&self, session: &str) -> bool {
        let parts = session.split_at_checked(2 * SECRET_BYTES);
        parts.is_some_and(|(number, mark)| Secret::of(&self.mark(number)).is(mark))
    }

    /// Returns what only this server can add to a session's number.
    fn mark(&self, number: &str) -> String {
        // Key and number have fixed lengths, and half of the hash is kept, so it can't be continued.
        let hash = Sha256::new().chain_update(self.session_key).chain_update(number).finalize();
        to_hex(&hash[..SECRET_BYTES])
    }
}

fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes).map_err(|error| {
        Failure::machine(format!("cannot get random bytes from the system: {error}"))
    })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Access, Exchange, Key, Visitors, WRONG_TOKEN_COUNTS, WRONG_TOKENS_MAX};
    use crate::visitor::Visitor;
    use std::time::Duration;

    fn access() -> Access {
        Access::new(&Visitors::WithCodeOrToken("secret-1".to_owned())).unwrap().unwrap()
    }

    fn session(access: &Access) -> String {
        match access.exchange(Key::Token("secret-1"), Visitor::of([10, 0, 0, 1].into())).unwrap() {
            Exchange::Session(session) => session,
            Exchange::Wrong => panic!("the key is right"),
        }
    }

    #[test]
    fn guesses_wait_and_no_right_key_is_refused() {
        let access = access();
        let [attacker, other] = [[10, 0, 0, 2], [10, 0, 0, 3]].map(|it| Visitor::of(it.into()));
        let guess = |key: Key<'_>, from| access.exchange(key, from).unwrap();
        let code = access.code().borrow().clone();
        let pause = |key: Key<'_>, from| access.pause(key, from);
        for guessed in (0..WRONG_TOKENS_MAX).map(|number| format!("guess-{number}")) {
            assert_eq!(guess(Key::Code(&guessed), other), Exchange::Wrong);
            let key = Key::Token(&guessed);
            assert_eq!(
                (pause(key, attacker), guess(key, attacker)),
                (Duration::ZERO, Exchange::Wrong)
            );
        }
        let right = Key::Token("secret-1");
        assert_eq!(pause(Key::Token("secret-2"), attacker), WRONG_TOKEN_COUNTS);
        assert_eq!(pause(right, attacker), WRONG_TOKEN_COUNTS);
        assert_eq!(pause(Key::Code(&code), attacker), Duration::ZERO);
        assert_eq!(pause(right, other), Duration::ZERO);
        assert!(matches!(guess(right, attacker), Exchange::Session(_)));
        assert!(matches!(guess(Key::Code(&code), attacker), Exchange::Session(_)));
    }

    #[test]
    fn no_session_ends_another() {
        let access = access();
        let first = session(&access);
        let others: Vec<String> = (0..2000).map(|_| session(&access)).collect();
        assert!(access.has_session(&first) && others.iter().all(|it| access.has_session(it)));
        assert!(others.iter().all(|it| *it != first));
    }

    #[test]
    fn a_session_can_not_be_made_elsewhere() {
        let access = access();
        let own = session(&access);
        for wrong in [
            "",
            "secret-1",
            &own[..own.len() - 1],
            &own[1..],
            &format!("{own}0"),
            &format!("0{}", &own[1..]).replace(&own, "x"),
            &own.to_uppercase(),
            &session(&self::access()),
            "\u{e9}".repeat(32).as_str(),
        ] {
            assert!(!access.has_session(wrong), "{wrong}");
        }
    }
}
