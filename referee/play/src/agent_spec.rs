//! Parsing an AGENT: a program file, a quoted command line, a folder with `agent.toml`, a built-in
//! agent, or one with an adapter.

use super::adapted::{self, Adapter, package_of};
use super::archives::{archive_stem, unpacked};
use super::digest::{
    BYTECODE_FOLDER, bytecode_beside, digest_command, digest_file, digest_files, digest_files_in,
    folder_files,
};
use super::manifest::{Manifest, Words};
use super::sources::not_built;
use referee_games::{Dialect, GameKind, dialects, nearest};
use referee_process::agent::Launch;
use referee_process::files::{absolute, open_regular, program, read_all, too_large};
use referee_process::open_folder::{Kind, OpenFolder};
use referee_process::sandbox::reach::{ProgramFiles, files_of_command, is_system};
use referee_process::{Cause, Failure, own_program};
use referee_protocol::sanitize::sanitize_name;
use referee_protocol::{LineProtocol, plain_error};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The help if there is no such agent.
const WHAT_AN_AGENT_IS: &str = "an AGENT is a program file, a quoted command line, a folder with \
     agent.toml or an archive of one, or a built-in agent such as @random";

/// An agent or a person who can play.
#[derive(Clone, Debug, Default)]
pub struct AgentSpec {
    /// Its name in the match, unless another has the same.
    pub name: String,
    /// The AGENT as given.
    pub written: String,
    /// What is started; `None` for a person.
    pub launch: Option<Launch>,
    /// SHA-256 over its files, in hex.
    pub digest: String,
    /// The files of the digest, if it is a folder with agent.toml; relative to it.
    pub files: Vec<PathBuf>,
    /// The games that it plays; empty: any.
    pub games: Vec<String>,
    /// Its line protocol, if it isn't the referee's own.
    pub protocol: Option<LineProtocol>,
    /// The adapter that speaks for it, if it was written for a course.
    pub adapter: Option<&'static Adapter>,
    /// The shell command that builds it, from its agent.toml.
    pub build: Option<String>,
    /// How long that took, in milliseconds, if it was built just now.
    pub build_ms: Option<u64>,
    /// Its own files and folders, which no other agent may read; canonical.
    pub own: Vec<PathBuf>,
    /// A folder with Python's bytecode beside its files. The digest doesn't cover it, so it isn't loaded.
    pub bytecode: Option<PathBuf>,
    /// What its agent.toml asks to read besides; canonical.
    pub read: Vec<PathBuf>,
    /// What it is granted if it asks, besides what all agents are; canonical.
    pub granted: Vec<PathBuf>,
    /// Whether its command is from its agent.toml.
    pub has_manifest: bool,
    /// Whether it plays in a private copy of its files, in which it may write.
    pub writes: bool,
    /// The folder of that copy, if it is kept for later matches.
    pub kept: Option<PathBuf>,
    /// Whether it reads nothing of its folder but its own files: others are around them.
    pub reads_own: bool,
    /// The path below its private copy at which its files are, if it was handed in without the folders around it.
    pub inside: Option<PathBuf>,
    /// The Python that its adapter starts.
    pub python: Option<PathBuf>,
    /// The adapter as that Python has compiled it.
    pub code: Option<Arc<str>>,
}

/// Whether an agent's program must exist when the agent is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    /// Always.
    Needed,
    /// Not if a command builds it.
    Built,
    /// Not what its author can have removed since: what else it needs is looked for when it is started.
    Kept,
}

/// The file in an agent's folder that says how it is started.
pub const MANIFEST: &str = "agent.toml";
/// The largest agent.toml, in bytes.
pub const MANIFEST_BYTES_MAX: u64 = 64 << 10;

impl AgentSpec {
    /// Returns its files for the sandbox; `None` for a person.
    pub fn files(&self) -> Option<ProgramFiles<'_>> {
        let launch = self.launch.as_ref()?;
        Some(ProgramFiles {
            launch,
            own: &self.own,
            reads_own: self.reads_own,
            read: &self.read,
            granted: &self.granted,
            has_manifest: self.has_manifest,
            is_built_in: self.is_own_program(),
            interpreter: self.python.clone(),
        })
    }

    /// Parses an AGENT. `NAME=AGENT` gives it a name. Relative paths are relative to the working
    /// directory.
    pub fn read(text: &str) -> Result<Self, Failure> {
        Self::read_in(text, Path::new(""))
    }

    /// The same, with paths relative to another folder, where commands run.
    pub fn read_in(text: &str, base: &Path) -> Result<Self, Failure> {
        Self::read_as(text, base, Program::Needed)
    }

    /// The same, but what must still be built need not exist.
    pub fn read_unbuilt(text: &str, base: &Path) -> Result<Self, Failure> {
        Self::read_as(text, base, Program::Built)
    }

    /// The same for a copy of a submission, which has been read before: its author must not stop a contest by removing what
    /// it names elsewhere.
    pub fn read_kept(text: &str, base: &Path) -> Result<Self, Failure> {
        Self::read_as(text, base, Program::Kept)
    }

    fn read_as(text: &str, base: &Path, program: Program) -> Result<Self, Failure> {
        let Parts { name, protocol: prefix, agent, kind } = Parts::of(text, base);
        let mut spec = match kind {
            AgentKind::BuiltIn => {
                if let Some(prefix) = prefix {
                    return Err(Failure::usage(format!("{agent} does not speak {prefix}"))
                        .help(format!("write built-in agents without `{prefix}:`")));
                }
                Self::built_in(agent.strip_prefix('@').unwrap_or(agent))?
            }
            AgentKind::Package => {
                let (adapter, text) = package_of(agent).expect("its kind");
                adapted::read(adapter, text, base)?
            }
            AgentKind::Folder => Self::folder(&base.join(agent), prefix, program)?,
            AgentKind::File if archive_stem(Path::new(agent)).is_some() => {
                Self::archive(&base.join(agent), prefix, program)?
            }
            AgentKind::File => Self::file(&base.join(agent))?,
            AgentKind::Command => Self::command_line(agent, base)?,
        };
        if let Some(name) = name {
            name.clone_into(&mut spec.name);
        }
        if let Some(prefix) = prefix {
            let words = [format!("{prefix}:"), spec.digest];
            spec.digest = digest_command(&words, Path::new("/"));
            let plain = || LineProtocol { name: prefix.to_owned(), ..LineProtocol::default() };
            spec.protocol.get_or_insert_with(plain);
        }
        text.clone_into(&mut spec.written);
        spec.name = sanitize_name(&spec.name);
        if spec.name.is_empty() {
            "agent".clone_into(&mut spec.name);
        }
        Ok(spec)
    }

    /// Reads the agent that a transcript names, if a transcript's word is enough to start it: a built-in
    /// one, or a folder in `here` whose files are those that played. A transcript may come from a stranger
    /// and name any command, folder or file.
    pub fn recorded(written: &str, digest: &str, here: &Path) -> Result<Self, Failure> {
        let Parts { agent, kind, .. } = Parts::of(written, here);
        let is_here = |path: &Path| match (path.canonicalize(), here.canonicalize()) {
            (Ok(path), Ok(here)) => path.starts_with(here),
            _ => false,
        };
        let place = match kind {
            AgentKind::BuiltIn => return Self::read_in(written, here),
            AgentKind::Folder => Some(here.join(agent)),
            AgentKind::Package => adapted::import_folder(agent, here).map(|(_, folder)| folder),
            AgentKind::File | AgentKind::Command => None,
        };
        // Before anything there is read.
        if !place.is_some_and(|place| is_here(&place)) {
            return Err(Failure::usage(format!(
                "the transcript names the agent {written:?}, which is neither built in nor a folder here"
            )));
        }
        let spec = Self::read_in(written, here)?;
        if spec.digest != digest || !spec.own.iter().all(|own| is_here(own)) {
            return Err(Failure::usage(format!(
                "{written:?} here is not the agent that played: its files have changed since, or are another agent's"
            )));
        }
        Ok(spec)
    }

    /// Whether it still has this digest over these files. Files added since, such as an agent's own
    /// output, don't matter.
    pub fn has_digest(&self, digest: &str, files: &[PathBuf]) -> bool {
        let folder = self.launch.as_ref().map(|launch| &launch.folder);
        let of_files = || digest_files(folder?, files).ok().filter(|_| !files.is_empty());
        self.digest == digest || of_files().is_some_and(|found| found == digest)
    }

    /// Whether it has an adapter.
    pub fn is_adapted(&self) -> bool {
        self.adapter.is_some()
    }

    /// Whether it was written for another program, so that a codec or an adapter speaks for it.
    pub fn is_foreign(&self) -> bool {
        self.protocol.is_some() || self.is_adapted()
    }

    /// Starts the codec of its line protocol; `None` if that is the referee's own. Fails if it can't play
    /// this game.
    pub fn dialect(&self, kind: GameKind) -> Result<Option<Box<dyn Dialect>>, String> {
        let Some(spoken) = &self.protocol else { return Ok(None) };
        let name = &spoken.name;
        let dialect = kind.dialect(name).ok_or_else(|| {
            format!("{} speaks {name}, which does not support {}", self.name, kind.name)
        })?;
        dialect.begin(spoken).map(Some).map_err(|error| format!("{}: {error}", self.name))
    }

    /// Whether it is meant to play this game.
    pub fn plays(&self, kind: GameKind) -> bool {
        self.games.is_empty()
            || self.games.iter().any(|game| game == kind.name)
            || self.adapter.is_some_and(|it| it.plays_programs) && kind.program().is_some()
    }

    /// Fails if it can't play this game.
    pub fn check_plays(&self, kind: GameKind) -> Result<(), Failure> {
        if !self.plays(kind) {
            let (name, plays) = (&self.name, self.games.join(", "));
            let whose = self.adapter.map_or("its agent.toml lists", |_| "its course plays");
            return Err(Failure::usage(format!("{name} does not play {}", kind.name))
                .help(format!("{whose} {plays}")));
        }
        self.check_rules(kind)?;
        self.dialect(kind).map(|_| ()).map_err(|error| {
            let name = self.protocol.as_ref().map_or("", |spoken| spoken.name.as_str());
            let plays = dialects().filter(|(_, dialect)| dialect.name == name);
            let plays: Vec<&str> = plays.map(|(kind, _)| kind.name).collect();
            Failure::usage(error).help(format!("{name} supports {}", plays.join(", ")))
        })
    }

    /// Fails if it is a built-in agent that needs more than a game program's rules have.
    pub fn check_rules(&self, kind: GameKind) -> Result<(), Failure> {
        if let Some((built_in, rules)) = self.built_in_agent().zip(kind.program()) {
            let (name, game) = (&self.name, kind.name);
            if built_in.needs_list() && !rules.lists() {
                return Err(Failure::usage(format!(
                    "{name} plays listed actions, and the rules of {game} don't list them"
                ))
                .help("let the rules list the legal actions: in Python, with `actions(state)`"));
            }
            if built_in.needs_estimates() && !rules.estimates() {
                return Err(Failure::usage(format!(
                    "{name} looks ahead, and the rules of {game} don't estimate positions"
                ))
                .help(
                    "let the rules say how good a position is for each seat: in Python, with `estimate(state)`; \
                     or play against @random",
                ));
            }
        }
        Ok(())
    }

    /// Whether this program itself is the agent. What an agent.toml starts is its author's, whatever it is called.
    fn is_own_program(&self) -> bool {
        let is_started = self.launch.as_ref().is_some_and(|launch| launch.file == own_program());
        is_started && !self.is_adapted() && !self.has_manifest
    }

    /// Returns the built-in agent that it is.
    pub(crate) fn built_in_agent(&self) -> Option<sample_agents::Agent> {
        let words: Vec<&str> = self.launch.as_ref()?.command.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["referee", "agent", name] if self.is_own_program() => name.parse().ok(),
            _ => None,
        }
    }

    fn built_in(name: &str) -> Result<Self, Failure> {
        let written = format!("@{name}");
        if name == "human" {
            let digest = digest_command(&["@human".to_owned()], Path::new("."));
            return Ok(Self { name: "human".into(), written, digest, ..Self::default() });
        }
        name.parse::<sample_agents::Agent>().map_err(|error| {
            let bare = name.split(':').next().unwrap_or(name);
            let failure = Failure::usage(error.to_string());
            match nearest(bare, built_in_names()) {
                // What follows its name is wrong.
                Some(near) if near == bare => failure,
                Some(near) => failure.help(format!("did you mean @{near}?")),
                None => failure.help("a person plays as @human, and a program has no @"),
            }
        })?;
        let command = vec!["referee".to_owned(), "agent".to_owned(), name.to_owned()];
        let digest =
            digest_command(&[written.clone(), env!("CARGO_PKG_VERSION").into()], Path::new("."));
        let (file, folder) = (own_program().into(), std::env::temp_dir());
        let launch = Launch { file, command, folder, ..Launch::default() };
        let name = written.clone();
        Ok(Self { name, written, launch: Some(launch), digest, ..Self::default() })
    }

    fn folder(folder: &Path, prefix: Option<&str>, program: Program) -> Result<Self, Failure> {
        let manifest_path = folder.join(MANIFEST);
        let opened = OpenFolder::open(folder);
        let text = opened.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()));
        let text = text.and_then(read_manifest).map_err(|error| {
            let text = match error.kind() {
                io::ErrorKind::NotFound => format!("{} has no {MANIFEST}", folder.display()),
                _ => format!("{}: {error}", manifest_path.display()),
            };
            Failure::usage(text).because_of(&error).help(
                "a folder needs an `agent.toml` with at least `command = [\"program\", ..]`; \
                 or give the program itself",
            )
        })?;
        let wrong = |error: &str| {
            Failure::usage(format!("{}: {error}", manifest_path.display())).because(Cause::Manifest)
        };
        let manifest: Manifest = toml::from_str(&text).map_err(|error| {
            let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or(&text);
            let line = before.matches('\n').count() + 1;
            let message = plain_error(error.message()).replace(", expected literal string", "");
            wrong(&format!("line {line}: {message}"))
        })?;
        let protocol = manifest.line_protocol(prefix).map_err(|error| wrong(&error))?;
        let env = manifest.environment().map_err(|error| wrong(&error))?;
        let folder = absolute(folder)?;
        let unreadable =
            |error: io::Error| Failure::operation(format!("{}: {error}", folder.display()));
        let opened = opened.map_err(unreadable)?;
        let files = folder_files(&opened).map_err(unreadable)?;
        let digest = digest_files_in(&opened, &files).map_err(unreadable)?;
        let command = manifest.command.with_slashes(&folder);
        let build = manifest
            .build
            .and_then(|Words(words)| shlex::try_join(words.iter().map(String::as_str)).ok());
        let file =
            match (resolve(&command[0], &folder).map_err(|it| of_manifest(it, &command)), &build) {
                (Ok(file), _) => file,
                (Err(_), Some(_)) if program == Program::Built => folder.join(&command[0]),
                (Err(_), _) if program == Program::Kept && is_elsewhere(&command[0]) => {
                    command[0].as_str().into()
                }
                (Err(failure), build) => {
                    let help = build
                        .as_ref()
                        .map(|build| format!("build it first: {build}; or add --build"));
                    return Err(failure.or_help(help));
                }
            };
        let named = || folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = manifest.name.or_else(named).unwrap_or_else(|| "agent".to_owned());
        // A build may still create them.
        let read = manifest.sandbox.paths(&manifest_path, &folder);
        let read = match read.collect::<Result<_, _>>() {
            Err(_) if program == Program::Built && build.is_some() => Vec::new(),
            Err(_) if program == Program::Kept => {
                manifest.sandbox.paths(&manifest_path, &folder).flatten().collect()
            }
            read => read?,
        };
        let own = vec![folder.clone()];
        let bytecode = bytecode_beside(&opened, &files);
        let launch = Some(Launch { file, command, folder, env });
        let games = manifest.games;
        let writes = manifest.sandbox.write;
        let rest = Self { has_manifest: true, bytecode, writes, ..Self::default() };
        Ok(Self { name, launch, digest, files, games, protocol, build, own, read, ..rest })
    }

    fn archive(file: &Path, prefix: Option<&str>, program: Program) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::usage(format!("{}: {error}", file.display()));
        // Named by the user, who may name it by a link.
        let folder = file.canonicalize().and_then(|file| unpacked(&file)).map_err(failed)?;
        Self::folder(&folder, prefix, program)
    }

    fn file(file: &Path) -> Result<Self, Failure> {
        let file = absolute(file)?;
        let digest = digest_file(&file)
            .map_err(|error| Failure::operation(format!("{}: {error}", file.display())))?;
        let stem = file.file_stem().unwrap_or(file.as_os_str());
        let name = stem.to_string_lossy().into_owned();
        let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
        let command = vec![file.to_string_lossy().into_owned()];
        let own = vec![file.clone()];
        let launch = Some(Launch { file, command, folder, ..Launch::default() });
        Ok(Self { name, launch, digest, own, ..Self::default() })
    }

    fn command_line(text: &str, base: &Path) -> Result<Self, Failure> {
        let words = shlex::split(text).ok_or_else(|| {
            Failure::usage(format!("unbalanced quotes in the command line {text:?}"))
        })?;
        if words.first().is_none_or(String::is_empty) {
            return Err(Failure::usage("empty AGENT").help(WHAT_AN_AGENT_IS));
        }
        let folder = absolute(base)?;
        let file = resolve(&words[0], &folder)?;
        let digest = digest_command(&words, &folder);
        let shown = words.iter().rfind(|word| folder.join(word).is_file()).unwrap_or(&words[0]);
        let stem = Path::new(shown).file_stem().unwrap_or(shown.as_ref());
        let name = stem.to_string_lossy().into_owned();
        let own = files_of_command(&words, &folder);
        let mut beside = own.iter().map(|file| file.with_file_name(BYTECODE_FOLDER));
        let bytecode = beside.find(|folder| folder.is_dir());
        let launch = Some(Launch { file, command: words, folder, ..Launch::default() });
        Ok(Self { name, launch, digest, own, bytecode, ..Self::default() })
    }
}

/// Whether the program of an agent is named by a full path that isn't the system's.
fn is_elsewhere(program: &str) -> bool {
    let Some(rest) = program.strip_prefix('/') else { return false };
    // Only the system's owner changes what is in `/`, such as the link `/bin`.
    let (top, below) = rest.split_once('/').unwrap_or((rest, ""));
    let top = Path::new("/").join(top);
    let goes_up = Path::new(below).components().any(|it| it == Component::ParentDir);
    goes_up || !is_system(&top.canonicalize().unwrap_or(top).join(below))
}

/// Reads the agent.toml of a folder. A link is refused: errors show what is in the file, and its author may not
/// be allowed to read what the link leads to.
fn read_manifest(folder: &OpenFolder) -> io::Result<String> {
    let name = OsStr::new(MANIFEST);
    if let Kind::Link(target) = folder.kind(name)?.0 {
        let target = target.display();
        return Err(io::Error::other(format!("it is a link to {target}: replace it with a copy")));
    }
    let (file, state) = folder.file(name)?;
    if state.length > MANIFEST_BYTES_MAX {
        return Err(too_large(MANIFEST_BYTES_MAX));
    }
    let bytes = read_all(file, MANIFEST_BYTES_MAX)?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8: save it as UTF-8"))
}

/// The parts of an AGENT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    /// The given name.
    pub name: Option<&'a str>,
    /// The given line protocol.
    pub protocol: Option<&'a str>,
    /// The rest.
    pub agent: &'a str,
    /// Its kind.
    pub kind: AgentKind,
}

/// Whether an AGENT, as it is written, is a program beside a copy of the Python kit.
pub fn has_kit(written: &str) -> bool {
    let words = shlex::split(Parts::of(written, Path::new("")).agent).unwrap_or_default();
    words.iter().map(Path::new).any(|word| {
        let folder = if word.is_dir() { word } else { word.parent().unwrap_or(word) };
        word.exists()
            && ["referee_kit.py", "referee_kit"].iter().any(|kit| folder.join(kit).exists())
    })
}

/// The kind of an AGENT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentKind {
    /// A built-in agent.
    BuiltIn,
    /// A package of the course.
    Package,
    /// A folder with agent.toml.
    Folder,
    /// A program file.
    File,
    /// A command line.
    Command,
}

impl<'a> Parts<'a> {
    /// Splits an AGENT whose paths are relative to `base`.
    pub fn of(text: &'a str, base: &Path) -> Self {
        let (name, agent) = split_name(text, base);
        let (protocol, agent) = split_protocol(agent, base);
        let path = base.join(agent);
        let kind = if agent.starts_with('@') {
            AgentKind::BuiltIn
        } else if package_of(agent).is_some() {
            AgentKind::Package
        } else if path.is_dir() {
            AgentKind::Folder
        } else if path.is_file() {
            AgentKind::File
        } else {
            AgentKind::Command
        };
        Self { name, protocol, agent, kind }
    }
}

/// The languages of scripts and their interpreters, by the ending of their names.
const INTERPRETERS: [(&str, &str, &str); 7] = [
    ("py", "Python", "python3"),
    ("js", "JavaScript", "node"),
    ("sh", "shell", "sh"),
    ("rb", "Ruby", "ruby"),
    ("pl", "Perl", "perl"),
    ("lua", "Lua", "lua"),
    ("jar", "Java", "java -jar"),
];

/// Returns the language and the interpreter of a script.
pub(super) fn interpreter(path: &Path) -> Option<(&'static str, &'static str)> {
    let ending = path.extension()?.to_str()?;
    let (_, language, program) = INTERPRETERS.into_iter().find(|(known, ..)| *known == ending)?;
    Some((language, program))
}

/// How much of a script's first line is shown, in bytes.
const SCRIPT_LINE_MAX: u64 = 256;

/// Returns the first line of a script, if it names an interpreter.
pub(super) fn first_line(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open_regular(file, u64::MAX).ok()?.take(SCRIPT_LINE_MAX).read_to_end(&mut bytes).ok()?;
    let line = bytes.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    Some(format!("#!{}", String::from_utf8_lossy(line).escape_debug()))
}

/// Returns the AGENT that starts a script which can't be started itself, with its interpreter; `None` if `text` is
/// anything else.
pub fn with_interpreter(text: &str) -> Option<String> {
    let Parts { name, protocol, agent, kind } = Parts::of(text, Path::new(""));
    let path = Path::new(agent);
    let (_, interpreter) = interpreter(path).filter(|_| kind == AgentKind::File)?;
    if path.metadata().is_ok_and(|file| file.permissions().mode() & 0o111 != 0) {
        return None;
    }
    let file = shlex::try_quote(agent).ok()?;
    let name = name.map_or_else(String::new, |name| format!("{name}="));
    let protocol = protocol.map_or_else(String::new, |protocol| format!("{protocol}:"));
    Some(format!("{name}{protocol}{interpreter} {file}"))
}

/// Splits `NAME=AGENT`; the whole text is the agent if it is a file, has no valid name, or begins with a program and an
/// argument, as `env DEPTH=3 ./bot` does.
fn split_name<'a>(text: &'a str, base: &Path) -> (Option<&'a str>, &'a str) {
    let plain = |name: &str| {
        let fits = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
        !name.is_empty() && name.chars().all(fits)
    };
    let is_command =
        |name: &str| name.split_once(' ').is_some_and(|(first, _)| program(first, base).is_ok());
    match text.split_once('=') {
        Some((name, agent)) if plain(name) && !base.join(text).exists() && !is_command(name) => {
            (Some(name), agent)
        }
        _ => (None, text),
    }
}

/// Splits `PROTOCOL:AGENT`; the whole text is the agent if it is a file.
fn split_protocol<'a>(text: &'a str, base: &Path) -> (Option<&'a str>, &'a str) {
    match text.split_once(':') {
        Some((name, agent)) if dialects().any(|(_, dialect)| dialect.name == name) => {
            if base.join(text).exists() { (None, text) } else { (Some(name), agent) }
        }
        _ => (None, text),
    }
}

fn built_in_names() -> impl Iterator<Item = &'static str> {
    sample_agents::BUILT_INS.iter().map(|it| it.name).chain(["human"])
}

/// Says what to correct about a command in agent.toml whose program is missing.
fn of_manifest(failure: Failure, command: &[String]) -> Failure {
    let is_for_shell = |word: &String| ["&&", "||", ";", "|", ">", "<"].contains(&word.as_str());
    if command.iter().any(is_for_shell) || ["cd", "source", "export"].contains(&command[0].as_str())
    {
        return failure.help(
            "no shell runs the command in agent.toml: name the program and its arguments, or write `command = [\"sh\", \"-c\", \
             \"..\"]`",
        );
    }
    match failure.help_text() {
        Some(WHAT_AN_AGENT_IS) => {
            failure.help("correct `command` in agent.toml: it runs in the agent's folder, and its program must be there or in PATH")
        }
        _ => failure,
    }
}

/// Finds a program: in the folder if the word has a slash or is a file there, else in PATH.
pub fn resolve(word: &str, folder: &Path) -> Result<PathBuf, Failure> {
    program(word, folder).map_err(|failure| {
        if built_in_names().any(|name| name == word) {
            return failure.help(format!("the built-in agent is @{word}"));
        }
        let near = similar_agent(word, folder).map(|near| format!("did you mean `{near}`?"));
        let source = Some(word).filter(|word| word.contains('/'));
        let source = source.and_then(|word| not_built(&folder.join(word)));
        failure.help(source.unwrap_or_else(|| WHAT_AN_AGENT_IS.to_owned())).or_help(near)
    })
}

/// Returns the program file, or the folder with agent.toml, whose path is most similar to a mistyped one.
fn similar_agent(word: &str, folder: &Path) -> Option<String> {
    let word = word.trim_end_matches('/');
    let (parent, mistyped) = word.rsplit_once('/').unwrap_or((".", word));
    let entries = folder.join(format!("{parent}/")).read_dir().ok()?.flatten();
    let is_agent = |path: &Path| {
        let mode = path.metadata().map_or(0, |it| it.permissions().mode());
        path.join("agent.toml").is_file() || path.is_file() && mode & 0o111 != 0
    };
    let names: Vec<String> = entries
        .filter(|entry| is_agent(&entry.path()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let near = nearest(mistyped, names.iter().map(String::as_str))?;
    Some(format!("{parent}/{near}"))
}

#[cfg(test)]
mod tests {
    use super::{AgentSpec, split_name};
    use std::path::Path;

    #[test]
    fn an_agent_may_have_a_name_before_it() {
        for (text, name, agent) in [
            ("@random", None, "@random"),
            ("alice=@random", Some("alice"), "@random"),
            ("a b=python3 x.py", Some("a b"), "python3 x.py"),
            ("sh bot.sh --depth=3", None, "sh bot.sh --depth=3"),
            ("env DEPTH=3 sh bot.sh", None, "env DEPTH=3 sh bot.sh"),
            ("sh=sh bot.sh", Some("sh"), "sh bot.sh"),
            ("./bot --depth=3", None, "./bot --depth=3"),
            ("=x", None, "=x"),
        ] {
            assert_eq!(split_name(text, Path::new("")), (name, agent), "{text}");
        }
    }

    /// The built-in agents of a game program read its rules.
    #[test]
    fn what_is_called_like_a_built_in_agent_is_none() {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("referee");
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(program, mode).unwrap();
        let mut manifests = vec!["command = [\"referee\", \"agent\", \"greedy\"]".to_owned()];
        let own = referee_process::own_program().display();
        manifests.push(format!("command = [\"{own}\", \"agent\", \"greedy\"]"));
        for manifest in manifests {
            std::fs::write(place.path().join("agent.toml"), &manifest).unwrap();
            let mut spec = AgentSpec::read_in(".", place.path()).unwrap();
            assert!(!spec.files().unwrap().is_built_in, "{manifest}");
            spec.launch.as_mut().unwrap().command[0] = "referee".to_owned();
            assert!(spec.built_in_agent().is_none(), "{manifest}");
        }
        let spec = AgentSpec::read_in("@greedy", place.path()).unwrap();
        assert!(spec.files().unwrap().is_built_in && spec.built_in_agent().is_some());
        let spec = AgentSpec::read_in("./referee agent greedy", place.path()).unwrap();
        assert!(spec.built_in_agent().is_none());
    }

    #[test]
    fn mistakes_have_a_hint() {
        for (text, message, help) in [
            ("@randm", "`randm`", "did you mean @random?"),
            ("@minimax:0", "1 to 9", ""),
            ("greedy", "no program `greedy`", "built-in agent is @greedy"),
            ("human", "no program `human`", "built-in agent is @human"),
            ("@me", "unknown built-in agent `me`", "a person plays as @human"),
            ("./missing", "no program `./missing`", "quoted command line"),
            ("/tmp", "agent.toml", "command ="),
            ("'", "unbalanced quotes", ""),
        ] {
            let failure = AgentSpec::read(text).expect_err(text);
            assert!(failure.to_string().contains(message), "{text}: {failure}");
            let hint = failure.help_text().unwrap_or_default();
            assert!(hint.contains(help), "{text}: {hint}");
        }
    }

    /// They would be 27 million folders.
    #[test]
    fn links_to_where_they_are_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("bot")).unwrap();
        for number in 0..300 {
            let link = folder.path().join(format!("bot/d{number}"));
            std::os::unix::fs::symlink(".", link).unwrap();
        }
        for agent in ["comp30024:./bot", "comp34111:./bot"] {
            assert!(AgentSpec::read_in(agent, folder.path()).is_err(), "{agent}");
        }
    }

    /// Errors in the file would show the keys of the one that it leads to.
    #[test]
    fn an_agent_toml_that_is_a_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("credentials");
        std::fs::write(&secret, "hidden_key = 1").unwrap();
        std::fs::create_dir(folder.path().join("bot")).unwrap();
        std::os::unix::fs::symlink(&secret, folder.path().join("bot/agent.toml")).unwrap();
        let failure = AgentSpec::read_in("bot", folder.path()).unwrap_err().to_string();
        assert!(failure.contains("it is a link to "), "{failure}");
        assert!(!failure.contains("hidden_key"), "{failure}");
    }
}
