//! The table: one row per measure, with its figure, target and gate.

use std::fmt::Write as _;

/// A measure and its figure.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its letter in referee/benches/README.md.
    pub(crate) letter: char,
    /// What is measured.
    pub(crate) what: &'static str,
    /// The measured value.
    pub(crate) figure: f64,
    /// The unit of figure and bounds; `x` for ratios.
    pub(crate) unit: &'static str,
    /// The target and the gate.
    pub(crate) bounds: Bounds,
    /// More figures, as text.
    pub(crate) note: String,
}

/// The target, which a figure should reach, and the gate, which it must not miss.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bounds {
    /// Less is better: target, gate.
    AtMost(f64, f64),
    /// More is better: target, gate.
    AtLeast(f64, f64),
}

impl Row {
    /// Returns whether the figure reaches its target and whether it passes its gate. NaN does neither.
    fn reached(&self) -> (bool, bool) {
        match self.bounds {
            Bounds::AtMost(target, gate) => (self.figure <= target, self.figure <= gate),
            Bounds::AtLeast(target, gate) => (self.figure >= target, self.figure >= gate),
        }
    }

    /// Returns whether the figure misses its gate.
    pub(crate) fn is_missed(&self) -> bool {
        !self.reached().1
    }

    /// Returns whether the figure depends on the machine, as times and speeds do; ratios and amounts of
    /// memory don't.
    pub(crate) fn depends_on_machine(&self) -> bool {
        matches!(self.unit, "ns" | "us" | "ms" | "/s" | "M/s")
    }

    /// Returns its line of the table.
    pub(crate) fn line(&self) -> String {
        let (relation, target, gate) = match self.bounds {
            Bounds::AtMost(target, gate) => ("<=", target, gate),
            Bounds::AtLeast(target, gate) => (">=", target, gate),
        };
        let word = match self.reached() {
            (true, true) => "target",
            (false, true) => "gate",
            (_, false) => "MISSED",
        };
        let bound = |bound: f64| format!("{relation} {}", (bound * 100.0).round() / 100.0);
        let (target, gate) = (bound(target), bound(gate));
        let (letter, what, unit, note) = (self.letter, self.what, self.unit, &self.note);
        let figure = format!("{:.3}", self.figure);
        let mut line = format!("{letter}  {what:<44} {figure:>9} {unit:<8}");
        // Writing to a String can't fail.
        write!(line, " {target:>8} {gate:>9}  {word:<6}  {note}").ok();
        line.trim_end().to_owned()
    }

    /// Returns the heading of the table.
    pub(crate) fn heading() -> String {
        let (measure, figure) = ("measure", "figure");
        format!("   {measure:<44} {figure:>9} {:<8} {:>8} {:>9}", "", "target", "gate")
    }
}
