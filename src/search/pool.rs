//! The search threads of an engine, and what they remember between the searches of a game.

use super::classic::Classic;
use super::pvs::{Memory, Playing};
use super::table::Table;
use super::worker::Worker;
use super::{Bound, Info, Line, Outcome, SearchJob, Searcher};
use crate::score::Score;
use crate::time::Keeper;

/// The threads. One searches so far.
pub struct Pool {
    memory: Memory,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool::new()
    }
}

impl Pool {
    /// A pool that remembers nothing.
    pub fn new() -> Pool {
        Pool { memory: Memory::new() }
    }

    /// Forgets what was learned: for a new game.
    pub fn clear(&mut self) {
        self.memory = Memory::new();
    }

    /// Runs a search to its end. `keeper` says when that is, `report` is called for every line
    /// found.
    ///
    /// If the root has a legal move, the outcome has at least one line with at least one move,
    /// even if the keeper stops the search before the first node.
    pub fn run(
        &mut self,
        job: &SearchJob,
        table: &Table,
        keeper: &Keeper,
        report: &mut dyn FnMut(&Info),
    ) -> Outcome {
        table.new_search();
        let worker = Worker::new(job, table, keeper);
        let mut outcome = match job.searcher {
            Searcher::Playing => Playing::new(worker, &mut self.memory).run(report),
            Searcher::Classic => Classic::new(worker).run(report),
        };
        if outcome.lines.is_empty() {
            outcome.lines.extend(any_move(job));
        }
        outcome
    }
}

/// A line of one legal move, for a search that was stopped before it found any.
fn any_move(job: &SearchJob) -> Option<Line> {
    let legal = job.root.legal_moves();
    let m = job.search_moves.first().or_else(|| legal.first())?;
    Some(Line {
        score: Score::ZERO,
        bound: Bound::Exact,
        moves: vec![*m],
        depth: 0,
        selective_depth: 0,
    })
}
