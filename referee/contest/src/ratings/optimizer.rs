//! Maximizes a concave likelihood by Newton's method, with each step shortened until it leads
//! uphill, so that it always converges.

use super::cholesky::{Factor, dot};
use super::likelihood::Model;
use std::collections::VecDeque;

/// The most steps. Newton's method takes about ten.
const STEPS_MAX: usize = 200;

/// A fit ends after a step that changed no parameter by more: the remaining error is about its
/// square.
const FIT_DONE: f64 = 1e-5;

/// The same without a factor of its own, where the remaining error is about a quarter of the last
/// step: a hundredth of an Elo point.
const SEARCH_DONE: f64 = 3e-4;

/// How many of its last steps [`optimize_with_factor`] uses for corrections.
const MEMORY: usize = 8;

/// Which part of the gain that the gradient promises a step must reach.
const GAIN: f64 = 1e-4;

/// The state of an optimization.
struct Optimizer<'a> {
    model: &'a Model<'a>,
    counts: &'a [f64],
    at: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// Returns the best parameters, starting from `start`.
pub(super) fn maximize(model: &Model<'_>, counts: &[f64], start: Vec<f64>) -> Vec<f64> {
    let mut optimizer = Optimizer::new(model, counts, start);
    for _ in 0..STEPS_MAX {
        let mut step = optimizer.gradient.clone();
        Factor::of(&model.information(counts, &optimizer.at)).solve(&mut step);
        if !optimizer.go(&step) || longest(&step) < FIT_DONE {
            break;
        }
    }
    optimizer.at
}

/// Returns the best parameters to a hundredth of an Elo point. `solve` turns a gradient into about
/// the step that Newton's method takes there. Instead of a new factor for every step, the steps are
/// corrected by how the gradient changed in the last ones (L-BFGS: Nocedal 1980, "Updating
/// quasi-Newton matrices with limited storage").
pub(super) fn optimize_with_factor(
    model: &Model<'_>,
    counts: &[f64],
    start: Vec<f64>,
    solve: impl Fn(&mut [f64]),
) -> Vec<f64> {
    let mut optimizer = Optimizer::new(model, counts, start);
    let mut learnt: VecDeque<Correction> = VecDeque::new();
    for _ in 0..STEPS_MAX {
        let step = corrected(&optimizer.gradient, &learnt, &solve);
        let (at, gradient) = (optimizer.at.clone(), optimizer.gradient.clone());
        if !optimizer.go(&step) || longest(&step) < SEARCH_DONE {
            break;
        }
        let correction = Correction::new(&optimizer, &at, &gradient);
        learnt.extend((correction.curvature > 0.0).then_some(correction));
        if learnt.len() > MEMORY {
            learnt.pop_front();
        }
    }
    optimizer.at
}

impl<'a> Optimizer<'a> {
    fn new(model: &'a Model<'a>, counts: &'a [f64], at: Vec<f64>) -> Self {
        let mut gradient = vec![0.0; at.len()];
        let value = model.slope(counts, &at, &mut gradient);
        Self { model, counts, at, value, gradient }
    }

    /// Takes as much of the step as gains enough. Returns false if no part of it does.
    fn go(&mut self, step: &[f64]) -> bool {
        let promised = dot(&self.gradient, step);
        // A difference within rounding errors is neither gain nor loss.
        let rounding = (1.0 + self.value.abs()) * 1e-12;
        let mut gradient = vec![0.0; step.len()];
        let mut part = 1.0;
        while part > 1e-9 {
            let at: Vec<f64> =
                self.at.iter().zip(step).map(|(place, step)| place + part * step).collect();
            let value = self.model.slope(self.counts, &at, &mut gradient);
            if value >= self.value + GAIN * part * promised - rounding {
                (self.at, self.value, self.gradient) = (at, value, gradient);
                return true;
            }
            part *= 0.5;
        }
        false
    }
}

/// A step, and how the gradient changed along it.
struct Correction {
    moved: Vec<f64>,
    /// How much the gradient fell.
    fell: Vec<f64>,
    /// Their product.
    curvature: f64,
}

impl Correction {
    fn new(optimizer: &Optimizer<'_>, at: &[f64], gradient: &[f64]) -> Self {
        let moved = optimizer.at.iter().zip(at).map(|(now, then)| now - then).collect::<Vec<_>>();
        let fell: Vec<f64> =
            gradient.iter().zip(&optimizer.gradient).map(|(then, now)| then - now).collect();
        Self { curvature: dot(&moved, &fell), moved, fell }
    }
}

/// Returns the step that `solve` gives, after the corrections, oldest first.
fn corrected(
    gradient: &[f64],
    learnt: &VecDeque<Correction>,
    solve: impl Fn(&mut [f64]),
) -> Vec<f64> {
    let mut step = gradient.to_vec();
    let mut parts = Vec::new();
    for correction in learnt.iter().rev() {
        let part = dot(&correction.moved, &step) / correction.curvature;
        add(&mut step, -part, &correction.fell);
        parts.push(part);
    }
    solve(&mut step);
    for (correction, part) in learnt.iter().zip(parts.into_iter().rev()) {
        let back = dot(&correction.fell, &step) / correction.curvature;
        add(&mut step, part - back, &correction.moved);
    }
    step
}

fn add(to: &mut [f64], times: f64, vector: &[f64]) {
    for (to, value) in to.iter_mut().zip(vector) {
        *to += times * value;
    }
}

fn longest(step: &[f64]) -> f64 {
    step.iter().fold(0.0, |longest, step| step.abs().max(longest))
}
