//! The way to the top of a concave likelihood: Newton's method, each step made shorter until it
//! leads uphill, so that it always arrives.

use super::cholesky::{Factor, dot};
use super::likelihood::Model;
use std::collections::VecDeque;

/// Where to stop in any case. Newton's method takes about ten steps.
const STEPS_MAX: usize = 200;

/// A fit is done after a step that changed no parameter by more: what is left is about its square.
const FIT_DONE: f64 = 1e-5;

/// The same for samples of the bootstrap, where about a quarter of the last step is left: a
/// hundredth of an Elo point.
const SAMPLE_DONE: f64 = 3e-4;

/// How many of its last steps a climb with a borrowed factor learns from.
const MEMORY: usize = 8;

/// How much of what the slope promises a step must gain.
const GAIN: f64 = 1e-4;

/// Where a climb is.
struct Climber<'a> {
    model: &'a Model<'a>,
    counts: &'a [f64],
    at: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// The best parameters, from here.
pub(super) fn climb(model: &Model<'_>, counts: &[f64], start: Vec<f64>) -> Vec<f64> {
    let mut climber = Climber::new(model, counts, start);
    for _ in 0..STEPS_MAX {
        let mut step = climber.gradient.clone();
        Factor::of(&model.information(counts, &climber.at)).solve(&mut step);
        if !climber.go(&step) || longest(&step) < FIT_DONE {
            break;
        }
    }
    climber.at
}

/// The best parameters, from here: good to a hundredth of an Elo point. `solve` replaces a slope by
/// about the step that Newton's method takes there. Instead of a new factor for every step, the
/// steps are corrected by what the last ones taught about the slope (L-BFGS: Nocedal 1980,
/// "Updating quasi-Newton matrices with limited storage").
pub(super) fn climb_nearby(
    model: &Model<'_>,
    counts: &[f64],
    start: Vec<f64>,
    solve: impl Fn(&mut [f64]),
) -> Vec<f64> {
    let mut climber = Climber::new(model, counts, start);
    let mut learnt: VecDeque<Lesson> = VecDeque::new();
    for _ in 0..STEPS_MAX {
        let step = corrected(&climber.gradient, &learnt, &solve);
        let (at, gradient) = (climber.at.clone(), climber.gradient.clone());
        if !climber.go(&step) || longest(&step) < SAMPLE_DONE {
            break;
        }
        let lesson = Lesson::new(&climber, &at, &gradient);
        learnt.extend((lesson.curvature > 0.0).then_some(lesson));
        if learnt.len() > MEMORY {
            learnt.pop_front();
        }
    }
    climber.at
}

impl<'a> Climber<'a> {
    fn new(model: &'a Model<'a>, counts: &'a [f64], at: Vec<f64>) -> Self {
        let mut gradient = vec![0.0; at.len()];
        let value = model.slope(counts, &at, &mut gradient);
        Self { model, counts, at, value, gradient }
    }

    /// Goes as much of the step as gains enough; false: nothing of it does.
    fn go(&mut self, step: &[f64]) -> bool {
        let promised = dot(&self.gradient, step);
        // What rounding can do to a sum of this size is neither gain nor loss.
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

/// What a step taught: how the slope changed along it.
struct Lesson {
    moved: Vec<f64>,
    /// How much the slope fell.
    fell: Vec<f64>,
    /// Their product.
    curvature: f64,
}

impl Lesson {
    fn new(climber: &Climber<'_>, at: &[f64], gradient: &[f64]) -> Self {
        let moved = climber.at.iter().zip(at).map(|(now, then)| now - then).collect::<Vec<_>>();
        let fell: Vec<f64> =
            gradient.iter().zip(&climber.gradient).map(|(then, now)| then - now).collect();
        Self { curvature: dot(&moved, &fell), moved, fell }
    }
}

/// The step that `solve` gives, corrected by the lessons, oldest first.
fn corrected(gradient: &[f64], learnt: &VecDeque<Lesson>, solve: impl Fn(&mut [f64])) -> Vec<f64> {
    let mut step = gradient.to_vec();
    let mut parts = Vec::new();
    for lesson in learnt.iter().rev() {
        let part = dot(&lesson.moved, &step) / lesson.curvature;
        add(&mut step, -part, &lesson.fell);
        parts.push(part);
    }
    solve(&mut step);
    for (lesson, part) in learnt.iter().zip(parts.into_iter().rev()) {
        let back = dot(&lesson.fell, &step) / lesson.curvature;
        add(&mut step, part - back, &lesson.moved);
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
