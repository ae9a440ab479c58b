//! Finds how an agent is started that comes without an `agent.toml`, as `check` and `play` do with its program file.

use super::agent_spec::{MANIFEST, interpreter};
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The names of files that start an agent, without their endings, where there are several programs.
const STARTING: [&str; 6] = ["agent", "bot", "main", "__main__", "player", "run"];

/// How an agent in a folder is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCommand {
    /// The language, for people.
    pub language: &'static str,
    /// The words of the command, which runs in the folder.
    pub command: Vec<String>,
}

/// Returns how the agent in a folder without `agent.toml` is started; `None` if that is not clear.
pub fn found_command(folder: &Path) -> io::Result<Option<FoundCommand>> {
    let mut found: Vec<(String, FoundCommand)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if entry.file_type()?.is_file()
            && let Some(command) = command(&entry.path(), &name)?
        {
            found.push((name, command));
        }
    }
    if found.len() > 1 {
        let stem = |name: &str| {
            Path::new(name).file_stem().and_then(|it| it.to_str()).map(str::to_lowercase)
        };
        let rank = |name: &str| {
            let stem = stem(name)?;
            STARTING.iter().position(|known| *known == stem)
        };
        let best = found.iter().filter_map(|(name, _)| rank(name)).min();
        found.retain(|(name, _)| best.is_some() && rank(name) == best);
    }
    let only = found.len() == 1;
    Ok(found.pop().filter(|_| only).map(|(_, command)| command))
}

/// Returns how a file is started, if it is a program.
fn command(path: &Path, name: &str) -> io::Result<Option<FoundCommand>> {
    let mut begin = [0; 4];
    let read = fs::File::open(path)?.read(&mut begin)?;
    let is_binary = read == 4 && begin == *b"\x7fELF";
    let is_executable = path.metadata()?.permissions().mode() & 0o111 != 0;
    let script = interpreter(Path::new(name));
    if is_executable && (is_binary || begin.starts_with(b"#!")) {
        let language = script.map_or(if is_binary { "a program" } else { "a script" }, |it| it.0);
        return Ok(Some(FoundCommand { language, command: vec![format!("./{name}")] }));
    }
    Ok(script.map(|(language, program)| {
        let mut command: Vec<String> = program.split(' ').map(str::to_owned).collect();
        command.push(name.to_owned());
        FoundCommand { language, command }
    }))
}

/// Returns the text of an `agent.toml` with this command.
pub fn manifest_of(command: &[String]) -> String {
    let words: Vec<toml::Value> = command.iter().cloned().map(toml::Value::String).collect();
    format!("command = {}\n", toml::Value::Array(words))
}

/// Whether a folder says itself how its agent is started.
pub fn has_manifest(folder: &Path) -> bool {
    folder.join(MANIFEST).symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::{found_command, manifest_of};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_is_found_among_other_files() {
        for (files, command) in [
            (&["bot.py", "README.md", "weights.json"][..], Some("python3 bot.py")),
            (&["search.py", "Main.py", "board.py"], Some("python3 Main.py")),
            (&["agent.js", "main.py"], Some("node agent.js")),
            (&["search.py", "board.py"], None),
            (&["bot.py", "bot.rb"], None),
            (&["notes.txt"], None),
            (&["bot"], Some("./bot")),
            (&["my bot.jar"], Some("java -jar my bot.jar")),
        ] {
            let folder = tempfile::tempdir().unwrap();
            for file in files {
                let path = folder.path().join(file);
                fs::write(&path, "#!/bin/sh\n").unwrap();
                if !file.contains('.') {
                    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
                }
            }
            fs::create_dir(folder.path().join("src.py")).unwrap();
            let found = found_command(folder.path()).unwrap().map(|it| it.command.join(" "));
            assert_eq!(found.as_deref(), command, "{files:?}");
        }
    }

    #[test]
    fn a_command_is_written_as_it_is_read() {
        let words = ["python3", "a \"b\".py", "\n"].map(str::to_owned);
        let read: toml::Table = manifest_of(&words).parse().unwrap();
        let read: Vec<&str> =
            read["command"].as_array().unwrap().iter().filter_map(toml::Value::as_str).collect();
        assert_eq!(read, words);
    }
}
