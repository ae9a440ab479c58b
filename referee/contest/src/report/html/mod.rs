//! The report as one page of HTML without scripts and external content, and with a policy that
//! forbids both.

mod markup;
mod svg;
mod tables;
mod games;
mod charts;

use super::{Report, notes};
use base64::prelude::{BASE64_STANDARD, Engine};
use markup::{Markup, Name, Text};
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("style.css");

/// The width of titles.
const TITLE_COLUMNS: usize = 80;

impl Report {
    /// Returns the report as one self-contained page. `folder` is the relative path from the page's
    /// folder to the contest's, with `/`; empty if they are the same.
    pub fn html(&self, folder: &str) -> String {
        let mut out = Markup::default();
        head(&mut out, self);
        out.put(format_args!("<h1>{}</h1>\n", Name(&self.name, TITLE_COLUMNS)));
        out.paragraph("lead", &notes::progress(self));
        let sections = sections(self, folder);
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
        out.0
    }
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

fn head(out: &mut Markup, report: &Report) {
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
        Text(&report.name)
    ));
}

fn sections(report: &Report, folder: &str) -> Vec<Section> {
    let section = |id, title, fill: &dyn Fn(&mut Markup)| {
        let mut body = Markup::default();
        fill(&mut body);
        // A part without content is left out.
        (!body.0.is_empty()).then_some(Section { id, title, body })
    };
    let all = [
        section("standings", "Standings", &|out| tables::standings(out, report)),
        section("ties", "Ties", &|out| {
            if !report.ties.is_empty() {
                out.notes(&notes::ties(report));
            }
        }),
        section("ratings", "Ratings", &|out| {
            if let Some(ratings) = &report.ratings {
                charts::intervals::draw(out, report);
                out.notes(&notes::ratings(ratings));
            }
        }),
        section("history", "Ratings over games", &|out| charts::history::draw(out, report)),
        section("cross", "Cross table", &|out| charts::heat::draw(out, report)),
        section("instances", "Instances", &|out| tables::instances(out, report)),
        section("seats", "Results by seat", &|out| {
            if report.standings.seats > 1 && report.standings.games > 0 {
                charts::seats::draw(out, report);
                tables::seats(out, report);
            }
        }),
        section("time", "Time", &|out| charts::time::draw(out, report)),
        section("ends", "How games ended", &|out| tables::ends(out, report)),
        section("games", "Games", &|out| games::list(out, report, folder)),
        section("left-out", "Left out", &|out| tables::left_out(out, report)),
        section("settings", "Settings", &|out| tables::settings(out, report)),
    ];
    all.into_iter().flatten().collect()
}
