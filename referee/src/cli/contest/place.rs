//! Where the games of a contest are played: on this machine, or by the workers of a server.

use super::going::{enclosed, room};
use super::run::GoingOptions;
use crate::cli::Global;
use crate::cli::fleet::There;
use crate::cli::sandbox::tell_of;
use referee_play::interrupts::Interrupts;
use referee_play::playing::Playing;
use referee_play::reach::{Reaches, ground};
use referee_process::Failure;
use referee_process::sandbox::{Enclosure, Wish};
use referee_protocol::Sandbox;
use referee_runner::Prepared;
use referee_runner::folder::Folder;
use referee_runner::local::{Equipment, Local};
use referee_runner::runner::{Ended, Runner, Spectator};
use referee_runner::store::Store;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Where games are played.
#[derive(Debug)]
pub(super) enum Place {
    /// On this machine, in this.
    Here(Box<Enclosure>),
    /// By workers.
    There(Box<There>),
}

impl Place {
    /// Chooses one and looks whether it can be had. Nothing has been written so far: a machine that
    /// doesn't give what the contest demands leaves no trace, nor does a server that isn't there.
    pub(super) fn choose(
        wish: &Wish,
        prepared: &Prepared,
        options: &GoingOptions,
        runtime: &Runtime,
        global: &Global,
    ) -> Result<Self, Failure> {
        if let Some(there) = There::find(&options.fleet, prepared, runtime, global)? {
            return Ok(Self::There(Box::new(there)));
        }
        enclosed(wish, prepared, options, global).map(|it| Self::Here(Box::new(it)))
    }

    /// What agents are kept apart by, where that is known.
    pub(super) fn apart(&self) -> Option<&Sandbox> {
        match self {
            Self::Here(enclosure) => Some(&enclosure.told),
            Self::There(_) => None,
        }
    }

    /// Says what people should know of it.
    pub(super) fn tell(&self, wish: &Wish, global: &Global) {
        match self {
            Self::Here(enclosure) => tell_of(enclosure, wish.level, true, global),
            Self::There(there) => there.tell(global),
        }
    }

    /// What the command that resumes the contest has to say of it.
    pub(super) fn words(&self) -> &[String] {
        match self {
            Self::Here(_) => &[],
            Self::There(there) => there.words(),
        }
    }

    /// Plays what is left of a contest, which was begun then, RFC 3339.
    pub(super) async fn play(
        self,
        run: Run<'_>,
        begun: &str,
        store: Store,
        interrupts: &mut Interrupts,
        spectator: &mut impl Spectator,
    ) -> Result<Ended, Failure> {
        let (contest, folder) = (run.prepared.contest.clone(), run.folder.clone());
        match self {
            Self::Here(enclosure) => {
                let equipment = equipment(run, *enclosure)?;
                let runner = Runner::open(contest.clone(), folder.clone(), store)?;
                let field = Local::start(contest, folder, equipment, interrupts)?;
                Ok(runner.play(field, interrupts, spectator).await)
            }
            Self::There(there) => {
                let runner = Runner::open(contest, folder, store)?;
                there.play(runner, run.playing, begun, interrupts, spectator).await
            }
        }
    }
}

/// A contest that goes on.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) prepared: &'a mut Prepared,
    pub(super) folder: &'a Folder,
    pub(super) playing: Playing,
    pub(super) options: &'a GoingOptions,
}

/// What games are played with on this machine.
fn equipment(run: Run<'_>, enclosure: Enclosure) -> Result<Equipment, Failure> {
    let Run { prepared, folder, playing, options } = run;
    let room = room(prepared, options);
    let contenders: Vec<_> =
        std::mem::take(&mut prepared.contenders).into_iter().map(Arc::new).collect();
    let mut records = prepared.secrets();
    records.push(folder.root().to_owned());
    let readable: Vec<PathBuf> =
        prepared.contest.sandbox.read.iter().map(|path| prepared.base.join(path)).collect();
    let reaches = Reaches::new(ground(&contenders, &records, &readable));
    reaches.check(enclosure.jail.layers, &contenders)?;
    Ok(Equipment { contenders, reaches: Arc::new(reaches), room, enclosure, playing })
}
