//! Grades of a small contest with known results.

use super::samples::{ROUND_ROBIN, report};
use crate::grades::{GradeSettings, Grades, grades};
use crate::report::{LeftOut, grades_csv};
use crate::standings::tests::contests::{contest, game};
use crate::{Change, ChangeKind, Contest, Player, PlayerInfo};

fn four_players() -> Contest {
    let mut contest = contest(4, 2, ROUND_ROBIN);
    contest.players[2].name = "=three".into();
    contest
}

fn graded(settings: &GradeSettings, out: impl Fn(&str) -> Option<String>) -> Grades {
    grades(&sample(), &four_players(), settings, out)
}

/// Player 1 is the reference. Player 2 wins 57 of 100 against it, player 3 loses all.
fn sample() -> crate::report::Report {
    let contest = four_players();
    let against = |number: u64| match number {
        0..57 => game(number, &[1, 0], &[1, 2]),
        57..100 => game(number, &[1, 0], &[2, 1]),
        _ => game(number, &[2, 0], &[2, 1]),
    };
    let mut report = report(&contest, &(0..110).map(against).collect::<Vec<_>>());
    report.left_out = vec![LeftOut { name: "late".into(), reason: "no agent.toml".into() }];
    report
}

fn settings(percent: f64, marks: &str) -> GradeSettings {
    toml::from_str(&format!(
        "marks = [{marks}]\nbeats = [{{ agent = \"player 1\", percent = {percent}, points = 3 }}]\n\
         ungraded = [\"player 4\"]"
    ))
    .unwrap()
}

#[test]
fn each_mark_has_its_reason() {
    let marks = "{ mark = 'A', percent = 57 }, { mark = 'B', place = 1 }, { mark = 'C' }";
    let all = graded(&settings(57.0, marks), |_| None);
    let csv = grades_csv(&all.grades);
    insta::assert_snapshot!(csv.replace("\r\n", "\n"), @r#"
    player,mark,points,place,percent,elo,reason
    player 2,A,3,1,57.00,47.99,"beats player 1: 57.0 % of the points in 100 games, needs 57 %: 3 of 3 points; A: 57.0 % of the points; needs 57 %"
    "'=three",C,0,2,0.00,-416.56,"doesn't beat player 1: 0.0 % of the points in 10 games, needs 57 %: 0 of 3 points; C: all others"
    late,,0,,,,"it doesn't play: no agent.toml"
    "#);
}

#[test]
fn thresholds_are_exact_and_the_first_mark_that_applies_is_given() {
    for (percent, condition, points, mark) in [
        (57.0, "points = 3", 3.0, Some("A")),
        (57.01, "points = 3", 0.0, None),
        (57.01, "percent = 57", 0.0, Some("A")),
        (0.0, "percent = 57.01", 3.0, None),
        (0.0, "place = 1", 3.0, Some("A")),
        (0.0, "elo = -9000", 3.0, Some("A")),
        (0.0, "elo = 9000", 3.0, None),
    ] {
        let all = graded(&settings(percent, &format!("{{ mark = 'A', {condition} }}")), |_| None);
        let own = all.grades.iter().find(|own| own.name == "player 2").unwrap();
        assert_eq!((own.points, own.mark.as_deref()), (points, mark), "{percent} {condition}");
    }
}

#[test]
fn disqualified_agents_have_no_place_and_no_mark() {
    let marks = "{ mark = 'A', place = 1 }, { mark = 'B' }";
    let why = |name: &str| (name != "=three").then(|| format!("disqualified: {name}"));
    let all = graded(&settings(0.0, marks), why).grades;
    let shown: Vec<_> =
        all.iter().map(|own| (own.name.as_str(), own.place, own.mark.as_deref())).collect();
    let none = |name| (name, None, None);
    assert_eq!(shown, [("=three", Some(1), Some("A")), none("player 2"), none("late")]);
    assert_eq!(all[1].reasons, ["disqualified: player 2"]);
    assert_eq!(all[2].reasons, ["disqualified: late"]);
}

/// Else a team would move others down by handing in its agent again.
#[test]
fn versions_of_a_team_take_one_place() {
    let mut contest = contest(2, 2, ROUND_ROBIN);
    let (info, first) = (contest.players[0].clone(), Player(0));
    for number in 2..5 {
        let player = PlayerInfo { name: format!("player 1 v{number}"), ..info.clone() };
        let kind = ChangeKind::Add { player, from: 0, team: (number < 4).then_some(first) };
        let text = String::new;
        contest.change(Change { at: text(), by: text(), reason: text(), removes: vec![], kind });
    }
    // Players 0, 2 and 3 are a team, and players 0 and 2 are ahead of player 1.
    let results = [(0, [0, 1]), (1, [2, 1]), (2, [1, 3]), (3, [1, 4]), (4, [0, 4]), (5, [2, 4])];
    let records = results.map(|(number, players)| game(number, &players, &[1, 2]));
    let settings: GradeSettings = toml::from_str("marks = [{ mark = 'A' }]").unwrap();
    let all = grades(&report(&contest, &records), &contest, &settings, |_| None);
    let of_players: Vec<_> =
        all.grades.iter().filter_map(|own| Some((own.name.as_str(), own.place?))).collect();
    let expected = [
        ("player 1", 1),
        ("player 1 v2", 1),
        ("player 2", 2),
        ("player 1 v3", 2),
        ("player 1 v4", 3),
    ];
    assert_eq!(of_players, expected);
}
