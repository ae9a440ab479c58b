//! Computations on several cores: the only threads of this crate, which do no input or output.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// Applies a function to each item, in a thread of its own, with as many at once as there are cores.
/// Returns the results in the order of the items.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], apply: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let at_once = thread::available_parallelism().map_or(1, NonZero::get);
    let some = |items: &[T]| {
        thread::scope(|scope| {
            let apply = &apply;
            let threads: Vec<_> =
                items.iter().map(|item| scope.spawn(move || apply(item))).collect();
            let results = threads.into_iter().map(thread::ScopedJoinHandle::join);
            results.map(|result| result.unwrap_or_else(|it| resume_unwind(it))).collect()
        })
    };
    items.chunks(at_once).flat_map(|items| -> Vec<R> { some(items) }).collect()
}

/// Computes two results at the same time.
pub(crate) fn both<A: Send, B>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B,
) -> (A, B) {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|panic| resume_unwind(panic)), other)
    })
}
