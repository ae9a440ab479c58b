//! The sources beside a compiled program: it may be missing or older than they are.

use crate::agent_spec::AgentSpec;
use referee_process::files::open_regular;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Endings of the names of sources that are compiled.
const SOURCES: &[&str] = &[
    "c", "cc", "cpp", "cxx", "h", "hpp", "rs", "go", "java", "kt", "zig", "pas", "hs", "ml", "f90",
];

/// Says that a source is newer than the program, which then may not be built from it.
pub fn newer_source(spec: &AgentSpec) -> Option<String> {
    let program = &spec.launch.as_ref()?.file;
    let folder = if spec.has_manifest { spec.own.first()? } else { program.parent()? };
    let built: Vec<PathBuf> = if is_binary(program) && program.starts_with(folder) {
        vec![program.clone()]
    } else {
        files(folder, &["class", "jar"]).collect()
    };
    let changed = |path: PathBuf| Some((path.metadata().ok()?.modified().ok()?, path));
    // A source beside its own program is of that one.
    let is_of_another = |path: &PathBuf| {
        let own = path.with_extension("");
        !built.contains(&own) && is_binary(&own)
    };
    let sources = files(folder, SOURCES).filter(|path| !is_of_another(path));
    let source = sources.filter_map(changed).max()?;
    let built: (SystemTime, PathBuf) = built.into_iter().filter_map(changed).min()?;
    (source.0 > built.0).then(|| format!("{} is newer than {}", name(&source.1), name(&built.1)))
}

/// Returns the advice on a defect of an agent, which is to build it first if a source is newer than the program.
pub fn after_building(spec: &AgentSpec, fix: &str) -> String {
    let Some(newer) = newer_source(spec) else { return fix.to_owned() };
    let how = spec.build.as_ref().map_or(String::new(), |build| format!(": {build}"));
    format!("{newer}: build it again{how}; if that changes nothing, {fix}")
}

/// Returns the advice on a program that is missing in a folder, if there is a source for it.
pub fn not_built(program: &Path) -> Option<String> {
    let source = files(program.parent()?, SOURCES).min()?;
    let source = name(&source);
    Some(format!(
        "{source} is there, but not the program: compile it, and give the command as `build` in agent.toml"
    ))
}

/// Returns the files in a folder whose names end so.
fn files<'a>(folder: &Path, endings: &'a [&str]) -> impl Iterator<Item = PathBuf> + 'a {
    let files = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    files.filter(|path| path.extension().is_some_and(|end| endings.iter().any(|it| end == *it)))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_binary(file: &Path) -> bool {
    let mut start = [0; 4];
    open_regular(file, u64::MAX).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == *b"\x7fELF"
}

#[cfg(test)]
mod tests {
    use super::{AgentSpec, SystemTime, newer_source};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    #[test]
    fn the_sources_of_other_programs_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, age: u64| {
            let path = folder.path().join(name);
            fs::write(&path, b"\x7fELF").unwrap();
            let file = fs::File::open(&path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
            path
        };
        let program = write("bot", 50);
        write("bot.c", 60);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let spec = AgentSpec::read(&program.to_string_lossy()).unwrap();
        assert_eq!(newer_source(&spec), None);
        write("other.c", 10);
        assert_eq!(newer_source(&spec).as_deref(), Some("other.c is newer than bot"));
        write("other", 20);
        assert_eq!(newer_source(&spec), None);
    }
}
