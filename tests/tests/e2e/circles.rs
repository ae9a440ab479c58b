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
                let file = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                self.files.insert(module, file);
            }
        }
    }

    /// Returns the modules that a module uses but for those inside it, which it consists of.
    fn used_by(&self, module: &Module) -> BTreeSet<Module> {
        let paths = paths(&self.code[module]);
        let used = paths.iter().filter_map(|path| self.resolve(module, path, 0));
        used.filter(|it| !it.starts_with(module)).collect()
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
        let exports = self.code[&module].split("pub ").chain(self.code[&module].split("pub("));
        let exports = exports.filter_map(|it| {
            let it = if it.starts_with("use ") { it } else { it.split_once(") ")?.1 };
            it.strip_prefix("use ")?.split(';').next()
        });
        let exported: Vec<_> = exports.flat_map(expand).collect();
        let original = exported.iter().find(|it| it.len() > 1 && it.last() == Some(name));
        match original {
            Some(original) if depth < 8 => self.resolve(&module, original, depth + 1),
            _ => Some(module),
        }
    }
}

/// Returns the paths in code that begin with `crate` or `super`, a list in braces as its members.
fn paths(code: &str) -> Vec<Vec<String>> {
    let starts =
        ["crate::", "super::"].map(|start| code.match_indices(start)).into_iter().flatten();
    let begins =
        |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
    starts.filter(|(at, _)| begins(*at)).flat_map(|(at, _)| expand(&code[at..])).collect()
}

/// Returns the paths of the tree that a text begins with.
fn expand(text: &str) -> Vec<Vec<String>> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
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

#[test]
fn no_files_of_different_folders_use_each_other_in_a_circle() {
    let mut edges = 0;
    for name in ["protocol", "referee", "sample-agents"] {
        let own = root().join(name);
        let nested = own.read_dir().unwrap().map(|entry| entry.unwrap().path());
        let folders = nested.chain([own.clone()]).map(|it| it.join("src"));
        for src in folders.filter(|it| it.is_dir()) {
            let it = Crate::read(&src);
            let uses: BTreeMap<_, _> = it.files.keys().map(|m| (m, it.used_by(m))).collect();
            for (module, used) in &uses {
                for other in used {
                    edges += 1;
                    let (file, target) = (&it.files[*module], &it.files[other]);
                    let apart = Path::new(file).parent() != Path::new(target).parent();
                    assert!(
                        !(apart && reached(&uses, other).contains(*module)),
                        "{file} uses {target}, which uses {file} in turn: move what both need to \
                         where neither is"
                    );
                }
            }
        }
    }
    assert!(edges > 500, "only {edges} uses were found: the sources have another form");
}
