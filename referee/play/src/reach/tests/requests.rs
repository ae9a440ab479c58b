//! An agent's author names the caller's files, in every way that used to open them.

use super::{ECHO, Tree};
use referee_process::sandbox::reach::Refusal;
use std::path::PathBuf;

#[test]
fn no_file_of_an_agent_opens_the_callers_files() {
    let read = |read: &str| format!("{ECHO}\n[sandbox]\nread = [\"{read}\"]");
    let command = |words: &str| format!("command = [{words}]");
    let (plain, in_bin) = (ECHO.to_owned(), command("\"bin/x\""));
    for (manifest, file, text) in [
        (read("../.ssh"), "bot", ""),
        (read("../.ssh/key"), "bot", ""),
        (command("\"./bot\", \"--key=../.ssh/key\""), "bot", ""),
        (command("\"../.ssh/key\""), "bot", ""),
        (command("\"env\", \"../.ssh/key\""), "bot", ""),
        (plain.clone(), "bot", "#!ROOT/.ssh/key\n"),
        (plain.clone(), "bot", "#!/usr/bin/env ROOT/.ssh/key\n"),
        (plain.clone(), "bot", "#!/bin/sh\n'''exec' \"ROOT/.ssh/key\" x\n"),
        (plain, "bot -> .ssh/key", ""),
        (in_bin.clone(), "pyvenv.cfg", "base-prefix = ROOT/.ssh\n"),
        (in_bin, "pyvenv.cfg", "executable = ROOT/.ssh/key"),
    ] {
        let tree = Tree::new(&[(".ssh/key", "secret"), (".ssh/lib/x", ""), ("a/bin/x", "ELF")]);
        tree.add("a/agent.toml", &manifest);
        tree.add("a/lib/x", "");
        match file.split_once(" -> ") {
            Some((link, target)) => tree.add(&format!("a/{link} -> ROOT/{target}"), ""),
            None => tree.add(&format!("a/{file}"), text),
        }
        let agent = tree.agent("a");
        let seen = tree.of(&[&agent], &[]);
        seen.check(&["a/agent.toml"], &[".ssh/key", ".ssh", ".ssh/lib/x"]);
        let refused = &seen.reachable.refused;
        let is_named = |(path, why): &(PathBuf, Refusal)| {
            path.starts_with(tree.at(".ssh")) && *why == Refusal::NotGranted
        };
        assert!(refused.iter().any(is_named), "{manifest} {text}: {refused:?}");
        let granted = tree.granting(&[&agent], &[], &[".ssh"]);
        assert!(granted.may_read(".ssh/key"), "{manifest} {text}");
    }
}
