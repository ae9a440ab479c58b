//! `contest open --web`: teams hand in on the web, and see only what is theirs.

use crate::support::contest::{AMPLE, contest, query};
use crate::support::http::{Reply, ask};
use crate::support::{Running, TestDir, eventually, program};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

const PLAYERS: &str = "select name from players order by number";
/// What amy's agent writes to stderr.
const WORDS: &str = "words of amy alone";

/// A running course with the teams amy and bob.
struct Course {
    running: Running,
    port: u16,
    /// The secrets of the teams.
    amy: String,
    bob: String,
}

fn file(dir: &TestDir, web: &str) {
    dir.write(
        "c.toml",
        format!(
            "name = \"course\"\nseed = 7\nrounds = 1\nformat = \"ladder\"\nagents = [\"@random\", \"@first\"]\n\
             {AMPLE}sandbox.level = \"none\"\n[web]\n{web}\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
        ),
    );
}

fn open(dir: &TestDir, words: &[&str]) -> (Running, u16) {
    let running = dir.start(&[&["contest", "open", "--web=127.0.0.1:0"], words].concat());
    let said = running.wait_for_stderr("site: http://127.0.0.1:");
    let port = said.split("site: http://127.0.0.1:").nth(1).unwrap();
    let digits: String = port.chars().take_while(char::is_ascii_digit).collect();
    (running, digits.parse().unwrap())
}

impl Course {
    fn start(dir: &TestDir, web: &str, words: &[&str]) -> Self {
        file(dir, web);
        Self::of(dir, open(dir, &[&["c.toml", "--out", "d"], words].concat()))
    }

    /// Adds the teams.
    fn of(dir: &TestDir, (running, port): (Running, u16)) -> Self {
        dir.write("teams.csv", "name,id\namy,s1\nbob,s2\n");
        let made = contest(dir, &["teams", "d", "--from", "teams.csv", "--json"]).code(0).json();
        let secret = |at: usize| {
            let link = made["teams"][at]["link"].as_str().unwrap();
            let (address, secret) = link.split_once("/team#").unwrap();
            assert_eq!(address, format!("http://127.0.0.1:{port}"));
            secret.to_owned()
        };
        Self { amy: secret(0), bob: secret(1), running, port }
    }

    /// Kills the referee, and begins again.
    fn again(self, dir: &TestDir) -> Self {
        self.running.send(Signal::SIGKILL);
        self.running.wait();
        // The command that resumes it is that which takes in versions.
        contest(dir, &["status", "d"])
            .code(0)
            .stdout_has("referee contest open ")
            .stdout_has("--web");
        let (running, port) = open(dir, &["d"]);
        Self { running, port, ..self }
    }

    fn get(&self, secret: &str, path: &str) -> Reply {
        ask(self.port, "GET", path, &[("authorization", &format!("Bearer {secret}"))], "")
    }

    fn post(&self, secret: &str, path: &str, body: &Value) -> Reply {
        let bearer = format!("Bearer {secret}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        ask(self.port, "POST", path, &headers, body.to_string())
    }

    fn send(&self, secret: &str, path: &str, files: &[(&str, &[u8])]) -> Reply {
        let bearer = format!("Bearer {secret}");
        let headers = [("authorization", bearer.as_str()), ("content-type", MULTIPART)];
        ask(self.port, "POST", path, &headers, form(files))
    }

    #[track_caller]
    fn hand_in(&self, secret: &str, name: &str, text: &str) -> u64 {
        let reply = self.send(secret, "/api/team/versions", &[(name, text.as_bytes())]);
        assert_eq!(reply.status, 201);
        reply.json()["version"].as_u64().unwrap()
    }

    /// Waits for what becomes of a version.
    #[track_caller]
    fn settled(&self, secret: &str, version: u64) -> Value {
        let path = format!("/api/team/version?version={version}");
        let get = || self.get(secret, &path).json();
        let is_settled = eventually(|| get()["version"]["settled"] == true);
        assert!(is_settled, "{}", get());
        get()
    }
}

const MULTIPART: &str = "multipart/form-data; boundary=xyz";

fn form(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, bytes) in files {
        let head = format!(
            "--xyz\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
        );
        body.extend([head.as_bytes(), bytes, b"\r\n"].concat());
    }
    body.extend(b"--xyz--\r\n");
    body
}

/// An agent that plays, in one file without an agent.toml.
fn bot(note: &str, words: &str) -> String {
    format!("# {note}\necho '{words}' >&2\nexec '{}' agent first\n", program())
}

/// A team sees its own ratings, with intervals, and no others.
fn shows_its_own_ratings(course: &Course) {
    let ratings = |secret: &str| course.get(secret, "/api/team/ratings").json();
    let own = || -> Vec<Value> {
        let all = ratings(&course.amy)["ratings"].as_array().cloned().unwrap_or_default();
        all.iter().map(|rating| rating["player"].clone()).collect()
    };
    assert!(eventually(|| own() == ["amy v2", "amy"]), "{:?}", own());
    let found = ratings(&course.amy);
    assert!(found["ratings"][0]["elo"].is_number() && found["ratings"][0]["games"] != 0, "{found}");
    let point = found["ratings"][0]["history"][0].as_object().unwrap();
    assert!(["low", "high"].iter().all(|end| point.contains_key(*end)), "{found}");
    let picture = found["picture"].as_str().unwrap();
    assert_eq!(picture.matches("class=\"band b").count(), 2, "{picture}");
    assert!(picture.contains(">amy v2<") && !picture.contains("@first"), "{picture}");
    assert_eq!(ratings(&course.bob), json!({ "ratings": [], "picture": null }));
}

#[test]
fn a_team_hands_in_reads_why_and_climbs() {
    let dir = TestDir::new();
    let course = Course::start(&dir, "", &[]);
    let version = course.hand_in(&course.amy, "bot.sh", "exit 1\n");
    let refused = course.settled(&course.amy, version);
    assert!(refused["version"]["player"].is_null(), "{refused}");
    assert_eq!(refused["version"]["command"], "sh bot.sh");
    let steps = |report: &Value| -> Vec<String> {
        let steps = report["version"]["steps"].as_array().unwrap().iter();
        steps.map(|step| step["state"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(steps(&refused), ["done", "done", "done", "failed", "skipped"], "{refused}");
    let feedback = refused["feedback"].as_str().unwrap();
    assert!(feedback.contains("# amy: the check failed"), "{feedback}");
    // No place on the server is shown.
    let shown = refused.to_string();
    assert!(!shown.contains("uploads") && !shown.contains("team-1"), "{shown}");
    // Two at once are two versions in order.
    for (text, expected) in [("one", 2), ("two", 3)] {
        assert_eq!(course.hand_in(&course.amy, "bot.sh", &bot(text, "")), expected);
    }
    // Whatever was answered is there after a kill.
    let course = course.again(&dir);
    let first = course.settled(&course.amy, 2);
    assert_eq!(first["version"]["player"], "amy", "{first}");
    assert_eq!(steps(&first), ["done"; 5], "{first}");
    let second = course.settled(&course.amy, 3);
    assert_eq!(second["version"]["player"], "amy v2", "{second}");
    assert!(eventually(|| query(
        &dir,
        "d",
        "select number from seats join games on \
        games.number = seats.game where player = 3"
    )
    .len()
        > 1));
    shows_its_own_ratings(&course);
    // Back to the first: the second one leaves.
    let back = course.post(&course.amy, "/api/team/back", &json!({ "version": 2 }));
    assert_eq!(back.json(), json!({ "taken_back": 1 }));
    let left = || course.get(&course.amy, "/api/team/version?version=3").json();
    assert_eq!(left()["version"]["taken_back"], true);
    let changes = || fs::read_to_string(dir.path("d/changes.json")).unwrap_or_default();
    assert!(eventually(|| changes().contains("taken back by its team")));
    // The same again: its player comes back.
    assert_eq!(course.hand_in(&course.amy, "bot.sh", &bot("two", "")), 4);
    let again = course.settled(&course.amy, 4);
    assert_eq!(again["version"]["player"], "amy v2", "{again}");
    assert!(eventually(|| changes().contains("handed in again")), "{}", changes());
    let back = course.post(&course.amy, "/api/team/back", &json!({ "version": 2 }));
    assert_eq!(back.json(), json!({ "taken_back": 1 }));
    // When all games are played the ladder waits, since teams may hand in.
    let page = || course.get("", "/api/contest").json();
    let waits = || page()["notes"].to_string().contains("waits for new agents");
    assert!(eventually(|| changes().matches("taken back by its team").count() == 2 && waits()));
    let shown = page();
    assert_eq!((&shown["over"], &shown["played"]), (&json!(false), &shown["games"]), "{shown}");
    contest(&dir, &["status", "d"]).code(0).stdout_has("waits for new agents");
    // The instructor's page says which games there are, and what was done by commands.
    let link = contest(&dir, &["teams", "d", "--instructor"]).code(0).stdout;
    let secret = link.trim().split_once("/instructor#").unwrap().1;
    let rerun = json!({ "act": "rerun", "games": [100_000], "reason": "x" });
    let missing = course.post(secret, "/api/instructor", &rerun);
    assert_eq!(missing.status, 404);
    assert!(missing.text().contains("there is no game 100000"));
    let log = course.get(secret, "/api/instructor").json()["log"].to_string();
    assert!(log.contains("2 added, 0 updated") && log.contains("the instructor has a new link"));
    // What the public has seen can't be hidden: a freeze in the past begins now.
    contest(&dir, &["times", "d", "--freeze-at", "2001-01-01 00:00"]).code(0);
    let frozen = page();
    for key in ["games", "played", "rows", "over"] {
        assert_eq!(frozen[key], shown[key], "{frozen}");
    }
    contest(&dir, &["times", "d", "--freeze-at", "none"]).code(0);
    assert_eq!(query(&dir, "d", PLAYERS), ["@random", "@first", "amy", "amy v2"]);
    // The field of a final, with ids for the grades.
    let ran = contest(&dir, &["final", "d", "--out", "bots"]).code(0);
    assert_eq!(ran.stdout, "amy\ts1\t2\nbob\ts2\t-\n");
    ran.stderr_has("bob has no version that plays");
    let names: Vec<String> = fs::read_dir(dir.path("bots"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, ["amy"]);
    let mode = dir.path("bots").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "other users read what teams have written");
    assert!(fs::read_to_string(dir.path("bots/amy/bot.sh")).unwrap().contains("# one"));
    contest(&dir, &["final", "d", "--out", "bots"]).code(2).stderr_has("it is there already");
    course.running.send(Signal::SIGINT);
    let ran = course.running.wait().stderr_has("agents can read what other teams handed in");
    assert!(!ran.stderr.contains(&course.amy), "{}", ran.stderr);
    contest(&dir, &["resume", "d"]).code(0);
    dir.run(&["verify", "d"]).code(0);
    dir.write(
        "g.toml",
        fs::read_to_string(dir.path("d/contest.toml")).unwrap()
            + "\n[grades]\nmarks = [{ mark = \"A\" }]\n",
    );
    let grades = contest(&dir, &["grades", "d", "--file", "g.toml", "--teams", "d", "--json"]);
    let grades = grades.code(0).json();
    let of = |name: &str| {
        let all = grades["grades"].as_array().unwrap().iter();
        all.clone().find(|own| own["name"] == name).map(|own| own["id"].clone())
    };
    assert_eq!((of("amy"), of("amy v2")), (Some(json!("s1")), Some(json!("s1"))), "{grades}");
    assert_eq!(of("@random"), Some(Value::Null));
}

#[test]
fn a_team_reaches_nothing_of_others() {
    let dir = TestDir::new();
    let course = Course::start(&dir, "", &["--no-check"]);
    let version = course.hand_in(&course.amy, "bot.sh", &bot("a secret idea", WORDS));
    course.settled(&course.amy, version);
    let games = || course.get("", "/api/contest/games?agent=amy").json();
    assert!(eventually(|| games()["rows"].as_array().is_some_and(|rows| !rows.is_empty())));
    let file = games()["rows"][0]["file"].as_str().unwrap().to_owned();
    // The stderr of an agent is its own team's.
    let views = [
        format!("/api/match?file={file}"),
        format!("/api/follow?file={file}"),
        format!("/api/picture?file={file}&form=html"),
    ];
    for view in &views {
        for (who, sees) in [(&course.bob, false), (&String::new(), false), (&course.amy, true)] {
            let text = course.get(who, view).text();
            assert!(text.contains("\"plies\""), "{view}: {text}");
            assert_eq!(text.contains(WORDS), sees, "{view}");
            assert!(!text.contains("team-1") && !text.contains("bot.sh"), "{view}: {text}");
        }
    }
    // Nor are exact lines, sources, logs, or what starts programs there for anyone.
    for path in [
        "/api/lines?file=FILE&ply=1",
        "/api/branch?file=FILE&ply=1&actions=",
        "/api/explore?file=FILE&ply=1",
        "/api/transcripts",
        "/api/seat?file=FILE&seat=0",
        "/files/report.html",
        "/files/FILE",
        "/metrics",
        "/compare",
        "/api/match?file=teams/uploads/1/1/sent/0",
        "/api/match?file=teams/uploads/1/1/feedback.md",
        "/api/match?file=teams/teams.json",
        "/api/match?file=../c.toml",
        "/api/team/version?version=2",
        "/assets/..%2f..%2fteams.json",
        "/teams/teams.json",
    ] {
        let path = path.replace("FILE", &file);
        let reply = course.get(&course.bob, &path);
        assert!([400, 404].contains(&reply.status), "{path}: {}", reply.status);
    }
    for path in ["/api/ask", "/api/rerun", "/api/matches", "/api/stop", "/api/seat"] {
        assert_eq!(course.post(&course.bob, path, &json!({ "file": file })).status, 404, "{path}");
    }
    // A team has its own versions only.
    assert_eq!(course.get(&course.bob, "/api/team").json()["versions"], json!([]));
    assert_eq!(course.get(&course.bob, "/api/team/version?version=1").status, 404);
    let back = |secret: &str| course.post(secret, "/api/team/back", &json!({ "version": 0 }));
    assert_eq!(back(&course.bob).json(), json!({ "taken_back": 0 }));
    // Without a team's secret there is nothing.
    for wrong in ["", "0", &course.amy[1..], &course.amy.to_uppercase()] {
        assert_eq!(course.get(wrong, "/api/team").status, 401, "{wrong}");
        assert_eq!(back(wrong).status, 401, "{wrong}");
        let sent = course.send(wrong, "/api/team/versions", &[("bot.sh", b"x")]);
        assert_eq!(sent.status, 401, "{wrong}");
    }
    // Whoever has none holds no connection by an upload that never ends.
    let began = Instant::now();
    let mut stranger = TcpStream::connect(("127.0.0.1", course.port)).unwrap();
    let head = format!(
        "POST /api/team/versions HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nauthorization: Bearer 0\r\n\
         content-type: {MULTIPART}\r\ncontent-length: 1000000\r\n\r\nx",
        course.port
    );
    stranger.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stranger.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    let settings = fs::read_to_string(dir.path("d/teams/teams.json")).unwrap();
    assert!(!settings.contains(&course.amy) && !settings.contains(&course.bob));
    course.running.send(Signal::SIGKILL);
    course.running.wait();
}

#[test]
fn only_the_page_of_a_team_acts_for_it_in_a_browser() {
    let dir = TestDir::new();
    let course = Course::start(&dir, "", &["--no-check"]);
    let (port, json) = (course.port, ("content-type", "application/json"));
    let secret = json!({ "secret": course.amy }).to_string();
    let entered = ask(port, "POST", "/api/team/enter", &[json, ("x-referee", "1")], &secret);
    let cookie = entered.headers["set-cookie"].clone();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let page = ask(port, "GET", "/api/team", &[("cookie", &cookie)], "");
    for (name, value) in [("referrer-policy", "no-referrer"), ("cache-control", "no-store")] {
        assert_eq!(page.headers[name], value);
    }
    let page = page.json();
    let token = page["token"].as_str().unwrap().to_owned();
    assert!(!page.to_string().contains(&course.amy), "the page itself has no secret");
    let other = course.get(&course.bob, "/api/team").json()["token"].as_str().unwrap().to_owned();
    let own = format!("http://127.0.0.1:{port}");
    let (evil, body) = ("https://evil.example", form(&[("bot.sh", b"x")]));
    for (origin, given, kind, path, expected) in [
        (own.as_str(), token.as_str(), MULTIPART, "/api/team/versions", 201),
        (evil, &token, MULTIPART, "/api/team/versions", 403),
        ("null", &token, MULTIPART, "/api/team/versions", 403),
        (&own, "1", MULTIPART, "/api/team/versions", 403),
        (&own, &other, MULTIPART, "/api/team/versions", 403),
        (&own, &token, "text/plain", "/api/team/versions", 415),
        (&own, &token, "application/x-www-form-urlencoded", "/api/team/back", 415),
        (&own, "1", json.1, "/api/team/back", 403),
        (evil, &token, json.1, "/api/team/back", 403),
    ] {
        let headers = [
            ("cookie", cookie.as_str()),
            ("origin", origin),
            ("x-referee", given),
            ("content-type", kind),
        ];
        let found = ask(port, "POST", path, &headers, &body).status;
        assert_eq!(found, expected, "{origin} {given} {kind} {path}");
    }
    // A form can't send the header at all.
    let headers = [("cookie", cookie.as_str()), ("content-type", MULTIPART)];
    assert_eq!(ask(port, "POST", "/api/team/versions", &headers, &body).status, 403);
    // Another name that leads here is refused.
    let rebound = [("host", "evil.example"), ("cookie", cookie.as_str())];
    assert_eq!(ask(port, "GET", "/api/team", &rebound, "").status, 421);
    // A new link ends the one before, in every browser.
    contest(&dir, &["teams", "d", "--renew", "amy"]).code(0).stdout_has("/team#");
    assert_eq!(ask(port, "GET", "/api/team", &[("cookie", &cookie)], "").status, 401);
    let again = ask(port, "POST", "/api/team/enter", &[json, ("x-referee", "1")], &secret);
    assert!(again.status == 401 && !again.headers.contains_key("set-cookie"));
    // No cell of a table in a pipe is a formula.
    contest(&dir, &["invite", "d", "=1+1", "--id", "+2"]).code(0).stdout_has("'=1+1\t");
    contest(&dir, &["teams", "d"]).code(0).stdout_has("'=1+1\t'+2\t");
    course.running.send(Signal::SIGKILL);
    course.running.wait();
}

#[test]
fn only_the_instructor_has_the_instructor_s_page() {
    let dir = TestDir::new();
    let course = Course::start(&dir, "", &["--no-check"]);
    let link = || {
        let made = contest(&dir, &["teams", "d", "--instructor", "--json"]).code(0).json();
        made["instructor"].as_str().unwrap().split_once("/instructor#").unwrap().1.to_owned()
    };
    let (old, secret) = (link(), link());
    let (port, json) = (course.port, ("content-type", "application/json"));
    // A newer link replaces the one before; that of a team is another matter.
    for wrong in [&old, &course.amy, &String::new()] {
        for path in ["", "/grades", "/archive"] {
            let reply = course.get(wrong, &format!("/api/instructor{path}"));
            assert_eq!(reply.status, 401, "{path}");
        }
        let pause = course.post(wrong, "/api/instructor", &json!({ "act": "unpause" }));
        assert_eq!(pause.status, 401);
        let enter = json!({ "secret": wrong }).to_string();
        let enter = ask(port, "POST", "/api/instructor/enter", &[json, ("x-referee", "1")], &enter);
        assert!(enter.status == 401 && !enter.headers.contains_key("set-cookie"));
    }
    assert_eq!(course.get(&secret, "/api/team").status, 401);
    assert_eq!(course.get(&secret, "/api/instructor").json()["teams"][0]["id"], "s1");
    // In a browser, only the page itself acts.
    let enter = json!({ "secret": secret }).to_string();
    let entered = ask(port, "POST", "/api/instructor/enter", &[json, ("x-referee", "1")], &enter);
    let cookie = entered.headers["set-cookie"].clone();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let page = ask(port, "GET", "/api/instructor", &[("cookie", &cookie)], "").json();
    assert!(!page.to_string().contains(&secret));
    let token = page["token"].as_str().unwrap();
    let own = format!("http://127.0.0.1:{port}");
    for (origin, given, expected) in [
        (own.as_str(), token, 200),
        (own.as_str(), "1", 403),
        ("https://evil.example", token, 403),
        ("null", token, 403),
    ] {
        let headers = [("cookie", cookie.as_str()), ("origin", origin), ("x-referee", given), json];
        let body = json!({ "act": "invite", "name": "zoe" }).to_string();
        let reply = ask(port, "POST", "/api/instructor", &headers, body);
        assert_eq!(reply.status, expected, "{origin} {given}");
    }
    let stored = fs::read_to_string(dir.path("d/teams/teams.json")).unwrap();
    assert!(!stored.contains(&secret) && !stored.contains(&old));
    course.running.send(Signal::SIGINT);
    assert!(!course.running.wait().stderr.contains(&secret));
}

#[test]
fn who_comes_next_is_shown() {
    let dir = TestDir::new();
    let course = Course::start(&dir, "", &["--no-check"]);
    let made = contest(&dir, &["teams", "d", "--instructor", "--json"]).code(0).json();
    let link = made["instructor"].as_str().unwrap();
    let instructor = link.split_once('#').unwrap().1;
    contest(&dir, &["pause", "d", "--reason", "lunch"]).code(0);
    let version = course.hand_in(&course.amy, "bot.sh", &bot("x", ""));
    assert_eq!(course.settled(&course.amy, version)["version"]["player"], "amy");
    let next = |secret: &str, path: &str| course.get(secret, path).json()["next"].take();
    let own = || next(&course.amy, "/api/team");
    assert!(eventually(|| own().is_array()), "{}", own());
    for game in own().as_array().unwrap() {
        assert!(game["players"].as_array().unwrap().contains(&json!("amy")), "{game}");
        assert_eq!(game["game"], "hex");
    }
    let all = next(instructor, "/api/instructor");
    let first = own()[0].clone();
    assert!(all.as_array().unwrap().contains(&first), "{all}");
    assert_eq!(next(&course.bob, "/api/team"), Value::Null);
    contest(&dir, &["pause", "d", "--end"]).code(0);
    assert!(eventually(|| own().is_null()), "{}", own());
    course.running.send(Signal::SIGINT);
    course.running.wait();
}

#[test]
fn the_commands_of_an_instructor_act_on_an_open_course() {
    let dir = TestDir::new();
    let course = Course::start(&dir, "", &["--no-check"]);
    let version = course.hand_in(&course.amy, "bot.sh", &bot("x", ""));
    assert_eq!(course.settled(&course.amy, version)["version"]["player"], "amy");
    let changes = || fs::read_to_string(dir.path("d/changes.json")).unwrap_or_default();
    contest(&dir, &["disqualify", "d", "amy", "--reason", "copied"]).code(0);
    assert!(eventually(|| changes().contains("disqualified: copied")));
    let late = course.send(&course.amy, "/api/team/versions", &[("bot.sh", b"x")]);
    assert_eq!(
        (late.status, late.json()["error"].clone()),
        (403, json!("your team is disqualified: copied"))
    );
    contest(&dir, &["disqualify", "d", "amy", "--back"]).code(0);
    assert!(eventually(|| changes().contains("no longer disqualified")));
    contest(&dir, &["disqualify", "d", "zoe", "--back"]).code(2).stderr_has("no team called zoe");
    contest(&dir, &["times", "d", "--deadline", "2001-12-24 18:00", "--grace", "1m"]).code(0);
    assert_eq!(course.send(&course.bob, "/api/team/versions", &[("bot.sh", b"x")]).status, 403);
    contest(&dir, &["times", "d", "--deadline", "none"]).code(0);
    contest(&dir, &["pause", "d", "--reason", "a lecture"]).code(0);
    course.running.wait_for_stderr("waiting until the instructor ends the pause");
    // What is handed in is taken in, but not played.
    let version = course.hand_in(&course.bob, "bot.sh", &bot("y", ""));
    assert_eq!(course.settled(&course.bob, version)["version"]["player"], "bob");
    let played = || query(&dir, "d", "select count(*) from seats where player = 3");
    assert_eq!(played(), ["0"]);
    contest(&dir, &["pause", "d", "--end"]).code(0);
    assert!(eventually(|| played() != ["0"]));
    course.running.send(Signal::SIGINT);
    course.running.wait();
    dir.run(&["verify", "d"]).code(0);
}

#[test]
fn what_is_refused_names_its_limit() {
    let dir = TestDir::new();
    let web = "upload_mb = 1\nfiles = 3\nuploads_an_hour = 2\ndeadline = \"2999-12-24 18:00\"";
    let course = Course::start(&dir, web, &["--no-check"]);
    let send = |files: &[(&str, &[u8])]| course.send(&course.amy, "/api/team/versions", files);
    let refused = |reply: Reply, status: u16, words: &str| {
        assert_eq!(reply.status, status);
        let output = reply.json();
        assert!(output["error"].as_str().unwrap().contains(words), "{output}");
        output
    };
    let large = vec![b'x'; 2 << 20];
    refused(send(&[("bot.sh", &large)]), 413, "1 MiB (upload_mb)");
    let many: [(&str, &[u8]); 4] = [("a", b"x"), ("b", b"x"), ("c", b"x"), ("d", b"x")];
    refused(send(&many), 413, "3 files (files)");
    refused(send(&[]), 422, "no files");
    // A body that ends early leaves nothing.
    let half = form(&[("bot.sh", b"x")]);
    let bearer = format!("Bearer {}", course.amy);
    let headers = [("authorization", bearer.as_str()), ("content-type", MULTIPART)];
    let cut = ask(course.port, "POST", "/api/team/versions", &headers, &half[..half.len() - 10]);
    assert_eq!(cut.status, 400);
    let uploads = || fs::read_dir(dir.path("d/teams/uploads")).unwrap().count();
    assert!(eventually(|| uploads() == 0));
    // What would be unpacked elsewhere is looked at, and refused.
    let look = |name: &str, text: &str| {
        course.send(&course.amy, "/api/team/look", &[(name, text.as_bytes())])
    };
    refused(look("../bot.sh", "x"), 422, "leads out");
    refused(look("/bot.sh", "x"), 422, "leads out");
    assert_eq!(look("bot.sh", "x").json()["command"], "sh bot.sh");
    assert_eq!(look("bot.py", "x").json()["language"], "Python");
    assert_eq!(look("notes.txt", "x").json()["command"], Value::Null);
    for version in 1..=2 {
        assert_eq!(course.hand_in(&course.amy, "bot.sh", "x"), version);
    }
    let reply = send(&[("bot.sh", b"x")]);
    let seconds: u32 = reply.headers["retry-after"].parse().unwrap();
    assert!((1..=3600).contains(&seconds), "{seconds}");
    let output = refused(reply, 429, "2 times in an hour");
    assert!(output["again"].is_string(), "{output}");
    // The deadline of the others is not amy's.
    course.running.send(Signal::SIGKILL);
    course.running.wait();
    let passed = fs::read_to_string(dir.path("d/contest.toml")).unwrap();
    assert!(passed.contains("2999-12-24"));
    file(&dir, "deadline = \"2001-12-24 18:00\"");
    fs::remove_dir_all(dir.path("d")).unwrap();
    let course = Course::start(&dir, "deadline = \"2001-12-24 18:00\"", &["--no-check"]);
    let late = course.send(&course.bob, "/api/team/versions", &[("bot.sh", b"x")]);
    assert_eq!(late.status, 403);
    assert!(late.json()["error"].as_str().unwrap().contains("the deadline has passed"));
    contest(&dir, &["invite", "d", "bob", "--until", "2999-12-24 18:00"]).code(0);
    assert_eq!(course.hand_in(&course.bob, "bot.sh", "x"), 1);
    course.running.send(Signal::SIGKILL);
    course.running.wait();
}

#[test]
fn after_the_freeze_only_its_team_sees_a_newer_game() {
    let dir = TestDir::new();
    file(&dir, "freeze_at = \"2001-12-24 18:00\"");
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    let course = Course::of(&dir, open(&dir, &["d", "--no-check"]));
    let games = |secret: &str, agent: &str| {
        course.get(secret, &format!("/api/contest/games?agent={agent}"))
    };
    // Whoever has a page copies the results as they are.
    let before = games("", "@first").json();
    let version = course.hand_in(&course.amy, "bot.sh", &bot("x", ""));
    course.settled(&course.amy, version);
    let own = || games(&course.amy, "amy").json();
    assert!(eventually(|| own()["total"].as_u64().is_some_and(|total| total > 0)));
    let course = course.again(&dir);
    let games = |secret: &str, agent: &str| {
        course.get(secret, &format!("/api/contest/games?agent={agent}"))
    };
    for who in ["", &course.bob, &course.amy] {
        for path in ["/api/contest", "/api/overview", "/api/contest/games"] {
            let text = course.get(who, path).text();
            assert!(!text.contains("amy"), "{path}: {text}");
        }
        if !who.is_empty() {
            // They follow from games of others.
            let ratings = course.get(who, "/api/team/ratings").json();
            assert_eq!(ratings, json!({ "ratings": [], "picture": null }));
        }
        assert_eq!(games(who, "@first").json(), before);
    }
    let shown = course.get("", "/api/contest").json();
    assert_eq!(shown["live"], json!([]));
    assert!(shown["notes"][0].as_str().unwrap().contains("not shown yet"), "{shown}");
    assert_eq!(games("", "amy").status, 404);
    let past = course.get("", &format!("/api/contest/games?from={}", u64::MAX));
    assert_eq!((past.status, &past.json()["rows"]), (200, &json!([])));
    assert_eq!(games(&course.bob, "amy").status, 404);
    let newer = games(&course.amy, "amy").json()["rows"][0]["file"].clone();
    let older = before["rows"][0]["file"].clone();
    let statuses = |secret: &str, file: &Value| {
        let file = file.as_str().unwrap();
        let paths = ["match", "text", "position", "thumbnail", "picture", "follow"];
        paths.map(|path| {
            let path = format!("/api/{path}?ply=0&form=svg&file={file}");
            course.get(secret, &path).status
        })
    };
    assert_eq!(statuses("", &older), [200; 6]);
    assert_eq!(statuses("", &newer), [404; 6]);
    assert_eq!(statuses(&course.bob, &newer), [404; 6]);
    assert_eq!(statuses(&course.amy, &newer), [200; 6]);
    course.running.send(Signal::SIGKILL);
    course.running.wait();
}

#[test]
fn a_game_that_is_played_again_after_the_freeze_is_hidden() {
    let dir = TestDir::new();
    file(&dir, "freeze_at = \"2001-12-24 18:00\"");
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    let files = || query(&dir, "d", "select transcript from games order by number");
    let before = files();
    let seen = |port: u16| -> Vec<u16> {
        let status = |file: &String| ask(port, "GET", &format!("/api/match?file={file}"), &[], "");
        before.iter().map(|file| status(file).status).collect()
    };
    let (running, port) = open(&dir, &["d", "--no-check"]);
    assert_eq!(seen(port), [200, 200]);
    running.send(Signal::SIGINT);
    running.wait();
    contest(&dir, &["rerun", "d", "1", "--reason", "load"]).code(0);
    let (running, port) = open(&dir, &["d", "--no-check"]);
    assert!(eventually(|| files() == before), "it has the same name");
    assert_eq!(seen(port), [200, 404]);
    running.send(Signal::SIGKILL);
    running.wait();
}

#[test]
fn no_upload_ends_a_course() {
    let dir = TestDir::new();
    let course = Course::start(&dir, "", &[]);
    let hand_in = |secret: &str, manifest: String| {
        let files = [("agent.toml", manifest.as_bytes()), ("bot.sh", b"exit 1\n")];
        let reply = course.send(secret, "/api/team/versions", &files);
        course.settled(secret, reply.json()["version"].as_u64().unwrap())
    };
    // Each quote is two bytes in the request to start it.
    let quotes = "\"".repeat(65_400);
    let long = hand_in(&course.amy, format!("command = ['sh', 'bot.sh', '{quotes}']\n"));
    let feedback = long["feedback"].as_str().unwrap();
    assert!(feedback.contains("Argument list too long"), "{feedback}");
    // Its feedback can't be written.
    let build = "command = ['sh', 'bot.sh']\nbuild = 'mkdir ../../feedback.md'\n";
    let folder = hand_in(&course.bob, build.to_owned());
    assert!(folder.to_string().contains("the referee failed 2 times to take it in: "), "{folder}");
    assert!(!folder.to_string().contains("uploads"), "{folder}");
    let copies = || fs::read_dir(dir.path("d/agents")).unwrap().count();
    assert_eq!(copies(), 0, "what doesn't play takes no room");
    let version = course.hand_in(&course.amy, "bot.sh", &bot("one", ""));
    assert_eq!(course.settled(&course.amy, version)["version"]["player"], "amy");
    assert_eq!(copies(), 1);
    course.running.send(Signal::SIGKILL);
    course.running.wait();
}

#[test]
fn submit_waits_and_prints_the_steps() {
    let dir = TestDir::new();
    let course = Course::start(&dir, "", &["--no-check"]);
    let link = format!("http://127.0.0.1:{}/team#{}", course.port, course.amy);
    dir.write("link", format!("{link}\n"));
    dir.write("mine/bot.sh", bot("mine", ""));
    let submit = |words: &[&str]| dir.run(&[&["submit", "--team-file", "link"], words].concat());
    let ran = submit(&["mine"]).code(0);
    assert_eq!(ran.stdout, "received\nunpacked: sh bot.sh\nbuilt\nplaying: amy\n");
    let report = submit(&["mine", "--json"]).code(0).json();
    assert_eq!(report["version"]["player"], "amy", "the same files play once: {report}");
    dir.write("broken.txt", "no agent");
    let ran = submit(&["broken.txt"]).code(3);
    ran.stdout_has("unpacked failed: it has no agent.toml");
    submit(&["missing"]).code(2).stderr_has("help: give a folder, an archive");
    dir.write("link", format!("http://127.0.0.1:{}/team#0123", course.port));
    submit(&["mine"]).code(1).stderr_has("this needs the link of a team");
    dir.write("link", "https://course.example.org/team");
    submit(&["mine"]).code(2).stderr_has("neither a team's link");
    course.running.send(Signal::SIGKILL);
    course.running.wait();
    dir.write("link", &link);
    submit(&["mine"]).code(1).stderr_has("check the address, and whether the site runs");
}

#[test]
fn the_address_at_a_proxy_is_remembered() {
    let dir = TestDir::new();
    file(&dir, "");
    for words in [&["c.toml", "--out", "d", "--url", "https://course.example.org"][..], &["d"]] {
        let running = dir.start(&[&["contest", "open", "--web=127.0.0.1:0"], words].concat());
        running.wait_for_stderr("site: https://course.example.org");
        running.send(Signal::SIGINT);
        running.wait();
    }
    let link = contest(&dir, &["invite", "d", "amy", "--json"]).code(0).json();
    assert!(link["link"].as_str().unwrap().starts_with("https://course.example.org/team#"));
}

#[test]
fn a_deadline_that_can_not_be_read_creates_nothing() {
    let dir = TestDir::new();
    file(&dir, "deadline = \"soon\"");
    let ran = contest(&dir, &["open", "c.toml", "--out", "d", "--web"]).code(2);
    ran.stderr_has("[web] deadline = \"soon\": expected a time such as");
    file(&dir, "freeze_at = \"later\"");
    let ran = contest(&dir, &["open", "c.toml", "--out", "d", "--web"]).code(2);
    ran.stderr_has("[web] freeze_at = \"later\": expected a time such as");
    file(&dir, "uploads_an_hour = 0");
    let ran = contest(&dir, &["open", "c.toml", "--out", "d", "--web"]).code(2);
    ran.stderr_has("`uploads_an_hour` must be from 1 to 10000, not 0");
    assert!(!dir.path("d").exists());
    contest(&dir, &["open", "c.toml", "--url", "https://x"]).code(2).stderr_has("--web");
}
