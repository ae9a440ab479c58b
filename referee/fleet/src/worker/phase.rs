//! What a worker is about in a contest.

use std::time::Duration;

/// Why a worker leaves a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The contest is over.
    Over,
    /// The coordinator wants it stopped.
    Stopped,
    /// There is more to do in another one.
    Elsewhere,
    /// There was nothing to do for as long as somebody wanted to wait.
    Idle,
    /// Somebody wants the worker to end.
    Interrupted,
    /// This process stood still for so long: what was played meanwhile was not played fairly.
    Stalled(Duration),
    /// Matches can't be played any more.
    Broken,
}

/// What a worker is about in a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It takes orders.
    Taking,
    /// It plays those that it has to their end.
    Leaving(Why),
    /// It drops everything.
    Dropped(Why),
}

impl Phase {
    /// Why it takes no more orders, if so.
    pub(super) fn why(self) -> Option<Why> {
        match self {
            Self::Taking => None,
            Self::Leaving(why) | Self::Dropped(why) => Some(why),
        }
    }

    /// Whether this one may follow: nothing that was dropped is taken up again.
    pub(super) fn may_become(self, next: Self) -> bool {
        match self {
            Self::Taking => next != Self::Taking,
            Self::Leaving(_) => matches!(next, Self::Dropped(_)),
            // Reports may still be on their way; and whoever wants to end wants that most.
            Self::Dropped(Why::Stalled(_)) => {
                matches!(next, Self::Dropped(why) if !matches!(why, Why::Stalled(_)))
            }
            Self::Dropped(Why::Interrupted) => false,
            Self::Dropped(_) => next == Self::Dropped(Why::Interrupted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Phase, Why};
    use std::time::Duration;

    #[test]
    fn nothing_that_was_dropped_is_taken_up_again() {
        let stalled = Phase::Dropped(Why::Stalled(Duration::from_secs(9)));
        let (over, ending) = (Phase::Dropped(Why::Over), Phase::Dropped(Why::Interrupted));
        let leaving = Phase::Leaving(Why::Idle);
        for (phase, next, may) in [
            (Phase::Taking, leaving, true),
            (leaving, Phase::Taking, false),
            (leaving, Phase::Leaving(Why::Elsewhere), false),
            (leaving, stalled, true),
            (stalled, leaving, false),
            (stalled, stalled, false),
            (stalled, over, true),
            (over, stalled, false),
            (over, ending, true),
            (ending, over, false),
        ] {
            assert_eq!(phase.may_become(next), may, "{phase:?} to {next:?}");
        }
    }
}
