//! The arguments that were given to a command, as clap parsed them, for commands that repeat it.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// Options of every command that don't change what it does.
const GLOBAL: [&str; 4] = ["quiet", "verbose", "color", "log_format"];

/// The arguments that were given on the command line. Flatten it into a command's options, first: clap takes
/// out what the other fields are made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Given(Vec<GivenArg>);

/// An argument, or one of its values.
#[derive(Clone, Debug)]
struct GivenArg {
    id: String,
    /// Its place on the command line.
    place: usize,
    /// `None` of a switch.
    value: Option<String>,
}

impl Given {
    /// Whether an option was given.
    pub(super) fn has(&self, id: &str) -> bool {
        self.0.iter().any(|arg| arg.id == id)
    }

    /// Returns the words, without those of some options; `positional` arguments have no name.
    pub(super) fn words(&self, positional: &[&str], without: &[&str]) -> Vec<String> {
        let kept = self.0.iter().filter(|arg| {
            let id = arg.id.as_str();
            !without.contains(&id) && !GLOBAL.contains(&id)
        });
        let words = kept.flat_map(|arg| {
            let is_named = !positional.contains(&arg.id.as_str());
            let name = is_named.then(|| format!("--{}", arg.id.replace('_', "-")));
            [name, arg.value.clone()].into_iter().flatten()
        });
        words.collect()
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        // Each struct of options is a group with the name of its type.
        let is_group = |id: &str| id.starts_with(char::is_uppercase);
        let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let ids = matches.ids().map(clap::Id::as_str);
        let mut given = Vec::new();
        for id in ids.filter(|id| !is_group(id) && is_given(id)) {
            let places = matches.indices_of(id).into_iter().flatten();
            let values: Vec<Option<String>> = match matches.try_get_many::<String>(id) {
                // A name in a config file has been replaced by the agent.
                Ok(Some(texts)) => texts.cloned().map(Some).collect(),
                _ if matches.try_get_one::<bool>(id).is_ok() => vec![None],
                _ => {
                    let raw = matches.get_raw(id).into_iter().flatten();
                    raw.map(|value| Some(value.to_string_lossy().into_owned())).collect()
                }
            };
            let arg = |(place, value)| GivenArg { id: id.to_owned(), place, value };
            given.extend(places.zip(values).map(arg));
        }
        given.sort_by_key(|arg| arg.place);
        Ok(Self(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Given;
    use crate::cli::command_line;
    use clap::FromArgMatches;

    fn words(line: &str, positional: &[&str], without: &[&str]) -> String {
        let matches = command_line().get_matches_from(line.split(' '));
        let (_, matches) = matches.subcommand().unwrap();
        Given::from_arg_matches(matches).unwrap().words(positional, without).join(" ")
    }

    #[test]
    fn what_was_given_is_repeated_in_its_order() {
        let line = "-s size=7 hex @first --build a=@random --sandbox none --limit files=9 --pondering \
                    freeze -s swap=false --openings 3 --move-time 2s --no-config";
        let long = line.replace("-s ", "--setup ");
        let positional = ["game", "agents"];
        assert_eq!(words(&format!("referee -q play {line} -v"), &positional, &[]), long);
        let line = "referee play hex @first -n 3 --json --seed 4 --cpu @first";
        let without = ["games", "json", "seed"];
        assert_eq!(words(line, &positional, &without), "hex @first --cpu @first");
        let line = "bot --game hex --game chexers --strict";
        assert_eq!(words(&format!("referee check {line}"), &["agent"], &[]), line);
    }
}
