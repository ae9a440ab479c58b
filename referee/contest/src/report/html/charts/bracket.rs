//! The ties of a knockout as a bracket: a column per round, and a line from each tie to its winner's next.

use super::super::markup::Markup;
use super::super::svg::{Anchor, Svg};
use super::{BASE, NAME_COLUMNS, float};
use crate::formats::THIRD_PLACE;
use crate::numbers::short;
use crate::report::{Report, Tie};

const COLUMN: f64 = 210.0;
const BOX: f64 = 180.0;
const ROW: f64 = 20.0;
/// The least distance between the middles of two ties.
const STEP: f64 = 58.0;
const TOP: f64 = 22.0;
/// The most ties of a picture; the list below it has all.
const TIES_MAX: usize = 128;

pub(crate) fn draw(out: &mut Markup, report: &Report) {
    let ties = &report.ties;
    let mut rounds: Vec<u32> = ties.iter().map(|tie| tie.round).collect();
    rounds.dedup();
    if ties.is_empty() || ties.len() > TIES_MAX {
        return;
    }
    // The final is listed last, but is above the tie for the third place.
    let of_round = |round: u32| {
        let mut found: Vec<&Tie> = ties.iter().filter(|tie| tie.round == round).collect();
        found.sort_by_key(|tie| tie.name == Some(THIRD_PLACE));
        found
    };
    let most = rounds.iter().map(|&round| of_round(round).len()).max().unwrap_or(1);
    let height = STEP * float(most);
    let mut svg = Svg::new(COLUMN * float(rounds.len()), TOP + height);
    let mut drawn: Vec<(&Tie, (f64, f64))> = Vec::new();
    for (column, &round) in rounds.iter().enumerate() {
        let (x, found) = (COLUMN * float(column), of_round(round));
        let each = height / float(found.len());
        for (nth, tie) in found.into_iter().enumerate() {
            let y = TOP + each * (float(nth) + 0.5);
            link(&mut svg, &drawn, tie, (x, y));
            tie_box(&mut svg, report, tie, (x, y));
            drawn.push((tie, (x, y)));
        }
    }
    let text = "The winner of a tie is above; a line leads to the winner's next tie.";
    svg.figure(out, "bracket", "Bracket", text);
}

/// Draws lines from the ties that its players won before.
fn link(svg: &mut Svg, drawn: &[(&Tie, (f64, f64))], tie: &Tie, (x, y): (f64, f64)) {
    for player in tie.players {
        let before = drawn.iter().rfind(|(tie, at)| at.0 < x && tie.players.contains(&player));
        let Some((_, from)) = before.filter(|(tie, _)| tie.players[0] == player) else { continue };
        let bend = x - (COLUMN - BOX) / 2.0;
        let points = [(from.0 + BOX, from.1), (bend, from.1), (bend, y), (x, y)];
        svg.path("interval link", &points.map(Some));
    }
}

fn tie_box(svg: &mut Svg, report: &Report, tie: &Tie, (x, y): (f64, f64)) {
    let name = tie.name.map_or_else(|| format!("round {}", tie.round), str::to_owned);
    svg.text("tick small", Anchor::Start, (x, y - ROW - 3.0), &name);
    svg.bar("unmet", (x, y - ROW), (BOX, 2.0 * ROW), "");
    svg.line("grid", (x, y), (x + BOX, y));
    for (index, player) in tie.players.into_iter().enumerate() {
        let base = y + ROW * (float(index) - 0.5) + BASE;
        let class = if index == 0 { "label won" } else { "label" };
        let name = short(report.player_name(player), NAME_COLUMNS);
        svg.text(class, Anchor::Start, (x + 6.0, base), &name);
        let points = tie.points[index].to_string();
        svg.text(class, Anchor::End, (x + BOX - 6.0, base), &points);
    }
}
