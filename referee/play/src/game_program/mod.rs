//! Games whose rules are programs: `game.toml` is read, and the program is started and asked what it is.
//!
//! A loaded program stays until [`end_all`]: its games may be anywhere. The same folder is loaded once.

mod direct;
mod host;
mod inside;
mod kit;
mod manifest;

pub use self::direct::Direct;
use self::host::{Host, HostRules};
pub use self::host::{NO_ANSWER, QUOTED, Said, UNREADABLE, limit_waiting_for_found};
pub use self::inside::load_inside;
pub use self::kit::kit_files;
use self::manifest::GameManifest;
pub use self::manifest::check_name;
use crate::agent_spec::{AgentSpec, resolve};
use crate::digest::{digest_files_in, folder_files};
use referee_games::GameKind;
use referee_games::program::{Program, RulesFailure};
use referee_process::Failure;
use referee_process::agent::Launch;
use referee_process::files::{read_all, read_regular, too_large};
use referee_process::launcher::Reach;
use referee_process::lock::lock;
use referee_process::open_folder::OpenFolder;
use referee_process::sandbox::reach::{SharedRules, reachable};
use referee_process::sandbox::{Depth, SandboxRequest, choose};
use referee_protocol::{Level, Limits, plain_error};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// The file in a game's folder that says how its program is started.
pub const MANIFEST: &str = "game.toml";
/// The folder with recorded games in a game's folder, for its check.
pub const RECORDED_GAMES: &str = "games";
/// The largest game.toml, in bytes.
const MANIFEST_BYTES_MAX: u64 = 64 << 10;
/// The largest file with rules that an agent gets a copy of, in bytes.
const RULES_BYTES_MAX: u64 = 16 << 20;
/// The longest answer of a program, in bytes: 200 plies of a large board with everything. What is read of it can take
/// thirty times as much.
const ANSWER_BYTES_MAX: u64 = 16 << 20;
/// The same for a program that was found in a contest's folder, which somebody else may have made.
const FOUND_ANSWER_BYTES_MAX: u64 = 4 << 20;
/// The most time for an answer, and the most memory, of such a program.
const FOUND_ANSWER_MAX: Duration = Duration::from_secs(5);
const FOUND_MEMORY_MB_MAX: u64 = 256;

/// What may be used by the program of a game.
#[derive(Clone, Copy, Debug)]
struct RulesLimits {
    /// The time for an answer.
    answer: Duration,
    /// The time for each move in the request besides.
    ply: Duration,
}

/// A game program that can be started.
#[derive(Clone, Debug)]
struct GameProgram {
    /// Its name and how it is started.
    spec: AgentSpec,
    /// The revision of the rules.
    revision: u32,
    time: RulesLimits,
    limits: Limits,
    /// Whether nobody has named it.
    is_found: bool,
}

/// Who chose a game program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The person who runs the referee named its folder, and so trusts its author.
    ByName,
    /// It lies beside what is read, such as a copy in a contest's folder, which may come from anyone: it is started only
    /// where a sandbox holds malice, and may read nothing besides its folder.
    ByPlace,
}

/// A program that was loaded: its folder, the digest of its files, what it is, and its processes.
struct Loaded {
    folder: PathBuf,
    digest: String,
    chosen: Chosen,
    kind: GameKind,
    host: Host,
    /// What it reads besides the kit.
    reach: Reach,
}

impl Loaded {
    /// Whether it is this program. One that was named serves also where it lies.
    fn is(&self, program: &GameProgram, chosen: Chosen) -> bool {
        self.folder == program.spec.own[0]
            && self.digest == program.spec.digest
            && (self.chosen == chosen || self.chosen == Chosen::ByName)
    }
}

static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());

/// The programs that have not said yet what they are.
static STARTING: Mutex<Vec<HostRules>> = Mutex::new(Vec::new());

/// Whether a GAME is a path: one with a slash, as `./hex`, or `.` or `..`.
pub fn is_path(game: &str) -> bool {
    game.contains('/') || game == "." || game == ".."
}

/// Loads the game in a folder. Its program runs in the strongest sandbox that works on this machine.
pub fn load(folder: &Path, chosen: Chosen) -> Result<GameKind, Failure> {
    let (program, at_least) = match chosen {
        Chosen::ByName => (GameProgram::read(folder)?, None),
        Chosen::ByPlace => {
            let mut program = GameProgram::read_in_contest(folder)?;
            program.spec.granted.clear();
            program.spec.read.clear();
            program.bound();
            (program, Some(Level::Confined))
        }
    };
    if let Some(known) = lock(&LOADED).iter().find(|it| it.is(&program, chosen)) {
        return Ok(known.kind);
    }
    // Nobody waits for a program that takes long to say what it is, except who wants this one.
    let (folder, digest) = (program.spec.own[0].clone(), program.spec.digest.clone());
    let (name, revision) = (program.spec.name.clone(), program.revision);
    let files = program.spec.files();
    let reach = files.map(|files| reachable(&files, &SharedRules::default()));
    let reach = reach.map(|it| it.reach(&folder)).unwrap_or_default();
    let failed = |failure: RulesFailure| {
        let folder = folder.display();
        Failure::operation(format!("{folder}: the rules of {name} failed: {failure}"))
            .help(format!("`referee game check {folder}` shows what is wrong with them"))
    };
    let place = folder.clone();
    let sandbox = move || {
        let request = SandboxRequest { at_least, ..SandboxRequest::default() };
        choose(&request, Depth::Quick).map_err(|failure| match chosen {
            Chosen::ByName => failure,
            Chosen::ByPlace => {
                let folder = place.display();
                Failure::machine(format!("{folder}: a game program that lies in a contest's folder is not started: {failure}"))
                    .help(format!("if you trust its author, name it: --rules {folder}"))
            }
        })
    };
    let (host, rules) = Host::start(program.clone(), sandbox)?;
    lock(&STARTING).push(rules.clone());
    let described = Box::new(rules.clone());
    let described = Program::describe(described, (&name, revision), folder.clone(), digest.clone());
    lock(&STARTING).retain(|it| !it.is(&rules));
    let described = match described {
        Ok(described) => described,
        Err(failure) => {
            host.end();
            return Err(failed(failure));
        }
    };
    let mut loaded = lock(&LOADED);
    if let Some(known) = loaded.iter().find(|it| it.is(&program, chosen)) {
        // Somebody else was faster.
        let known = known.kind;
        drop(loaded);
        host.end();
        return Ok(known);
    }
    let kind = GameKind::of_program(Box::leak(Box::new(described)));
    loaded.push(Loaded { folder, digest, chosen, kind, host, reach });
    Ok(kind)
}

/// Lets an agent read what the program of this game reads, so that it can start the program itself.
pub(crate) fn grant(kind: GameKind, reach: &mut Reach) {
    let loaded = lock(&LOADED);
    let program = |kind: GameKind| kind.program().map(std::ptr::from_ref);
    for known in loaded.iter().filter(|it| program(it.kind) == program(kind)) {
        reach.read.extend_from_slice(&known.reach.read);
        reach.list.extend_from_slice(&known.reach.list);
    }
}

/// Whether the program of this game was named, and is not one that lies where it was found.
pub(crate) fn is_named(kind: GameKind) -> bool {
    let program = |kind: GameKind| kind.program().map(std::ptr::from_ref);
    let loaded = lock(&LOADED);
    loaded.iter().any(|it| program(it.kind) == program(kind) && it.chosen == Chosen::ByName)
}

/// Ends the processes of all game programs. Call it before the referee exits.
pub fn end_all() {
    for rules in std::mem::take(&mut *lock(&STARTING)) {
        rules.end();
    }
    let all = std::mem::take(&mut *lock(&LOADED));
    for loaded in all {
        loaded.host.end();
    }
}

/// Returns how the program of the game in a folder is started, its files and their digest, without starting anything.
pub fn spec_of(folder: &Path) -> Result<AgentSpec, Failure> {
    GameProgram::read(folder).map(|program| program.spec)
}

/// Returns the file with the rules, relative to the game's folder, if they are a program in Python with the kit. Others can't
/// be executed by an agent: they would begin to read its stdin.
pub fn python_rules(folder: &Path) -> Result<Option<String>, Failure> {
    let spec = GameProgram::read(folder)?.spec;
    let launch = spec.launch.iter().find(|launch| launch.command.len() == 2);
    let is_python = |word: &str| {
        Path::new(word)
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"python"))
    };
    let rules = launch.filter(|it| is_python(&it.command[0])).map(|it| it.command[1].clone());
    let uses_kit = |rules: &String| {
        let text = read_regular(&folder.join(rules), RULES_BYTES_MAX).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().map(str::trim_start).any(|line| {
            ["import referee_kit", "from referee_kit"].iter().any(|start| line.starts_with(start))
        })
    };
    let rules = rules.filter(|rules| spec.files.iter().any(|file| file == Path::new(rules)));
    Ok(rules.filter(uses_kit))
}

impl GameProgram {
    fn missing(folder: &Path, error: &io::Error) -> Failure {
        Failure::usage(format!("no game in {}: {error}", folder.display()))
            .help("a GAME is a name from `referee games`, or the path of a folder with game.toml")
    }

    fn read(folder: &Path) -> Result<Self, Failure> {
        let place = folder.canonicalize().map_err(|error| Self::missing(folder, &error))?;
        Self::read_canonical(&place, folder)
    }

    /// Reads the copy of a program in a contest's folder. Who has put it there may put a link in its place: only the
    /// contest's folder may be one.
    fn read_in_contest(copy: &Path) -> Result<Self, Failure> {
        let inside = || Some((copy.parent()?.file_name()?, copy.file_name()?));
        let (Some((rules, digest)), Some(contest)) = (inside(), copy.ancestors().nth(2)) else {
            return Self::read(copy);
        };
        let contest = contest.canonicalize().map_err(|error| Self::missing(copy, &error))?;
        Self::read_canonical(&contest.join(rules).join(digest), copy)
    }

    /// Reads the program in a folder, by its canonical path. It may read that folder, whatever others exchange meanwhile.
    /// `shown` is its path in errors.
    fn read_canonical(folder: &Path, shown: &Path) -> Result<Self, Failure> {
        let path = shown.join(MANIFEST);
        let opened =
            OpenFolder::open_canonical(folder).map_err(|error| Self::missing(shown, &error))?;
        let text = read_manifest(&opened).map_err(|error| {
            let text = match error.kind() {
                io::ErrorKind::NotFound => format!("{} has no {MANIFEST}", shown.display()),
                _ => format!("{}: {error}", path.display()),
            };
            Failure::usage(text).help(
                "a game's folder needs a `game.toml` with `name = \"..\"` and `command = [\"program\", ..]`; \
                 `referee game new NAME` makes one",
            )
        })?;
        let wrong = |error: &str| Failure::usage(format!("{}: {error}", path.display()));
        let manifest: GameManifest = toml::from_str(&text).map_err(|error| {
            let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or(&text);
            let line = before.matches('\n').count() + 1;
            wrong(&format!("line {line}: {}", plain_error(error.message())))
        })?;
        manifest.check().map_err(|error| wrong(&error))?;
        let folder = folder.to_owned();
        let unreadable =
            |error: io::Error| Failure::operation(format!("{}: {error}", folder.display()));
        let mut files = folder_files(&opened).map_err(unreadable)?;
        // Games that are kept for its check don't change the rules.
        files.retain(|file| !file.starts_with(RECORDED_GAMES));
        let digest = digest_files_in(&opened, &files).map_err(unreadable)?;
        let read: Vec<_> = manifest.sandbox.paths(&path, &folder).collect::<Result<_, _>>()?;
        let command = manifest.command.with_slashes(&folder);
        let file = resolve(&command[0], &folder)?;
        let env = manifest.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let limits = &manifest.limits;
        let spec = AgentSpec {
            name: manifest.name,
            launch: Some(Launch { file, command, folder: folder.clone(), env }),
            digest,
            files,
            own: vec![folder],
            // The author of the game is trusted by whoever names it.
            granted: read.clone(),
            read,
            has_manifest: true,
            ..AgentSpec::default()
        };
        let time = RulesLimits {
            answer: Duration::from_millis(limits.answer_ms),
            ply: Duration::from_millis(limits.ply_ms),
        };
        let limits = Limits {
            memory_mb: limits.memory_mb,
            line_bytes: ANSWER_BYTES_MAX,
            ..Limits::default()
        };
        Ok(Self { spec, revision: manifest.rules, time, limits, is_found: false })
    }

    /// Lowers what it asks for to what a program may use that nobody has named.
    fn bound(&mut self) {
        self.is_found = true;
        self.time.answer = self.time.answer.min(FOUND_ANSWER_MAX);
        self.time.ply = self.time.ply.min(FOUND_ANSWER_MAX / 20);
        self.limits.memory_mb = self.limits.memory_mb.min(FOUND_MEMORY_MB_MAX);
        self.limits.line_bytes = FOUND_ANSWER_BYTES_MAX;
    }
}

/// Reads the game.toml of a folder. A link is not followed.
fn read_manifest(folder: &OpenFolder) -> io::Result<String> {
    let (file, state) = folder.file(OsStr::new(MANIFEST))?;
    if state.length > MANIFEST_BYTES_MAX {
        return Err(too_large(MANIFEST_BYTES_MAX));
    }
    String::from_utf8(read_all(file, MANIFEST_BYTES_MAX)?)
        .map_err(|_| io::Error::other("not UTF-8: save it as UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::{FOUND_ANSWER_BYTES_MAX, FOUND_MEMORY_MB_MAX, GameProgram, MANIFEST};
    use std::fs;
    use std::time::Duration;

    /// Its author may exchange it for a link at any time; what it may read would then be of somebody else.
    #[test]
    fn a_copy_in_a_contest_is_no_link() {
        let place = tempfile::tempdir().unwrap();
        let text = "name = \"nim\"\ncommand = [\"sh\", \"rules.sh\"]\n";
        for folder in ["private", "contest/rules/own"] {
            fs::create_dir_all(place.path().join(folder)).unwrap();
            fs::write(place.path().join(folder).join(MANIFEST), text).unwrap();
            fs::write(place.path().join(folder).join("rules.sh"), "").unwrap();
        }
        let link = |to: &str, at: &str| {
            std::os::unix::fs::symlink(place.path().join(to), place.path().join(at)).unwrap();
        };
        link("private", "contest/rules/link");
        link("contest", "other");
        let found = |copy: &str| GameProgram::read_in_contest(&place.path().join(copy));
        let own = found("contest/rules/own").unwrap().spec.own;
        assert_eq!(own, [place.path().canonicalize().unwrap().join("contest/rules/own")]);
        assert_eq!(found("other/rules/own").unwrap().spec.own, own);
        assert!(found("contest/rules/link").is_err());
        assert!(GameProgram::read(&place.path().join("contest/rules/link")).is_ok());
        link("contest/rules", "contest/more");
        assert!(found("contest/more/own").is_err());
    }

    #[test]
    fn a_program_that_was_found_may_use_less() {
        let folder = tempfile::tempdir().unwrap();
        let text = "name = \"nim\"\ncommand = [\"sh\", \"rules.sh\"]\n[limits]\nanswer_ms = 600000\nmemory_mb = 100000\n";
        fs::write(folder.path().join(MANIFEST), text).unwrap();
        fs::write(folder.path().join("rules.sh"), "").unwrap();
        let mut program = GameProgram::read(folder.path()).unwrap();
        assert_eq!(
            (program.time.answer, program.limits.memory_mb),
            (Duration::from_secs(600), 100_000)
        );
        program.bound();
        assert_eq!(program.time.answer, Duration::from_secs(5));
        let limits = (program.limits.memory_mb, program.limits.line_bytes);
        assert_eq!(limits, (FOUND_MEMORY_MB_MAX, FOUND_ANSWER_BYTES_MAX));
    }
}
