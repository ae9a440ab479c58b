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
    /// The unit of figure, target and gate; `x` for ratios.
    pub(crate) unit: &'static str,
    /// What it should be.
    pub(crate) target: f64,
    /// What it must be.
    pub(crate) gate: f64,
    /// Which way is good.
    pub(crate) better: Better,
    /// Whether the figure means the same on every machine.
    pub(crate) scale: Scale,
    /// The figures behind it.
    pub(crate) note: String,
}

/// Which way is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// Whether a figure means the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// It does: a ratio of two figures of one run, or an amount of memory.
    Ratio,
    /// It is a time or a speed, and moves with the machine.
    Absolute,
}

/// How a figure stands to its target and its gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The target is reached.
    Reached,
    /// Between target and gate.
    Passed,
    /// The gate is missed.
    Missed,
}

impl Row {
    /// How its figure stands.
    pub(crate) fn standing(&self) -> Standing {
        if self.is_within(self.target) {
            Standing::Reached
        } else if self.is_within(self.gate) {
            Standing::Passed
        } else {
            Standing::Missed
        }
    }

    /// A figure that is no number is within nothing.
    fn is_within(&self, bound: f64) -> bool {
        match self.better {
            Better::Lower => self.figure <= bound,
            Better::Higher => self.figure >= bound,
        }
    }

    /// Its line of the table.
    pub(crate) fn line(&self) -> String {
        let sign = if self.better == Better::Lower { "<=" } else { ">=" };
        let word = match self.standing() {
            Standing::Reached => "target",
            Standing::Passed => "gate",
            Standing::Missed => "MISSED",
        };
        let bound = |bound: f64| format!("{sign} {}", (bound * 100.0).round() / 100.0);
        let (target, gate) = (bound(self.target), bound(self.gate));
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
