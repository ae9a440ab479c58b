//! Where a command's program is installed: the interpreter's folder, so that one in a home folder
//! works too, as made by virtual environments, pyenv, nvm or conda. What the agent's own files name is
//! found only if it is granted or a language runtime: else they could open any file by naming it.

use super::elf::Elf;
use super::grants::is_wide;
use super::requests::{Answer, answer};
use super::runtimes::{is_kept, is_runtime};
use crate::files::{head, in_path};
use nix::unistd::{AccessFlags, access};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Folders of programs; the installation is the folder above.
const PROGRAM_FOLDERS: &[&str] = &["bin", "sbin", "libexec", "shims", "Scripts"];
/// Names next to a folder of programs in an installation.
const INSTALLED: &[&str] = &["lib", "lib64", "libexec", "share", "pyvenv.cfg", "versions"];
/// Folders in a home folder that look like installations, but hold other things too.
const COLLECTIONS: &[&str] = &[".local", ".cargo"];
/// The longest chain of links, and of scripts that are each other's interpreters.
const STEPS_MAX: usize = 40;
/// How much of a script is read.
const SCRIPT_BYTES: u64 = 4096;
/// Settings in `pyvenv.cfg` that name the Python of an environment.
const BASES: &[&str] =
    &["home", "base-prefix", "base-exec-prefix", "executable", "base-executable"];

/// The files that were found, not checked yet.
#[derive(Debug, Default)]
pub(super) struct Installed {
    /// Files and folders, canonical.
    pub(super) paths: Vec<PathBuf>,
    /// What is needed to start it and is missing or not executable.
    pub(super) missing: Vec<PathBuf>,
    /// What the agent's author names and isn't granted; canonical.
    pub(super) refused: Vec<PathBuf>,
    /// Whether the author of the agent names what comes next, rather than the caller or an
    /// installation.
    pub(super) by_author: bool,
    /// The agent's own files; canonical.
    own: Vec<PathBuf>,
    /// What the caller grants; canonical.
    allowed: Vec<PathBuf>,
    /// Whether a relative path leads to the program: perhaps to a file of a submission, by a contest's template.
    pub(super) is_relative: bool,
    seen: Vec<PathBuf>,
}

impl Installed {
    /// Begins with nothing found.
    pub(super) fn new(own: Vec<PathBuf>, allowed: &[PathBuf]) -> Self {
        Self { own, allowed: allowed.to_owned(), ..Self::default() }
    }

    /// Returns the installation around a folder of programs.
    pub(super) fn around(programs: &Path) -> Vec<PathBuf> {
        let mut installed = Self::default();
        installed.prefix_of(&programs.join("program"));
        installed.paths
    }

    /// Adds what a command needs: `program` is its program, `words` are its arguments. Relative
    /// paths are relative to `folder`.
    pub(super) fn command(&mut self, program: &Path, words: &[&str], folder: &Path) {
        self.started(program, folder);
        if program.file_name() == Some(OsStr::new("env"))
            && let Some((_, word)) = by_env(words)
        {
            self.named(word, folder);
        }
    }

    /// Adds what a program needs that has to be started.
    fn started(&mut self, file: &Path, folder: &Path) {
        let file = folder.join(file);
        if !file.is_file() || access(&file, AccessFlags::X_OK).is_err() {
            self.missing.push(file.clone());
        }
        self.program(&file, folder);
    }

    /// Adds a program, every link to it, and its interpreter if it is a script.
    pub(super) fn program(&mut self, file: &Path, folder: &Path) {
        let file = folder.join(file);
        if self.seen.len() > STEPS_MAX || self.seen.contains(&file) {
            return;
        }
        self.seen.push(file.clone());
        let Ok(canonical) = file.canonicalize() else { return };
        let before = self.by_author;
        for link in links(&file) {
            self.reaches(&link);
            self.prefix_of(&link);
            self.by_author |= link.is_symlink() && !is_kept_at(&link);
        }
        self.prefix_of(&canonical);
        if self.add(canonical.clone()) {
            self.reads(&canonical);
            self.script(&canonical, folder);
            self.loaded(&canonical);
        }
        self.by_author = before;
    }

    /// Finds who names what is named next: a link, script or setting at this path.
    fn reaches(&mut self, path: &Path) {
        let Some(path) = placed(path) else { return };
        if self.is_own(&path) {
            self.by_author = true;
        } else if self.by_author {
            self.by_author = answer(&path, &self.allowed) == Answer::NotGranted || !is_kept(&path);
        }
    }

    /// The same for what this script or setting says: its author may have written it although the caller has named it.
    fn reads(&mut self, file: &Path) {
        self.reaches(file);
        self.by_author |= self.is_relative && !is_runtime(file) || !is_kept_at(file);
    }

    /// Whether a canonical path is one of the agent's own files.
    fn is_own(&self, path: &Path) -> bool {
        self.own.iter().any(|own| path.starts_with(own))
    }

    /// Adds the loader of a program that isn't a script.
    fn loaded(&mut self, file: &Path) {
        let Some(elf) = Elf::of(file) else { return };
        self.missing.extend(elf.loader().filter(|loader| !loader.is_file()));
        if elf.is_foreign() {
            self.missing.push(file.to_owned());
        }
    }

    /// Adds a canonical path, unless the author names it and it isn't granted; returns whether it
    /// is added.
    fn add(&mut self, path: PathBuf) -> bool {
        let may = !self.by_author
            || self.is_own(&path)
            || self.paths.iter().any(|found| path.starts_with(found) && !is_wide(found))
            || answer(&path, &self.allowed) != Answer::NotGranted;
        let paths = if may { &mut self.paths } else { &mut self.refused };
        // A guessed installation may be a whole home folder, which nobody asked for.
        if !paths.contains(&path) && (may || !is_wide(&path)) {
            paths.push(path);
        }
        may
    }

    /// Adds the folder in which a program is installed, if it looks like that.
    fn prefix_of(&mut self, program: &Path) {
        let Some(programs) = program.parent() else { return };
        let Some(prefix) = programs.parent() else { return };
        let named = |folder: &Path, names: &[&str]| {
            folder.file_name().is_some_and(|name| names.iter().any(|it| name == *it))
        };
        if named(programs, PROGRAM_FOLDERS)
            && !named(prefix, COLLECTIONS)
            && INSTALLED.iter().any(|name| prefix.join(name).exists())
        {
            self.prefix(prefix);
        }
    }

    fn prefix(&mut self, prefix: &Path) {
        let Ok(canonical) = prefix.canonicalize() else { return };
        if self.paths.contains(&canonical) {
            return;
        }
        let settings = canonical.join("pyvenv.cfg");
        if !self.add(canonical) {
            return;
        }
        let before = self.by_author;
        self.reads(&settings);
        for (name, base) in settings_of(&settings) {
            match name.as_str() {
                // The folder of the program.
                "home" => {
                    self.prefix_of(&base.join("python"));
                    self.missing.extend(Some(base).filter(|base| !base.is_dir()));
                }
                "base-prefix" | "base-exec-prefix" => self.prefix(&base),
                _ => self.program(&base, Path::new("/")),
            }
        }
        self.by_author = before;
    }

    /// Adds a script's interpreter, by its first line.
    fn script(&mut self, file: &Path, folder: &Path) {
        let Some(begin) = begin(file) else { return };
        let mut lines = begin.lines();
        let Some(line) = lines.next().and_then(|line| line.strip_prefix("#!")) else { return };
        let line = line.trim();
        let (program, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        // One word, except for `env -S`, which splits it itself.
        let words: Vec<&str> = argument.split_whitespace().collect();
        self.command(Path::new(program), &words, folder);
        // pip writes this if the interpreter's path is too long for the first line.
        let long = lines.next().and_then(|line| line.strip_prefix("'''exec' "));
        let long = long.and_then(|line| line.split(" '").next()?.split(" \"").next());
        if let Some([program, ..]) = long.and_then(shlex::split).as_deref() {
            self.started(Path::new(program), folder);
        }
    }

    /// Adds a program in PATH, or at a path.
    fn named(&mut self, word: &str, folder: &Path) {
        if word.contains('/') {
            return self.started(Path::new(word), folder);
        }
        match in_path(word) {
            Some(file) => self.started(&file, folder),
            None => self.missing.push(word.into()),
        }
    }
}

/// Returns which of the words after `env` is the program that it starts.
fn by_env<'a>(words: &[&'a str]) -> Option<(usize, &'a str)> {
    let words = words.iter().map(|word| word.strip_prefix("-S").unwrap_or(word));
    let mut words = words.enumerate();
    while let Some((at, word)) = words.next() {
        if matches!(word, "-u" | "--unset" | "-C" | "--chdir") {
            words.next();
        } else if !word.is_empty() && !word.starts_with('-') && !word.contains('=') {
            return Some((at, word));
        }
    }
    None
}

/// Returns the indices of programs in a command: the first word, and what it starts if it is `env`.
pub fn programs_of(command: &[String]) -> Vec<usize> {
    let words: Vec<&str> = command.iter().skip(1).map(String::as_str).collect();
    let first = command.first().and_then(|word| Path::new(word).file_name());
    let next = by_env(&words).filter(|_| first == Some(OsStr::new("env")));
    std::iter::once(0).chain(next.map(|(at, _)| at + 1)).collect()
}

/// Returns a path whose folder is canonical.
fn placed(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

fn is_kept_at(path: &Path) -> bool {
    placed(path).is_some_and(|path| is_kept(&path))
}

/// Returns a file, and the target of each link in the chain.
fn links(file: &Path) -> Vec<PathBuf> {
    let mut links = vec![file.to_owned()];
    let mut current = file.to_owned();
    while let Ok(target) = current.read_link() {
        current = current.parent().unwrap_or(Path::new("/")).join(target);
        if links.len() > STEPS_MAX {
            break;
        }
        links.push(current.clone());
    }
    links
}

/// Reads the start of a script.
fn begin(file: &Path) -> Option<String> {
    let bytes = head(file, SCRIPT_BYTES)?;
    bytes.starts_with(b"#!").then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the paths in `pyvenv.cfg`, one `name = path` per line.
fn settings_of(file: &Path) -> Vec<(String, PathBuf)> {
    let text = head(file, SCRIPT_BYTES).and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.unwrap_or_default();
    let settings = text.lines().filter_map(|line| line.split_once('='));
    let settings = settings.map(|(name, value)| (name.trim().to_lowercase(), value.trim()));
    let bases = settings.filter(|(name, value)| BASES.contains(&&**name) && value.starts_with('/'));
    bases.map(|(name, value)| (name, value.into())).collect()
}
