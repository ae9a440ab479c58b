//! Charts of the page, each with a title and a description.

use super::markup::{Markup, Text};
use std::fmt::Write as _;

/// The width of most charts, in units of the chart.
pub(super) const WIDTH: f64 = 600.0;

/// A drawing.
pub(super) struct Svg {
    /// Its content.
    pub(super) body: Markup,
    width: f64,
    height: f64,
}

/// The alignment of a text to its point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { body: Markup::default(), width, height }
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(at);
        self.body.put(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>\n"
        ));
    }

    /// A rectangle, with a title unless it is empty.
    pub(super) fn bar(&mut self, class: &str, corner: (f64, f64), size: (f64, f64), title: &str) {
        let [x, y, width, height] = [corner.0, corner.1, size.0.max(0.0), size.1.max(0.0)].map(at);
        self.body.put(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""
        ));
        if title.is_empty() {
            self.body.put(format_args!("/>\n"));
        } else {
            self.body.put(format_args!("><title>{}</title></rect>\n", Text(title)));
        }
    }

    pub(super) fn dot(&mut self, class: &str, centre: (f64, f64), radius: f64) {
        let [x, y, radius] = [centre.0, centre.1, radius].map(at);
        self.body.put(format_args!(
            "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>\n"
        ));
    }

    pub(super) fn text(&mut self, class: &str, anchor: Anchor, point: (f64, f64), text: &str) {
        let [x, y] = [point.0, point.1].map(at);
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.body.put(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>\n",
            Text(text)
        ));
    }

    /// Lines through points, with gaps at missing ones.
    pub(super) fn path(&mut self, class: &str, points: &[Option<(f64, f64)>]) {
        let mut path = String::new();
        let mut pen_down = false;
        for point in points {
            if let Some((x, y)) = point {
                let letter = if pen_down { 'L' } else { 'M' };
                write!(path, "{letter}{} {}", at(*x), at(*y)).expect("text takes text");
            }
            pen_down = point.is_some();
        }
        self.body.put(format_args!("<path class=\"{class}\" d=\"{path}\"/>\n"));
    }

    /// Areas between two heights at each point, with gaps at missing ones.
    pub(super) fn band(&mut self, class: &str, points: &[Option<(f64, [f64; 2])>]) {
        let mut path = String::new();
        for run in points.split(Option::is_none).filter(|run| !run.is_empty()) {
            let points = || run.iter().flatten();
            let there = points().map(|&(x, [_, upper])| (x, upper));
            let back = points().rev().map(|&(x, [lower, _])| (x, lower));
            for (index, (x, y)) in there.chain(back).enumerate() {
                let letter = if index == 0 { 'M' } else { 'L' };
                write!(path, "{letter}{} {}", at(x), at(y)).expect("text takes text");
            }
            path.push('Z');
        }
        if !path.is_empty() {
            self.body.put(format_args!("<path class=\"{class}\" d=\"{path}\"/>\n"));
        }
    }

    /// Returns the drawings below each other, if there are any.
    pub(super) fn column(drawings: [Option<Self>; 2]) -> Option<Self> {
        let mut drawings = drawings.into_iter().flatten();
        let mut all = drawings.next()?;
        drawings.for_each(|drawing| all.add_below(&drawing));
        Some(all)
    }

    /// Puts another drawing below this one.
    fn add_below(&mut self, other: &Self) {
        self.body.put(format_args!("<g transform=\"translate(0 {})\">\n", at(self.height)));
        self.body.0.push_str(&other.body.0);
        self.body.put(format_args!("</g>\n"));
        self.width = self.width.max(other.width);
        self.height += other.height;
    }

    /// Returns the drawing as a file of its own with this style.
    pub(super) fn document(self, title: &str, style: &str) -> String {
        let [width, height] = [self.width, self.height].map(at);
        let mut out = Markup::default();
        out.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"system-ui, sans-serif\" role=\"img\">\n\
             <title>{}</title>\n<style>{style}</style>\n\
             <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{}</svg>\n",
            Text(title),
            self.body.0,
        ));
        out.0
    }

    /// Returns the chart as a figure of the page. `id` is unique in the page.
    pub(super) fn figure(self, out: &mut Markup, id: &str, title: &str, description: &str) {
        let [width, height] = [self.width, self.height].map(at);
        out.put(format_args!(
            "<figure>\n<div class=\"wide\">\n<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n\
             <title id=\"{id}-t\">{}</title>\n<desc id=\"{id}-d\">{}</desc>\n{}</svg>\n</div>\n\
             <figcaption>{}</figcaption>\n</figure>\n",
            Text(title),
            Text(description),
            self.body.0,
            Text(description),
        ));
    }
}

/// Formats a coordinate to a tenth of a unit; 0 if it isn't a number.
fn at(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A linear scale from values to coordinates.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) from: (f64, f64),
    pub(super) to: (f64, f64),
}

impl Scale {
    pub(super) fn at(&self, value: f64) -> f64 {
        let (low, high) = self.from;
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        self.to.0 + share * (self.to.1 - self.to.0)
    }

    /// Returns about `count` round values within the scale.
    pub(super) fn ticks(&self, about: f64) -> Vec<f64> {
        let (low, high) = self.from;
        let rough = (high - low) / about;
        if !rough.is_finite() || rough <= 0.0 {
            return vec![low];
        }
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|&step| step >= rough).unwrap_or(10.0 * power);
        let mut ticks = Vec::new();
        let mut index = (low / step).ceil();
        while index * step <= high + step * 1e-9 && ticks.len() < 50 {
            ticks.push(index * step);
            index += 1.0;
        }
        ticks
    }
}
