//! The room on a disk for what others hand in: nobody's files may fill it.

use nix::sys::statvfs::{Statvfs, fstatvfs, statvfs};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// So much stays free for games, or half of what is free if that is less.
const RESERVE_BYTES_MAX: u64 = 4 << 30;
/// So much is left by what visitors start and hand in, or a twentieth of the disk if that is less.
const LEFT_BYTES_MIN: u64 = 1 << 30;
/// The part of the disk that all versions of one user may take.
const SHARE: u64 = 8;
/// What a file or folder takes beside its bytes: file systems are made for a number of files, usually one for so many bytes.
pub(super) const ENTRY_BYTES: u64 = 16 << 10;

/// The state of a disk, in bytes. One that has room for few more files has no more bytes, either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Disk {
    pub(super) free: u64,
    all: u64,
}

impl Disk {
    /// Returns that on which a folder is.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        Ok(statvfs(folder)?.into())
    }

    /// The same for an open file or folder.
    pub(super) fn of_open(file: impl AsFd) -> io::Result<Self> {
        Ok(fstatvfs(file)?.into())
    }

    /// Returns what has room if it has room for so many files; some file systems have no such number, but 0.
    fn with_files(self, free: u128, all: u128) -> Self {
        let bytes = |files: u128| {
            u64::try_from(files * u128::from(ENTRY_BYTES))
                .ok()
                .filter(|_| all > 0)
                .unwrap_or(u64::MAX)
        };
        Self { free: self.free.min(bytes(free)), all: self.all.min(bytes(all)) }
    }

    /// Returns how much one build or copy may take.
    pub(super) fn room(self) -> u64 {
        self.free - RESERVE_BYTES_MAX.min(self.free / 2)
    }

    /// Whether nothing more is written for visitors, nor taken in.
    pub(super) fn is_nearly_full(self) -> bool {
        self.free < LEFT_BYTES_MIN.min(self.all / 20)
    }

    /// Returns how much all versions of one user may take.
    pub(super) fn share(self) -> u64 {
        self.all / SHARE
    }
}

/// Whether the disk of a folder has too little room for what visitors start, or hand in.
pub fn is_nearly_full(folder: &Path) -> bool {
    Disk::of(folder).is_ok_and(Disk::is_nearly_full)
}

impl From<Statvfs> for Disk {
    fn from(disk: Statvfs) -> Self {
        // The numbers of blocks have 32 bits on some systems.
        let of = |blocks: u128| {
            let bytes = blocks * u128::from(disk.fragment_size());
            u64::try_from(bytes).unwrap_or(u64::MAX)
        };
        Self { free: of(disk.blocks_available().into()), all: of(disk.blocks().into()) }
            .with_files(disk.files_available().into(), disk.files().into())
    }
}

#[cfg(test)]
mod tests {
    use super::Disk;

    #[test]
    fn a_copy_leaves_room() {
        let room = |free| Disk { free, all: 1 << 40 }.room();
        assert_eq!([0, 100, 8 << 30, 9 << 30].map(room), [0, 50, 4 << 30, 5 << 30]);
        let is_nearly_full = |free, all| Disk { free, all }.is_nearly_full();
        assert!(is_nearly_full((1 << 30) - 1, 1 << 40) && !is_nearly_full(1 << 30, 1 << 40));
        assert!(is_nearly_full(4, 100) && !is_nearly_full(5, 100));
    }

    #[test]
    fn a_disk_without_room_for_files_has_none_for_bytes() {
        let disk = Disk { free: 1 << 39, all: 1 << 40 };
        assert_eq!(disk.with_files(0, 0), disk);
        assert_eq!(disk.with_files(1 << 30, 1 << 31), disk);
        let few = disk.with_files(100, 1 << 20);
        assert_eq!(few, Disk { free: 100 << 14, all: 1 << 34 });
        assert!(few.is_nearly_full() && !disk.is_nearly_full());
    }
}
