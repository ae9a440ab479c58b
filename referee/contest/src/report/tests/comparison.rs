//! The result of `compare`, and games past its decision, in every form of the report.

use super::samples::games_csv;
use crate::formats::Compare;
use crate::report::{Layout, Report};
use crate::sprt::Decision;
use crate::sprt::render::{Names, verdict};
use crate::standings::tests::contests::{contest, game};
use crate::summary::report;
use crate::{Contest, FormatSettings, Schedule, SprtSettings};
use std::sync::Arc;

/// Games that the test below needs for its decision, and games that ended later.
const COUNTED: u64 = 24;
const PAST: u64 = 4;

/// A report in which the new agent won every game.
fn won() -> Report {
    let sprt = SprtSettings { elo0: 0.0, elo1: 100.0, alpha: 0.05, beta: 0.05 };
    let format = FormatSettings::Compare(Compare { sprt: Some(sprt) });
    let contest = Arc::new(Contest { rounds: 20, ..contest(2, 2, format) });
    let records: Vec<_> = (0..COUNTED + PAST)
        .map(|number| match number % 2 {
            0 => game(number, &[0, 1], &[1, 2]),
            _ => game(number, &[1, 0], &[2, 1]),
        })
        .collect();
    let schedule = Arc::new(Schedule::after(contest, &records));
    report(&schedule, Arc::new(records), None).unwrap()
}

#[test]
fn the_result_is_that_of_the_terminal() {
    let report = won();
    let summary = report.comparison.as_ref().unwrap();
    let test = summary.test.as_ref().unwrap();
    assert_eq!((test.decision, test.decided_after_pairs), (Decision::H1, Some(COUNTED / 2)));
    assert_eq!(report.ratings, None, "no second figure");
    let names = Names { new: "player 1", old: "player 2" };
    let lines = verdict(summary, names);
    assert!(lines.contains("player 1 is stronger than player 2 (H1 accepted"), "{lines}");
    let (terminal, page) = (report.text(Layout::Aligned), report.html("").unwrap());
    let markdown = report.markdown();
    assert!(terminal.starts_with(&lines), "{terminal}");
    for line in lines.lines() {
        assert!(page.contains(&format!("<li>{line}</li>")), "{line}");
        assert!(markdown.contains(line), "{line}: {markdown}");
    }
    let json = serde_json::to_value(&report).unwrap();
    let found = &json["comparison"];
    assert_eq!(found["pentanomial"], serde_json::json!([0, 0, 0, 0, 12]));
    assert_eq!(found["test"]["decision"], "h1");
    for key in ["elo0", "elo1", "alpha", "beta", "llr", "lower", "upper"] {
        assert!(found["test"][key].is_f64(), "{key}: {found}");
    }
}

#[test]
fn games_past_the_decision_are_listed_but_not_counted() {
    let report = won();
    assert_eq!(report.progress.played, COUNTED);
    assert_eq!(report.standings.games, COUNTED);
    let counted: Vec<bool> = report.games.rows().unwrap().iter().map(|game| game.counts).collect();
    let expected = [vec![true; 24], vec![false; 4]].concat();
    assert_eq!(counted, expected);
    let note = "4 games were played past the decision and did not count.";
    assert!(report.text(Layout::Aligned).contains(note));
    assert!(report.markdown().contains(note));
    let page = report.html("").unwrap();
    assert!(page.contains(note));
    assert_eq!(page.matches("past the decision, does not count").count(), 4);
    let csv = games_csv(&report);
    assert_eq!(csv.lines().filter(|line| line.contains(".jsonl,false,")).count(), 4);
    assert!(csv.lines().next().unwrap().contains(",transcript,counts,"), "{csv}");
}
