//! Runs the program under test in a temporary folder and captures its output. Both end-to-end suites use it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "skipped tests are reported")]

pub mod broken_games;
pub mod contest;
pub mod family;
pub mod game_programs;
pub mod http;
pub mod mistakes;
pub mod serving;
pub mod small_referee;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use referee_games::Games;
use referee_match::transcript::{read, sent};
use referee_process::launcher::WEAKEST;
use referee_protocol::{Event, Level, Seat};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Returns the program under test, a shim around `referee::main`: in the folder above the running test's.
pub fn program() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let test = std::env::current_exe().unwrap();
        let program = test.parent().and_then(Path::parent).unwrap().join("referee-under-test");
        assert!(program.exists(), "no {}: run the tests with cargo", program.display());
        program.to_str().unwrap().to_owned()
    });
    &PROGRAM
}

/// Copies a folder without `__pycache__`.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|it| (it.path(), it.file_name())).unwrap();
        if path.is_file() {
            fs::copy(&path, to.join(&name)).unwrap();
        } else if name != "__pycache__" {
            copy_folder(&path, &to.join(&name));
        }
    }
}

/// The Python sample agent, relative to the root of the project.
const PYTHON_AGENT: &str = "sample-agents/python/random";
/// The timeout of every wait: only a hang takes longer.
const TIMEOUT: Duration = Duration::from_secs(600);
/// The timeout of long runs, as a multiple of [`TIMEOUT`].
const LONG: usize = 10;
/// A clock that no agent runs out of, even on a busy machine.
pub const AMPLE: [&str; 4] = ["--clock", "1h", "--start-time", "3m"];

/// Returns the options that give `play` such a clock unless `words` already set one.
pub fn clock_options(words: &[impl AsRef<OsStr>]) -> Vec<&'static str> {
    let has = |any: &[&str]| words.iter().any(|it| any.iter().any(|any| it.as_ref() == *any));
    let (clock, start) = AMPLE.split_at(2);
    let mut more = Vec::new();
    let mut commands =
        words.iter().map(AsRef::as_ref).filter(|it| !it.as_encoded_bytes().starts_with(b"-"));
    if commands.next() == Some(OsStr::new("play")) {
        more.extend(clock.iter().filter(|_| !has(&["--clock", "--move-time", "--preset"])));
        more.extend(start.iter().filter(|_| !has(&["--start-time"])));
    }
    more
}

/// Runs `work` for each index below `count`, `at_once` at a time.
pub fn in_parallel(at_once: usize, count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            let indices = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::SeqCst)));
            scope.spawn(|| indices.take_while(|&index| index < count).for_each(&work));
        }
    });
}

/// Converts JSON strings. Panics if a value is not a string.
pub fn strings(values: impl IntoIterator<Item = Value>) -> Vec<String> {
    values.into_iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Removes the fields with these names from a value, at any depth.
pub fn remove_fields(value: &mut Value, names: &[&str]) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !names.contains(&name.as_str()));
            fields.values_mut().for_each(|value| remove_fields(value, names));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| remove_fields(value, names)),
        _ => {}
    }
}

/// Returns the command lines of all processes, as seen from outside the agents' namespaces.
pub fn command_lines() -> impl Iterator<Item = (u32, Vec<String>)> {
    let pids = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line);
        Some((pid, line.split('\0').map(str::to_owned).collect()))
    })
}

/// Whether the program under test lacks `what`, because it is built for systems without a sandbox. Then
/// reports a skipped test.
pub fn lacks(what: &str) -> bool {
    let lacks = WEAKEST == Level::None;
    if lacks {
        println!("skipped: {what}: not where the referee has no sandbox");
    }
    lacks
}

/// Returns the state letter of a process, from /proc.
pub fn state(pid: u32) -> Option<char> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    line.rsplit(") ").next()?.chars().next()
}

/// Whether a process is stopped by a signal or frozen by its control group, of version 1 (state D) or 2.
pub fn is_stopped(pid: u32) -> bool {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let is_frozen = |group: &str| {
        let events = fs::read_to_string(format!("/sys/fs/cgroup{group}/cgroup.events"));
        events.is_ok_and(|events| events.contains("frozen 1"))
    };
    matches!(state(pid), Some('T' | 'D'))
        || groups.lines().filter_map(|line| line.strip_prefix("0::")).any(is_frozen)
}

/// Rebuilds the bytes sent to a seat, up to the request of a turn or all.
pub fn rebuild_input(dir: &TestDir, transcript: &str, seat: u8, turn: Option<u64>) -> String {
    let bytes = fs::read(dir.path(transcript)).unwrap();
    let mut reading = read(&bytes).unwrap();
    let events: Vec<Event> = reading.by_ref().collect();
    let bytes = sent(&reading.header, &Games::default(), Seat(seat), &events, turn).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Reads a golden transcript.
pub fn golden(name: &str) -> Vec<u8> {
    fs::read(root().join("tests/tests/transcripts").join(name)).unwrap()
}

/// Reports that a test is skipped because `what` is missing. Panics if skipping is forbidden.
#[track_caller]
pub fn skip(what: &str) {
    let forbidden = std::env::var_os("REFEREE_TESTS_FORBID_SKIP").is_some();
    assert!(!forbidden, "there is no {what}, and REFEREE_TESTS_FORBID_SKIP is set");
    println!("skipped: there is no {what}");
}

/// Returns the root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns the path of a file or folder of this name that tests of one run share, beside the program under
/// test.
pub fn scratch(name: &str) -> PathBuf {
    Path::new(program()).with_file_name("tmp").join(name)
}

/// Returns the Python sample agent as an AGENT.
pub fn python_agent() -> String {
    root().join(PYTHON_AGENT).display().to_string()
}

/// Returns the Python interpreter itself, not a wrapper script. Without Python, reports a skipped
/// test and returns `None`.
pub fn python() -> Option<&'static Path> {
    let found = find_python();
    if found.is_none() {
        skip("python3");
    }
    found
}

fn find_python() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let words = ["-c", "import sys; print(sys.executable)"];
        let asked = Command::new("python3").args(words).output().ok()?;
        let output = String::from_utf8(asked.stdout).ok()?;
        asked.status.success().then(|| PathBuf::from(output.trim()))
    });
    found.as_deref()
}

/// Returns the PATH with the folder of the Python interpreter first: wrapper scripts take longer to start
/// than most agents.
fn path() -> OsString {
    with_path(find_python().and_then(Path::parent).as_slice())
}

/// Returns a script of tests/tests/agents with arguments as an AGENT; `None` without Python.
pub fn script_agent(script: &str, arguments: &str) -> Option<String> {
    let file = root().join("tests/tests/agents").join(script);
    python().map(|python| format!("{} {} {arguments}", python.display(), file.display()))
}

/// A temporary folder in which the program runs.
#[derive(Debug)]
pub struct TestDir {
    folder: TempDir,
}

#[expect(clippy::new_without_default, reason = "it creates a folder")]
impl TestDir {
    /// Without a sandbox, whose self-test would take longer than most matches.
    pub fn new() -> Self {
        let dir = Self::sandboxed();
        dir.write(".config/referee/config.toml", "sandbox = \"none\"\n");
        dir
    }

    /// With the sandbox that the program chooses.
    pub fn sandboxed() -> Self {
        let dir = Self { folder: TempDir::with_prefix("referee-tests-").unwrap() };
        fs::create_dir(dir.path("tmp")).unwrap();
        dir
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        name.to_owned()
    }

    /// Writes an executable file and returns its path. A separate process writes it: a file that is
    /// open for writing here could be inherited by a process of another test, and executing it would
    /// fail with `ETXTBSY`.
    pub fn program(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(path);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{name} can't be written");
        format!("./{name}")
    }

    /// Returns a command that runs the program with these arguments in this folder. Matches get a
    /// long clock.
    pub fn command(&self, words: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(program());
        command.arg0("referee").args(words).args(clock_options(words));
        self.set_environment(&mut command);
        command
    }

    /// Sets the folder, `TMPDIR` and the environment, without variables that change what it does.
    pub fn set_environment(&self, command: &mut Command) {
        command.current_dir(self.folder.path()).env("TMPDIR", self.path("tmp"));
        command.env("XDG_CONFIG_HOME", self.path(".config")).env_remove("REFEREE_NO_CONFIG");
        command.env("PATH", path());
        for name in ["CLOCK", "BOARD", "COLOR", "LOG", "LOG_FORMAT"] {
            command.env_remove(format!("REFEREE_{name}"));
        }
        for (name, _) in std::env::vars_os() {
            // Options for the user's own server.
            if name.to_string_lossy().starts_with("NATS_") {
                command.env_remove(name);
            }
        }
        command
            .env_remove("NO_COLOR")
            .env_remove("COLUMNS")
            .env("LANG", "C.UTF-8")
            .env_remove("LC_ALL");
        if let Some(folder) = python().and_then(Path::parent) {
            command.env("PATH", with_path(&[folder]));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    }

    pub fn start(&self, words: &[impl AsRef<OsStr>]) -> Running {
        Running::start(self.command(words), None)
    }

    pub fn run(&self, words: &[impl AsRef<OsStr>]) -> RunResult {
        self.start(words).wait()
    }

    /// Runs the program after `change` has changed the command.
    pub fn run_with(
        &self,
        words: &[impl AsRef<OsStr>],
        change: impl FnOnce(&mut Command) -> &mut Command,
    ) -> RunResult {
        let mut command = self.command(words);
        change(&mut command);
        // It may run a compiler.
        Running::start(command, None).wait_long()
    }

    pub fn run_with_input(&self, words: &[impl AsRef<OsStr>], input: &str) -> RunResult {
        Running::start(self.command(words), Some(input.to_owned())).wait()
    }

    /// Runs a shell command line in which `referee` is the program under test.
    pub fn shell(&self, line: &str) -> RunResult {
        let bin = self.path("bin");
        if !bin.exists() {
            fs::create_dir(&bin).unwrap();
            std::os::unix::fs::symlink(program(), bin.join("referee")).unwrap();
        }
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        self.set_environment(&mut command);
        let python = python().and_then(Path::parent);
        let folders: Vec<&Path> = std::iter::once(bin.as_path()).chain(python).collect();
        command.env("PATH", with_path(&folders));
        Running::start(command, None).wait()
    }

    /// Runs `play --json` for one match, asserts exit code 0 and returns its output.
    pub fn play(&self, words: &[&str]) -> Value {
        let words: Vec<&str> = ["play"].into_iter().chain(words.iter().copied()).collect();
        self.run(&[&words[..], &["--json"]].concat()).code(0).json()
    }

    /// Plays a short match of Hex and records it in `x.jsonl`.
    pub fn short_match(&self, agents: [&str; 2]) {
        let words = ["hex", agents[0], agents[1], "--setup", "size=3", "--seed", "7"];
        self.play(&[&words[..], &["--out", "x.jsonl"]].concat());
    }

    /// Reads the events written to a transcript so far.
    pub fn events(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Reads the events of one type.
    pub fn events_of(&self, name: &str, kind: &str) -> Vec<Value> {
        let mut events = self.events(name);
        events.retain(|event| event["type"] == kind);
        events
    }

    /// Returns the stderr of a seat as recorded in a transcript.
    pub fn said(&self, transcript: &str, seat: u64) -> String {
        let said = self.events_of(transcript, "stderr").into_iter();
        strings(said.filter(|event| event["seat"] == seat).map(|it| it["text"].clone())).concat()
    }

    /// Returns the status that `verify` reports for a transcript.
    pub fn verify_status(&self, name: &str) -> String {
        let output = self.run(&["verify", "--json", name]).json();
        output["status"].as_str().unwrap().to_owned()
    }

    /// Asserts that no private folder of an agent is left.
    pub fn assert_tmp_is_empty(&self) {
        let left: Vec<_> = fs::read_dir(self.path("tmp")).unwrap().collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

fn with_path(folders: &[&Path]) -> OsString {
    let old = std::env::var_os("PATH").unwrap_or_default();
    let old = std::env::split_paths(&old);
    std::env::join_paths(folders.iter().map(|it| it.to_path_buf()).chain(old)).unwrap()
}

/// The running program, which is killed on drop. Threads read its output, so it never blocks on a
/// full pipe.
#[derive(Debug)]
pub struct Running {
    words: String,
    child: Child,
    stdout: PipeReader,
    stderr: PipeReader,
}

impl Running {
    pub fn start(mut command: Command, input: Option<String>) -> Self {
        let words = format!("{:?}", command.get_args().collect::<Vec<_>>());
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().unwrap();
        if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
            // The program may exit before it has read everything.
            std::thread::spawn(move || stdin.write_all(input.as_bytes()).ok());
        }
        let stdout = read_pipe(child.stdout.take().unwrap());
        let stderr = read_pipe(child.stderr.take().unwrap());
        Self { words, child, stdout, stderr }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn send(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid().cast_signed()), signal).unwrap();
    }

    /// Sends SIGKILL and waits.
    pub fn kill(self) -> RunResult {
        self.send(Signal::SIGKILL);
        self.wait()
    }

    /// Sends SIGTERM and waits.
    pub fn terminate(self) -> RunResult {
        self.send(Signal::SIGTERM);
        self.wait()
    }

    /// Waits until stderr contains `words`, and returns what was read so far.
    #[track_caller]
    pub fn wait_for_stderr(&self, words: &str) -> String {
        self.stderr.wait_for(words)
    }

    /// Waits until stdout contains `words`, and returns what was read so far.
    #[track_caller]
    pub fn wait_for_stdout(&self, words: &str) -> String {
        self.stdout.wait_for(words)
    }

    /// Returns whether the process has exited.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Like [`Self::wait`], for runs of many minutes.
    pub fn wait_long(mut self) -> RunResult {
        (0..LONG).any(|_| eventually(|| self.has_ended()));
        self.wait()
    }

    pub fn wait(mut self) -> RunResult {
        let words = std::mem::take(&mut self.words);
        let Some(status) = end_of(&mut self.child) else {
            let (stdout, stderr) = (self.stdout.so_far(), self.stderr.so_far());
            panic!("{words} doesn't exit\nstdout:\n{stdout}\nstderr:\n{stderr}");
        };
        let text = |pipe: &mut PipeReader| {
            pipe.thread.take().unwrap().join().unwrap();
            let bytes = std::mem::take(&mut *pipe.bytes.lock().unwrap());
            String::from_utf8(bytes).expect("what is printed is UTF-8")
        };
        let (stdout, stderr) = (text(&mut self.stdout), text(&mut self.stderr));
        RunResult { words, exit: status.code(), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
    }
}

/// The bytes read from a pipe so far, and the thread that reads it.
#[derive(Debug)]
struct PipeReader {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl PipeReader {
    #[track_caller]
    fn wait_for(&self, words: &str) -> String {
        let mut text = String::new();
        let found = eventually(|| {
            text = self.so_far();
            text.contains(words)
        });
        assert!(found, "no {words:?} in {text}");
        text
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }
}

fn read_pipe(mut pipe: impl Read + Send + 'static) -> PipeReader {
    let bytes = Arc::<Mutex<Vec<u8>>>::default();
    let shared = bytes.clone();
    let thread = std::thread::spawn(move || {
        let mut piece = [0; 4096];
        loop {
            let count = pipe.read(&mut piece).unwrap();
            if count == 0 {
                return;
            }
            shared.lock().unwrap().extend(&piece[..count]);
        }
    });
    PipeReader { bytes, thread: Some(thread) }
}

/// Waits for a process to exit; after the timeout kills it and returns `None`.
pub fn end_of(child: &mut Child) -> Option<ExitStatus> {
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

/// Waits until `happened` returns true; returns false after the timeout.
#[must_use]
pub fn eventually(mut happened: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + TIMEOUT;
    while Instant::now() < end {
        if happened() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// The exit code and the output of a run.
#[derive(Debug)]
pub struct RunResult {
    words: String,
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl RunResult {
    /// Asserts the exit code.
    #[track_caller]
    pub fn code(self, wanted: i32) -> Self {
        assert_eq!(self.exit, Some(wanted), "{}", self.describe());
        self
    }

    fn describe(&self) -> String {
        format!("{}\nstdout:\n{}\nstderr:\n{}", self.words, self.stdout, self.stderr)
    }

    /// Parses stdout as one JSON object.
    #[track_caller]
    pub fn json(&self) -> Value {
        let output = serde_json::from_str(&self.stdout);
        output.unwrap_or_else(|error| panic!("not one JSON object: {error}: {}", self.describe()))
    }

    /// Parses stdout as JSON Lines.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let output = self.stdout.lines().map(serde_json::from_str).collect::<Result<_, _>>();
        output.unwrap_or_else(|error| panic!("not JSON Lines: {error}: {}", self.describe()))
    }

    /// Asserts that stderr contains `words`.
    #[track_caller]
    pub fn stderr_has(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "no {words:?} in {}", self.describe());
        self
    }

    /// Asserts that stdout contains `words`.
    #[track_caller]
    pub fn stdout_has(self, words: &str) -> Self {
        assert!(self.stdout.contains(words), "no {words:?} in {}", self.describe());
        self
    }
}
