//! Which contests are under way.

use crate::connect::Connection;
use crate::link::{CALL, announced, consumer, contests, next, within};
use crate::messages::FORM;
use crate::names::WORKERS;
use crate::{Announcement, Names};
use referee_protocol::plain::tame_name;

/// So many contests are looked at.
const CONTESTS_MAX: usize = 1000;

/// A contest that is announced.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    /// Its names on the server.
    pub(super) names: Names,
    /// What is said of it.
    pub(super) announcement: Announcement,
}

impl Found {
    /// What people call it.
    pub(super) fn name(&self) -> String {
        tame_name(&self.announcement.name)
    }

    /// Why this program can't play it at all, if so.
    pub(super) fn is_foreign(&self) -> Option<String> {
        let (own, theirs) = (env!("CARGO_PKG_VERSION"), tame_name(&self.announcement.referee));
        if theirs != own {
            return Some(format!("it is of referee {theirs}, and this is referee {own}"));
        }
        let form = self.announcement.form;
        (form != FORM).then(|| format!("its messages have form {form}, and this knows {FORM}"))
    }
}

/// All contests that are announced, in the order in which they are served.
pub(super) async fn look(connection: &Connection) -> Result<Vec<Found>, String> {
    let Some(bucket) = contests(&connection.jetstream).await? else { return Ok(Vec::new()) };
    let filter = format!("{}>", bucket.prefix);
    let mut keys = within(CALL, bucket.stream.info_with_subjects(filter)).await?;
    let (mut found, mut asked) = (Vec::new(), 0);
    while let Some(key) = within(CALL, async { next(&mut keys).await.transpose() }).await? {
        let id = key.0.strip_prefix(&bucket.prefix).unwrap_or_default();
        let Some(names) = Names::new(id) else { continue };
        asked += 1;
        if asked <= CONTESTS_MAX
            && let Some(announcement) = announced(&bucket, &names).await?
        {
            found.push(Found { names, announcement });
        }
    }
    found.sort_by(|a, b| {
        let key = |it: &Found| (it.announcement.since.clone(), it.names.id.clone());
        key(a).cmp(&key(b))
    });
    Ok(found)
}

/// Whether orders of a contest wait for somebody.
pub(super) async fn has_orders(connection: &Connection, names: &Names) -> bool {
    let consumer = consumer(&connection.jetstream, WORKERS, names.orders_stream()).await;
    consumer.is_ok_and(|consumer| consumer.cached_info().num_pending > 0)
}

#[cfg(test)]
mod tests {
    use super::Found;
    use crate::messages::FORM;
    use crate::{Announcement, Names};

    #[test]
    fn another_version_is_told() {
        let found = |form: u32, referee: &str| Found {
            names: Names::new("0123456789abcdef").unwrap(),
            announcement: Announcement {
                form,
                referee: referee.to_owned(),
                ..Announcement::default()
            },
        };
        let own = env!("CARGO_PKG_VERSION");
        assert_eq!(found(FORM, own).is_foreign(), None);
        assert!(found(FORM, "99.9").is_foreign().unwrap().contains("referee 99.9"));
        assert!(found(FORM + 1, own).is_foreign().unwrap().contains("form"));
    }
}
