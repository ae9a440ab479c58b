//! The contests that are announced on the server.

use crate::connect::Connection;
use crate::link::{announced, call, consumer, contests};
use crate::names::WORKERS;
use crate::{Announcement, BUILD, Names};
use futures_util::TryStreamExt;
use referee_protocol::sanitize::sanitize_name;

/// The maximum number of contests that are read.
const CONTESTS_MAX: usize = 1000;

/// An announced contest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AnnouncedContest {
    /// Its names on the server.
    pub(crate) names: Names,
    /// Its announcement.
    pub(crate) announcement: Announcement,
}

impl AnnouncedContest {
    /// Returns its name for display.
    pub(crate) fn name(&self) -> String {
        sanitize_name(&self.announcement.name)
    }

    /// Returns why this build can't play it, or `None` if it can.
    pub(super) fn incompatibility(&self) -> Option<String> {
        let theirs = sanitize_name(&self.announcement.referee);
        (theirs != BUILD).then(|| format!("it needs referee {theirs}, this is referee {BUILD}"))
    }
}

/// Returns all announced contests in the order in which they are served.
pub(crate) async fn list(connection: &Connection) -> Result<Vec<AnnouncedContest>, String> {
    let Some(bucket) = contests(&connection.jetstream).await? else { return Ok(Vec::new()) };
    let filter = format!("{}>", bucket.prefix);
    let mut keys = call(bucket.stream.info_with_subjects(filter)).await?;
    let (mut found, mut asked) = (Vec::new(), 0);
    while let Some(key) = call(keys.try_next()).await? {
        let id = key.0.strip_prefix(&bucket.prefix).unwrap_or_default();
        let Some(names) = Names::new(id) else { continue };
        asked += 1;
        if asked <= CONTESTS_MAX
            && let Some(announcement) = announced(&bucket, &names).await?
        {
            found.push(AnnouncedContest { names, announcement });
        }
    }
    found.sort_by_cached_key(|it| (it.announcement.since.clone(), it.names.id.clone()));
    Ok(found)
}

/// Returns whether a contest has waiting orders.
pub(super) async fn has_orders(connection: &Connection, names: &Names) -> bool {
    let consumer = consumer(&connection.jetstream, WORKERS, names.orders_stream()).await;
    consumer.is_ok_and(|consumer| consumer.cached_info().num_pending > 0)
}

#[cfg(test)]
mod tests {
    use super::AnnouncedContest;
    use crate::{Announcement, BUILD, Names};

    #[test]
    fn another_build_is_rejected() {
        let found = |referee: &str| AnnouncedContest {
            names: Names::new("0123456789abcdef").unwrap(),
            announcement: Announcement { referee: referee.to_owned(), ..Announcement::default() },
        };
        assert_eq!(found(BUILD).incompatibility(), None);
        let (version, sources) = BUILD.split_once('+').unwrap();
        assert_eq!((version, sources.len()), (env!("CARGO_PKG_VERSION"), 16));
        let other = format!("{version}+0123456789abcdef");
        assert!(found(&other).incompatibility().unwrap().contains(&other));
        assert!(found("99.9").incompatibility().unwrap().contains("referee 99.9"));
    }
}
