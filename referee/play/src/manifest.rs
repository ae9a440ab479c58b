//! `agent.toml`, as it is written.

use crate::agent_sandbox::AgentSandboxSettings;
use referee_games::dialects;
use referee_process::work_folder::sets_variable;
use referee_protocol::LineProtocol;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the referee's own protocol in agent.toml.
const OWN_PROTOCOL: &str = "referee";

/// `agent.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) name: Option<String>,
    pub(super) command: Words,
    pub(super) build: Option<Words>,
    #[serde(default)]
    pub(super) games: Vec<String>,
    #[serde(default)]
    pub(super) protocol: Option<String>,
    #[serde(default)]
    pub(super) init: Vec<String>,
    #[serde(default)]
    pub(super) options: toml::Table,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) sandbox: AgentSandboxSettings,
}

impl Manifest {
    /// Returns its variables for the agent's process, as `NAME=VALUE`.
    pub(super) fn environment(&self) -> Result<Vec<String>, String> {
        let entry = |(name, value): (&String, &String)| {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(format!(
                    "env: {name:?} is not a valid variable name, or its value has a NUL"
                ));
            }
            if sets_variable(name) {
                return Err(format!("env: {name} is set by the referee for every agent"));
            }
            Ok(format!("{name}={value}"))
        };
        self.env.iter().map(entry).collect()
    }

    /// Returns its line protocol, or that of the AGENT: `prefix:FOLDER`.
    pub(super) fn line_protocol(
        &self,
        prefix: Option<&str>,
    ) -> Result<Option<LineProtocol>, String> {
        let own = self.protocol.as_deref().filter(|name| *name != OWN_PROTOCOL);
        if let (Some(prefix), Some(named)) = (prefix, self.protocol.as_deref())
            && prefix != named
        {
            return Err(format!("its protocol is {named:?}, not {prefix:?}"));
        }
        let Some(name) = own.or(prefix) else {
            let unused = [("init", self.init.is_empty()), ("options", self.options.is_empty())];
            return match unused.iter().find(|(_, is_empty)| !is_empty) {
                Some((field, _)) => Err(format!("`{field}` needs a `protocol`")),
                None => Ok(None),
            };
        };
        let options = serde_json::to_value(&self.options).map_err(|error| error.to_string())?;
        let options = options.as_object().cloned().unwrap_or_default();
        let spoken = LineProtocol { name: name.to_owned(), init: self.init.clone(), options };
        let Some((_, dialect)) = dialects().find(|(_, dialect)| dialect.name == name) else {
            let known: Vec<&str> = dialects().map(|(_, dialect)| dialect.name).collect();
            let known = known.join(", ");
            return Err(format!(
                "unknown protocol {name:?}; known ones are {OWN_PROTOCOL}, {known}"
            ));
        };
        dialect.begin(&spoken).map_err(|error| format!("protocol {name}: {error}"))?;
        Ok(Some(spoken))
    }
}

/// A command: a list of words, or text that is split as a shell would, without a shell.
#[derive(Debug, Deserialize)]
#[serde(try_from = "toml::Value")]
pub(super) struct Words(pub(super) Vec<String>);

impl Words {
    /// Returns the words. Paths of files in this folder that are written as on Windows, `src\bot.py`, get
    /// slashes.
    pub(super) fn with_slashes(self, folder: &Path) -> Vec<String> {
        let slashed = |word: String| {
            let other = word.replace('\\', "/");
            if !folder.join(&word).exists() && folder.join(&other).is_file() { other } else { word }
        };
        self.0.into_iter().map(slashed).collect()
    }
}

impl TryFrom<toml::Value> for Words {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        let words = match value {
            toml::Value::String(text) => {
                shlex::split(&text).ok_or_else(|| format!("unbalanced quotes in {text:?}"))?
            }
            toml::Value::Array(values) => values
                .into_iter()
                .map(|value| match value {
                    toml::Value::String(word) => Ok(word),
                    other => Err(format!("expected a list of strings, got {other}")),
                })
                .collect::<Result<_, _>>()?,
            other => return Err(format!("expected a list of strings or a string, got {other}")),
        };
        if words.is_empty() { Err("a command needs a program".to_owned()) } else { Ok(Self(words)) }
    }
}

#[cfg(test)]
mod tests {
    use super::Words;
    use std::fs;

    #[test]
    fn paths_of_windows_name_files_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        for name in ["src/bot.py", "odd\\name"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        for (written, meant) in [
            ("src\\bot.py", "src/bot.py"),
            (".\\src\\bot.py", "./src/bot.py"),
            ("odd\\name", "odd\\name"),
            ("\\d+", "\\d+"),
            ("src\\none.py", "src\\none.py"),
        ] {
            assert_eq!(Words(vec![written.to_owned()]).with_slashes(folder.path()), [meant]);
        }
    }
}
