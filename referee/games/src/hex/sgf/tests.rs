//! SGF as other programs write it, what can't be read of it, and what is written.

use super::KIND;
use crate::{GameRecord, ReadRecord, RecordEnd};
use referee_protocol::Seat;
use serde_json::{Value, json};

fn read(text: &str) -> ReadRecord {
    KIND.read(text, 1).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    KIND.read(text, 1).expect_err(text)
}

/// Actions as `c4` and `swap`, in our names.
fn actions(words: &str) -> Vec<Value> {
    let action = |word: &str| json!(word.parse::<super::super::Action>().unwrap());
    words.split_whitespace().map(action).collect()
}

fn names(record: &GameRecord) -> Vec<&str> {
    record.names.iter().map(|name| name.as_deref().unwrap_or("-")).collect()
}

#[test]
fn a_file_of_hexgui() {
    let text = "(;AP[HexGui:1.0.0]FF[4]GM[11]SZ[5]PB[Ada]PW[Ben]\n;B[b1];W[c4]C[good?]\n;B[d2])\n";
    let ReadRecord { record, notes } = read(text);
    assert_eq!(record.setup, json!({"size": 5, "first": "black", "swap": "none"}));
    // Their columns are our rows.
    assert_eq!(record.actions, actions("a2 d3 b4"));
    assert_eq!((names(&record), record.end), (vec!["Ada", "Ben"], RecordEnd::Unfinished));
    assert!(notes.is_empty());
}

#[test]
fn old_versions_of_hexgui_wrote_swap_pieces_for_a_swap_of_sides() {
    for (version, rule) in [("0.9.GIT", "sides"), ("1.0", "pieces")] {
        let text = format!("(;AP[HexGui:{version}]GM[11]SZ[5];B[b1];W[swap-pieces])");
        assert_eq!(read(&text).record.setup["swap"], rule);
    }
    let text = "(;AP[HexGui:0.9.GIT]GM[11]SZ[5];B[b1];W[swap-pieces];W[c3];B[a2])";
    assert_eq!(read(text).record.setup["swap"], "sides");
    let text = "(;AP[HexGui:0.9.GIT]GM[11]SZ[5];B[b1];W[swap-pieces];B[c3];W[a3])";
    assert_eq!(read(text).record.setup["swap"], "pieces");
}

#[test]
fn a_file_of_a_site_with_more_properties_than_we_know() {
    let text = "(;FF[4]CA[UTF-8]AP[PlayHex:0.0.0]SO[x]PC[https://example.org/1]GM[11]SZ[4]PB[A]\
        PW[B]DT[2026-05-01,02]HA[0]RE[B+Resign]TM[600]OT[fischer 5 capped];B[c2]BL[600]\
        ;W[swap-pieces]WL[595];B[d1]BL[595])";
    let record = read(text).record;
    assert_eq!(record.setup["swap"], "pieces");
    assert_eq!(record.actions, actions("b3 swap a4"));
    assert_eq!(record.end, RecordEnd::Resigned(Seat(1)));
    assert_eq!(record.date.as_deref(), Some("2026-05-01"));
}

#[test]
fn a_file_of_little_golem() {
    // The moves of the player that PB names have the letter W there, and moves first.
    let text = "(;FF[4]EV[hex.in.1]PB[Ada]PW[Ben]SZ[5]RE[W]GC[ game #1]\
        SO[https://www.littlegolem.net];W[ae];B[swap];W[cc];B[bb];W[resign])";
    let ReadRecord { record, notes } = read(text);
    assert_eq!(record.setup, json!({"size": 5, "first": "black", "swap": "pieces"}));
    assert_eq!(record.actions, actions("e1 swap c3 b2"));
    assert_eq!((names(&record), record.end), (vec!["Ada", "Ben"], RecordEnd::Resigned(Seat(0))));
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn who_moves_first_tells_the_first_colour() {
    let record = read("(;GM[11]SZ[3]PB[A]PW[B];W[a1];B[b2])").record;
    assert_eq!((&record.setup["first"], names(&record)), (&json!("red"), vec!["B", "A"]));
    assert_eq!(read("(;GM[11]PL[W])").record.setup["first"], "red");
    assert_eq!(read("(;)").record.setup, json!({"size": 11, "first": "black", "swap": "none"}));
}

#[test]
fn a_swap_of_sides_gives_the_stone_away() {
    // Black's stone is the second player's then, who wins with it.
    let text = "(;GM[11]SZ[3]PB[A]PW[B]RE[B+];B[b1];W[swap-sides];W[a1];B[b2];W[a2];B[b3])";
    let ReadRecord { record, notes } = read(text);
    assert_eq!((&record.setup["swap"], record.end), (&json!("sides"), RecordEnd::Played));
    assert!(notes.is_empty(), "{notes:?}");
    // The letters show which swap it was, where the word doesn't.
    let text = text.replace("swap-sides", "swap");
    assert_eq!(read(&text).record, record);
}

#[test]
fn stones_that_were_there_make_a_position() {
    let text = "(;GM[11]SZ[4]AB[a1][b2]AW[c3]AE[c3]AW[d4][c1];B[a3];W[a4])";
    let record = read(text).record;
    let position = json!({
        "to_move": 0, "size": 4, "stones": [[[0, 0], [1, 1]], [[2, 0], [3, 3]]],
        "colours": ["black", "red"], "turn": 4,
    });
    assert_eq!(record.setup["position"], position);
    // With one black stone more it must be white's turn.
    let text = "(;GM[11]SZ[4]AB[a1][b2]AW[c3]PL[W])";
    let setup = read(text).record.setup;
    assert_eq!((&setup["first"], &setup["position"]["to_move"]), (&json!("black"), &json!(1)));
    assert!(
        refused("(;GM[11]SZ[4]AB[a1][b2][c3])").contains("line 1, column 16: position: 3 black")
    );
}

#[test]
fn only_the_main_line_of_one_game_counts() {
    let text = "(;GM[11]SZ[3];B[a1](;W[b1](;B[c1])(;B[c2]))(;W[b2]))\n(;GM[11]SZ[4];B[d4])";
    let ReadRecord { record, notes } = read(text);
    assert_eq!(record.actions, actions("a1 a2 a3"));
    assert_eq!(
        notes,
        ["this is game 1 of 2", "the game has variations: only its main line was read"]
    );
    assert_eq!(KIND.read(text, 2).unwrap().record.actions, actions("d4"));
    assert!(KIND.read(text, 3).unwrap_err().contains("the text has games 1 to 2"));
    assert!(KIND.read(text, 0).is_err());
}

#[test]
fn values_have_escapes_and_names_are_lines() {
    let text = "(;GM[11]PB[a\\]b\\\\c\\\nd\r\ne]PW[ ]C[(;)];B[A1])";
    assert_eq!(names(&read(text).record), ["a]b\\cd e", "-"]);
    // Old versions wrote whole words.
    assert_eq!(read("(;GaMe[11]SiZe[3];Black[a1])").record.actions, actions("a1"));
}

#[test]
fn no_text_is_too_deep() {
    let deep = "(;".repeat(500_000);
    assert!(refused(&deep).contains("expected a property, `;`, `(` or `)`"));
    read(&format!("{deep}{}", ")".repeat(500_000)));
}

#[test]
fn the_result_is_compared_with_the_moves() {
    let won = "(;GM[11]SZ[3]RE[W+];B[b1];W[a1];B[b2];W[a2];B[b3])";
    let ReadRecord { record, notes } = read(won);
    assert_eq!(record.end, RecordEnd::Played);
    assert_eq!(notes, ["its result is RE[W+], but the moves say otherwise"]);
    for (result, end) in [
        ("B+R", RecordEnd::Resigned(Seat(1))),
        ("W+Time", RecordEnd::TimedOut(Seat(0))),
        ("W+F", RecordEnd::Forfeited(Seat(0))),
        ("Void", RecordEnd::Unfinished),
        ("?", RecordEnd::Unfinished),
        ("", RecordEnd::Unfinished),
    ] {
        let ReadRecord { record, notes } = read(&format!("(;GM[11]RE[{result}];B[c3])"));
        assert_eq!((record.end, notes), (end, vec![]), "{result}");
    }
    let ReadRecord { record, notes } = read("(;GM[11]RE[B+];B[c3])");
    assert_eq!(record.end, RecordEnd::Unfinished);
    assert_eq!(notes, ["its result is RE[B+], but the moves don't show it"]);
}

#[test]
fn mistakes_are_reported_with_their_place() {
    for (text, stated) in [
        ("", "line 1, column 1: the text has no game: expected `(`"),
        ("\n ;B[a1]", "line 2, column 2: expected `(`, where a game begins, got ';'"),
        ("(B[a1])", "line 1, column 2: expected `;`, where a node begins, got 'B'"),
        ("(;GM[11]\n;B)", "line 2, column 3: expected `[` after the property B, got ')'"),
        ("(;GM[11]\n;B", "line 2, column 3: the text ends after the property B: expected `[`"),
        ("(;GM[11];B[a1]", "column 15: the text ends within a game: expected a property, `;`"),
        ("(;C[a\\]b\n)", "line 1, column 4: this value has no end: expected `]`"),
        ("(;GM[11](;B[a1]);W[a2])", "line 1, column 17: expected `(` or `)`, got ';'"),
        ("(;PB[a]])", "line 1, column 8: expected a property, `;`, `(` or `)`, got ']'"),
        ("(;GM[1])", "line 1, column 5: GM[1] is another game: Hex has GM[11]"),
        ("(;GM[11]SZ[40])", "column 11: `size` must be 3 to 26, not 40"),
        ("(;GM[11]SZ[9:11])", "column 11: SZ[9:11]: the board must have as many rows as columns"),
        ("(;GM[11]SZ[big])", "column 11: expected a number of rows, got SZ[big]"),
        ("(;GM[11];B[c3];W[c3])", "column 17: move 2, W[c3]: c3 is occupied"),
        ("(;GM[11]SZ[3];B[d1])", "move 1, B[d1]: d1 is off the board"),
        ("(;GM[11];B[c3];B[c4])", "move 2, B[c4]: it is the other player's turn"),
        ("(;GM[11];B[])", "move 1, B[]: expected a cell such as `c4`, a swap or `resign`"),
        ("(;GM[11];B[3,4])", "move 1, B[3,4]: expected a cell"),
        ("(;GM[11];B[a1]W[a2])", "column 16: a second move in one node"),
        ("(;GM[11];B[a1];AB[a2])", "column 18: stones can't be added or removed after move 1"),
        ("(;GM[11]AB[zz])", "column 11: expected a cell of 11 x 11 such as `c2`, got \"zz\""),
        ("(;GM[11]MN[0];B[a1])", "column 11: expected a move number, got \"0\""),
        ("(;GM[11];B[swap])", "move 1, B[swap]: only the second player may swap"),
        ("(;GM[11]RU[swap-sides];B[a1];W[swap-pieces])", "is not the swap in RU"),
        ("(;GM[11];B[resign];W[a1])", "move 2, W[a1]: a player has already given up"),
        ("(;GM[11]SZ[3];B[b1];W[a1];B[b2];W[a2];B[b3];W[a3])", "move 6, W[a3]: the game is over"),
    ] {
        let error = refused(text);
        assert!(error.contains(stated), "{text}: {error}");
    }
    assert!(refused(&" ".repeat((16 << 20) + 1)).contains("longer than"));
}

fn record(setup: &Value, words: &str) -> GameRecord {
    GameRecord {
        setup: setup.clone(),
        names: vec![Some("Ada [1]".to_owned()), Some("Ben\n\u{1b}[31m".to_owned())],
        title: Some("hex-0123456789abcdef".to_owned()),
        date: Some("2026-05-01".to_owned()),
        actions: actions(words),
        end: RecordEnd::Unfinished,
        comment: String::new(),
    }
}

#[test]
fn written_games_look_like_this() {
    let mut texts = Vec::new();
    let won = "b1 swap a1 d4 a4 d3 b1 d2 c3 c4 c1 b4 d1";
    let setup = json!({"size": 4, "swap": "pieces"});
    texts.push(GameRecord { end: RecordEnd::Played, ..record(&setup, won) });
    let setup = json!({"size": 4, "swap": "sides", "first": "red"});
    let comment = "Ada [1] wins: illegal\na \\ b".to_owned();
    let end = RecordEnd::Forfeited(Seat(1));
    texts.push(GameRecord { end, comment, ..record(&setup, "b1 swap a1") });
    let position = json!({
        "to_move": 1, "size": 3, "stones": [[[1, 1]], []], "colours": ["black", "red"], "turn": 1,
    });
    let setup = json!({"size": 3, "position": position});
    texts.push(GameRecord { end: RecordEnd::Resigned(Seat(1)), ..record(&setup, "") });
    let texts: Vec<String> = texts.iter().map(|record| KIND.write(record).unwrap()).collect();
    insta::assert_snapshot!(texts.join("\n"), @r"
    (;FF[4]CA[UTF-8]AP[Referee:0.1.0]GM[11]SZ[4]GN[hex-0123456789abcdef]PB[Ada [1\]]PW[Ben  [31m]DT[2026-05-01]RU[swap-pieces]RE[B+]
    ;B[a2];W[swap-pieces];B[a1];W[d4];B[d1];W[c4];B[a2];W[b4];B[c3];W[d3]
    ;B[a3];W[d2];B[a4])

    (;FF[4]CA[UTF-8]AP[Referee:0.1.0]GM[11]SZ[4]GN[hex-0123456789abcdef]PB[Ben  [31m]PW[Ada [1\]]DT[2026-05-01]RU[swap-sides]RE[B+Forfeit]PL[W]
    ;W[a2];B[swap-sides];B[a1]C[Ada [1\] wins: illegal
    a \\ b])

    (;FF[4]CA[UTF-8]AP[Referee:0.1.0]GM[11]SZ[3]GN[hex-0123456789abcdef]PB[Ada [1\]]PW[Ben  [31m]DT[2026-05-01]RE[B+Resign]AB[b2]PL[W]
    ;W[resign]MN[2])
    ");
}

#[test]
fn what_is_no_game_is_not_written() {
    for (setup, words, stated) in [
        (json!({"size": 99}), "", "99"),
        (json!({}), "a1 a1", "turn 1: a1 is occupied"),
        (json!({"size": 3}), "a1 a2 b1 b2 c1 c2", "turn 5: the game is over"),
    ] {
        let error = KIND.write(&record(&setup, words)).unwrap_err();
        assert!(error.contains(stated), "{error}");
    }
}
