//! Matches in the notations of other programs.

use referee_games::notations;
use referee_match::transcript::{Playback, game_record};
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;

/// Returns the game in the notation of this file ending, if it has one.
pub(super) fn to_notation(
    playback: &Playback,
    file: &str,
    ending: &str,
) -> Result<String, Failure> {
    let kind = playback.game().kind();
    let notation = kind.notation(ending).ok_or_else(|| {
        let with = notations().filter(|(_, notation)| notation.ending == ending);
        let names: Vec<&str> = with.map(|(kind, _)| kind.name).collect();
        Failure::operation(format!("{} can't be written as .{ending}", kind.name))
            .help(format!("games that can: {}", names.join(", ")))
    })?;
    let failed = |text: String| Failure::operation(format!("{file}: {}", sanitize(&text)));
    let record = game_record(playback).map_err(failed)?;
    notation.write(&record).map_err(failed)
}
