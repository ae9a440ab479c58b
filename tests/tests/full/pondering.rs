//! Pondering is allowed, charged, or prevented by stopping the agents.

use crate::support::{TestDir, eventually, program, script_agent};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The result of a match between two pondering agents.
struct Pondered {
    header: Value,
    /// The CPU time that the agents report before each request, in milliseconds.
    told_ms: Vec<u64>,
    /// The time charged for it, in nanoseconds per turn.
    charged_ns: Vec<u64>,
    exits: Vec<Value>,
}

fn pondered(how: &str) -> Option<Pondered> {
    let dir = TestDir::sandboxed();
    let agent = script_agent("pondering.py", "0.5")?;
    let words = ["play", "hex", &agent, &agent, "--setup", "size=3", "--out", "x.jsonl"];
    let words = [&words[..], &["--pondering", how, "--fail-on-fault"]].concat();
    dir.run(&words).code(0);
    assert_eq!(dir.verify_status("x.jsonl"), "ok");
    let events = dir.events("x.jsonl");
    let of = |kind: &str| events.iter().filter(|it| it["type"] == *kind).collect::<Vec<_>>();
    let charged = |turn: &&Value| turn["pondered_ns"].as_u64().unwrap_or(0);
    let output = |it: &&Value| it["text"].as_str().unwrap().trim().parse().unwrap();
    Some(Pondered {
        header: of("header")[0].clone(),
        told_ms: of("stderr").iter().map(output).collect(),
        charged_ns: of("turn").iter().map(charged).collect(),
        exits: of("exit").into_iter().cloned().collect(),
    })
}

#[test]
fn waiting_agents_may_think_pay_for_it_or_are_stopped() {
    let Some(allowed) = pondered("allow") else { return };
    let Some(measured) = pondered("measure") else { return };
    let Some(frozen) = pondered("freeze") else { return };
    for (pondered, name) in [(&allowed, "allow"), (&measured, "measure"), (&frozen, "freeze")] {
        assert_eq!(pondered.header["sandbox"]["pondering"], name);
        let by_themselves = pondered.exits.iter().all(|exit| exit["status"] == "exit status 0");
        assert!(by_themselves, "{name}: {:?}", pondered.exits);
        let charged: u64 = pondered.charged_ns.iter().sum();
        assert_eq!(charged > 0, name == "measure", "{name}: {charged} ns");
    }
    let sum = |pondered: &Pondered| pondered.told_ms.iter().sum::<u64>();
    assert!(sum(&frozen) * 2 < sum(&allowed), "{:?}, {:?}", frozen.told_ms, allowed.told_ms);
    // The agent's own clock is finer than that of its process tree, which counts in 10 ms.
    let charged_ms = measured.charged_ns.iter().sum::<u64>() / 1_000_000;
    assert!(charged_ms * 2 > sum(&measured), "{charged_ms} of {:?}", measured.told_ms);
}

/// A group with a share of the cores, such as a container's.
struct CpuGroup(PathBuf);

impl CpuGroup {
    fn make() -> Option<Self> {
        // Of version 1, and of version 2 where it has the controller.
        let tops = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"];
        let made = tops.iter().find_map(|top| {
            let group = Path::new(top).join(format!("cores-{}", std::process::id()));
            fs::create_dir(&group).ok()?;
            Some(Self(group))
        });
        let has_share = |group: &Self| {
            ["cpu.shares", "cpu.weight"].iter().any(|file| group.0.join(file).exists())
        };
        made.filter(has_share)
    }
}

impl Drop for CpuGroup {
    fn drop(&mut self) {
        // Those that were in it may not quite be gone.
        let is_removed = eventually(|| fs::remove_dir(&self.0).is_ok());
        assert!(is_removed || std::thread::panicking(), "{}", self.0.display());
    }
}

const BUSY: &str = "import json, os, sys, time\n\
    children, own_s = int(sys.argv[1]), float(sys.argv[2])\n\
    for line in sys.stdin:\n    \
        message = json.loads(line)\n    \
        if message['type'] == 'hello':\n        \
            for child in range(children):\n            \
                if os.fork() == 0:\n                \
                    while time.process_time() < 60: pass\n        \
            print('{\"type\":\"ready\",\"want\":[\"actions\"]}', flush=True)\n    \
        if message['type'] == 'turn':\n        \
            end = time.process_time() + own_s\n        \
            while time.process_time() < end: pass\n        \
            print(json.dumps({'type': 'action', 'action': message['actions'][0]}), flush=True)\n";

/// In a group of its own, as in a container, the system divides cores among processes; agents are divided from each
/// other by their groups, and stopped where they have none.
#[test]
fn an_agent_with_many_processes_takes_no_cores_of_its_opponent() {
    let Some(group) = CpuGroup::make() else {
        println!("not tested: no group with a share of the cores can be made here");
        return;
    };
    let dir = TestDir::sandboxed();
    dir.write("busy.py", BUSY);
    for level in ["metered", "isolated"] {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 0 > \"$0/cgroup.procs\" && exec \"$@\""]).arg(&group.0);
        command.arg(program()).args(["play", "hex", "python3 busy.py 0 0.25"]);
        command.args(["python3 busy.py 120 0", "--setup", "size=3", "--move-time", "12s"]);
        command.args(["--sandbox", level, "--quiet", "--out", "x.jsonl", "--force"]);
        dir.set_environment(&mut command);
        let ran = command.output().unwrap();
        let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
        if errors.contains("control group") {
            println!("not tested at {level}: {errors}");
            continue;
        }
        let events = dir.events("x.jsonl");
        let over = events.iter().find(|event| event["type"] == "over").expect(&errors);
        let honest = &over["verdict"]["seats"][0];
        assert_eq!(honest["fault"], Value::Null, "{level}: {over}\n{errors}");
        if level == "isolated" {
            assert_eq!(events[0]["sandbox"]["pondering"], "freeze");
        }
    }
}
