//! Tests that no files of different folders use each other in a circle: each folder can be read
//! without those that use it.

use crate::support::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module: its path in its crate.
type Module = Vec<String>;

/// The modules of a crate, each with the code of its file, and with the file's path.
struct Crate {
    code: BTreeMap<Module, String>,
    files: BTreeMap<Module, String>,
}

impl Crate {
    fn read(src: &Path) -> Self {
        let mut it = Self { code: BTreeMap::new(), files: BTreeMap::new() };
        it.collect(src, src);
        it
    }

    fn collect(&mut self, src: &Path, folder: &Path) {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            if name == "tests" {
                continue;
            }
            if path.is_dir() {
                self.collect(src, &path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let parent = path.strip_prefix(src).unwrap().parent().unwrap();
                let mut module: Module =
                    parent.iter().map(|it| it.to_string_lossy().into_owned()).collect();
                if !["mod", "lib", "main"].contains(&name.as_str()) {
                    module.push(name);
                }
                let text = fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]\nmod ").next().unwrap();
                let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                self.code.insert(module.clone(), lines.collect::<Vec<_>>().join(" "));
                self.files.insert(module, path.to_string_lossy().into_owned());
            }
        }
    }

    /// Returns the modules that a module uses: those that its paths name, also through a name that it
    /// imports. What it only re-exports is used by those that name it.
    fn used_by(&self, module: &Module) -> BTreeSet<Module> {
        let code = &self.code[module];
        let mut imports = BTreeMap::new();
        for path in uses(code, "use ").into_iter().filter(|path| path.len() > 1) {
            imports.insert(path[path.len() - 1].clone(), path);
        }
        let mut used = BTreeSet::new();
        for mut path in paths(code) {
            let is_child = self.code.contains_key(&[module.as_slice(), &path[..1]].concat());
            match imports.get(&path[0]) {
                Some(import) => drop(path.splice(..1, import.iter().cloned())),
                None if is_child || ["crate", "super", "self"].contains(&path[0].as_str()) => {}
                None => continue,
            }
            used.extend(self.resolve(module, &path, 0));
        }
        used.remove(module);
        used
    }

    /// Returns the module that has what a path names, through re-exports.
    fn resolve(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let mut module = from.clone();
        let mut path = path.iter().peekable();
        if path.next_if(|it| *it == "crate").is_some() {
            module.clear();
        }
        while path.next_if(|it| *it == "super").is_some() {
            module.pop();
        }
        path.next_if(|it| *it == "self");
        while let Some(&name) = path.peek() {
            module.push(name.clone());
            if !self.code.contains_key(&module) {
                module.pop();
                break;
            }
            path.next();
        }
        let Some(name) = path.next() else { return Some(module) };
        let code = &self.code[&module];
        let exports =
            [uses(code, "pub use "), uses(code, "pub(crate) use "), uses(code, "pub(super) use ")];
        let mut exports = exports.into_iter().flatten();
        let original = exports.find(|it| it.len() > 1 && it.last() == Some(name));
        match original {
            Some(original) if depth < 8 => self.resolve(&module, &original, depth + 1),
            _ => Some(module),
        }
    }
}

/// Returns the paths of the statements that begin like this.
fn uses(code: &str, start: &str) -> Vec<Vec<String>> {
    let begins = |at: &usize| *at == 0 || code[..*at].ends_with([' ', ';', '}', '{', ')']);
    let found = code.match_indices(start).map(|(at, _)| at).filter(begins);
    let paths: Vec<_> = found.flat_map(|at| expand(&code[at + start.len()..])).collect();
    let is_glob = |path: &Vec<String>| path.last().is_some_and(|it| it == "*");
    assert!(!paths.iter().any(is_glob), "{start}..*: name what is used, so that it can be found");
    paths
}

/// Returns the paths of two names and more in code but for re-exports, a list in braces as its members.
fn paths(code: &str) -> Vec<Vec<String>> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (at, _) in code.match_indices("::") {
        let start = code[..at].rfind(|c| !part(c)).map_or(0, |before| before + 1);
        let before = code[..start].trim_end();
        // Neither the rest of a path, nor a re-export, nor a visibility.
        let other = ["::", "pub use", ") use", "pub(in"].iter().any(|it| before.ends_with(it));
        if start < at && !other {
            found.extend(expand(&code[start..]));
        }
    }
    found
}

/// Returns the paths of the tree that a text begins with.
fn expand(text: &str) -> Vec<Vec<String>> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '*');
    let end = end.unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let Some(rest) = rest.strip_prefix("::") else { return vec![vec![name.to_owned()]] };
    let tails = match rest.strip_prefix('{') {
        Some(list) => members(list).into_iter().flat_map(expand).collect(),
        None => expand(rest),
    };
    let whole = |tail: Vec<String>| std::iter::once(name.to_owned()).chain(tail).collect();
    tails.into_iter().map(whole).collect()
}

/// Returns the members of a list up to its closing brace.
fn members(list: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' | ',' if depth == 0 => {
                found.push(&list[start..at]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    found.retain(|it| !it.trim().is_empty());
    found
}

/// Returns what is reached from a module, itself only where it is in a circle.
fn reached(uses: &BTreeMap<&Module, BTreeSet<Module>>, from: &Module) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for next in &uses[module] {
            if found.insert(next.clone()) {
                open.push(uses.get_key_value(next).unwrap().0);
            }
        }
    }
    found
}

/// Returns a use in a circle of files of different folders, if a crate has one, and the number of uses.
fn circle(src: &Path) -> (Option<String>, usize) {
    let it = Crate::read(src);
    let uses: BTreeMap<_, _> = it.files.keys().map(|m| (m, it.used_by(m))).collect();
    let edges = || uses.iter().flat_map(|(module, used)| used.iter().map(move |to| (*module, to)));
    let found = edges().find(|(module, other)| {
        let [folder, target] = [module, other].map(|module| Path::new(&it.files[*module]).parent());
        folder != target && reached(&uses, other).contains(*module)
    });
    let text = |(module, other): (&Module, &Module)| {
        format!("{} uses {}, which uses it in turn", it.files[module], it.files[other])
    };
    (found.map(text), edges().count())
}

#[test]
fn no_files_of_different_folders_use_each_other_in_a_circle() {
    let mut edges = 0;
    for name in ["protocol", "referee", "sample-agents"] {
        let own = root().join(name);
        let nested = own.read_dir().unwrap().map(|entry| entry.unwrap().path());
        let folders = nested.chain([own.clone()]).map(|it| it.join("src"));
        for src in folders.filter(|it| it.is_dir()) {
            let (circle, count) = circle(&src);
            assert!(
                circle.is_none(),
                "{}: move what both need to where neither is",
                circle.unwrap()
            );
            edges += count;
        }
    }
    assert!(edges > 1000, "only {edges} uses were found: the sources have another form");
}

#[test]
fn every_form_of_a_circle_is_found() {
    let (one, other) = ("one/mod.rs", "two/mod.rs");
    for (files, is_circle) in [
        ([(one, "use crate::two::A;"), (other, "fn f() { crate::one::g() }")], true),
        ([(one, "use crate::two::A;"), (other, "use super::{x, one::{g}};")], true),
        ([(one, "use crate::two; fn f() { two::g() }"), (other, "use super::one::h;")], true),
        ([("one/deep.rs", "use crate::two::A;"), (other, "use crate::one::h;")], false),
        (
            [
                ("one/mod.rs", "pub use two::A; fn f() { two::g() }"),
                ("one/two.rs", "use super::B;"),
            ],
            false,
        ),
        ([("lib.rs", "mod two; fn f() { two::g() }"), (other, "use crate::h;")], true),
        ([("lib.rs", "mod two; pub use two::g;"), (other, "use crate::h;")], false),
        ([(one, "use crate::two::A;"), (other, "pub(in crate::one) fn g() {}")], false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for (file, code) in [("lib.rs", "")].into_iter().chain(files) {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, code).unwrap();
        }
        let (circle, _) = circle(folder.path());
        assert_eq!(circle.is_some(), is_circle, "{files:?}: {circle:?}");
    }
}
