//! The table: one row a measure, with its figure, its target and the gate that it must not miss.

use std::fmt::Write as _;

/// A measure and what came of it.
#[derive(Debug)]
pub(crate) struct Row {
    /// The letter by which the design knows it.
    pub(crate) letter: char,
    /// What is measured.
    pub(crate) what: &'static str,
    /// What came of it.
    pub(crate) figure: f64,
    /// The unit of figure and bounds; `x` for ratios.
    pub(crate) unit: &'static str,
    /// What it should be and what it must be.
    pub(crate) bounds: Bounds,
    /// The figures behind it.
    pub(crate) note: String,
}

/// What a figure should be, the target, and what it must be, the gate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bounds {
    /// Less is better.
    AtMost(f64, f64),
    /// More is better.
    AtLeast(f64, f64),
}

impl Row {
    /// Whether it reaches its target, and whether it passes its gate. A figure that is no number
    /// does neither.
    fn standing(&self) -> (bool, bool) {
        match self.bounds {
            Bounds::AtMost(target, gate) => (self.figure <= target, self.figure <= gate),
            Bounds::AtLeast(target, gate) => (self.figure >= target, self.figure >= gate),
        }
    }

    /// Whether it misses its gate.
    pub(crate) fn is_missed(&self) -> bool {
        !self.standing().1
    }

    /// Whether the figure moves with the machine, as times and speeds do; ratios and amounts of memory
    /// mean the same everywhere.
    pub(crate) fn is_of_the_machine(&self) -> bool {
        matches!(self.unit, "ns" | "us" | "ms" | "/s" | "M/s")
    }

    /// Its line of the table.
    pub(crate) fn line(&self) -> String {
        let (sign, target, gate) = match self.bounds {
            Bounds::AtMost(target, gate) => ("<=", target, gate),
            Bounds::AtLeast(target, gate) => (">=", target, gate),
        };
        let word = match self.standing() {
            (true, _) => "target",
            (false, true) => "gate",
            (false, false) => "MISSED",
        };
        let bound = |bound: f64| format!("{sign} {}", (bound * 100.0).round() / 100.0);
        let (target, gate) = (bound(target), bound(gate));
        let (letter, what, unit, note) = (self.letter, self.what, self.unit, &self.note);
        let figure = format!("{:.3}", self.figure);
        let mut line = format!("{letter}  {what:<44} {figure:>9} {unit:<8}");
        // Writing to a String can't fail.
        write!(line, " {target:>8} {gate:>9}  {word:<6}  {note}").ok();
        line.trim_end().to_owned()
    }

    /// The line above the table.
    pub(crate) fn heading() -> String {
        let (measure, figure) = ("measure", "figure");
        format!("   {measure:<44} {figure:>9} {:<8} {:>8} {:>9}", "", "target", "gate")
    }
}
