//! The game programs of a contest on a worker.

use super::Fetch;
use super::agents::{blocking, fetched};
use super::install::allows;
use crate::{Brief, FaultCause, WorkerFault};
use referee_play::agent_spec::AgentSpec;
use referee_play::game_program::spec_of;
use referee_process::sandbox::reach::files_of_command;
use std::path::{Path, PathBuf};

/// The length of a digest.
const DIGEST_CHARS: usize = 64;

/// Unpacks the game programs of a contest, each into a folder below `root` that is named after its digest, and
/// returns these folders. One that an earlier contest has left there is used again. They may read what they
/// consist of, the system's files, and `readable`, the paths that this worker lends.
pub(crate) async fn unpack_games(
    brief: &Brief,
    fetch: &Fetch,
    root: &Path,
    readable: &[PathBuf],
) -> Result<Vec<PathBuf>, WorkerFault> {
    let mut folders = Vec::new();
    for game in &brief.contest.games {
        let Some(program) = &game.program else { continue };
        let wrong = |text: &str| {
            WorkerFault::new(FaultCause::Bundle, format!("the rules of {}: {text}", game.game))
        };
        let digest = &program.digest;
        if digest.len() != DIGEST_CHARS || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong("no digest"));
        }
        let folder = root.join(digest);
        if !spec_of(&folder).is_ok_and(|known| known.digest == *digest) {
            let bundle = brief.games.get(digest).ok_or_else(|| wrong("no bundle"))?;
            fetched(fetch, folder.clone(), Some(bundle.clone()), ()).await?;
        }
        let (name, digest) = (game.game.clone(), digest.clone());
        let readable = readable.to_vec();
        folders.push(
            blocking(move || {
                check(&folder, &digest, &readable).map_err(|text| {
                    WorkerFault::new(FaultCause::Agent, format!("the rules of {name}: {text}"))
                })?;
                Ok(folder)
            })
            .await?,
        );
    }
    Ok(folders)
}

/// Checks that a folder has the game program with this digest, and that it needs nothing of this machine that the
/// worker doesn't allow.
fn check(folder: &Path, digest: &str, readable: &[PathBuf]) -> Result<(), String> {
    let AgentSpec { digest: found, launch, read, .. } =
        spec_of(folder).map_err(|failure| failure.to_string())?;
    if found != digest {
        return Err(format!("their digest is {found}, not {digest}"));
    }
    let folder = folder.canonicalize().map_err(|error| error.to_string())?;
    let named = launch.map(|launch| files_of_command(&launch.command, &folder)).unwrap_or_default();
    read.iter().chain(&named).try_for_each(|path| allows(&folder, path, readable))
}
