//! What an agent was asked and what it played before its fault, by the transcript.

use super::Evidence;
use crate::transcript;
use referee_games::Turn;
use referee_protocol::{Event, Want};
use serde_json::Value;

/// The requests to a seat, and its answers, until the turn of the fault.
#[derive(Default)]
pub(super) struct History {
    /// How many requests there were.
    pub(super) turns: u64,
    /// How many `played` came with the last one.
    pub(super) played: usize,
    /// Its last action.
    action: Option<Value>,
    /// Whether anything but actions of one type has happened.
    pub(super) is_varied: bool,
    /// The fields of requests for which its `ready` asks.
    pub(super) wants: Option<Vec<Want>>,
}

impl History {
    /// Reads it; `None` if it isn't known.
    pub(super) fn before(known: &Evidence<'_>) -> Option<Self> {
        let (transcript, games) = known.transcript?;
        let game = known.game?;
        let Turn::Of(seat) = game.turn() else { return None };
        let mut steps = transcript::walk(transcript, games).ok()?;
        let ready =
            steps.walk().header().seats.get(seat.index()).and_then(|seat| seat.ready.as_ref());
        let wants = ready.map(|ready| ready.want.clone());
        let (mut found, mut played) = (Self { wants, ..Self::default() }, 0);
        while let Ok(Some(event)) = steps.step() {
            match event {
                Event::Turn(event) if event.turn > game.turn_number() => break,
                Event::Turn(event) if event.seat == seat => {
                    found = Self { turns: found.turns + 1, played, ..found };
                    played = 0;
                }
                Event::Played(event) if event.turn < game.turn_number() => {
                    played += 1;
                    let action = event.action.value();
                    let is_other = |own: &Value| own["type"] != action["type"];
                    found.is_varied |= found.action.as_ref().is_some_and(is_other);
                    if event.seat == seat {
                        found.action = Some(action);
                    }
                }
                Event::Retired(_) | Event::Drawn(_) => found.is_varied = true,
                _ => {}
            }
        }
        Some(found)
    }

    /// Whether its requests have this.
    pub(super) fn has(&self, want: Want) -> bool {
        self.wants.as_ref().is_some_and(|wants| wants.contains(&want))
    }

    /// Whether its requests have a field that a text names.
    pub(super) fn has_named(&self, text: &str) -> bool {
        let fields = [("actions", Want::Actions), ("position", Want::Position)];
        fields.into_iter().any(|(name, want)| self.has(want) && text.contains(name))
    }

    /// Whether its last action has another type, or it has none, and may only pass.
    pub(super) fn is_of_another(&self, kind: &str) -> bool {
        self.action.as_ref().map_or(kind == "pass", |it| it["type"] != kind)
    }

    /// Whether a message has the action of the turn before again, and doesn't say that it is for another turn.
    pub(super) fn is_repeated_by(&self, message: &Value) -> bool {
        let action = message.get("action").filter(|_| message.get("turn").is_none());
        action.is_some() && action == self.action.as_ref()
    }
}
