//! The rules of a game program as something to ask. How requests travel, it doesn't know.

use crate::wire::{Answer, Request};
use std::fmt::Debug;
use std::pin::Pin;

/// Why the rules could not answer: a sentence that can follow "the rules failed: ".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RulesFailure(pub String);

/// An answer that comes later.
pub type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A program that answers requests. Equal requests have equal answers.
pub trait Rules: Debug + Send + Sync {
    /// Sends a request; the answer comes later.
    fn send(&self, request: Request) -> Pending<Result<Answer, RulesFailure>>;

    /// Sends a request and waits for the answer.
    fn ask(&self, request: Request) -> Result<Answer, RulesFailure>;

    /// Whether they only repeat a transcript, and so don't know what else would have been legal.
    fn are_recorded(&self) -> bool {
        false
    }

    /// Whether the last failure was only that somebody ended the wait for an answer: the same may be asked again.
    fn are_interrupted(&self) -> bool {
        false
    }
}
