//! Matches that are followed or played on the page.

use crate::support::http::ask;
use crate::support::serving::Serving;
use crate::support::{Running, TestDir, eventually, lacks};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

#[test]
fn a_recorded_turn_is_run_again() {
    let dir = TestDir::new();
    for (file, other) in [("a.jsonl", "@random"), ("b.jsonl", "@illegal")] {
        let words = ["-q", "play", "hex", "--setup", "size=4", "--seed", "3", "--out", file];
        dir.run(&[&words[..], &["@first", other]].concat()).code(0);
    }
    let serving = Serving::start(&dir, &[]);
    let again =
        |file: &str, ply: u64| serving.post("/api/rerun", &json!({ "file": file, "ply": ply }));
    let same = again("a.jsonl", 2).json();
    assert_eq!((&same["report"]["same"], &same["report"]["wrong"]), (&json!(true), &Value::Null));
    assert_eq!((&same["report"]["seat"], &same["report"]["turn"]), (&json!(1), &json!(1)));
    let illegal = again("b.jsonl", 2).json();
    assert_eq!(illegal["report"]["wrong"], "swap: this setup has no swap", "{illegal}");
    // Programs that transcripts name are not started.
    let text = std::fs::read_to_string(dir.path("a.jsonl")).unwrap();
    dir.write("c.jsonl", text.replacen("\"agent\":\"@random\"", "\"agent\":\"touch x\"", 1));
    let refused = again("c.jsonl", 2);
    assert_eq!(refused.status, 422);
    let refused = refused.json();
    assert!(
        refused["error"].as_str().unwrap().contains("can't be started from the page"),
        "{refused}"
    );
    assert!(
        refused["help"].as_str().unwrap().contains("referee debug c.jsonl --turn 1"),
        "{refused}"
    );
}

/// A contest's transcripts name agents as its file does; what counts is their files.
#[test]
fn the_agent_of_a_rerun_is_found_by_its_files() {
    let dir = TestDir::new();
    for folder in ["one", "two"] {
        dir.write(&format!("{folder}/agent.toml"), "command = [\"cat\"]\n");
        dir.write(&format!("{folder}/name.txt"), folder);
    }
    dir.run(&["-q", "play", "hex", "one", "@first", "--out", "x.jsonl"]).code(0);
    let text = std::fs::read_to_string(dir.path("x.jsonl")).unwrap();
    dir.write("x.jsonl", text.replacen("\"agent\":\"one\"", "\"agent\":\"agents/1\"", 1));
    for (options, status) in
        [(&[][..], 422), (&["--agent", "two"], 422), (&["--agent", "one"], 200)]
    {
        let serving = Serving::start(&dir, options);
        let again = serving.post("/api/rerun", &json!({ "file": "x.jsonl", "ply": 0 }));
        assert_eq!(again.status, status, "{options:?}");
        serving.end();
    }
}

/// A recorded clock holds nothing: a visitor's question ends with the next one, with its page, and with the server.
#[test]
fn a_rerun_is_stopped_whatever_clock_the_match_had() {
    let dir = TestDir::new();
    let (here, program) = (dir.path("").display().to_string(), crate::support::program());
    dir.program(
        "bot/bot.sh",
        &format!(
            "#!/bin/sh\nif [ -e '{here}slow' ]; then echo >> '{here}started'; exec sleep 100000; fi\n\
             exec '{program}' agent first\n"
        ),
    );
    dir.write("bot/agent.toml", "command = [\"./bot.sh\"]\n");
    let words = ["-q", "play", "hex", "bot", "@first", "--setup", "size=3", "--out", "x.jsonl"];
    let clock = ["--start-time", "55h", "--move-time", "55h"];
    dir.run(&[&words[..], &clock].concat()).code(0);
    dir.write("slow", "");
    let serving = Serving::start(&dir, &["--agent", "bot"]);
    let started = |count| {
        let count_now = || std::fs::read_to_string(dir.path("started")).unwrap_or_default().len();
        assert!(eventually(|| count_now() == count));
    };
    let question = json!({ "file": "x.jsonl", "ply": 1 });
    std::thread::scope(|scope| {
        let first = scope.spawn(|| serving.post("/api/rerun", &question));
        started(1);
        let second = scope.spawn(|| serving.post("/api/rerun", &question));
        let first = first.join().unwrap();
        assert_eq!(first.status, 409);
        assert!(first.json()["error"].as_str().unwrap().contains("asks something else"));
        started(2);
        // The others have their slots.
        begin(&serving, &["@mute", "@first"]);
        serving.running.send(Signal::SIGTERM);
        assert_eq!(second.join().unwrap().status, 409);
    });
    serving.running.wait().code(143);
}

#[test]
fn other_matches_with_the_position_are_counted() {
    let dir = TestDir::new();
    for (name, agents) in [("a", ["@first", "@random"]), ("b", ["@first", "@first"])] {
        let file = format!("{name}.jsonl");
        let words = ["-q", "play", "hex", "--setup", "size=4", "--seed", "3", "--out", &file];
        dir.run(&[&words[..], &agents].concat()).code(0);
    }
    let serving = Serving::start(&dir, &[]);
    // Reads some of the matches at a time; the page asks until all are read.
    let explore = |at: &str| {
        loop {
            let found = serving.json(&format!("/api/explore?file=a.jsonl&{at}"));
            if found["read"] == found["all"] {
                return found;
            }
        }
    };
    let start = explore("ply=0");
    assert_eq!((&start["all"], &start["reached"]), (&json!(2), &json!(2)));
    let first = &start["next"][0];
    assert_eq!((&first["action"], &first["matches"]), (&json!("a1"), &json!(2)));
    // The same position by another order of moves.
    let moved = explore("ply=0&actions=a1;b1;c1;d1");
    let turned = explore("ply=0&actions=c1;d1;a1;b1");
    assert_eq!(moved["reached"], 1, "{moved}");
    assert_eq!((&moved["next"], &moved["matches"]), (&turned["next"], &turned["matches"]));
    assert_eq!(moved["matches"][0]["row"]["file"], "b.jsonl");
    assert_eq!(moved["matches"][0]["ply"], 4);
    let none = explore("ply=0&actions=d4");
    assert_eq!((&none["reached"], &none["next"]), (&json!(0), &json!([])));
}

#[test]
fn other_actions_are_played_and_agents_asked() {
    let dir = TestDir::new();
    let words = ["-q", "play", "hex", "@first", "@random", "--setup", "size=4", "--out", "x.jsonl"];
    dir.run(&[&words[..], &["--seed", "3"]].concat()).code(0);
    let serving = Serving::start(&dir, &[]);
    let plies = |at: &str| serving.json(&format!("/api/branch?file=x.jsonl&{at}"));
    let recorded = serving.json("/api/match?file=x.jsonl");
    let at_two = plies("ply=2");
    assert_eq!((&at_two["plies"], &at_two["over"]), (&json!([]), &Value::Null));
    assert_eq!(at_two["actions"].as_array().unwrap().len(), 14);
    // What was recorded, played again, gives the recorded frames but for times and output.
    let texts: Vec<&str> = recorded["plies"].as_array().unwrap()[3..]
        .iter()
        .filter(|ply| ply["kind"] == "played")
        .map(|ply| ply["text"].as_str().unwrap())
        .collect();
    let again = plies(&format!("ply=2&actions={}", texts.join(";")));
    assert!(again["over"].as_str().unwrap().contains("it connected its two sides"), "{again}");
    for (again, recorded) in again["plies"]
        .as_array()
        .unwrap()
        .iter()
        .zip(recorded["plies"].as_array().unwrap()[3..].iter())
    {
        for field in ["index", "kind", "turn", "seat", "text", "set", "last", "to_move", "chain"] {
            assert_eq!(again[field], recorded[field], "{field}: {again}");
        }
    }
    for (at, status) in [("ply=2&actions=a9", 422), ("ply=2&actions=x", 422), ("ply=99", 404)] {
        assert_eq!(serving.get(&format!("/api/branch?file=x.jsonl&{at}")).status, status, "{at}");
    }
    let question =
        |agent: &str| json!({ "file": "x.jsonl", "ply": 2, "actions": "d4", "agent": agent });
    let reply = serving.post("/api/ask", &question("@first"));
    let frame = reply.json()["frame"].clone();
    assert_eq!(
        (&frame["kind"], &frame["seat"], &frame["turn"]),
        (&json!("played"), &json!(1), &json!(3))
    );
    let reply = serving.post("/api/ask", &question("@illegal")).json();
    assert_eq!(reply["frame"]["fault"], "illegal", "{reply}");
    dir.write("mine/agent.toml", "command = [\"cat\"]\n");
    for agent in ["cat", "@nobody", "../agent", "mine"] {
        assert_eq!(serving.post("/api/ask", &question(agent)).status, 422, "{agent}");
    }
    serving.end();
    let serving = Serving::start(&dir, &["--no-play"]);
    assert_eq!(serving.post("/api/ask", &question("@first")).status, 403);
    serving.end();
    assert!(!dir.path("matches").exists(), "questions leave no transcripts");
}

#[test]
fn a_live_match_is_followed_across_a_lost_connection() {
    let dir = TestDir::new();
    let serving = Serving::start(&dir, &[]);
    let words = [
        "-q", "play", "hex", "@random", "@random", "--setup", "size=5", "--pace", "60ms", "--out",
        "x.jsonl",
    ];
    let playing = dir.start(&words);
    assert!(eventually(|| dir.path("x.jsonl").exists()));
    let (mut plies, mut line, mut ended) = (Vec::<Value>::new(), String::new(), false);
    while !ended {
        let headers = [("last-event-id", line.as_str())];
        let headers = if line.is_empty() { &[][..] } else { &headers };
        let reply = ask(serving.port, "GET", "/api/follow?file=x.jsonl", headers, "");
        assert_eq!(reply.headers["content-type"], "text/event-stream");
        // The connection is lost after two events.
        for (name, id, data) in reply.events().take(2) {
            if name == "end" {
                assert_eq!(data, "over");
                ended = true;
                break;
            }
            let output: Value = serde_json::from_str(&data).unwrap();
            plies.extend(output["plies"].as_array().unwrap().iter().cloned());
            line = id;
        }
    }
    playing.wait().code(0);
    let indices: Vec<u64> = plies.iter().map(|ply| ply["index"].as_u64().unwrap()).collect();
    let count = dir.events_of("x.jsonl", "played").len();
    assert_eq!(indices, (0..count as u64 + 2).collect::<Vec<_>>());
    let sheet = serving.json("/api/match?file=x.jsonl");
    assert_eq!(sheet["plies"].as_array().unwrap(), &plies);
    serving.end();
}

fn begin(serving: &Serving, seats: &[&str]) -> String {
    let request = json!({ "game": "hex", "setup": { "size": 3 }, "seats": seats,
                       "clock": "1h" });
    let reply = serving.post("/api/matches", &request);
    let status = reply.status;
    let output = reply.json();
    assert_eq!(status, 200, "{output}");
    output["file"].as_str().unwrap().to_owned()
}

#[track_caller]
fn wait_for_turn(serving: &Serving, file: &str, turn: u64) -> Value {
    let mut output = Value::Null;
    let asked = eventually(|| {
        output = serving.json(&format!("/api/seat?file={file}"));
        output["waiting"] == true && output["turn"] == turn
    });
    assert!(asked, "turn {turn} never came: {output}");
    output
}

/// Answers as a person on the page; returns the status of the response.
fn answer(serving: &Serving, file: &str, turn: u64, text: &str) -> u16 {
    serving.post("/api/seat", &json!({ "file": file, "turn": turn, "text": text })).status
}

#[track_caller]
fn wait_until_over(serving: &Serving, file: &str) {
    let over = || serving.json(&format!("/api/match?file={file}"))["state"] == "over";
    assert!(eventually(over), "{file} doesn't end");
}

#[test]
fn a_person_wins_on_the_page() {
    let dir = TestDir::new();
    let serving = Serving::start(&dir, &[]);
    let file = begin(&serving, &["@human", "@first"]);
    let answer = |turn: u64, text: &str| answer(&serving, &file, turn, text);
    for (turn, text) in [(0, "a2"), (2, "b2"), (4, "c2")] {
        let output = wait_for_turn(&serving, &file, turn);
        assert_eq!(output["actions"].as_array().unwrap().len() as u64, 9 - turn, "{output}");
        assert_eq!(answer(turn + 1, text), 409);
        assert_eq!(answer(turn, "z9"), 422);
        assert_eq!(answer(turn, text), 200);
    }
    wait_until_over(&serving, &file);
    let sheet = serving.json(&format!("/api/match?file={file}"));
    let last = sheet["plies"].as_array().unwrap().last().unwrap();
    assert!(last["text"].as_str().unwrap().starts_with("human wins"), "{last}");
    assert_eq!(sheet["seats"][0]["human"], true);
    assert!(eventually(|| answer(6, "a1") == 409));
    assert_eq!(dir.verify_status(&file), "ok");
    serving.end();
    dir.assert_tmp_is_empty();
}

#[test]
fn two_people_play_and_one_resigns() {
    let dir = TestDir::new();
    let serving = Serving::start(&dir, &[]);
    let file = begin(&serving, &["@human", "@human"]);
    for (turn, text) in [(0, "a1"), (1, "resign")] {
        assert_eq!(wait_for_turn(&serving, &file, turn)["seat"], turn);
        assert_eq!(answer(&serving, &file, turn, text), 200);
    }
    wait_until_over(&serving, &file);
    assert_eq!(dir.verify_status(&file), "ok");
    serving.end();
}

/// Visitors whom one token has let in: each plays and stops only their own match.
#[test]
fn sessions_do_not_act_for_each_other() {
    let dir = TestDir::new();
    let serving = Serving::start(&dir, &["--token", "open-sesame"]);
    let enter = || {
        let reply = serving.get("/?token=open-sesame");
        reply.headers["set-cookie"].split(';').next().unwrap().to_owned()
    };
    let (own, other) = (enter(), enter());
    let get = |who: &str, path: &str| ask(serving.port, "GET", path, &[("cookie", who)], "").json();
    let post = |who: &str, path: &str, body: &Value| {
        let headers = [("cookie", who), ("content-type", "application/json"), ("x-referee", "1")];
        ask(serving.port, "POST", path, &headers, body.to_string())
    };
    let begin = |seats: [&str; 2]| {
        let request = json!({ "game": "hex", "setup": { "size": 3 }, "seats": seats });
        post(&own, "/api/matches", &request).json()["file"].as_str().unwrap().to_owned()
    };
    let answer = |who: &str, file: &str, turn: u64, text: &str| {
        post(who, "/api/seat", &json!({ "file": file, "turn": turn, "text": text })).status
    };
    let asked =
        |who: &str, file: &str| get(who, &format!("/api/seat?file={file}"))["turn"].as_u64();
    let file = begin(["@human", "@first"]);
    assert!(eventually(|| asked(&own, &file) == Some(0)));
    assert_eq!(asked(&other, &file), None, "the page would offer to play");
    assert_eq!(answer(&other, &file, 0, "b2"), 403);
    let stop = json!({ "file": file });
    assert_eq!(post(&other, "/api/stop", &stop).status, 403);
    for (who, may) in [(&own, true), (&other, false)] {
        assert_eq!(get(who, &format!("/api/match?file={file}"))["own"], may);
        assert_eq!(get(who, "/api/overview")["live"][0]["own"], may);
    }
    assert_eq!(answer(&own, &file, 0, "b2"), 200);
    assert_eq!(post(&own, "/api/stop", &stop).status, 200);
    // Two people at two browsers: each has the seat for which they answer first.
    let file = begin(["@human", "@human"]);
    for (who, wrong, turn, text) in
        [(&own, None, 0, "a1"), (&other, None, 1, "b2"), (&own, Some(&other), 2, "c3")]
    {
        assert!(eventually(|| asked(who, &file) == Some(turn)));
        if let Some(wrong) = wrong {
            assert_eq!(answer(wrong, &file, turn, text), 403);
        }
        assert_eq!(answer(who, &file, turn, text), 200);
    }
    serving.end();
}

#[test]
fn matches_are_stopped_one_by_one_and_with_the_server() {
    let dir = TestDir::new();
    let serving = Serving::start(&dir, &["--jobs", "1"]);
    let third = begin(&serving, &["@mute", "@first"]);
    let first = begin(&serving, &["@human", "@mute"]);
    let second = begin(&serving, &["@human", "@mute"]);
    wait_for_turn(&serving, &first, 0);
    wait_for_turn(&serving, &second, 0);
    let mut request =
        json!({ "game": "hex", "setup": { "size": 3 }, "seats": ["@first", "@first"] });
    let full = serving.post("/api/matches", &request);
    assert_eq!(full.status, 429);
    assert!(full.json()["help"].as_str().unwrap().contains("on the page"));
    request["pace_ms"] = 10_001.into();
    assert_eq!(serving.post("/api/matches", &request).status, 422);
    let live = serving.json("/api/overview")["live"].clone();
    assert!(live.as_array().unwrap().iter().all(|row| row["own"] == true), "{live}");
    let sheet = serving.json(&format!("/api/match?file={first}"));
    assert_eq!(sheet["own"], true);
    let asked = serving.json(&format!("/api/seat?file={first}"));
    assert_eq!(asked["colour"], sheet["seats"][0]["colour"]);
    assert_eq!(serving.post("/api/stop", &json!({ "file": first })).status, 200);
    wait_until_over(&serving, &first);
    assert_eq!(answer(&serving, &second, 0, "a1"), 200);
    serving.end();
    for file in [first, second, third] {
        let over = &dir.events_of(&file, "over")[0];
        assert_eq!(over["verdict"]["result"], "void", "{over}");
        assert_eq!(dir.verify_status(&file), "ok");
    }
    dir.assert_tmp_is_empty();
}

#[test]
fn a_killed_server_leaves_no_agent() {
    use crate::support::family::{assert_gone, families, family};
    let dir = TestDir::new();
    let Some(agent) = family(&dir, "stay") else { return };
    let serving = Serving::start(&dir, &["--agent", &agent]);
    begin(&serving, &["@human", &agent]);
    assert!(eventually(|| !families(&dir).is_empty()));
    serving.running.send(Signal::SIGKILL);
    assert_eq!(serving.running.wait().exit, None);
    assert!(eventually(|| families(&dir).is_empty()));
    assert_gone(&dir);
}

#[test]
fn only_known_agents_are_started() {
    let dir = TestDir::new();
    let program = dir.program("bot.sh", "#!/bin/sh\ntouch started\n");
    for folder in ["mine", "yours"] {
        let agent = "command = [\"cat\"]\ngames = [\"freckers\"]\n";
        dir.write(&format!("{folder}/agent.toml"), agent);
    }
    // A team's folder that is served is no consent of the team.
    let serving = Serving::start(&dir, &["--agent", "yours"]);
    for (agent, why) in [
        (program.as_str(), "can't be started from the page"),
        ("sh -c 'touch started'", "can't be started from the page"),
        ("name=./bot.sh", "can't be started from the page"),
        ("../mine", "can't be started from the page"),
        ("@missing", "unknown built-in agent `missing`"),
        ("mine", "can't be started from the page"),
        ("yours", "does not play hex"),
    ] {
        let request = json!({ "game": "hex", "seats": ["@first", agent] });
        let reply = serving.post("/api/matches", &request);
        assert_eq!(reply.status, 422, "{agent}");
        let output = reply.json();
        assert!(output["error"].as_str().unwrap().contains(why), "{agent}: {output}");
    }
    let agents = serving.json("/api/overview")["agents"].clone();
    let offered = |name| agents.as_array().unwrap().iter().find(|agent| agent["agent"] == name);
    assert_eq!(offered("yours").unwrap()["games"], json!(["freckers"]));
    assert_eq!(offered("mine"), None);
    serving.end();
    assert!(!dir.path("started").exists());
}

#[test]
fn play_opens_the_match_in_the_browser() {
    let dir = TestDir::new();
    // A fake browser command.
    dir.program("bin/xdg-open", "#!/bin/sh\necho \"$1\" > opened\n");
    let words =
        ["play", "hex", "@human", "@first", "--setup", "size=3", "--out", "x.jsonl", "--open"];
    let mut command = dir.command(&words);
    command.env("PATH", dir.path("bin"));
    let running = Running::start(command, None);
    let output = running.wait_for_stderr("in the browser: ");
    let url = output.split("in the browser: ").nth(1).unwrap().split_whitespace().next().unwrap();
    let opened = || std::fs::read_to_string(dir.path("opened")).unwrap_or_default();
    assert!(eventually(|| opened().trim() == url), "{url} {}", opened());
    assert!(url.ends_with("/match?file=x.jsonl"), "{url}");
    let port = url.split(':').nth(2).unwrap().split('/').next().unwrap().parse().unwrap();
    let serving = Serving { running, port };
    for (turn, text) in [(0, "a2"), (2, "b2"), (4, "c2")] {
        wait_for_turn(&serving, "x.jsonl", turn);
        assert_eq!(answer(&serving, "x.jsonl", turn, text), 200);
    }
    serving.running.wait_for_stderr("press Ctrl-C to stop the server");
    assert_eq!(serving.json("/api/match?file=x.jsonl")["state"], "over");
    assert_eq!(serving.json("/api/overview")["can_play"], false);
    serving.running.send(Signal::SIGINT);
    serving.running.wait().code(0).stdout_has("human wins");
    assert_eq!(dir.verify_status("x.jsonl"), "ok");
    dir.assert_tmp_is_empty();
}

/// Whoever runs the contest could neither see nor stop them, and `verify` would name their transcripts.
#[test]
fn visitors_start_no_matches_in_the_folder_of_a_contest() {
    let dir = TestDir::new();
    dir.run(&["-q", "play", "hex", "@first", "@first", "--setup", "size=3", "--out", "x.jsonl"])
        .code(0);
    let started = |serving: &Serving| {
        let overview = serving.json("/api/overview");
        let request =
            json!({ "game": "hex", "setup": { "size": 3 }, "seats": ["@first", "@first"] });
        let reply = serving.post("/api/matches", &request);
        (reply.status, overview["can_start"].clone(), overview["can_play"].clone())
    };
    assert_eq!(started(&Serving::start(&dir, &[])), (200, json!(true), json!(true)));
    dir.write("contest.db", "");
    assert_eq!(started(&Serving::start(&dir, &[])), (409, json!(false), json!(true)));
}

/// The scheduling policies of agents, as /proc has them.
const BATCH: &str = "3";
const IDLE: &str = "5";

/// Visitors must not slow the matches that somebody else plays.
#[test]
fn agents_from_the_page_run_in_the_background() {
    if lacks("priorities") {
        return;
    }
    let dir = TestDir::new();
    let (here, program) = (dir.path("").display().to_string(), crate::support::program());
    let says = "cut -d' ' -f41 /proc/$$/stat; grep Cpus_allowed_list /proc/$$/status";
    dir.program(
        "bot/bot.sh",
        &format!("#!/bin/sh\n({says}) > '{here}said'\nexec '{program}' agent first\n"),
    );
    dir.write("bot/agent.toml", "command = [\"./bot.sh\"]\n");
    let said = || {
        let text = std::fs::read_to_string(dir.path("said")).unwrap();
        std::fs::remove_file(dir.path("said")).unwrap();
        let (policy, cores) = text.split_once('\n').unwrap();
        (policy.to_owned(), cores.rsplit(':').next().unwrap().trim().to_owned())
    };
    let words = ["-q", "play", "hex", "bot", "@first", "--setup", "size=3", "--out", "x.jsonl"];
    dir.run(&words).code(0);
    assert_eq!(said().0, BATCH);
    let serving = Serving::start(&dir, &["--agent", "bot"]);
    let file = begin(&serving, &["bot", "@first"]);
    wait_until_over(&serving, &file);
    assert_eq!(said().0, IDLE);
    let question = json!({ "file": "x.jsonl", "ply": 0, "agent": "bot" });
    assert_eq!(serving.post("/api/ask", &question).status, 200);
    assert_eq!(said().0, IDLE);
    assert_eq!(serving.post("/api/rerun", &json!({ "file": "x.jsonl", "ply": 1 })).status, 200);
    assert_eq!(said().0, IDLE);
    if std::thread::available_parallelism().unwrap().get() == 1 {
        return;
    }
    // A contest elsewhere has a core of its own.
    let pinned = ["-q", "play", "hex", "@mute", "@first", "--pin", "--out", "live.jsonl"];
    let pinned = dir.start(&pinned);
    assert!(eventually(|| dir.path("live.jsonl").exists()));
    let core = core_of_matches(pinned.pid());
    assert_eq!(serving.post("/api/ask", &question).status, 200);
    let cores = said().1;
    let is_in = |range: &str| match range.split_once('-') {
        Some((from, to)) => {
            let number = |text: &str| text.parse::<u32>().unwrap();
            (number(from)..=number(to)).contains(&number(&core))
        }
        None => range == core,
    };
    assert!(!cores.split(',').any(is_in), "{core} is in {cores}");
    pinned.send(Signal::SIGINT);
    pinned.wait();
    serving.end();
}

/// Returns the core to which a process has pinned its matches.
fn core_of_matches(process: u32) -> String {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let matches = threads
        .map(|thread| thread.unwrap().path())
        .find(|thread| read(thread.join("comm")).starts_with("matches-"))
        .expect("a thread for matches");
    let status = read(matches.join("status"));
    let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    cores.unwrap().trim().to_owned()
}
