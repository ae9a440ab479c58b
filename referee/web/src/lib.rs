//! The web viewer: its pages, their data, and the server. It serves the transcripts and contests of a
//! folder, live matches, and matches against a person. It reads transcripts and never slows a match.

#![forbid(unsafe_code)]

mod assets;
mod export;
mod frames;
mod site;
mod match_page;
mod permits;
mod errors;
mod served_folder;
mod visitor;
mod access;
mod guard;
mod parts;
mod course;
mod instructor;
mod freeze;
mod connections;
mod rows;
mod listing;
mod tail;
mod places;
mod following;
mod matches;
mod downloads;
mod pages;
mod people;
mod overview;
mod workers;
mod contests;
mod hosted_matches;
mod metrics;
mod seats;
mod branch;
mod explorer;
mod asking;
mod thumbnails;
pub use access::Visitors;
pub use export::export;
pub use frames::{Frame, Frames, Info, OpenRequest, StderrPiece};
pub use guard::ProxiedAddress;
pub use hosted_matches::{OfferedAgent, Play, SandboxFactory};
pub use listing::transcripts;
pub use match_page::{MatchPage, MatchPageSeat, MatchState, MatchUpdate};
pub use metrics::{Metrics, Monitored, contest_metrics, monitor};
pub use rows::Row;
pub use site::{replay_page, shared_files};

use self::access::Access;
use self::asking::Questions;
use self::connections::{BOUNDS, with_whole_requests};
use self::contests::Contests;
use self::course::Site;
use self::errors::{ApiError, ApiResult, run_blocking, run_costly, without_place};
use self::explorer::Explorer;
use self::following::FOLLOWERS_MAX;
use self::guard::{Guard, guard};
use self::hosted_matches::HostedMatches;
use self::listing::Listing;
use self::pages::page;
use self::permits::Permits;
use self::places::Places;
use self::served_folder::ServedFolder;
use self::thumbnails::Thumbnails;
use self::visitor::Session;
use axum::body::Bytes;
use axum::extract::{Query, Request, State};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Redirect;
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use referee_games::Games;
use referee_play::core_context::{Orders, PausedTime};
use referee_play::human::PlayerPrompts;
use referee_process::Failure;
use referee_process::cores;
use referee_process::lock::lock;
use referee_protocol::Seat;
use referee_protocol::encode::percent_encode;
use referee_runner::course::Course;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::future::ready;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// The largest body of a request, in bytes.
const BODY_BYTES_MAX: usize = 64 << 10;
/// The most threads that read files.
const READERS_MAX: usize = 16;
/// How many of them replay transcripts at once where there are many cores, so that neither matches nor lists wait for
/// long ones or slow rules.
const REPLAYING_MAX: usize = 8;
/// How long the server waits for the end of its matches, which then are void. It takes some milliseconds, but on a busy machine.
const END_WAIT: Duration = Duration::from_secs(3);
/// How long it runs after that, so that pages get the end.
const CLOSE_WAIT: Duration = Duration::from_millis(200);
/// How many ports after the default one are tried.
const PORTS_TRIED: u16 = 20;
const PORT: u16 = 8017;

#[derive(Debug)]
pub struct Settings {
    pub folder: PathBuf,
    /// The games that are known.
    pub games: Games,
    /// The address to listen at, or its name.
    pub host: String,
    /// The port; 0 means any free one, `None` the first free one from the default.
    pub port: Option<u16>,
    /// Who may use it; not everyone if other machines can connect.
    pub visitors: Visitors,
    /// The matches that may be started; `None` for none.
    pub play: Option<Play>,
    /// The course that is handed in to. Then the folder is its contest's, and everyone sees what is public of it.
    pub course: Option<Arc<Course>>,
    /// The address at a reverse proxy, if there is one.
    pub proxied: Option<ProxiedAddress>,
}

/// A server on its own thread.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    host: String,
    access: Option<Arc<Access>>,
    /// The changes of the code.
    codes: Option<watch::Receiver<String>>,
    app: Arc<App>,
    thread: JoinHandle<()>,
}

/// The state that all requests share.
#[derive(Debug)]
struct App {
    served: ServedFolder,
    listing: Listing,
    contests: Contests,
    followers: Arc<Places>,
    replaying: Permits,
    picture_permit: Permits,
    explorer: Explorer,
    thumbnails: Thumbnails,
    thumbnail_permit: Permits,
    matches: Arc<HostedMatches>,
    questions: Arc<Questions>,
    /// The course that is handed in to, if the server is for one.
    site: Option<Site>,
}

impl Server {
    /// Starts a server. It ends when `orders`, those of the whole program, say stop and its matches
    /// have ended.
    pub fn start(
        settings: Settings,
        orders: watch::Receiver<Orders>,
        paused: PausedTime,
    ) -> Result<Self, Failure> {
        let Settings { folder, games, host, port, visitors, play, course, proxied } = settings;
        let listener = bind(&host, port)?;
        let machine = |error: std::io::Error| Failure::machine(format!("the server: {error}"));
        let address = listener.local_addr().map_err(machine)?;
        if !address.ip().is_loopback() && visitors == Visitors::Everyone && course.is_none() {
            return Err(Failure::usage(format!(
                "--host {host}: other machines could connect without a token"
            ))
            .help("set one with --token-file"));
        }
        let access = Access::new(&visitors)?.map(Arc::new);
        let served = ServedFolder::new(&folder, &games).map_err(|error| {
            Failure::usage(format!("{}: {error}", folder.display()))
                .help("give a folder with transcripts or contests")
        })?;
        let is_secure = proxied.as_ref().is_some_and(ProxiedAddress::is_secure);
        let site = course.map(|course| Site::new(course, address.port(), is_secure)).transpose()?;
        let guard = Guard::new(&host, address.ip(), address.port(), access.clone(), proxied);
        let app = Arc::new(App {
            served,
            listing: Listing::default(),
            contests: Contests::default(),
            followers: Places::new(FOLLOWERS_MAX),
            replaying: Permits::new(cores::count().clamp(4, REPLAYING_MAX)),
            picture_permit: Permits::new(2),
            explorer: Explorer::default(),
            thumbnails: Thumbnails::default(),
            thumbnail_permit: Permits::new(2),
            matches: Arc::new(HostedMatches::new(play, orders.clone(), paused)),
            questions: Arc::default(),
            site,
        });
        // Which folders have submissions is known before the first request.
        app.listing.contents(&app.served);
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
                // Don't wait for requests that still read files.
                runtime.shutdown_background();
            })
            .map_err(machine)?;
        let codes = access.as_ref().map(|access| access.code());
        Ok(Self { address, host, access, codes, app, thread })
    }

    /// Returns the address of the page, with the code if visitors need one.
    pub fn url(&self) -> String {
        self.url_of("/")
    }

    /// Returns the address of a match's page, if its transcript is in the served folder.
    pub fn url_of_match(&self, transcript: &Path) -> Option<String> {
        let path = transcript.canonicalize().ok()?;
        let name = path.strip_prefix(self.app.served.root()).ok()?.to_str()?;
        Some(self.url_of(&format!("/match?file={}", percent_encode(name))))
    }

    /// Returns whether it listens on all addresses of this machine.
    pub fn is_everywhere(&self) -> bool {
        self.address.ip().is_unspecified()
    }

    /// Returns [`Self::url`] for a browser on this machine.
    pub fn url_here(&self) -> String {
        let host = if self.is_everywhere() { "localhost" } else { &self.host };
        self.url_by(host, "/")
    }

    /// Uses the machine's name if the server listens on all addresses: 0.0.0.0 is no use elsewhere.
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
        let code = self.access.as_ref().map(|access| access.code().borrow().clone());
        let code = code.map(|code| format!("{separator}code={code}"));
        format!("http://{host}:{port}{path}{}", code.unwrap_or_default())
    }

    /// Returns whether visitors need a code.
    pub fn needs_code(&self) -> bool {
        self.access.is_some()
    }

    /// Waits until a browser has used the code, so that the addresses contain another.
    pub async fn code_used(&mut self) {
        let changed = match &mut self.codes {
            Some(codes) => codes.changed().await.is_ok(),
            None => false,
        };
        if !changed {
            std::future::pending::<()>().await;
        }
    }

    /// Adds a match that another part of the program plays, with its people; the transcript's path is
    /// canonical. With `seen_by`, it is shown only as this seat sees it.
    pub fn register(&self, transcript: &Path, prompts: Arc<PlayerPrompts>, seen_by: Option<Seat>) {
        if let Some(seat) = seen_by {
            lock(self.app.served.seen_by()).insert(transcript.to_owned(), seat);
        }
        self.app.matches.register(transcript.to_owned(), prompts);
    }

    /// Removes that match.
    pub fn unregister(&self, transcript: &Path) {
        self.app.matches.unregister(transcript);
        lock(self.app.served.seen_by()).remove(transcript);
    }

    /// Waits until the server has ended.
    pub fn join(self) {
        self.thread.join().ok();
    }
}

/// Listens at the first free port.
fn bind(host: &str, port: Option<u16>) -> Result<std::net::TcpListener, Failure> {
    let bare = host.trim_matches(['[', ']']);
    let resolved = (bare, 0).to_socket_addrs().ok().and_then(|mut all| all.next());
    let address = resolved.ok_or_else(|| {
        Failure::usage(format!("--host {host}: unknown address"))
            .help("give an address or a name of this machine, such as 127.0.0.1")
    })?;
    let ports = match port {
        Some(port) => port..=port,
        None => PORT..=PORT + PORTS_TRIED,
    };
    let tried = if port.is_some() { "" } else { " and the ports after it" };
    let text = |error| format!("{host}:{}{tried}: {error}", ports.start());
    let failed = |error| Failure::machine(text(error)).help("use any free port with --port 0");
    let addresses: Vec<_> = ports.clone().map(|port| (address.ip(), port).into()).collect();
    let listener = std::net::TcpListener::bind::<&[SocketAddr]>(&addresses).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

async fn serve(
    listener: std::net::TcpListener,
    app: Arc<App>,
    rules: Guard,
    mut orders: watch::Receiver<Orders>,
) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!("the server can't listen: {error}"),
    };
    let (matches, questions) = (app.matches.clone(), app.questions.clone());
    tokio::spawn(freeze::watch(app.clone()));
    let root = app.served.root().to_owned();
    let router = router(app)
        .layer(map_response(move |response| ready(without_place(response, &root))))
        .layer(from_fn_with_state(Arc::new(rules), guard));
    let end = async {
        tokio::join!(matches.forward_orders(), async {
            orders.wait_for(|orders| orders.stop.is_some()).await.ok();
        });
        questions.stop_all();
        // What doesn't end in time ends with this process: its agents can't outlive it.
        if tokio::time::timeout(END_WAIT, matches.wait_empty()).await.is_err() {
            tracing::warn!("matches from the page did not end in time: their transcripts are torn");
        }
        tokio::time::sleep(CLOSE_WAIT).await;
    };
    tokio::select! {
        () = connections::serve(listener, router, BOUNDS) => {}
        () = end => {}
    }
}

fn router(app: Arc<App>) -> Router {
    let shown = Router::new()
        .route("/match", page("match.html"))
        .route("/contest", page("contest.html"))
        .route("/tv", page("tv.html"))
        .route("/assets/{name}", get(pages::part))
        .route("/api/overview", get_json_for(overview::overview))
        .route("/api/contest", get_replayed(contests::contest))
        .route("/api/contest/games", get(contests::games))
        .route("/api/match", get(matches::match_page))
        .route("/api/text", get_replayed(matches::text))
        .route("/api/position", get_replayed(matches::position))
        .route("/api/picture", get(downloads::picture))
        .route("/api/thumbnail", get(thumbnails::thumbnail_of))
        .route("/api/qr", get(thumbnails::qr))
        .route("/api/follow", get(following::follow))
        .route("/healthz", get(metrics::healthy))
        .fallback(not_found);
    let Some(site) = &app.site else {
        return with_whole_requests(shown.merge(own_routes()).with_state(app), BOUNDS);
    };
    // What else there is starts programs, or shows what is not for the public.
    let (teams, uploads) = course::routes(site);
    let shown = shown
        .route("/", get(async || Redirect::to("/contest")))
        .route("/team", page("team.html"))
        .route("/instructor", page("instructor.html"))
        .merge(teams)
        .merge(instructor::routes(&app))
        .layer(from_fn_with_state(app.clone(), freeze::guard));
    with_whole_requests(shown.with_state(app.clone()), BOUNDS).merge(uploads.with_state(app))
}

/// The routes for those who may see and do everything.
fn own_routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", page("index.html"))
        .route("/compare", page("compare.html"))
        .route("/files", get(pages::file))
        .route("/files/{*name}", get(pages::file_below))
        .route("/api/transcripts", get(overview::transcripts))
        .route("/api/lines", get_replayed(matches::lines))
        .route("/api/branch", get_replayed(branch::branch))
        .route("/api/explore", get_replayed(explorer::explore))
        .route("/api/ask", post(asking::ask))
        .route("/api/rerun", post(asking::rerun_turn))
        .route("/api/seat", get_json_for(seats::waiting).merge(post_json(seats::answer)))
        .route("/api/matches", post(seats::start_match))
        .route("/api/stop", post_json(seats::stop))
        .route("/metrics", get(metrics::served_metrics))
}

/// A handler. It runs on a thread of its own, since it may read files.
type Handler<Q> = fn(&App, &Q) -> ApiResult<Value>;
/// A handler of what depends on the visitor.
type HandlerFor<Q> = fn(&App, &Q, &Session) -> ApiResult<Value>;

/// The file or folder that a request names.
#[derive(Deserialize)]
struct OfFile {
    #[serde(default, alias = "folder")]
    file: String,
}

/// Routes a GET request with parameters in the address to a handler that replays a transcript, or reads a contest.
fn get_replayed<Q: DeserializeOwned + Send + 'static>(
    handler: Handler<Q>,
) -> MethodRouter<Arc<App>> {
    get(
        move |State(app): State<Arc<App>>,
              Query(OfFile { file }): Query<OfFile>,
              Query(query): Query<Q>| async move {
            let shared = app.clone();
            run_costly(&shared.replaying, &file, move || handler(&app, &query)).await.map(Json)
        },
    )
}

/// Routes a GET request of a visitor.
fn get_json_for<Q: DeserializeOwned + Send + 'static>(
    handler: HandlerFor<Q>,
) -> MethodRouter<Arc<App>> {
    get(move |State(app): State<Arc<App>>, who: Session, Query(query): Query<Q>| async move {
        run_blocking(move || handler(&app, &query, &who)).await.map(Json)
    })
}

/// Routes a POST request with a JSON body.
fn post_json<Q: DeserializeOwned + Send + 'static>(
    handler: HandlerFor<Q>,
) -> MethodRouter<Arc<App>> {
    post(move |State(app): State<Arc<App>>, who: Session, bytes: Bytes| async move {
        let query = read_json(&bytes)?;
        run_blocking(move || handler(&app, &query, &who)).await.map(Json)
    })
}

/// Reads the JSON body of a request.
fn read_json<Q: DeserializeOwned>(bytes: &[u8]) -> ApiResult<Q> {
    serde_json::from_slice(bytes)
        .map_err(|error| ApiError::bad(format!("the request is invalid: {error}")))
}

async fn not_found(request: Request) -> ApiError {
    ApiError::missing(format!("no page at {}", request.uri().path())).help("the home page is at /")
}

#[cfg(test)]
mod tests;
