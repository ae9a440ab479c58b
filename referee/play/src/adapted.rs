//! Agents that were written for another program, and the adapter that plays for them.

use super::agent_file::{self, entries};
use super::agent_spec::AgentSpec;
use super::archives::{archive_stem, unpacked};
use super::digest::{digest_command, digest_file, digest_folder};
use nix::sys::signal::Signal;
use referee_process::agent::Launch;
use referee_process::files::{absolute, read_all};
use referee_process::launcher::Bytes;
use referee_process::open_folder::OpenFolder;
use referee_process::{Failure, own_program};
use referee_protocol::sanitize::sanitize;
use referee_protocol::{HeaderSeat, Limits};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// An adapter to the agents of a course.
#[derive(Debug)]
pub struct Adapter {
    /// Its name, the prefix of an AGENT.
    pub name: &'static str,
    /// The whole adapter, a program in Python.
    pub program: &'static str,
    /// The games of the course, one per line, the preset with each one's conditions, and its setup if that isn't the
    /// usual one.
    games: &'static str,
    /// Whether its agents play games of programs too.
    pub(super) plays_programs: bool,
    /// The folder of the course's program, beside an agent's package or the folder of all agents.
    pub course: &'static str,
    /// Whether agents name their own modules by the folders around them.
    pub names_folders: bool,
    /// The package that the folder of an agent is if that was handed in alone, and its modules don't say.
    alone: &'static str,
    /// Reads what follows the prefix.
    read: fn(&str, &Path) -> Result<Package, Failure>,
}

/// A program of an adapter: what all have in common, the course's package as a text, since few agents need it, and
/// how the agents of its games look.
macro_rules! program {
    ($course:literal, $forms:literal) => {
        concat!(
            include_str!("adapters/adapter.py"),
            "\n\n# The course's package, for agents that come without it.\nCOURSE = r'''",
            include_str!($course),
            "'''\n# How dataclasses look in JSON.\nFIELDS = r'''",
            include_str!("../../python/referee_kit/fields.py"),
            "'''\n\n",
            include_str!($forms),
            "\nif __name__ == \"__main__\":\n    main()\n"
        )
    };
}

/// All adapters.
pub static ADAPTERS: [Adapter; 2] = [
    Adapter {
        name: "comp30024",
        program: program!("adapters/comp30024/game.py", "adapters/comp30024/forms.py"),
        games: include_str!("adapters/comp30024/games.txt"),
        plays_programs: true,
        course: "referee",
        names_folders: false,
        alone: "agent",
        read: Package::read,
    },
    Adapter {
        name: "comp34111",
        program: program!("adapters/comp34111/course.py", "adapters/comp34111/forms.py"),
        games: include_str!("adapters/comp34111/games.txt"),
        plays_programs: false,
        course: "src",
        names_folders: true,
        alone: "agents.Group",
        read: agent_file::read,
    },
];

/// Returns the adapter that an AGENT names, and what follows its prefix.
pub fn package_of(agent: &str) -> Option<(&'static Adapter, &str)> {
    let (name, text) = agent.split_once(':')?;
    Some((ADAPTERS.iter().find(|adapter| adapter.name == name)?, text))
}

/// How an adapter exits when its agent has used more memory than the limit, as the course counted it.
pub(super) const MEMORY_STATUS: &str = "exit status 99";

/// What the processes of an adapted agent may use in addition, in MiB: Python itself and numpy, which the
/// course didn't count.
const MEMORY_SLACK_MB: u64 = 256;

/// Returns the limits on an agent's processes. The adapter of an `adapted` one counts memory itself.
pub(super) fn process_limits(limits: &Limits, adapted: bool) -> Limits {
    let slack_mb = if adapted { MEMORY_SLACK_MB } else { 0 };
    Limits { memory_mb: limits.memory_mb.saturating_add(slack_mb), ..limits.clone() }
}

/// Whether an adapter spoke for the agent at a recorded seat.
pub fn is_adapted(seat: &HeaderSeat) -> bool {
    seat.is_foreign() && seat.protocol.is_none()
}

/// Reads a package without running it.
const SURVEY_PROGRAM: &str = include_str!("adapters/survey.py");
/// How long all surveys of one reading may take, in seconds: they go after matches.
const SURVEY_SECONDS: u64 = 60;
/// The most that one prints, in bytes.
const SURVEY_BYTES_MAX: u64 = 1 << 20;

/// The variable with the Python that an adapter starts.
pub const PYTHON_VARIABLE: &str = "REFEREE_PYTHON";

/// The variable with an adapter as that Python has compiled it: `VERSION BYTECODE`. Compiling takes longer than all else
/// that an adapter does at its start.
pub const CODE_VARIABLE: &str = "REFEREE_ADAPTER_CODE";

/// Adapters as compiled, by their names and the Python.
static COMPILED: Mutex<BTreeMap<(&str, PathBuf), Arc<str>>> = Mutex::new(BTreeMap::new());

/// The modules of a package in which the adapter looks for the class, besides the package itself.
const CLASS_MODULES: [&str; 3] = ["program.py", "player.py", "agent.py"];
/// The module that a package itself is.
const INIT: &str = "__init__.py";
/// How far in a folder the only package is looked for.
const FOLDERS_DEEP: usize = 3;
/// In how many folders, at each depth.
pub(super) const FOLDERS_MAX: usize = 1000;
/// One of these is in it if it has the class: a definition, or an import by name.
const CLASS_WORDS: [&str; 3] = ["class ", "Agent", "Player"];
/// The names that the course set.
const CLASSES: [&str; 3] = ["class Agent", "class Player", "class ExamplePlayer"];
/// The largest module of which is read what it has.
const SOURCE_BYTES_MAX: u64 = 1 << 20;

/// The word of an adapter's command with which it refuses what the course's program refused.
pub(super) const STRICT: &str = "--strict";

/// Whether the adapter of a recorded seat refused what the course's program refused.
pub fn is_strict(seat: &HeaderSeat) -> bool {
    is_adapted(seat) && seat.command.last().is_some_and(|word| word == STRICT)
}

/// The syntax of such an AGENT.
const COMP30024_HELP: &str = "write comp30024:PACKAGE[:CLASS], where PACKAGE is a dotted name from \
                              this folder, or the path of a package's folder or file";

/// A Python package and where it is imported from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Package {
    /// The folder on `sys.path`.
    pub(super) folder: PathBuf,
    /// Its dotted name.
    pub(super) module: String,
    /// The class in it; `None` for the names that the course set.
    pub(super) class: Option<String>,
    /// Its own folder or file.
    pub(super) place: PathBuf,
    /// What else belongs to it, if anything.
    pub(super) more: Vec<PathBuf>,
    /// Where what it imports may be; `None`: anywhere below the folder.
    pub(super) imports: Option<Vec<PathBuf>>,
    /// The dotted name of the package that the folder itself is for its modules, if it was handed in without the
    /// folders around it.
    pub(super) inside: Option<String>,
}

/// What reading a package without running it shows.
struct Survey {
    /// The Python that ran it.
    python: PathBuf,
    /// The adapter as that has compiled it, if it could.
    code: Option<Arc<str>>,
    /// The packages and modules beside it that it imports.
    beside: Vec<PathBuf>,
    /// The package that its own imports mean, if that is further in; its dotted name.
    means: Option<String>,
    /// Whether its relative imports lead out of its outermost package.
    leads_out: bool,
    /// The package that its own imports take its folder for, if there is none of that dotted name.
    inside: Option<String>,
}

/// What the survey prints.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Printed {
    python: Option<PathBuf>,
    imports: Vec<String>,
    means: Option<String>,
    leads_out: bool,
    inside: Option<String>,
    broken: Option<String>,
    code: Option<String>,
}

/// Reads what follows the prefix of an adapter. Relative paths are relative to `base`.
pub(super) fn read(
    adapter: &'static Adapter,
    text: &str,
    base: &Path,
) -> Result<AgentSpec, Failure> {
    let (text, archive) = &in_archive(text, base)?;
    let mut package = (adapter.read)(text, base)?;
    package.check_link(&format!("{}:{text}", adapter.name))?;
    let began = Instant::now();
    let seconds = || SURVEY_SECONDS.saturating_sub(began.elapsed().as_secs()).max(1);
    let mut survey = package.survey(adapter, &python()?, seconds())?;
    if let Some(inner) = survey.means.take().and_then(|means| package.within(&means)) {
        package = inner;
        survey = package.survey(adapter, &survey.python, seconds())?;
    }
    if survey.leads_out
        && let Some(outer) = package.in_package_around()
    {
        package = outer;
        survey = package.survey(adapter, &survey.python, seconds())?;
    }
    if let Some(inside) = survey.inside.take().filter(|_| package.inside.is_none()) {
        package = package.handed_in_alone(&inside);
        survey = package.survey(adapter, &survey.python, seconds())?;
    }
    let whole = package.whole();
    let mut own = survey.beside;
    let mut reads_own = false;
    if let Some(imports) = &package.imports {
        let has = |path: &Path| imports.iter().any(|place| path.starts_with(place));
        own.retain(|path| package.inside.is_none() && has(path));
        reads_own = !has(&package.folder);
    }
    // It plays with the course's program that comes with it, if one does.
    own.extend(Some(package.folder.join(adapter.course)).filter(|course| course.is_dir()));
    own.append(&mut package.more);
    let outer = own.clone();
    own.retain(|path| !outer.iter().any(|outer| path != outer && path.starts_with(outer)));
    own.sort();
    own.dedup();
    own.retain(|path| *path != whole);
    own.push(whole);
    let digest = |path: &PathBuf| {
        let digest = if path.is_dir() { digest_folder(path) } else { digest_file(path) };
        digest.map_err(|error| Failure::operation(format!("{}: {error}", path.display())))
    };
    let digests: Vec<String> = own.iter().rev().map(digest).collect::<Result<_, _>>()?;
    let spec = package.spec();
    let words = ["referee", "adapter", adapter.name, "--run", &spec].map(str::to_owned);
    let launch = Launch {
        file: own_program().into(),
        command: words.to_vec(),
        folder: package.folder.clone(),
        ..Launch::default()
    };
    // The same files are different agents if another module or class plays.
    let identity: Vec<String> =
        [adapter.name.to_owned(), spec].into_iter().chain(digests).collect();
    // In the folder of a group there are several classes, or a file is called `agent`.
    let class = package.class.clone().filter(|_| adapter.names_folders);
    Ok(AgentSpec {
        name: class.or_else(|| archive.clone()).unwrap_or_else(|| package.name()),
        launch: Some(launch),
        digest: digest_command(&identity, Path::new("/")),
        games: adapter.games().map(|game| game.name.to_owned()).collect(),
        adapter: Some(adapter),
        own,
        writes: true,
        reads_own,
        inside: package.inside.map(|name| name.replace('.', "/").into()),
        python: Some(survey.python),
        code: survey.code,
        ..AgentSpec::default()
    })
}

/// Returns what follows the prefix with the folder to which an archive is unpacked instead of that archive, and the
/// archive's name without its ending.
fn in_archive(text: &str, base: &Path) -> Result<(String, Option<String>), Failure> {
    let (path, rest) = text.split_at(text.rfind(':').unwrap_or(text.len()));
    let file = base.join(path);
    let Some(stem) = archive_stem(&file).filter(|_| file.is_file()) else {
        return Ok((text.to_owned(), None));
    };
    // Named by the user, who may name it by a link.
    let folder = file.canonicalize().and_then(|file| unpacked(&file));
    let folder = folder.map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    Ok((format!("{}{rest}", folder.display()), Some(stem)))
}

/// Returns the adapter of an AGENT and the folder that its package is imported from, without reading the package; `base`
/// as in `read`. `None` if it names no package.
pub fn import_folder(agent: &str, base: &Path) -> Option<(&'static Adapter, PathBuf)> {
    let (adapter, text) = package_of(agent)?;
    (adapter.read)(text, base).ok().map(|package| (adapter, package.folder))
}

/// A game as a course plays it.
#[derive(Clone, Copy, Debug)]
pub struct CourseGame {
    name: &'static str,
    /// The name of the preset with the course's conditions.
    pub preset: &'static str,
    /// The fields of the setup, as `KEY=VALUE` separated by spaces, if it isn't the usual one.
    pub setup: Option<&'static str>,
}

impl CourseGame {
    /// Reads a line of `games.txt`.
    fn read(line: &'static str) -> Option<Self> {
        let mut words = line.splitn(3, ' ');
        Some(Self { name: words.next()?, preset: words.next()?, setup: words.next() })
    }

    /// Returns the game as a course plays it; `None` if none does.
    pub fn of(game: &str) -> Option<Self> {
        ADAPTERS.iter().flat_map(Adapter::games).find(|course| course.name == game)
    }
}

impl Adapter {
    fn games(&self) -> impl Iterator<Item = CourseGame> + use<> {
        self.games.lines().filter_map(CourseGame::read)
    }
}

/// Returns the variables with the Python that an adapter starts, and with its own code.
pub(super) fn variables<'a>(
    python: &'a Path,
    code: Option<&'a str>,
) -> impl Iterator<Item = Bytes> + use<'a> {
    let code = code.map(|code| Bytes::variable(CODE_VARIABLE, code));
    std::iter::once(Bytes::variable(PYTHON_VARIABLE, python)).chain(code)
}

/// Returns the Python that an adapter starts: that of the variable, which is known to be no script of pyenv,
/// else [`python`].
pub fn python_of_adapter() -> Result<PathBuf, Failure> {
    std::env::var_os(PYTHON_VARIABLE).map_or_else(python, |path| Ok(path.into()))
}

/// Returns the Python for agents: that of the virtual environment, else the first in PATH.
pub fn python() -> Result<PathBuf, Failure> {
    let environment = std::env::var_os("VIRTUAL_ENV").map(|folder| Path::new(&folder).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Whatever folder it is started in.
    let folders = environment.into_iter().chain(std::env::split_paths(&path));
    let mut folders = folders.filter_map(|folder| std::path::absolute(folder).ok());
    let found = folders.find_map(|folder| Some(folder.join("python3")).filter(|it| it.is_file()));
    found.ok_or_else(|| {
        Failure::usage("agents of courses need Python, but there is no `python3`").help(
            "install Python 3.10 or newer, or activate the virtual environment that the agent uses",
        )
    })
}

impl Package {
    fn read(text: &str, base: &Path) -> Result<Self, Failure> {
        let (path, class) = match text.rsplit_once(':') {
            Some((path, class)) => (path, Some(class)),
            None => (text, None),
        };
        if path.is_empty() || class.is_some_and(|class| !is_identifier(class)) {
            return Err(Failure::usage(format!("comp30024:{text} names no package and class"))
                .help(COMP30024_HELP));
        }
        let missing = |place: &Path| {
            Failure::usage(format!("comp30024:{text}: no package {}", place.display()))
                .help(COMP30024_HELP)
        };
        let class = class.map(str::to_owned);
        let named = base.join(path);
        let at_path = named.is_file() || Self::submitted(&named).is_some();
        if path.contains('/') || path.starts_with('.') || at_path {
            let place = absolute(&named).map_err(|_| missing(&named))?;
            let package = Self::at(place, class).ok_or_else(|| missing(&named))?;
            return package.check_modules(text);
        }
        let folder = absolute(base)?;
        let place = folder.join(path.replace('.', "/"));
        let candidates = [place.clone(), place.with_extension("py")];
        let found = candidates.into_iter().find(|it| it.is_dir() || it.is_file());
        let found = found.filter(|_| path.split('.').all(|part| !part.is_empty()));
        let place = found.ok_or_else(|| missing(&place))?;
        let package = if Self::submitted(&place).is_some() {
            Self::at(place.clone(), class).ok_or_else(|| missing(&place))?
        } else {
            Self {
                folder,
                module: path.to_owned(),
                class,
                place,
                more: Vec::new(),
                imports: None,
                inside: None,
            }
        };
        package.check_modules(text)
    }

    /// Returns the package in the folder of a whole submission: the folder contains `agent`, as the
    /// course required, and often the course's `referee`, but is no package itself.
    fn submitted(folder: &Path) -> Option<PathBuf> {
        let agent = folder.join("agent");
        (agent.is_dir() && !is_package(folder)).then_some(agent)
    }

    /// Returns the package at a path. Its folder is the first parent that is no package itself. No import
    /// statement can name a folder whose name is no identifier, so an `__init__.py` there is a stray one.
    fn at(place: PathBuf, class: Option<String>) -> Option<Self> {
        let place = Self::submitted(&place).unwrap_or(place);
        let place = if place.ends_with(INIT) { place.parent()?.to_owned() } else { place };
        if place.is_file() && place.extension().is_none_or(|ending| ending != "py") {
            return None;
        }
        let own = if place.is_file() { place.file_stem() } else { place.file_name() };
        let mut names = vec![own?.to_str()?.to_owned()];
        let mut folder = place.parent()?;
        if names[0].contains('.') {
            return None;
        }
        while let Some(name) = package_name(folder) {
            names.push(name.to_owned());
            folder = folder.parent()?;
        }
        names.reverse();
        let folder = folder.to_owned();
        Some(Self {
            folder,
            module: names.join("."),
            class,
            place,
            more: Vec::new(),
            imports: None,
            inside: None,
        })
    }

    /// Returns it as imported from the folder around the package with this dotted name. `None` if that
    /// isn't further in.
    fn within(&self, name: &str) -> Option<Self> {
        let (above, inner) = name.rsplit_once('.')?;
        let folder = self.folder.join(above.replace('.', "/"));
        let rest = self.module.strip_prefix(above).map(|rest| rest.trim_start_matches('.'));
        let (module, place) = match rest.filter(|rest| !rest.is_empty()) {
            Some(rest) => (rest, self.place.clone()),
            None => (inner, folder.join(inner)),
        };
        place.starts_with(&folder).then(|| Self {
            module: module.to_owned(),
            class: self.class.clone(),
            folder,
            place,
            more: self.more.clone(),
            imports: self.imports.clone(),
            inside: None,
        })
    }

    /// Returns it as a module of the folder around it, if that is a package; as its name is no identifier, only relative
    /// imports can mean it.
    fn in_package_around(&self) -> Option<Self> {
        let name = self.folder.file_name()?.to_str().filter(|name| !name.contains('.'))?;
        is_package(&self.folder).then_some(())?;
        Some(Self {
            folder: self.folder.parent()?.to_owned(),
            module: format!("{name}.{}", self.module),
            class: self.class.clone(),
            place: self.place.clone(),
            more: self.more.clone(),
            imports: self.imports.clone(),
            inside: None,
        })
    }

    /// Returns it as a module of the package with this dotted name, which its own folder was before it was handed in.
    pub(super) fn handed_in_alone(self, inside: &str) -> Self {
        let whole = self.whole();
        let folder = if whole.is_dir() { whole } else { self.folder };
        let rest = self.place.strip_prefix(&folder).unwrap_or(Path::new("")).with_extension("");
        let rest = rest.iter().map(|name| name.to_string_lossy().into_owned());
        let module = std::iter::once(inside.to_owned()).chain(rest).collect::<Vec<_>>().join(".");
        let inside = Some(inside.to_owned());
        Self { folder, module, more: Vec::new(), imports: Some(Vec::new()), inside, ..self }
    }

    /// Checks that it is not a link to another agent's package.
    fn check_link(&self, agent: &str) -> Result<(), Failure> {
        let found = self.place.canonicalize().unwrap_or_else(|_| self.place.clone());
        if found.starts_with(&self.folder) || found == self.place {
            return Ok(());
        }
        let (place, found) = (self.place.display().to_string(), found.display().to_string());
        let (place, found) = (sanitize(&place), sanitize(&found));
        Err(Failure::usage(format!("{agent}: {place} is a link to {found}"))
            .help("replace the link with a copy"))
    }

    /// Checks that a package's folder has a module in which an agent can be; else takes the only package in it, or of
    /// several `agent`, as a team hands it in, perhaps with a stray `__init__.py`.
    fn check_modules(self, text: &str) -> Result<Self, Failure> {
        if self.place.is_file() || holds_agent(&self.place) {
            return Ok(self);
        }
        let mut packages = Vec::new();
        let mut names = Vec::new();
        let mut folders = vec![self.place.clone()];
        for depth in 0..FOLDERS_DEEP {
            let inside = folders.iter().flat_map(|folder| entries(folder));
            let inside: Vec<PathBuf> = inside.filter(|path| !path.ends_with("referee")).collect();
            let is_inner = |path: &&PathBuf| holds_agent(path) || Self::submitted(path).is_some();
            let inner = |path: &PathBuf| Some(path.strip_prefix(&self.place).ok()?.to_owned());
            packages.extend(inside.iter().filter(is_inner).filter_map(inner));
            if depth == 0 {
                let is_module = |path: &&PathBuf| path.extension().is_some_and(|it| it == "py");
                names.extend(inside.iter().filter(is_module).filter_map(inner));
            }
            if !packages.is_empty() {
                break;
            }
            folders = inside.into_iter().filter(|path| is_folder(path)).take(FOLDERS_MAX).collect();
        }
        if packages.is_empty() {
            let has_class = |name: &&PathBuf| source_has(&self.place.join(name), &CLASSES);
            packages.extend(names.iter().filter(has_class).cloned());
        }
        let only = packages.iter().find(|path| packages.len() == 1 || *path == Path::new("agent"));
        if let Some(only) = only
            && let Some(inner) = Self::at(self.place.join(only), self.class.clone())
        {
            return inner.check_modules(text);
        }
        if packages.is_empty() && self.place.join(INIT).is_file() {
            return Ok(self);
        }
        let place = self.place.display();
        let failure = Failure::usage(match names.as_slice() {
            [] if packages.is_empty() => format!("comp30024:{text}: {place} has no Python module"),
            _ => format!(
                "comp30024:{text}: {place} is not a package with an agent: it has no program.py, and no class in \
                 __init__.py"
            ),
        });
        let inner = packages.into_iter().chain(names).next();
        let path = text.split(':').next().unwrap_or(text).trim_end_matches('/');
        let meant = |inner: PathBuf| format!("did you mean comp30024:{path}/{}?", inner.display());
        Err(failure.or_help(inner.map(meant)))
    }

    /// Reads the package with a Python. Fails if its import would meet a syntax error, or if that takes too much CPU time;
    /// that it takes longer than `seconds` is the machine's fault.
    fn survey(&self, adapter: &Adapter, python: &Path, seconds: u64) -> Result<Survey, Failure> {
        // Isolated: nothing in the folder and none of the user's modules runs.
        let mut command = Command::new(python);
        let inside = self.inside.as_deref().unwrap_or_default();
        let words = [self.module.as_str(), inside, adapter.alone];
        command.args(["-I", "-S", "-W", "ignore", "-c", SURVEY_PROGRAM]).arg(&self.folder);
        command.args(words).arg(seconds.to_string());
        let compiled = || COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        let code = compiled().get(&(adapter.name, python.to_owned())).cloned();
        if code.is_none() {
            command.arg(adapter.program);
        }
        // What finds the interpreter may look at the working directory (pyenv, asdf), and has no sandbox.
        let output = output_of(command.current_dir("/")).map_err(|error| {
            if error.kind() == io::ErrorKind::TimedOut {
                let text = format!("{} could not be read in {SURVEY_SECONDS} s", self.name());
                return Failure::machine(text).help("the machine is too busy: try again later");
            }
            Failure::machine(format!("{} can't be started: {error}", python.display()))
        })?;
        let Some(output) = output else {
            let text = format!("{}: its modules are too large to be read", self.name());
            return Err(Failure::usage(text)
                .help("move large tables from its sources to files that it reads"));
        };
        // Nothing is known about a package at which Python itself failed.
        let printed: Printed = serde_json::from_slice(&output).unwrap_or_default();
        if let Some(what) = printed.broken {
            return Err(Failure::usage(format!("{}: {}", self.name(), sanitize(&what))));
        }
        let ran = printed.python.filter(|path| path.is_file()).unwrap_or_else(|| python.to_owned());
        let new: Option<Arc<str>> = printed.code.map(Arc::from);
        if let Some(code) = &new {
            for python in [python, &ran] {
                compiled().insert((adapter.name, python.to_owned()), code.clone());
            }
        }
        let place = |name: &String| {
            let place = self.folder.join(name.replace('.', "/"));
            if place.is_dir() { place } else { place.with_extension("py") }
        };
        // Names of modules can't lead out of the folder.
        let is_inner =
            |name: &&String| !name.split('.').any(|part| part.is_empty() || part.contains('/'));
        Ok(Survey {
            python: ran,
            code: new.or(code),
            beside: printed.imports.iter().filter(is_inner).map(place).collect(),
            means: printed.means,
            leads_out: printed.leads_out,
            inside: printed.inside,
        })
    }

    /// Returns the outermost package that it is in, which contains all its own imports.
    fn whole(&self) -> PathBuf {
        if self.inside.is_some() {
            return self.folder.clone();
        }
        let packages = self.place.ancestors().skip(1);
        let packages =
            packages.take_while(|folder| *folder != self.folder && folder.join(INIT).is_file());
        packages.last().unwrap_or(&self.place).to_owned()
    }

    /// `package`, or `package:Class`.
    pub(super) fn spec(&self) -> String {
        match &self.class {
            Some(class) => format!("{}:{class}", self.module),
            None => self.module.clone(),
        }
    }

    /// Returns the module's name or, as every submission of COMP30024 is called `agent`, its folder's.
    fn name(&self) -> String {
        let own = self.module.rsplit('.').next().unwrap_or(&self.module);
        let above = self.place.parent().and_then(Path::file_name);
        match above {
            Some(folder) if own == "agent" => folder.to_string_lossy().into_owned(),
            _ => own.to_owned(),
        }
    }
}

/// Runs a survey and returns what it prints; `None` if it took too much CPU time, or printed too much. Nothing else that
/// it writes is read.
fn output_of(command: &mut Command) -> io::Result<Option<Vec<u8>>> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut survey = command.spawn()?;
    // Closed when this program ends.
    let _held = survey.stdin.take();
    let printed = survey.stdout.take().map(|output| read_all(output, SURVEY_BYTES_MAX));
    let printed = printed.and_then(Result::ok);
    if printed.is_none() {
        survey.kill().ok();
    }
    let status = survey.wait()?;
    // pyenv starts Python from a shell, which exits with the number of its signal.
    let ended_by = status.signal().or(status.code().map(|code| code - 128));
    if ended_by == Some(Signal::SIGALRM as i32) {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(printed.filter(|_| ended_by != Some(Signal::SIGKILL as i32)))
}

/// Whether a Python statement can write a name.
pub(super) fn is_identifier(name: &str) -> bool {
    let first = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    first && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns the name of a folder that is a package.
fn package_name(folder: &Path) -> Option<&str> {
    let name = folder.file_name()?.to_str()?;
    (is_identifier(name) && is_package(folder)).then_some(name)
}

/// Whether a folder is a package. The course's program is beside packages: an `__init__.py` there is a stray one.
fn is_package(folder: &Path) -> bool {
    let course = folder.join("referee/game");
    folder.join(INIT).is_file() && !course.is_dir() && !course.with_extension("py").is_file()
}

/// Whether an agent's class can be in a package itself.
fn holds_agent(package: &Path) -> bool {
    let init = package.join(INIT);
    let has_class = |path: &PathBuf| source_has(path, &CLASSES);
    CLASS_MODULES.iter().any(|name| package.join(name).is_file())
        || source_has(&init, &CLASS_WORDS)
        || source_has(&init, &["import *"]) && entries(package).iter().any(has_class)
}

/// Whether it is a folder and no link, which may lead back to where it is.
pub(super) fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Whether one of these words is in a module.
pub(super) fn source_has(path: &Path, words: &[&str]) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let opened = || OpenFolder::open(folder)?.file(name);
    let source = opened().and_then(|(file, _)| read_all(file, SOURCE_BYTES_MAX));
    source.is_ok_and(|source| {
        let source = String::from_utf8_lossy(&source);
        words.iter().any(|word| source.contains(word))
    })
}

#[cfg(test)]
mod tests;
