//! Programs that each machine has itself, and those that it hasn't.

use super::super::pack;
use super::agents::{Arrived, Machines, not_packed, started};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

/// An interpreter outside of the system's folders and the contest's.
fn installed(machines: &Machines) -> PathBuf {
    let tools = machines.home().join("../../tools");
    let program = tools.join("bin/interpreter");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::create_dir_all(tools.join("lib")).unwrap();
    fs::write(&program, "#!/bin/sh\nexec sh \"$@\"\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program.canonicalize().unwrap()
}

fn assert_fault(arrived: &Arrived, told: &str) {
    let fault = arrived.as_ref().unwrap_err();
    assert!(fault.cause == "agent" && fault.text.contains(told), "{told}: {fault:?}");
}

#[test]
fn an_interpreter_is_each_machine_s_own() {
    let machines = Machines::with(&[("bots/slow.sh", "cat bots/words\n"), ("bots/words", "hi\n")]);
    let program = installed(&machines);
    let shown = program.display();
    machines.write("folder/agent.toml", &format!("command = [\"{shown}\", \"own.sh\"]"));
    machines.write("folder/own.sh", "echo own\n");
    let prepared = machines.prepared(&format!(
        "game = \"hex\"\nagents = [\"a={shown} bots/slow.sh\", \"b=env X=1 {shown} bots/slow.sh\", \
         \"folder\"]"
    ));
    let packed = pack(&prepared).unwrap();
    assert_eq!(packed.travellers[0].run, format!("{shown} bots/slow.sh"));
    assert_eq!(packed.folder, "", "nothing outside of the contest's folder");
    let tools = program.ancestors().nth(2).unwrap().to_owned();
    let arrived = machines.arrive(&prepared, &packed, std::slice::from_ref(&tools));
    let says: Vec<String> = arrived.iter().map(|it| started(it.as_ref().unwrap())).collect();
    assert_eq!(says, ["hi\n", "hi\n", "own\n"]);
    for arrived in machines.arrive(&prepared, &packed, &[]) {
        assert_fault(&arrived, "which this worker doesn't lend");
    }
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
    for arrived in machines.arrive(&prepared, &packed, std::slice::from_ref(&tools)) {
        assert_fault(&arrived, &format!("can't be started: {shown}"));
    }
    fs::remove_dir_all(&tools).unwrap();
    for arrived in machines.arrive(&prepared, &packed, &[]) {
        assert_fault(&arrived, &shown.to_string());
    }
}

#[test]
fn what_runs_a_script_is_no_business_of_the_script_s() {
    let machines = Machines::with(&[
        ("along", "#!/usr/bin/env no-machine-has-this\n"),
        ("made/agent.toml", "command = [\"bin/python\"]"),
        ("made/bin/python", "#!/bin/sh\n"),
        ("made/pyvenv.cfg", "home = /no/machine/has/this\n"),
        ("made/lib/x", ""),
        ("plain", "not to be executed"),
    ]);
    let program = installed(&machines);
    machines.write("script", &format!("#!{}\n", program.display()));
    let text = "game = \"hex\"\nagents = [\"./script\", \"./along\", \"made\", \"./plain\"]";
    let prepared = machines.prepared(text);
    let packed = pack(&prepared).unwrap();
    fs::remove_file(&program).unwrap();
    let arrived = machines.arrive(&prepared, &packed, &[]);
    assert_fault(&arrived[0], &program.display().to_string());
    assert_fault(&arrived[1], "no-machine-has-this");
    assert_fault(&arrived[2], "/no/machine/has/this");
    // It can't be started anywhere.
    arrived[3].as_ref().unwrap();
}

#[test]
fn full_paths_that_lead_nowhere_else_are_told_before_anything_starts() {
    let machines =
        Machines::with(&[("bot/main.py", ""), ("venv/pyvenv.cfg", ""), ("../nets/net", "weights")]);
    let home = machines.home();
    let program = installed(&machines);
    fs::create_dir(home.join("venv/bin")).unwrap();
    symlink("/bin/sh", home.join("venv/bin/python")).unwrap();
    symlink(&program, home.join("venv/bin/python3")).unwrap();
    let shown = home.display();
    for (agent, told) in [
        (format!("x={shown}/venv/bin/python bot/main.py"), "leads out of its folder"),
        (format!("x={shown}/venv/bin/python3 bot/main.py"), "leads out of its folder"),
        ("x=venv/bin/python3 bot/main.py".to_owned(), "leads out of its folder"),
    ] {
        let failure = not_packed(&machines, &agent);
        assert!(failure.to_string().contains(told), "{agent}: {failure}");
        assert!(failure.help_text().unwrap().contains("-m venv"), "{agent}");
    }
    let nets = home.join("../nets").canonicalize().unwrap();
    for command in [
        format!("[\"{shown}/venv/bin/python\", \"main.py\"]"),
        format!("[\"python3\", \"{shown}/bot/main.py\"]"),
        format!("[\"sh\", \"--net={}/net\"]", nets.display()),
    ] {
        machines.write("bot/agent.toml", &format!("command = {command}\n"));
        let failure = not_packed(&machines, "bot");
        assert!(failure.to_string().contains("is a full path"), "{command}: {failure}");
    }
    let manifest = machines.home().join("bot/agent.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(manifest, format!("{text}[sandbox]\nread = [\"{}\"]", nets.display())).unwrap();
    let prepared = machines.prepared("game = \"hex\"\nagents = [\"bot\", \"@random\"]");
    let packed = pack(&prepared).unwrap();
    fs::remove_dir_all(&nets).unwrap();
    assert_fault(&machines.arrive(&prepared, &packed, &[])[0], "nets");
}
