//! Submissions in which names are exchanged as fast as possible while they are read, built, copied, checked and
//! played: nothing outside of them is read for them, played as them, or written to.
//!
//! Each step runs once. `REFEREE_RACE_SECONDS=30 cargo e2e-full exchanged` repeats each for so long.

use crate::support::contest::AMPLE;
use crate::support::{TestDir, lacks, python};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What is in a file of the organiser's.
const SECRET: &str = "hidden_key = \"of the organiser\"\n";
/// What another program says if it is played.
const OTHER: &str = "played another program";
/// What the build makes.
const MADE: &str = "made by the build";

/// The agent of the README, which shows its data.
const AGENT: &str = r#"import json, random, sys

for name in ("data", "deep/data", "out/made"):
    try:
        sys.stderr.write(open(name).read())
    except OSError as error:
        sys.stderr.write(f"{error}\n")

def send(message):
    print(json.dumps(message), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        send({"type": "ready", "want": ["actions"]})
    elif message["type"] == "turn":
        send({"type": "action", "action": random.choice(message["actions"])})
    elif message["type"] == "over":
        break
"#;

/// A folder with submissions, and what an attacker would like to reach from them.
fn place() -> TestDir {
    let dir = TestDir::sandboxed();
    let manifest = "command = [\"python3\", \"bot.py\"]\ngames = [\"hex\"]\n";
    dir.write("private/secret.toml", SECRET);
    dir.write("private/target/made", "untouched");
    for (folder, manifest) in [
        ("bots/amy", manifest.to_owned()),
        ("bots/mallory", format!("{manifest}build = [\"sh\", \"make.sh\"]\n")),
        ("private/solution", manifest.to_owned()),
    ] {
        dir.write(&format!("{folder}/agent.toml"), manifest);
        dir.write(&format!("{folder}/bot.py"), AGENT);
    }
    let other = format!("import sys\nsys.exit({OTHER:?})\n");
    dir.write("private/solution/bot.py", other);
    let make = format!("mkdir -p out/deep\necho {MADE} > out/made\necho {MADE} > out/deep/made\n");
    dir.write("bots/mallory/make.sh", make);
    dir.write("bots/mallory/data", "its own\n");
    dir.write("bots/mallory/deep/data", "its own\n");
    dir.write("bots/mallory/out/deep/old", "its own\n");
    // What each name is exchanged for, in a folder that isn't searched for submissions.
    let links = [
        ("mallory", "private/solution"),
        ("data", "private/secret.toml"),
        ("deep", "private"),
        ("out", "private/target"),
        ("agent.toml", "private/secret.toml"),
        ("bot.py", "private/solution/bot.py"),
    ];
    fs::create_dir(dir.path("links")).unwrap();
    for (name, target) in links {
        symlink(dir.path(target), dir.path("links").join(name)).unwrap();
    }
    for format in ["round-robin", "ladder"] {
        dir.write(
            &format!("{format}.toml"),
            format!(
                "format = \"{format}\"\nseed = 7\nsubmissions = \"bots\"\nagents = [\"@first\"]\n{AMPLE}\
                 policy.on_broken = \"leave-out\"\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
            ),
        );
    }
    dir
}

/// Exchanges two names until it is told to stop; leaves them as they were.
fn exchange(one: &Path, other: &Path, stop: &AtomicBool) {
    let swap = || renameat2(AT_FDCWD, one, AT_FDCWD, other, RenameFlags::RENAME_EXCHANGE);
    let mut is_swapped = false;
    while !stop.load(Ordering::Relaxed) {
        if swap().is_ok() {
            is_swapped = !is_swapped;
        }
    }
    if is_swapped {
        swap().unwrap();
    }
}

/// Everything that a command has written.
fn written(folder: &Path, texts: &mut Vec<u8>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            written(&entry.path(), texts);
        } else if kind.is_file() {
            texts.extend(fs::read(entry.path()).unwrap());
        }
    }
}

#[test]
fn exchanged_names_lead_nowhere() {
    if python().is_none() || lacks("what an agent may read") {
        return;
    }
    let seconds = std::env::var("REFEREE_RACE_SECONDS").ok();
    let time = Duration::from_secs(seconds.map_or(0, |text| text.parse().unwrap()));
    // Without exchanges everything plays.
    let dir = place();
    dir.run(&["contest", "plan", "round-robin.toml", "--build"]).code(0).stdout_has("mallory");
    assert_eq!(fs::read_to_string(dir.path("bots/mallory/out/made")).unwrap().trim(), MADE);
    let run = ["contest", "run", "round-robin.toml", "--out", "new/d"];
    // As long as three looks at the folder of submissions take.
    let open = ["contest", "open", "ladder.toml", "--out", "new/d", "--for", "10s"];
    for words in [
        &["contest", "plan", "round-robin.toml", "--build"][..],
        &run,
        &open,
        &["check", "bots", "--game", "hex", "--probe", "ready"],
        &["contest", "check", "round-robin.toml", "--out", "new", "--probe", "ready"],
    ] {
        // One name at a time, since each hides most others; the whole submission too.
        for name in ["mallory", "data", "deep", "out", "agent.toml", "bot.py"] {
            let dir = place();
            let began = Instant::now();
            loop {
                attack(&dir, name, words);
                if began.elapsed() >= time / 6 {
                    break;
                }
            }
        }
    }
}

fn attack(dir: &TestDir, name: &str, words: &[&str]) {
    let own = if name == "mallory" { "bots".to_owned() } else { "bots/mallory".to_owned() };
    let (one, other) = (dir.path(&own).join(name), dir.path("links").join(name));
    let stop = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| exchange(&one, &other, &stop));
        let ran = dir.run(words);
        stop.store(true, Ordering::Relaxed);
        ran
    });
    // Left out, or refused by name: nothing breaks.
    assert!([Some(0), Some(2), Some(3)].contains(&ran.exit), "{name}: {words:?}: {ran:?}");
    let mut texts = [ran.stdout.as_bytes(), ran.stderr.as_bytes()].concat();
    for folder in ["bots", "new"] {
        written(&dir.path(folder), &mut texts);
    }
    let texts = String::from_utf8_lossy(&texts);
    for hidden in ["hidden_key", "of the organiser", OTHER] {
        assert!(!texts.contains(hidden), "{name}: {words:?}: {hidden}\n{texts}");
    }
    let target = dir.path("private/target");
    let made = fs::read_to_string(target.join("made")).unwrap();
    assert_eq!(made, "untouched", "{name}: {words:?}: {ran:?}");
    let there: Vec<_> = fs::read_dir(&target).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(there, ["made"], "{name}: {words:?}: {ran:?}");
    if dir.path("new").exists() {
        fs::remove_dir_all(dir.path("new")).unwrap();
    }
}
