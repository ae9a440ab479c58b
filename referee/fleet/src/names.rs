//! Names of streams, subjects and buckets on the server. Each contains the contest's id.

use referee_contest::Contest;
use referee_protocol::encode::to_hex;
use sha2::{Digest, Sha256};

/// The bucket in which running contests are announced, by id.
pub const CONTESTS: &str = "referee-contests";
/// The durable consumer of orders, shared by all workers of a contest.
pub const WORKERS: &str = "workers";
/// The coordinator's durable consumer of reports.
pub const COORDINATOR: &str = "coordinator";
/// The name of the brief, an object in every contest's bucket.
pub const BRIEF: &str = "brief";

/// The subjects of the heartbeats of all contests.
pub const ALL_BEATS: &str = "referee.*.beats";

/// The length of a contest's id, in characters.
const ID_CHARACTERS: usize = 16;

/// The names of one contest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The contest's id: lower-case hex.
    pub id: String,
}

impl Names {
    /// Returns the names for an id from the wire, or `None` if it is not 16 lower-case hex digits:
    /// nothing else may become part of a subject.
    pub fn new(id: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        let fits = id.len() == ID_CHARACTERS && id.chars().all(plain);
        fits.then(|| Self { id: id.to_owned() })
    }

    /// Returns the names for a contest that began at this time (RFC 3339). The same contest begun
    /// twice has two ids; a resumed contest keeps its id.
    pub fn of(contest: &Contest, begun: &str) -> Self {
        let text = serde_json::to_string(contest).unwrap_or_default();
        let mut id = to_hex(&Sha256::digest(format!("{text}\0{begun}")));
        id.truncate(ID_CHARACTERS);
        Self { id }
    }

    /// The stream of orders.
    pub fn orders_stream(&self) -> String {
        format!("referee-{}-orders", self.id)
    }

    /// The stream of reports.
    pub fn reports_stream(&self) -> String {
        format!("referee-{}-reports", self.id)
    }

    /// The bucket of objects: the brief, bundles, long transcripts.
    pub fn bucket(&self) -> String {
        format!("referee-{}", self.id)
    }

    /// The subjects of all orders.
    pub fn orders(&self) -> String {
        format!("referee.{}.orders.*", self.id)
    }

    /// The subject of the order for a block.
    pub fn order(&self, block: u64) -> String {
        format!("referee.{}.orders.{block}", self.id)
    }

    /// The subjects of all reports.
    pub fn reports(&self) -> String {
        format!("referee.{}.reports.*", self.id)
    }

    /// The subject of the report on a block.
    pub fn report(&self, block: u64) -> String {
        format!("referee.{}.reports.{block}", self.id)
    }

    /// The subject of workers' heartbeats. The server does not store them.
    pub fn beats(&self) -> String {
        format!("referee.{}.beats", self.id)
    }

    /// The subject of live transcripts of running matches. The server does not store them.
    pub fn live(&self) -> String {
        format!("referee.{}.live", self.id)
    }

    /// The subject on which the coordinator asks for missing parts of live transcripts. The server
    /// does not store them.
    pub fn resend(&self) -> String {
        format!("referee.{}.resend", self.id)
    }

    /// The subject on which the coordinator makes all workers stop their matches. The server does
    /// not store it.
    pub fn stop(&self) -> String {
        format!("referee.{}.stop", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn only_ids_become_part_of_a_name() {
        assert!(Names::new("0123456789abcdef").is_some());
        for wrong in [
            "",
            "0123456789abcde",
            "0123456789abcdeg",
            "0123456789ABCDEF",
            "../../../../../..",
            "0123456789abcd.>",
        ] {
            assert!(Names::new(wrong).is_none(), "{wrong}");
        }
    }
}
