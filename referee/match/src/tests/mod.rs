//! What the match says to what happens: scripts of inputs, and the effects of each as snapshots.

mod script;
mod answers;
mod clocks;
mod endings;
mod starts;
