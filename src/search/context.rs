//! What the threads of one search share beside the table.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::Line;
use super::endgame::Endgame;
use super::stats::Stats;
use crate::board::PackedMove;
use crate::score::Depth;

/// The threads of one search: how far each is, and the deepest iteration that one has completed.
pub struct SharedContext {
    counts: Vec<Counts>,
    /// The depth of `deepest`, to be asked often.
    depth: AtomicI32,
    deepest: Mutex<CompletedIteration>,
    /// The endgame tables, and what they say of the root.
    pub endgame: Endgame,
}

/// What one thread has counted, on a cache line of its own: its writer is disturbed by no other.
#[derive(Default)]
#[repr(align(128))]
struct Counts {
    nodes: AtomicU64,
    tablebase_hits: AtomicU64,
}

/// An iteration that a thread has completed.
#[derive(Clone, Default)]
pub struct CompletedIteration {
    /// Its depth.
    pub depth: Depth,
    /// What it found, best line first: at least one line.
    pub lines: Vec<Line>,
    /// Nodes spent on each root move.
    pub effort: Vec<(PackedMove, u64)>,
}

impl SharedContext {
    /// So many threads, 1 and up.
    pub fn new(threads: usize, endgame: Endgame) -> SharedContext {
        SharedContext {
            counts: (0..threads).map(|_| Counts::default()).collect(),
            depth: AtomicI32::new(0),
            deepest: Mutex::default(),
            endgame,
        }
    }

    /// Is there one thread alone?
    pub fn is_one(&self) -> bool {
        self.counts.len() == 1
    }

    /// Notes what a thread has counted.
    pub fn count(&self, thread: usize, stats: &Stats) {
        let counts = &self.counts[thread];
        counts.nodes.store(stats.nodes, Relaxed);
        counts.tablebase_hits.store(stats.tablebase_hits, Relaxed);
    }

    /// Nodes of all threads, each as of its last look at the clock.
    pub fn nodes(&self) -> u64 {
        self.counts.iter().map(|count| count.nodes.load(Relaxed)).sum()
    }

    /// Positions found in the endgame tables: of the root, and of all threads as of their last
    /// look at the clock.
    pub fn tablebase_hits(&self) -> u64 {
        let inside: u64 = self.counts.iter().map(|count| count.tablebase_hits.load(Relaxed)).sum();
        self.endgame.hits() + inside
    }

    /// The deepest iteration that a thread has completed; 0 at first.
    #[inline]
    pub fn depth(&self) -> Depth {
        self.depth.load(Relaxed)
    }

    /// What that iteration found.
    pub fn deepest(&self) -> CompletedIteration {
        self.deepest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A thread has completed an iteration: of two of one depth the first counts.
    pub fn complete(&self, iteration: CompletedIteration) {
        let mut deepest = self.deepest.lock().unwrap_or_else(PoisonError::into_inner);
        if iteration.depth > deepest.depth {
            self.depth.store(iteration.depth, Relaxed);
            *deepest = iteration;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_to_complete_the_deepest_iteration_is_heard() {
        let shared = SharedContext::new(2, Endgame::default());
        let deepest = |depth, nodes| CompletedIteration {
            depth,
            effort: vec![(PackedMove::NONE, nodes)],
            ..CompletedIteration::default()
        };
        assert_eq!(shared.depth(), 0);
        for (depth, nodes, expected) in
            [(3, 1, (3, 1)), (3, 2, (3, 1)), (2, 3, (3, 1)), (5, 4, (5, 4))]
        {
            shared.complete(deepest(depth, nodes));
            assert_eq!((shared.depth(), shared.deepest().effort[0].1), expected);
        }
    }
}
