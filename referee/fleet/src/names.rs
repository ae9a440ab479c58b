//! What things are called on the server. A contest's id is in all of its names.

use referee_contest::Contest;
use referee_protocol::plain::hex;
use sha2::{Digest, Sha256};

/// The bucket in which contests that are under way are announced, by id.
pub const CONTESTS: &str = "referee-contests";
/// The durable consumer of orders that all workers of a contest share.
pub const WORKERS: &str = "workers";
/// The durable consumer of reports that is the coordinator's.
pub const COORDINATOR: &str = "coordinator";
/// The object that every contest has: its brief.
pub const BRIEF: &str = "brief";

/// So many characters of a hash name a contest.
const ID_CHARACTERS: usize = 16;

/// The names of one contest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The contest's id: lower-case hex.
    pub id: String,
}

impl Names {
    /// Of a contest with this id. `None` where it isn't one: nothing else may come into a name.
    pub fn new(id: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        let fits = id.len() == ID_CHARACTERS && id.chars().all(plain);
        fits.then(|| Self { id: id.to_owned() })
    }

    /// Of this contest, begun at this time (RFC 3339). The same contest begun twice is two contests,
    /// and one that is resumed is the one that it was.
    pub fn of(contest: &Contest, begun: &str) -> Self {
        let text = serde_json::to_string(contest).unwrap_or_default();
        let mut hash = Sha256::new();
        hash.update(text.as_bytes());
        hash.update([0]);
        hash.update(begun.as_bytes());
        let mut id = hex(&hash.finalize());
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

    /// Where workers say that they are there. Not kept by the server.
    pub fn beats(&self) -> String {
        format!("referee.{}.beats", self.id)
    }

    /// Where workers send what matches under way have added to their transcripts. Not kept by the
    /// server.
    pub fn live(&self) -> String {
        format!("referee.{}.live", self.id)
    }

    /// Where the coordinator says from where on it misses a transcript that is sent live. Not kept by
    /// the server.
    pub fn resend(&self) -> String {
        format!("referee.{}.resend", self.id)
    }

    /// Where the coordinator tells all workers to stop their matches. Not kept by the server.
    pub fn stop(&self) -> String {
        format!("referee.{}.stop", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn nothing_but_an_id_comes_into_a_name() {
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
