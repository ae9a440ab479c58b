//! What travels of one agent, by how it is written.

use super::archive::{Bounds, Piece};
use super::walk::{Owners, Pieces, Rules, arrive, tidy, way};
use referee_play::adapted::COMP30024;
use referee_play::contender::{Contender, Parts, Sort, package_of};
use referee_process::Failure;
use referee_process::agent::Launch;
use referee_process::sandbox::reach::{is_system, is_wide, programs_of};
use referee_protocol::plain::tame;
use std::path::{Path, PathBuf};

/// What travels of an agent.
#[derive(Debug, Default)]
pub(super) struct Luggage {
    /// The AGENT as a worker reads it.
    pub(super) run: String,
    /// Its files; places are relative to the contest's folder.
    pub(super) pieces: Vec<Piece>,
    /// So many of them, the first, are what its digest is made of.
    pub(super) digested: usize,
    /// So many links stay behind.
    pub(super) links: usize,
    /// What lay beside it and stays behind, and which player's it is.
    pub(super) others: Vec<(PathBuf, usize)>,
}

/// Where an agent is packed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packing<'a> {
    /// The contest's folder; canonical.
    pub(super) base: &'a Path,
    /// Whose the files of the contest are.
    pub(super) owners: &'a Owners,
    /// Which player it is.
    pub(super) player: usize,
    /// What doesn't travel with any agent; canonical.
    pub(super) without: &'a [PathBuf],
    /// How much may travel.
    pub(super) bounds: Bounds,
}

impl Packing<'_> {
    /// What travels of this agent, which was written so.
    pub(super) fn pack(&self, contender: &Contender, written: &str) -> Result<Luggage, Failure> {
        let parts = Parts::of(written, self.base);
        let mut pieces = Pieces::new(self.bounds);
        let (agent, digested) = match parts.sort {
            Sort::BuiltIn => (parts.agent.to_owned(), 0),
            Sort::Package => (self.package(contender, parts.agent, &mut pieces)?, 0),
            Sort::Folder => self.agent_folder(contender, &mut pieces)?,
            Sort::File => (self.program(contender, &mut pieces)?, 0),
            Sort::Command => (self.command(contender, &mut pieces)?, 0),
        };
        let mut run = agent;
        if let Some(protocol) = parts.protocol {
            run = format!("{protocol}:{run}");
        }
        if run.contains('=') {
            // What stands before it would be taken for a name otherwise.
            run = format!("agent={run}");
        }
        let others = pieces.others.into_iter().collect();
        Ok(Luggage { run, digested, links: pieces.links, others, pieces: pieces.list })
    }

    fn rules(&self) -> Rules<'_> {
        let player = Some(self.player);
        Rules { owners: self.owners, player, whole: false, without: self.without }
    }

    /// All that travels of a folder beside an agent's files.
    fn beside(&self, folder: &Path, pieces: &mut Pieces) -> Result<(), Failure> {
        pieces.folder(folder, &way(self.base, folder), &self.rules())
    }

    /// A folder with agent.toml. What has to be built there travels as its digest knows it; all
    /// others travel whole.
    fn agent_folder(
        &self,
        contender: &Contender,
        pieces: &mut Pieces,
    ) -> Result<(String, usize), Failure> {
        let Some(launch) = &contender.launch else { return Ok(Default::default()) };
        let place = way(self.base, &launch.folder);
        for file in &contender.files {
            pieces.file(&launch.folder.join(file), place.join(file))?;
        }
        let digested = contender.files.len();
        let asked = asked(&launch.folder)?;
        self.elsewhere(launch, &asked)?;
        if contender.build.is_none() {
            let rules = Rules { player: None, whole: true, ..self.rules() };
            pieces.folder(&launch.folder, &place, &rules)?;
            travels(launch)?;
        }
        for path in asked.iter().filter(|path| path.is_relative()) {
            let there = arrive(&place, &tidied(path)?);
            pieces.named(&launch.folder.join(path), there, &self.rules())?;
        }
        Ok((relative(&place)?, digested))
    }

    /// A program file, with what lies beside it.
    fn program(&self, contender: &Contender, pieces: &mut Pieces) -> Result<String, Failure> {
        let Some(launch) = &contender.launch else { return Ok(String::new()) };
        if is_system(&launch.file) {
            return Ok(launch.file.to_string_lossy().into_owned());
        }
        let place = way(self.base, &launch.file);
        pieces.file(&launch.file, place.clone())?;
        self.beside(&launch.folder, pieces)?;
        relative(&place)
    }

    /// A package of the course, with what lies beside it.
    fn package(
        &self,
        contender: &Contender,
        agent: &str,
        pieces: &mut Pieces,
    ) -> Result<String, Failure> {
        let (Some(launch), [whole]) = (&contender.launch, contender.own.as_slice()) else {
            return Ok(agent.to_owned());
        };
        let folder = whole.parent().unwrap_or(&launch.folder);
        self.beside(folder, pieces)?;
        let rules = launch.folder.join("referee");
        if folder != launch.folder && rules.is_dir() {
            self.beside(&rules, pieces)?;
        }
        let text = package_of(agent).unwrap_or_default();
        let (path, class) = match text.rsplit_once(':') {
            Some((path, class)) => (path, format!(":{class}")),
            None => (text, String::new()),
        };
        if launch.folder == self.base && !path.contains('/') && !path.starts_with('.') {
            return Ok(agent.to_owned());
        }
        let written = [path.to_owned(), path.replace('.', "/")].map(|path| self.base.join(path));
        let found = written.into_iter().find_map(|path| path.canonicalize().ok());
        let place = way(self.base, found.as_deref().unwrap_or(whole));
        Ok(format!("{COMP30024}:{}{class}", relative(&place)?))
    }

    /// A command line, with the files that it names and what lies beside them.
    fn command(&self, contender: &Contender, pieces: &mut Pieces) -> Result<String, Failure> {
        let Some(launch) = &contender.launch else { return Ok(String::new()) };
        let mut words = Vec::new();
        let programs = programs_of(&launch.command);
        for (at, word) in launch.command.iter().enumerate() {
            // What is installed would hardly run without what is installed with it.
            let stays = programs.contains(&at) && Path::new(word).is_absolute();
            let stays = stays && !self.holds(Path::new(word));
            words.push(if stays { word.clone() } else { self.word(word, pieces)? });
        }
        // What is its own without being named as a path: modules and the like.
        let own = contender.own.iter().filter(|own| own.starts_with(self.base));
        for own in own {
            let folder = if own.is_file() { own.parent().unwrap_or(own) } else { own.as_path() };
            let near = if folder == own { self.base } else { folder };
            if !pieces.holds(own) {
                self.beside(near, pieces)?;
            }
        }
        let words = words.iter().map(String::as_str);
        shlex::try_join(words).map_err(|error| Failure::usage(error.to_string()))
    }

    /// Whether an absolute path lies in the contest's folder, or leads into it.
    fn holds(&self, path: &Path) -> bool {
        let above = path.parent().and_then(|above| above.canonicalize().ok());
        let found = path.canonicalize().ok();
        let mut known = [Some(path.to_owned()), above, found].into_iter().flatten();
        known.any(|path| path.starts_with(self.base))
    }

    /// Whether a worker can do with the absolute paths in a command of agent.toml, which stays as it
    /// is: a program is each worker's own, and other files are if the agent asks to read them, which
    /// each worker looks for before anything starts.
    fn elsewhere(&self, launch: &Launch, asked: &[PathBuf]) -> Result<(), Failure> {
        let programs = programs_of(&launch.command);
        for (at, word) in launch.command.iter().enumerate() {
            let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
            let paths = value.split(':').map(Path::new).filter(|path| path.is_absolute());
            for path in paths {
                if self.holds(path) {
                    return Err(full(word));
                }
                let Ok(found) = path.canonicalize() else { continue };
                let known = programs.contains(&at) || is_system(&found) || is_wide(&found);
                let is_asked = asked.iter().filter_map(|path| path.canonicalize().ok());
                if !known && !is_asked.into_iter().any(|path| found.starts_with(path)) {
                    return Err(full(word));
                }
            }
        }
        Ok(())
    }

    /// A word of a command line as it reads on a worker; what it names travels.
    fn word(&self, word: &str, pieces: &mut Pieces) -> Result<String, Failure> {
        if self.base.join(word).exists() {
            return self.path(word, pieces);
        }
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (format!("{option}="), value),
            None => (String::new(), word),
        };
        let mut parts = Vec::new();
        for part in value.split(':') {
            let named = part.contains('/') && self.base.join(part).exists();
            parts.push(if named { self.path(part, pieces)? } else { part.to_owned() });
        }
        Ok(option + &parts.join(":"))
    }

    /// A path in a command line as it reads on a worker.
    fn path(&self, text: &str, pieces: &mut Pieces) -> Result<String, Failure> {
        let written = Path::new(text);
        let at = self.base.join(written);
        let found = at.canonicalize().map_err(|error| {
            Failure::operation(format!("{}: {error}", tame(&at.display().to_string())))
        })?;
        if text.is_empty() || self.base.starts_with(&found) {
            return Ok(text.to_owned());
        }
        if written.is_absolute() && is_system(&found) && !self.holds(written) {
            return Ok(text.to_owned());
        }
        let place = if written.is_absolute() { way(self.base, &found) } else { tidied(written)? };
        if found.is_dir() {
            pieces.folder(&found, &place, &self.rules())?;
        } else {
            let above = at.parent().unwrap_or(&at).canonicalize().unwrap_or(at.clone());
            let near = place.parent().unwrap_or(Path::new(""));
            if above != *self.base && self.base.starts_with(&above) {
                // What holds the contest's folder holds other things too.
                pieces.file(&found, place.clone())?;
            } else {
                pieces.folder(&above, near, &self.rules())?;
            }
            if !pieces.has(&place) {
                return Err(stays(text));
            }
        }
        if written.is_absolute() { relative(&place) } else { Ok(text.to_owned()) }
    }
}

/// Whether the program of an agent's folder travels with it, or is wherever a worker has it.
fn travels(launch: &Launch) -> Result<(), Failure> {
    let (folder, word) = (&launch.folder, launch.command.first().map_or("", String::as_str));
    let along_path = !word.contains('/') && !folder.join(word).is_file();
    let found = launch.file.canonicalize().unwrap_or_else(|_| launch.file.clone());
    if along_path || Path::new(word).is_absolute() || found.starts_with(folder) {
        return Ok(());
    }
    Err(stays(word))
}

/// What an agent's agent.toml asks to read, as it is written there.
fn asked(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let path = folder.join("agent.toml");
    let failed = |error: &dyn std::fmt::Display| {
        Failure::operation(format!("{}: {error}", tame(&path.display().to_string())))
    };
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
    let settings: toml::Table = toml::from_str(&text).map_err(|error| failed(&error))?;
    let read = settings.get("sandbox").and_then(|it| it.get("read")).and_then(|it| it.as_array());
    let read = read.into_iter().flatten().filter_map(|path| path.as_str());
    Ok(read.map(PathBuf::from).collect())
}

/// A relative path as a way.
pub(super) fn tidied(path: &Path) -> Result<PathBuf, Failure> {
    tidy(path).ok_or_else(|| {
        let path = tame(&path.display().to_string());
        Failure::usage(format!("{path} goes up after it went down, and can't be sent so"))
            .help("write the path without `..` in its middle")
    })
}

/// A way as a worker reads it, which is no name of a program along PATH.
fn relative(way: &Path) -> Result<String, Failure> {
    let text = way.to_str().ok_or_else(|| {
        let path = tame(&way.display().to_string());
        Failure::usage(format!("{path} is no UTF-8: rename it"))
    })?;
    Ok(if text.starts_with("..") { text.to_owned() } else { format!("./{text}") })
}

/// Why a path can't stand in a command of agent.toml.
fn full(word: &str) -> Failure {
    let word = tame(word);
    Failure::usage(format!("{word} is a full path of this machine")).help(
        "write what belongs to the agent relative to its folder; or name the path in `[sandbox]` \
         `read` of agent.toml too, where each worker has the same file",
    )
}

/// Why a file can't travel that an agent can't do without.
fn stays(word: &str) -> Failure {
    let word = tame(word);
    Failure::usage(format!("{word} leads out of its folder, to what can't be sent")).help(
        "copy the file there; or name a program without a path, which each worker then looks for \
         along its own PATH; or let a `build` in agent.toml make it on the worker, as `python3 -m venv \
         DIR` makes a virtual environment",
    )
}
