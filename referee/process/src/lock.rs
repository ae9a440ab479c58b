//! Locks that a panic elsewhere doesn't spoil.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks; what a thread that panicked left behind is taken as it is.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
