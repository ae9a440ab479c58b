//! The modules of this crate import only from those that are declared before them in lib.rs, so there is no
//! circle.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Returns the names that follow `crate::` in a text, also in lists.
fn imported(text: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|&c| c.is_alphanumeric() || c == '_').collect()
    };
    let names = |rest: &str| -> Vec<String> {
        let Some(list) = rest.strip_prefix('{') else { return vec![name(rest)] };
        let mut depth = 0;
        let list = list.split("};").next().unwrap_or(list);
        let parts = list.split(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0 && c == ','
        });
        parts.map(name).filter(|name| !name.is_empty()).collect()
    };
    text.split("crate::").skip(1).flat_map(names).collect()
}

#[test]
fn modules_import_only_from_modules_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(root.join("lib.rs")).unwrap();
    let modules: Vec<&str> = lib
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    assert!(modules.len() > 20, "{modules:?}");
    let place = |name: &str| modules.iter().position(|module| *module == name);
    // Where the names that the root exports are from.
    let exported = |name: &str| {
        let mut exports = lib.split("pub use ").skip(1).filter_map(|it| it.split(';').next());
        let names = |it: &str| it.split(|c: char| !c.is_alphanumeric()).any(|own| own == name);
        exports.find(|it| names(it))?.split("::").next().and_then(place)
    };
    let mut paths = Vec::new();
    sources(&root, &mut paths);
    let mut checked = 0;
    for path in paths {
        let inside = path.strip_prefix(&root).unwrap();
        let module = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        let file = inside.to_str().unwrap();
        let Some(own) = place(module).filter(|_| !file.contains("tests") && module != "tests")
        else {
            continue;
        };
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap().lines();
        let code: Vec<&str> = code.filter(|line| !line.trim_start().starts_with("//")).collect();
        let code = code.join("\n");
        let is_top =
            !file.contains('/') || file.ends_with("/mod.rs") && file.matches('/').count() == 1;
        let above = if is_top { "super::" } else { "super::super::super::super::" };
        assert!(!code.contains(above), "{file}: write `crate::` for the root of the crate");
        for name in imported(&code) {
            checked += 1;
            let from = place(&name).or_else(|| exported(&name));
            assert!(
                from.is_none_or(|from| from <= own),
                "{file}: imports {name}, of a module that is declared after {module} in lib.rs: move what \
                 both need to an earlier one"
            );
        }
    }
    assert!(checked > 100, "{checked} imports");
}
