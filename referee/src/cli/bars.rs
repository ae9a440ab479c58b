//! Progress bars, counters and spinners on stderr.

use indicatif::{HumanDuration, ProgressBar, ProgressFinish, ProgressState, ProgressStyle};
use std::time::Duration;

/// How often a spinner is redrawn.
pub(super) const SPIN: Duration = Duration::from_millis(120);
/// The smallest number of items that gets a bar.
const COUNT_MIN: usize = 2;
/// How long work takes before it gets a spinner.
const SOON: Duration = Duration::from_secs(1);

/// Returns a bar whose length is set later, by [`advance`].
pub(super) fn count_bar(message: &'static str, wanted: bool) -> ProgressBar {
    let bar = progress_bar(usize::MAX, wanted).with_message(message);
    bar.with_finish(ProgressFinish::AndClear)
}

/// Shows that `done` of `of` items are done.
pub(super) fn advance(bar: &ProgressBar, done: usize, of: usize) {
    if of >= COUNT_MIN {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    }
}

/// Returns a bar for `count` items; hidden unless stderr is a terminal and there is more than one.
pub(super) fn progress_bar(count: usize, wanted: bool) -> ProgressBar {
    if !wanted || count < COUNT_MIN {
        return ProgressBar::hidden();
    }
    let style = style("{bar:20} {pos}/{len}  {rate}  {left}  {wide_msg}");
    ProgressBar::new(count as u64).with_style(style)
}

/// Returns a counter, for series whose length is not known.
pub(super) fn games_counter(wanted: bool) -> ProgressBar {
    if !wanted {
        return ProgressBar::hidden();
    }
    ProgressBar::new(u64::MAX).with_style(style("{pos} games  {rate}  {wide_msg}"))
}

pub(super) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("rate", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = write!(out, "{:.1}/s", state.per_sec());
        })
        .with_key("left", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // Unknown before the first.
            if state.pos() > 0 {
                let _ = write!(out, "{:#} left", HumanDuration(state.eta()));
            }
        })
}

/// Returns a spinner for work of unknown length. It appears after a second, if stderr is a terminal.
pub(super) fn spinner(what: &str, wanted: bool) -> ProgressBar {
    if !wanted {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
    let shown = spinner.clone();
    std::thread::spawn(move || {
        std::thread::sleep(SOON);
        if !shown.is_finished() {
            shown.enable_steady_tick(SPIN);
        }
    });
    spinner
}
