//! One readable game of every kind, played at random from a seed and compared with the text that is
//! committed in the game's folder as `playthrough.txt`: a change of the rules, of the order of
//! actions, of a text or of the picture shows up there as a difference that a person can read.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use referee_games::{AnyGame, GAMES, GameKind, Turn};
use referee_render::{Style, terminal};
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A game played at random can be endless.
const PLIES_MAX: usize = 200;
/// Positions shown whole at the beginning and at the end, if the boards are small enough.
const SHOWN: (usize, usize) = (10, 5);
/// Lines that the positions of one playthrough may take together.
const SHOWN_LINES_MAX: usize = 330;
/// The longest text for a reader.
const LINES_MAX: usize = 400;
/// Columns of a line that lists actions.
const WIDTH: usize = 96;
/// The environment variable that makes the test write instead of compare.
const UPDATE: &str = "UPDATE_PLAYTHROUGHS";

#[test]
fn every_game_plays_as_it_is_written() {
    for kind in GAMES {
        let file = file(kind);
        let played = playthrough(kind);
        assert!(played.lines().count() < LINES_MAX, "{} is too long to read", file.display());
        if std::env::var_os(UPDATE).is_some_and(|value| value == "1") {
            std::fs::write(&file, played).unwrap();
            continue;
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        if written == played {
            continue;
        }
        let pairs = written.lines().zip(played.lines());
        let same = pairs.take_while(|(written, played)| written == played).count();
        panic!(
            "{} differs from line {} on\n  written: {:?}\n  played:  {:?}\n\
             if that is intended, write it again and read the difference:\n  \
             {UPDATE}=1 cargo test -p referee --test playthroughs && git diff",
            file.display(),
            same + 1,
            written.lines().nth(same),
            played.lines().nth(same),
        );
    }
}

/// Where a game's playthrough is committed.
fn file(kind: &GameKind) -> PathBuf {
    let folder = kind.name.replace('-', "_");
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../games/src").join(folder).join("playthrough.txt")
}

/// An action that was played, and the game as it was before.
struct Ply {
    before: Box<dyn AnyGame>,
    legal: Vec<String>,
    played: String,
}

/// A whole game as a text: the first and the last positions with their boards, in between the
/// actions only.
fn playthrough(kind: &GameKind) -> String {
    let mut game = kind.start(&json!({})).unwrap();
    let mut text = format!("{}, played at random\nsetup {}\n", kind.about().title, game.setup());
    for note in game.notes() {
        writeln!(text, "note: {note}").unwrap();
    }
    let position_lines = board(game.as_ref(), false).lines().count() + 3;
    let shown = (SHOWN_LINES_MAX / position_lines).min(SHOWN.0 + SHOWN.1);
    let at_end = shown * SHOWN.1 / (SHOWN.0 + SHOWN.1);
    let at_start = shown - at_end;

    let plies = play(&mut game);
    let closing = plies.len().saturating_sub(at_end).max(at_start.min(plies.len()));
    for (number, ply) in plies.iter().enumerate() {
        if number < at_start || number >= closing {
            add_ply(&mut text, number, ply);
        } else if number == at_start {
            summarise(&mut text, number, &plies[number..closing]);
        }
    }
    match game.turn() {
        Turn::Over(outcome) => {
            writeln!(text, "\nover after {} plies: {}", plies.len(), json!(outcome)).unwrap();
        }
        Turn::Of(_) | Turn::Chance(_) => {
            writeln!(text, "\nstopped here, after {PLIES_MAX} plies").unwrap();
        }
    }
    text + &board(game.as_ref(), true)
}

/// Plays the game to its end or to the limit.
fn play(game: &mut Box<dyn AnyGame>) -> Vec<Ply> {
    let mut random = Random(1);
    let mut plies = Vec::new();
    while plies.len() < PLIES_MAX && matches!(game.turn(), Turn::Of(_)) {
        let before = game.clone();
        let actions = game.actions();
        let recorded = game.play(&actions[random.below(actions.len())]).unwrap();
        let legal = actions.iter().map(|action| game.format_action(action)).collect();
        plies.push(Ply { before, legal, played: game.format_action(&recorded) });
    }
    plies
}

/// The position before the ply, what could be played, and what was.
fn add_ply(text: &mut String, number: usize, ply: &Ply) {
    let Turn::Of(seat) = ply.before.turn() else { panic!("an action after the end") };
    let colour = ply.before.colours()[seat.index()];
    let mut actions = String::new();
    for action in &ply.legal {
        if actions.len() + 2 + action.len() > WIDTH / 2 {
            actions.push_str(" ..");
            break;
        }
        write!(actions, "  {action}").unwrap();
    }
    let count = ply.legal.len();
    writeln!(text, "\nply {number}: seat {seat}, {colour}; {count} legal:{actions}").unwrap();
    text.push_str(&board(ply.before.as_ref(), number == 0));
    writeln!(text, "played {}", ply.played).unwrap();
}

/// Several plies, each with its number, the action, and how many were legal.
fn summarise(text: &mut String, first: usize, plies: &[Ply]) {
    let last = first + plies.len() - 1;
    writeln!(text, "\nplies {first} to {last}, each with how many actions were legal").unwrap();
    let mut line = String::new();
    for (number, ply) in (first..).zip(plies) {
        let entry = format!("{number}. {} ({})", ply.played, ply.legal.len());
        if !line.is_empty() && line.len() + 2 + entry.len() > WIDTH {
            writeln!(text, "{line}").unwrap();
            line.clear();
        }
        line.push_str(if line.is_empty() { "" } else { "  " });
        line.push_str(&entry);
    }
    writeln!(text, "{line}").unwrap();
}

fn board(game: &dyn AnyGame, legend: bool) -> String {
    let style = Style { coordinates: true, legend, ..Style::default() };
    terminal(&game.view(), &style)
}

/// `SplitMix64`: the same game on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }
}
