//! The commands of docs/many-machines.md for a laptop are run. The files in docs/examples for Slurm and
//! Kubernetes are parsed and checked.

use super::server::{free_port, nats_server};
use crate::support::{TestDir, python, root, strings};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// Returns a file of docs/examples.
fn example(name: &str) -> String {
    fs::read_to_string(root().join("docs/examples").join(name)).unwrap()
}

/// Returns the first block of the page in this language that contains `words`.
fn block(language: &str, words: &str) -> String {
    let page = fs::read_to_string(root().join("docs/many-machines.md")).unwrap();
    let parts: Vec<&str> = page.split("\n```").collect();
    let blocks = parts.chunks_exact(2).map(|pair| pair[1]);
    let named = |block: &str| {
        let (first, rest) = block.split_once('\n')?;
        (first.trim() == language && rest.contains(words)).then(|| format!("{rest}\n"))
    };
    blocks.into_iter().find_map(named).unwrap_or_else(|| panic!("no {language} with {words}"))
}

/// Parses the number after these words.
fn number_after(text: &str, words: &str) -> u64 {
    let rest = text.split_once(words).unwrap_or_else(|| panic!("no {words:?} in {text}")).1;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// Asserts that the command has all options in the text.
fn assert_has_options(text: &str, command: &str) {
    let help = TestDir::new().run(&[command, "--help"]).code(0).stdout;
    let words = text.split(|c: char| c.is_whitespace() || "\"[],\\".contains(c));
    for option in words.filter(|word| word.starts_with("--") && word.len() > 2) {
        assert!(help.contains(option), "{command} has no {option}:\n{help}");
    }
}

#[test]
fn the_laptop_commands_work() {
    let Some(program) = nats_server() else { return };
    let dir = TestDir::new();
    let port = free_port().to_string();
    let lines = block("console,ignore", "--jobs 2");
    let commands = lines.lines().filter_map(|line| line.strip_prefix("$ ")).map(|line| {
        let line = line.replace("4333", &port).replace("--games 60", "--games 6");
        let line = line.replace("nats-server", &program.display().to_string());
        if line.ends_with('&') { line + " rest=\"$rest $!\"" } else { line }
    });
    // Background processes end with the shell.
    let mut script: Vec<String> = vec!["set -e; trap 'kill $rest; wait' EXIT".to_owned()];
    script.extend(commands);
    // A person types slower than the server starts.
    let listens = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    script.insert(2, format!("until bash -c '{listens}' 2>/dev/null; do sleep 0.05; done"));
    assert!(script.len() >= 5, "{script:?}");
    dir.shell(&script.join("\n")).code(0).stdout_has("ok");
}

#[test]
fn the_classroom_takes_ten_commands() {
    let lines = block("console,ignore", "seq 1 20");
    let commands: Vec<&str> = lines.lines().filter(|line| line.starts_with("$ ")).collect();
    assert_eq!(commands.len(), 10);
    for command in commands {
        let checked = Command::new("bash").args(["-n", "-c", &command[2..]]).status().unwrap();
        assert!(checked.success(), "{command}");
    }
}

#[test]
fn the_file_for_slurm_drains_before_it_is_killed() {
    let text = example("workers.sbatch");
    let dir = TestDir::new();
    dir.write("workers.sbatch", &text);
    let path = dir.path("workers.sbatch");
    let checked = Command::new("bash").arg("-n").arg(path).status().unwrap();
    assert!(checked.success());
    // Slurm reads options up to the first command.
    let last = text.rfind("#SBATCH").unwrap();
    let before = text[..last].lines();
    assert!(before.skip(1).all(|line| line.starts_with("#SBATCH")), "{text}");
    assert!(number_after(&text, "TERM@") > 60 * number_after(&text, "--drain "));
    let command = text.split_once("referee worker").unwrap().1;
    assert_has_options(command, "worker");
    // The shell must wait for the worker even if it gets the signal too.
    let script = text.replace("srun ", "srun() { kill -TERM $$; sleep 0.1; echo drained; }; srun ");
    let ran = Command::new("bash")
        .args(["-c", &script])
        .env("SLURM_CPUS_PER_TASK", "8")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "drained\n");
    assert!(ran.status.success());
}

#[test]
fn the_files_for_kubernetes_are_well_formed_and_leave_time_to_drain() {
    let Some(python) = python() else { return };
    let text = example("referee.yaml");
    let dir = TestDir::new();
    dir.write("referee.yaml", &text);
    let path = dir.path("referee.yaml");
    let script =
        "import json, sys, yaml\nprint(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))";
    let read = Command::new(python).args(["-c", script]).arg(path).output().unwrap();
    let output = String::from_utf8_lossy(&read.stderr);
    if output.contains("No module named") && std::env::var_os("REFEREE_TESTS_FORBID_SKIP").is_none()
    {
        println!("skipped: there is no PyYAML");
        return;
    }
    assert!(read.status.success(), "{output}");
    let objects: Vec<Value> = serde_json::from_slice(&read.stdout).unwrap();
    let of_kind = |kind: &str| objects.iter().find(|object| object["kind"] == kind).unwrap();
    for object in &objects {
        assert!(object["apiVersion"].is_string() && object["metadata"]["name"].is_string());
    }
    let labels = |kind: &str| of_kind(kind)["spec"]["template"]["metadata"]["labels"].clone();
    for kind in ["Deployment", "StatefulSet"] {
        assert_eq!(of_kind(kind)["spec"]["selector"]["matchLabels"], labels(kind));
    }
    assert_eq!(of_kind("Service")["spec"]["selector"], labels("StatefulSet"));
    let pod = &of_kind("Deployment")["spec"]["template"]["spec"];
    let worker = &pod["containers"][0];
    let words = strings(worker["args"].as_array().unwrap().clone());
    assert_has_options(&words.join(" "), &words[0]);
    let drain = 60 * number_after(&words.join(" "), "--drain ");
    assert!(pod["terminationGracePeriodSeconds"].as_u64().unwrap() > drain);
    assert_eq!(worker["resources"]["requests"], worker["resources"]["limits"]);
    let slots = number_after(&words.join(" "), "--jobs ").to_string();
    assert_eq!(worker["resources"]["limits"]["cpu"], slots);
}
