//! The report as one page of HTML without scripts and external content, and with a policy that
//! forbids both.

mod markup;
mod svg;
mod tables;
mod games;
mod charts;
mod links;
mod team;

use super::{ChangeRow, GameRow, Report, notes};
use crate::Player;
use crate::ratings::Ends;
use base64::prelude::{BASE64_STANDARD, Engine};
use links::Links;
pub use links::replay_path;
use markup::{Markup, Name, Text};
use sha2::{Digest, Sha256};
use std::io;
use svg::Svg;

/// The style of charts and its colours.
const CHART_STYLE: &str = include_str!("charts.css");
/// The style of pages.
const STYLE: &str = concat!(include_str!("charts.css"), include_str!("style.css"));

/// The width of titles.
const TITLE_COLUMNS: usize = 80;

pub use team::{PrivatePart, TeamPages};

/// The most games of a report that has replay pages in the contest's folder.
const REPLAY_PAGES_MAX: u64 = 1000;

impl Report {
    /// Returns the report as one self-contained page. `folder` is the relative path from the page's
    /// folder to the contest's, with `/`; empty if they are the same.
    pub fn html(&self, folder: &str) -> io::Result<String> {
        let replays = self.has_replay_pages();
        Ok(self.page(&games::listed(self)?, &Links { root: folder, replays, teams: None }))
    }

    /// Returns the ratings with their intervals, and the cross table below, as one picture (SVG); `None` if there is
    /// neither.
    pub fn svg(&self) -> Option<String> {
        let charts = [charts::intervals::alone(self, None), charts::heat::alone(self)];
        Svg::column(charts).map(|picture| picture.document(&self.name, CHART_STYLE))
    }

    /// Returns the ratings of these players with their intervals, and those over games below, with the intervals
    /// `over_games` as bands, as one picture (SVG); `None` if there are none.
    pub(super) fn ratings_svg(&self, of: &[Player], over_games: &[Vec<Ends>]) -> Option<String> {
        let history = charts::history::picture(self, Some(of), over_games).map(|(svg, _)| svg);
        let picture = Svg::column([charts::intervals::alone(self, Some(of)), history]);
        picture.map(|picture| picture.document(&self.name, CHART_STYLE))
    }

    /// Whether the report in the contest's folder links to replay pages there: of a larger
    /// contest, they would take minutes and much space.
    pub fn has_replay_pages(&self) -> bool {
        self.games.len() <= REPLAY_PAGES_MAX
    }

    /// Returns the first page of a site: the report with links to a page for each player, `teams/NAME.html`
    /// with these names, and to a replay page for each of `games`.
    pub fn site_html(&self, games: &[GameRow], teams: &[String]) -> String {
        self.page(games, &Links { root: "", replays: true, teams: Some(teams) })
    }

    fn page(&self, games: &[GameRow], links: &Links<'_>) -> String {
        let mut out = Markup::default();
        head(&mut out, &self.name);
        out.put(format_args!("<h1>{}</h1>\n", Name(&self.name, TITLE_COLUMNS)));
        out.paragraph("lead", &notes::progress(self));
        body(&mut out, sections(self, games, links));
        out.0
    }
}

/// Writes the parts of a page, and its end.
fn body(out: &mut Markup, sections: Vec<Section>) {
    out.put(format_args!("<nav aria-label=\"Parts of this page\"><ul>\n"));
    for section in &sections {
        let (id, title) = (section.id, section.title);
        out.put(format_args!("<li><a href=\"#{id}\">{title}</a></li>\n"));
    }
    out.put(format_args!("</ul></nav>\n"));
    for Section { id, title, body } in sections {
        out.put(format_args!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-h\">\n<h2 id=\"{id}-h\">{title}</h2>\n"
        ));
        out.0.push_str(&body.0);
        out.put(format_args!("</section>\n"));
    }
    out.put(format_args!("</main>\n</body>\n</html>\n"));
}

/// A part of the page.
struct Section {
    id: &'static str,
    title: &'static str,
    body: Markup,
}

/// Returns the source expression of an inline script or style for a content security policy.
pub fn policy_hash(content: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(content.as_bytes())))
}

fn head(out: &mut Markup, title: &str) {
    // Style attributes would need a wider policy, so there are only classes.
    let style = policy_hash(STYLE);
    out.put(format_args!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src {style}; base-uri 'none'; form-action 'none'\"/>\n\
         <meta name=\"referrer\" content=\"no-referrer\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n",
        Text(title)
    ));
}

/// Returns a part of a page; one without content is left out.
fn section(id: &'static str, title: &'static str, fill: &dyn Fn(&mut Markup)) -> Option<Section> {
    let mut body = Markup::default();
    fill(&mut body);
    (!body.0.is_empty()).then_some(Section { id, title, body })
}

fn sections(report: &Report, games: &[GameRow], links: &Links<'_>) -> Vec<Section> {
    let all = [
        section("comparison", "Comparison", &|out| out.notes(&notes::comparison(report))),
        section("standings", "Standings", &|out| tables::standings(out, report, links)),
        section("ties", "Ties", &|out| {
            if !report.ties.is_empty() {
                charts::bracket::draw(out, report);
                out.notes(&notes::ties(report));
            }
        }),
        section("ratings", "Ratings", &|out| {
            if let Some(ratings) = &report.ratings {
                charts::intervals::draw(out, report);
                out.notes(&notes::ratings(ratings));
            }
        }),
        section("history", "Ratings over games", &|out| charts::history::draw(out, report, None)),
        section("cross", "Cross table", &|out| charts::heat::draw(out, report)),
        section("instances", "Instances", &|out| tables::instances(out, report)),
        section("seats", "Results by seat", &|out| {
            if report.standings.seats > 1 && report.standings.games > 0 {
                tables::seats(out, report);
            }
        }),
        section("time", "Time", &|out| tables::time(out, report)),
        section("ends", "How games ended", &|out| tables::ends(out, report)),
        section("games", "Games", &|out| games::list(out, report, games, links)),
        section("left-out", "Left out", &|out| tables::left_out(out, report)),
        section("changes", "Changes", &|out| {
            if !report.changes.is_empty() {
                out.notes(&report.changes.iter().map(ChangeRow::line).collect::<Vec<_>>());
            }
        }),
        section("settings", "Settings", &|out| tables::settings(out, report)),
    ];
    all.into_iter().flatten().collect()
}
