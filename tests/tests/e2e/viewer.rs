//! The terminal viewer in a pseudo-terminal: keys in, screens out. Tests wait for text on the screen.

use crate::support::contest;
use crate::support::state;
use crate::support::{TestDir, clock_options, end_of, eventually, program, python};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, tcgetattr};
use nix::unistd::{Pid, ttyname};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

/// Plays the first legal action; from its second turn on it waits for a file.
const AGENT: &str = r#"
import json, os, sys, time
turns = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "ready", "want": ["actions"]}
    elif message["type"] == "turn":
        turns += 1
        print("turn", turns, "of", os.getpid(), file=sys.stderr, flush=True)
        while turns > 1 and not os.path.exists(sys.argv[1]):
            time.sleep(0.05)
        answer = {"type": "action", "action": message["actions"][0]}
    else:
        continue
    print(json.dumps(answer), flush=True)
"#;
/// The file that it waits for, in a separate folder that is made readable for it.
const GATE: &str = "gate/open";

/// The program in a pseudo-terminal.
pub(crate) struct Terminal {
    child: Child,
    screen: Arc<Mutex<vt100::Parser>>,
    keys: File,
    /// Kept open, so the last output isn't lost.
    inside: OwnedFd,
}

impl Terminal {
    pub(crate) fn start(dir: &TestDir, words: &[&str], (lines, columns): (u16, u16)) -> Self {
        let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(program()).args(words).args(clock_options(words));
        dir.set_environment(&mut command);
        command.env("TERM", "xterm-256color");
        let end = || Stdio::from(pty.slave.try_clone().unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let screen =
            Arc::new(Mutex::new(vt100::Parser::new(size_of(lines), size_of(columns), 1000)));
        let mut outside = File::from(pty.master);
        let (keys, shown) = (outside.try_clone().unwrap(), screen.clone());
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = outside.read(&mut piece) {
                shown.lock().unwrap().process(&piece[..count]);
            }
        });
        Self { child, screen, keys, inside: pty.slave }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn resize(&self, lines: u16, columns: u16) {
        let name = ttyname(&self.inside).unwrap();
        self.screen.lock().unwrap().screen_mut().set_size(size_of(lines), size_of(columns));
        let size = [lines.to_string(), columns.to_string()];
        let mut stty = Command::new("stty");
        stty.arg("-F").arg(name).args(["rows", &size[0], "cols", &size[1]]);
        assert!(stty.status().unwrap().success());
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    fn is_full(&self) -> bool {
        self.screen.lock().unwrap().screen().alternate_screen()
    }

    /// Waits until the screen shows all of these.
    #[track_caller]
    pub(crate) fn shows(&self, words: &[&str]) {
        let all = || words.iter().all(|word| self.text().contains(word));
        assert!(eventually(all), "no {words:?} on\n{}", self.text());
    }

    #[track_caller]
    fn hides(&self, word: &str) {
        assert!(eventually(|| !self.text().contains(word)), "{word:?} on\n{}", self.text());
    }

    /// Asserts that the terminal's modes are restored.
    fn is_restored(&self) -> bool {
        let settings = tcgetattr(&self.inside).unwrap();
        let modes = settings.local_flags;
        let tab_ends_lines = settings.control_chars.contains(&b'\t');
        let shown = self.screen.lock().unwrap();
        modes.contains(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG)
            && !tab_ends_lines
            && !shown.screen().alternate_screen()
            && !shown.screen().hide_cursor()
    }

    /// Waits until the program exits and the remaining screen shows all of these.
    #[track_caller]
    pub(crate) fn ends(mut self, code: i32, words: &[&str]) {
        let status = end_of(&mut self.child);
        assert_eq!(status.and_then(|status| status.code()), Some(code), "{}", self.text());
        assert!(eventually(|| self.is_restored()), "{}", self.text());
        self.shows(words);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A failed test leaves the program running.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn size_of(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

/// Returns the agent that waits in its second turn; `None` without Python.
fn waiting(dir: &TestDir) -> Option<String> {
    let python = python()?;
    dir.write("agent.py", AGENT);
    let (agent, gate) = (dir.path("agent.py"), dir.path(GATE));
    fs::create_dir_all(gate.parent().unwrap()).unwrap();
    Some(format!("{} {} {}", python.display(), agent.display(), gate.display()))
}

/// Records a match that the second agent loses by a crash.
fn lost(dir: &TestDir) {
    dir.short_match(["@first", "@crash"]);
}

#[test]
fn a_replay_steps_back_from_the_end_and_shows_stderr() {
    let dir = TestDir::new();
    lost(&dir);
    let mut terminal = Terminal::start(&dir, &["replay", "x.jsonl"], (24, 80));
    // The end, the reason, and the last stderr line of the loser.
    terminal.shows(&[
        "@crash crashed",
        "@first wins",
        "1/1",
        "Left: back",
        "?: keys",
        "crashing at turn 1",
    ]);
    assert!(terminal.is_full());
    terminal.press("ss");
    terminal.shows(&["@first sent", "\"type\":\"ready\""]);
    // The lines of the end follow those of the last ply.
    terminal.press(&"j".repeat(40));
    terminal.shows(&["received", "\"type\":\"over\""]);
    terminal.press("\x1b[D");
    terminal.shows(&["0/1", "\"type\":\"hello\"", "@first (black) to move"]);
    terminal.press("?");
    terminal.shows(&["go to a ply", "goal edge"]);
    terminal.press("?sg1\r");
    terminal.shows(&["1/1", "@crash crashed"]);
    terminal.press("q");
    terminal.ends(0, &[]);
}

#[test]
fn a_replay_adapts_to_the_terminal_size() {
    let dir = TestDir::new();
    lost(&dir);
    let terminal = Terminal::start(&dir, &["replay", "x.jsonl", "--turn", "0"], (24, 80));
    terminal.shows(&["1/1", "info  lines"]);
    terminal.resize(15, 50);
    terminal.shows(&["start [a1] @first wins"]);
    terminal.resize(8, 29);
    terminal.shows(&["30 columns"]);
    terminal.resize(40, 120);
    terminal.shows(&["@first wins", "f: flip"]);
    kill(Pid::from_raw(terminal.child.id().cast_signed()), Signal::SIGTERM).unwrap();
    terminal.ends(143, &[]);
}

#[test]
fn a_replay_can_be_stopped_continued_and_interrupted() {
    let dir = TestDir::new();
    lost(&dir);
    let mut terminal = Terminal::start(&dir, &["replay", "x.jsonl"], (24, 80));
    terminal.shows(&["@crash crashed"]);
    let pid = terminal.child.id();
    terminal.press("\x1a");
    assert!(eventually(|| state(pid) == Some('T')));
    assert!(eventually(|| terminal.is_restored()));
    kill(Pid::from_raw(pid.cast_signed()), Signal::SIGCONT).unwrap();
    assert!(eventually(|| terminal.is_full()));
    terminal.shows(&["@crash crashed"]);
    terminal.press("\x03");
    terminal.ends(130, &[]);
}

#[test]
fn a_growing_transcript_is_followed() {
    let dir = TestDir::new();
    lost(&dir);
    let whole = fs::read_to_string(dir.path("x.jsonl")).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let played = lines.iter().position(|line| line.contains("\"type\":\"played\"")).unwrap();
    dir.write("y.jsonl", lines[..played].join("\n") + "\n");
    let mut terminal = Terminal::start(&dir, &["replay", "y.jsonl"], (24, 80));
    terminal.shows(&["live", "@first thinks", "0/0"]);
    let append = |lines: &[&str]| {
        let mut file = File::options().append(true).open(dir.path("y.jsonl")).unwrap();
        file.write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
    };
    append(&lines[played..=played]);
    terminal.shows(&["1/1", "a1"]);
    terminal.press("h");
    terminal.shows(&["0/1", "End: live"]);
    append(&lines[played + 1..]);
    terminal.shows(&["0/1", "over"]);
    terminal.press("\x1b[F");
    terminal.shows(&["1/1", "@crash crashed"]);
    terminal.press("\x1b");
    terminal.ends(0, &[]);
}

#[test]
fn without_a_terminal_it_is_printed() {
    let dir = TestDir::new();
    lost(&dir);
    dir.run(&["replay", "x.jsonl"]).code(0).stdout_has("turn 0: @first a1");
    let terminal = Terminal::start(&dir, &["replay", "x.jsonl", "--print"], (60, 80));
    terminal.shows(&["turn 0: @first a1", "@crash crashed"]);
    terminal.ends(0, &[]);
}

#[test]
fn a_running_match_can_be_viewed() {
    let dir = TestDir::new();
    let Some(agent) = waiting(&dir) else { return };
    let words = ["play", "hex", "@first", &agent, "--setup", "size=3", "--out", "x.jsonl"];
    let mut terminal = Terminal::start(&dir, &words, (30, 100));
    // It opens by itself.
    terminal.shows(&["live", "thinks", "3/3", "b: close"]);
    terminal.press("h");
    terminal.shows(&["2/3", "turn 1 of", "End: live"]);
    terminal.press("b");
    terminal.shows(&["b: watch"]);
    assert!(!terminal.is_full());
    terminal.press("b");
    terminal.shows(&["3/3"]);
    dir.write(GATE, "");
    terminal.shows(&["over", "the match is over", "wins: it connected its two sides"]);
    terminal.press("\x1b[D");
    terminal.hides("the match is over");
    terminal.press("q");
    terminal.ends(0, &["wins: it connected its two sides", "transcript: x.jsonl"]);
    assert_eq!(dir.verify_status("x.jsonl"), "ok");
}

#[test]
fn an_untouched_viewer_closes_at_the_end_of_the_match() {
    let dir = TestDir::new();
    let Some(agent) = waiting(&dir) else { return };
    let words = ["play", "hex", "@first", &agent, "--setup", "size=3", "--out", "x.jsonl"];
    let terminal = Terminal::start(&dir, &words, (30, 100));
    terminal.shows(&["live", "thinks", "3/3"]);
    assert!(terminal.is_full());
    dir.write(GATE, "");
    terminal.ends(0, &["wins: it connected its two sides", "seat 0  black", "transcript: x.jsonl"]);
}

#[test]
fn a_match_without_a_transcript_says_so() {
    let dir = TestDir::new();
    let Some(agent) = waiting(&dir) else { return };
    let words = ["play", "hex", "@first", &agent, "--setup", "size=3", "--no-transcript"];
    let mut terminal = Terminal::start(&dir, &words, (30, 100));
    terminal.shows(&["b: watch"]);
    terminal.press("b");
    terminal.shows(&["no match with a transcript is running", "b goes back"]);
    terminal.press("\x03");
    terminal.ends(130, &[]);
}

#[test]
fn a_running_contest_can_be_viewed_and_interrupted() {
    let dir = TestDir::new();
    let Some(agent) = waiting(&dir) else { return };
    contest::write(&dir, &[&agent, "@first"], "rounds = 3\njobs = 2\n");
    let words = ["contest", "run", "c.toml", "--out", "d"];
    let mut terminal = Terminal::start(&dir, &words, (60, 100));
    terminal.shows(&["b: watch", "0/6"]);
    terminal.press("\r");
    terminal.shows(&["0 of 6 games played"]);
    terminal.press("b");
    terminal.shows(&["game 0", "live", "thinks", "Tab: next match"]);
    terminal.press("\t");
    terminal.shows(&["game 1", "live", "thinks"]);
    terminal.press("h");
    terminal.shows(&["End: live"]);
    terminal.press("q");
    terminal.shows(&["b: watch", "0/6"]);
    assert!(!terminal.is_full());
    terminal.press("b");
    terminal.shows(&["game 0", "thinks"]);
    terminal.press("\x03");
    terminal.shows(&["finishing 2 games"]);
    assert!(terminal.is_full());
    dir.write(GATE, "");
    terminal.ends(130, &["resume: referee contest resume d", "finishing "]);
}
