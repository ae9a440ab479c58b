//! The page: well formed, harmless, complete.

use super::samples::{HOSTILE, games, games_csv, listed, named, puzzles, report};
use crate::ratings::Ends;
use crate::report::{Layout, Report, replay_path};
use std::sync::LazyLock;

/// Reports of all kinds, by name.
fn samples() -> &'static [(&'static str, Report)] {
    static SAMPLES: LazyLock<Vec<(&'static str, Report)>> = LazyLock::new(make_samples);
    &SAMPLES
}

fn make_samples() -> Vec<(&'static str, Report)> {
    let friends = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
    let mut hostile = report(&named(10, 2, &HOSTILE), &games(4, 10, 2, 300));
    hostile.name = HOSTILE[0].to_owned();
    let mut rows = hostile.games.rows().unwrap();
    rows[5].faults[0].text = Some(HOSTILE[1].to_owned());
    rows[0].reason = HOSTILE[1].to_owned();
    rows[0].transcript = "javascript:alert(1)//\" onclick=\"x".to_owned();
    hostile.games = listed(rows);
    hostile.left_out[0].name = HOSTILE[8].to_owned();
    hostile.left_out[0].reason = HOSTILE[1].to_owned();
    hostile.settings[0].value = HOSTILE[3].to_owned();
    hostile.standings.ends[0].reason = HOSTILE[1].to_owned();
    vec![
        ("two-seats", report(&named(8, 2, &friends), &games(1, 8, 2, 2000))),
        ("three-seats", report(&named(6, 3, &friends), &games(2, 6, 3, 600))),
        ("puzzle", report(&named(5, 1, &friends), &puzzles(3, 5, 40))),
        ("many", report(&named(200, 2, &friends), &games(5, 200, 2, 4000))),
        ("hostile", hostile),
        ("empty", report(&named(3, 2, &friends), &[])),
    ]
}

/// Checks that tags are closed in order, attributes are quoted, and `&` and `<` are always escaped.
fn check_form(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        assert!(open.last() == Some(&"style") || !text.contains('>'), "a loose >: {text}");
        let end = tag.find('>').expect("a tag ends");
        let inside = &tag[1..end];
        assert_eq!(inside.matches('"').count() % 2, 0, "quotes: {inside}");
        rest = &tag[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed in order");
        } else if !inside.ends_with('/') {
            open.push(inside.split_whitespace().next().unwrap());
        }
    }
    assert_eq!(open, Vec::<&str>::new());
    for entity in page.split('&').skip(1) {
        let name = entity.split(';').next().unwrap();
        assert!(["amp", "lt", "gt", "quot", "#39"].contains(&name), "an entity: {name}");
    }
}

#[test]
fn pages_are_well_formed_and_need_nothing_else() {
    for (name, report) in samples() {
        let page = report.html("").unwrap();
        check_form(&page);
        for foreign in ["http:", "https:", "src=", "<script", "style=\"", "@import", "url("] {
            let harmless = page.replace("&lt;script", "").replace("img src=x", "");
            assert!(!harmless.contains(foreign), "{name}: {foreign}");
        }
        let ids: Vec<&str> =
            page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        let mut different = ids.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), ids.len(), "{name}: ids are unique");
    }
}

#[test]
fn a_picture_is_well_formed_and_needs_nothing_else() {
    for (name, report) in samples() {
        let Some(svg) = report.svg() else {
            assert!(["puzzle", "empty"].contains(name), "{name}");
            continue;
        };
        for svg in [Some(svg), report.ratings_of(|_| true, &intervals(report)).picture]
            .into_iter()
            .flatten()
        {
            check_form(&format!("<!DOCTYPE html>{svg}"));
            let own = svg.replacen("http://www.w3.org/2000/svg", "", 1);
            for foreign in ["http:", "https:", "<script", "style=\"", "@import", "url("] {
                assert!(!own.replace("&lt;script", "").contains(foreign), "{name}: {foreign}");
            }
        }
    }
}

/// Intervals at each point of the history, open above.
fn intervals(report: &Report) -> Vec<Vec<Ends>> {
    let ends = |elo: &Option<f64>| [elo.map(|elo| elo - 30.0), None];
    report.history.iter().map(|point| point.elo.iter().map(ends).collect()).collect()
}

#[test]
fn a_team_gets_the_ratings_of_its_own_players_alone() {
    for (name, report) in samples() {
        let Some(rated) = report.ratings.as_ref().filter(|it| it.players.len() > 3) else {
            assert_eq!(report.ratings_of(|_| false, &[]).picture, None, "{name}");
            continue;
        };
        let own = [rated.players[2].player, rated.players[3].player];
        let names = own.map(|player| report.player_name(player));
        let found = report.ratings_of(|name| names.contains(&name), &intervals(report));
        let players: Vec<&str> = found.ratings.iter().map(|it| it.player.as_str()).collect();
        assert_eq!(players, [names[1], names[0]], "{name}: the newest first");
        let last = found.ratings[0].history.last().unwrap();
        assert_eq!(Some(last.elo), report.history.last().unwrap().elo[own[1].index()]);
        assert_eq!((last.low, last.high), (Some(last.elo - 30.0), None), "{name}: of each point");
        let picture = found.picture.unwrap();
        assert_eq!(picture.matches("class=\"point\"").count(), 2, "{name}: two intervals");
        assert_eq!(picture.matches("class=\"series s").count(), 2, "{name}: two lines");
        assert_eq!(picture.matches("class=\"band b").count(), 2, "{name}: with a band each");
    }
}

#[test]
fn every_transcript_is_linked_once() {
    for (name, report) in samples() {
        let page = report.html("../results").unwrap();
        let links = page.split("href=\"./../results/").skip(1);
        let mut links: Vec<&str> = links.map(|rest| rest.split('"').next().unwrap()).collect();
        links.sort_unstable();
        // The one path that asks for it is escaped.
        let script = "javascript%3Aalert%281%29/%22%20onclick%3D%22x";
        let path = |path: &str| match replay_path(path).filter(|_| report.has_replay_pages()) {
            Some(page) => page,
            None if path.contains(':') => script.to_owned(),
            None => path.to_owned(),
        };
        let games = report.games.rows().unwrap();
        let games = games.iter();
        let mut paths: Vec<String> = games.map(|game| path(&game.transcript)).collect();
        paths.sort_unstable();
        assert_eq!(links, paths, "{name}");
    }
}

#[test]
fn nothing_is_no_number() {
    for (name, report) in samples() {
        let mut report = report.clone();
        // What a later change to the fit might let through.
        if let Some(ratings) = &mut report.ratings {
            ratings.players[0].elo = f64::NAN;
            ratings.players[1].error = Some(f64::INFINITY);
            ratings.players[2].low = Some(f64::NEG_INFINITY);
            ratings.players[2].high = Some(f64::NAN);
        }
        let outputs = [
            report.html("").unwrap(),
            report.markdown(),
            report.text(Layout::Aligned),
            report.text(Layout::Tabs),
            report.standings_csv(),
            games_csv(&report),
            serde_json::to_string(&report).unwrap(),
        ];
        for output in outputs {
            let words = output.split(|c: char| !c.is_alphanumeric());
            let bad = words.filter(|word| ["nan", "inf"].contains(&word.to_lowercase().as_str()));
            assert_eq!(bad.count(), 0, "{name}: {output:.200}");
        }
    }
}

#[test]
fn hostile_names_stay_text() {
    let (_, report) = samples().iter().find(|(name, _)| *name == "hostile").unwrap();
    let page = report.html("").unwrap();
    for markup in
        ["<script", "<img", "</style></title>", "<![CDATA", "\u{202E}", "javascript:alert(1)//"]
    {
        assert!(!page.contains(markup), "{markup}");
    }
    assert_eq!(page.matches("</style>").count(), 1);
    let markdown = report.markdown();
    for markup in ["<script", "<img", "\u{202E}", "x](javascript"] {
        assert!(!markdown.contains(markup), "{markup}");
    }
    // Every row of a table has as many cells as its head.
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = markdown.lines().collect();
    for table in lines.chunk_by(|a, b| a.starts_with('|') && b.starts_with('|')) {
        assert!(table.iter().all(|line| cells(line) == cells(table[0])), "{table:#?}");
    }
    for csv in [report.standings_csv(), games_csv(report)] {
        assert!(csv.contains("\"'=cmd|' /C calc'!A0\""), "{csv:.300}");
        assert!(!csv.contains(",=") && !csv.contains(",@"), "no formula");
    }
    for output in [report.text(Layout::Aligned), report.text(Layout::Tabs)] {
        let control = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!output.contains(control) && !output.contains('\u{202E}'));
    }
    let tabs = report.text(Layout::Tabs);
    let counts: Vec<usize> = tabs.lines().map(|line| line.matches('\t').count()).collect();
    assert_eq!(counts, vec![counts[0]; report.standings.players.len() + 1]);
}

#[test]
fn csv_has_as_many_cells_in_every_line() {
    for (name, report) in samples() {
        for csv in [report.standings_csv(), games_csv(report)] {
            let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
            let cells = |line: &str| {
                let outside = line.split('"').step_by(2);
                outside.map(|part| part.matches(',').count()).sum::<usize>()
            };
            assert!(lines.iter().all(|line| cells(line) == cells(lines[0])), "{name}");
        }
    }
}

#[test]
fn pages_are_the_same_again_and_stay_small() {
    for ((_, one), (_, other)) in samples().iter().zip(&make_samples()) {
        assert_eq!(one.html("").unwrap(), other.html("").unwrap());
    }
    assert!(samples()[0].1.html("").unwrap().len() < 1_000_000);
}

#[test]
fn the_report_has_a_schema() {
    let schema = serde_json::to_value(schemars::schema_for!(Report)).unwrap();
    let points = &schema["$defs"]["Standing"]["properties"]["points"];
    assert_eq!(points["$ref"], "#/$defs/Points");
    assert_eq!(schema["$defs"]["Points"]["type"], "number");
    assert!(schema["properties"]["standings"].is_object());
}

/// Prints a sample for a browser: `REFEREE_SAMPLE=hostile cargo test -q -p referee --lib
/// sample_page -- --ignored --nocapture | sed -n '/<!DOCTYPE/,/<\/html>/p' > page.html`.
#[test]
#[ignore = "prints a page for the eye"]
fn sample_page() {
    let wanted = std::env::var("REFEREE_SAMPLE").unwrap();
    let (_, report) = samples().iter().find(|(name, _)| *name == wanted).unwrap();
    println!("{}", report.html("").unwrap());
}
