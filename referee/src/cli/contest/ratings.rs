//! `contest ratings`: one fit over the games of one or several contests.

use crate::cli::bars::spinner;
use crate::cli::global::Global;
use crate::cli::output::{cell, print, print_json, table};
use clap::{Args, ValueEnum};
use referee_contest::joint::JointGames;
use referee_contest::neighbours::NeighbourEffect;
use referee_contest::ratings::{Rating, Ratings};
use referee_contest::{Player, PlayerInfo};
use referee_process::Failure;
use referee_runner::changing::find_player;
use referee_runner::folder::Folder;
use referee_runner::store::Store;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// Rate the agents of one or several contests together
///
/// Fits one model to all games. Agents with the same name and files are the same player in all
/// contests; another version is another player, such as `mybot (2)`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest ratings contests/autumn contests/winter\n  \
    referee contest ratings contests/* --anchor @greedy=1500\n  \
    referee contest ratings contests/autumn --table superiority")]
pub(super) struct Options {
    /// Contest folder (repeatable)
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Agent to set to this rating, or to 0 if none is given; intervals are then for differences to
    /// it. Defaults to 0 for the mean
    #[arg(long, value_name = "NAME[=ELO]")]
    anchor: Option<String>,
    /// Table to print
    #[arg(long, value_enum, default_value = "ratings")]
    table: Shown,
    /// Print one JSON object with all tables
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shown {
    /// Ratings with 95 % intervals
    Ratings,
    /// How likely it is that the agent in a row is stronger than the one in a column, in percent
    Superiority,
    /// With three or more seats: points of an agent if another one moves directly after it, and
    /// before it
    Neighbours,
}

/// Ratings over several contests, as `contest ratings --json` prints them.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct RatingsReport {
    /// The agents, in the order of their first games; other lists refer to their places, from 0.
    players: Vec<RatedAgent>,
    /// The fit.
    ratings: Ratings,
    /// How likely it is, in percent, that the agent in a row is stronger than the one in a column;
    /// null for an agent and itself, and where no games link the two.
    superiority: Vec<Vec<Option<f64>>>,
    /// The effect of who moves directly after and before; empty with two seats.
    neighbours: Vec<NeighbourEffect>,
}

/// An agent in [`RatingsReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct RatedAgent {
    /// Its name; untrusted text.
    name: String,
    /// The agent as given.
    agent: String,
    /// SHA-256 of the agent, in hex.
    digest: String,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let spinner = spinner("computing the ratings", !global.quiet);
    let mut games = joint_games(&options.folders)?;
    let anchor = options.anchor.as_deref().map(|text| anchor(text, &games.players)).transpose()?;
    if options.json {
        let report = RatingsReport {
            ratings: games.rate(anchor),
            superiority: games.superiority(),
            neighbours: games.neighbours.effects(),
            players: games.players.into_iter().map(RatedAgent::from).collect(),
        };
        spinner.finish_and_clear();
        return print_json(&report);
    }
    let ratings = games.rate(anchor);
    let names: Vec<String> = games.players.iter().map(|player| cell(&player.name)).collect();
    let order = by_rating(&ratings);
    let (rows, notes) = match options.table {
        Shown::Ratings => (rated(&ratings, &order, &names), notes(&ratings)),
        Shown::Superiority => (superior(&games.superiority(), &order, &names), Vec::new()),
        Shown::Neighbours => {
            let effects = games.neighbours.effects();
            if effects.is_empty() {
                return Err(Failure::usage("a game of two seats has no neighbours")
                    .help("`--table neighbours` is for games of three seats or more"));
            }
            (beside(&effects, &names), Vec::new())
        }
    };
    spinner.finish_and_clear();
    global.note(notes);
    print(&table(&rows))
}

/// Reads the games of contests in these folders.
fn joint_games(folders: &[PathBuf]) -> Result<JointGames, Failure> {
    let open = |path: &PathBuf| {
        let store = Store::open_to_read(&Folder::open(path)?)?;
        let contest = store.contest()?.contest;
        Ok::<_, Failure>((store, contest))
    };
    let contests =
        folders.iter().map(|path| Ok(open(path)?.1)).collect::<Result<Vec<_>, Failure>>()?;
    let mut games = JointGames::of(&contests).map_err(|error| Failure::usage(error.to_string()))?;
    for (place, path) in folders.iter().enumerate() {
        // Again: its players may have changed meanwhile.
        let (store, contest) = open(path)?;
        store.each_record(|record| {
            games.add((place, &contest), record);
            Ok::<_, Failure>(())
        })?;
    }
    Ok(games)
}

impl From<PlayerInfo> for RatedAgent {
    fn from(PlayerInfo { name, run, digest }: PlayerInfo) -> Self {
        Self { name, agent: run, digest }
    }
}

/// Reads an anchor: a name, and maybe its rating.
fn anchor(text: &str, players: &[PlayerInfo]) -> Result<(Player, f64), Failure> {
    if let Ok(player) = find_player(players, text) {
        return Ok((player, 0.0));
    }
    let (name, elo) = text.rsplit_once('=').unwrap_or((text, "0"));
    let player = find_player(players, name)?;
    let elo = elo.parse().ok().filter(|elo: &f64| elo.is_finite());
    let elo =
        elo.ok_or_else(|| Failure::usage("--anchor: the rating is a number, as in NAME=1500"))?;
    Ok((player, elo))
}

/// Returns the players, the strongest first.
fn by_rating(ratings: &Ratings) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ratings.players.len()).collect();
    order.sort_by(|&a, &b| ratings.players[b].elo.total_cmp(&ratings.players[a].elo));
    order
}

fn fixed(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

fn rated(ratings: &Ratings, order: &[usize], names: &[String]) -> Vec<Vec<String>> {
    let has_scores = ratings.players.iter().any(|rating| rating.score.is_some());
    let head = ["player", "Elo", "Elo low", "Elo high", "games", "better than next %"];
    let of_scores = ["score", "score low", "score high"].into_iter().filter(|_| has_scores);
    let row = |&player: &usize| {
        let Rating { elo, low, high, games, better_than_next, score, .. } = ratings.players[player];
        let better = fixed(better_than_next, 1);
        let [elo, low, high] = [Some(elo), low, high].map(|elo| fixed(elo, 1));
        let own =
            [score.map(|it| it.score), score.and_then(|it| it.low), score.and_then(|it| it.high)];
        let scores = own.map(|it| fixed(it, 3)).into_iter().filter(|_| has_scores);
        let ratings = [names[player].clone(), elo, low, high, games.to_string(), better];
        ratings.into_iter().chain(scores).collect()
    };
    let head = head.into_iter().chain(of_scores).map(str::to_owned).collect();
    std::iter::once(head).chain(order.iter().map(row)).collect()
}

fn superior(chances: &[Vec<Option<f64>>], order: &[usize], names: &[String]) -> Vec<Vec<String>> {
    let shown = |&player: &usize| names[player].clone();
    let head = std::iter::once("stronger than".to_owned()).chain(order.iter().map(shown));
    let row = |&player: &usize| {
        let cells = order.iter().map(|&other| fixed(chances[player][other], 1));
        std::iter::once(names[player].clone()).chain(cells).collect()
    };
    std::iter::once(head.collect()).chain(order.iter().map(row)).collect()
}

fn beside(effects: &[NeighbourEffect], names: &[String]) -> Vec<Vec<String>> {
    let head = ["player", "neighbour", "games after", "points", "games before", "points"];
    let head = head.into_iter().chain(["difference", "error"]).map(str::to_owned).collect();
    let row = |own: &NeighbourEffect| {
        vec![
            names[own.player.index()].clone(),
            names[own.neighbour.index()].clone(),
            own.games_after.to_string(),
            fixed(own.points_after, 3),
            own.games_before.to_string(),
            fixed(own.points_before, 3),
            fixed(own.difference, 3),
            fixed(own.error, 3),
        ]
    };
    std::iter::once(head).chain(effects.iter().map(row)).collect()
}

/// Returns what the ratings mean.
fn notes(ratings: &Ratings) -> Vec<String> {
    let scale = format!(
        "0 Elo is {}; one fit ({}) over {} games in {} blocks",
        ratings.anchor, ratings.model, ratings.games, ratings.blocks
    );
    std::iter::once(scale).chain(ratings.notes.clone()).collect()
}
