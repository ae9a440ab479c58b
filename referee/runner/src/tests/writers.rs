//! Who fills the disk.

use super::store::{game, stored};
use crate::folder::Folder;
use crate::store::Store;
use crate::writers::heavy_writers;
use referee_contest::{Player, PlayerInfo};
use std::fs;

/// Players meet in other orders, and who meets one that writes much is no cause.
#[test]
fn who_writes_much_is_found_by_the_largest_games() {
    let (place, mut stored) = stored();
    for name in ["c", "d"] {
        let player = PlayerInfo { name: name.to_owned(), ..stored.contest.players[0].clone() };
        stored.contest.players.push(player);
    }
    let folder = Folder::create(&place.path().join("d")).unwrap();
    let mut store = Store::create(&folder, &stored).unwrap();
    let mut add = |number, players: [u32; 2], lengths: [usize; 2]| {
        let mut game = game(number, "a");
        game.players = players.map(Player).to_vec();
        let path = folder.path(&game.transcript);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let line = |seat: usize| {
            format!(
                "{{\"type\":\"line\",\"seat\":{seat},\"line\":\"{}\"}}\n",
                "x".repeat(lengths[seat])
            )
        };
        fs::write(path, format!("{{\"type\":\"header\"}}\n{}{}cut", line(0), line(1))).unwrap();
        store.add(&[(game, None)], &[]).unwrap();
    };
    for number in 0..40 {
        add(number, [0, 1], [500_000, 500_000]);
    }
    add(40, [2, 0], [3_000_000, 10_000]);
    add(41, [1, 2], [20_000, 5_000_000]);
    add(42, [0, 3], [1_040_000, 10_000]);
    let all = heavy_writers(&folder, &store, |_| true).unwrap();
    assert_eq!(all, [(Player(2), 4_000_035)]);
    assert_eq!(heavy_writers(&folder, &store, |player| player != Player(2)).unwrap(), []);
}
