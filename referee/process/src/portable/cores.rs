//! The cores of this machine. POSIX has no way to choose one of them.

use nix::errno::Errno;

/// Returns the cores that the calling thread may use: unknown, so empty.
pub fn allowed() -> Vec<usize> {
    Vec::new()
}

/// Returns how many threads can run at once; 1 if unknown.
pub fn count() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Returns how many threads of any program can run at once; 1 if unknown.
pub fn online() -> usize {
    count()
}

/// Pins the calling thread to one core: not supported.
pub fn pin_thread(_core: usize) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// The beginning of the names of threads that play matches.
pub const MATCH_THREAD: &str = "matches-";

/// Returns the cores that no match is pinned to: unknown, so empty.
pub fn free_of_matches() -> Vec<usize> {
    Vec::new()
}
