//! A comparison as text for the terminal, from the perspective of the new agent, which is named
//! first.

use super::pentanomial::EVEN_VARIANCE;
use super::{Decision, Expectation, Summary, TestSummary, real};
use crate::SprtSettings;
use crate::numbers::fixed;
use crate::wording::count;
use referee_protocol::sanitize::sanitize;

/// The names of the two agents; untrusted text, sanitized here.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The new agent.
    pub new: &'a str,
    /// The old one.
    pub old: &'a str,
}

/// Returns the text before the first game: the hypotheses, and how long the test may take.
pub fn plan(sprt: Option<&SprtSettings>, most_pairs: u64, names: Names) -> String {
    let (new, old) = (sanitize(names.new), sanitize(names.old));
    let most = count(most_pairs, "pair");
    let Some(settings) = sprt else {
        return format!("{new} against {old}: {most} of games, without a test\n");
    };
    let SprtSettings { elo0, elo1, .. } = *settings;
    let pairs = |elo| Expectation::of(settings, elo, EVEN_VARIANCE).pairs.max(1.0);
    let mut text = format!(
        "{new} against {old}: {}\n\
         about {:.0} pairs if they are equal, {:.0} if H1 is true, {:.0} half-way between; at most \
         {most}\n",
        hypotheses(settings),
        pairs(0.0),
        pairs(elo1),
        pairs(f64::midpoint(elo0, elo1)),
    );
    if pairs(elo0).max(pairs(elo1)) > real(most_pairs) {
        text +=
            "this is likely to end undecided: raise --max-games, or set H0 and H1 further apart\n";
    }
    text
}

/// Returns the result, in lines.
pub fn verdict(summary: &Summary, names: Names) -> String {
    lines(summary, names).join("\n") + "\n"
}

/// Returns the lines of the result.
pub fn lines(summary: &Summary, names: Names) -> Vec<String> {
    let mut lines = vec![live(summary, names)];
    if summary.pairs > 0 {
        lines.push(summary.test.as_ref().map_or_else(
            || "no test: only the interval above".into(),
            |test| sentence(test, names),
        ));
        lines.extend(details(summary, names));
    }
    lines.extend(summary.test.as_ref().map(|test| hypotheses(&test.settings)));
    lines
}

/// Returns one line to show while games are played.
pub fn live(summary: &Summary, names: Names) -> String {
    let who = format!("{} against {}", sanitize(names.new), sanitize(names.old));
    let (Some(elo), Some(error)) = (summary.elo, summary.error) else {
        return format!("{who}: no finished pair yet");
    };
    let pairs = count(summary.pairs, "pair");
    let test = summary.test.as_ref().map_or_else(String::new, |test| {
        format!(", LLR {} ({}, {})", fixed(test.llr, 2), fixed(test.lower, 2), fixed(test.upper, 2))
    });
    format!("{who}: {} ± {} Elo (95 %){test} after {pairs}", signed(elo, 1), fixed(error, 1))
}

fn sentence(test: &TestSummary, names: Names) -> String {
    let (new, old) = (sanitize(names.new), sanitize(names.old));
    let SprtSettings { elo0, elo1, alpha, beta } = test.settings;
    let (alpha, beta) = (percent(alpha), percent(beta));
    match test.decision {
        Decision::H1 => {
            let found = if elo0 > 0.0 {
                format!("{new} is more than {elo0} Elo stronger than {old}")
            } else if elo0 < 0.0 {
                format!("{new} is less than {} Elo weaker than {old}", -elo0)
            } else {
                format!("{new} is stronger than {old}")
            };
            format!("{found} (H1 accepted, with a false positive rate of {alpha})")
        }
        Decision::H0 => {
            let found = if elo1 > 0.0 {
                format!("{new} is not {elo1} Elo stronger than {old}")
            } else if elo1 < 0.0 {
                format!("{new} is more than {} Elo weaker than {old}", -elo1)
            } else {
                format!("{new} is weaker than {old}")
            };
            format!("{found} (H0 accepted, with a false negative rate of {beta})")
        }
        Decision::Open => format!(
            "undecided between H0 ({} Elo) and H1 ({} Elo): raise --max-games, or set them further \
             apart",
            hypothesis(elo0),
            hypothesis(elo1)
        ),
    }
}

fn details(summary: &Summary, names: Names) -> Vec<String> {
    let (new, old) = (sanitize(names.new), sanitize(names.old));
    let Summary { wins, draws, losses, .. } = summary;
    let score = summary.score.unwrap_or(0.5);
    let [lost_both, lost, even, won, won_both] = summary.pentanomial.0;
    let mut lines = vec![
        format!(
            "games: {new} won {wins}, drew {draws}, lost {losses}: {} %",
            fixed(100.0 * score, 1)
        ),
        format!(
            "pairs by its points: 0: {lost_both}, 1/2: {lost}, 1: {even}, 3/2: {won}, 2: {won_both}"
        ),
    ];
    if summary.new_faults + summary.old_faults > 0 {
        lines.push(format!(
            "faults: {} by {new}, {} by {old}; these games count as losses",
            summary.new_faults, summary.old_faults
        ));
    }
    if summary.duplicates > 0 {
        lines.push(format!(
            "{} repeated an earlier game move by move and gave no new information: use more \
             openings, or longer ones",
            count(summary.duplicates, "game")
        ));
    }
    lines
}

/// Formats a number with `digits` decimals and its sign.
fn signed(figure: f64, digits: usize) -> String {
    let text = fixed(figure, digits);
    if text.starts_with('-') { text } else { format!("+{text}") }
}

fn hypotheses(settings: &SprtSettings) -> String {
    let SprtSettings { elo0, elo1, alpha, beta } = *settings;
    format!(
        "H0: {} Elo; H1: {} Elo; false positives {}, false negatives {}",
        hypothesis(elo0),
        hypothesis(elo1),
        percent(alpha),
        percent(beta)
    )
}

/// Formats a hypothesis as it was given, in Elo.
fn hypothesis(elo: f64) -> String {
    if elo > 0.0 { format!("+{elo}") } else { format!("{}", elo + 0.0) }
}

fn percent(chance: f64) -> String {
    format!("{} %", (chance * 1e6).round() / 1e4)
}
