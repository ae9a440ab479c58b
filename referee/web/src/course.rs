//! A course's pages: teams hand in, and see what becomes of it. A request acts for the team whose secret it presents,
//! and sees nothing of others but what is public.

use super::contests::{NEXT_SHOWN, next_games, team_ratings};
use super::errors::{ApiError, ApiResult, run_blocking};
use super::parts::{HEAD_BYTES, Part, Parts};
use super::{App, MatchPage, MatchUpdate, read_json};
use axum::Json;
use axum::body::Bytes;
use axum::extract::multipart::MultipartError;
use axum::extract::{DefaultBodyLimit, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, body::Body};
use futures_util::StreamExt;
use jiff::{SignedDuration, Timestamp};
use referee_contest::report::{OwnRatings, plain_text};
use referee_process::Failure;
use referee_process::files::read_at_most;
use referee_process::lock::lock;
use referee_protocol::encode::to_hex;
use referee_protocol::{Header, Seat};
use referee_runner::course::{
    Course, NextGame, Refusal, RefusalKind, Team, TeamReport, Upload, VersionId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tokio::io::{AsyncWriteExt, BufWriter};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How many of a team's uploads are looked at in an hour.
const LOOKS_MAX: usize = 60;
/// How long an upload may take.
const UPLOAD_TIME: Duration = Duration::from_secs(600);
/// How long the body of a team's upload that is refused is read, and that of others, of which little is read.
const DRAIN_TIME: Duration = Duration::from_secs(60);
const STRANGER_DRAIN_TIME: Duration = Duration::from_secs(1);
const STRANGER_DRAIN_BYTES: u64 = 1 << 20;
/// The uploads of one team at once, and of all; further ones wait.
const UPLOADS_OF_TEAM: usize = 2;
const UPLOADS_MAX: usize = 48;
/// How many are written to the disk at once, so that pages need not wait for it.
const WRITING_MAX: usize = 4;
/// How many times the largest upload is read.
const READ_FACTOR: u64 = 4;
/// What a multipart body has besides the files: a head for each.
const HEADS_BYTES: u64 = 64 << 10;
/// How much of a file is written at once.
const WRITTEN_BYTES: usize = 64 << 10;
/// The longest command.
const COMMAND_BYTES_MAX: usize = 4096;
/// The largest feedback that is shown.
const FEEDBACK_BYTES_MAX: u64 = 1 << 20;
/// How long a browser keeps a team's secret.
pub(super) const COOKIE_SECONDS: u32 = 200 * 24 * 3600;
/// The header with the token of a team's page.
pub(super) const TOKEN_HEADER: &str = "x-referee";

/// The paths that take multipart bodies.
pub(super) const UPLOAD_PATHS: [&str; 2] = ["/api/team/versions", "/api/team/look"];

/// A course that is handed in to on this server.
#[derive(Debug)]
pub(super) struct Site {
    course: Arc<Course>,
    /// The name of the cookie with a team's secret, and whether it goes only through TLS.
    cookie: String,
    /// That of the cookie with the instructor's.
    pub(super) instructor_cookie: String,
    secure: bool,
    uploading: Semaphore,
    looking: Semaphore,
    writing: Semaphore,
    /// One wrong secret of the instructor is looked at, and one archive is written at a time.
    pub(super) guessing: Semaphore,
    pub(super) archiving: Arc<Semaphore>,
    of_teams: Mutex<BTreeMap<u32, usize>>,
    /// When each team's uploads were looked at in the last hour.
    looks: Mutex<BTreeMap<u32, VecDeque<Timestamp>>>,
    /// Versions to be unpacked.
    unpacking: mpsc::Sender<VersionId>,
}

/// A team's upload that is under way.
struct Place<'a> {
    site: &'a Site,
    team: u32,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut of_teams = lock(&self.site.of_teams);
        if let Some(count) = of_teams.get_mut(&self.team) {
            *count -= 1;
        }
        of_teams.retain(|_, count| *count > 0);
    }
}

/// What a team's page gets.
#[derive(Serialize)]
struct TeamPage {
    #[serde(flatten)]
    report: TeamReport,
    /// What the page's own requests must present.
    token: String,
}

#[derive(Deserialize)]
struct EnterQuery {
    secret: String,
}

#[derive(Deserialize)]
struct VersionQuery {
    version: u32,
}

/// Returns the token of a team's page: only who has the secret can make it, and it doesn't show the secret.
pub(super) fn token_of(secret: &str) -> String {
    to_hex(&Sha256::digest(format!("the page of the team with {secret}"))[..16])
}

/// Returns the secret of a request, and whether the browser sent it by itself, in the cookie of this name.
pub(super) fn secret_of<'a>(headers: &'a HeaderMap, cookie: &str) -> Option<(&'a str, bool)> {
    // Another scheme is that of a proxy.
    let given = headers.get(header::AUTHORIZATION).and_then(|line| line.to_str().ok());
    if let Some(given) = given.and_then(|line| line.strip_prefix("Bearer ")) {
        return Some((given.trim(), false));
    }
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs =
        lines.flat_map(|line| line.split(';')).filter_map(|it| it.trim().split_once('='));
    pairs.find(|(name, _)| *name == cookie).map(|(_, value)| (value, true))
}

impl Site {
    pub(super) fn course(&self) -> &Arc<Course> {
        &self.course
    }

    pub(super) fn new(course: Arc<Course>, port: u16, secure: bool) -> Result<Self, Failure> {
        let (unpacking, versions) = mpsc::channel();
        let unpacked = course.clone();
        // One thread, so that archives take no more than a core, and no thread that answers requests.
        std::thread::Builder::new()
            .name("unpacking".to_owned())
            .spawn(move || {
                for version in versions {
                    if let Err(failure) = unpacked.unpack(version) {
                        // The ladder tries again when it takes the version in.
                        tracing::error!("{failure}");
                    }
                }
            })
            .map_err(|error| Failure::machine(format!("the server: {error}")))?;
        // Browsers take the first only from this server, through TLS.
        let cookie = |of: &str| {
            if secure { format!("__Host-referee-{of}") } else { format!("referee-{of}-{port}") }
        };
        Ok(Self {
            course,
            cookie: cookie("team"),
            instructor_cookie: cookie("instructor"),
            secure,
            uploading: Semaphore::new(UPLOADS_MAX),
            looking: Semaphore::new(1),
            writing: Semaphore::new(WRITING_MAX),
            guessing: Semaphore::new(1),
            archiving: Arc::new(Semaphore::new(1)),
            of_teams: Mutex::default(),
            looks: Mutex::default(),
            unpacking,
        })
    }

    /// Returns the secret of a team's request, and whether the browser sent it by itself.
    fn secret<'a>(&self, headers: &'a HeaderMap) -> Option<(&'a str, bool)> {
        secret_of(headers, &self.cookie)
    }

    /// Returns the team that a request acts for.
    fn team(&self, headers: &HeaderMap) -> ApiResult<Team> {
        let known = self.secret(headers).map(|(secret, _)| self.course.team_of(secret));
        known.transpose()?.flatten().ok_or_else(|| {
            let text = "this needs the link of a team";
            ApiError::new(StatusCode::UNAUTHORIZED, text)
                .help("open the link that your instructor sent you; a newer one replaces it")
        })
    }

    /// The same, for a request that changes something: a page of another site doesn't know the token.
    fn team_acting(&self, headers: &HeaderMap) -> ApiResult<Team> {
        let team = self.team(headers)?;
        let token = headers.get(TOKEN_HEADER).and_then(|value| value.to_str().ok());
        match self.secret(headers) {
            Some((secret, true)) if token != Some(token_of(secret).as_str()) => Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "the request has not the token of this page",
            )
            .help("load the page again")),
            _ => Ok(team),
        }
    }

    /// Counts a look at an upload: each is unpacked, which takes time from the games.
    fn may_look(&self, team: &Team, now: Timestamp) -> ApiResult<()> {
        let mut looks = lock(&self.looks);
        let own = looks.entry(team.number).or_default();
        let hour = SignedDuration::from_hours(1);
        while own.front().is_some_and(|at| now.duration_since(*at) >= hour) {
            own.pop_front();
        }
        if own.len() >= LOOKS_MAX {
            let text = format!("{LOOKS_MAX} uploads of a team are looked at in an hour (looks)");
            let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, text);
            let again = own.front().and_then(|first| first.checked_add(hour).ok());
            return Err(again.map_or(error.clone(), |again| error.again(again)));
        }
        own.push_back(now);
        Ok(())
    }

    fn place(&self, team: &Team) -> ApiResult<Place<'_>> {
        let mut of_teams = lock(&self.of_teams);
        let count = of_teams.entry(team.number).or_default();
        if *count >= UPLOADS_OF_TEAM {
            let text = format!("a team may have {UPLOADS_OF_TEAM} uploads under way at once");
            let help = "wait until the others are complete";
            return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, text).help(help));
        }
        *count += 1;
        Ok(Place { site: self, team: team.number })
    }

    /// The most bytes of a body that are read, so that who sends too much still gets an answer.
    fn body_bytes_max(&self) -> u64 {
        let heads = self.course.files_max() as u64 * HEAD_BYTES;
        READ_FACTOR * self.course.upload_bytes_max() + heads + HEADS_BYTES
    }
}

/// Who looks at a match.
#[derive(Clone, Debug)]
pub(super) enum Audience {
    /// Someone who may see everything.
    All,
    /// Anyone, or a team, which also sees the stderr of its own agent.
    Public(Arc<Course>, Option<Team>),
    /// The instructor, who sees the stderr of all agents.
    Instructor,
}

impl Audience {
    pub(super) fn of(app: &App, headers: &HeaderMap) -> Self {
        match &app.site {
            Some(site) if site.is_instructor(headers).unwrap_or(false) => Self::Instructor,
            Some(site) => Self::Public(site.course.clone(), site.team(headers).ok()),
            None => Self::All,
        }
    }

    /// Returns the seats that are the visitor's own.
    pub(super) fn own(course: &Course, team: Option<&Team>, header: &Header) -> Vec<Seat> {
        let is_own = |name: &str| team.is_some_and(|team| course.is_of_team(team, name));
        header.seats.iter().filter(|seat| is_own(&seat.name)).map(|seat| seat.seat).collect()
    }

    /// Whether a player is a version of the visitor's own team.
    pub(super) fn has(&self, player: &str) -> bool {
        match self {
            Self::Public(course, Some(team)) => course.is_of_team(team, player),
            Self::Public(_, None) | Self::All => false,
            Self::Instructor => true,
        }
    }

    /// Returns what it sees of a match.
    pub(super) fn page(&self, page: MatchPage, header: &Header) -> MatchPage {
        match self {
            Self::All => page,
            Self::Instructor => page.public(&all_seats(header)),
            Self::Public(course, team) => page.public(&Self::own(course, team.as_ref(), header)),
        }
    }

    /// Returns what it sees of what is new in a match.
    pub(super) fn update(&self, update: MatchUpdate, header: &Header) -> MatchUpdate {
        match self {
            Self::All => update,
            Self::Instructor => update.public(&all_seats(header)),
            Self::Public(course, team) => update.public(&Self::own(course, team.as_ref(), header)),
        }
    }
}

fn all_seats(header: &Header) -> Vec<Seat> {
    header.seats.iter().map(|seat| seat.seat).collect()
}

/// The routes of teams. Those of uploads read their bodies as they come.
pub(super) fn routes(site: &Site) -> (Router<Arc<App>>, Router<Arc<App>>) {
    let plain = Router::new()
        .route("/api/team", get(team_page))
        .route("/api/team/enter", post(enter))
        .route("/api/team/leave", post(leave))
        .route("/api/team/ratings", get(ratings))
        .route("/api/team/version", get(version))
        .route("/api/team/back", post(take_back));
    let [versions, look] = UPLOAD_PATHS;
    let most = usize::try_from(site.body_bytes_max()).unwrap_or(usize::MAX);
    let uploads = Router::new()
        .route(versions, post(hand_in))
        .route(look, post(self::look))
        .layer(DefaultBodyLimit::max(most));
    (plain, uploads)
}

pub(super) fn site(app: &App) -> &Site {
    app.site.as_ref().expect("the routes exist only with a course")
}

async fn team_page(State(app): State<Arc<App>>, headers: HeaderMap) -> ApiResult<Json<Value>> {
    run_blocking(move || {
        let team = site(&app).team(&headers)?;
        let course = &site(&app).course;
        let next = next_games(&app)?;
        let is_own = |game: &&NextGame| game.players.iter().any(|it| course.is_of_team(&team, it));
        let next = next.iter().filter(is_own).take(NEXT_SHOWN).cloned().collect();
        let report = TeamReport { next, ..course.report(&team, Timestamp::now()) };
        let token = site(&app).secret(&headers).map(|(secret, _)| token_of(secret));
        let page = TeamPage { report, token: token.unwrap_or_default() };
        serde_json::to_value(page).map_err(|error| ApiError::machine(error.to_string()))
    })
    .await
    .map(Json)
}

/// Returns the ratings of the team's versions.
async fn ratings(State(app): State<Arc<App>>, headers: HeaderMap) -> ApiResult<Json<OwnRatings>> {
    run_blocking(move || team_ratings(&app, &site(&app).team(&headers)?)).await.map(Json)
}

/// Exchanges a team's secret for a cookie.
async fn enter(State(app): State<Arc<App>>, bytes: Bytes) -> ApiResult<Response> {
    let EnterQuery { secret } = read_json(&bytes)?;
    run_blocking(move || {
        let site = site(&app);
        let known = site.course.team_of(&secret)?;
        known.ok_or_else(|| {
            ApiError::new(
                StatusCode::UNAUTHORIZED,
                "this link is not, or no longer, that of a team",
            )
            .help("ask your instructor for a new one")
        })?;
        Ok(site.with_cookie(&site.cookie, &secret, COOKIE_SECONDS))
    })
    .await
}

/// Forgets a team's secret in this browser.
async fn leave(State(app): State<Arc<App>>) -> Response {
    let site = site(&app);
    site.with_cookie(&site.cookie, "", 0)
}

impl Site {
    pub(super) fn with_cookie(&self, name: &str, secret: &str, seconds: u32) -> Response {
        let secure = if self.secure { "; Secure" } else { "" };
        let cookie = format!(
            "{name}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}"
        );
        ([(header::SET_COOKIE, cookie)], Json(json!({}))).into_response()
    }
}

/// Returns a version with the feedback of its check.
async fn version(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(query): Query<VersionQuery>,
) -> ApiResult<Json<Value>> {
    run_blocking(move || {
        let course = &site(&app).course;
        let team = site(&app).team(&headers)?;
        let folder = course.version_folder(&team, query.version);
        let report = course.report(&team, Timestamp::now());
        let found = report.versions.into_iter().find(|it| it.version == query.version);
        let (Some(folder), Some(version)) = (folder, found) else {
            let text = format!("your team has no version {}", query.version);
            return Err(ApiError::missing(text));
        };
        let feedback = read_at_most(&folder.join("feedback.md"), FEEDBACK_BYTES_MAX).ok();
        let feedback = feedback.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = feedback.as_deref().map(plain_text);
        Ok(json!({ "version": version, "feedback": feedback, "text": text }))
    })
    .await
    .map(Json)
}

async fn take_back(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    bytes: Bytes,
) -> ApiResult<Json<Value>> {
    run_blocking(move || {
        let team = site(&app).team_acting(&headers)?;
        let VersionQuery { version } = read_json(&bytes)?;
        if version > 0 && site(&app).course.version_folder(&team, version).is_none() {
            return Err(ApiError::missing(format!("your team has no version {version}")));
        }
        let count = site(&app).course.take_back(&team, version, Timestamp::now())?;
        Ok(json!({ "taken_back": count }))
    })
    .await
    .map(Json)
}

/// Takes an upload as the team's next version.
async fn hand_in(State(app): State<Arc<App>>, request: Request) -> ApiResult<Response> {
    let site = site(&app);
    let (team, sent, _place) = upload(site, request).await?;
    let (course, now) = (site.course.clone(), Timestamp::now());
    let _writing = site.writing.acquire().await;
    let Sent { upload, command } = sent;
    let command = command.filter(|words| !words.is_empty());
    let id = run_blocking(move || Ok(course.accept(&team, upload, command, now)?)).await?;
    // It is on the disk. What follows may fail and is then done when the ladder takes it in.
    site.unpacking.send(id).ok();
    Ok((StatusCode::CREATED, Json(json!({ "version": id.version }))).into_response())
}

/// Says how the agent in an upload would be started, and forgets it.
async fn look(State(app): State<Arc<App>>, request: Request) -> ApiResult<Json<Value>> {
    let site = site(&app);
    let (team, sent, _place) = upload(site, request).await?;
    site.may_look(&team, Timestamp::now())?;
    let _one = site.looking.acquire().await;
    let course = site.course.clone();
    let looked = run_blocking(move || course.look(&sent.upload).map_err(ApiError::unfit)).await?;
    let words = looked.command.as_ref().map(|words| words.iter().map(String::as_str));
    let command = words.and_then(|words| shlex::try_join(words).ok());
    Ok(Json(json!({ "is_set": looked.is_set, "language": looked.language, "command": command })))
}

/// What was sent.
struct Sent {
    upload: Upload,
    command: Option<Vec<String>>,
}

/// Reads an upload. What is refused of a team is read nevertheless, within bounds: else the browser would not show why.
async fn upload(site: &Site, request: Request) -> ApiResult<(Team, Sent, Place<'_>)> {
    let known = site.team_acting(request.headers());
    let placed = known.and_then(|team| Ok((site.place(&team)?, team)));
    let (place, team) = match placed {
        Ok(placed) => placed,
        Err(refused) => {
            // It may be anyone's, or one of many, and must not hold a connection.
            drain(request.into_body(), STRANGER_DRAIN_BYTES, STRANGER_DRAIN_TIME).await;
            return Err(refused);
        }
    };
    if let Err(refused) = site.course.may_hand_in(&team, Timestamp::now()) {
        drain(request.into_body(), site.body_bytes_max(), DRAIN_TIME).await;
        return Err(refused.into());
    }
    let _turn = site.uploading.acquire().await;
    let sent = timeout(UPLOAD_TIME, read(&site.course, request)).await.map_err(|_| {
        let text = format!("an upload may take {} s", UPLOAD_TIME.as_secs());
        ApiError::new(StatusCode::REQUEST_TIMEOUT, text)
    })??;
    Ok((team, sent, place))
}

/// Reads and forgets a body.
async fn drain(body: Body, most: u64, time: Duration) {
    let mut left = most;
    let mut stream = body.into_data_stream();
    let read = async {
        while let Some(Ok(bytes)) = stream.next().await {
            left = left.saturating_sub(bytes.len() as u64);
            if left == 0 {
                break;
            }
        }
    };
    timeout(time, read).await.ok();
}

async fn read(course: &Arc<Course>, request: Request) -> ApiResult<Sent> {
    let mut parts = Parts::of(request).await.map_err(|error| {
        ApiError::bad(error.body_text())
            .help("send a form with files, as `curl -F file=@bot.zip` does")
    })?;
    let of = course.clone();
    let begin = move || of.begin().map_err(|error| ApiError::machine(error.to_string()));
    let mut sent = Sent { upload: run_blocking(begin).await?, command: None };
    let mut result = Ok(());
    loop {
        match parts.next().await {
            Ok(None) => break,
            Ok(Some(mut part)) => {
                if result.is_ok() {
                    result = sent.take(&mut part).await;
                }
                part.skip().await;
                if result.is_err() {
                    // Else the browser would not show why.
                    parts.forget_rest();
                }
            }
            Err(error) => {
                let refused = if parts.has_long_head() {
                    ApiError::bad("the head of a part of the form is too long")
                } else {
                    broken(&sent.upload, &error)
                };
                result = result.and(Err(refused));
                break;
            }
        }
    }
    result.map(|()| sent)
}

/// The error for a body that can't be read.
fn broken(upload: &Upload, error: &MultipartError) -> ApiError {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return upload.too_large().into();
    }
    // What can't be read is as it was sent.
    let status = Some(error.status()).filter(StatusCode::is_client_error);
    let text = format!("the upload is not complete: {}", error.body_text());
    ApiError::new(status.unwrap_or(StatusCode::BAD_REQUEST), text)
}

impl Sent {
    async fn take(&mut self, part: &mut Part<'_>) -> ApiResult<()> {
        match part.name() {
            Some("file") => {
                let name = part.file_name().unwrap_or_default().to_owned();
                let failed =
                    |error: std::io::Error| ApiError::machine(format!("the upload: {error}"));
                let place = self.upload.file(&name)?;
                let file = tokio::fs::File::create_new(place).await.map_err(failed)?;
                // What comes may come byte by byte.
                let mut file = BufWriter::with_capacity(WRITTEN_BYTES, file);
                while let Some(bytes) =
                    part.chunk().await.map_err(|error| broken(&self.upload, &error))?
                {
                    self.upload.more(bytes.len() as u64)?;
                    file.write_all(&bytes).await.map_err(failed)?;
                }
                file.flush().await.map_err(failed)
            }
            Some("command") if self.command.is_some() => {
                Err(ApiError::bad("the form has two commands"))
            }
            Some("command") => {
                let mut text = Vec::new();
                while let Some(bytes) =
                    part.chunk().await.map_err(|error| broken(&self.upload, &error))?
                {
                    text.extend_from_slice(&bytes);
                    if text.len() > COMMAND_BYTES_MAX {
                        return Err(ApiError::bad("the command is too long"));
                    }
                }
                let text = String::from_utf8(text)
                    .map_err(|_| ApiError::bad("the command is not UTF-8"))?;
                let words = shlex::split(text.trim())
                    .ok_or_else(|| ApiError::bad("the command has a quote that is not closed"))?;
                self.command = Some(words);
                Ok(())
            }
            other => Err(ApiError::bad(format!(
                "the form has a part {:?}; it may have `file` and `command`",
                other.unwrap_or_default()
            ))),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal.kind {
            RefusalKind::OldLink => StatusCode::UNAUTHORIZED,
            RefusalKind::Closed => StatusCode::FORBIDDEN,
            RefusalKind::TooMany => StatusCode::TOO_MANY_REQUESTS,
            RefusalKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            RefusalKind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            RefusalKind::Full => StatusCode::INSUFFICIENT_STORAGE,
            RefusalKind::Machine => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let error = Self::new(status, refusal.text);
        match refusal.again {
            Some(again) => error.again(again),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::token_of;

    #[test]
    fn a_token_is_of_one_secret_and_does_not_show_it() {
        let (one, other) = ("0".repeat(32), "1".repeat(32));
        assert_ne!(token_of(&one), token_of(&other));
        assert!(token_of(&one).len() == 32 && token_of(&one) != one);
    }
}
