//! The phases of a worker in a contest.

use std::time::Duration;

/// Why a worker leaves a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeaveReason {
    /// The contest is over.
    Over,
    /// The coordinator stopped it.
    Stopped,
    /// Another contest has waiting orders.
    Elsewhere,
    /// The worker had no work for the time in its settings.
    Idle,
    /// The worker received a signal.
    Interrupted,
    /// This process was paused for this long, so the clocks of its matches are wrong.
    Stalled(Duration),
    /// Matches can't be played any more.
    Broken,
}

/// What a worker does in a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It takes orders.
    Taking,
    /// It finishes the orders that it holds.
    Leaving(LeaveReason),
    /// It drops all orders.
    Dropped(LeaveReason),
}

impl Phase {
    /// Returns why it takes no more orders, if so.
    pub(super) fn why(self) -> Option<LeaveReason> {
        match self {
            Self::Taking => None,
            Self::Leaving(why) | Self::Dropped(why) => Some(why),
        }
    }

    /// Returns whether it may change to this phase: dropped orders are never continued.
    pub(super) fn may_become(self, next: Self) -> bool {
        match self {
            Self::Taking => next != Self::Taking,
            Self::Leaving(_) => matches!(next, Self::Dropped(_)),
            // Reports may still be on their way, and an interrupt takes precedence.
            Self::Dropped(LeaveReason::Stalled(_)) => {
                matches!(next, Self::Dropped(why) if !matches!(why, LeaveReason::Stalled(_)))
            }
            Self::Dropped(LeaveReason::Interrupted) => false,
            Self::Dropped(_) => next == Self::Dropped(LeaveReason::Interrupted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LeaveReason, Phase};
    use std::time::Duration;

    #[test]
    fn dropped_orders_are_never_continued() {
        let stalled = Phase::Dropped(LeaveReason::Stalled(Duration::from_secs(9)));
        let (over, ending) =
            (Phase::Dropped(LeaveReason::Over), Phase::Dropped(LeaveReason::Interrupted));
        let leaving = Phase::Leaving(LeaveReason::Idle);
        for (phase, next, may) in [
            (Phase::Taking, leaving, true),
            (leaving, Phase::Taking, false),
            (leaving, Phase::Leaving(LeaveReason::Elsewhere), false),
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
