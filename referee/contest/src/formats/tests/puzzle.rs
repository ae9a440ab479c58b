use super::{all_pairings, field};
use crate::FormatSettings;
use crate::formats::Puzzle;

#[test]
fn all_players_play_alone_in_every_round() {
    let pairings = all_pairings(&FormatSettings::Puzzle(Puzzle {}), field(2, 1, 3));
    let list: Vec<(u32, u32)> =
        pairings.iter().map(|pairing| (pairing.round, pairing.players[0].0)).collect();
    assert_eq!(list, [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]);
}
