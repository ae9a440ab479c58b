//! The web viewer: its pages and their data, and the server of what lies in a folder, of matches as they
//! are played, and of matches against whoever looks. Nothing here is in the way of a match: what is
//! shown is read from transcripts.

#![forbid(unsafe_code)]

mod assets;
mod export;
mod sheet;
mod errors;
mod place;
mod guard;
mod doors;
mod rows;
mod listing;
mod tail;
mod following;
mod matches;
mod downloads;
mod pages;
mod overview;
mod workers;
mod contests;
mod playing;
mod seats;
pub use export::export;
pub use playing::{Enclose, Play};
pub use sheet::{Growth, Sheet, SheetSeat, Stage};

use self::contests::Contests;
use self::doors::{BOUNDS, Doors};
use self::errors::{Answer, Refused, aside};
use self::following::FOLLOWERS_MAX;
use self::guard::{Guard, guard};
use self::listing::Listing;
use self::pages::page;
use self::place::Place;
use self::playing::Hall;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Query, Request, State};
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use referee_play::core_context::{Orders, PausedTime};
use referee_play::human::PlayerPrompts;
use referee_process::Failure;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

/// What is posted is short.
const BODY_BYTES_MAX: usize = 64 << 10;
/// So many files are read at once.
const READERS_MAX: usize = 16;
/// How long those who look are given to see the end.
const FAREWELL: Duration = Duration::from_millis(300);
/// If the usual port is taken, so many after it are tried.
const PORTS_TRIED: u16 = 20;
/// The usual port.
const PORT: u16 = 8017;

/// What is served, and to whom.
#[derive(Debug)]
pub struct Settings {
    /// The folder.
    pub folder: PathBuf,
    /// The address to listen at, or a name of it.
    pub host: String,
    /// The port; 0 for any that is free; without one the usual, or the next that is free.
    pub port: Option<u16>,
    /// What whoever comes must know. Required where others than this machine can come.
    pub token: Option<String>,
    /// What may be played; none: nothing.
    pub play: Option<Play>,
}

/// A server that runs on a thread of its own.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    host: String,
    token: Option<String>,
    app: Arc<App>,
    thread: JoinHandle<()>,
}

/// What all requests share.
#[derive(Debug)]
struct App {
    place: Place,
    listing: Listing,
    contests: Contests,
    followers: Arc<Semaphore>,
    painter: Arc<Semaphore>,
    hall: Arc<Hall>,
}

impl Server {
    /// Begins to serve. It ends by itself when `orders`, those of the whole program, say stop; what
    /// it plays then ends first.
    pub fn start(
        settings: Settings,
        orders: watch::Receiver<Orders>,
        paused: PausedTime,
    ) -> Result<Self, Failure> {
        let Settings { folder, host, port, token, play } = settings;
        let listener = bind(&host, port)?;
        let machine = |error: std::io::Error| Failure::machine(format!("the server: {error}"));
        let address = listener.local_addr().map_err(machine)?;
        if !address.ip().is_loopback() && token.is_none() {
            return Err(Failure::usage(format!(
                "--host {host}: others could come without a token"
            ))
            .help("give one with --token"));
        }
        let place = Place::new(&folder).map_err(|error| {
            Failure::usage(format!("{}: {error}", folder.display()))
                .help("name a folder that holds transcripts or contests")
        })?;
        let guard = Guard::new(&host, address.ip(), address.port(), token.as_deref());
        let app = Arc::new(App {
            place,
            listing: Listing::default(),
            contests: Contests::default(),
            followers: Arc::new(Semaphore::new(FOLLOWERS_MAX)),
            painter: Arc::new(Semaphore::new(1)),
            hall: Arc::new(Hall::new(play, orders.clone(), paused)),
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(READERS_MAX)
            .build()
            .map_err(machine)?;
        let served = app.clone();
        let thread = std::thread::Builder::new()
            .name("web".to_owned())
            .spawn(move || {
                runtime.block_on(serve(listener, served, guard, orders));
                // Whoever still waits for a file is left alone.
                runtime.shutdown_background();
            })
            .map_err(machine)?;
        Ok(Self { address, host, token, app, thread })
    }

    /// The address of the page, with the token where there is one.
    pub fn url(&self) -> String {
        self.url_of("/")
    }

    /// The address of a match's page, where the transcript is one of the folder's.
    pub fn url_of_match(&self, transcript: &Path) -> Option<String> {
        let path = transcript.canonicalize().ok()?;
        let name = path.strip_prefix(self.app.place.root()).ok()?.to_str()?;
        Some(self.url_of(&format!("/match?file={}", pages::escaped(name))))
    }

    /// Whether it listens on all addresses of this machine.
    pub fn is_everywhere(&self) -> bool {
        self.address.ip().is_unspecified()
    }

    /// As [`Self::url`], for a browser of this machine.
    pub fn url_here(&self) -> String {
        let host = if self.is_everywhere() { "localhost" } else { &self.host };
        self.url_by(host, "/")
    }

    /// By the machine's own name where it listens on all addresses: those lead nowhere from elsewhere.
    fn url_of(&self, path: &str) -> String {
        let named = || nix::unistd::gethostname().ok()?.into_string().ok();
        let named = if self.is_everywhere() { named() } else { None };
        self.url_by(named.as_deref().unwrap_or(&self.host), path)
    }

    fn url_by(&self, host: &str, path: &str) -> String {
        let port = self.address.port();
        let host = match self.address.ip() {
            IpAddr::V6(_) if !host.starts_with('[') && host.contains(':') => format!("[{host}]"),
            _ => host.to_owned(),
        };
        let separator = if path.contains('?') { '&' } else { '?' };
        let token = self.token.as_ref().map(|token| format!("{separator}token={token}"));
        format!("http://{host}:{port}{path}{}", token.unwrap_or_default())
    }

    /// A match of another part of the program, whose people sit at these desks; the transcript's path
    /// is canonical.
    pub fn host(&self, transcript: &Path, desks: Arc<PlayerPrompts>) {
        self.app.hall.host(transcript.to_owned(), desks);
    }

    /// That match is not played any more.
    pub fn release(&self, transcript: &Path) {
        self.app.hall.release(transcript);
    }

    /// Waits until it has ended.
    pub fn join(self) {
        self.thread.join().ok();
    }
}

/// Takes the first port that is free.
fn bind(host: &str, port: Option<u16>) -> Result<std::net::TcpListener, Failure> {
    let bare = host.trim_matches(['[', ']']);
    let resolved = (bare, 0).to_socket_addrs().ok().and_then(|mut all| all.next());
    let address = resolved.ok_or_else(|| {
        Failure::usage(format!("--host {host}: no such address"))
            .help("an address or a name of this machine, such as 127.0.0.1")
    })?;
    let ports = match port {
        Some(port) => port..=port,
        None => PORT..=PORT + PORTS_TRIED,
    };
    let mut failure = None;
    for port in ports {
        match std::net::TcpListener::bind((address.ip(), port)) {
            Ok(listener) => {
                let blocking = listener.set_nonblocking(true);
                blocking.map_err(|error| Failure::machine(format!("the server: {error}")))?;
                return Ok(listener);
            }
            Err(error) => failure = Some(format!("{host}:{port}: {error}")),
        }
    }
    Err(Failure::machine(failure.unwrap_or_default()).help("--port 0 takes any port that is free"))
}

async fn serve(
    listener: std::net::TcpListener,
    app: Arc<App>,
    rules: Guard,
    mut orders: watch::Receiver<Orders>,
) {
    let doors = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => Doors::new(listener, BOUNDS),
        Err(error) => return tracing::error!("the server can't listen: {error}"),
    };
    let hall = app.hall.clone();
    let router = router(app).layer(from_fn_with_state(Arc::new(rules), guard));
    let end = async {
        tokio::join!(hall.pass_on(), async {
            orders.wait_for(|orders| orders.stop.is_some()).await.ok();
        });
        hall.empty().await;
        tokio::time::sleep(FAREWELL).await;
    };
    let serving = axum::serve(doors, router);
    tokio::select! {
        ended = serving.into_future() => {
            if let Err(error) = ended {
                tracing::error!("the server ended: {error}");
            }
        }
        () = end => {}
    }
}

fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", page("index.html"))
        .route("/match", page("match.html"))
        .route("/contest", page("contest.html"))
        .route("/assets/{name}", get(pages::part))
        .route("/files", get(pages::file))
        .route("/files/{*name}", get(pages::file_below))
        .route("/api/overview", asked(overview::overview))
        .route("/api/transcripts", asked(overview::transcripts))
        .route("/api/contest", asked(contests::contest))
        .route("/api/contest/games", asked(contests::games))
        .route("/api/match", get(matches::sheet))
        .route("/api/lines", asked(matches::lines))
        .route("/api/text", asked(matches::text))
        .route("/api/picture", get(downloads::picture))
        .route("/api/follow", get(following::follow))
        .route("/api/seat", asked(seats::waiting).merge(posted(seats::answer)))
        .route("/api/matches", posted(seats::begin))
        .route("/api/stop", posted(seats::stop))
        .fallback(nothing)
        .with_state(app)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
}

/// What answers a question: not at once, but beside the loop that serves everybody.
type Answers<Q> = fn(&App, &Q) -> Answer<Value>;

/// A question in an address.
fn asked<Q: DeserializeOwned + Send + 'static>(answer: Answers<Q>) -> MethodRouter<Arc<App>> {
    get(move |State(app): State<Arc<App>>, Query(question): Query<Q>| async move {
        aside(move || answer(&app, &question)).await.map(Json)
    })
}

/// The same for what is posted as JSON.
fn posted<Q: DeserializeOwned + Send + 'static>(answer: Answers<Q>) -> MethodRouter<Arc<App>> {
    post(move |State(app): State<Arc<App>>, bytes: Bytes| async move {
        let question = serde_json::from_slice(&bytes)
            .map_err(|error| Refused::bad(format!("the request: {error}")))?;
        aside(move || answer(&app, &question)).await.map(Json)
    })
}

async fn nothing(request: Request) -> Refused {
    Refused::missing(format!("there is nothing at {}", request.uri().path()))
        .help("the page begins at /")
}

#[cfg(test)]
mod tests;
