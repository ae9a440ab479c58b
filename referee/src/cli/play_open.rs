//! `play --open`: the match in the browser, where people can play.

use super::output::eprint_line;
use super::play_options::Plan;
use super::serve::browse;
use referee_games::Games;
use referee_play::destination::Destination;
use referee_play::human::{HumanInput, PlayerPrompts};
use referee_play::interrupts::Interrupts;
use referee_process::Failure;
use referee_process::sandbox::Sandbox;
use referee_protocol::Seat;
use referee_web::{Server, Settings, Visitors};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The web viewer beside a match.
#[derive(Debug)]
pub(super) struct Page {
    people: Arc<PlayerPrompts>,
    /// The transcript of a single match.
    transcript: Option<PathBuf>,
    folder: PathBuf,
    games: Games,
    /// The seat as which the match is shown while it runs, if the person in it may not see everything.
    seen_by: Option<Seat>,
    server: Option<Server>,
}

impl Page {
    /// Sends people to the page, and reserves the transcript of a single match.
    pub(super) fn prepare(plan: &mut Plan, sandbox: &Sandbox) -> Result<Self, Failure> {
        let machine = |error: std::io::Error| Failure::machine(error.to_string());
        if let Destination::Nowhere | Destination::Stdout = plan.first.destination {
            return Err(Failure::usage("--open needs a transcript file to show")
                .help("name a file or a folder with --out"));
        }
        let seen_by = plan.person_who_sees_a_part()?;
        let people = Arc::<PlayerPrompts>::default();
        plan.first.human_input = HumanInput::Prompts(people.clone());
        let mut transcript = None;
        if plan.is_single() {
            let header = plan.job(plan.games.start)?.header(&sandbox.recorded).map_err(machine)?;
            plan.first.destination =
                plan.first.destination.clone().reserved(&header).map_err(machine)?;
            if let Destination::File { path, .. } = &plan.first.destination {
                transcript = Some(path.canonicalize().map_err(machine)?);
            }
        }
        let folder = match &plan.first.destination {
            Destination::Folder(folder) => {
                std::fs::create_dir_all(folder).map_err(machine)?;
                folder.canonicalize().map_err(machine)?
            }
            _ => transcript.as_deref().and_then(Path::parent).unwrap_or(Path::new(".")).to_owned(),
        };
        let games = Games::of([plan.first.kind]);
        Ok(Self { people, transcript, folder, games, seen_by, server: None })
    }

    /// Starts the server and opens the browser.
    pub(super) fn serve(&mut self, interrupts: &Interrupts) -> Result<(), Failure> {
        let settings = Settings {
            folder: self.folder.clone(),
            games: self.games.clone(),
            host: "127.0.0.1".to_owned(),
            port: Some(0),
            visitors: Visitors::Everyone,
            play: None,
            course: None,
            proxied: None,
        };
        let server = Server::start(settings, interrupts.orders(), interrupts.paused_time())?;
        let mut url = server.url();
        if let Some(transcript) = &self.transcript {
            server.register(transcript, self.people.clone(), self.seen_by);
            url = server.url_of_match(transcript).unwrap_or(url);
        }
        eprint_line(&format!("in the browser: {url}"));
        browse(&url);
        self.server = Some(server);
        Ok(())
    }

    /// Serves until an interrupt.
    pub(super) async fn serve_until_interrupted(self, interrupts: &mut Interrupts) {
        let Some(server) = self.server else { return };
        if let Some(transcript) = &self.transcript {
            server.unregister(transcript);
        }
        eprint_line("press Ctrl-C to stop the server");
        interrupts.stopped().await;
        server.join();
    }
}
