//! Which files of a folder travel, and where they stand in a bundle.

use super::archive::{Bounds, Piece};
use referee_process::Failure;
use referee_process::sandbox::reach::is_wide;
use referee_protocol::plain::tame;
use referee_runner::folder::Folder;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// What is never part of an agent: the history of its files, and what running leaves behind.
const NEVER: &[&str] = &[".git", ".hg", ".svn", "__pycache__", "matches"];
/// What building leaves behind.
const BUILT: &[&str] = &["node_modules", "target"];

/// Whose the files of a contest are: by path, canonical, the players whose own they are.
#[derive(Debug, Default)]
pub(super) struct Owners {
    of: BTreeMap<PathBuf, Vec<usize>>,
}

impl Owners {
    /// Of these, by player.
    pub(super) fn new<'a>(own: impl IntoIterator<Item = &'a [PathBuf]>) -> Self {
        let mut of = BTreeMap::<_, Vec<_>>::new();
        for (player, paths) in own.into_iter().enumerate() {
            for path in paths {
                of.entry(path.clone()).or_default().push(player);
            }
        }
        Self { of }
    }

    /// Whose a path is, where it isn't this player's. What lies in what is somebody's own is too, and
    /// the nearer one decides, as the sandbox has it: an agent may lie in another's folder.
    fn other(&self, path: &Path, player: usize) -> Option<usize> {
        let players = path.ancestors().find_map(|above| self.of.get(above))?;
        if players.contains(&player) { None } else { players.first().copied() }
    }

    /// Whether it is this player's by its own name, not for lying in something.
    fn is_named(&self, path: &Path, player: usize) -> bool {
        self.of.get(path).is_some_and(|players| players.contains(&player))
    }

    /// Whether something below a path is this player's.
    fn is_above(&self, path: &Path, player: usize) -> bool {
        let mut below =
            self.of.range(path.to_owned()..).take_while(|(own, _)| own.starts_with(path));
        below.any(|(_, players)| players.contains(&player))
    }
}

/// Whose files travel, and which of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    /// Whose the files of the contest are.
    pub(super) owners: &'a Owners,
    /// For which player they are; `None` where it doesn't matter whose they are.
    pub(super) player: Option<usize>,
    /// Hidden files are among them, and what building has left behind.
    pub(super) whole: bool,
    /// Files and folders that are not, unless they are named as the player's; canonical.
    pub(super) without: &'a [PathBuf],
}

/// Files that travel.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// The files, by their places relative to the contest's folder, which may begin with `..`; in
    /// the order in which they came.
    pub(super) list: Vec<Piece>,
    /// So many links were left out.
    pub(super) links: usize,
    /// What was left out because it is another's, and which player's.
    pub(super) others: BTreeSet<(PathBuf, usize)>,
    places: BTreeSet<PathBuf>,
    bytes: u64,
    bounds: Bounds,
}

impl Pieces {
    /// None yet, and at most so many.
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { bounds, ..Self::default() }
    }

    /// One file, unless it is among them.
    pub(super) fn file(&mut self, source: &Path, place: PathBuf) -> Result<(), Failure> {
        let failed = |error: std::io::Error| {
            Failure::operation(format!("{}: {error}", tame(&source.display().to_string())))
        };
        if !self.places.insert(place.clone()) {
            return Ok(());
        }
        self.bytes += source.metadata().map_err(failed)?.len();
        self.list.push(Piece { place, source: source.to_owned() });
        if self.bytes > self.bounds.bytes || self.list.len() > self.bounds.files {
            let (files, mib) = (self.bounds.files, self.bounds.bytes >> 20);
            return Err(Failure::usage(format!("more than {mib} MiB, or {files} files, to send"))
                .help(
                    "what lies beside an agent's program travels with it: put the agent and what \
                     it needs into a folder of its own, with an agent.toml",
                ));
        }
        Ok(())
    }

    /// All of a folder that travels. Links within it are followed to files; others are left out.
    pub(super) fn folder(
        &mut self,
        folder: &Path,
        place: &Path,
        rules: &Rules<'_>,
    ) -> Result<(), Failure> {
        let deep = !is_wide(folder);
        self.walk(folder, place, folder, rules, deep)
    }

    /// A file, or all of a folder that travels, as somebody names it: links are followed.
    pub(super) fn named(
        &mut self,
        path: &Path,
        place: PathBuf,
        rules: &Rules<'_>,
    ) -> Result<(), Failure> {
        let found = path.canonicalize().map_err(|error| {
            Failure::operation(format!("{}: {error}", tame(&path.display().to_string())))
        })?;
        if found.is_dir() { self.folder(&found, &place, rules) } else { self.file(&found, place) }
    }

    fn walk(
        &mut self,
        root: &Path,
        place: &Path,
        folder: &Path,
        rules: &Rules<'_>,
        deep: bool,
    ) -> Result<(), Failure> {
        let failed =
            |error: std::io::Error| Failure::operation(format!("{}: {error}", folder.display()));
        let mut entries =
            folder.read_dir().map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let (name, path) = (entry.file_name(), entry.path());
            if rules.leave(&name.to_string_lossy(), &path) {
                continue;
            }
            let place = place.join(&name);
            let kind = entry.file_type().map_err(failed)?;
            if let Some(other) = rules.other(&path) {
                self.others.insert((path.clone(), other));
                if !(kind.is_dir() && rules.is_above(&path)) {
                    continue;
                }
            }
            if kind.is_dir() {
                if deep && !Folder::is_one(&path) {
                    self.walk(root, &place, &path, rules, deep)?;
                }
            } else if kind.is_file() {
                self.file(&path, place)?;
            } else if kind.is_symlink() {
                let led = path.canonicalize().ok();
                match led.filter(|to| to.starts_with(root) && to.is_file()) {
                    Some(to) if !rules.leave_path(&to) && rules.other(&to).is_none() => {
                        self.file(&to, place)?;
                    }
                    _ => self.links += 1,
                }
            }
        }
        Ok(())
    }

    /// Whether a canonical path is among them, or something below it.
    pub(super) fn holds(&self, source: &Path) -> bool {
        self.list.iter().any(|piece| piece.source.starts_with(source))
    }

    /// Whether a file stands at this place.
    pub(super) fn has(&self, place: &Path) -> bool {
        self.places.contains(place)
    }
}

impl Rules<'_> {
    /// Whether an entry of a folder is left out.
    fn leave(&self, name: &str, path: &Path) -> bool {
        let left_behind = BUILT.contains(&name) || name.starts_with('.');
        NEVER.contains(&name) || (left_behind && !self.whole) || self.leave_path(path)
    }

    fn leave_path(&self, path: &Path) -> bool {
        let named = self.player.is_some_and(|player| self.owners.is_named(path, player));
        !named && self.without.iter().any(|without| path == without)
    }

    /// Whose a path is, where it isn't the player's.
    fn other(&self, path: &Path) -> Option<usize> {
        self.player.and_then(|player| self.owners.other(path, player))
    }

    fn is_above(&self, path: &Path) -> bool {
        self.player.is_some_and(|player| self.owners.is_above(path, player))
    }
}

/// The way from one canonical folder to a canonical path: as many `..` as it takes, then names.
pub(super) fn way(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

/// A relative path as a way: without `.`, and `..` at its beginning alone. `None` where it has one
/// elsewhere, which may lead anywhere where there are links.
pub(super) fn tidy(path: &Path) -> Option<PathBuf> {
    let mut way = PathBuf::new();
    let mut named = false;
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if !named => way.push(".."),
            Component::Normal(name) => {
                named = true;
                way.push(name);
            }
            _ => return None,
        }
    }
    Some(way)
}

/// How many `..` a way begins with.
pub(super) fn climbs(way: &Path) -> usize {
    way.components().take_while(|part| *part == Component::ParentDir).count()
}

/// The way that goes on with another.
pub(super) fn arrive(way: &Path, next: &Path) -> PathBuf {
    let mut there = way.to_owned();
    for part in next.components() {
        let named = matches!(there.components().next_back(), Some(Component::Normal(_)));
        if part == Component::ParentDir && named {
            there.pop();
        } else {
            there.push(part);
        }
    }
    there
}

#[cfg(test)]
mod tests {
    use super::{arrive, climbs, tidy, way};
    use std::path::Path;

    #[test]
    fn ways_lead_where_paths_do() {
        for (from, to, expected) in [
            ("/a/b", "/a/b", ""),
            ("/a/b", "/a/b/c", "c"),
            ("/a/b", "/a/c/d", "../c/d"),
            ("/a/b", "/", "../.."),
            ("/", "/x", "x"),
        ] {
            let found = way(Path::new(from), Path::new(to));
            assert_eq!(found, Path::new(expected), "{from} {to}");
            assert_eq!(climbs(&found), expected.matches("..").count());
            assert_eq!(arrive(Path::new(from), &found), Path::new(to));
        }
    }

    #[test]
    fn a_way_that_turns_is_none() {
        for (path, expected) in [
            ("./a/./b/", Some("a/b")),
            ("../../a", Some("../../a")),
            (".", Some("")),
            ("a/../b", None),
            ("/a", None),
        ] {
            assert_eq!(tidy(Path::new(path)).as_deref(), expected.map(Path::new), "{path}");
        }
        assert_eq!(arrive(Path::new("../bot"), Path::new("../../data")), Path::new("../../data"));
    }
}
