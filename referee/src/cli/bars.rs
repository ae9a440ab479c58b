//! Bars, counters and spinners on stderr, for what takes longer than a moment.

use indicatif::{ProgressBar, ProgressFinish, ProgressState, ProgressStyle};
use std::time::Duration;

/// How often a spinner turns.
pub(super) const SPIN: Duration = Duration::from_millis(120);
/// Less needs no bar.
const COUNT_MIN: usize = 2;
/// Work that takes no longer has no spinner.
const SOON: Duration = Duration::from_secs(1);

/// A bar whose length is known once the work has begun: [`advance`] moves it.
pub(super) fn count_bar(message: &'static str, wanted: bool) -> ProgressBar {
    let bar = progress_bar(usize::MAX, wanted).with_message(message);
    bar.with_finish(ProgressFinish::AndClear)
}

/// So much of so much is done.
pub(super) fn advance(bar: &ProgressBar, done: usize, of: usize) {
    if of >= COUNT_MIN {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    }
}

/// Shown only where it is worth it: on a terminal, and for more than a moment's work.
pub(super) fn progress_bar(count: usize, wanted: bool) -> ProgressBar {
    if !wanted || count < COUNT_MIN {
        return ProgressBar::hidden();
    }
    let style = style("{bar:20} {pos}/{len}  {rate}  {eta} left  {wide_msg}");
    ProgressBar::new(count as u64).with_style(style)
}

/// For games that end when enough is known: how many are left can't be told.
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
            // There is nobody to tell of a text that takes no text.
            let _ = write!(out, "{:.1}/s", state.per_sec());
        })
}

/// For work whose length isn't known, such as a large fit. It shows itself only if that takes long,
/// and where stderr is a terminal.
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
