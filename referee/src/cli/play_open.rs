//! `play --open`: the match in the browser, and whoever plays in person there.

use super::output::tell;
use super::serve::browse;
use referee_play::destination::Destination;
use referee_play::human::{HumanInput, PlayerPrompts};
use referee_play::interrupts::Interrupts;
use referee_play::series::Plan;
use referee_process::Failure;
use referee_process::sandbox::Enclosure;
use referee_web::{Server, Settings};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The web viewer beside a match.
#[derive(Debug)]
pub(super) struct Page {
    desks: Arc<PlayerPrompts>,
    /// Of a single match.
    transcript: Option<PathBuf>,
    folder: PathBuf,
    server: Option<Server>,
}

impl Page {
    /// Has whoever plays in person play there, and finds out where the transcripts will be.
    pub(super) fn prepare(plan: &mut Plan, enclosure: &Enclosure) -> Result<Self, Failure> {
        let machine = |error: std::io::Error| Failure::machine(error.to_string());
        if let Destination::Nowhere | Destination::Stdout = plan.first.destination {
            return Err(Failure::usage("--open shows a transcript, and no file is written")
                .help("--out names a file or a folder"));
        }
        let desks = Arc::<PlayerPrompts>::default();
        plan.first.human_input = HumanInput::Prompts(desks.clone());
        let mut transcript = None;
        if plan.count() == 1 {
            let (header, _) =
                plan.job(plan.games.start).header(&enclosure.told).map_err(machine)?;
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
        Ok(Self { desks, transcript, folder, server: None })
    }

    /// Begins to serve, and opens the browser.
    pub(super) fn serve(&mut self, interrupts: &Interrupts) -> Result<(), Failure> {
        let settings = Settings {
            folder: self.folder.clone(),
            host: "127.0.0.1".to_owned(),
            port: Some(0),
            token: None,
            play: None,
        };
        let server = Server::start(settings, interrupts.orders(), interrupts.paused_time())?;
        let mut url = server.url();
        if let Some(transcript) = &self.transcript {
            server.host(transcript, self.desks.clone());
            url = server.url_of_match(transcript).unwrap_or(url);
        }
        tell(&format!("in the browser: {url}"));
        browse(&url);
        self.server = Some(server);
        Ok(())
    }

    /// Goes on serving until somebody ends it.
    pub(super) async fn stay(self, interrupts: &mut Interrupts) {
        let Some(server) = self.server else { return };
        if let Some(transcript) = &self.transcript {
            server.release(transcript);
        }
        tell("the page stays until Ctrl-C");
        while !interrupts.is_stopped() {
            interrupts.next().await;
        }
        server.join();
    }
}
