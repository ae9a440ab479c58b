//! Plays every format to its end with real processes.

use crate::support::TestDir;
use crate::support::contest::{AMPLE, assert_whole, contest, query, status, transcripts, write};
use serde_json::Value;

#[test]
fn every_pairing_plays_every_game() {
    let dir = TestDir::new();
    let games = "[[games]]\ngame = \"hex\"\nsetup = { size = 3 }\n\
                 [[games]]\nname = \"large\"\ngame = \"hex\"\nsetup = { size = 4 }\n";
    let agents = "agents = [\"@random\", \"@first\", \"b=@first\"]\n";
    dir.write("c.toml", format!("{agents}{AMPLE}[openings]\nplies = 1\n{games}"));
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    assert_whole(&dir, "d", 12);
    let played = "select player, game, seat, count(*) from (select seats.player, games.game, seat \
                  from seats join games on number = seats.game) group by 1, 2, 3 order by 1, 2, 3";
    let mut wanted = Vec::new();
    for player in 0..3 {
        for game in 0..2 {
            wanted.extend((0..2).map(|seat| format!("{player}|{game}|{seat}|2")));
        }
    }
    assert_eq!(query(&dir, "d", played), wanted);
}

#[test]
fn a_comparison_ends_when_it_is_decided() {
    let dir = TestDir::new();
    let more = "format = \"compare\"\nrounds = 300\ncompare = { elo0 = 0, elo1 = 100 }\n";
    write(&dir, &["@greedy", "@random"], more);
    let mut output = Vec::new();
    for jobs in ["1", "5"] {
        let words = ["run", "c.toml", "--out", jobs, "--jobs", jobs];
        contest(&dir, &words).code(0).stdout_has("@greedy is stronger than @random");
        let mut status = status(&dir, jobs);
        // Agents that share cores are stopped while they wait.
        status["sandbox"].take();
        assert_eq!((&status["over"], &status["played"]), (&true.into(), &status["games"]));
        assert!(status["played"].as_u64().unwrap() < 600, "{status}");
        dir.run(&["verify", jobs]).code(0);
        // Games that finish after the decision are kept but don't count.
        let rows = query(&dir, jobs, "select count(*) from games");
        assert_eq!(rows, [transcripts(&dir, jobs).len().to_string()]);
        contest(&dir, &["resume", jobs]).code(0).stdout_has("@greedy is stronger than @random");
        let played = query(&dir, jobs, "select number, moves from games order by number");
        let counted = usize::try_from(status["played"].as_u64().unwrap()).unwrap();
        output.push((status, played[..counted].to_vec()));
    }
    assert_eq!(output[0], output[1]);
    dir.assert_tmp_is_empty();
}

#[test]
fn every_triple_meets_in_every_order() {
    let dir = TestDir::new();
    // Only the seating matters.
    let agents = ["a", "b", "c", "d"].map(|name| format!("\"{name}=@crash\"")).join(", ");
    let game = "[[games]]\ngame = \"chexers\"\n";
    let more = format!("{AMPLE}policy.on_fault = \"end\"\n");
    dir.write("c.toml", format!("name = \"x\"\nagents = [{agents}]\n{more}{game}"));
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    let seated = "select group_concat(player, '') from (select game, player from seats \
                  order by game, seat) group by game";
    let mut found = query(&dir, "d", seated);
    found.sort();
    let mut wanted = Vec::new();
    for a in 0..4 {
        for b in (0..4).filter(|&b| b != a) {
            wanted.extend((0..4).filter(|&c| c != a && c != b).map(|c| format!("{a}{b}{c}")));
        }
    }
    assert_eq!(found, wanted);
    assert_whole(&dir, "d", 24);
}

#[test]
fn puzzles_have_one_seat_and_rank_by_score() {
    let dir = TestDir::new();
    let puzzle =
        |shape: &str| format!("[[games]]\ngame = \"peg-solitaire\"\nsetup = {{ {shape} }}\n");
    let games = puzzle("size = 4") + &puzzle("size = 5");
    let head = "name = \"x\"\nformat = \"puzzle\"\nrounds = 2\n";
    let agents = "agents = [\"@random\", \"@first\", \"@crash\"]\n";
    dir.write("c.toml", format!("{head}{agents}{AMPLE}{games}"));
    let ran = contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    assert!(ran.stdout.contains("@first") && ran.stdout.contains("@crash"), "{}", ran.stdout);
    assert_whole(&dir, "d", 12);
    let each = "select player, count(distinct games.game) from seats join games on number = \
                seats.game group by player";
    assert_eq!(query(&dir, "d", each), ["0|2", "1|2", "2|2"]);
    assert_eq!(query(&dir, "d", "select max(seat) from seats"), ["0"]);
    for format in ["text", "html", "markdown", "csv"] {
        let output = contest(&dir, &["report", "d", "--format", format]).code(0).stdout;
        assert!(!output.contains("NaN") && !output.contains("inf,"), "{output}");
    }
}

/// A cup after a league: the league's winner is the first seed, whatever the agents are called.
#[test]
fn a_cup_is_seeded_by_an_earlier_contest() {
    let dir = TestDir::new();
    let game = "[[games]]\ngame = \"hex\"\nsetup = { size = 4 }\n";
    let agents = "agents = [{ name = \"a\", run = \"@random\" }, { name = \"b\", run = \"@first\" }, \
                  { name = \"c\", run = \"@greedy\" }]\n";
    dir.write("league.toml", format!("rounds = 2\n{agents}{AMPLE}{game}"));
    let league =
        dir.run(&["contest", "run", "league.toml", "--out", "league", "--json"]).code(0).json();
    let ranked = &league["standings"]["players"];
    let cup = "format = \"knockout\"\nknockout.seeding_from = \"league\"\n";
    dir.write("cup.toml", format!("{cup}{agents}{AMPLE}{game}"));
    let cup = dir.run(&["contest", "run", "cup.toml", "--out", "cup", "--json"]).code(0).json();
    // The first seed has a bye, so it plays the final only.
    assert_eq!(cup["ties"][0]["name"], "semi-final", "{cup}");
    let players = cup["ties"][0]["players"].as_array().unwrap();
    let played: Vec<&Value> = players.iter().map(|it| &listed(&cup, it)["name"]).collect();
    assert!(!played.contains(&&ranked[0]["name"]), "{ranked} {cup}");
    // The earlier contest is needed only at the start.
    std::fs::remove_dir_all(dir.path("league")).unwrap();
    dir.run(&["verify", "cup"]).code(0);
    let page = std::fs::read_to_string(dir.path("cup/report.html")).unwrap();
    assert!(page.contains("id=\"bracket-t\""));
    dir.write(
        "cup.toml",
        format!("{}{agents}{game}", "format = \"knockout\"\nknockout.seeding_from = \"no\"\n"),
    );
    dir.run(&["contest", "plan", "cup.toml"])
        .code(2)
        .stderr_has("No such file")
        .stderr_has("earlier");
}

/// Returns the standing of a player by its number.
fn listed<'a>(report: &'a Value, player: &Value) -> &'a Value {
    let all = report["standings"]["players"].as_array().unwrap();
    all.iter().find(|own| own["player"] == *player).unwrap()
}

#[test]
fn the_scores_of_both_agents_end_games() {
    let dir = TestDir::new();
    let file = |rules: &str| {
        format!(
            "game = \"freckers\"\nagents = [\"a=@minimax:1\", \"b=@minimax:1\"]\n{AMPLE}\
             [adjudication]\n{rules}\n"
        )
    };
    let ends = "select distinct result, reason from games";
    dir.write("c.toml", file("draw = { score = 1000, turns = 2, from_turn = 6 }"));
    contest(&dir, &["run", "c.toml", "--out", "even"]).code(0);
    assert_whole(&dir, "even", 2);
    assert_eq!(query(&dir, "even", ends), ["adjudicated|draw"]);
    for file in transcripts(&dir, "even") {
        let events = dir.events(file.to_str().unwrap());
        let last = events.iter().rfind(|event| event["type"] == "played").unwrap();
        assert!(last["turn"] == 6 && last["score"].is_number(), "{last}");
    }
    dir.write("c.toml", file("win = { score = 1, turns = 2 }"));
    contest(&dir, &["run", "c.toml", "--out", "won"]).code(0);
    assert_whole(&dir, "won", 2);
    assert_eq!(query(&dir, "won", ends), ["adjudicated|win"]);
    contest(&dir, &["report", "won", "--format", "markdown"])
        .code(0)
        .stdout_has("won at scores of ±1 for 2 turns");
}
