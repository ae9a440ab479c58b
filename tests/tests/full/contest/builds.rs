//! Submissions that are built before a contest.

use crate::support::contest::{AMPLE, assert_whole, contest, query};
use crate::support::{TestDir, lacks, program};
use std::fs;

#[test]
fn builds_that_fail_stop_the_contest_or_are_left_out() {
    let dir = TestDir::sandboxed();
    let made = "command = \"./run.sh\"\nbuild = \"sh make.sh\"\n";
    for name in ["amy", "bob", "cat"] {
        dir.write(&format!("bots/{name}/agent.toml"), made);
    }
    let program = program();
    let program = format!("#!/bin/sh\\nexec {program} agent first\\n");
    let works = format!(
        "printf '{program}' > run.sh; chmod +x run.sh; echo x >> built\ncut -d' ' -f41 /proc/$$/stat > share\n"
    );
    dir.write("bots/amy/make.sh", &works);
    dir.write("bots/bob/make.sh", &works);
    dir.write("bots/cat/make.sh", "echo begun; echo no semicolon >&2; exit 3\n");
    let text = format!(
        "seed = 7\nsubmissions = \"bots\"\n{AMPLE}\
         [openings]\nplies = 1\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
    );
    dir.write("c.toml", &text);
    let ran = contest(&dir, &["run", "c.toml", "--out", "d"]).code(2);
    ran.stderr_has("1 of 3 submissions can't play")
        .stderr_has("cat: `sh make.sh` failed: exit status 3\n    begun\n    no semicolon")
        .stderr_has("leave-out");
    assert!(!dir.path("d").exists(), "nothing has begun");

    dir.write("c.toml", format!("policy.on_broken = \"leave-out\"\n{text}"));
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    assert_whole(&dir, "d", 2);
    assert_eq!(query(&dir, "d", "select name from players"), ["amy", "bob"]);
    let report = contest(&dir, &["report", "d", "--json"]).code(0).json();
    let left_out = report["left_out"].to_string();
    assert!(left_out.contains("cat") && left_out.contains("feedback/cat.md"), "{left_out}");
    contest(&dir, &["report", "d", "--format", "markdown"]).code(0).stdout_has("cat");
    // Two builds of two agents; `resume` does not build again.
    contest(&dir, &["resume", "d"]).code(0);
    for name in ["amy", "bob"] {
        let built = fs::read_to_string(dir.path(&format!("bots/{name}/built"))).unwrap();
        assert_eq!(built, "x\nx\n");
        // Beside loops of others, only what is left would be too little for its time limit.
        let share = fs::read_to_string(dir.path(&format!("bots/{name}/share"))).unwrap();
        assert!(lacks("priorities") || share == "3\n", "policy {share}");
    }
}

/// Writes a contest of `bots` at a sandbox level, builds it, and returns whether the machine has the
/// level.
fn planned(dir: &TestDir, level: &str, more: &str) -> bool {
    let sandbox = format!("sandbox.level = \"{level}\"\n{more}");
    dir.write("c.toml", format!("submissions = \"bots\"\n{sandbox}\n[[games]]\ngame = \"hex\"\n"));
    // On a busy machine a compiler takes minutes.
    let ran = dir.start(&["contest", "plan", "c.toml", "--build"]).wait_long();
    let is_missing = ["is unavailable: ", "which only its owner may enter"];
    let is_missing = is_missing.iter().any(|it| ran.stderr.contains(it));
    if is_missing {
        println!("skipped: {level}: {}", ran.stderr);
    } else {
        ran.code(0);
    }
    !is_missing
}

/// A submission's build must not reach what the submission itself can't.
#[test]
fn builds_reach_no_more_than_agents() {
    for level in ["confined", "isolated"] {
        let dir = TestDir::sandboxed();
        let at = |name: &str| dir.path(name).display().to_string();
        dir.write("home/.ssh/key", "secret of the organiser");
        dir.write("bots/amy/agent.toml", "command = [\"sh\", \"x\"]\n");
        dir.write("bots/amy/x", "secret of amy");
        dir.write("house/agent.toml", "command = [\"sh\", \"x\"]\n");
        dir.write("house/x", "secret of the house");
        let made = "command = [\"sh\", \"x\"]\nbuild = \"sh make.sh\"\n";
        dir.write("bots/eve/agent.toml", made);
        let attack = format!(
            "cat '{}' ../amy/x '{}' '{}' '{}' > seen 2>&1\necho x > '{}'\necho x > '{}'\n\
             echo x > ../amy/planted\nenv > environment\nkill -9 {} 2> killed\n\
             (echo > /dev/tcp/127.0.0.1/1) 2>&1 || true\necho made > result\n",
            at("home/.ssh/key"),
            at("bots/amy/x"),
            at("house/x"),
            at("c.toml"),
            at("planted"),
            at("bots/eve/planted"),
            std::process::id(),
        );
        dir.write("bots/eve/make.sh", attack);
        if !planned(&dir, level, "") {
            continue;
        }
        let read = |name: &str| fs::read_to_string(dir.path(name)).unwrap_or_default();
        assert_eq!(read("bots/eve/result"), "made\n", "{level}");
        assert!(!read("bots/eve/seen").contains("secret"), "{level}: {}", read("bots/eve/seen"));
        for planted in ["planted", "bots/amy/planted", "bots/eve/planted"] {
            assert!(!dir.path(planted).exists(), "{level}: {planted}");
        }
        let environment = read("bots/eve/environment");
        assert!(!environment.contains("CARGO_MANIFEST_DIR"), "{level}: {environment}");
        // What the organiser opens for builds.
        assert!(planned(&dir, level, "build.read = [\"home/.ssh\"]"));
        assert!(read("bots/eve/seen").contains("secret of the organiser"), "{level}");
        // In what he opens there are still the agents and the contest file.
        let more = "build.read = [\".\"]\nagents = [\"house\"]\n# secret of the contest\n";
        assert!(planned(&dir, level, more));
        let seen = read("bots/eve/seen");
        assert_eq!(seen.matches("secret").count(), 1, "{level}: {seen}");
        assert!(seen.contains("secret of the organiser"), "{level}: {seen}");
        // Nothing is taken over of a build that leaves a link out of its folder.
        let linked = format!("echo again > result\nln -s '{}' link\n", at("home/.ssh/key"));
        dir.write("bots/eve/make.sh", linked);
        let ran = contest(&dir, &["plan", "c.toml", "--build"]).code(2);
        ran.stderr_has("link is a link to ").stderr_has("outside of the folder");
        assert_eq!(read("bots/eve/result"), "made\n", "{level}");
        dir.assert_tmp_is_empty();
    }
}

/// The compilers of the samples work inside, where they are installed.
#[test]
fn compilers_work_in_the_sandbox() {
    let c = "int main(void) { return 0; }";
    let java = "class Run { public static void main(String[] a) {} }";
    let go = "package main\nfunc main() {}\n";
    for level in ["confined", "isolated"] {
        for (tool, build, file, text, made) in [
            ("cc", "cc -O1 -o run bot.c", "bot.c", c, "run"),
            ("c++", "c++ -o run bot.cpp", "bot.cpp", "int main() {}", "run"),
            ("rustc", "rustc -o run bot.rs", "bot.rs", "fn main() {}", "run"),
            ("make", "make run", "run.c", c, "run"),
            ("javac", "javac Run.java", "Run.java", java, "Run.class"),
            ("go", "go build -o run bot.go", "bot.go", go, "run"),
            ("cargo", "cargo build", "src/main.rs", "fn main() {}", "target/debug/bot"),
        ] {
            let path = std::env::var_os("PATH").unwrap_or_default();
            if !std::env::split_paths(&path).any(|folder| folder.join(tool).is_file()) {
                println!("skipped: {tool}");
                continue;
            }
            let dir = TestDir::sandboxed();
            let command = if tool == "javac" { "java Run" } else { &format!("./{made}") };
            let manifest = format!("command = {command:?}\nbuild = {build:?}\n");
            dir.write("bots/bot/agent.toml", &manifest);
            dir.write("bots/two/agent.toml", &manifest);
            for bot in ["bot", "two"] {
                dir.write(&format!("bots/{bot}/{file}"), text);
                let package = "[package]\nname = \"bot\"\nedition = \"2021\"\n";
                dir.write(&format!("bots/{bot}/Cargo.toml"), package);
            }
            if planned(&dir, level, "") {
                assert!(dir.path("bots/bot").join(made).exists(), "{level}: {tool}");
            }
        }
    }
}

#[test]
fn builds_have_limits() {
    let dir = TestDir::sandboxed();
    for (build, more, expected) in [
        ("truncate -s 3000000000 large", "", "failed"),
        (
            "x=$(head -c 900000000 /dev/zero | tr '\\0' x)",
            "build.memory_mb = 64\n",
            "of memory in use",
        ),
        ("sleep 1000", "build.time = \"1s\"\n", "not finished after 1s"),
    ] {
        dir.write(
            "bots/bot/agent.toml",
            "command = [\"sh\", \"x\"]\nbuild = [\"sh\", \"make.sh\"]\n",
        );
        dir.write("bots/bot/make.sh", format!("{build} || {{ echo failed large; exit 1; }}\n"));
        let sandbox =
            "agents = [\"@first\"]\nsubmissions = \"bots\"\nsandbox.level = \"confined\"\n";
        dir.write("c.toml", format!("{sandbox}{more}[[games]]\ngame = \"hex\"\n"));
        let ran = contest(&dir, &["plan", "c.toml", "--build"]);
        if ran.stderr.contains("is unavailable: ") {
            println!("skipped: {}", ran.stderr);
            return;
        }
        ran.code(2).stderr_has(expected);
    }
    assert!(!dir.path("bots/bot/large").exists(), "nothing of a failed build is taken over");
    // At level `none` builds run as before, which a note says.
    dir.write("bots/bot/make.sh", "echo x > ../../outside\n");
    let file =
        "agents = [\"@first\"]\nsubmissions = \"bots\"\nsandbox.level = \"none\"\ngame = \"hex\"\n";
    dir.write("c.toml", file);
    contest(&dir, &["plan", "c.toml", "--build"]).code(0).stderr_has("builds run as you");
    assert!(dir.path("outside").exists());
}
