//! `serve`: the web viewer.

use super::global::Global;
use super::output::{eprint_line, print};
use super::runtime::{machine, runtime};
use super::sandbox::ConditionOptions;
use clap::Args;
use referee_play::agent_spec::AgentSpec;
use referee_play::interrupts::{Interrupt, Interrupts};
use referee_process::Failure;
use referee_process::cores;
use referee_process::lock::lock;
use referee_process::sandbox::Sandbox;
use referee_web::{OfferedAgent, Play, Server, Settings, Visitors};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;

/// The environment variable with the token.
const TOKEN_VARIABLE: &str = "REFEREE_SERVE_TOKEN";

/// Show matches and contests in the browser, and play there
///
/// Shows the transcripts and contests in FOLDER and a few levels below it. Only this machine can connect,
/// unless you set --host.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee serve --open\n  \
    referee serve contests/autumn --no-play --host 0.0.0.0")]
pub(super) struct Options {
    /// Folder to serve
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Address to listen on. Unless it is a loopback address, each printed link lets in one browser
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on, 0 to 65535; 0 is any free port. Defaults to 8017, or the next free port
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// File with a token that lets in any number of visitors: at least 8 letters, digits, - or _.
    /// Defaults to the environment variable `REFEREE_SERVE_TOKEN`
    #[arg(long, value_name = "PATH", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// Token itself, which other users of this machine can then see
    #[arg(long, value_name = "TOKEN", value_parser = read_token, hide = true)]
    token: Option<String>,
    /// Agent to offer on the page (repeatable), besides the built-in ones: every visitor can play against it
    /// and ask it for moves
    #[arg(long = "agent", value_name = "AGENT")]
    agents: Vec<String>,
    /// Number of matches between agents to run from the page at once, 1 to 65535. Defaults to the number
    /// of cores
    #[arg(long, short, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Don't allow matches to be started from the page
    #[arg(long, conflicts_with_all = ["agents", "jobs"])]
    no_play: bool,
    /// Open the page in the browser
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
    fits.then(|| text.to_owned())
        .ok_or_else(|| "a token has only letters, digits, - and _".to_owned())
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    runtime()?.block_on(async {
        let mut interrupts = Interrupts::listen().map_err(machine("cannot handle signals"))?;
        let settings = options.settings(global)?;
        let mut server = Server::start(settings, interrupts.orders(), interrupts.paused_time())?;
        let url = server.url();
        print(&format!("{url}\n"))?;
        if !global.quiet {
            eprint_line(&format!("serving {}; press Ctrl-C to stop", options.folder.display()));
            if server.needs_code() {
                eprint_line("an address works for one browser; the next one is printed after it is used");
            }
            if server.is_everywhere() {
                eprint_line("if the name of this machine doesn't resolve elsewhere, use its address instead");
            }
        }
        if options.open {
            browse(&server.url_here());
        }
        loop {
            tokio::select! {
                () = interrupts.stopped() => break,
                // Its reader may have closed stdout after the first address.
                () = server.code_used() => drop(print(&format!("{}\n", server.url()))),
            }
        }
        let code = interrupts.received().map_or(0, Interrupt::code);
        server.join();
        Ok(ExitCode::from(code))
    })
}

/// Opens the browser; if that fails, prints the address.
pub(super) fn browse(url: &str) {
    if let Err(error) = open::that_detached(url) {
        eprint_line(&format!("cannot open a browser ({error}); open {url} yourself"));
    }
}

impl Options {
    fn settings(&self, global: &Global) -> Result<Settings, Failure> {
        let local = ["127.0.0.1", "localhost", "::1", "[::1]"].contains(&self.host.as_str());
        let visitors = match self.token()? {
            Some(token) => Visitors::WithCodeOrToken(token),
            None if local => Visitors::Everyone,
            None => Visitors::WithCode,
        };
        let play = (!self.no_play).then(|| self.play(global)).transpose()?;
        let (folder, host, port) = (self.folder.clone(), self.host.clone(), self.port);
        let games = global.rules()?;
        Ok(Settings { folder, games, host, port, visitors, play, course: None, proxied: None })
    }

    fn token(&self) -> Result<Option<String>, Failure> {
        if let Some(token) = &self.token {
            let other = format!("use --token-file or {TOKEN_VARIABLE} instead");
            eprint_line(&format!("warning: other users of this machine can see --token; {other}"));
            return Ok(Some(token.clone()));
        }
        let (from, text) = if let Some(path) = &self.token_file {
            let text = std::fs::read_to_string(path).map_err(|error| {
                Failure::usage(format!("--token-file {}: {error}", path.display()))
                    .help("give a text file with the token in one line")
            })?;
            (format!("--token-file {}", path.display()), text)
        } else {
            let Ok(text) = std::env::var(TOKEN_VARIABLE) else { return Ok(None) };
            (TOKEN_VARIABLE.to_owned(), text)
        };
        let token = read_token(text.trim()).map_err(|error| {
            Failure::usage(format!("{from}: {error}"))
                .help("make one with `openssl rand -hex 16`, for example")
        })?;
        Ok(Some(token))
    }

    fn play(&self, global: &Global) -> Result<Play, Failure> {
        let jobs = self.jobs.map_or_else(cores::count, usize::from);
        let (conditions, global) = (self.conditions.clone(), global.clone());
        // Chosen when the first match starts, since that takes a moment.
        let chosen = Mutex::<Option<Sandbox>>::default();
        let enclose = move |agents| {
            let mut chosen = lock(&chosen);
            let sandbox = match &*chosen {
                Some(known) => known.clone(),
                None => conditions.choose(agents, &global)?,
            };
            *chosen = Some(sandbox.clone());
            Ok(conditions.with_pondering(sandbox, agents))
        };
        let readable = self.conditions.readable()?;
        let offered = |agent: &String| {
            let AgentSpec { name, games, .. } = AgentSpec::read(agent)?;
            Ok(OfferedAgent { agent: agent.clone(), name, games })
        };
        let agents = self.agents.iter().map(offered).collect::<Result<_, Failure>>()?;
        Ok(Play { agents, jobs, readable, enclose: Box::new(enclose) })
    }
}
