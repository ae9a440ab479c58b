//! Maps a function over items on all cores.

use referee_process::cores;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Called with the number of items done and of all items.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Calls `work` for each item on `jobs` cores (default: all); returns the results in the items' order.
pub fn map<T: Sync, R: Send>(
    items: &[T],
    jobs: Option<usize>,
    progress: Progress<'_>,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let jobs = jobs.unwrap_or_else(cores::count).clamp(1, items.len().max(1));
    progress(0, items.len());
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let worker = || {
        let mut results = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::SeqCst);
            let Some(item) = items.get(index) else { return results };
            results.push((index, work(item)));
            progress(done.fetch_add(1, Ordering::SeqCst) + 1, items.len());
        }
    };
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(worker)).collect();
        let joined = threads.into_iter().map(|it| it.join().unwrap_or_else(|it| resume_unwind(it)));
        joined.flatten().collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
