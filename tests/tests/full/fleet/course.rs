//! A course whose games are played by workers.

use super::process::start_worker;
use super::server::Server;
use crate::support::contest::{AMPLE, contest, query, status};
use crate::support::http::ask;
use crate::support::{Running, TestDir, eventually, program};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Waits in its games until a file exists, so that a worker is killed in one.
const BOT: &str = "import json, os, sys, time\nfor line in sys.stdin:\n    message = json.loads(line)\n    \
                   if message['type'] == 'hello':\n        print(json.dumps({'type': 'ready', 'want': \
                   ['actions']}), flush=True)\n    elif message['type'] == 'turn':\n        \
                   while not os.path.exists('GATE'):\n            time.sleep(0.05)\n        \
                   print(json.dumps({'type': 'action', 'turn': message['turn'], 'action': \
                   message['actions'][0]}), flush=True)\n";

#[test]
fn a_team_sees_nothing_of_a_worker_that_is_killed_in_a_game() {
    let Some(server) = Server::start() else { return };
    let (url, dir) = (server.url(), TestDir::new());
    dir.write(
        "c.toml",
        format!(
            "name = \"course\"\nseed = 7\nrounds = 2\nformat = \"ladder\"\nagents = [\"@random\", \
             \"@first\"]\n{AMPLE}sandbox.level = \"none\"\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
        ),
    );
    let words = ["contest", "open", "c.toml", "--out", "d", "--web=127.0.0.1:0", "--no-check"];
    let running = dir.start(&[&words[..], &["--on", &url, "--lease", "3s"]].concat());
    let said = running.wait_for_stderr("site: http://127.0.0.1:");
    let port = said.split("site: http://127.0.0.1:").nth(1).unwrap();
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    let port: u16 = port.parse().unwrap();
    let start = |name| start_worker(&dir, &url, &["--jobs", "1", "--name", name]);
    let workers = ["machine-ada", "machine-zoe"].map(|name| (name, start(name)));
    let made = contest(&dir, &["invite", "d", "amy", "--json"]).code(0).json();
    let (_, secret) = made["link"].as_str().unwrap().split_once('#').unwrap();
    let own = ("authorization", &*format!("Bearer {secret}"));
    let get = |path: &str| ask(port, "GET", path, &[own], "");
    let form = ("content-type", "multipart/form-data; boundary=xyz");
    let bot = BOT.replace("GATE", &dir.path("gate").display().to_string());
    let body = format!(
        "--xyz\r\ncontent-disposition: form-data; name=\"file\"; filename=\"bot.py\"\r\n\r\n{bot}\r\n--xyz--\r\n"
    );
    assert_eq!(ask(port, "POST", "/api/team/versions", &[own, form], body).status, 201);
    // A game of hers doesn't end before the gate is open.
    let in_game = || {
        let team = get("/api/team").json();
        let numbers = team["next"].as_array()?.iter().map(|game| game["number"].as_u64());
        let hers: BTreeSet<Option<u64>> = numbers.collect();
        let known = status(&dir, "d")["workers"].as_array().cloned()?;
        known.iter().find_map(|worker| {
            let game = worker["games"].as_array()?.iter().find(|it| hers.contains(&it.as_u64()))?;
            Some((worker["name"].clone(), game.as_u64()?))
        })
    };
    let mut found = None;
    assert!(
        eventually(|| {
            found = in_game();
            found.is_some()
        }),
        "{}",
        status(&dir, "d")
    );
    let (name, number) = found.unwrap();
    let (killed, left): (Vec<_>, Vec<_>) = workers.into_iter().partition(|it| it.0 == name);
    for (_, worker) in killed {
        worker.kill();
    }
    dir.write("gate", "");
    let result = || query(&dir, "d", &format!("select result from games where number = {number}"));
    assert!(eventually(|| !result().is_empty()), "{}", status(&dir, "d"));
    assert_eq!(result(), ["played"]);
    let games = get("/api/contest/games?agent=amy&count=100").json();
    let rows = games["rows"].as_array().unwrap();
    let numbers: BTreeSet<Option<u64>> = rows.iter().map(|row| row["number"].as_u64()).collect();
    assert_eq!(Some(numbers.len() as u64), games["total"].as_u64(), "each is there once: {games}");
    let row = rows.iter().find(|row| row["number"] == number).unwrap();
    assert_eq!((&row["fault"], &row["live"]), (&Value::Null, &json!(false)));
    assert_eq!(get("/api/contest").json()["void"], 0);
    let shown = format!("/api/match?file={}", row["file"].as_str().unwrap());
    for path in [
        "/api/team",
        "/api/team/version?version=1",
        "/api/contest",
        "/api/contest/games",
        "/api/overview",
        &shown,
    ] {
        let text = get(path).text();
        assert!(!text.contains("machine-"), "{path}: {text}");
    }
    running.send(Signal::SIGINT);
    running.wait();
    for (_, worker) in left {
        worker.terminate().code(143);
    }
    dir.run(&["verify", "d"]).code(0);
}

#[test]
fn a_ladder_goes_on_without_an_agent_that_workers_can_not_build() {
    let Some(server) = Server::start() else { return };
    let (url, dir) = (server.url(), TestDir::new());
    let at = |name| dir.path(name).display().to_string();
    let (program, tool, built) = (program(), at("tool"), at("built"));
    dir.write("tool", "");
    // Only the coordinator has the tool. A worker's build is noted.
    let submit = |name: &str, then: &str| {
        let make = format!(
            "if [ ! -e \"${{BUILD_TOOL:-/nowhere}}\" ]; then\n    echo {name} >> {built}\n    {then}\nfi\n\
             printf '#!/bin/sh\\nexec {program} agent first\\n' > run.sh; chmod +x run.sh\n"
        );
        dir.write(&format!("new/{name}/make.sh"), make);
        let manifest = "command = \"./run.sh\"\nbuild = \"sh make.sh\"\n";
        dir.write(&format!("new/{name}/agent.toml"), manifest);
        std::fs::create_dir_all(dir.path("bots")).unwrap();
        std::fs::rename(dir.path(&format!("new/{name}")), dir.path(&format!("bots/{name}")))
            .unwrap();
    };
    submit("amy", "");
    // In a sandbox, the test and the builds would not see each other's files.
    dir.write(
        "c.toml",
        format!(
            "name = \"open\"\nseed = 7\nrounds = 200\nformat = \"ladder\"\nagents = [\"@random\", \"@first\"]\n\
             submissions = \"bots\"\n{AMPLE}sandbox.level = \"none\"\n[[games]]\ngame = \"hex\"\n\
             setup = {{ size = 3 }}\n"
        ),
    );
    let words =
        ["contest", "open", "c.toml", "--out", "d", "--no-check", "--lease", "3s", "--on", &url];
    let mut coordinator = dir.command(&words);
    coordinator.env("BUILD_TOOL", tool);
    let running = Running::start(coordinator, None);
    let worker = start_worker(&dir, &url, &["--jobs", "2"]);
    // How many of an agent's games were played against another.
    let games = |of: &str, with: &str| -> u64 {
        let player = |name: &str| format!("(select number from players where name = '{name}')");
        let games = format!(
            "select count(*) from seats one join seats other on one.game = other.game where one.player = {} and \
             other.player = {}",
            player(of),
            player(with)
        );
        query(&dir, "d", &games)[0].parse().unwrap()
    };
    assert!(eventually(|| dir.path("built").exists()));
    submit("zoe", "exit 1");
    running.wait_for_stderr("zoe left and forfeits its open games");
    let before = games("amy", "@first");
    assert!(eventually(|| games("amy", "@first") > before), "{}", status(&dir, "d"));
    let built = std::fs::read_to_string(dir.path("built")).unwrap();
    assert_eq!(
        built.matches("amy").count(),
        1,
        "with each agent that joins or leaves, workers have a new contest"
    );
    // Others waited for it, so its next version waits longer than theirs.
    std::fs::rename(dir.path("bots/zoe"), dir.path("zoe")).unwrap();
    submit("zoe", "");
    submit("bob", "");
    let names = || query(&dir, "d", "select name from players");
    assert!(eventually(|| names().contains(&"bob".to_owned())), "{}", status(&dir, "d"));
    assert!(!names().contains(&"zoe v2".to_owned()), "{:?}", names());
    running.send(Signal::SIGINT);
    running.wait();
    worker.terminate().code(143);
    dir.run(&["verify", "d"]).code(0);
}
