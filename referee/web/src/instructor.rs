//! The instructor's page of a course: what it shows, and what it does. A request acts for the instructor if it presents
//! the instructor's secret; what it does is what the commands do.

use super::App;
use super::contests::{NEXT_SHOWN, Whole, next_games, whole};
use super::course::{COOKIE_SECONDS, Site, TOKEN_HEADER, secret_of, site, token_of};
use super::errors::{ApiError, ApiResult, run_blocking, run_costly};
use super::pages::download;
use super::read_json;
use axum::body::{Body, Bytes};
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream;
use jiff::Timestamp;
use referee_contest::file::ContestFile;
use referee_contest::report::{ChangeRow, grades_csv};
use referee_contest::wording::count;
use referee_match::RULES;
use referee_process::Failure;
use referee_runner::changing::find_player;
use referee_runner::course::{Act, CourseReport, Done, TeamLine, Teams, grades_by};
use referee_runner::folder::Folder;
use referee_runner::programs;
use referee_runner::results::schedule;
use referee_runner::store::{Store, VoidAttempt};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{Sender, channel};

/// How long a wrong secret is looked at; one at a time is.
const WRONG_PAUSE: Duration = Duration::from_millis(500);
/// The failures of each kind that are shown.
const FAILURES_MAX: usize = 50;
/// The entries of lists of what was done that are shown.
const DONE_MAX: usize = 100;
/// The size of a part of the archive, and how many are under way.
const PART_BYTES: usize = 256 << 10;
const PARTS_MAX: usize = 4;
/// The causes of void games that are never a team's.
const OF_THE_MACHINE: [&str; 3] = ["machine", "lag", RULES];

#[derive(Deserialize)]
struct EnterQuery {
    secret: String,
}

#[derive(Deserialize)]
struct GradesQuery {
    /// The folder of a final; empty for the course itself.
    #[serde(default)]
    of: String,
}

/// The routes of the instructor's page.
pub(super) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/api/instructor", get(page).post(act))
        .route("/api/instructor/grades", get(grades))
        .route("/api/instructor/archive", get(archive))
        .layer(from_fn_with_state(app.clone(), guard))
        .route("/api/instructor/enter", post(enter))
        .route("/api/instructor/leave", post(leave))
}

impl Site {
    /// Whether a request acts for the instructor.
    pub(super) fn is_instructor(&self, headers: &HeaderMap) -> ApiResult<bool> {
        let secret = secret_of(headers, &self.instructor_cookie);
        secret.map_or(Ok(false), |(secret, _)| Ok(self.course().has_instructor(secret)?))
    }

    /// Waits, so that secrets can't be guessed.
    async fn wrong(&self) -> ApiError {
        match self.guessing.try_acquire() {
            Ok(_permit) => {
                tokio::time::sleep(WRONG_PAUSE).await;
                ApiError::new(StatusCode::UNAUTHORIZED, "this needs the instructor's link")
                    .help("make one: referee contest teams DIR --instructor")
            }
            Err(_) => ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too many wrong secrets")
                .help("open the link again in some seconds"),
        }
    }
}

/// Refuses requests that don't act for the instructor. What changes something needs the page's token, if the browser
/// sends the secret by itself.
async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (site, headers) = (site(&app), request.headers());
    match site.is_instructor(headers) {
        Ok(true) => {}
        Ok(false) => return site.wrong().await.into_response(),
        Err(error) => return error.into_response(),
    }
    let token = headers.get(TOKEN_HEADER).and_then(|value| value.to_str().ok());
    match secret_of(headers, &site.instructor_cookie) {
        Some((secret, true))
            if *request.method() == Method::POST && token != Some(token_of(secret).as_str()) =>
        {
            ApiError::new(StatusCode::FORBIDDEN, "the request has not the token of this page")
                .help("load the page again")
                .into_response()
        }
        _ => next.run(request).await,
    }
}

/// Exchanges the instructor's secret for a cookie.
async fn enter(State(app): State<Arc<App>>, bytes: Bytes) -> ApiResult<Response> {
    let EnterQuery { secret } = read_json(&bytes)?;
    let site = site(&app);
    if !site.course().has_instructor(&secret)? {
        return Err(site.wrong().await);
    }
    Ok(site.with_cookie(&site.instructor_cookie, &secret, COOKIE_SECONDS))
}

async fn leave(State(app): State<Arc<App>>) -> Response {
    let site = site(&app);
    site.with_cookie(&site.instructor_cookie, "", 0)
}

async fn page(State(app): State<Arc<App>>, headers: HeaderMap) -> ApiResult<Json<Value>> {
    run_blocking(move || {
        let secret = secret_of(&headers, &site(&app).instructor_cookie);
        let token = secret.map(|(secret, _)| token_of(secret)).unwrap_or_default();
        shown(&app, &token)
    })
    .await
    .map(Json)
}

/// Returns what the page shows.
fn shown(app: &App, token: &str) -> ApiResult<Value> {
    let course = site(app).course();
    let CourseReport { now, deadline, grace_ms, freeze_at, paused, teams, queue, mut log } =
        course.overview(Timestamp::now())?;
    let found = whole(app, &Folder::open(app.served.root())?)?;
    let last = log.iter().find(|entry| entry.final_folder().is_some()).cloned();
    log.truncate(DONE_MAX);
    let last = last.map(|entry| {
        let name = entry.final_folder().unwrap_or_default();
        let folder = course.final_folder(name).and_then(|place| Folder::open(&place));
        // It is not there before it begins.
        let found = folder.ok().map(|folder| whole(app, &folder)).transpose()?;
        let table = found.as_ref().map(|found| found.report.table());
        let (head, rows) = table.unwrap_or_default();
        Ok::<_, ApiError>(json!({
            "folder": name, "outcome": entry.outcome, "head": head, "rows": rows,
            "games": found.as_ref().map(|it| it.progress.games),
            "played": found.as_ref().map(|it| it.progress.played),
        }))
    });
    let (of_machine, of_teams): (Vec<_>, Vec<_>) =
        found.voids.iter().rev().partition(|void| is_of_machine(void));
    let failures = |voids: Vec<&VoidAttempt>| {
        let row = |void: &&VoidAttempt| {
            let player = void.player.and_then(|it| found.contest.players.get(it.index()));
            json!({ "game": void.number, "cause": void.cause, "text": void.text,
                    "player": player.map(|player| &player.name) })
        };
        json!({ "count": voids.len(),
                "rows": voids.iter().take(FAILURES_MAX).map(row).collect::<Vec<_>>() })
    };
    let mut changes = ChangeRow::of(&found.contest);
    changes.reverse();
    changes.truncate(DONE_MAX);
    let figures = figures(&found);
    Ok(json!({
        "token": token,
        "name": found.contest.name,
        "now": now,
        "deadline": deadline,
        "grace_ms": grace_ms,
        "freeze_at": freeze_at,
        "paused": paused,
        "played": found.progress.played,
        "teams": teams.iter().map(|line| team(line, &figures)).collect::<Vec<_>>(),
        "queue": queue,
        "next": next_games(app)?.iter().take(NEXT_SHOWN).collect::<Vec<_>>(),
        "machine": failures(of_machine),
        "faults": failures(of_teams),
        "log": log,
        "changes": changes,
        "final": last.transpose()?,
    }))
}

fn is_of_machine(void: &VoidAttempt) -> bool {
    void.player.is_none() || OF_THE_MACHINE.contains(&&*void.cause)
}

/// What a player has done: games, faults, and the rating.
struct Figures {
    games: u64,
    faults: u64,
    elo: Option<f64>,
}

fn figures(found: &Whole) -> BTreeMap<&str, Figures> {
    let ratings = found.report.ratings.as_ref().map_or(&[][..], |ratings| &ratings.players);
    let standings = found.report.standings.players.iter();
    let own = standings.map(|own| {
        let rating = ratings.iter().find(|rating| rating.player == own.player);
        let faults = own.faults.iter().map(|fault| fault.games).sum();
        let elo = rating.filter(|_| own.total.games > 0).map(|rating| rating.elo);
        (own.name.as_str(), Figures { games: own.total.games, faults, elo })
    });
    own.collect()
}

/// Returns a team's line.
fn team(line: &TeamLine, figures: &BTreeMap<&str, Figures>) -> Value {
    let TeamLine { id, members, until, disqualified, report } = line;
    let versions = &report.versions;
    let last = versions.first();
    let own = || versions.iter().filter_map(|version| figures.get(version.player.as_deref()?));
    let playing = versions.iter().find(|it| it.player.is_some() && !it.taken_back);
    let player = playing.and_then(|it| it.player.as_deref());
    json!({
        "name": report.team,
        "id": id,
        "members": members,
        "until": until,
        "disqualified": disqualified,
        "closes": report.closes,
        "versions": versions.len(),
        "last": last.and_then(|last| last.steps.first()).and_then(|step| step.at.as_ref()),
        "settled": last.is_none_or(|last| last.settled),
        "why": last.and_then(|last| last.why.as_ref()),
        "player": player,
        "elo": player.and_then(|player| figures.get(player)?.elo),
        "games": own().map(|own| own.games).sum::<u64>(),
        "faults": own().map(|own| own.faults).sum::<u64>(),
    })
}

/// Does what the instructor asks for.
async fn act(State(app): State<Arc<App>>, bytes: Bytes) -> ApiResult<Json<Value>> {
    let act: Act = read_json(&bytes)?;
    run_blocking(move || {
        if let Act::Rerun { games, player, .. } = &act {
            check_rerun(&app, games, player)?;
        }
        let Done { text, secret, teams, .. } = site(&app).course().act(act)?;
        let address = teams.address.unwrap_or_default();
        let link = secret.map(|secret| format!("{address}/team#{}", secret.text()));
        Ok(json!({ "text": text, "link": link }))
    })
    .await
    .map(Json)
}

/// Fails if there is no such game or player.
fn check_rerun(app: &App, games: &[u64], player: &str) -> ApiResult<()> {
    let store = Store::open_foreign(&Folder::open(app.served.root())?)?;
    let contest = store.contest()?.contest;
    if !player.is_empty() {
        let found = find_player(&contest.players, player);
        found.map_err(|failure| ApiError::missing(failure.to_string()))?;
    }
    let schedule = schedule(contest.into(), &store)?;
    match games.iter().find(|number| schedule.fixture(**number).is_none()) {
        Some(number) => {
            let known = count(schedule.known(), "game");
            let text = format!("there is no game {number}: the contest has {known}");
            Err(ApiError::missing(text)
                .help("games are counted from 0; their list has the numbers"))
        }
        None => Ok(()),
    }
}

/// Returns the grades of the course, or of a final, as CSV.
async fn grades(
    State(app): State<Arc<App>>,
    Query(GradesQuery { of }): Query<GradesQuery>,
) -> ApiResult<Response> {
    let shared = app.clone();
    let name = if of.is_empty() { "grades.csv".to_owned() } else { format!("{of}-grades.csv") };
    let text = run_costly(&shared.replaying, "", move || {
        let course = site(&app).course();
        let teams = course.teams()?;
        let folder = if of.is_empty() {
            Folder::open(app.served.root())?
        } else {
            let known = teams.log.iter().any(|entry| entry.final_folder() == Some(&of));
            if !known {
                return Err(ApiError::missing(format!("there is no final {of:?}")));
            }
            Folder::open(&course.final_folder(&of)?)?
        };
        grades_of(&app, &folder, &teams)
    })
    .await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8")),
        (header::CONTENT_DISPOSITION, download(&name)),
    ];
    Ok((headers, text).into_response())
}

fn grades_of(app: &App, folder: &Folder, teams: &Teams) -> ApiResult<String> {
    let text = folder.read_file().map_err(|error| ApiError::machine(error.to_string()))?;
    let games = programs::of_file(folder, &text, app.served.games())?;
    let file = ContestFile::read_stored(&text, "contest.toml", "contest", &games);
    let file = file.map_err(|error| ApiError::unfit(error.to_string()))?;
    let found = whole(app, folder)?;
    let of = (&*found.report, &found.contest);
    let grades = grades_by(&file, "contest.toml".as_ref(), of, Some(teams))?;
    Ok(grades_csv(&grades.grades))
}

/// Writes to a response.
struct Parts(Sender<io::Result<Bytes>>);

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let part = Bytes::copy_from_slice(bytes);
        self.0.blocking_send(Ok(part)).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Streams an archive of everything.
async fn archive(State(app): State<Arc<App>>) -> ApiResult<Response> {
    let Ok(permit) = site(&app).archiving.clone().try_acquire_owned() else {
        let text = "an archive is being downloaded already";
        return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, text).help("wait for its end"));
    };
    let (parts, mut written) = channel(PARTS_MAX);
    let course = site(&app).course().clone();
    let name = format!("{}.tar", app.served.title());
    // A thread of its own, since it waits for the visitor.
    let thread = std::thread::Builder::new().name("archive".to_owned()).spawn(move || {
        let _permit = permit;
        let mut out = BufWriter::with_capacity(PART_BYTES, Parts(parts.clone()));
        if let Err(error) = course.archive(&mut out).and_then(|()| out.flush()) {
            // What was sent so far must not look whole.
            parts.blocking_send(Err(error)).ok();
        }
    });
    thread.map_err(|error| Failure::machine(format!("the archive: {error}")))?;
    let body = Body::from_stream(stream::poll_fn(move |context| written.poll_recv(context)));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/x-tar")),
        (header::CONTENT_DISPOSITION, download(&name)),
    ];
    Ok((headers, body).into_response())
}
