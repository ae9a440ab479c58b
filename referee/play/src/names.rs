//! Unique names for agents.

use super::agent_spec::AgentSpec;
use referee_match::names;
use referee_protocol::sanitize::sanitize_name;
use std::collections::BTreeSet;
use std::path::{Component, PathBuf};

/// Returns a unique name for each agent. Different programs with the same name are followed by the part
/// of their paths that differs: `mybot (v1)`, `mybot (v2)`. The same program again is ` #2`, ` #3`.
pub fn unique_names(specs: &[&AgentSpec]) -> Vec<String> {
    let name = |spec: &&AgentSpec| {
        let namesakes = specs.iter().filter(|other| other.name == spec.name);
        let paths: BTreeSet<Vec<Component<'_>>> = namesakes.filter_map(|it| path(it)).collect();
        match path(spec).filter(|_| paths.len() > 1) {
            Some(own) => {
                let part = distinct_part(&own, &paths);
                sanitize_name(&format!("{} ({})", spec.name, part.display()))
            }
            None => spec.name.clone(),
        }
    };
    names::unique_names(specs.iter().map(name))
}

/// Returns the path of an agent's folder or program; `None` for a built-in agent.
fn path(spec: &AgentSpec) -> Option<Vec<Component<'_>>> {
    Some(spec.own.last()?.components().collect())
}

/// Returns the shortest part of a path that differs from all others. What all have at the end is left
/// out.
fn distinct_part(own: &[Component<'_>], paths: &BTreeSet<Vec<Component<'_>>>) -> PathBuf {
    let is_shared = |end: &usize| {
        let last = own.iter().rev().nth(*end);
        paths.iter().all(|path| path.iter().rev().nth(*end) == last)
    };
    let shared = (0..own.len()).take_while(is_shared).count();
    let part = |path: &[Component<'_>], length: usize| -> PathBuf {
        path.iter().rev().skip(shared).take(length).rev().collect()
    };
    let is_distinct = |length: &usize| {
        let same = |path: &&Vec<Component<'_>>| part(path, *length) == part(own, *length);
        paths.iter().filter(same).count() == 1
    };
    let length = (1..own.len()).find(is_distinct).unwrap_or(own.len());
    part(own, length)
}

#[cfg(test)]
mod tests {
    use super::unique_names;
    use crate::agent_spec::AgentSpec;

    fn names(agents: &[(&str, &str)]) -> Vec<String> {
        let spec = |&(name, path): &(&str, &str)| AgentSpec {
            name: name.to_owned(),
            own: Some(path.into()).into_iter().filter(|_| !path.is_empty()).collect(),
            ..AgentSpec::default()
        };
        let specs: Vec<AgentSpec> = agents.iter().map(spec).collect();
        unique_names(&specs.iter().collect::<Vec<_>>())
    }

    #[test]
    fn names_are_unique_and_say_which_program_it_is() {
        assert_eq!(names(&[("@a", ""), ("@a", ""), ("@a", "")]), ["@a", "@a #2", "@a #3"]);
        let two = [("bot", "/x/v1/bot"), ("bot", "/x/v2/bot"), ("bot 2", "/x/v2/bot2")];
        assert_eq!(names(&two), ["bot (v1)", "bot (v2)", "bot 2"]);
        // Folders whose agent.toml has the same name.
        assert_eq!(names(&[("bot", "/x/old"), ("bot", "/x/new")]), ["bot (old)", "bot (new)"]);
        let deep = [("bot", "/x/a/src/bot.py"), ("bot", "/y/a/src/bot.py")];
        assert_eq!(names(&deep), ["bot (x)", "bot (y)"]);
        let mixed = [("bot", "/a/v1/bot"), ("bot", "/b/v1/bot"), ("bot", "/b/v2/bot")];
        assert_eq!(names(&mixed), ["bot (a/v1)", "bot (b/v1)", "bot (v2)"]);
        let twice = [("bot", "/v1/bot"), ("bot", "/v1/bot"), ("bot", "/v2/bot"), ("bot", "")];
        assert_eq!(names(&twice), ["bot (v1)", "bot (v1) #2", "bot (v2)", "bot"]);
        assert_eq!(names(&[("bot", "/bot"), ("bot", "/a/bot")]), ["bot (/)", "bot (a)"]);
    }
}
