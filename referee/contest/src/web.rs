//! The table `[web]` of the contest file: what may be handed in on the web, and until when.

use crate::forms::{Time, within};
use schemars::JsonSchema;
use serde::Deserialize;

/// What may be handed in on the web. The defaults hold on a small server.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Web")]
pub struct WebSettings {
    /// When the last version may be handed in: local time such as `2026-12-24 18:00`, or RFC 3339. Defaults to
    /// never.
    pub deadline: Option<String>,
    /// How long after the deadline versions are taken all the same.
    grace: Time,
    /// From when on the public sees no newer results, names and boards, while teams still see their own games: a time
    /// like the deadline. Defaults to never.
    pub freeze_at: Option<String>,
    /// The size of an upload, in MiB.
    #[serde(deserialize_with = "within::<_, _, 1, 256>")]
    pub upload_mb: u64,
    /// The size of what is in it, in MiB.
    #[serde(deserialize_with = "within::<_, _, 1, 256>")]
    pub unpacked_mb: u64,
    /// The files and folders in it.
    #[serde(deserialize_with = "within::<_, _, 1, 20_000>")]
    pub files: u32,
    /// A team's uploads in an hour.
    #[serde(deserialize_with = "within::<_, _, 1, 10_000>")]
    pub uploads_an_hour: u32,
    /// A team's uploads in a day.
    #[serde(deserialize_with = "within::<_, _, 1, 10_000>")]
    pub uploads_a_day: u32,
    /// The versions of a team of which the files are kept.
    #[serde(deserialize_with = "within::<_, _, 1, 10_000>")]
    pub versions_kept: u32,
    /// The size of everything that is kept, in MiB.
    #[serde(deserialize_with = "within::<_, _, 1, 16_777_216>")]
    pub disk_mb: u64,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self {
            deadline: None,
            grace: Time(0),
            freeze_at: None,
            upload_mb: 16,
            unpacked_mb: 64,
            files: 2000,
            uploads_an_hour: 12,
            uploads_a_day: 48,
            versions_kept: 20,
            disk_mb: 8192,
        }
    }
}

impl WebSettings {
    /// Returns how long after the deadline versions are taken, in milliseconds.
    pub fn grace_ms(&self) -> u64 {
        self.grace.0
    }
}
