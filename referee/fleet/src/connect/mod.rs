//! The connection to the server: credentials, TLS and error messages. Secrets are never printed.

mod address;
mod events;
mod errors;

pub use events::PermissionDenied;

use address::Addresses;
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectError, ConnectOptions, Event, ServerError};
use errors::{answered_error, connect_failure, is_passing, is_refused, no_answer};
use events::is_not_admitted;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The interval of pings. After four without an answer the connection is lost.
const PING: Duration = Duration::from_secs(5);
/// The timeout for connecting.
const CONNECT: Duration = Duration::from_secs(10);
/// Where answers come to coordinators and to workers. A worker's permissions need not include the former: who knows where
/// another waits for an answer can have the server send much there.
const COORDINATOR_INBOX: &str = "_INBOX.coordinators";
const WORKER_INBOX: &str = "_INBOX.workers";
/// How many messages of a subscription wait in memory; more are lost. A bundle arrives in half as many.
const UNREAD_MAX: usize = 4096;
/// The shortest and the longest delay between attempts to connect for the first time.
const PATIENT_DELAY: Duration = Duration::from_millis(500);
const PATIENT_DELAY_MAX: Duration = Duration::from_secs(10);
/// How long a server that was just started may take until it listens.
const STARTING: Duration = Duration::from_secs(5);
/// The delay between attempts until it does.
const STARTING_DELAY: Duration = Duration::from_millis(200);
/// A subject that every server with `JetStream` answers.
const ACCOUNT: &str = "$JS.API.INFO";
/// The oldest supported version of the server.
const OLDEST_SERVER: (i64, i64, i64) = (2, 9, 0);

/// The address of the server and the credentials. A user in the address takes precedence.
#[derive(Clone, Default)]
pub struct Server {
    /// `nats://HOST:PORT` or `tls://HOST:PORT`, several separated by commas, with `USER:PASSWORD@`
    /// or `TOKEN@` before the host.
    pub url: String,
    /// User and password.
    pub user: Option<(String, String)>,
    /// A token.
    pub token: Option<String>,
    /// A credentials file.
    pub creds: Option<PathBuf>,
    /// A file with the seed of an nkey.
    pub nkey: Option<PathBuf>,
    /// A PEM file of trusted certificate authorities, instead of the system's.
    pub tls_ca: Option<PathBuf>,
    /// The client's certificate and its key.
    pub tls_own: Option<(PathBuf, PathBuf)>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("url", &self.display_url()).finish_non_exhaustive()
    }
}

/// A connection. The library reconnects forever when it is lost.
#[derive(Clone, Debug)]
pub struct Connection {
    /// For messages that the server does not store.
    pub client: Client,
    /// For messages that the server stores.
    pub jetstream: Context,
    /// Whether it is connected.
    pub up: watch::Receiver<bool>,
    denied: watch::Receiver<Option<PermissionDenied>>,
}

impl Connection {
    /// Returns whether it is connected.
    pub fn is_up(&self) -> bool {
        *self.up.borrow()
    }

    /// Returns the server's last permission error. The server does not answer a request that is
    /// not permitted, so this is why it failed.
    pub fn denied(&self) -> Option<PermissionDenied> {
        self.denied.borrow().clone()
    }

    /// Returns the result of `work`, or the server's permission error as soon as there is one:
    /// then there is no answer to wait for.
    pub async fn unless_denied<T>(
        &self,
        work: impl Future<Output = Result<T, String>>,
    ) -> Result<T, String> {
        let mut denied = self.denied.clone();
        tokio::select! {
            result = work => result,
            Ok(denied) = denied.wait_for(Option::is_some) => {
                Err(denied.as_ref().map(ToString::to_string).unwrap_or_default())
            }
        }
    }

    /// Logs permission errors from now on. `shown` is the server's address.
    pub fn log_denied(&self, shown: String) {
        let mut denied = self.denied.clone();
        denied.mark_unchanged();
        tokio::spawn(async move {
            while denied.changed().await.is_ok() {
                if let Some(denied) = &*denied.borrow_and_update() {
                    tracing::warn!("{shown}: {denied}");
                }
            }
        });
    }

    /// Returns a failure, with help if the cause is a missing permission.
    pub fn failure(&self, what: &str) -> Failure {
        match self.denied() {
            Some(denied) => Failure::machine(format!("{what}: {denied}")).help(
                "this user lacks a permission: docs/fleet-security.md leads to those that \
                 coordinators and workers need",
            ),
            None => Failure::machine(what),
        }
    }
}

impl Server {
    /// Returns its address without secrets.
    pub fn display_url(&self) -> String {
        Addresses::read(&self.url).map_or_else(|_| "the server".to_owned(), |it| it.display_url())
    }

    /// Connects, or returns why it can't. A server that was just started may not listen yet, so
    /// refused or closed connections are retried for some seconds.
    pub async fn connect(&self, name: &str) -> Result<Connection, Failure> {
        let began = Instant::now();
        let starts = |error: &NotConnected| error.refused && began.elapsed() < STARTING;
        let delay = |error: &NotConnected| starts(error).then_some(STARTING_DELAY);
        self.retry((name, COORDINATOR_INBOX), delay).await
    }

    /// Connects a worker, and keeps trying while the server can't be reached; calls `note` with the first
    /// error. Errors that trying again does not fix, such as a wrong password, are returned at
    /// once.
    pub async fn connect_patiently(
        &self,
        name: &str,
        note: impl FnOnce(&Failure),
    ) -> Result<Connection, Failure> {
        let (mut note, mut delay) = (Some(note), PATIENT_DELAY / 2);
        let connection = self.retry((name, WORKER_INBOX), |error| {
            if let Some(note) = note.take_if(|_| error.passing) {
                note(&error.failure);
            }
            delay = (delay * 2).min(PATIENT_DELAY_MAX);
            error.passing.then_some(delay)
        });
        let connection = connection.await?;
        connection.log_denied(self.display_url());
        Ok(connection)
    }

    /// Connects with a name and a prefix of inboxes; after an error tries again after the returned delay, if there is one.
    async fn retry(
        &self,
        as_whom: (&str, &str),
        mut delay_after: impl FnMut(&NotConnected) -> Option<Duration>,
    ) -> Result<Connection, Failure> {
        loop {
            let error = match self.attempt(as_whom).await {
                Ok(connection) => return Ok(connection),
                Err(error) => error,
            };
            let Some(delay) = delay_after(&error) else { return Err(error.failure) };
            tracing::debug!("not connected: {}", error.failure);
            tokio::time::sleep(delay).await;
        }
    }

    /// Tries to connect once. The library's own retries do not report why they fail.
    async fn attempt(&self, (name, inbox): (&str, &str)) -> Result<Connection, NotConnected> {
        // Errors in the arguments are found without the server.
        let addresses = Addresses::read(&self.url)?;
        let options = self.with_tls(ConnectOptions::new().name(name))?;
        let options = self.with_credentials(options, &addresses)?;
        let options = options.connection_timeout(CONNECT).ping_interval(PING);
        let options = options.custom_inbox_prefix(inbox).subscription_capacity(UNREAD_MAX);
        self.connect_once(options, &addresses).await
    }

    /// Adds certificates. Options for certificates require TLS.
    fn with_tls(&self, mut options: ConnectOptions) -> Result<ConnectOptions, Failure> {
        if let Some(file) = &self.tls_ca {
            if !secret(file)?.contains("BEGIN CERTIFICATE") {
                let file = sanitize(&file.display().to_string());
                return Err(Failure::usage(format!("{file}: no certificate found")).help(
                    "--tls-ca must name a PEM file; docs/fleet-security.md shows how to make one",
                ));
            }
            options = options.add_root_certificates(file.clone()).require_tls(true);
        }
        if let Some((certificate, key)) = &self.tls_own {
            [certificate, key].into_iter().try_for_each(|file| secret(file).map(drop))?;
            options = options.add_client_certificate(certificate.clone(), key.clone());
            options = options.require_tls(true);
        }
        Ok(options)
    }

    /// Adds credentials.
    fn with_credentials(
        &self,
        options: ConnectOptions,
        addresses: &Addresses,
    ) -> Result<ConnectOptions, Failure> {
        if let Some((user, password)) = addresses.user.as_ref() {
            return Ok(match password {
                Some(password) => options.user_and_password(user.clone(), password.clone()),
                None => options.token(user.clone()),
            });
        }
        if let Some(file) = &self.creds {
            let text = secret(file)?;
            return options.credentials(&text).map_err(|_| {
                Failure::usage(format!("{}: no credentials found", file.display()))
                    .help("`nsc generate creds` prints such a file")
            });
        }
        if let Some(file) = &self.nkey {
            let text = secret(file)?;
            let seed = text.lines().map(str::trim).find(|line| line.starts_with("SU"));
            let seed = seed.ok_or_else(|| {
                Failure::usage(format!("{}: no seed of a user's nkey found", file.display()))
                    .help("a seed begins with SU; `nsc generate nkey --user` creates one")
            })?;
            return Ok(options.nkey(seed.to_owned()));
        }
        if let Some((user, password)) = self.user.clone() {
            return Ok(options.user_and_password(user, password));
        }
        Ok(match self.token.clone() {
            Some(token) => options.token(token),
            None => options,
        })
    }

    /// Connects and checks the server.
    async fn connect_once(
        &self,
        options: ConnectOptions,
        addresses: &Addresses,
    ) -> Result<Connection, NotConnected> {
        let (set_up, up) = watch::channel(true);
        let (refuse, denied) = watch::channel(None);
        let (server, out) = (addresses.display_url(), AtomicBool::new(false));
        let options = options.event_callback(move |event| {
            match &event {
                Event::Connected => {
                    out.store(false, Ordering::Relaxed);
                    if !set_up.send_replace(true) {
                        tracing::info!("reconnected to {server}");
                    }
                }
                Event::Disconnected | Event::Closed => {
                    if set_up.send_replace(false) {
                        tracing::info!("lost the connection to {server}");
                    }
                }
                event if is_not_admitted(event) => {
                    if !out.swap(true, Ordering::Relaxed) {
                        tracing::warn!("{server}: the server rejects this user now; retrying");
                    }
                }
                Event::ServerError(ServerError::Other(text)) => {
                    match PermissionDenied::read(text) {
                        Ok(denied) => {
                            // Reported by the caller that is affected.
                            tracing::debug!("{server}: {denied}");
                            refuse.send_replace(Some(denied));
                        }
                        Err(text) => tracing::warn!("{server}: {text}"),
                    }
                }
                other => tracing::debug!("{server}: {}", sanitize(&other.to_string())),
            }
            std::future::ready(())
        });
        let failed = |error: ConnectError| NotConnected {
            passing: is_passing(&error),
            refused: is_refused(&error),
            failure: connect_failure(&error, &addresses.display_url(), self),
        };
        let client = options.connect(addresses.servers.clone()).await.map_err(failed)?;
        let jetstream = jetstream::new(client.clone());
        let connection = Connection { client, jetstream, up, denied };
        self.check_server(&connection, addresses).await?;
        Ok(connection)
    }

    /// Checks that the server has what is needed.
    async fn check_server(
        &self,
        connection: &Connection,
        addresses: &Addresses,
    ) -> Result<(), NotConnected> {
        let shown = addresses.display_url();
        let (major, minor, patch) = OLDEST_SERVER;
        if !connection.client.is_server_compatible(major, minor, patch) {
            let version = sanitize(&connection.client.server_info().version);
            let failure = Failure::machine(format!("{shown}: the server has version {version}"))
                .help(format!("install nats-server {major}.{minor} or newer"));
            return Err(failure.into());
        }
        // A request that is not permitted gets no answer.
        let mut denied = connection.denied.clone();
        let answer = tokio::select! {
            answer = connection.client.request(ACCOUNT, Vec::new().into()) => answer,
            _ = denied.wait_for(Option::is_some) => {
                let failure = connection.failure(&format!("{shown}: can't use JetStream"));
                return Err(failure.into());
            }
        };
        match &answer {
            Ok(message) => answered_error(&message.payload, &shown).map_or(Ok(()), Err),
            Err(error) => Err(no_answer(error.kind(), &shown)),
        }
    }
}

/// Why there is no connection.
#[derive(Debug)]
struct NotConnected {
    failure: Failure,
    /// Whether trying again may help.
    passing: bool,
    /// Whether the connection was refused or closed at once.
    refused: bool,
}

impl From<Failure> for NotConnected {
    /// An error that trying again does not fix.
    fn from(failure: Failure) -> Self {
        Self { failure, passing: false, refused: false }
    }
}

/// Reads a file with a secret. Errors do not contain its text.
fn secret(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| {
        Failure::usage(format!("{}: {error}", sanitize(&file.display().to_string())))
    })
}

#[cfg(test)]
mod tests {
    use super::Server;
    use tokio::net::TcpSocket;

    #[tokio::test]
    async fn a_server_that_does_not_listen_yet_is_retried() {
        // The port is bound and refuses connections.
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap();
        let server = Server { url: format!("nats://{address}"), ..Server::default() };
        let late = tokio::spawn(async move {
            tokio::time::sleep(super::STARTING_DELAY).await;
            let listener = socket.listen(1).unwrap();
            drop(listener.accept().await.unwrap());
        });
        // A peer that hangs up at once is not tried again.
        assert!(server.connect("test").await.is_err());
        assert!(late.is_finished(), "it was not tried again");
    }
}
