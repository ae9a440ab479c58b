//! An agent's author names the caller's files, in every way that used to open them.

use super::{ECHO, Tree};
use crate::agent_spec::AgentSpec;
use referee_process::sandbox::reach::Refusal;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

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

/// An earlier upload, or a submission, looks like a virtual environment that names the caller's keys.
#[test]
fn what_looks_like_a_virtual_environment_opens_nothing() {
    let tree = Tree::new(&[
        (".ssh/key", "secret"),
        ("uploads/1/pyvenv.cfg", "base-prefix = ROOT/.ssh\n"),
        ("uploads/1/bin/python", "#!/bin/sh\n"),
        ("uploads/2/agent.toml", "command = [\"bin/python\", \"bot.py\"]"),
        ("uploads/2/bin/python", "#!/bin/sh\n"),
        ("uploads/2/pyvenv.cfg", "executable = ROOT/uploads/1/bin/python\n"),
        ("shared/pyvenv.cfg", ""),
        ("shared/bin/python", ""),
        ("shared/notes.txt", ""),
        ("shared/m/bot", ""),
        ("shared/m/agent.toml", &format!("{ECHO}\n[sandbox]\nread = [\"ROOT/shared\"]")),
    ]);
    let second = tree.agent("uploads/2");
    let seen = tree.of(&[&second], &[]);
    seen.check(&["uploads/2/bin/python"], &[".ssh/key", "uploads/1/pyvenv.cfg"]);
    // Whoever grants what others write to doesn't grant what they name there.
    set_permissions(tree.at("uploads/1"), Permissions::from_mode(0o777)).unwrap();
    let seen = tree.granting(&[&second], &[], &["uploads/1"]);
    seen.check(&["uploads/1/pyvenv.cfg"], &[".ssh/key"]);
    tree.of(&[&tree.agent("shared/m")], &[]).check(&["shared/m/bot"], &["shared/notes.txt"]);
}

#[test]
fn what_the_caller_names_opens_more_only_where_its_author_is_the_caller() {
    for (file, text) in [
        ("pyvenv.cfg", "base-prefix = ROOT/.ssh\n"),
        ("pyvenv.cfg", "executable = ROOT/.ssh/key\n"),
        ("bin/python", "#!ROOT/.ssh/key\n"),
    ] {
        let tree = Tree::new(&[(".ssh/key", "x"), ("bots/bot.py", "")]);
        for venv in ["venv", "bots/venv"] {
            tree.add(&format!("{venv}/bin/python"), "ELF");
            tree.add(&format!("{venv}/pyvenv.cfg"), "");
            tree.add(&format!("{venv}/{file}"), text);
        }
        let read = |words: &str| {
            Arc::new(AgentSpec::read_in(&tree.rooted(words), &tree.at("bots")).unwrap())
        };
        let agent = read("ROOT/venv/bin/python bot.py");
        tree.of(&[&agent], &[]).check(&["venv/bin/python", ".ssh/key"], &[]);
        // As in a submission that `run` of the contest file names.
        for run in ["venv/bin/python", "../venv/bin/python", "env ../venv/bin/python"] {
            let inside = read(&format!("{run} bot.py"));
            tree.of(&[&inside], &[]).check(&["bots/bot.py"], &[".ssh/key"]);
        }
        let file = tree.at(&format!("venv/{file}"));
        for shared in [file.parent().unwrap(), &file] {
            set_permissions(shared, Permissions::from_mode(0o777)).unwrap();
            let seen = tree.of(&[&agent], &[]);
            seen.check(&["venv/bin/python", "bots/bot.py"], &[".ssh/key"]);
            set_permissions(shared, Permissions::from_mode(0o755)).unwrap();
        }
    }
}
