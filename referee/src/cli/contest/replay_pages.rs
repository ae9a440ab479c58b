//! Replay pages of the games of a contest: in a published site, and in the contest's folder, for those who
//! read the report from disk.

use crate::cli::bars::{advance, count_bar};
use referee_contest::Contest;
use referee_contest::report::{GameRow, Report, replay_path};
use referee_games::Games;
use referee_match::transcript::{FollowState, TRANSCRIPT_BYTES_MAX, TranscriptFollower};
use referee_process::Failure;
use referee_process::files::read_regular;
use referee_process::open_folder::OpenFolder;
use referee_protocol::sanitize::sanitize;
use referee_runner::folder::{Folder, REPLAYS_FOLDER};
use referee_runner::programs;
use referee_runner::results::report_failure;
use referee_runner::{disk_failure, parallel};
use referee_web::{MatchPage, MatchState, replay_page, shared_files};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Returns the match of a game for its replay page, with these names of the players; `None` if it was
/// decided without being played.
pub(super) fn match_page(
    folder: &Folder,
    games: &Games,
    game: &GameRow,
    names: &[String],
) -> Result<Option<MatchPage>, Failure> {
    if game.transcript.is_empty() {
        return Ok(None);
    }
    let path = folder.path(&game.transcript);
    let failed = |text: &str| {
        Failure::operation(format!("{}: {}", path.display(), sanitize(text)))
            .help("`referee verify` explains it")
    };
    // Paths in the store of somebody else's contest may lead anywhere.
    if game.transcript != Folder::transcript(game.number) {
        return Err(failed("the transcript has the name of another game"));
    }
    let bytes = read_regular(&path, TRANSCRIPT_BYTES_MAX as u64)
        .map_err(|error| failed(&error.to_string()))?;
    let following = TranscriptFollower::of(&bytes, games);
    match following.state() {
        FollowState::Sealed(_) => {}
        FollowState::Open => return Err(failed("the transcript is incomplete")),
        FollowState::Broken { text, .. } => return Err(failed(text)),
    }
    let Some(mut playback) = following.into_playback() else {
        return Err(failed("the transcript is empty"));
    };
    let seated = game.players.iter().map(|player| names.get(player.index()).cloned());
    let seated: Vec<String> = seated.map(Option::unwrap_or_default).collect();
    playback.rename(&seated);
    Ok(Some(MatchPage::new(&game.transcript, &playback, &MatchState::Over, 0)))
}

/// Writes the pages to which the report in a contest's folder links. Those of games that can't be shown are
/// left out: `verify` names them.
pub(super) fn write_pages(
    folder: &Folder,
    report: &Report,
    contest: &Contest,
) -> Result<(), Failure> {
    if !report.has_replay_pages() {
        return Ok(());
    }
    for (name, text) in shared_files() {
        replace_inside(folder, &Path::new(REPLAYS_FOLDER).join(name), &text)?;
    }
    let names: Vec<String> = contest.players.iter().map(|player| player.name.clone()).collect();
    let bar = count_bar("writing replays", true);
    let known = programs::of_folder(folder)?;
    let page = |game: &GameRow| -> Result<(), Failure> {
        let Some(target) = replay_path(&game.transcript) else {
            return Ok(());
        };
        let time = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
        if time(&folder.path(&target)) > time(&folder.path(&game.transcript)) {
            return Ok(());
        }
        match match_page(folder, &known, game, &names) {
            Ok(Some(page)) => replace_inside(
                folder,
                Path::new(&target),
                &replay_page(&page, "..", "../report.html"),
            ),
            Ok(None) | Err(_) => Ok(()),
        }
    };
    let games = report.games.rows().map_err(|error| report_failure(error, &folder.store()))?;
    parallel::map(&games, None, &|done, of| advance(&bar, done, of), page).into_iter().collect()
}

/// Replaces a file in a contest's folder, which may be somebody else's: no link in it is followed.
fn replace_inside(folder: &Folder, path: &Path, text: &str) -> Result<(), Failure> {
    let written = || {
        let mut place = OpenFolder::open(folder.root())?;
        for part in path.parent().unwrap_or(Path::new("")) {
            // Another thread may have made it meanwhile.
            place = place
                .folder(part)
                .or_else(|_| place.create_folder(part))
                .or_else(|_| place.folder(part))?;
        }
        let name = path.file_name().unwrap_or_default();
        place.remove(name).ok();
        place.create_new(name, 0o666)?.write_all(text.as_bytes())
    };
    written().map_err(|error: io::Error| disk_failure(&folder.path(path), &error))
}

/// Writes a file and creates its folder.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| disk_failure(path, &error))
}
