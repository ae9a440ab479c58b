//! What is on a server: its contests and their workers.

use crate::connect::Connection;
use crate::link::{call, consumer, find_stream};
use crate::messages::HEARTBEAT_MS;
use crate::names::{ALL_BEATS, WORKERS};
use crate::worker::list;
use crate::workers::record_heartbeat;
use crate::{Heartbeat, Names};
use futures_util::StreamExt;
use referee_protocol::sanitize::sanitize_name;
use referee_runner::workers::{ServedContest, Workers};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long to wait for heartbeats.
const LISTEN: Duration = Duration::from_millis(HEARTBEAT_MS + HEARTBEAT_MS / 2);

/// Returns the contests on a server. Takes as long as workers need to report.
pub async fn overview(connection: &Connection) -> Result<Vec<ServedContest>, String> {
    let mut beats = call(connection.client.subscribe(ALL_BEATS)).await?;
    let mut workers: BTreeMap<String, Workers> = BTreeMap::new();
    let listen = async {
        while let Some(message) = beats.next().await {
            let id = message.subject.split('.').nth(1).and_then(Names::new);
            if let (Some(names), Ok(beat)) =
                (id, serde_json::from_slice::<Heartbeat>(&message.payload))
            {
                let now = jiff::Timestamp::now().to_string();
                record_heartbeat(workers.entry(names.id).or_default(), &beat, &now);
            }
        }
    };
    tokio::time::timeout(LISTEN, listen).await.ok();
    let mut contests = Vec::new();
    for announced in list(connection).await? {
        let names = &announced.names;
        let orders = consumer(&connection.jetstream, WORKERS, names.orders_stream()).await;
        let (waiting, held) = orders.map_or((0, 0), |orders| {
            let info = orders.cached_info();
            (info.num_pending, info.num_ack_pending as u64)
        });
        let reports = find_stream(&connection.jetstream, &names.reports_stream()).await?;
        contests.push(ServedContest {
            id: names.id.clone(),
            name: announced.name(),
            priority: announced.announcement.priority,
            since: sanitize_name(&announced.announcement.since),
            referee: sanitize_name(&announced.announcement.referee),
            waiting,
            held,
            reports: reports.map_or(0, |reports| reports.cached_info().state.messages),
            workers: workers.remove(&names.id).unwrap_or_default().workers,
        });
    }
    Ok(contests)
}
