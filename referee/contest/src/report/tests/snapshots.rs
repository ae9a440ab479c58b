//! A small contest as text, Markdown and CSV.

use super::samples::{games, games_csv, named, report};
use crate::report::{Layout, Report};
use crate::standings::tests::contests::game;
use referee_protocol::{FaultKind, MatchResult};

fn two_seats() -> Report {
    let mut records = vec![
        game(0, &[0, 1], &[1, 2]),
        game(1, &[1, 0], &[2, 1]),
        game(2, &[0, 2], &[1, 1]),
        game(3, &[2, 0], &[2, 1]),
        game(4, &[1, 2], &[2, 1]),
        game(5, &[2, 1], &[1, 1]),
    ];
    records[4].seats[0].fault = Some(FaultKind::Late);
    records[4].result = MatchResult::Fault;
    records[4].reason = "late".into();
    records[5].marked = true;
    report(&named(3, 2, &["bold", "a|b`c`", "日本"]), &records)
}

#[test]
fn text() {
    insta::assert_snapshot!(two_seats().text(Layout::Aligned));
}

#[test]
fn tabs() {
    insta::assert_snapshot!(two_seats().text(Layout::Tabs));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(two_seats().markdown());
}

#[test]
fn csv() {
    let report = two_seats();
    insta::assert_snapshot!(
        (report.standings_csv() + "\n" + &games_csv(&report)).replace('\r', "")
    );
}

#[test]
fn three_seats() {
    let report = report(&named(4, 3, &["one", "two", "three", "four"]), &games(7, 4, 3, 12));
    insta::assert_snapshot!(report.text(Layout::Aligned));
}

#[test]
fn alone() {
    let records = super::samples::puzzles(9, 3, 4);
    let report = report(&named(3, 1, &["one", "two", "three"]), &records);
    insta::assert_snapshot!(report.text(Layout::Aligned) + "\n" + &report.markdown());
}
