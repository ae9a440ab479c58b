//! Requests that are refused, and hostile files and names.

use crate::support::contest::contest;
use crate::support::http::{Reply, ask};
use crate::support::serving::Serving;
use crate::support::{Running, TestDir, eventually, golden};
use nix::sys::signal::Signal;
use rusqlite::Connection;
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, SystemTime};

#[test]
fn requests_of_other_sites_are_refused() {
    let dir = TestDir::new();
    let serving = Serving::start(&dir, &[]);
    let port = serving.port;
    let own = format!("http://127.0.0.1:{port}");
    let named = format!("localhost:{port}");
    for (headers, status) in [
        (vec![], 200),
        (vec![("host", named.as_str())], 200),
        (vec![("host", "evil.example")], 421),
        (vec![("host", "127.0.0.1.evil.example")], 421),
        (vec![("origin", "http://evil.example")], 403),
        (vec![("origin", "null")], 403),
        (vec![("origin", own.as_str())], 200),
    ] {
        let reply = ask(port, "GET", "/api/overview", &headers, "");
        assert_eq!(reply.status, status, "{headers:?}");
        assert_eq!(reply.headers["x-content-type-options"], "nosniff");
        assert_eq!(reply.headers["cross-origin-resource-policy"], "same-origin");
        assert!(reply.headers["content-security-policy"].starts_with("default-src 'none'"));
    }
    let json = ("content-type", "application/json");
    for (headers, status) in [
        (vec![json], 403),
        (vec![("x-referee", "1")], 415),
        (vec![("x-referee", "1"), ("content-type", "text/plain")], 415),
        (vec![json, ("x-referee", "1"), ("origin", "http://evil.example")], 403),
        (vec![json, ("x-referee", "1")], 400),
    ] {
        let reply = ask(port, "POST", "/api/matches", &headers, "{");
        assert_eq!(reply.status, status, "{headers:?}");
    }
    let long = "x".repeat(1 << 20);
    let reply = ask(port, "POST", "/api/seat", &[json, ("x-referee", "1")], &long);
    assert_eq!(reply.status, 413);
    assert_eq!(ask(port, "DELETE", "/api/seat", &[], "").status, 405);
    serving.end();
}

/// Returns the cookie of a response that lets a browser in.
#[track_caller]
fn cookie(reply: &Reply, location: &str) -> String {
    assert_eq!((reply.status, reply.headers["location"].as_str()), (303, location));
    let cookie = &reply.headers["set-cookie"];
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

#[test]
fn a_token_gets_a_session() {
    let dir = TestDir::new();
    dir.write("token", "open-sesame\n");
    let serving = Serving::start(&dir, &["--token-file", "token"]);
    let port = serving.port;
    assert_eq!(serving.get("/").status, 401);
    assert_eq!(serving.get("/api/overview").status, 401);
    assert_eq!(serving.get("/?token=open-sesamf").status, 401);
    let reply = serving.get("//evil.example/?a=1&token=open-sesame");
    let first = cookie(&reply, "/evil.example/?a=1");
    let second = cookie(&serving.get("/?token=open-sesame"), "/");
    assert_ne!(first, second);
    assert!(!first.contains("sesame"), "the cookie has the token: {first}");
    for cookie in [first, second] {
        assert_eq!(ask(port, "GET", "/api/overview", &[("cookie", &cookie)], "").status, 200);
        let headers = [("cookie", cookie.as_str()), ("x-referee", "1")];
        let headers = [&headers[..], &[("content-type", "application/json")]].concat();
        assert_eq!(ask(port, "POST", "/api/stop", &headers, "{").status, 400);
    }
    let cookie = format!("referee-{port}=open-sesame");
    assert_eq!(ask(port, "GET", "/api/overview", &[("cookie", &cookie)], "").status, 401);
    serving.end();
}

#[test]
fn a_token_may_come_from_the_environment_or_the_command_line() {
    let dir = TestDir::new();
    let mut command = dir.command(&["serve", "--port", "0"]);
    command.env("REFEREE_SERVE_TOKEN", "short");
    Running::start(command, None).wait().code(2).stderr_has("at least 8 characters");
    dir.run(&["serve", "--token-file", "absent"]).code(2).stderr_has("--token-file absent: ");
    let running = dir.start(&["serve", "--port", "0", "--token", "open-sesame"]);
    let url = running.wait_for_stdout("\n");
    assert!(!url.contains("sesame"), "{url}");
    running.wait_for_stderr("other users of this machine can see --token");
    running.send(Signal::SIGINT);
    running.wait().code(130);
}

#[test]
fn an_address_lets_one_browser_in() {
    let dir = TestDir::new();
    let running = dir.start(&["serve", "--port", "0", "--host", "0.0.0.0"]);
    let first = running.wait_for_stdout("\n");
    let (port, code) = first.trim().split_once("/?code=").unwrap();
    let port: u16 = port.rsplit(':').next().unwrap().parse().unwrap();
    let get = |path: &str, cookie: &str| ask(port, "GET", path, &[("cookie", cookie)], "");
    assert_eq!(get("/", "").status, 401);
    let path = format!("/?code={code}");
    let session = cookie(&get(&path, ""), "/");
    assert_eq!(get("/", &session).status, 200);
    assert_eq!(get(&path, "").status, 401, "a code works twice");
    // A reload of the address that was opened.
    assert_eq!(get(&path, &session).headers["location"], "/");
    assert!(eventually(|| running.wait_for_stdout("\n").lines().count() == 2));
    let all = running.wait_for_stdout("\n");
    let second = all.lines().nth(1).unwrap();
    assert_ne!(second, first.trim());
    let path = second.split_once(&port.to_string()).unwrap().1;
    assert_ne!(cookie(&get(path, ""), "/"), session);
    running.send(Signal::SIGINT);
    running.wait().code(130);
}

#[test]
fn incomplete_requests_do_not_block_others() {
    let dir = TestDir::new();
    let serving = Serving::start(&dir, &[]);
    let port = serving.port;
    let head = "GET / HTTP/1.1\r\n".to_owned();
    let body = format!(
        "POST /api/stop HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nx-referee: 1\r\n\
         content-type: application/json\r\ncontent-length: 60000\r\n\r\n"
    );
    for part in [head, body] {
        let mut slow: Vec<_> = (0..300)
            .map(|_| {
                let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
                stream.write_all(part.as_bytes()).unwrap();
                stream
            })
            .collect();
        for _ in 0..3 {
            assert_eq!(serving.get("/api/overview").status, 200);
            // The server has closed some of them.
            for stream in &mut slow {
                drop(stream.write_all(b" "));
            }
        }
    }
    serving.end();
}

#[test]
fn nothing_outside_the_folder_is_read() {
    let dir = TestDir::new();
    dir.write("secret.jsonl", golden("hex-fault.jsonl"));
    dir.write("shown/x.jsonl", golden("hex-fault.jsonl"));
    dir.write("shown/report.html", "<script>alert(1)</script>");
    dir.write("shown/agent.toml", "command = [\"cat\"]");
    std::os::unix::fs::symlink(dir.path("secret.jsonl"), dir.path("shown/link.jsonl")).unwrap();
    let serving = Serving::start(&dir, &["shown"]);
    assert_eq!(serving.get("/api/match?file=x.jsonl").status, 200);
    let absolute = dir.path("secret.jsonl").display().to_string();
    for name in [
        "../secret.jsonl",
        "%2e%2e/secret.jsonl",
        "..%2fsecret.jsonl",
        "link.jsonl",
        &absolute,
        "shown/../../secret.jsonl",
        "agent.toml",
        "report.html",
        "",
        "%00",
        "x.jsonl%00",
    ] {
        for path in ["/api/match?file=", "/api/follow?file=", "/files/"] {
            let reply = serving.get(&format!("{path}{name}"));
            assert!([303, 404, 400].contains(&reply.status), "{path}{name}: {}", reply.status);
            if let Some(location) = reply.headers.get("location") {
                assert!(location.starts_with("/files/") || location.starts_with("/match?"));
                assert_eq!(serving.get(location).status, 404, "{location}");
            }
        }
    }
    serving.end();
}

#[test]
fn hostile_transcripts_are_bounded_and_reported() {
    let dir = TestDir::new();
    let text = String::from_utf8(golden("hex-fault.jsonl")).unwrap();
    let name = text.split("\"name\":\"").nth(1).unwrap().split('"').next().unwrap();
    let hostile = "<img src=x onerror=alert(1)>\\u0007\\u202e";
    let quoted = |name: &str| format!("\"name\":\"{name}\"");
    dir.write("names.jsonl", text.replace(&quoted(name), &quoted(hostile)));
    dir.write("empty.jsonl", "");
    dir.write("binary.jsonl", [0xff; 5000]);
    dir.write("line.jsonl", "x".repeat(3 << 20));
    dir.write("packed.jsonl.gz", [0x1f, 0x8b, 8, 0, 1, 2, 3]);
    dir.write("off.jsonl", text.replace("\"at\":[", "\"at\":[99999999999,"));
    dir.write("seats.jsonl", text.replace("\"seat\":1", "\"seat\":200"));
    dir.write("size.jsonl", text.replace("\"size\":", "\"size\":9999"));
    fs::File::create(dir.path("huge.jsonl")).unwrap().set_len(1 << 30).unwrap();
    let serving = Serving::start(&dir, &[]);
    let rows = serving.json("/api/transcripts");
    assert_eq!(rows["total"], 4, "the others begin with no header: {rows}");
    let files = dir.path("").read_dir().unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    for file in files.filter(|file| file.contains(".jsonl")) {
        let reply = serving.get(&format!("/api/match?file={file}"));
        assert!(reply.headers["content-type"].starts_with("application/json"), "{file}");
        assert!([200, 409, 413, 422].contains(&reply.status), "{file}: {}", reply.status);
        let output = reply.json();
        assert!(output["error"].is_string() || output["plies"].is_array(), "{output}");
        for path in ["lines", "text", "picture"] {
            let reply = serving.get(&format!("/api/{path}?file={file}&ply=0&form=svg"));
            assert!(reply.status < 500, "{file}: {path}");
        }
    }
    let output = serving.json("/api/match?file=names.jsonl");
    assert_eq!(output["seats"][0]["name"], "<img src=x onerror=alert(1)>\u{7}\u{202e}");
    let reply = serving.get("/api/picture?file=names.jsonl&ply=1&form=svg");
    assert!(!reply.text().contains("<img"));
    assert_eq!(serving.get("/api/match?file=huge.jsonl").status, 413);
    serving.end();
}

/// A transcript whose match is running, changed at this time.
fn running(dir: &TestDir, name: &str, changed: SystemTime) {
    let text = String::from_utf8(golden("hex-fault.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().take(3).collect();
    dir.write(name, lines.join("\n") + "\n");
    let file = fs::File::options().append(true).open(dir.path(name)).unwrap();
    file.set_modified(changed).unwrap();
}

/// Plays a contest in the folder `cup` between the agents in `handed-in`.
fn cup() -> TestDir {
    let dir = TestDir::new();
    let program = crate::support::program();
    for agent in ["first", "random"] {
        let manifest = format!("command = [{program:?}, \"agent\", {agent:?}]\n");
        dir.write(&format!("handed-in/{agent}/agent.toml"), manifest);
    }
    dir.write(
        "c.toml",
        "name = \"cup\"\nsubmissions = \"handed-in\"\nsandbox.level = \"none\"\n\
         clock = { bank = \"1h\", start = \"10m\" }\n\
         [[games]]\ngame = \"hex\"\nsetup = { size = 3 }\n",
    );
    contest(&dir, &["run", "c.toml", "--out", "cup"]).code(0);
    dir
}

/// Teams can write what they like into what they hand in.
#[test]
fn what_was_handed_in_is_not_shown() {
    let dir = cup();
    let report = "<h1>official finals</h1><script>alert(1)</script>";
    let ahead = SystemTime::now() + Duration::from_secs(4 * 365 * 86_400);
    for place in
        ["handed-in/evil", "handed-in/first/deep", "cup/agents/x", "cup/submissions/x/1", "cup/x"]
    {
        running(&dir, &format!("{place}/live.jsonl"), SystemTime::now());
        running(&dir, &format!("{place}/ahead.jsonl"), ahead);
        dir.write(&format!("{place}/report.html"), report);
        fs::copy(dir.path("cup/contest.db"), dir.path(place).join("contest.db")).unwrap();
    }
    // It says that the contest of others is its folder of submissions.
    fs::create_dir_all(dir.path("theirs/zeta")).unwrap();
    fs::copy(dir.path("cup/contest.db"), dir.path("theirs/zeta/contest.db")).unwrap();
    let store = Connection::open(dir.path("theirs/zeta/contest.db")).unwrap();
    let base = dir.path(".").canonicalize().unwrap();
    let named = "update contest set base = ?1, text = 'submissions = \"cup\"' || char(10) || text";
    store.execute(named, [base.to_str().unwrap()]).unwrap();
    running(&dir, "cup/live.jsonl", SystemTime::now());
    // Not below a contest, so it is shown, but no file comes from the future.
    running(&dir, "ahead.jsonl", ahead);
    running(&dir, "live.jsonl", SystemTime::now());
    dir.write("cup/report.html", report);
    let serving = Serving::start(&dir, &[]);
    let overview = serving.json("/api/overview");
    assert_eq!(overview["live"].as_array().unwrap().len(), 1, "{overview}");
    assert_eq!(overview["live"][0]["file"], "live.jsonl", "{overview}");
    let mut contests: Vec<_> = overview["contests"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["folder"].as_str())
        .collect();
    contests.sort_unstable();
    assert_eq!((contests, &overview["transcripts"]), (vec!["cup", "theirs/zeta"], &2.into()));
    assert_eq!(serving.json("/api/contest?folder=cup")["live"], serde_json::json!([]));
    for path in [
        "/api/match?file=handed-in/evil/live.jsonl",
        "/api/match?file=handed-in/first/deep/live.jsonl",
        "/api/match?file=cup/agents/x/live.jsonl",
        "/api/match?file=cup/live.jsonl",
        "/api/follow?file=cup/submissions/x/1/live.jsonl",
        "/api/contest?folder=handed-in/evil",
        "/api/contest?folder=cup/x",
        "/files/handed-in/evil/report.html",
        "/files/cup/x/report.html",
    ] {
        assert_eq!(serving.get(path).status, 404, "{path}");
    }
    // The contest's own report is made from its store.
    let shown = serving.get("/files/cup/report.html");
    assert_eq!(shown.status, 200);
    let text = shown.text();
    assert!(!text.contains("finals") && text.contains("random"), "{text}");
    serving.end();
}

/// The folder that was named when a ladder was opened is as little the contest's as one in its file.
#[test]
fn a_named_folder_of_submissions_is_not_shown() {
    let dir = cup();
    dir.write("more/second/agent.toml", "command = [\"true\"]\n");
    dir.write(
        "open.toml",
        "format = \"ladder\"\nrounds = 1\nagents = [\"@random\", \"@first\"]\n\
         sandbox.level = \"none\"\n[[games]]\ngame = \"hex\"\nsetup = { size = 3 }\n",
    );
    let words = ["open", "open.toml", "--out", "ladder", "--submissions", "more", "--for", "1s"];
    let opened = contest(&dir, &words);
    assert!(dir.path("ladder/contest.db").exists(), "{}", opened.stderr);
    running(&dir, "more/evil/live.jsonl", SystemTime::now());
    running(&dir, "live.jsonl", SystemTime::now());
    // A stranger's contest hides no folder by a path that means another one in each process, and never the matches that
    // are played on the page.
    fs::create_dir_all(dir.path("theirs/submissions")).unwrap();
    fs::copy(dir.path("ladder/contest.db"), dir.path("theirs/contest.db")).unwrap();
    let own = ["other", "matches"].map(|folder| dir.path(folder).display().to_string());
    let named = format!("other\0/proc/self/root{}\0{}\0", own[0], own[1]);
    dir.write("theirs/submissions/.named", named);
    for folder in ["other", "matches"] {
        running(&dir, &format!("{folder}/live.jsonl"), SystemTime::now());
    }
    let serving = Serving::start(&dir, &[]);
    let overview = serving.json("/api/overview");
    assert_eq!(overview["live"].as_array().unwrap().len(), 3, "{overview}");
    assert_eq!(serving.get("/api/match?file=more/evil/live.jsonl").status, 404);
    serving.end();
}

#[test]
fn a_foreign_database_is_read_only_if_it_has_the_tables_of_a_contest() {
    let dir = cup();
    let endless = "with recursive n (i) as (select 0 union all select i + 1 from n) select";
    for (folder, change) in [
        (
            "view",
            format!("alter table games rename to other; create view games as {endless} i from n"),
        ),
        (
            "trigger",
            "create trigger t after insert on games begin delete from seats; end".to_owned(),
        ),
        ("more", "create table more (x)".to_owned()),
        (
            "computed",
            "alter table games add column x text generated always as (hex(zeroblob(9))) virtual"
                .to_owned(),
        ),
        (
            "index",
            "drop index seats_by_player; create index seats_by_player on seats (abs(player))"
                .to_owned(),
        ),
    ] {
        dir.write(&format!("{folder}/x"), "");
        fs::copy(dir.path("cup/contest.db"), dir.path(folder).join("contest.db")).unwrap();
        let store = Connection::open(dir.path(folder).join("contest.db")).unwrap();
        store.execute_batch(&change).unwrap();
    }
    let serving = Serving::start(&dir, &[]);
    for contest in serving.json("/api/overview")["contests"].as_array().unwrap() {
        let problem = contest["problem"].as_str().unwrap_or_default();
        let is_own = contest["folder"] == "cup";
        assert_eq!(problem.contains("not those of a contest"), !is_own, "{contest}");
    }
    assert_eq!(serving.get("/api/contest?folder=view").status, 422);
    assert_eq!(serving.get("/api/contest?folder=cup").status, 200);
    serving.end();
    for command in ["verify", "report", "status", "resume"] {
        let words: &[&str] =
            if command == "verify" { &["verify", "view"] } else { &["contest", command, "view"] };
        dir.run(words).code(4).stderr_has("not those of a contest");
    }
}
