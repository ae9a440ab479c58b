//! Ratings over the number of games.

use super::super::markup::Markup;
use super::super::svg::{Anchor, Scale, Svg, WIDTH};
use super::{BASE, NAME_COLUMNS, float, float64};
use crate::Player;
use crate::numbers::{elo, fixed, short};
use crate::ratings::{Ends, HistoryPoint};
use crate::report::Report;

const LEFT: f64 = 44.0;
const RIGHT: f64 = 232.0;
const TOP: f64 = 12.0;
const HEIGHT: f64 = 380.0;
const BOTTOM: f64 = 44.0;

/// How many lines have a name and a stroke of their own.
const NAMED_MAX: usize = 12;

/// The width of a rating beside a line's end.
const VALUE: f64 = 46.0;

/// How far beyond the lines, in Elo, a band is drawn: after a few games it is so wide that the lines would be flat.
const BAND: f64 = 200.0;

/// The least distance between labels.
const LABEL: f64 = 17.0;

/// Draws the ratings of all players, or of some.
pub(crate) fn draw(out: &mut Markup, report: &Report, only: Option<&[Player]>) {
    if let Some((svg, text)) = picture(report, only, &[]) {
        svg.figure(out, "history-chart", "Ratings over games", &text);
    }
}

/// Returns the drawing, with what it shows; `None` without ratings. `intervals` are those of all players at each point,
/// drawn as bands, or none.
pub(crate) fn picture(
    report: &Report,
    only: Option<&[Player]>,
    intervals: &[Vec<Ends>],
) -> Option<(Svg, String)> {
    let history = &report.history;
    let lines = lines(report, only);
    let values = || {
        let points =
            |&(player, _): &(Player, f64)| history.iter().map(move |at| elo_of(at, player));
        lines.iter().flat_map(points).flatten()
    };
    if history.len() < 2 || values().next().is_none() {
        return None;
    }
    let mut low = values().fold(0.0_f64, f64::min);
    let mut high = values().fold(0.0_f64, f64::max);
    let named = &lines[..lines.len().min(NAMED_MAX)];
    let bands: Vec<_> = named.iter().map(|&(own, _)| band(history, own, intervals)).collect();
    let edges = (low - BAND, high + BAND);
    for [from, to] in bands.iter().flatten().flatten().map(|&(_, ends)| ends) {
        low = low.min(from.unwrap_or(low).max(edges.0));
        high = high.max(to.unwrap_or(high).min(edges.1));
    }
    let room = ((high - low) * 0.04).max(5.0);
    let bottom = HEIGHT - BOTTOM;
    let y = Scale { from: (low - room, high + room), to: (bottom, TOP) };
    let first = history.iter().map(|point| point.games).min().unwrap_or(0);
    let last = history.iter().map(|point| point.games).max().unwrap_or(0);
    let x = Scale { from: (float64(first), float64(last)), to: (LEFT, WIDTH - RIGHT) };
    let mut svg = Svg::new(WIDTH, HEIGHT);
    axes(&mut svg, x, y);
    for (index, band) in bands.iter().enumerate().rev() {
        let end = |elo: Option<f64>, open: f64| y.at(elo.unwrap_or(open).clamp(y.from.0, y.from.1));
        let place = |&(games, [from, to]): &(u64, Ends)| {
            (x.at(float64(games)), [end(from, y.from.0), end(to, y.from.1)])
        };
        let places: Vec<_> = band.iter().map(|point| point.as_ref().map(place)).collect();
        svg.band(&format!("band b{index}"), &places);
    }
    let path = |player: Player| -> Vec<Option<(f64, f64)>> {
        let place = |point: &HistoryPoint, elo| (x.at(float64(point.games)), y.at(elo));
        history.iter().map(|point| elo_of(point, player).map(|elo| place(point, elo))).collect()
    };
    // Named lines are drawn above the others, the best one last.
    for &(player, _) in lines.iter().skip(NAMED_MAX) {
        svg.path("other", &path(player));
    }
    for (index, &(player, _)) in named.iter().enumerate().rev() {
        svg.path(&format!("series s{index}"), &path(player));
    }
    labels(&mut svg, report, named, &path, bottom);
    let others = lines.len() - named.len();
    let grey = if others > 0 {
        format!(" The best {NAMED_MAX} are named; the other {others} are grey.")
    } else {
        String::new()
    };
    let groups = report.ratings.as_ref().map_or(1, |ratings| ratings.groups);
    let zero = if groups > 1 { "the mean of each group that games link" } else { "the mean" };
    let text = format!(
        "Elo of one fit over the first games of the schedule. Positive is stronger; 0 is \
         {zero}.{grey}"
    );
    Some((svg, text))
}

fn elo_of(point: &HistoryPoint, player: Player) -> Option<f64> {
    point.elo.get(player.index()).copied().flatten().filter(|elo| elo.is_finite())
}

/// Returns a player's interval at each point at which it has a rating.
fn band(
    history: &[HistoryPoint],
    player: Player,
    intervals: &[Vec<Ends>],
) -> Vec<Option<(u64, Ends)>> {
    let points = history.iter().zip(intervals);
    points.map(|(at, all)| elo_of(at, player).map(|_| (at.games, all[player.index()]))).collect()
}

/// Returns the players with their last rating, the best first.
fn lines(report: &Report, only: Option<&[Player]>) -> Vec<(Player, f64)> {
    let players = Player::all(report.standings.players.len());
    let players = players.filter(|&player| only.is_none_or(|only| only.contains(&player)));
    let last = |player: Player| {
        let elo = report.history.iter().rev().find_map(|point| elo_of(point, player));
        elo.map(|elo| (player, elo))
    };
    let mut lines: Vec<(Player, f64)> = players.filter_map(last).collect();
    lines.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    lines
}

fn axes(svg: &mut Svg, x: Scale, y: Scale) {
    for tick in y.ticks(6.0) {
        let class = if tick.abs() < 1e-9 { "zero" } else { "grid" };
        svg.line(class, (x.to.0, y.at(tick)), (x.to.1, y.at(tick)));
        let text = fixed(tick, 0).replace('-', "−");
        svg.text("tick", Anchor::End, (x.to.0 - 8.0, y.at(tick) + BASE), &text);
    }
    let whole = |tick: &f64| (tick - tick.round()).abs() < 1e-9;
    for tick in x.ticks(5.0).into_iter().filter(whole) {
        let at = x.at(tick);
        svg.line("grid", (at, y.to.0), (at, y.to.0 + 4.0));
        svg.text("tick", Anchor::Middle, (at, y.to.0 + 18.0), &fixed(tick, 0));
    }
    let middle = f64::midpoint(x.to.0, x.to.1);
    svg.text("tick", Anchor::Middle, (middle, y.to.0 + 38.0), "games of the schedule");
    svg.text("tick", Anchor::Start, (4.0, TOP), "Elo");
}

/// Draws a name beside the end of each line, moved apart where they would overlap.
fn labels(
    svg: &mut Svg,
    report: &Report,
    named: &[(Player, f64)],
    path: &dyn Fn(Player) -> Vec<Option<(f64, f64)>>,
    bottom: f64,
) {
    let end = |player| path(player).into_iter().flatten().last().unwrap_or((LEFT, bottom));
    // They are sorted by rating, so by height: down, then back up from the lower edge.
    let mut heights: Vec<f64> = named.iter().map(|&(player, _)| end(player).1).collect();
    for index in 1..heights.len() {
        heights[index] = heights[index].max(heights[index - 1] + LABEL);
    }
    let mut limit = bottom;
    for height in heights.iter_mut().rev() {
        *height = height.min(limit);
        limit = *height - LABEL;
    }
    for (index, (&(player, rating), height)) in named.iter().zip(heights).enumerate() {
        let (x, y) = end(player);
        let label = WIDTH - RIGHT + 34.0;
        svg.path(
            &format!("series leader s{index}"),
            &[Some((x, y)), Some((label - 24.0, height)), Some((label - 6.0, height))],
        );
        let name = short(report.player_name(player), NAME_COLUMNS);
        let rating = elo(rating).replace('-', "−");
        svg.text("value", Anchor::End, (label + VALUE, height + BASE), &rating);
        svg.text("value", Anchor::Start, (label + VALUE + 8.0, height + BASE), &name);
    }
    debug_assert!(float(named.len()) * LABEL <= bottom, "all labels have room");
}
