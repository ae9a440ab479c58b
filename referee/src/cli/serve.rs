//! `serve`: the web viewer.

use super::Global;
use super::output::{print, tell};
use super::runtime::{machine, runtime};
use super::sandbox::ConditionOptions;
use clap::Args;
use rand::TryRng;
use rand::rngs::SysRng;
use referee_play::agent_spec::AgentSpec;
use referee_play::interrupts::{Interrupt, Interrupts};
use referee_process::Failure;
use referee_process::cores;
use referee_process::lock::lock;
use referee_process::sandbox::Enclosure;
use referee_protocol::plain::hex;
use referee_web::{Play, Server, Settings};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;

/// Bytes of a token that is drawn.
const TOKEN_BYTES: usize = 16;

/// Shows live matches, contests and transcripts in the browser, and plays against whoever looks.
///
/// Whatever lies in FOLDER, a few levels deep, is shown: transcripts, and contests in their folders.
/// Only this machine can come unless --host says otherwise.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    referee serve --open\n  \
    referee serve contests/autumn --no-play --host 0.0.0.0")]
pub(super) struct Options {
    /// The folder
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// The address to listen at; any but this machine's own needs a token, and gets one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: String,
    /// The port; 0 is any that is free. Unless it is given, 8017 or the next that is free
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// What whoever comes must know: letters, digits, `-` and `_`
    #[arg(long, value_name = "TOKEN", value_parser = read_token)]
    token: Option<String>,
    /// An agent that can be chosen on the page, beside the built-in ones and the folders with an
    /// agent.toml; as often as needed
    #[arg(long = "agent", value_name = "AGENT")]
    agents: Vec<String>,
    /// How many matches between agents can be played from the page at once; as many as there are
    /// cores unless it is given
    #[arg(long, short, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Starts no matches from the page
    #[arg(long, conflicts_with_all = ["agents", "jobs"])]
    no_play: bool,
    /// Opens the page in the browser
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    conditions: ConditionOptions,
}

fn read_token(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if text.len() < 8 {
        return Err("a token has at least 8 characters".to_owned());
    }
    let fits = text.bytes().all(plain);
    fits.then(|| text.to_owned()).ok_or_else(|| "a token has letters, digits, - and _".to_owned())
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    for agent in &options.agents {
        AgentSpec::read(agent)?;
    }
    runtime()?.block_on(async {
        let mut interrupts = Interrupts::listen().map_err(machine("the server"))?;
        let settings = options.settings(global)?;
        let server = Server::start(settings, interrupts.orders(), interrupts.paused_time())?;
        let url = server.url();
        print(&format!("{url}\n"))?;
        if !global.quiet {
            tell(&format!("serving {}; Ctrl-C ends it", options.folder.display()));
            if server.is_everywhere() {
                tell("where this machine's name isn't known, put its address in place of it");
            }
        }
        if options.open {
            browse(&server.url_here());
        }
        while !interrupts.is_stopped() {
            interrupts.next().await;
        }
        let code = interrupts.received().map_or(0, Interrupt::code);
        server.join();
        Ok(ExitCode::from(code))
    })
}

/// Opens the browser, or says what to open.
pub(super) fn browse(url: &str) {
    if let Err(error) = open::that_detached(url) {
        tell(&format!("no browser could be opened ({error}): open {url}"));
    }
}

impl Options {
    fn settings(&self, global: &Global) -> Result<Settings, Failure> {
        let local = ["127.0.0.1", "localhost", "::1", "[::1]"].contains(&self.host.as_str());
        let token = match &self.token {
            None if !local => Some(new_token()?),
            token => token.clone(),
        };
        let play = (!self.no_play).then(|| self.play(global));
        let (folder, host, port) = (self.folder.clone(), self.host.clone(), self.port);
        Ok(Settings { folder, host, port, token, play })
    }

    fn play(&self, global: &Global) -> Play {
        let jobs = self.jobs.map_or_else(cores::count, usize::from);
        let (conditions, global) = (self.conditions.clone(), global.clone());
        // It is found out once, when the first match begins: that takes a moment.
        let found = Mutex::<Option<Enclosure>>::default();
        let enclose = move |agents| {
            let mut found = lock(&found);
            let enclosure = match &*found {
                Some(known) => known.clone(),
                None => conditions.enclosure(agents, &global)?,
            };
            *found = Some(enclosure.clone());
            Ok(conditions.with_pondering(enclosure, agents))
        };
        Play { agents: self.agents.clone(), jobs, enclose: Box::new(enclose) }
    }
}

fn new_token() -> Result<String, Failure> {
    let mut bytes = [0; TOKEN_BYTES];
    SysRng.try_fill_bytes(&mut bytes).map_err(machine("no randomness"))?;
    Ok(hex(&bytes))
}
