//! `protocol`: the page that an agent's author needs.

use super::output::print_if_read;
use clap::Args;
use referee_process::Failure;

const PAGE: &str = include_str!("../../../docs/protocol.md");

/// Print the protocol between the referee and agents, as Markdown
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee protocol | less\n  \
    referee games hex\n  \
    referee schema from-agent")]
pub(super) struct Options {}

pub(super) fn run() -> Result<(), Failure> {
    print_if_read(PAGE).map(drop)
}
