//! Fuzzes all readers of transcripts with almost valid transcripts.

use super::edits::edited;
use referee::reading::{Selection, TurnChoice, caption, position_report, print, show_recorded};
use referee_contest::audit::verify_and_record;
use referee_games::{Games, kind};
use referee_match::Match;
use referee_match::transcript::{
    FollowState, Playback, Status, TranscriptFollower, WalkError, exchange, game_record, is_packed,
    sent, unpack, verify, walk,
};
use referee_play::recorded_turn::RecordedTurn;
use referee_render::Style;
use referee_render::pictures::{OutputFormat, PictureOptions, Plies, write_picture};
use referee_web::{MatchPage, MatchState, export};
use serde_json::{Value, json};

/// The recorded matches that scripts change.
const RECORDED: [&[u8]; 10] = [
    include_bytes!("../../tests/transcripts/hex-fault.jsonl"),
    include_bytes!("../../tests/transcripts/hex-resigned.jsonl"),
    include_bytes!("../../tests/transcripts/hex-swap.jsonl"),
    include_bytes!("../../tests/transcripts/hex-void.jsonl"),
    include_bytes!("../../tests/transcripts/chexers-retired.jsonl"),
    include_bytes!("../../tests/transcripts/chinese-checkers-three.jsonl"),
    include_bytes!("../../tests/transcripts/checker-puzzle-solved.jsonl"),
    include_bytes!("../../tests/transcripts/freckers-all-across.jsonl"),
    include_bytes!("../../tests/transcripts/peg-solitaire-solved.jsonl"),
    include_bytes!("../../tests/transcripts/peg-solitaire-diamond.jsonl.gz"),
];
/// More bytes than any fuzzed transcript needs.
const UNPACKED_BYTES_MAX: usize = 1 << 20;
/// Fields with indices and times.
const FIELDS: [&str; 6] = ["seat", "turn", "turns", "left_ms", "used_ms", "at_ns"];
/// Values for those fields; the last ones are out of range or overflow.
const VALUES: [u64; 8] = [0, 1, 2, 3, 7, 255, u64::MAX - 1, u64::MAX];

/// The bytes are a transcript or, if they don't begin like one, the index of a recorded match (the first
/// byte) and changes to it (four bytes each). No reader panics, and all readers stop at the same line
/// for the same reason.
pub fn readers(bytes: &[u8]) {
    if bytes.first() == Some(&b'{') || is_packed(bytes) {
        if let Some(bytes) = unpack(bytes, UNPACKED_BYTES_MAX) {
            read(&bytes);
        }
    } else if let Some((&which, script)) = bytes.split_first() {
        let recorded = RECORDED[usize::from(which) % RECORDED.len()];
        let recorded = unpack(recorded, UNPACKED_BYTES_MAX).expect("it is short");
        let mut lines =
            recorded.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        for change in script.chunks_exact(4) {
            edit(&mut lines, [change[0], change[1], change[2], change[3]]);
        }
        read(&lines.concat());
    }
}

/// Changes a line; the first byte selects it.
fn edit(lines: &mut Vec<Vec<u8>>, [at, how, more, most]: [u8; 4]) {
    let at = usize::from(at) * lines.len() / 256;
    let other = usize::from(more) * lines.len() / 256;
    match how % 12 {
        _ if lines.is_empty() => {}
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => lines.swap(at, other),
        3 => lines.truncate(at + 1),
        4 => {
            let length = lines[at].len() * usize::from(more) / 256;
            lines[at].truncate(length);
            lines.truncate(at + 1);
        }
        5 => {
            let fault = json!({"kind": "gone", "by": null, "turn": most, "text": ""});
            let gone = json!({"type": "retired", "at_ns": 0, "turn": most, "seat": more % 8,
                              "fault": fault});
            lines.insert(at + 1, format!("{gone}\n").into_bytes());
        }
        6..=8 => change(&mut lines[at], |mut value| {
            set_fields(
                &mut value,
                FIELDS[usize::from(how / 12) % 6],
                VALUES[usize::from(more % 8)],
            );
            value
        }),
        _ => change(&mut lines[at], |value| edited(value, &[more, most])),
    }
}

/// Changes a line if it is JSON.
fn change(line: &mut Vec<u8>, change: impl FnOnce(Value) -> Value) {
    if let Ok(value) = serde_json::from_slice(line) {
        *line = format!("{}\n", change(value)).into_bytes();
    }
}

/// Sets all fields with this name to a number.
fn set_fields(value: &mut Value, name: &str, number: u64) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                if field == name { *value = json!(number) } else { set_fields(value, name, number) }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| set_fields(value, name, number)),
        _ => {}
    }
}

/// Reads a transcript with every reader.
fn read(bytes: &[u8]) {
    let walked = walked(bytes);
    let status = verify(bytes, &Games::default()).status;
    let recorded = verify_and_record(bytes, &Games::default())
        .map_or_else(|(status, _)| status, |_| Status::Ok);
    assert_eq!(recorded, status, "`verify_and_record` and `verify` disagree");
    assert!(status != Status::Ok || walked.is_ok(), "{walked:?}, but `ok`");
    let following = TranscriptFollower::of(bytes, &Games::default());
    match (&walked, following.state()) {
        (Err(WalkError::Broken { line, text }), FollowState::Broken { line: at, text: why }) => {
            assert_eq!((line, text), (at, why));
        }
        (Err(WalkError::Broken { .. }), state) => panic!("{walked:?}, followed to {state:?}"),
        (Err(WalkError::Header(_)), _) => assert!(following.playback().is_none()),
        (Ok(()), state) => assert!(!matches!(state, FollowState::Broken { .. }), "{state:?}"),
    }
    if let Some(playback) = following.playback() {
        export_all(playback);
    }
    if let Ok(steps) = walk(bytes, &Games::default()) {
        let game = steps.walk().header().game.clone();
        let kind = kind(&game).expect("walked games are in the registry");
        exchange(bytes, &Games::default(), |_| true).ok();
        let every = Selection { ply: None, every: true };
        let positions = show_recorded(bytes, "x", kind, every, |game| {
            position_report(game);
            caption(game, None);
            Ok(())
        });
        assert_eq!(positions.is_ok(), walked.is_ok(), "{positions:?}");
    }
    for turn in [None, Some(1)] {
        let shown = turn.map(TurnChoice::After);
        print(bytes, &Games::default(), "x", shown, Some(&Style::default()), |_| Ok(())).ok();
        for seat in [None, Some("0"), Some("a")] {
            if let Ok(case) = RecordedTurn::read(bytes, &Games::default(), "x", seat, turn) {
                assert!(walked.is_ok(), "{walked:?}, but `debug` reads it");
                sent(&case.header, &Games::default(), case.seat, &case.events, case.turn).ok();
                if let Some(turn) = case.turn {
                    Match::resume(case.header, &Games::default(), &case.events, (case.seat, turn))
                        .ok();
                }
            }
        }
    }
}

fn walked(bytes: &[u8]) -> Result<(), WalkError> {
    let mut steps = walk(bytes, &Games::default())?;
    while steps.step()?.is_some() {}
    Ok(())
}

/// Writes the match in all formats.
fn export_all(playback: &Playback) {
    let sheet = MatchPage::new("x", playback, &MatchState::Over, 0);
    export(&sheet);
    for plies in [Plies::One(playback.plies().len() - 1), Plies::Strip(3)] {
        let options = PictureOptions::default();
        write_picture(OutputFormat::Svg, playback, plies, &options, Vec::new(), &mut |_| {})
            .expect("memory takes all bytes");
    }
    if let Ok(record) = game_record(playback) {
        for notation in playback.game().kind().notations {
            notation.write(&record).ok();
        }
    }
}
