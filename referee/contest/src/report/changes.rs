//! The changes of a contest after it began, for a report.

use crate::wording::games;
use crate::{Change, ChangeKind, Contest, Player};
use schemars::JsonSchema;
use serde::Serialize;

/// A change of the contest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangeRow {
    /// When, RFC 3339.
    pub at: String,
    /// Who, as `USER@HOST`; untrusted text.
    pub by: String,
    /// What: `add`, `replace`, `withdraw`, `return`, `replay` or `forfeit`.
    pub change: String,
    /// The player that it concerns; untrusted text, null for games that are played again.
    pub player: Option<String>,
    /// The same as a sentence; names in it are untrusted text.
    pub text: String,
    /// Why; untrusted text.
    pub reason: String,
    /// The games whose results it removed.
    pub removes: Vec<u64>,
}

impl ChangeRow {
    /// Returns the changes of a contest.
    pub fn of(contest: &Contest) -> Vec<Self> {
        contest.changes.iter().map(|change| Self::new(contest, change)).collect()
    }

    fn new(contest: &Contest, change: &Change) -> Self {
        let name = |player: &Player| contest.players.get(player.index()).map(|it| it.name.clone());
        let player = match &change.kind {
            ChangeKind::Add { player, .. } => Some(player.name.clone()),
            ChangeKind::Replace { player, .. }
            | ChangeKind::Withdraw { player, .. }
            | ChangeKind::Return { player, .. } => name(player),
            ChangeKind::Forfeit { loser, .. } => name(loser),
            ChangeKind::Replay => None,
        };
        let who = player.as_deref().unwrap_or("?");
        let text = match &change.kind {
            ChangeKind::Add { .. } => format!("{who} joined"),
            ChangeKind::Replace { before, after, .. } => {
                let short = |digest: &str| digest.chars().take(8).collect::<String>();
                let (old, new) = (short(&before.digest), short(&after.digest));
                format!("{who} was replaced by a new version ({old} to {new})")
            }
            ChangeKind::Withdraw { .. } => format!("{who} left and forfeits its open games"),
            ChangeKind::Return { .. } => format!("{who} came back and plays its open games"),
            ChangeKind::Replay => format!("{} again", games(&change.removes)),
            ChangeKind::Forfeit { game, .. } => format!("{who} forfeits game {game}"),
        };
        let again = match (&change.kind, change.removes.as_slice()) {
            (ChangeKind::Replay, _) | (_, []) => String::new(),
            (ChangeKind::Forfeit { .. }, _) => "; its result no longer counts".to_owned(),
            (_, removed) => format!("; {} again", games(removed)),
        };
        Self {
            at: change.at.clone(),
            by: change.by.clone(),
            change: change.kind.name().to_owned(),
            player,
            text: text + &again,
            reason: change.reason.clone(),
            removes: change.removes.clone(),
        }
    }

    /// Returns everything about it, in one line.
    pub fn line(&self) -> String {
        let Self { at, by, text, reason, .. } = self;
        let second = at.split('.').next().unwrap_or(at);
        format!(
            "{}, {by}: {text}. Reason: {reason}",
            second.trim_end_matches('Z').replace('T', " ")
        )
    }
}
