use super::test_of;
use crate::formats::{Pairing, PairingResult};
use crate::repeats::Repeats;
use crate::sprt::{Decision, Pentanomial, Summary, render};
use crate::standings::tests::contests;
use crate::{Player, Record, SprtSettings};
use referee_protocol::FaultKind;

const NAMES: render::Names = render::Names { new: "rabbit", old: "turtle\u{1b}[2J" };

/// A game with the new agent in this seat, which got `half_points`.
fn game(number: u64, seat: usize, half_points: u32) -> Record {
    let places = match half_points {
        0 => [2, 1],
        1 => [1, 1],
        _ => [1, 2],
    };
    let (mut players, mut places) = ([0, 1], places);
    players.rotate_right(seat);
    places.rotate_right(seat);
    contests::game(number, &players, &places)
}

/// A comparison whose pairs ended so: what the new agent got in each of the two games.
fn played(pairs: &[(u32, u32)]) -> (Vec<PairingResult>, Vec<Record>) {
    let (mut met, mut records) = (Vec::new(), Vec::new());
    for (&(first, second), block) in pairs.iter().zip(0..) {
        let pairing = Pairing { round: 1, players: Player::all(2).collect() };
        let half_points = vec![first + second, 4 - first - second];
        met.push(PairingResult {
            pairing,
            block_half_points: vec![half_points.clone()],
            half_points,
        });
        records.push(game(2 * block, 0, first));
        records.push(game(2 * block + 1, 1, second));
    }
    (met, records)
}

fn summary_of(
    sprt: Option<&SprtSettings>,
    results: &[PairingResult],
    records: &[Record],
) -> Summary {
    let (mut summary, mut repeats) = (Summary::of(sprt, results), Repeats::default());
    for record in records {
        summary.add(record, repeats.first(record, &[]).is_some());
    }
    summary
}

#[test]
fn a_summary_counts_what_there_is() {
    let (met, mut records) = played(&[(2, 2), (2, 0), (1, 2), (1, 1), (0, 2), (0, 1)]);
    // In the old agent's seat of the second game, and in the new one's of the ninth.
    records[1].seats[0].fault = Some(FaultKind::Late);
    records[8].seats[0].fault = Some(FaultKind::Illegal);
    // To resign is no fault.
    records[9].seats[0].fault = Some(FaultKind::Resigned);
    // The same moves again, once in the same seats and once with other seats.
    records[2].moves = records[0].moves.clone();
    records[3].moves = records[0].moves.clone();
    let summary = summary_of(Some(&test_of(0.0, 40.0)), &met, &records);
    assert_eq!(summary.pairs, 6);
    assert_eq!(summary.pentanomial, Pentanomial([0, 1, 3, 1, 1]));
    assert_eq!((summary.wins, summary.draws, summary.losses), (5, 4, 3));
    assert_eq!((summary.new_faults, summary.old_faults, summary.duplicates), (1, 1, 1));
    assert_eq!(summary.score, Some(0.583_333));
    let test = summary.test.as_ref().unwrap();
    assert_eq!((test.decision, test.decided_after_pairs), (Decision::Open, None));

    records.reverse();
    assert_eq!(summary_of(Some(&test_of(0.0, 40.0)), &met, &records), summary);
    // A pairing that has not ended is not there yet.
    let begun = summary_of(None, &met[..5], &records);
    assert_eq!((begun.wins, begun.draws, begun.losses), (5, 3, 2));
}

#[test]
fn a_summary_is_one_json_object() {
    let (met, records) = played(&[(2, 2); 30]);
    let summary = summary_of(Some(&test_of(0.0, 40.0)), &met, &records);
    insta::assert_snapshot!(serde_json::to_string_pretty(&summary).unwrap());
    let none = serde_json::to_string(&summary_of(None, &[], &[])).unwrap();
    assert!(none.contains(r#""pentanomial":[0,0,0,0,0]"#), "{none}");
    assert!(
        none.contains(r#""score":null,"elo":null,"error":null,"normalized_elo":null,"los":null"#),
        "{none}"
    );
}

#[test]
fn verdicts_in_words() {
    let mut album = Vec::new();
    let mut show = |title: &str, text: String| album.push(format!("== {title}\n{text}"));
    show("plan", render::plan(Some(&test_of(0.0, 40.0)), 500, NAMES));
    show("a plan that is too short", render::plan(Some(&test_of(-2.5, 2.5)), 500, NAMES));
    show("plan without a test", render::plan(None, 1, NAMES));
    show("nothing yet", render::verdict(&summary_of(None, &[], &[]), NAMES));
    let (met, records) = played(&[[(2, 2); 40], [(2, 0); 40]].concat());
    for (elo0, elo1) in [(0.0, 40.0), (-50.0, 0.0), (10.0, 62.5)] {
        let summary = summary_of(Some(&test_of(elo0, elo1)), &met, &records);
        show("better", render::verdict(&summary, NAMES));
    }
    show("untested", render::verdict(&summary_of(None, &met, &records), NAMES));
    let (met, mut records) = played(&[[(0, 0); 40], [(2, 0); 40]].concat());
    for (elo0, elo1) in [(0.0, 40.0), (-50.0, 0.0), (-80.0, -30.0)] {
        let summary = summary_of(Some(&test_of(elo0, elo1)), &met, &records);
        show("not better", render::verdict(&summary, NAMES));
    }
    records[1].seats[1].fault = Some(FaultKind::Late);
    records[2].moves = records[0].moves.clone();
    let few = summary_of(Some(&test_of(0.0, 40.0)), &met[..2], &records);
    show("live", render::live(&few, NAMES) + "\n");
    show("open, with a fault and a duplicate", render::verdict(&few, NAMES));
    let album = album.concat();
    assert!(!album.contains('\u{1b}'));
    insta::assert_snapshot!(album);
}
