//! Where the games of a contest are played: on this machine, or by the workers of a server.

use super::going::{enclosed, room};
use super::run::GoingOptions;
#[cfg(feature = "nats")]
use super::there::There;
use crate::cli::Global;
use crate::cli::sandbox::tell_of;
use crate::contest::Contest;
use crate::failure::Failure;
use crate::shell::contest::Prepared;
use crate::shell::contest::folder::Folder;
use crate::shell::contest::local::{Equipment, Local};
use crate::shell::contest::runner::{Ended, Runner, Spectator};
use crate::shell::contest::store::Store;
#[cfg(feature = "nats")]
use crate::shell::fleet::{
    connect::Connection,
    coordinator::{Commission, Coordinator, hush},
};
use crate::shell::interrupts::Interrupts;
use crate::shell::playing::Playing;
use crate::shell::sandbox::reach::{Ground, Reaches};
use crate::shell::sandbox::{Enclosure, Wish};
use referee_protocol::Sandbox;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Where games are played.
#[derive(Debug)]
pub(super) enum Place {
    /// On this machine, in this.
    Here(Box<Enclosure>),
    /// By workers.
    #[cfg(feature = "nats")]
    There(Box<There>),
}

impl Place {
    /// Chooses one and looks whether it can be had. Nothing has been written so far: a machine that
    /// doesn't give what the contest demands leaves no trace, nor does a server that isn't there.
    pub(super) fn choose(
        wish: &Wish,
        prepared: &Prepared,
        options: &GoingOptions,
        #[cfg_attr(not(feature = "nats"), expect(unused_variables, reason = "for connections"))]
        runtime: &Runtime,
        global: &Global,
    ) -> Result<Self, Failure> {
        #[cfg(feature = "nats")]
        if let Some(url) = &options.on {
            let there = There::find(url, options, prepared, runtime, global)?;
            return Ok(Self::There(Box::new(there)));
        }
        enclosed(wish, prepared, options, global).map(|it| Self::Here(Box::new(it)))
    }

    /// What agents are kept apart by, where that is known.
    #[cfg_attr(
        not(feature = "nats"),
        expect(clippy::unnecessary_wraps, reason = "on other machines it is not")
    )]
    pub(super) fn apart(&self) -> Option<&Sandbox> {
        match self {
            Self::Here(enclosure) => Some(&enclosure.told),
            #[cfg(feature = "nats")]
            Self::There(_) => None,
        }
    }

    /// Says what people should know of it.
    pub(super) fn tell(&self, wish: &Wish, global: &Global) {
        match self {
            Self::Here(enclosure) => tell_of(enclosure, wish.level, true, global),
            #[cfg(feature = "nats")]
            Self::There(there) => there.tell(global),
        }
    }

    /// What the command that resumes the contest has to say of it.
    pub(super) fn said(&self) -> Vec<String> {
        match self {
            Self::Here(_) => Vec::new(),
            #[cfg(feature = "nats")]
            Self::There(there) => there.words.clone(),
        }
    }

    /// Makes everything ready. `begun` is when the contest was begun.
    pub(super) fn stage(
        self,
        prepared: &mut Prepared,
        #[cfg_attr(not(feature = "nats"), expect(unused_variables, reason = "names a contest"))]
        begun: &str,
        folder: &Folder,
        playing: Playing,
        options: &GoingOptions,
    ) -> Result<Stage, Failure> {
        match self {
            Self::Here(enclosure) => {
                let equipment = equipment(prepared, *enclosure, folder, playing, options)?;
                Ok(Stage::Here(Box::new(equipment)))
            }
            #[cfg(feature = "nats")]
            Self::There(there) => {
                let (connection, commission) = there.commission(prepared, begun, folder, playing);
                Ok(Stage::There(Box::new(connection), Box::new(commission)))
            }
        }
    }
}

/// A place with everything ready.
#[derive(Debug)]
pub(super) enum Stage {
    Here(Box<Equipment>),
    #[cfg(feature = "nats")]
    There(Box<Connection>, Box<Commission>),
}

impl Stage {
    /// Whether the agents are those that lie on this machine.
    pub(super) fn is_here(&self) -> bool {
        matches!(self, Self::Here(_))
    }

    /// Plays what is left of a contest.
    pub(super) async fn play(
        self,
        contest: Arc<Contest>,
        folder: Folder,
        store: Store,
        interrupts: &mut Interrupts,
        spectator: &mut impl Spectator,
    ) -> Result<Ended, Failure> {
        let runner = Runner::open(contest.clone(), folder.clone(), store)?;
        match self {
            Self::Here(equipment) => {
                let field = Local::start(contest, folder, *equipment, interrupts)?;
                Ok(runner.play(field, interrupts, spectator).await)
            }
            #[cfg(feature = "nats")]
            Self::There(connection, commission) => {
                let (line, since) = (connection.as_ref().clone(), commission.begun.clone());
                let orders = interrupts.orders();
                let begin = Coordinator::begin(*connection, *commission, runner.schedule(), orders);
                let field = tokio::select! {
                    field = begin => Some(field?),
                    _ = interrupts.interrupted() => None,
                };
                if let Some(field) = field {
                    return Ok(runner.play(field, interrupts, spectator).await);
                }
                hush(&line, &contest, &since).await;
                Ok(runner.leave(interrupts))
            }
        }
    }
}

/// What games are played with on this machine.
fn equipment(
    prepared: &mut Prepared,
    enclosure: Enclosure,
    folder: &Folder,
    playing: Playing,
    options: &GoingOptions,
) -> Result<Equipment, Failure> {
    let room = room(prepared, options);
    let contenders: Vec<_> =
        std::mem::take(&mut prepared.contenders).into_iter().map(Arc::new).collect();
    let mut records = prepared.secrets();
    records.push(folder.root().to_owned());
    let readable: Vec<PathBuf> =
        prepared.contest.sandbox.read.iter().map(|path| prepared.base.join(path)).collect();
    let reaches = Reaches::new(Ground::new(&contenders, &records, &readable));
    reaches.check(enclosure.jail.layers, &contenders)?;
    Ok(Equipment { contenders, reaches: Arc::new(reaches), room, enclosure, playing })
}
