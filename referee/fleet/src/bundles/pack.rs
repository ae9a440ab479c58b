//! From the contenders of a contest to what travels.

use super::archive::{Bounds, Piece, write};
use super::luggage::{Luggage, Packing, tidied};
use super::walk::{Owners, Pieces, Rules, arrive, climbs, way};
use crate::{BundleRef, Traveller};
use referee_process::Failure;
use referee_protocol::plain::{count, tame};
use referee_runner::Prepared;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// How much of what one agent is sent without is told.
const LEFT_TOLD: usize = 3;

/// A contest's agents, ready to travel.
#[derive(Debug)]
pub struct Packed {
    /// How each comes to where it plays, by player.
    pub travellers: Vec<Traveller>,
    /// The bundles, each once, and the files that they are in.
    pub bundles: Vec<(BundleRef, PathBuf)>,
    /// What stands for the contest's folder in each bundle: [`crate::fleet::Brief::folder`].
    pub folder: String,
    /// What all agents may read, where files of the contest's folder are among that.
    pub shared: Option<BundleRef>,
    /// What a person should know, in sentences.
    pub notes: Vec<String>,
    /// Where the files are, as long as this is kept.
    files: TempDir,
}

/// Packs the agents of a contest, or says which of them can't travel and what to do about it. It
/// reads all of their files.
pub fn pack(prepared: &Prepared) -> Result<Packed, Failure> {
    pack_within(prepared, Bounds::default())
}

/// The same with other bounds of a bundle.
pub(super) fn pack_within(prepared: &Prepared, bounds: Bounds) -> Result<Packed, Failure> {
    let base = &prepared.base;
    let own = prepared.contenders.iter().map(|contender| contender.own.as_slice());
    let owners = Owners::new(own);
    let shared = shared(prepared, &owners, bounds)?;
    let mut without = read(prepared).filter_map(|path| base.join(path).canonicalize().ok());
    let without: Vec<PathBuf> = without.by_ref().chain(prepared.secrets()).collect();
    let mut luggages = Vec::new();
    for (player, contender) in prepared.contenders.iter().enumerate() {
        let packing = Packing { base, owners: &owners, player, without: &without, bounds };
        let run = prepared.contest.players.get(player).map_or("", |info| info.run.as_str());
        luggages
            .push(packing.pack(contender, run).map_err(|failure| of(&contender.name, &failure))?);
    }
    let places = luggages.iter().flat_map(|it| &it.pieces).chain(&shared).map(|it| &it.place);
    let folder = named_above(base, places.map(|place| climbs(place)).max().unwrap_or(0));
    let mut packed = Packed::empty(folder)?;
    for (contender, luggage) in prepared.contenders.iter().zip(luggages) {
        packed.notes.extend(left(prepared, &contender.name, &luggage.others));
        packed
            .add(&contender.name, luggage, bounds)
            .map_err(|failure| of(&contender.name, &failure))?;
    }
    packed.shared = packed.bundle(shared, bounds)?;
    Ok(packed)
}

/// What went wrong with somebody.
fn of(name: &str, failure: &Failure) -> Failure {
    Failure::new(failure.code(), format!("{}: {failure}", tame(name)))
        .or_help(failure.help_text().map(str::to_owned))
}

/// What a person should know of what lies beside an agent and isn't sent with it. That a folder with
/// agent.toml is an agent of its own is no surprise.
fn left(prepared: &Prepared, name: &str, others: &[(PathBuf, usize)]) -> Option<String> {
    let others = others.iter().filter(|(path, _)| !path.join("agent.toml").is_file());
    let mut told: Vec<String> = others
        .filter_map(|(path, other)| {
            let owner = &prepared.contenders.get(*other)?.name;
            let path = way(&prepared.base, path);
            Some(format!("{}, which is {}'s own", tame(&path.display().to_string()), tame(owner)))
        })
        .collect();
    let more = told.len().saturating_sub(LEFT_TOLD);
    told.truncate(LEFT_TOLD);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    let (name, told_of) = (tame(name), told.join("; "));
    (!told.is_empty()).then(|| {
        format!(
            "{name} is sent without {told_of}: what all agents need is named in `[sandbox]` `read` \
             of the contest file"
        )
    })
}

/// The relative paths that all agents may read.
fn read(prepared: &Prepared) -> impl Iterator<Item = &Path> {
    let paths = prepared.contest.sandbox.read.iter().map(Path::new);
    paths.filter(|path| path.is_relative())
}

/// The files that all workers need beside those of agents: what all may read, and the program that
/// agents are started by, where it lies beside the contest file.
fn shared(prepared: &Prepared, owners: &Owners, bounds: Bounds) -> Result<Vec<Piece>, Failure> {
    let mut pieces = Pieces::new(bounds);
    let rules = Rules { owners, player: None, whole: true, without: &[] };
    let wrapper = prepared.contest.sandbox.wrapper.first().map(Path::new);
    let wrapper = wrapper.filter(|path| path.is_relative() && path.components().count() > 1);
    for path in read(prepared).chain(wrapper) {
        pieces.named(&prepared.base.join(path), tidied(path)?, &rules)?;
    }
    Ok(pieces.list)
}

/// The last so many names of a folder's path.
fn named_above(base: &Path, climbs: usize) -> String {
    let names: Vec<_> = base.iter().skip(1).map(|name| name.to_string_lossy()).collect();
    names[names.len().saturating_sub(climbs)..].join("/")
}

impl Packed {
    fn empty(folder: String) -> Result<Self, Failure> {
        let files = tempfile::Builder::new().prefix("referee-bundles-").tempdir();
        let files =
            files.map_err(|error| Failure::machine(format!("no folder for bundles: {error}")))?;
        let (travellers, bundles, notes) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { travellers, bundles, folder, shared: None, notes, files })
    }

    fn add(&mut self, name: &str, luggage: Luggage, bounds: Bounds) -> Result<(), Failure> {
        let Luggage { run, pieces, digested, links, .. } = luggage;
        if links > 0 {
            let links = count(links as u64, "link");
            self.notes.push(format!("{}: {links} not sent, only files are", tame(name)));
        }
        let bundle = self.bundle(pieces, bounds)?;
        let digested = u32::try_from(digested).unwrap_or(u32::MAX);
        self.travellers.push(Traveller { run, bundle, digested });
        Ok(())
    }

    /// Writes a bundle, unless it is there already.
    fn bundle(
        &mut self,
        mut pieces: Vec<Piece>,
        bounds: Bounds,
    ) -> Result<Option<BundleRef>, Failure> {
        if pieces.is_empty() {
            return Ok(None);
        }
        for piece in &mut pieces {
            piece.place = arrive(Path::new(&self.folder), &piece.place);
        }
        let file = self.files.path().join(self.bundles.len().to_string());
        let bundle = write(&pieces, &file, bounds)
            .map_err(|error| Failure::operation(tame(&error.to_string())))?;
        if self.bundles.iter().any(|(other, _)| *other == bundle) {
            std::fs::remove_file(&file).ok();
        } else {
            self.bundles.push((bundle.clone(), file));
        }
        Ok(Some(bundle))
    }
}
