//! `replay export`: matches as pictures.

use crate::support::{Place, golden};
use std::fs;

/// A folder with a recorded match in it.
fn with_match(name: &str) -> Place {
    let place = Place::new();
    place.write("x.jsonl", golden(name));
    place
}

fn export(place: &Place, words: &[&str]) -> crate::support::Ran {
    place.run(&[&["replay", "export", "x.jsonl"], words].concat())
}

#[test]
fn the_ending_says_what_a_match_becomes() {
    let place = with_match("peg-solitaire-solved.jsonl");
    let begins = |name: &str, with: &[u8]| {
        export(&place, &["--output", name, "--width", "120"]).code(0);
        let bytes = fs::read(place.path(name)).unwrap();
        assert!(bytes.starts_with(with), "{name}");
        bytes
    };
    begins("x.svg", b"<svg xmlns=");
    let png = begins("x.png", b"\x89PNG");
    assert_eq!(png[16..20], 120_u32.to_be_bytes());
    begins("x.gif", b"GIF89a");
    let apng = begins("x.apng", b"\x89PNG");
    assert!(apng.windows(4).any(|chunk| chunk == b"acTL"));
    // Nothing that is there is overwritten unless that is wanted.
    let again = export(&place, &["--output", "x.svg"]).code(1);
    again.complains("x.svg").complains("--force");
    export(&place, &["--output", "x.svg", "--force"]).code(0);
    export(&place, &["--output", "x.bmp"]).code(2).complains(".svg, .png, .gif, .apng");
    assert!(!place.path("x.bmp").exists());
    export(&place, &["--output", "-"]).code(2).complains("--form");
    export(&place, &["--output", "-", "--form", "svg"]).code(0).prints("<svg xmlns=");
}

#[test]
fn a_picture_shows_the_turn_that_was_asked_for() {
    let place = with_match("freckers-all-across.jsonl");
    let told = |turn: &str| {
        export(&place, &["--output", "-", "--form", "svg", "--turn", turn]).code(0).stdout
    };
    assert!(told("3").contains(">turn 3: "));
    assert!(told("0").contains(">turn 0: "));
    assert!(!told("start").contains(">turn "));
    assert_ne!(told("1"), told("2"));
    export(&place, &["--output", "x.svg", "--turn", "999"]).code(2).complains("--turn 999");
    export(&place, &["--output", "x.gif", "--turn", "1"]).code(2).complains("every turn");
    assert!(!place.path("x.gif").exists());
    // The end, without a turn.
    let end = export(&place, &["--output", "-", "--form", "svg"]).code(0);
    assert!(end.stdout.contains("wins: all_across"), "{}", end.stdout);
    let strip = export(&place, &["--output", "-", "--form", "svg", "--strip", "4"]).code(0);
    assert_eq!(strip.stdout.matches("layer-cells").count(), 4);
}

#[test]
fn looks_are_chosen() {
    let place = with_match("hex-swap.jsonl");
    let svg = |words: &[&str]| {
        export(&place, &[&["--output", "-", "--form", "svg"], words].concat()).code(0).stdout
    };
    let plain = svg(&[]);
    assert_eq!(plain, svg(&["--theme", "light"]));
    for words in [&["--theme", "dark"][..], &["--coords"], &["--flip"]] {
        assert_ne!(plain, svg(words), "{words:?}");
    }
    export(&place, &["--output", "x.png", "--width", "5"]).code(2).complains("--width");
    let large = export(&place, &["--output", "x.png", "--width", "16384"]).code(2);
    large.complains("too many").complains("--width");
    assert!(!place.path("x.png").exists());
    export(&place, &["--output", "x.gif", "--delay", "1ms"]).code(2).complains("--delay");
}

#[test]
fn what_is_cut_off_is_written_as_far_as_it_goes() {
    let place = with_match("hex-swap.jsonl");
    let whole = fs::read(place.path("x.jsonl")).unwrap();
    let cut = &whole[..whole.len() * 2 / 3];
    place.write("x.jsonl", cut);
    export(&place, &["--output", "x.svg"]).code(0).complains("warning: x.jsonl has no end");
    assert!(fs::read_to_string(place.path("x.svg")).unwrap().contains("to move"));
    place.write(
        "x.jsonl",
        [&cut[..=cut.iter().rposition(|&b| b == b'\n').unwrap()], b"{}\n"].concat(),
    );
    export(&place, &["--output", "x.svg", "--force"]).code(0).complains("warning: x.jsonl: line");
    place.write("x.jsonl", "nothing\n");
    export(&place, &["--output", "y.svg"]).code(1).complains("line 1");
    place.write("x.jsonl", "");
    export(&place, &["--output", "y.svg"]).code(1).complains("no whole line");
    assert!(!place.path("y.svg").exists());
}
