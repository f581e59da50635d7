//! Progress of long work on standard error: a bar on a terminal, otherwise one line per minute; nothing if
//! quiet.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{FormattedDuration, ProgressBar, ProgressStyle};

use super::sync::lock;

/// Time between two lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(60);

const STYLE: &str =
    "{wide_bar} {human_pos}/{human_len} {msg} {elapsed_precise}, {eta_precise} left";

static QUIET: AtomicBool = AtomicBool::new(false);

/// Shows no progress from now on.
pub(crate) fn set_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Was [`set_quiet`] called?
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Progress of work of a known length.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// The time of the last line; `None` if no lines are written.
    last_line: Option<Mutex<Instant>>,
}

impl Progress {
    /// Shows `done` of `total`, without a message.
    pub(crate) fn new(total: u64, done: u64) -> Progress {
        let is_terminal = io::stderr().is_terminal();
        let is_quiet = is_quiet();
        let bar = if is_terminal && !is_quiet { visible(total) } else { hidden(total) };
        bar.set_position(done);
        bar.reset_eta();
        let has_lines = !is_terminal && !is_quiet;
        Progress { bar, last_line: has_lines.then(|| Mutex::new(Instant::now())) }
    }

    /// Advances by `steps`.
    pub(crate) fn inc(&self, steps: u64) {
        self.bar.inc(steps);
        self.write_line_if_due(Instant::now());
    }

    /// Sets the amount done.
    #[cfg(any(feature = "train", test))]
    pub(crate) fn set_position(&self, done: u64) {
        self.bar.set_position(done);
        self.write_line_if_due(Instant::now());
    }

    /// Sets the text after the count.
    pub(crate) fn set_message(&self, message: impl Into<String>) {
        self.bar.set_message(message.into());
    }

    /// Prints to the terminal without tearing the bar.
    pub(crate) fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }

    /// Removes the bar.
    pub(crate) fn finish_and_clear(&self) {
        self.bar.finish_and_clear();
    }

    fn write_line_if_due(&self, now: Instant) {
        let Some(last_line) = &self.last_line else { return };
        let mut last_line = lock(last_line);
        if now.saturating_duration_since(*last_line) >= LINE_INTERVAL {
            *last_line = now;
            // The work continues even if its progress cannot be shown.
            let _ = writeln!(io::stderr(), "{}", self.line());
        }
    }

    /// `1,200/5,000 MESSAGE, 00:03:00 elapsed, 00:09:30 left`
    fn line(&self) -> String {
        let bar = &self.bar;
        let message = bar.message();
        let space = if message.is_empty() { "" } else { " " };
        format!(
            "{}/{}{space}{message}, {} elapsed, {} left",
            indicatif::HumanCount(bar.position()),
            indicatif::HumanCount(bar.length().unwrap_or_default()),
            FormattedDuration(bar.elapsed()),
            FormattedDuration(bar.eta())
        )
    }
}

fn visible(total: u64) -> ProgressBar {
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template(STYLE) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}

fn hidden(total: u64) -> ProgressBar {
    let bar = ProgressBar::hidden();
    bar.set_length(total);
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_due_once_a_minute() {
        let began = Instant::now();
        let progress = Progress { bar: hidden(5000), last_line: Some(Mutex::new(began)) };
        let last = || *progress.last_line.as_ref().unwrap().lock().unwrap();
        progress.write_line_if_due(began + Duration::from_secs(59));
        assert_eq!(last(), began);
        let minute = began + Duration::from_secs(60);
        progress.write_line_if_due(minute);
        assert_eq!(last(), minute);
        progress.write_line_if_due(minute + Duration::from_secs(59));
        assert_eq!(last(), minute);
    }

    #[test]
    fn a_line_says_how_much_is_done() {
        let progress = Progress { bar: hidden(5000), last_line: None };
        progress.set_position(1200);
        assert!(progress.line().starts_with("1,200/5,000, 00:00:00 elapsed, "));
        progress.set_message("+3 -1 =7");
        assert!(progress.line().starts_with("1,200/5,000 +3 -1 =7, "), "{}", progress.line());
    }
}
