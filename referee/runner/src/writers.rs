//! Players whose agents write so much in games that they fill the disk.

use crate::folder::Folder;
use crate::store::Store;
use referee_contest::{Player, Record};
use referee_process::Failure;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

/// How many of the largest games are read.
const GAMES: usize = 30;
/// So much in each of the largest games fills a disk, in bytes.
const BYTES_MIN: u64 = 1 << 20;

/// Returns the players of `playing` who wrote more than 1 MiB in each of the largest games, and their mean in bytes.
pub fn heavy_writers(
    folder: &Folder,
    store: &Store,
    playing: impl Fn(Player) -> bool,
) -> Result<Vec<(Player, u64)>, Failure> {
    let mut largest = BinaryHeap::new();
    store.each_record(|Record { transcript, players, .. }| {
        let path = folder.path(transcript);
        let size = path.metadata().map_or(0, |file| file.len());
        if size > BYTES_MIN && players.iter().any(|&player| playing(player)) {
            largest.push(Reverse((size, path, players)));
        }
        if largest.len() > GAMES {
            largest.pop();
        }
        Ok::<_, Failure>(())
    })?;
    let mut written: BTreeMap<Player, (u64, u64)> = BTreeMap::new();
    for Reverse((_, path, players)) in largest {
        // What can't be read is nobody's.
        let Ok(bytes) = bytes_of_seats(&path, players.len()) else { continue };
        for (player, bytes) in players.into_iter().zip(bytes) {
            let (games, sum) = written.entry(player).or_default();
            (*games, *sum) = (*games + 1, *sum + bytes);
        }
    }
    let means = written.into_iter().map(|(player, (games, sum))| (player, sum / games));
    Ok(means.filter(|&(player, mean)| mean > BYTES_MIN && playing(player)).collect())
}

/// Returns the length of all lines about each seat.
fn bytes_of_seats(transcript: &Path, seats: usize) -> io::Result<Vec<u64>> {
    #[derive(Deserialize)]
    struct OfSeat {
        seat: usize,
    }
    let mut bytes = vec![0; seats];
    let mut file = BufReader::new(File::open(transcript)?);
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line)? > 0 {
        if let Ok(OfSeat { seat }) = serde_json::from_slice(&line)
            && let Some(bytes) = bytes.get_mut(seat)
        {
            *bytes += u64::try_from(line.len()).unwrap_or(u64::MAX);
        }
        line.clear();
    }
    Ok(bytes)
}
