//! A course whose games are played by workers.

use super::process::start_worker;
use super::server::Server;
use crate::support::contest::{AMPLE, contest, status};
use crate::support::http::ask;
use crate::support::{TestDir, eventually};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// Waits in its games until a file exists, so that a worker is killed in one.
const BOT: &str = "import json, os, sys, time\nfor line in sys.stdin:\n    message = json.loads(line)\n    \
                   if message['type'] == 'hello':\n        print(json.dumps({'type': 'ready', 'want': \
                   ['actions']}), flush=True)\n    elif message['type'] == 'turn':\n        \
                   while not os.path.exists('GATE'):\n            time.sleep(0.05)\n        \
                   print(json.dumps({'type': 'action', 'turn': message['turn'], 'action': \
                   message['actions'][0]}), flush=True)\n";

/// Whether all games of the contest are played, more than so many.
fn is_played(dir: &TestDir, more_than: u64) -> bool {
    let now = status(dir, "d");
    now["played"].as_u64() > Some(more_than) && now["played"] == now["games"]
}

/// Opens a course in which amy hands in after the first games. At a server two workers play, and one is killed in a game of
/// hers. Returns what she sees at the end, without times.
fn seen_by_amy(server: Option<&str>) -> Value {
    let dir = TestDir::new();
    dir.write(
        "c.toml",
        format!(
            "name = \"course\"\nseed = 7\nrounds = 2\nformat = \"ladder\"\nagents = [\"@random\", \
             \"@first\"]\n{AMPLE}sandbox.level = \"none\"\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
        ),
    );
    let words = ["contest", "open", "c.toml", "--out", "d", "--web=127.0.0.1:0", "--no-check"];
    let on = server.map_or(Vec::new(), |url| vec!["--on", url, "--lease", "3s"]);
    let running = dir.start(&[&words, &*on].concat());
    let said = running.wait_for_stderr("site: http://127.0.0.1:");
    let port = said.split("site: http://127.0.0.1:").nth(1).unwrap();
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    let port: u16 = port.parse().unwrap();
    let start = |url, name| start_worker(&dir, url, &["--jobs", "1", "--name", name]);
    let workers = server.map(|url| ["ada", "zoe"].map(|name| start(url, name)));
    assert!(eventually(|| is_played(&dir, 0)), "{}", status(&dir, "d"));
    let before = status(&dir, "d")["played"].as_u64().unwrap();
    let made = contest(&dir, &["invite", "d", "amy", "--json"]).code(0).json();
    let (_, secret) = made["link"].as_str().unwrap().split_once('#').unwrap();
    let own = ("authorization", &*format!("Bearer {secret}"));
    let get = |path: &str| ask(port, "GET", path, &[own], "").json();
    let form = ("content-type", "multipart/form-data; boundary=xyz");
    let bot = BOT.replace("GATE", &dir.path("gate").display().to_string());
    let body = format!(
        "--xyz\r\ncontent-disposition: form-data; name=\"file\"; filename=\"bot.py\"\r\n\r\n{bot}\r\n--xyz--\r\n"
    );
    assert_eq!(ask(port, "POST", "/api/team/versions", &[own, form], body).status, 201);
    let left = workers.map(|[ada, zoe]| {
        // Not one of the games before.
        let is_new = |game: &Value| game.as_u64() >= Some(before);
        let has_game =
            |worker: &Value| worker["games"].as_array().is_some_and(|it| it.iter().any(is_new));
        let playing = || {
            let workers = status(&dir, "d")["workers"].as_array().cloned().unwrap_or_default();
            workers.iter().find(|worker| has_game(worker)).map(|worker| worker["name"].clone())
        };
        assert!(eventually(|| playing().is_some()), "{}", status(&dir, "d"));
        let (killed, left) = if playing() == Some(json!("ada")) { (ada, zoe) } else { (zoe, ada) };
        killed.kill();
        left
    });
    dir.write("gate", "");
    assert!(eventually(|| is_played(&dir, before)), "{}", status(&dir, "d"));
    let mut version = get("/api/team/version?version=1")["version"].take();
    // They depend on the gate's path.
    (version["bytes"], version["sha256"]) = (Value::Null, Value::Null);
    for step in version["steps"].as_array_mut().unwrap() {
        step["at"] = Value::Null;
    }
    let games = get("/api/contest/games?agent=amy&count=100");
    let mut course = get("/api/contest");
    running.send(Signal::SIGINT);
    running.wait();
    left.map(|left| left.terminate().code(143));
    dir.run(&["verify", "d"]).code(0);
    let seen = ["void", "rows"].map(|name| course[name].take());
    json!({ "version": version, "games": games, "course": seen })
}

#[test]
fn a_team_sees_nothing_of_a_worker_that_is_killed_in_a_game() {
    let Some(server) = Server::start() else { return };
    let alone = seen_by_amy(None);
    assert!(alone["games"]["total"].as_u64() > Some(1), "{alone}");
    assert_eq!(seen_by_amy(Some(&server.url())), alone);
}
