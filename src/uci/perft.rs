//! `perft`: counts the leaf nodes of the move tree. It can be stopped: each further ply takes about thirty
//! times as long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::output::per_second;
use super::task::Job;
use crate::board::Position;
use crate::board::perft::divide;

/// A perft run.
pub(crate) struct Perft {
    root: Position,
    depth: u32,
    divided: bool,
    chess960: bool,
    stopped: AtomicBool,
}

impl Perft {
    /// A run from `root` to `depth`, at least 1. `divided` shows the count of each move, `chess960`
    /// writes castling as Chess960 does.
    pub(crate) fn new(root: Position, depth: u32, divided: bool, chess960: bool) -> Perft {
        Perft { root, depth, divided, chess960, stopped: AtomicBool::new(false) }
    }
}

/// The last line of output is `N nodes N nps`.
impl Job for Perft {
    fn name(&self) -> &'static str {
        "perft"
    }

    fn run(&self, say: &dyn Fn(String)) -> Result<(), String> {
        let begun = Instant::now();
        let mut total = 0;
        for (m, count) in divide(&self.root, self.depth, &self.stopped) {
            let Some(count) = count else {
                say("info string perft stopped".to_owned());
                return Ok(());
            };
            total += count;
            if self.divided {
                say(format!("{}: {count}", self.root.uci(m, self.chess960)));
            }
        }
        say(format!("{total} nodes {} nps", per_second(total, begun.elapsed())));
        Ok(())
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}
