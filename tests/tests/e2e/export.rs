//! `replay export`: matches as pictures.

use crate::support::{TestDir, golden, skip};
use std::fs;
use std::process::Command;

/// Creates a folder with a recorded match.
fn with_match(name: &str) -> TestDir {
    let dir = TestDir::new();
    dir.write("x.jsonl", golden(name));
    dir
}

fn export(dir: &TestDir, words: &[&str]) -> crate::support::RunResult {
    dir.run(&[&["replay", "export", "x.jsonl"], words].concat())
}

#[test]
fn the_file_ending_selects_the_format() {
    let dir = with_match("peg-solitaire-solved.jsonl");
    let begins = |name: &str, with: &[u8]| {
        export(&dir, &["--out", name, "--width", "120"]).code(0);
        let bytes = fs::read(dir.path(name)).unwrap();
        assert!(bytes.starts_with(with), "{name}");
        bytes
    };
    begins("x.svg", b"<svg xmlns=");
    let png = begins("x.png", b"\x89PNG");
    assert_eq!(png[16..20], 120_u32.to_be_bytes());
    begins("x.gif", b"GIF89a");
    let apng = begins("x.apng", b"\x89PNG");
    assert!(apng.windows(4).any(|chunk| chunk == b"acTL"));
    // Existing files are overwritten only with --force.
    let again = export(&dir, &["--out", "x.svg"]).code(1);
    again.stderr_has("x.svg").stderr_has("--force");
    export(&dir, &["--out", "x.svg", "--force"]).code(0);
    export(&dir, &["--out", "x.bmp"]).code(2).stderr_has(".svg, .png, .gif, .apng");
    assert!(!dir.path("x.bmp").exists());
    export(&dir, &["--out", "-"]).code(2).stderr_has("--format");
    export(&dir, &["--out", "-", "--format", "svg"]).code(0).stdout_has("<svg xmlns=");
}

#[test]
fn an_animation_shows_a_part() {
    let dir = with_match("peg-solitaire-solved.jsonl");
    let frames = |words: &[&str]| {
        let words = [&["--out", "x.apng", "--width", "60", "--force"], words].concat();
        export(&dir, &words).code(0);
        let bytes = fs::read(dir.path("x.apng")).unwrap();
        let at = bytes.windows(4).position(|chunk| chunk == b"acTL").unwrap();
        u32::from_be_bytes(bytes[at + 4..at + 8].try_into().unwrap())
    };
    let all = frames(&[]);
    assert_eq!(frames(&["--last", "3"]), 3);
    assert_eq!(frames(&["--last", "9999"]), all);
    assert_eq!(frames(&["--turns", "2..5"]), 4);
    assert_eq!(frames(&["--turns", ".."]), all);
    // The start and the end have no turns of their own: they are with the first and the one after the last.
    assert_eq!(frames(&["--turns", "..0"]), 2);
    for (words, why) in [
        (["--turns", "9..2"], "the first turn comes after the last"),
        (["--turns", "x"], "expected FROM..TO"),
        (["--turns", "99999.."], "the match has none of these turns"),
        (["--last", "0"], "--last"),
    ] {
        let words = [&["--out", "y.gif"][..], &words].concat();
        export(&dir, &words).code(2).stderr_has(why);
    }
    export(&dir, &["--out", "y.svg", "--last", "2"]).code(2).stderr_has("not an animation");
}

#[test]
fn a_video_is_written_by_ffmpeg() {
    let dir = with_match("peg-solitaire-solved.jsonl");
    let words = ["replay", "export", "x.jsonl", "--out", "x.mp4"];
    let missing = dir.run_with(&words, |it| it.env("PATH", dir.path("tmp"))).code(4);
    missing.stderr_has("ffmpeg: it is not installed").stderr_has("or write .gif");
    assert!(!dir.path("x.mp4").exists());
    if Command::new("ffmpeg").arg("-version").output().is_err() {
        return skip("ffmpeg");
    }
    for (name, codec) in [("x.mp4", "h264"), ("x.webm", "vp9")] {
        let words = ["--out", name, "--width", "121", "--last", "4", "--delay", "200ms"];
        export(&dir, &words).code(0);
        let mut probe = Command::new("ffprobe");
        probe.args(["-v", "error", "-show_entries", "stream=codec_name,width:format=duration"]);
        let said = probe.args(["-of", "csv=p=0"]).arg(dir.path(name)).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        let (stream, format) = said.trim().split_once('\n').unwrap();
        // An even width; three positions of 200 ms and the last of 3 s.
        assert_eq!(stream, format!("{codec},120"));
        assert!((format.parse::<f64>().unwrap() - 3.6).abs() < 0.2, "{said}");
    }
    export(&dir, &["--out", "x.mp4", "--turn", "1"]).code(2).stderr_has("every turn");
}

#[test]
fn an_animated_png_is_about_as_small_as_a_gif() {
    let dir = with_match("peg-solitaire-solved.jsonl");
    let size = |name: &str| {
        export(&dir, &["--out", name, "--width", "200"]).code(0);
        fs::metadata(dir.path(name)).unwrap().len()
    };
    let (gif, apng) = (size("x.gif"), size("x.apng"));
    assert!(apng < 2 * gif, "{apng} against {gif} bytes");
}

#[test]
fn a_picture_shows_the_requested_turn() {
    let dir = with_match("freckers-all-across.jsonl");
    let output = |turn: &str| {
        export(&dir, &["--out", "-", "--format", "svg", "--turn", turn]).code(0).stdout
    };
    assert!(output("3").contains(">turn 3: "));
    assert!(output("0").contains(">turn 0: "));
    assert!(!output("start").contains(">turn "));
    assert_ne!(output("1"), output("2"));
    export(&dir, &["--out", "x.svg", "--turn", "999"]).code(2).stderr_has("--turn 999");
    export(&dir, &["--out", "x.gif", "--turn", "1"]).code(2).stderr_has("every turn");
    assert!(!dir.path("x.gif").exists());
    // The end has no turn.
    let end = export(&dir, &["--out", "-", "--format", "svg"]).code(0);
    assert!(end.stdout.contains("wins: all its frogs are"), "{}", end.stdout);
    let strip = export(&dir, &["--out", "-", "--format", "svg", "--strip", "4"]).code(0);
    assert_eq!(strip.stdout.matches("layer-cells").count(), 4);
}

#[test]
fn picture_options() {
    let dir = with_match("hex-swap.jsonl");
    let svg = |words: &[&str]| {
        export(&dir, &[&["--out", "-", "--format", "svg"], words].concat()).code(0).stdout
    };
    let plain = svg(&[]);
    assert_eq!(plain, svg(&["--theme", "light"]));
    for words in [&["--theme", "dark"][..], &["--coords"], &["--flip"], &["--square"]] {
        assert_ne!(plain, svg(words), "{words:?}");
    }
    for name in ["square.png", "square.gif"] {
        export(&dir, &["--out", name, "--square", "--width", "90"]).code(0);
        let bytes = fs::read(dir.path(name)).unwrap();
        let size =
            if name.ends_with("png") { [bytes[19], bytes[23]] } else { [bytes[6], bytes[8]] };
        assert_eq!(size, [90, 90], "{name}");
    }
    export(&dir, &["--out", "x.png", "--width", "5"]).code(2).stderr_has("--width");
    let large = export(&dir, &["--out", "x.png", "--width", "16384"]).code(2);
    large.stderr_has("too many").stderr_has("--width");
    assert!(!dir.path("x.png").exists());
    export(&dir, &["--out", "x.gif", "--delay", "1ms"]).code(2).stderr_has("--delay");
}

#[test]
fn a_torn_transcript_is_exported_up_to_its_end() {
    let dir = with_match("hex-swap.jsonl");
    let whole = fs::read(dir.path("x.jsonl")).unwrap();
    let cut = &whole[..whole.len() * 2 / 3];
    dir.write("x.jsonl", cut);
    export(&dir, &["--out", "x.svg"]).code(0).stderr_has("warning: x.jsonl is incomplete");
    assert!(fs::read_to_string(dir.path("x.svg")).unwrap().contains("to move"));
    dir.write(
        "x.jsonl",
        [&cut[..=cut.iter().rposition(|&b| b == b'\n').unwrap()], b"{}\n"].concat(),
    );
    export(&dir, &["--out", "x.svg", "--force"]).code(0).stderr_has("warning: x.jsonl: line");
    dir.write("x.jsonl", "nothing\n");
    export(&dir, &["--out", "y.svg"]).code(1).stderr_has("line 1");
    dir.write("x.jsonl", "");
    export(&dir, &["--out", "y.svg"]).code(1).stderr_has("no complete line");
    assert!(!dir.path("y.svg").exists());
}
