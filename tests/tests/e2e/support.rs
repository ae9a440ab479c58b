//! The program under test, run in a folder of its own, and what came of it.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The shim around `referee::main`.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_referee-under-test");
/// The sample agent in Python, from the root of the project.
const PYTHON_AGENT: &str = "sample-agents/python/random";
/// So long that only something that hangs takes longer.
const PATIENCE: Duration = Duration::from_secs(180);
/// How many times as long is waited for what takes many minutes.
const LONG: usize = 10;
/// A clock that no agent runs out of, on however busy a machine.
pub(crate) const AMPLE: [&str; 4] = ["--clock", "1h", "--start-time", "3m"];

/// What gives `play` such a clock, as far as the words don't say themselves how much time there is.
pub(crate) fn time_for(words: &[impl AsRef<OsStr>]) -> Vec<&'static str> {
    let has = |any: &[&str]| words.iter().any(|it| any.iter().any(|any| it.as_ref() == *any));
    let (clock, start) = AMPLE.split_at(2);
    let mut more = Vec::new();
    let mut commands =
        words.iter().map(AsRef::as_ref).filter(|it| !it.as_encoded_bytes().starts_with(b"-"));
    if commands.next() == Some(OsStr::new("play")) && !has(&["--preset"]) {
        more.extend(clock.iter().filter(|_| !has(&["--clock", "--move-time"])));
        more.extend(start.iter().filter(|_| !has(&["--start-time"])));
    }
    more
}

/// Does it for each index below `count`, so many at once.
pub(crate) fn in_parallel(at_once: usize, count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            let indices = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::SeqCst)));
            scope.spawn(|| indices.take_while(|&index| index < count).for_each(&work));
        }
    });
}

/// Values that are all texts.
pub(crate) fn texts(values: impl IntoIterator<Item = Value>) -> Vec<String> {
    values.into_iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Takes the fields of these names out of a value, wherever they are.
pub(crate) fn leave_out(value: &mut Value, names: &[&str]) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !names.contains(&name.as_str()));
            fields.values_mut().for_each(|value| leave_out(value, names));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| leave_out(value, names)),
        _ => {}
    }
}

/// The words of the command lines of all processes, as everybody sees them and not as agents do, who
/// may be in a namespace of their own.
pub(crate) fn command_lines() -> impl Iterator<Item = (u32, Vec<String>)> {
    let pids = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line);
        Some((pid, line.split('\0').map(str::to_owned).collect()))
    })
}

/// The bytes of a transcript that was recorded once.
pub(crate) fn golden(name: &str) -> Vec<u8> {
    fs::read(root().join("tests/tests/transcripts").join(name)).unwrap()
}

/// What isn't here, if that is so: a line that says so, unless that is forbidden.
#[track_caller]
pub(crate) fn skip(what: &str) {
    let forbidden = std::env::var_os("REFEREE_TESTS_FORBID_SKIP").is_some();
    assert!(!forbidden, "there is no {what}, and REFEREE_TESTS_FORBID_SKIP is set");
    println!("skipped: there is no {what}");
}

/// The root of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The sample agent in Python, as an AGENT.
pub(crate) fn python_agent() -> String {
    root().join(PYTHON_AGENT).display().to_string()
}

/// The interpreter itself, not a script that looks for one; `None`, and a line that says so, where
/// there is no Python and the tests that need it may be left out.
pub(crate) fn python() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let words = ["-c", "import sys; print(sys.executable)"];
        let asked = Command::new("python3").args(words).output().ok()?;
        let told = String::from_utf8(asked.stdout).ok()?;
        asked.status.success().then(|| PathBuf::from(told.trim()))
    });
    if found.is_none() {
        skip("python3");
    }
    found.as_deref()
}

/// One of the scripts in tests/tests/agents with its arguments, as an AGENT; `None` without Python.
pub(crate) fn scripted(script: &str, arguments: &str) -> Option<String> {
    let file = root().join("tests/tests/agents").join(script);
    python().map(|python| format!("{} {} {arguments}", python.display(), file.display()))
}

/// A folder to work in.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { folder: TempDir::with_prefix("referee-tests-").unwrap() };
        fs::create_dir(place.path("tmp")).unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        name.to_owned()
    }

    /// A file that can be executed. Another process writes it: what is open here for writing is open
    /// too in whatever another test starts meanwhile, for a moment, and nobody can execute it then.
    pub(crate) fn program(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(path);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{name} can't be written");
        format!("./{name}")
    }

    /// The program with these words, and for a match with ample time. Its temporary folder is `tmp` here, and its environment has
    /// nothing of the caller's that changes what it does.
    pub(crate) fn command(&self, words: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.arg0("referee").args(words).args(time_for(words));
        self.settle(&mut command);
        command
    }

    pub(crate) fn settle(&self, command: &mut Command) {
        command.current_dir(self.folder.path()).env("TMPDIR", self.path("tmp"));
        for name in ["REFEREE_CLOCK", "REFEREE_BOARD", "REFEREE_COLOR", "REFEREE_LOG", "COLUMNS"] {
            command.env_remove(name);
        }
        for (name, _) in std::env::vars_os() {
            // The caller's own server is none of ours.
            if name.to_string_lossy().starts_with("NATS_") {
                command.env_remove(name);
            }
        }
        command.env_remove("NO_COLOR").env("LANG", "C.UTF-8").env_remove("LC_ALL");
        if let Some(folder) = python().and_then(Path::parent) {
            command.env("PATH", with_path(&[folder]));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    }

    pub(crate) fn start(&self, words: &[impl AsRef<OsStr>]) -> Running {
        Running::start(self.command(words), None)
    }

    pub(crate) fn run(&self, words: &[impl AsRef<OsStr>]) -> Ran {
        self.start(words).wait()
    }

    /// The same after a change to how it is started.
    pub(crate) fn run_with(
        &self,
        words: &[impl AsRef<OsStr>],
        change: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Ran {
        let mut command = self.command(words);
        change(&mut command);
        Running::start(command, None).wait()
    }

    pub(crate) fn run_with_input(&self, words: &[impl AsRef<OsStr>], input: &str) -> Ran {
        Running::start(self.command(words), Some(input.to_owned())).wait()
    }

    /// A line as a person types it into a shell in which `referee` is the program under test.
    pub(crate) fn shell(&self, line: &str) -> Ran {
        let bin = self.path("bin");
        if !bin.exists() {
            fs::create_dir(&bin).unwrap();
            std::os::unix::fs::symlink(PROGRAM, bin.join("referee")).unwrap();
        }
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        self.settle(&mut command);
        let python = python().and_then(Path::parent);
        let folders: Vec<&Path> = std::iter::once(bin.as_path()).chain(python).collect();
        command.env("PATH", with_path(&folders));
        Running::start(command, None).wait()
    }

    /// `play --json` of a single match that is to end with exit code 0.
    pub(crate) fn play(&self, words: &[&str]) -> Value {
        let words: Vec<&str> = ["play"].into_iter().chain(words.iter().copied()).collect();
        self.run(&[&words[..], &["--json"]].concat()).code(0).json()
    }

    /// A short match of Hex, recorded in `x.jsonl`.
    pub(crate) fn short_match(&self, agents: [&str; 2]) {
        let words = ["hex", agents[0], agents[1], "--setup", "size=3", "--seed", "7"];
        self.play(&[&words[..], &["--out", "x.jsonl"]].concat());
    }

    /// The events of a transcript, as far as it is written.
    pub(crate) fn events(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Those of one type.
    pub(crate) fn events_of(&self, name: &str, kind: &str) -> Vec<Value> {
        let mut events = self.events(name);
        events.retain(|event| event["type"] == kind);
        events
    }

    /// What a seat wrote to its stderr in the match of a transcript.
    pub(crate) fn said(&self, transcript: &str, seat: u64) -> String {
        let said = self.events_of(transcript, "stderr").into_iter();
        texts(said.filter(|event| event["seat"] == seat).map(|it| it["text"].clone())).concat()
    }

    /// What `verify` says of a transcript.
    pub(crate) fn verified(&self, name: &str) -> String {
        let told = self.run(&["verify", "--json", name]).json();
        told["status"].as_str().unwrap().to_owned()
    }

    /// No private folder of an agent is left.
    pub(crate) fn assert_tidy(&self) {
        let left: Vec<_> = fs::read_dir(self.path("tmp")).unwrap().collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

fn with_path(folders: &[&Path]) -> std::ffi::OsString {
    let old = std::env::var_os("PATH").unwrap_or_default();
    let old = std::env::split_paths(&old);
    std::env::join_paths(folders.iter().map(|it| it.to_path_buf()).chain(old)).unwrap()
}

/// The program while it runs. Its output is taken in all the time, so that it never waits for it.
pub(crate) struct Running {
    words: String,
    child: Child,
    stdout: Taken,
    stderr: Taken,
}

impl Running {
    pub(crate) fn start(mut command: Command, input: Option<String>) -> Self {
        let words = format!("{:?}", command.get_args().collect::<Vec<_>>());
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().unwrap();
        if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
            // Nobody has to read all of it.
            std::thread::spawn(move || stdin.write_all(input.as_bytes()).ok());
        }
        let stdout = take_in(child.stdout.take().unwrap());
        let stderr = take_in(child.stderr.take().unwrap());
        Self { words, child, stdout, stderr }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid().cast_signed()), signal).unwrap();
    }

    /// Waits until stderr has these words; what it has by then.
    #[track_caller]
    pub(crate) fn complained(&self, words: &str) -> String {
        self.stderr.wait_for(words)
    }

    /// The same of stdout.
    #[track_caller]
    pub(crate) fn printed(&self, words: &str) -> String {
        self.stdout.wait_for(words)
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// The same as [`Self::wait`] for what takes many minutes.
    pub(crate) fn wait_for_long(mut self) -> Ran {
        (0..LONG).any(|_| eventually(|| self.has_ended()));
        self.wait()
    }

    pub(crate) fn wait(mut self) -> Ran {
        let words = self.words.clone();
        let Some(status) = end_of(&mut self.child) else {
            panic!("{words} doesn't come to an end");
        };
        let text = |taken: Taken| {
            taken.thread.join().unwrap();
            let bytes = std::mem::take(&mut *taken.bytes.lock().unwrap());
            String::from_utf8(bytes).expect("what is printed is UTF-8")
        };
        Ran { words, exit: status.code(), stdout: text(self.stdout), stderr: text(self.stderr) }
    }
}

/// What came through a pipe so far.
struct Taken {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Taken {
    #[track_caller]
    fn wait_for(&self, words: &str) -> String {
        let mut text = String::new();
        let told = eventually(|| {
            text = String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned();
            text.contains(words)
        });
        assert!(told, "no {words:?} in {text}");
        text
    }
}

fn take_in(mut pipe: impl Read + Send + 'static) -> Taken {
    let bytes = Arc::<Mutex<Vec<u8>>>::default();
    let taken = bytes.clone();
    let thread = std::thread::spawn(move || {
        let mut piece = [0; 4096];
        loop {
            let count = pipe.read(&mut piece).unwrap();
            if count == 0 {
                return;
            }
            taken.lock().unwrap().extend(&piece[..count]);
        }
    });
    Taken { bytes, thread }
}

/// How a process ends; one that doesn't is killed.
pub(crate) fn end_of(child: &mut Child) -> Option<ExitStatus> {
    let mut status = None;
    let ended = eventually(|| {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    if !ended {
        child.kill().unwrap();
    }
    status
}

/// Waits for something; false if it doesn't happen.
#[must_use]
pub(crate) fn eventually(mut happened: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if happened() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    words: String,
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The exit code is this one.
    #[track_caller]
    pub(crate) fn code(self, wanted: i32) -> Self {
        assert_eq!(self.exit, Some(wanted), "{}", self.told());
        self
    }

    fn told(&self) -> String {
        format!("{}\nstdout:\n{}\nstderr:\n{}", self.words, self.stdout, self.stderr)
    }

    /// Stdout as one JSON object.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let told = serde_json::from_str(&self.stdout);
        told.unwrap_or_else(|error| panic!("not one JSON object: {error}: {}", self.told()))
    }

    /// Stdout as one JSON object a line.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let told = self.stdout.lines().map(serde_json::from_str).collect::<Result<_, _>>();
        told.unwrap_or_else(|error| panic!("not JSON Lines: {error}: {}", self.told()))
    }

    /// Stderr has these words.
    #[track_caller]
    pub(crate) fn complains(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "no {words:?} in {}", self.told());
        self
    }

    /// Stdout has these words.
    #[track_caller]
    pub(crate) fn prints(self, words: &str) -> Self {
        assert!(self.stdout.contains(words), "no {words:?} in {}", self.told());
        self
    }
}
