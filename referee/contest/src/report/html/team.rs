//! A site's page of one player: its record, its losses with their reasons, its opponents, its games.

use super::super::columns::{self, Column, Detail, Kind, Table};
use super::super::{GameRow, LeftOut, Report, plain_text};
use super::games::OPEN_GAMES_MAX;
use super::links::Links;
use super::markup::{Markup, Name, Text};
use super::tables::{NAME_COLUMNS, columns_table};
use super::{TITLE_COLUMNS, body, charts, games, head, section};
use crate::Player;
use crate::numbers::percent;
use crate::standings::{Meeting, Standing};
use crate::wording::count;
use referee_match::summary::fault_in_words;

/// The most losses that are described; the table of games has all.
const LOSSES_MAX: usize = 200;

/// The pages of all players.
#[derive(Debug)]
pub struct TeamPages<'a> {
    report: &'a Report,
    games: &'a [GameRow],
    links: Links<'a>,
    standings: Vec<Column>,
}

/// What only the author of an agent may see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrivatePart {
    /// Its stderr by game number, as far as it is shown.
    pub stderr: Vec<(u64, String)>,
    /// The result of `check`, Markdown.
    pub check: Option<String>,
}

impl<'a> TeamPages<'a> {
    /// Prepares pages in a folder of a site; `games` are all games, and `teams` the pages' names, by
    /// player.
    pub fn new(report: &'a Report, games: &'a [GameRow], teams: &'a [String]) -> Self {
        let links = Links { root: "..", replays: true, teams: Some(teams) };
        Self { report, games, links, standings: columns::standings(report, Detail::Ranks) }
    }

    /// Returns the page of a player; with `private`, the one for its author alone. Empty if there is no such
    /// player.
    pub fn page(&self, player: Player, private: Option<&PrivatePart>) -> String {
        let players = &self.report.standings.players;
        let Some(place) = players.iter().position(|own| own.player == player) else {
            return String::new();
        };
        let (report, own) = (self.report, &players[place]);
        let own_games = self.games.iter().filter(|game| game.players.contains(&player));
        let own_games: Vec<GameRow> = own_games.cloned().collect();
        let mut out = Markup::default();
        head(&mut out, &format!("{} · {}", own.name, report.name));
        let (name, contest) = (Name(&own.name, TITLE_COLUMNS), Name(&report.name, TITLE_COLUMNS));
        out.put(format_args!("<h1>{name}</h1>\n"));
        out.put(format_args!("<p class=\"lead\"><a href=\"../index.html\">{contest}</a></p>\n"));
        let table = |out: &mut Markup| {
            let columns = games::columns(report, &own_games, &self.links);
            let summary = count(own_games.len() as u64, "game");
            out.details(own_games.len() <= OPEN_GAMES_MAX, &summary, |out| {
                columns_table(out, "games", &columns);
            });
        };
        let sections = [
            section("record", "Record", &|out| columns_table(out, "", &self.record(place))),
            section("losses", "Losses", &|out| self.losses(out, player, &own_games)),
            section("history", "Rating over games", &|out| {
                charts::history::draw(out, report, Some(&[player]));
            }),
            section("opponents", "Opponents", &|out| self.opponents(out, own)),
            section("games", "Games", &table),
            section("stderr", "Stderr", &|out| stderr(out, private)),
            section("check", "Check", &|out| {
                if let Some(check) = private.and_then(|private| private.check.as_deref()) {
                    verbatim(out, &plain_text(check));
                }
            }),
        ];
        body(&mut out, sections.into_iter().flatten().collect());
        out.0
    }

    /// Returns the private page of a submission that doesn't play.
    pub fn left_out_page(&self, own: &LeftOut, check: &str) -> String {
        let mut out = Markup::default();
        head(&mut out, &format!("{} · {}", own.name, self.report.name));
        out.put(format_args!("<h1>{}</h1>\n", Name(&own.name, TITLE_COLUMNS)));
        out.paragraph("lead", &format!("It doesn't play: {}", own.reason));
        body(
            &mut out,
            section("check", "Check", &|out| verbatim(out, &plain_text(check)))
                .into_iter()
                .collect(),
        );
        out.0
    }

    /// Returns the row of the standings.
    fn record(&self, place: usize) -> Vec<Column> {
        let row =
            |column: &Column| Column { cells: vec![column.cells[place].clone()], ..column.clone() };
        self.standings.iter().map(row).collect()
    }

    /// Writes a sentence about each game that it didn't win.
    fn losses(&self, out: &mut Markup, player: Player, own_games: &[GameRow]) {
        let lost = |game: &&GameRow| {
            let seat = game.players.iter().position(|&other| other == player);
            let place = seat.and_then(|seat| game.places.get(seat));
            let best = game.places.iter().min();
            let worst = game.places.iter().max();
            // With one seat, the first place is a solution.
            place > best || game.places.len() == 1 && worst > Some(&1)
        };
        let lost: Vec<&GameRow> =
            own_games.iter().filter(|game| game.counts).filter(lost).collect();
        if lost.is_empty() {
            return;
        }
        out.put(format_args!("<ul class=\"notes\">\n"));
        for game in lost.iter().take(LOSSES_MAX) {
            let game_link = self.links.game(game);
            out.put(format_args!("<li>Game {game_link}: {}", Text(&game.text)));
            let own =
                game.faults.iter().filter(|fault| game.players.get(fault.seat) == Some(&player));
            for text in own.filter_map(|fault| fault.text.as_deref()) {
                out.put(format_args!(": <q>{}</q>", Text(&fault_in_words(text))));
            }
            out.put(format_args!("</li>\n"));
        }
        out.put(format_args!("</ul>\n"));
        if lost.len() > LOSSES_MAX {
            out.paragraph("note", &format!("The first {LOSSES_MAX} of {}.", lost.len()));
        }
    }

    fn opponents(&self, out: &mut Markup, own: &Standing) {
        let players = self.report.standings.players.iter();
        let meeting = |other: &'a Standing| {
            Some((other, self.report.standings.meeting(own.player, other.player)?))
        };
        let met: Vec<(&Standing, &Meeting)> = players.filter_map(meeting).collect();
        if met.is_empty() {
            return;
        }
        let mut table = Table::new(&met);
        table.figure("#", |(other, _)| Some(other.rank));
        table.add("opponent", Kind::Row, |(other, _)| {
            self.links.player(other.player, &other.name, NAME_COLUMNS)
        });
        table.figure("games", |(_, met)| Some(met.games));
        table.figure("points", |(_, met)| Some(met.points));
        table.figure("%", |(_, met)| met.share().map(percent));
        columns_table(out, "", &table.columns);
    }
}

fn stderr(out: &mut Markup, private: Option<&PrivatePart>) {
    for (number, text) in private.iter().flat_map(|private| &private.stderr) {
        out.details(false, &format!("Game {number}"), |out| verbatim(out, text));
    }
}

/// Writes lines as they are.
fn verbatim(out: &mut Markup, text: &str) {
    let lines: Vec<String> = text.lines().map(|line| Text(line).to_string()).collect();
    out.put(format_args!("<pre>{}</pre>\n", lines.join("\n")));
}
