//! Each format whole, with real processes.

use super::{AMPLE, assert_whole, contest, query, status, transcripts, write};
use crate::support::Place;

const FIVE: [&str; 5] = ["@random", "@first", "@greedy", "b=@random", "c=@first"];

#[test]
fn formats_of_two_seats_are_played_to_their_end() {
    // Players, what the file says, and how many games that are at least and at most.
    let contests: [(usize, &str, usize, usize); 6] = [
        (5, "format = \"swiss\"\nrounds = 3\n", 12, 12),
        (5, "format = \"knockout\"\nknockout.third_place = true\n", 10, 40),
        (5, "format = \"double-knockout\"\n", 16, 72),
        (4, "format = \"ladder\"\nrounds = 3\n", 12, 12),
        (5, "format = \"gauntlet\"\ngauntlet.challengers = 2\n", 12, 12),
        (3, "seat_orders = \"one\"\nrounds = 2\n", 6, 6),
    ];
    let place = Place::new();
    for (index, (players, more, least, most)) in contests.into_iter().enumerate() {
        write(&place, &FIVE[..players], more);
        let folder = format!("d{index}");
        contest(&place, &["run", "c.toml", "--out", &folder]).code(0);
        let games = status(&place, &folder)["played"].as_u64().unwrap();
        let games = usize::try_from(games).unwrap();
        assert!((least..=most).contains(&games), "{more}: {games} games");
        assert_whole(&place, &folder, games);
        let faults = query(&place, &folder, "select * from seats where fault is not null");
        assert_eq!(faults, [""; 0], "{more}");
        if !more.contains("one") {
            // Every pairing in both seat orders, from the same opening.
            let unfair = "select block from games join seats on number = seats.game and seat = 0 \
                          group by block having count(*) <> 2 or count(distinct player) <> 2 \
                          or count(distinct seed) <> 1";
            assert_eq!(query(&place, &folder, unfair), [""; 0], "{more}");
        }
    }
}

#[test]
fn every_pairing_plays_every_game() {
    let place = Place::new();
    let games = "[[games]]\ngame = \"hex\"\nsetup = { size = 3 }\n\
                 [[games]]\nname = \"large\"\ngame = \"hex\"\nsetup = { size = 4 }\n";
    let agents = "agents = [\"@random\", \"@first\", \"b=@first\"]\n";
    place.write("c.toml", format!("{agents}{AMPLE}[openings]\nplies = 1\n{games}"));
    contest(&place, &["run", "c.toml", "--out", "d"]).code(0);
    assert_whole(&place, "d", 12);
    let played = "select player, game, seat, count(*) from (select seats.player, games.game, seat \
                  from seats join games on number = seats.game) group by 1, 2, 3 order by 1, 2, 3";
    let mut wanted = Vec::new();
    for player in 0..3 {
        for game in 0..2 {
            wanted.extend((0..2).map(|seat| format!("{player}|{game}|{seat}|2")));
        }
    }
    assert_eq!(query(&place, "d", played), wanted);
}

#[test]
fn a_comparison_ends_when_it_is_decided() {
    let place = Place::new();
    let more = "format = \"compare\"\nrounds = 300\ncompare = { elo0 = 0, elo1 = 100 }\n";
    write(&place, &["@greedy", "@random"], more);
    let mut told = Vec::new();
    for jobs in ["1", "5"] {
        let words = ["run", "c.toml", "--out", jobs, "--jobs", jobs];
        contest(&place, &words).code(0).prints("@greedy is better than @random");
        let mut status = status(&place, jobs);
        // Agents that share cores are stopped while they wait.
        status["sandbox"].take();
        assert_eq!((&status["over"], &status["played"]), (&true.into(), &status["games"]));
        assert!(status["played"].as_u64().unwrap() < 600, "{status}");
        place.run(&["verify", jobs]).code(0);
        // Games that were under way are kept where they were played to their end, and don't count.
        let rows = query(&place, jobs, "select count(*) from games");
        assert_eq!(rows, [transcripts(&place, jobs).len().to_string()]);
        contest(&place, &["resume", jobs]).code(0).prints("@greedy is better than @random");
        let played = query(&place, jobs, "select number, moves from games order by number");
        let counted = usize::try_from(status["played"].as_u64().unwrap()).unwrap();
        told.push((status, played[..counted].to_vec()));
    }
    assert_eq!(told[0], told[1]);
    place.assert_tidy();
}

#[test]
fn every_triple_meets_in_every_order() {
    let place = Place::new();
    // All that matters is who sits where.
    let agents = ["a", "b", "c", "d"].map(|name| format!("\"{name}=@crash\"")).join(", ");
    let game = "[[games]]\ngame = \"chexers\"\n";
    let more = format!("{AMPLE}policy.on_fault = \"end\"\n");
    place.write("c.toml", format!("name = \"x\"\nagents = [{agents}]\n{more}{game}"));
    contest(&place, &["run", "c.toml", "--out", "d"]).code(0);
    let seated = "select group_concat(player, '') from (select game, player from seats \
                  order by game, seat) group by game";
    let mut found = query(&place, "d", seated);
    found.sort();
    let mut wanted = Vec::new();
    for a in 0..4 {
        for b in (0..4).filter(|&b| b != a) {
            wanted.extend((0..4).filter(|&c| c != a && c != b).map(|c| format!("{a}{b}{c}")));
        }
    }
    assert_eq!(found, wanted);
    assert_whole(&place, "d", 24);
}

#[test]
fn puzzles_are_played_alone_and_told_by_score() {
    let place = Place::new();
    let puzzle =
        |shape: &str| format!("[[games]]\ngame = \"peg-solitaire\"\nsetup = {{ {shape} }}\n");
    let games = puzzle("size = 4") + &puzzle("size = 5");
    let head = "name = \"x\"\nformat = \"puzzle\"\nrounds = 2\n";
    let agents = "agents = [\"@random\", \"@first\", \"@crash\"]\n";
    place.write("c.toml", format!("{head}{agents}{AMPLE}{games}"));
    let ran = contest(&place, &["run", "c.toml", "--out", "d"]).code(0);
    assert!(ran.stdout.contains("@first") && ran.stdout.contains("@crash"), "{}", ran.stdout);
    assert_whole(&place, "d", 12);
    let each = "select player, count(distinct games.game) from seats join games on number = \
                seats.game group by player";
    assert_eq!(query(&place, "d", each), ["0|2", "1|2", "2|2"]);
    assert_eq!(query(&place, "d", "select max(seat) from seats"), ["0"]);
    for format in ["text", "html", "markdown", "csv"] {
        let told = contest(&place, &["report", "d", "--format", format]).code(0).stdout;
        assert!(!told.contains("NaN") && !told.contains("inf,"), "{told}");
    }
}
