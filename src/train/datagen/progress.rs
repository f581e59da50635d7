//! A bar on the terminal; without one, a line now and then.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Counts, Goal};

/// Games from one line to the next without a terminal.
pub(super) const LINE_INTERVAL: u64 = 500;

pub(super) struct Progress {
    bar: ProgressBar,
    began: Instant,
    goal: Goal,
    found: Counts,
    now: Counts,
    lines: bool,
}

impl Progress {
    pub fn new(goal: Goal, found: Counts) -> Progress {
        let length = if goal.positions < u64::MAX { goal.positions } else { goal.games };
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len}, {msg}, {eta}") {
            bar.set_style(style);
        }
        let lines = !std::io::stderr().is_terminal();
        let progress = Progress { bar, began: Instant::now(), goal, found, now: found, lines };
        progress.show();
        progress.bar.reset_eta();
        progress
    }

    pub fn set(&mut self, now: Counts) {
        self.now = now;
        self.show();
        if self.lines && self.now.games.is_multiple_of(LINE_INTERVAL) {
            eprintln!("{}", self.summary());
        }
    }

    fn show(&self) {
        let counts_positions = self.goal.positions < u64::MAX;
        self.bar.set_position(if counts_positions { self.now.positions } else { self.now.games });
        self.bar.set_message(self.summary());
    }

    fn summary(&self) -> String {
        let positions = (self.now.positions - self.found.positions) as f64;
        let hours = self.began.elapsed().as_secs_f64() / 3_600.0;
        let Counts { games, positions: all, inner } = self.now;
        let inner = if inner > 0 { format!("{inner} inner positions, ") } else { String::new() };
        format!(
            "{games} games, {all} positions, {inner}{:.0} positions/h",
            positions / hours.max(1e-9)
        )
    }

    pub fn finish(&self) -> std::io::Result<()> {
        self.bar.finish_and_clear();
        writeln!(std::io::stdout(), "{}", self.summary())
    }
}
