//! The connection to the server: who asks, how it is kept safe, and what is said when it fails.
//! What is secret is never shown.

mod address;
mod notice;
mod trouble;

pub use notice::Denied;

use address::Addresses;
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectError, ConnectOptions, Event, ServerError};
use notice::is_not_admitted;
use referee_process::Failure;
use referee_protocol::plain::tame;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use trouble::{explained, is_passing, is_refused, refusal, unanswered};

/// How often the server is asked whether it is there. One that doesn't answer four times is gone.
const PING: Duration = Duration::from_secs(5);
/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// The shortest and the longest time between two tries to connect for the first time.
const PATIENT_DELAY: Duration = Duration::from_millis(500);
const PATIENT_DELAY_MAX: Duration = Duration::from_secs(10);
/// How long a server that was only just started may take until it listens.
const STARTING: Duration = Duration::from_secs(5);
/// How long to wait until it is tried again.
const STARTING_DELAY: Duration = Duration::from_millis(200);
/// Where a server that keeps anything tells what it keeps for whoever asks.
const ACCOUNT: &str = "$JS.API.INFO";
/// The oldest server that has all that is needed.
const OLDEST_SERVER: (i64, i64, i64) = (2, 9, 0);

/// Where the server is, and who asks. What the address says of a user goes before the rest.
#[derive(Clone, Default)]
pub struct Server {
    /// `nats://HOST:PORT` or `tls://HOST:PORT`, several with commas between them; with
    /// `USER:PASSWORD@` or `TOKEN@` before the host.
    pub url: String,
    /// A user, with a password.
    pub user: Option<(String, String)>,
    /// A token instead.
    pub token: Option<String>,
    /// A file with credentials instead.
    pub creds: Option<PathBuf>,
    /// A file with the seed of an nkey instead.
    pub nkey: Option<PathBuf>,
    /// Certificates of those who may vouch for the server, instead of the system's.
    pub tls_ca: Option<PathBuf>,
    /// The client's own certificate and its key.
    pub tls_own: Option<(PathBuf, PathBuf)>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("url", &self.shown()).finish_non_exhaustive()
    }
}

/// A connection. Once it has come about it is made again for ever when it is lost.
#[derive(Clone, Debug)]
pub struct Connection {
    /// For what the server doesn't keep.
    pub client: Client,
    /// For what it keeps.
    pub jetstream: Context,
    /// Whether it stands; changes whenever it is lost and when it is there again.
    pub up: watch::Receiver<bool>,
    denied: watch::Receiver<Option<Denied>>,
}

impl Connection {
    /// Whether it stands.
    pub fn is_up(&self) -> bool {
        *self.up.borrow()
    }

    /// What the server has last refused for want of permission. Whoever is refused gets no answer, so
    /// this tells why a request came to nothing.
    pub fn denied(&self) -> Option<Denied> {
        self.denied.borrow().clone()
    }

    /// What `work` comes to, unless the server refuses something for want of permission: then nobody
    /// answers.
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

    /// Tells from now on what is refused for want of permission. `shown` is the server.
    pub fn tell_denied(&self, shown: String) {
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

    /// Why something did not come about, with what to do where the server didn't permit it.
    pub fn failure(&self, what: &str) -> Failure {
        match self.denied() {
            Some(denied) => Failure::machine(format!("{what}: {denied}")).help(
                "this user may not do that: docs/many-machines.md has the permissions that \
                 coordinators and workers need",
            ),
            None => Failure::machine(what),
        }
    }
}

impl Server {
    /// Its address without what is secret in it.
    pub fn shown(&self) -> String {
        Addresses::read(&self.url).map_or_else(|_| "the server".to_owned(), |it| it.shown())
    }

    /// Connects, or says why that doesn't go. A server that was only just started may take a while
    /// until it listens: where connections are refused it is tried again for some seconds.
    pub async fn connect(&self, name: &str) -> Result<Connection, Failure> {
        let began = Instant::now();
        loop {
            match self.attempt(name).await {
                Err(unready) if unready.refused && began.elapsed() < STARTING => {
                    unready.wait(STARTING_DELAY).await;
                }
                connected => return connected.map_err(|unready| unready.failure),
            }
        }
    }

    /// The same for whoever has time: where nobody answers it calls `note` once with why, and tries
    /// on. What trying on can't mend, such as a wrong password, is told at once.
    pub async fn connect_patiently(
        &self,
        name: &str,
        note: impl FnOnce(&Failure),
    ) -> Result<Connection, Failure> {
        let mut note = Some(note);
        let mut delay = PATIENT_DELAY;
        let connection = loop {
            match self.attempt(name).await {
                Err(unready) if unready.passing => {
                    if let Some(note) = note.take() {
                        note(&unready.failure);
                    }
                    unready.wait(delay).await;
                    delay = (delay * 2).min(PATIENT_DELAY_MAX);
                }
                connected => break connected.map_err(|unready| unready.failure)?,
            }
        };
        connection.tell_denied(self.shown());
        Ok(connection)
    }

    /// Connects, if that goes now. The library's own tries to connect for the first time don't say why
    /// they fail.
    async fn attempt(&self, name: &str) -> Result<Connection, Unready> {
        // What can be told without the server.
        let addresses = Addresses::read(&self.url)?;
        let options = self.safe(ConnectOptions::new().name(name))?;
        let options = self.identified(options, &addresses)?;
        let options = options.connection_timeout(CONNECT).ping_interval(PING);
        self.ready(options, &addresses).await
    }

    /// With certificates, as far as they are given. Whoever gives one wants nothing without TLS.
    fn safe(&self, mut options: ConnectOptions) -> Result<ConnectOptions, Failure> {
        if let Some(file) = &self.tls_ca {
            if !secret(file)?.contains("BEGIN CERTIFICATE") {
                let file = tame(&file.display().to_string());
                return Err(Failure::usage(format!("{file}: no certificate is in it"))
                    .help("--tls-ca names a PEM file, as in docs/many-machines.md"));
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

    /// With who asks.
    fn identified(
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
                Failure::usage(format!("{}: no credentials are in it", file.display()))
                    .help("a file of credentials is what `nsc generate creds` prints")
            });
        }
        if let Some(file) = &self.nkey {
            let text = secret(file)?;
            let seed = text.lines().map(str::trim).find(|line| line.starts_with("SU"));
            let seed = seed.ok_or_else(|| {
                Failure::usage(format!("{}: no seed of a user's nkey is in it", file.display()))
                    .help("a seed begins with SU; `nsc generate nkey --user` makes one")
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

    /// A connection that has been tried out.
    async fn ready(
        &self,
        options: ConnectOptions,
        addresses: &Addresses,
    ) -> Result<Connection, Unready> {
        let (tell, up) = watch::channel(true);
        let (refuse, denied) = watch::channel(None);
        let (server, out) = (addresses.shown(), AtomicBool::new(false));
        let options = options.event_callback(move |event| {
            match &event {
                Event::Connected => {
                    out.store(false, Ordering::Relaxed);
                    if !tell.send_replace(true) {
                        tracing::info!("connected to {server} again");
                    }
                }
                Event::Disconnected | Event::Closed => {
                    if tell.send_replace(false) {
                        tracing::info!("the connection to {server} is lost");
                    }
                }
                event if is_not_admitted(event) => {
                    if !out.swap(true, Ordering::Relaxed) {
                        let told = "the server doesn't let in this user any more; trying on";
                        tracing::warn!("{server}: {told}");
                    }
                }
                Event::ServerError(ServerError::Other(text)) => match Denied::read(text) {
                    Ok(denied) => {
                        // Told by who needs it.
                        tracing::debug!("{server}: {denied}");
                        refuse.send_replace(Some(denied));
                    }
                    Err(text) => tracing::warn!("{server}: {text}"),
                },
                other => tracing::debug!("{server}: {}", tame(&other.to_string())),
            }
            std::future::ready(())
        });
        let failed = |error: ConnectError| Unready {
            passing: is_passing(&error),
            refused: is_refused(&error),
            failure: explained(&error, &addresses.shown(), self),
        };
        let client = options.connect(addresses.servers.clone()).await.map_err(failed)?;
        let jetstream = jetstream::new(client.clone());
        let connection = Connection { client, jetstream, up, denied };
        self.checked(&connection, addresses).await?;
        Ok(connection)
    }

    /// Whether the server has what is needed.
    async fn checked(&self, connection: &Connection, addresses: &Addresses) -> Result<(), Unready> {
        let shown = addresses.shown();
        let (least, less, none) = OLDEST_SERVER;
        if !connection.client.is_server_compatible(least, less, none) {
            let version = tame(&connection.client.server_info().version);
            let failure = Failure::machine(format!("{shown}: a server of version {version}"))
                .help(format!("{least}.{less} or newer is needed"));
            return Err(failure.into());
        }
        // Whoever may not ask gets no answer.
        let mut denied = connection.denied.clone();
        let answer = tokio::select! {
            answer = connection.client.request(ACCOUNT, Vec::new().into()) => answer,
            _ = denied.wait_for(Option::is_some) => {
                let failure = connection.failure(&format!("{shown}: JetStream can't be used"));
                return Err(failure.into());
            }
        };
        match &answer {
            Ok(message) => refusal(&message.payload, &shown).map_or(Ok(()), Err),
            Err(error) => Err(unanswered(error.kind(), &shown)),
        }
    }
}

/// Why there is no connection.
#[derive(Debug)]
struct Unready {
    failure: Failure,
    /// Whether it may be there later.
    passing: bool,
    /// Nobody listens there.
    refused: bool,
}

impl From<Failure> for Unready {
    /// Trying again doesn't help.
    fn from(failure: Failure) -> Self {
        Self { failure, passing: false, refused: false }
    }
}

impl Unready {
    /// Waits until the next try.
    async fn wait(&self, delay: Duration) {
        tracing::debug!("not connected: {}", self.failure);
        tokio::time::sleep(delay).await;
    }
}

/// A file with something that nobody else may see. What is wrong is told without what is in it.
fn secret(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("{}: {error}", tame(&file.display().to_string()))))
}

#[cfg(test)]
mod tests {
    use super::Server;
    use tokio::net::TcpSocket;

    #[tokio::test]
    async fn who_does_not_listen_yet_is_waited_for() {
        // It has its port, and refuses connections.
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap();
        let server = Server { url: format!("nats://{address}"), ..Server::default() };
        let late = tokio::spawn(async move {
            tokio::time::sleep(super::STARTING_DELAY).await;
            let listener = socket.listen(1).unwrap();
            drop(listener.accept().await.unwrap());
        });
        // Whoever hangs up at once is no server, and isn't asked again.
        assert!(server.connect("test").await.is_err());
        assert!(late.is_finished(), "it was not tried again");
    }
}
