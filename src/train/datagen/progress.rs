//! Progress of `datagen`: games or positions, whichever is the goal.

use std::io::Write;
use std::time::Instant;

use super::{Counts, Goal};
use crate::kit::progress;

pub(super) struct DatagenProgress {
    shown: progress::Progress,
    began: Instant,
    goal: Goal,
    found: Counts,
    now: Counts,
}

impl DatagenProgress {
    pub(super) fn new(goal: Goal, found: Counts) -> DatagenProgress {
        let (total, done) = if goal.positions < u64::MAX {
            (goal.positions, found.positions)
        } else {
            (goal.games, found.games)
        };
        let shown = progress::Progress::new(total, done);
        let progress = DatagenProgress { shown, began: Instant::now(), goal, found, now: found };
        progress.show();
        progress
    }

    pub(super) fn set(&mut self, now: Counts) {
        self.now = now;
        self.show();
    }

    fn show(&self) {
        let counts_positions = self.goal.positions < u64::MAX;
        self.shown.set_message(self.summary());
        self.shown.set_position(if counts_positions { self.now.positions } else { self.now.games });
    }

    fn summary(&self) -> String {
        let positions = (self.now.positions - self.found.positions) as f64;
        let hours = self.began.elapsed().as_secs_f64() / 3_600.0;
        let Counts { games, positions: all, inner } = self.now;
        let inner = if inner > 0 { format!("{inner} inner positions, ") } else { String::new() };
        format!(
            "{games} game{}, {all} positions, {inner}{:.0} positions/h",
            if games == 1 { "" } else { "s" },
            positions / hours.max(1e-9)
        )
    }

    pub(super) fn finish(&self) -> std::io::Result<()> {
        self.shown.finish_and_clear();
        writeln!(std::io::stdout(), "{}", self.summary())
    }
}
