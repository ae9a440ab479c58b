//! The texts of `new`: the next commands, and the README of the new folder.

use super::new::COPIED_TO;
use super::setup::first_for_two;
use super::shell::join;
use referee_games::{GAMES, GameKind};
use sample_agents::starters::{DECISION_FUNCTION, Starter};
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The opponents in the first match, in turn.
const OPPONENTS: [&str; 2] = ["@greedy", "@random"];
/// The same in a game that doesn't estimate positions.
const WITHOUT_ESTIMATE: [&str; 2] = ["@random", "@first"];

/// The agent to create.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// The command that builds it; empty if nothing is to be built.
    pub(super) build: &'a [String],
    /// Its starter.
    pub(super) starter: &'static Starter,
    /// The games that it plays; empty for any.
    pub(super) games: &'a [GameKind],
    /// The GAME as given, if it is a game program.
    pub(super) game: Option<&'a str>,
    /// Whether the agent has a copy of the game program.
    pub(super) is_copied: bool,
}

impl Plan<'_> {
    /// Returns the games as text.
    pub(super) fn for_what(&self) -> String {
        let names: Vec<&str> = self.games.iter().map(|game| game.name).collect();
        if names.is_empty() { "every built-in game".to_owned() } else { names.join(", ") }
    }

    /// Returns its game program as a GAME from the agent's own folder.
    fn game_beside(&self) -> Option<String> {
        let program = self.games.iter().find_map(GameKind::program)?;
        let folder = || program.folder().to_string_lossy().into_owned();
        Some(if self.is_copied { format!("./{COPIED_TO}") } else { join(&[folder()]) })
    }

    /// Returns the command that checks it. `program` is its game program as a GAME.
    fn check(agent: &str, program: Option<&str>) -> String {
        let game = program.map_or_else(String::new, |game| format!(" --game {game}"));
        format!("referee check {agent}{game}")
    }

    /// Returns the command that shows that match.
    fn replay(program: Option<&str>) -> String {
        let rules = program.map_or_else(String::new, |game| format!(" --rules {game}"));
        format!("referee replay latest --print{rules}")
    }

    /// Returns the command of a first match, with this agent in the first seat.
    fn first_match(&self, agent: &str, program: Option<&str>) -> String {
        let game = first_for_two(if self.games.is_empty() { GAMES } else { self.games });
        let seats = game.start(&json!({})).map_or(2, |game| game.seats());
        let opponents = match game.program() {
            // The built-in agents need the list of actions.
            Some(program) if !program.lists() => [agent; 2],
            Some(program) if !program.estimates() => WITHOUT_ESTIMATE,
            _ => OPPONENTS,
        };
        let others = opponents.iter().copied().cycle().take(seats.saturating_sub(1));
        let seated: Vec<&str> = std::iter::once(agent).chain(others).collect();
        format!("referee play {} {}", program.unwrap_or(game.name), seated.join(" "))
    }
}

/// Returns three commands to run next in the working directory.
pub(super) fn next_commands(plan: &Plan<'_>, folder: &Path) -> Vec<String> {
    let agent = join(&[as_agent(folder).to_string_lossy()]);
    let mut commands = Vec::new();
    if !plan.build.is_empty() {
        commands.push(format!("(cd {agent} && {})", join(plan.build)));
    }
    let program = plan.game.map(|game| join(&[game]));
    commands.push(Plan::check(&agent, program.as_deref()));
    commands.push(plan.first_match(&agent, program.as_deref()));
    if commands.len() < 3 {
        commands.push(Plan::replay(program.as_deref()));
    }
    commands
}

/// Returns the folder as an AGENT. Without `./`, a name that begins with `@` or `-` would be a built-in
/// agent or an option.
fn as_agent(folder: &Path) -> PathBuf {
    let ambiguous = folder.to_string_lossy().starts_with(['@', '-']);
    if ambiguous { Path::new(".").join(folder) } else { folder.to_owned() }
}

/// Returns the README of the new folder. Its commands run in that folder, so it can be moved.
pub(super) fn readme(plan: &Plan<'_>) -> String {
    let Starter { title, files, .. } = plan.starter;
    let mut text = format!(
        "# {}\n\nAn agent in {title} for {}. So far it plays legal actions without a plan.\n\n\
         In this folder:\n\n",
        plan.name,
        plan.for_what()
    );
    let mut add = |line: &str| text.extend([line, "\n"]);
    if !plan.build.is_empty() {
        add(&format!("    {}", join(plan.build)));
    }
    let program = plan.game_beside();
    add(&format!("    {}", Plan::check(".", program.as_deref())));
    add(&format!("    {}", plan.first_match(".", program.as_deref())));
    add(&format!("    {}", Plan::replay(program.as_deref())));
    add(&format!(
        "\nThe function `{DECISION_FUNCTION}` in `{}` picks the action: change that first. Print\n\
         debug output to stderr, never to stdout: the transcript keeps it with the turn.",
        files[0].name
    ));
    if plan.games.is_empty() {
        add(
            "\n`referee games` lists the games, `referee games GAME` shows what actions look like.",
        );
    }
    if plan.is_copied {
        add(&format!(
            "\n`{COPIED_TO}/` has the rules of the game, which the bot uses to look ahead, and `referee_kit/` has the kit\n\
             that both need. Replace the copy when the rules change."
        ));
    }
    for game in plan.games {
        add(&about(game, program.as_deref()));
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn about(game: &GameKind, program: Option<&str>) -> String {
    let about = game.about();
    let name = program.unwrap_or(game.name);
    let mut text = format!("\n## {}\n\n{}\n\nIts actions:\n\n", about.title, about.summary);
    for form in &about.actions {
        writeln!(text, "- `{}` ({}): {}", form.example, form.text, form.meaning).ok();
    }
    let (games, position) = (format!("referee games {name}"), format!("referee position {name}"));
    write!(
        text,
        "\n`{games}` shows the setups, the ways a game can end, and the scores;\n\
         `{position} --json` prints a position as in the message `turn`."
    )
    .ok();
    text
}
