//! Formats of two seats, each played to its end.

use crate::support::TestDir;
use crate::support::contest::{assert_whole, contest, query, status, write};

const FIVE: [&str; 5] = ["@random", "@first", "@greedy", "b=@random", "c=@first"];

#[test]
fn formats_of_two_seats_are_played_to_their_end() {
    // Players, lines of the file, and the least and most games.
    let contests: [(usize, &str, usize, usize); 6] = [
        (5, "format = \"swiss\"\nrounds = 3\n", 12, 12),
        (5, "format = \"knockout\"\nknockout.third_place = true\n", 10, 40),
        (5, "format = \"double-knockout\"\n", 16, 72),
        (4, "format = \"ladder\"\nrounds = 3\n", 12, 12),
        (5, "format = \"gauntlet\"\ngauntlet.challengers = 2\n", 12, 12),
        (3, "seat_orders = \"one\"\nrounds = 2\n", 6, 6),
    ];
    let dir = TestDir::new();
    for (index, (players, more, least, most)) in contests.into_iter().enumerate() {
        write(&dir, &FIVE[..players], more);
        let folder = format!("d{index}");
        contest(&dir, &["run", "c.toml", "--out", &folder]).code(0);
        let games = status(&dir, &folder)["played"].as_u64().unwrap();
        let games = usize::try_from(games).unwrap();
        assert!((least..=most).contains(&games), "{more}: {games} games");
        assert_whole(&dir, &folder, games);
        let faults = query(&dir, &folder, "select * from seats where fault is not null");
        assert_eq!(faults, [""; 0], "{more}");
        if !more.contains("one") {
            // Every pairing has both seat orders, each with a seed of its own.
            let unfair = "select block from games join seats on number = seats.game and seat = 0 \
                          group by block having count(*) <> 2 or count(distinct player) <> 2 \
                          or count(distinct seed) <> 2";
            assert_eq!(query(&dir, &folder, unfair), [""; 0], "{more}");
        }
    }
}
