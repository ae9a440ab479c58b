use super::{all_pairings, assert_seats_are_balanced, field, meetings, played, spread};
use crate::FormatSettings;
use crate::formats::Gauntlet;

#[test]
fn one_against_three() {
    let pairings =
        all_pairings(&FormatSettings::Gauntlet(Gauntlet { challengers: 1 }), field(4, 2, 2));
    let list: Vec<(u32, [u32; 2])> = pairings
        .iter()
        .map(|pairing| (pairing.round, [0, 1].map(|seat| pairing.players[seat].0)))
        .collect();
    let expected = [(1, [0, 1]), (1, [2, 0]), (1, [0, 3]), (2, [1, 0]), (2, [0, 2]), (2, [3, 0])];
    assert_eq!(list, expected);
}

/// Challengers meet all others equally often and each other never; others meet only if a game has
/// more than two seats, and then equally often.
#[test]
fn challengers_meet_all_others() {
    for (players, challengers) in
        (1..=9).flat_map(|players| (0..=5).map(move |count| (players, count)))
    {
        for (seats, rounds) in (2..=4).flat_map(|seats| (1..=3).map(move |rounds| (seats, rounds)))
        {
            let field = field(players, seats, rounds);
            let format = FormatSettings::Gauntlet(Gauntlet { challengers });
            let pairings = all_pairings(&format, field);
            assert_seats_are_balanced(&pairings, field);
            let meetings = meetings(&pairings, players);
            let of_challengers = |count: usize| -> Vec<u32> {
                let of = |(one, other): (u32, u32)| {
                    [one, other].iter().filter(|&&player| player < challengers).count()
                };
                let found =
                    meetings.iter().filter(|((one, other), _)| of((one.0, other.0)) == count);
                found.map(|(_, met)| *met).collect()
            };
            assert!(of_challengers(2).iter().all(|&met| met == 0), "{field:?} {challengers}");
            assert_eq!(spread(&of_challengers(1)), 0, "{field:?} {challengers}");
            assert_eq!(spread(&of_challengers(0)), 0, "{field:?} {challengers}");
            if (challengers as usize) + seats - 1 <= players && challengers > 0 {
                assert!(of_challengers(1)[0] >= rounds, "{field:?} {challengers}");
            }
        }
    }
}

/// Challengers take turns with the groups of others, so that no one waits.
#[test]
fn no_one_waits() {
    let pairings =
        all_pairings(&FormatSettings::Gauntlet(Gauntlet { challengers: 5 }), field(15, 2, 1));
    let players: Vec<_> = pairings.iter().map(|pairing| pairing.players.clone()).collect();
    for end in 0..=players.len() {
        let so_far = played(15, &players[..end]);
        assert!(spread(&so_far[..5]) <= 1, "challengers: {so_far:?}");
        assert!(spread(&so_far[5..]) <= 2, "others: {so_far:?}");
    }
}
