//! `contest publish`: a site that opens from disk.

use crate::support::contest::{contest, file};
use crate::support::{TestDir, program};
use std::fs;
use std::path::{Path, PathBuf};

/// An agent's name, and what it writes to stderr: neither may be on public pages.
const NAME: &str = "zebra-team";
const SECRET: &str = "secret of zebra";

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let all = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    all.collect()
}

#[test]
fn a_site_has_a_page_for_each_agent_and_game() {
    let dir = TestDir::new();
    let program = program();
    let script = format!("#!/bin/sh\necho '{SECRET}' >&2\nexec '{program}' agent first\n");
    let agent = dir.program("bot", &script);
    let agents = [format!("{NAME}={agent}"), "house=@random".to_owned()];
    dir.write("c.toml", file(&agents.each_ref().map(String::as_str), "rounds = 2\n"));
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    contest(&dir, &["check", "d", "--probe", "start", "--out", "f"]).code(0);
    let publish = |more: &[&str]| {
        let words = ["publish", "d", "--out", "s", "--feedback", "f"];
        contest(&dir, &[&words[..], more].concat()).code(0).stdout
    };
    let pages = publish(&[]);
    for name in ["index.html", "teams/house.html", "assets/viewer.js", "games/0000/0000003.html"] {
        assert!(dir.path("s").join(name).is_file(), "{name}");
    }
    let own = pages.lines().find_map(|line| line.strip_prefix(&format!("{NAME}\t"))).unwrap();
    let private = fs::read_to_string(dir.path("s").join(own)).unwrap();
    assert!(private.contains(SECRET) && private.contains("the check passed"), "{private}");
    for path in files(&dir.path("s")).iter().filter(|path| !path.ends_with(own)) {
        let text = fs::read_to_string(path).unwrap();
        assert!(!text.contains(SECRET), "{}", path.display());
        assert!(!text.contains(own.split_once('/').unwrap().1), "no page links to it");
    }
    // Names disappear from the public pages; the private ones stay where they are.
    assert_eq!(publish(&["--anonymous"]), pages);
    for path in files(&dir.path("s")) {
        let is_private = path.components().any(|part| part.as_os_str() == "private");
        let text = fs::read_to_string(&path).unwrap();
        assert!(is_private || !text.contains(NAME), "{}", path.display());
    }
    let words = ["publish", "d", "--out", "f"];
    contest(&dir, &words).code(2).stderr_has("the folder is not empty");
    dir.run(&["verify", "d"]).code(0);
    // An agent whose page would have the same name, and the same agent in another contest, get pages of their own.
    for name in ["zebra_team", NAME] {
        let agents = [format!("{name}={agent}"), "house=@random".to_owned()];
        dir.write("c2.toml", file(&agents.each_ref().map(String::as_str), "rounds = 1\n"));
        contest(&dir, &["run", "c2.toml", "--out", "d2"]).code(0);
        let other = contest(&dir, &["publish", "d2", "--out", "s"]).code(0).stdout;
        let page = other.lines().find_map(|line| line.strip_prefix(&format!("{name}\t"))).unwrap();
        assert!(page.starts_with("private/zebra") && page != own, "{other}");
        fs::remove_dir_all(dir.path("d2")).unwrap();
        publish(&[]);
    }
}
