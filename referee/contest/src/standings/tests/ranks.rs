//! Ranks and tie-breaks, worked out by hand.

use super::contests::{contest, game};
use super::standings;
use crate::formats::{Gauntlet, Knockout, Puzzle, RoundRobin, Swiss};
use crate::standings::Standings;
use crate::{FormatSettings, Player, Record};

pub(super) const ALL: FormatSettings =
    FormatSettings::RoundRobin(RoundRobin { triples_per_player: None });

fn order(standings: &Standings) -> Vec<(u32, u32)> {
    standings.players.iter().map(|standing| (standing.rank, standing.player.0)).collect()
}

fn of(standings: &Standings, player: u32) -> &crate::standings::Standing {
    standings.of(Player(player)).unwrap()
}

#[test]
fn points_come_first_and_equals_share_a_rank() {
    let records = [game(0, &[0, 1], &[1, 1]), game(1, &[2, 0], &[1, 2]), game(2, &[1, 2], &[2, 1])];
    let table = standings(&contest(3, 2, ALL), &records, &[], None);
    assert_eq!(order(&table), [(1, 2), (2, 0), (2, 1)]);
    assert_eq!(of(&table, 0).points.to_string(), "0.5");
    assert_eq!(of(&table, 2).points.to_string(), "2");
    assert_eq!(of(&table, 0).tie_breaks.direct.unwrap().to_string(), "0.5");
    assert_eq!(of(&table, 2).tie_breaks.direct, None);
}

#[test]
fn direct_encounters_decide() {
    // 0 and 1 have a win each, and 1 beat 0; 2 has one as well but against 3 alone.
    let records = [game(0, &[0, 1], &[2, 1]), game(1, &[0, 2], &[1, 2])];
    let table = standings(&contest(3, 2, ALL), &records, &[], None);
    assert_eq!(order(&table), [(1, 1), (2, 0), (3, 2)]);
}

#[test]
fn without_having_met_the_better_victims_decide() {
    // 0 beat 2, who beat 4; 1 beat 3, who won no game. 0 and 1 never met.
    let records = [game(0, &[0, 2], &[1, 2]), game(1, &[1, 3], &[1, 2]), game(2, &[2, 4], &[1, 2])];
    let format = FormatSettings::Knockout(Knockout::default());
    let table = standings(&contest(5, 2, format), &records, &[], None);
    assert_eq!(of(&table, 0).tie_breaks.direct, None);
    assert_eq!(of(&table, 0).tie_breaks.sonneborn_berger.unwrap().to_string(), "1");
    assert_eq!(of(&table, 1).tie_breaks.sonneborn_berger.unwrap().to_string(), "0");
    assert_eq!(order(&table), [(1, 0), (2, 1), (2, 2), (4, 3), (4, 4)]);
}

#[test]
fn swiss_counts_opponents_and_byes() {
    let records = [game(0, &[0, 1], &[1, 2]), game(1, &[1, 2], &[1, 2])];
    let table =
        standings(&contest(3, 2, FormatSettings::Swiss(Swiss {})), &records, &[0, 0, 2], None);
    // All have a point. The opponents of 0: a point; of 1: two points; of 2: one, and for the bye
    // one of its own.
    let buchholz = |player| of(&table, player).tie_breaks.buchholz.unwrap().to_string();
    assert_eq!([buchholz(0), buchholz(1), buchholz(2)], ["1", "2", "2"]);
    let berger = |player| of(&table, player).tie_breaks.sonneborn_berger.unwrap().to_string();
    assert_eq!([berger(0), berger(1), berger(2)], ["1", "1", "1"]);
    assert_eq!(order(&table), [(1, 1), (2, 2), (3, 0)], "a bye is no win over the board");
    assert_eq!(of(&table, 2).bye_points.to_string(), "1");
    assert_eq!(of(&table, 2).points.to_string(), "1");
}

#[test]
fn where_some_play_more_the_mean_decides() {
    let format = FormatSettings::Gauntlet(Gauntlet { challengers: 1 });
    let records = [game(0, &[0, 1], &[1, 2]), game(1, &[0, 2], &[2, 1]), game(2, &[0, 3], &[1, 1])];
    let table = standings(&contest(4, 2, format), &records, &[], None);
    assert_eq!(order(&table), [(1, 2), (2, 0), (2, 3), (4, 1)]);
    assert_eq!(table.ranked_by, ["points per game", "direct encounter"]);
    // A round robin under way: 1 won its only game, 0 two of three.
    let records = [game(0, &[0, 2], &[1, 2]), game(1, &[3, 0], &[2, 1]), game(2, &[0, 1], &[2, 1])];
    let table = standings(&contest(4, 2, ALL), &records, &[], None);
    assert_eq!(order(&table), [(1, 1), (2, 0), (3, 2), (3, 3)]);
    assert_eq!(table.ranked_by, ["points per game", "direct encounter"]);
    // All level again: the sum decides, and its tie-breaks.
    let records = [
        records,
        [game(3, &[2, 3], &[1, 2]), game(4, &[1, 2], &[1, 2]), game(5, &[1, 3], &[1, 2])],
    ];
    let table = standings(&contest(4, 2, ALL), &records.concat(), &[], None);
    assert_eq!(table.ranked_by[0], "points");
}

#[test]
fn the_formats_own_order_goes_first() {
    let records = [game(0, &[0, 1], &[1, 2])];
    let ranking = [vec![Player(1)], vec![Player(0), Player(2)]];
    let format = FormatSettings::Knockout(Knockout::default());
    let table = standings(&contest(4, 2, format), &records, &[], Some(&ranking));
    assert_eq!(order(&table), [(1, 1), (2, 0), (2, 2), (4, 3)]);
}

#[test]
fn three_seats_are_worth_one_point_at_most() {
    let records = [game(0, &[0, 1, 2], &[1, 2, 3]), game(1, &[2, 1, 0], &[2, 2, 1])];
    let table = standings(&contest(3, 3, ALL), &records, &[], None);
    let points = |player| of(&table, player).points.to_string();
    assert_eq!([points(0), points(1), points(2)], ["2", "0.75", "0.25"]);
    assert_eq!(of(&table, 1).total.places, [0, 2, 0]);
    assert_eq!(of(&table, 0).total.wins, 2);
    // 0 was ahead of both in both games: (2 * 0.75 + 2 * 0.25) / 2.
    assert_eq!(of(&table, 0).tie_breaks.sonneborn_berger.unwrap().to_string(), "1");
    let met = table.cross.iter().find(|met| (met.row, met.column) == (Player(1), Player(2)));
    assert_eq!((met.unwrap().games, met.unwrap().points.to_string()), (2, "1.5".into()));
}

#[test]
fn alone_solutions_come_first_then_scores() {
    let alone = |number: u64, player: u32, place: u32, score: Option<i64>| Record {
        round: u32::try_from(number % 2).unwrap() + 1,
        scores: score.map(|score| vec![score]),
        ..game(number, &[player], &[place])
    };
    let records = [
        alone(0, 0, 1, Some(9)),
        alone(1, 0, 2, Some(30)),
        alone(2, 1, 1, Some(8)),
        alone(3, 1, 2, Some(30)),
        alone(4, 2, 1, Some(8)),
        alone(5, 2, 2, None),
        alone(6, 3, 1, Some(20)),
        alone(7, 3, 1, Some(20)),
    ];
    let table = standings(&contest(4, 1, FormatSettings::Puzzle(Puzzle {})), &records, &[], None);
    assert_eq!(order(&table), [(1, 3), (2, 1), (3, 0), (4, 2)]);
    let puzzle = of(&table, 1).puzzle.as_ref().unwrap();
    assert_eq!((puzzle.solved, puzzle.games[0].total, puzzle.games[0].mean), (1, 38, Some(19.0)));
    assert_eq!(table.instances.len(), 2);
    assert_eq!(table.instances[0].best, Some(8));
    assert_eq!(table.instances[0].by, [Player(1), Player(2)]);
    assert_eq!((table.instances[1].best, table.instances[1].solved), (Some(20), 1));
}
