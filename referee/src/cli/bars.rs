//! Bars, counters and spinners on stderr, for what takes longer than a moment.

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::sync::OnceLock;
use std::time::Duration;

/// How often a spinner turns.
pub(super) const SPIN: Duration = Duration::from_millis(120);
/// Work that takes no longer has no spinner.
const SOON: Duration = Duration::from_secs(1);

/// A bar whose length is known once the work has begun.
#[derive(Debug)]
pub(super) struct CountBar {
    wanted: bool,
    message: &'static str,
    bar: OnceLock<ProgressBar>,
}

impl CountBar {
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted, message: "", bar: OnceLock::new() }
    }

    /// For the builds of agents.
    pub(super) fn building(wanted: bool) -> Self {
        Self { wanted, message: "building", bar: OnceLock::new() }
    }

    /// So much of so much is done.
    pub(super) fn at(&self, done: usize, of: usize) {
        let bar = self.bar.get_or_init(|| progress_bar(of, self.wanted).with_message(self.message));
        bar.set_position(done as u64);
    }
}

impl Drop for CountBar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// Shown only where it is worth it: on a terminal, and for more than a moment's work.
pub(super) fn progress_bar(count: usize, wanted: bool) -> ProgressBar {
    if !wanted || count < 2 {
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
