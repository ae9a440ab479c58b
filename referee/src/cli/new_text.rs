//! What `new` tells: the commands to go on with, and the README of the new folder. What a game's
//! actions look like comes from the registry.

use super::words::join;
use referee_games::{GAMES, GameKind};
use sample_agents::starters::{PLACE, Starter};
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Who sits opposite, in turn.
const OPPONENTS: [&str; 2] = ["@greedy", "@random"];

/// The agent that is begun.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// The words of the command that builds it; none where there is nothing to build.
    pub(super) build: &'a [String],
    /// What it begins with.
    pub(super) starter: &'static Starter,
    /// The games that it is for; empty: any.
    pub(super) games: &'a [GameKind],
}

impl Plan<'_> {
    /// The games in words.
    pub(super) fn for_what(&self) -> String {
        let names: Vec<&str> = self.games.iter().map(|game| game.name).collect();
        if names.is_empty() { "any game".to_owned() } else { names.join(", ") }
    }

    /// The words of a first match, with this AGENT in the first seat.
    fn first_match(&self, agent: &str) -> String {
        // Of all games, one for two that is no larger than that.
        let usual = || GAMES.iter().find(|kind| kind.about().seats == [2]).copied();
        let game = self.games.first().copied().or_else(usual).unwrap_or(GAMES[0]);
        let seats = game.start(&json!({})).map_or(2, |game| game.seats());
        let others = OPPONENTS.iter().copied().cycle().take(seats.saturating_sub(1));
        let seated: Vec<&str> = std::iter::once(agent).chain(others).collect();
        format!("referee play {} {}", game.name, seated.join(" "))
    }
}

/// The next three commands, to be pasted where the user stands.
pub(super) fn next_commands(plan: &Plan<'_>, folder: &Path) -> Vec<String> {
    let agent = join(&[as_agent(folder).to_string_lossy()]);
    let mut commands = Vec::new();
    if !plan.build.is_empty() {
        commands.push(format!("(cd {agent} && {})", join(plan.build)));
    }
    commands.push(format!("referee check {agent}"));
    commands.push(plan.first_match(&agent));
    if commands.len() < 3 {
        commands.push("referee replay latest --print".to_owned());
    }
    commands
}

/// The folder as an AGENT and as an argument, for which a name that begins with `@` or `-` would
/// be something else.
fn as_agent(folder: &Path) -> PathBuf {
    let ambiguous = folder.to_string_lossy().starts_with(['@', '-']);
    if ambiguous { Path::new(".").join(folder) } else { folder.to_owned() }
}

/// The README of the new folder. Its commands are for whoever stands in that folder, so that they
/// stay right wherever it goes.
pub(super) fn readme(plan: &Plan<'_>) -> String {
    let Starter { title, files, .. } = plan.starter;
    let mut text = format!(
        "# {}\n\nAn agent in {title} for {}. So far it picks one of the legal actions at random.\n\n\
         In this folder:\n\n",
        plan.name,
        plan.for_what()
    );
    let mut add = |line: &str| text.extend([line, "\n"]);
    if !plan.build.is_empty() {
        add(&format!("    {}", join(plan.build)));
    }
    add("    referee check .");
    add(&format!("    {}", plan.first_match(".")));
    add("    referee replay latest --print");
    add(&format!(
        "\nWhere it decides is `{PLACE}` in `{}`: change that first. Two things to keep: flush\n\
         after every line, and write nothing else to stdout. Debug text goes to stderr, and is\n\
         kept with the turn in which it was written.",
        files[0].name
    ));
    if plan.games.is_empty() {
        add("\n`referee games` lists what it can play, `referee games GAME` how actions look.");
    }
    for game in plan.games {
        add(&about(game));
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn about(game: &GameKind) -> String {
    let about = game.about();
    let name = game.name;
    let mut text = format!("\n## {}\n\n{}\n\nIts actions:\n\n", about.title, about.summary);
    for form in about.actions {
        writeln!(text, "- `{}` ({}): {}", form.example, form.text, form.meaning).ok();
    }
    let (games, position) = (format!("referee games {name}"), format!("referee position {name}"));
    write!(
        text,
        "\n`{games}` tells the setups, the reasons for an end and the scores;\n\
         `{position} --json` prints a position as `turn` has it."
    )
    .ok();
    text
}
