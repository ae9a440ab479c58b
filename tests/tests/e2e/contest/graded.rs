//! `contest grades`: marks with their reasons, also by another file.

use crate::support::TestDir;
use crate::support::contest::{contest, write};
use std::fs;

#[test]
fn marks_follow_from_the_results() {
    let dir = TestDir::new();
    write(&dir, &["house=@first", "amy=@first", "bob=@illegal"], "rounds = 1\n");
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    contest(&dir, &["grades", "d"]).code(2).stderr_has("there is no table [grades]");
    let text = fs::read_to_string(dir.path("c.toml")).unwrap();
    let grades = |agent: &str| {
        format!(
            "{text}[grades]\nmarks = [{{ mark = \"pass\", points = 2 }}, {{ mark = \"fail\" }}]\n\
             [[grades.beats]]\nagent = \"{agent}\"\npercent = 50\npoints = 2\n"
        )
    };
    dir.write("g.toml", grades("house"));
    let words = ["grades", "d", "--file", "g.toml"];
    let grades_json = contest(&dir, &[&words[..], &["--json"]].concat()).code(0).json();
    let marks = grades_json["grades"].as_array().unwrap();
    let marks: Vec<String> = marks
        .iter()
        .map(|own| format!("{} {} {}", own["name"], own["mark"], own["points"]))
        .collect();
    assert_eq!(marks, ["\"amy\" \"pass\" 2.0", "\"bob\" \"fail\" 0.0"]);
    let csv = contest(&dir, &[&words[..], &["--out", "-"]].concat()).code(0).stdout;
    assert!(
        csv.contains("doesn't beat house: 0.0 % of the points in 2 games, needs 50 %"),
        "{csv}"
    );
    dir.write("g.toml", grades("hause"));
    contest(&dir, &words).code(2).stderr_has("did you mean `house`?").stderr_has("g.toml:");
}
