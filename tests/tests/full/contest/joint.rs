//! `contest ratings`: the agents of several contests rated together.

use crate::support::TestDir;
use crate::support::contest::{contest, file};

#[test]
fn contests_are_rated_together() {
    let dir = TestDir::new();
    for (name, agents) in
        [("one", ["@random", "@first", "@greedy"]), ("two", ["@greedy", "old=@first", "@random"])]
    {
        dir.write("c.toml", file(&agents, "rounds = 2\n"));
        contest(&dir, &["run", "c.toml", "--out", name]).code(0);
    }
    let words = ["ratings", "one", "two", "--anchor", "@random=1500"];
    let report = contest(&dir, &[&words[..], &["--json"]].concat()).code(0).json();
    let names: Vec<&str> = report["players"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 4, "{names:?}");
    let of = |key: &str| report["ratings"][key].as_u64().unwrap();
    assert_eq!(of("games") + of("duplicates"), 24);
    let random = names.iter().position(|name| *name == "@random").unwrap();
    let anchor = &report["ratings"]["players"][random];
    assert_eq!((&anchor["elo"], &anchor["low"]), (&1500.0.into(), &1500.0.into()));
    assert_eq!(report["superiority"].as_array().unwrap().len(), 4);
    assert_eq!(report["neighbours"].as_array().unwrap().len(), 0);
    let rows = contest(&dir, &words).code(0);
    rows.stderr_has("0 Elo is 1500 below @random").stdout_has("@random\t1500.0\t1500.0\t1500.0\t");
    contest(&dir, &["ratings", "one", "--table", "superiority"])
        .code(0)
        .stdout_has("stronger than\t");
    for (words, why) in [
        (&["ratings", "one", "--anchor", "@randm"][..], "did you mean @random?"),
        (&["ratings", "one", "--anchor", "@random=much"], "the rating is a number"),
        (&["ratings", "one", "--table", "neighbours"], "for games of three seats or more"),
        (&["ratings", "missing"], "not a contest's folder"),
    ] {
        contest(&dir, words).code(2).stderr_has(why);
    }
    let three = "name = \"three\"\nseed = 7\nagents = [\"@random\", \"@first\", \"@greedy\"]\nclock = { bank = \"1h\", start = \"10m\" }\n\
                 [[games]]\ngame = \"chinese-checkers\"\nsetup = { seats = 3 }\n";
    dir.write("c.toml", three);
    contest(&dir, &["run", "c.toml", "--out", "three"]).code(0);
    contest(&dir, &["ratings", "three", "--table", "neighbours"])
        .code(0)
        .stdout_has("player\tneighbour\t");
    contest(&dir, &["ratings", "one", "three"])
        .code(2)
        .stderr_has("the games of three have 3 seats");
}
