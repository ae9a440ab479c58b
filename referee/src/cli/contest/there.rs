//! A contest on many machines, as the command line sees it: the server is asked before anything is
//! written, and the agents are packed.

use super::run::GoingOptions;
use crate::cli::Global;
use crate::cli::output::tell;
use crate::failure::Failure;
use crate::shell::contest::Prepared;
use crate::shell::contest::folder::Folder;
use crate::shell::fleet::bundles::{Packed, pack};
use crate::shell::fleet::connect::Connection;
use crate::shell::fleet::coordinator::{Commission, LEASE};
use crate::shell::playing::Playing;
use crate::shell::verifying::spinner;
use std::time::Duration;
use tokio::runtime::Runtime;

/// What the server calls the connection, for who looks after it.
const NAME: &str = "referee coordinator";

/// What is needed to have workers play.
#[derive(Debug)]
pub(super) struct There {
    connection: Connection,
    packed: Packed,
    /// The lease of an order.
    lease: Duration,
    /// The server, without what is secret.
    shown: String,
    /// What the command that resumes the contest has to say of it.
    pub(super) words: Vec<String>,
}

impl There {
    /// Packs the agents, and connects; a server that is just being started is waited for.
    pub(super) fn find(
        url: &str,
        options: &GoingOptions,
        prepared: &Prepared,
        runtime: &Runtime,
        global: &Global,
    ) -> Result<Self, Failure> {
        let server = options.server.server(url);
        let spinner = spinner("packing the agents", !global.quiet);
        let packed = pack(prepared);
        spinner.finish_and_clear();
        let packed = packed?;
        let connection = runtime.block_on(server.connect(NAME))?;
        let lease = options.lease.map_or(LEASE, Duration::from_millis);
        let shown = server.shown();
        let words = options.server.words(&shown);
        Ok(Self { connection, packed, lease, shown, words })
    }

    pub(super) fn tell(&self, global: &Global) {
        for note in self.packed.notes.iter().filter(|_| !global.quiet) {
            tell(&format!("note: {note}"));
        }
    }

    /// What its coordinator needs.
    pub(super) fn commission(
        self,
        prepared: &Prepared,
        begun: &str,
        folder: &Folder,
        playing: Playing,
    ) -> (Connection, Commission) {
        let commission = Commission {
            contest: prepared.contest.clone(),
            begun: begun.to_owned(),
            packed: self.packed,
            folder: folder.clone(),
            playing,
            shown: self.shown,
            words: self.words,
            build_time: prepared.build_time,
            pin: prepared.pin,
            lease: self.lease,
        };
        (self.connection, commission)
    }
}
