//! A match as other programs keep games.

use referee_games::notations;
use referee_match::transcript::{Playback, game_record};
use referee_process::Failure;
use referee_protocol::plain::tame;

/// The whole game in the notation whose files end like this, if the game has it.
pub(super) fn written(playback: &Playback, file: &str, ending: &str) -> Result<String, Failure> {
    let kind = playback.game().kind();
    let notation = kind.notation(ending).ok_or_else(|| {
        let with = notations().filter(|(_, notation)| notation.ending == ending);
        let names: Vec<&str> = with.map(|(kind, _)| kind.name).collect();
        Failure::operation(format!("there is no .{ending} of {}", kind.name))
            .help(format!("games that have it: {}", names.join(", ")))
    })?;
    let failed = |text: String| Failure::operation(format!("{file}: {}", tame(&text)));
    let record = game_record(playback).map_err(failed)?;
    notation.write(&record).map_err(failed)
}
