//! Rules that fail at any request, in any way: no agent loses by it, and no game has another result.

use crate::support::contest::{contest, query};
use crate::support::game_programs::{chaos, sample};
use crate::support::{TestDir, in_parallel};
use std::sync::atomic::{AtomicUsize, Ordering};

/// In what ways `tests/games/chaos.py` fails.
const DAMAGES: [&str; 15] = [
    "exit", "kill", "hang", "spin", "close", "cut", "half", "text", "bytes", "number", "twice",
    "surplus", "empty", "kind", "failed",
];
/// What a game was and how it ended.
const RESULTS: &str =
    "select number, seed, result, reason, turns, moves from games order by number";
const GAMES: usize = 4;
/// A game has at most its start, nine moves and the picture at the end.
const REQUESTS: usize = 11;

/// Plays a contest of this game, and returns what it printed and the exit status.
fn played(dir: &TestDir, game: &str) -> (Option<i32>, String) {
    dir.write(
        "c.toml",
        format!(
            "game = \"{game}\"\nagents = [\"@random\", \"@first\"]\nrounds = {}\nseed = 5\n\
             clock = {{ bank = \"1h\", start = \"10m\" }}\nsandbox.level = \"none\"\n",
            GAMES / 2
        ),
    );
    let ran = contest(dir, &["run", "c.toml", "--out", "c"]);
    (ran.exit, ran.stderr)
}

/// The results of the contest with rules that don't fail; `None` without Python.
fn undisturbed() -> Option<Vec<String>> {
    let dir = TestDir::new();
    let game = sample(&dir, "tic-tac-toe", "ttt")?;
    let (exit, stderr) = played(&dir, &game);
    assert_eq!(exit, Some(0), "{stderr}");
    let results = query(&dir, "c", RESULTS);
    assert_eq!(results.len(), GAMES);
    Some(results)
}

/// Asserts what holds however the rules fail.
fn assert_fair(dir: &TestDir, how: &str, right: &[String]) {
    let wrong = query(dir, "c", "select * from seats where fault is not null");
    assert!(wrong.is_empty(), "{how}: an agent has a fault: {wrong:?}");
    let results = query(dir, "c", RESULTS);
    for result in &results {
        assert!(right.contains(result), "{how}: {result} is not in {right:?}");
    }
    let causes = query(dir, "c", "select distinct cause from voids");
    assert!(causes.iter().all(|cause| cause == "rules"), "{how}: {causes:?}");
    let blamed = query(dir, "c", "select game from voids where player is not null");
    assert!(blamed.is_empty(), "{how}: an agent is blamed for {blamed:?}");
    dir.assert_tmp_is_empty();
}

/// Each process fails at one request of its life, at every one that a game has in one contest or another: the next
/// process answers it.
#[test]
fn a_failure_that_passes_changes_nothing() {
    let Some(right) = undisturbed() else { return };
    in_parallel(2, DAMAGES.len(), |index| {
        let dir = TestDir::new();
        let how = &format!("{} at {}", DAMAGES[index], 2 + index % REQUESTS);
        let Some(game) = chaos(&dir, "ttt", how) else { return };
        let (exit, stderr) = played(&dir, &game);
        assert_eq!(exit, Some(0), "{how}: {stderr}");
        assert_eq!(query(&dir, "c", RESULTS), right, "{how}: {stderr}");
        assert_fair(&dir, how, &right);
    });
}

/// Some positions are always failed at: their matches are void.
#[test]
fn a_failure_that_stays_makes_the_match_void() {
    let Some(right) = undisturbed() else { return };
    let (void, whole) = (AtomicUsize::new(0), AtomicUsize::new(0));
    in_parallel(2, DAMAGES.len(), |index| {
        let dir = TestDir::new();
        let how = format!("{} in 12 seed {index}", DAMAGES[index]);
        let Some(game) = chaos(&dir, "ttt", &how) else { return };
        let (exit, stderr) = played(&dir, &game);
        assert_fair(&dir, &how, &right);
        let played = query(&dir, "c", RESULTS).len();
        assert_eq!(exit, Some(if played == GAMES { 0 } else { 4 }), "{how}: {stderr}");
        assert!(played == GAMES || stderr.contains("is void (rules): "), "{how}: {stderr}");
        void.fetch_add(GAMES - played, Ordering::Relaxed);
        whole.fetch_add(played, Ordering::Relaxed);
        // What is void is so because of the rules, and the printed command shows it.
        if let Some(again) = stderr.lines().find_map(|line| line.strip_prefix("see it again: ")) {
            dir.shell(again).code(1).stderr_has("the rules failed");
        }
    });
    let (void, whole) = (void.into_inner(), whole.into_inner());
    assert!(void > 5 && whole > 5, "{void} void games, {whole} others");
}

/// A match that is void since a draw failed is whole, also where that draw succeeds now.
#[test]
fn a_failure_at_a_draw_need_not_happen_again() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "pig", "pig") else { return };
    let mark = dir.path("flags/broken");
    dir.write("flags/broken", "");
    let manifest = std::fs::read_to_string(dir.path("pig/game.toml")).unwrap();
    dir.write("pig/game.toml", manifest + "[sandbox]\nread = [\"../flags\"]\n");
    let rules = std::fs::read_to_string(dir.path("pig/rules.py")).unwrap();
    let draw = "    def draw(self, state, outcome):\n";
    let fails = format!(
        "{draw}        if state['turns'] > 2 and __import__('os').path.exists({mark:?}):\n            raise RuntimeError('broken')\n"
    );
    assert!(rules.contains(draw));
    dir.write("pig/rules.py", rules.replace(draw, &fails));
    let words = ["play", &game, "@random", "@first", "--seed", "5", "--out", "m.jsonl"];
    dir.run(&words).code(4).stdout_has("the rules failed at draw");
    std::fs::remove_file(&mark).unwrap();
    dir.run(&["verify", "m.jsonl", "--rules", "pig"]).code(0);
}

/// Rules that always fail stop the games of that game alone.
#[test]
fn a_contest_goes_on_without_a_broken_game() {
    let dir = TestDir::new();
    let Some(_) = chaos(&dir, "broken", "exit in 1") else { return };
    sample(&dir, "pig", "pig");
    dir.write(
        "c.toml",
        "agents = [\"@random\", \"@first\"]\nrounds = 20\nseed = 5\n\
         clock = { bank = \"1h\", start = \"10m\" }\nsandbox.level = \"none\"\n\
         [[games]]\ngame = \"./broken\"\n[[games]]\ngame = \"./pig\"\nsetup = { target = 10 }\n",
    );
    let ran = contest(&dir, &["run", "c.toml", "--out", "c"]).code(4);
    let ran = ran.stderr_has(
        "the rules of tic-tac-toe failed 20 times in a row; no more of its games are played",
    );
    let check = ran.stderr.split('`').find(|part| part.starts_with("referee game check "));
    dir.shell(check.unwrap()).code(1).stdout_has("failed");
    assert_eq!(query(&dir, "c", "select distinct game from games"), ["1"]);
    assert_eq!(query(&dir, "c", "select number from games").len(), 40);
    assert!(query(&dir, "c", "select * from seats where fault is not null").is_empty());
    dir.run(&["verify", "c"]).code(0);
}
