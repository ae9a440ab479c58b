use super::{ADAPTERS, Package, SURVEY_PROGRAM, output_of, python, read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn packages_are_found_by_their_paths() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    for file in [
        "team/agent/__init__.py",
        "team/agent/search/__init__.py",
        "team/agent/search/deep.py",
        "loose/player.py",
        "bare/agent/program.py",
        "bare/a.b/program.py",
        "alice.v2/agent/program.py",
        "alice.v2/referee/game/__init__.py",
        "package/__init__.py",
        "package/agent/__init__.py",
        "a stray-one/__init__.py",
        "a stray-one/agent/__init__.py",
        "v1.0/__init__.py",
        "v1.0/agent copy/__init__.py",
        "beside/__init__.py",
        "beside/agent/program.py",
        "beside/referee/game/__init__.py",
        "deep/project/agent/program.py",
        "deep/README.py",
        "two/one/player.py",
        "two/other/player.py",
        "year/team_a/program.py",
        "year/referee/__init__.py",
        "only/__init__.py",
        "only/utils.py",
        "only/search/__init__.py",
        "only/team_b/program.py",
        "chexers/__init__.py",
        "chexers/one/player.py",
        "chexers/other/player.py",
        "chexers/referee/game.py",
        "several/__init__.py",
        "several/agent/program.py",
        "project/src/team_d/program.py",
        "project/tests/__init__.py",
        "project/.git/hooks/agent.py",
        "several/older/program.py",
    ] {
        let file = root.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "").unwrap();
    }
    for (file, text) in [
        ("only/search/__init__.py", "from .deep import *"),
        ("file/Bot.py", "class Agent:"),
        ("file/Board.py", "class Board:"),
    ] {
        std::fs::create_dir_all(root.join("file")).unwrap();
        std::fs::write(root.join(file), text).unwrap();
    }
    for (text, folder, module, class, name, whole) in [
        ("team/agent", "team", "agent", None, "team", "team/agent"),
        ("team/agent/", "team", "agent", None, "team", "team/agent"),
        ("team/agent/__init__.py", "team", "agent", None, "team", "team/agent"),
        ("team/agent:Bot", "team", "agent", Some("Bot"), "team", "team/agent"),
        ("team/agent/search", "team", "agent.search", None, "search", "team/agent"),
        ("team/agent/search/deep.py", "team", "agent.search.deep", None, "deep", "team/agent"),
        ("loose/player.py:B", "loose", "player", Some("B"), "player", "loose/player.py"),
        ("bare/agent", "bare", "agent", None, "bare", "bare/agent"),
        ("team", "team", "agent", None, "team", "team/agent"),
        ("team/:Bot", "team", "agent", Some("Bot"), "team", "team/agent"),
        ("team/agent/..", "team", "agent", None, "team", "team/agent"),
        ("alice.v2", "alice.v2", "agent", None, "alice.v2", "alice.v2/agent"),
        ("package", "", "package", None, "package", "package"),
        ("a stray-one/agent", "a stray-one", "agent", None, "a stray-one", "a stray-one/agent"),
        ("beside", "beside", "agent", None, "beside", "beside/agent"),
        ("beside/agent", "beside", "agent", None, "beside", "beside/agent"),
        ("deep", "deep/project", "agent", None, "project", "deep/project/agent"),
        ("year:B", "year", "team_a", Some("B"), "team_a", "year/team_a"),
        ("only", "", "only.team_b", None, "team_b", "only"),
        ("several", "", "several.agent", None, "several", "several"),
        ("project", "project/src", "team_d", None, "team_d", "project/src/team_d"),
        ("file", "file", "Bot", None, "Bot", "file/Bot.py"),
        ("chexers/one", "chexers", "one", None, "one", "chexers/one"),
        ("v1.0/agent copy", "v1.0", "agent copy", None, "agent copy", "v1.0/agent copy"),
    ] {
        let package = Package::read(text, &root).unwrap();
        assert_eq!(package.folder, root.join(folder), "{text}");
        assert_eq!(package.module, module, "{text}");
        assert_eq!(package.class.as_deref(), class, "{text}");
        assert_eq!(package.name(), name, "{text}");
        assert_eq!(package.whole(), root.join(whole), "{text}");
    }
    for text in ["team/agent/none.py", "team/missing", "team/agent/__init__.pyc", "bare/a.b"] {
        let failure = Package::read(text, &root).unwrap_err();
        assert!(failure.to_string().contains("no package"), "{text}: {failure}");
    }
    let failure = Package::read("two", &root).unwrap_err();
    assert_eq!(failure.help_text(), Some("did you mean comp30024:two/one?"));
}

#[test]
fn mistakes_show_the_syntax() {
    for text in ["", ":Agent", "agent:", "agent:not a class", "missing.here", "agent:1st", "a..b"] {
        let failure = read(&ADAPTERS[0], text, Path::new("")).expect_err(text);
        assert!(failure.help_text().unwrap().contains("PACKAGE[:CLASS]"), "{text}: {failure}");
    }
}

#[test]
fn the_adapters_fit_into_one_argument() {
    for adapter in &ADAPTERS {
        // What Linux takes as one argument, without its end.
        assert!(adapter.program.len() < 128 * 1024, "{}", adapter.name);
        assert!(!adapter.program.contains('\0'), "{}", adapter.name);
    }
}

/// What a package's source says is read, and nothing that it names is run or taken for its own.
#[test]
fn a_source_that_is_read_runs_nothing_and_takes_no_other_files() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let (evil, marker, secret) = (root.join("evil"), root.join("marker"), root.join("secret.py"));
    std::fs::write(&evil, format!("#!/bin/sh\ntouch {}\n", marker.display())).unwrap();
    std::fs::set_permissions(&evil, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(&secret, "").unwrap();
    let agent = root.join("subs/mallory/agent");
    std::fs::create_dir_all(&agent).unwrap();
    let (evil, secret) = (evil.display(), root.join("secret"));
    let source = format!(
        "import importlib as i\nclass Agent: pass\n\
         i.import_module('x\\npython {evil}\\ninside agent./../../../secret')\n\
         i.import_module('{secret}')\ni.import_module('agent./../../../secret')\nopen('{secret}.py')\n",
        secret = secret.display()
    );
    std::fs::write(agent.join("program.py"), source).unwrap();
    for text in ["subs/mallory/agent", "subs/mallory"] {
        let spec = read(&ADAPTERS[0], text, &root).unwrap();
        assert!(!marker.exists());
        let python = spec.python.unwrap();
        assert!(!python.starts_with(&root), "{python:?}");
        assert!(spec.own.iter().all(|own| own.starts_with(&agent)), "{:?}", spec.own);
    }
}

/// No import statement can name such a folder, but relative imports can mean it.
#[test]
fn relative_imports_may_mean_a_folder_whose_name_is_no_identifier() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    for team in ["f-rel", "a-stray", "not/x-y"] {
        std::fs::create_dir_all(root.join(team).join("agent")).unwrap();
        std::fs::write(root.join(team).join("shared.py"), "").unwrap();
    }
    for (file, source) in [
        ("f-rel/__init__.py", ""),
        ("f-rel/agent/program.py", "from ..shared import S\nclass Agent: pass\n"),
        ("a-stray/__init__.py", ""),
        ("a-stray/agent/program.py", "from shared import S\nclass Agent: pass\n"),
        ("not/x-y/agent/program.py", "from ...a import S\nclass Agent: pass\n"),
    ] {
        std::fs::write(root.join(file), source).unwrap();
    }
    for (text, folder, module, own) in [
        ("f-rel", "", "f-rel.agent", "f-rel"),
        ("f-rel/agent", "", "f-rel.agent", "f-rel"),
        ("a-stray/agent", "a-stray", "agent", "a-stray/agent"),
        // The folder is no package: what is beside it belongs to others.
        ("not/x-y/agent", "not/x-y/agent", "agent", "not/x-y/agent"),
    ] {
        let spec = read(&ADAPTERS[0], text, &root).unwrap();
        let launch = spec.launch.unwrap();
        assert_eq!(launch.folder, root.join(folder), "{text}");
        assert_eq!(launch.command.last().unwrap(), module, "{text}");
        assert_eq!(spec.own.last().unwrap(), &root.join(own), "{text}");
    }
}

#[test]
fn an_archive_names_its_agent() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("src/agent")).unwrap();
    std::fs::write(root.join("src/agent/program.py"), "class Agent: pass\n").unwrap();
    for (archive, folder) in [("alice.tar", "agent"), ("bob.tar", "project/src/agent")] {
        let file = std::fs::File::create(root.join(archive)).unwrap();
        let mut tar = tar::Builder::new(file);
        tar.append_dir_all(folder, root.join("src/agent")).unwrap();
        tar.finish().unwrap();
        let spec = read(&ADAPTERS[0], archive, &root).unwrap();
        assert_eq!(Some(spec.name.as_str()), archive.strip_suffix(".tar"));
    }
}

#[test]
fn a_survey_is_bounded() {
    let run = |program| output_of(Command::new("sh").args(["-c", program])).unwrap();
    assert_eq!(run("head -c 3000000 /dev/zero >&2; printf read").as_deref(), Some(&b"read"[..]));
    assert_eq!(run("yes"), None);
    assert_eq!(run("kill -KILL $$"), None);
    // It waited for a core.
    let late = output_of(Command::new("sh").args(["-c", "kill -ALRM $$"]));
    assert_eq!(late.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    // What Python warns of is neither kept nor shown.
    std::fs::write(root.join("many.py"), "1 is 1;".repeat(2000)).unwrap();
    let package = Package::read("many", &root).unwrap();
    assert!(package.survey(&ADAPTERS[0], &python().unwrap(), 20).is_ok());
}

#[test]
fn a_survey_ends_with_the_program_that_started_it() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("large.py"), "'./a',".repeat(1_000_000)).unwrap();
    let mut command = Command::new(python().unwrap());
    command.args(["-I", "-S", "-c", SURVEY_PROGRAM]).arg(place.path());
    command.args(["large", "", "agent", "20"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut survey = command.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    drop(survey.stdin.take());
    assert_eq!(survey.wait_with_output().unwrap().stdout, b"");
}
