//! Who plays when data are made: a search by itself, to a soft node limit.

use super::TrainError;
use crate::board::{PackedMove, Position};
use crate::eval::Evaluator;
use crate::score::Score;
use crate::search::pool::Pool;
use crate::search::table::Table;
use crate::search::{Bound, Message, SearchJob, Searcher};
use crate::time::{Keeper, Limits};

/// The shipped search, with an evaluation and a number of nodes a move.
pub struct Player {
    pool: Pool,
    table: Table,
    evaluator: Evaluator,
    nodes: u64,
}

/// A player's transposition table has a MB for every so many nodes a move, up to the most.
const NODES_A_MEGABYTE: u64 = 1_000;
const MOST_MEGABYTES: u64 = 64;
/// The hard limit, as a multiple of the soft one: for an iteration that does not end.
const HARD_FACTOR: u64 = 8;

impl Player {
    /// One that has seen nothing.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(nodes: u64, evaluator: &Evaluator) -> Result<Player, TrainError> {
        let megabytes = (nodes / NODES_A_MEGABYTE).clamp(1, MOST_MEGABYTES) as usize;
        let table =
            Table::new(megabytes).map_err(|reason| TrainError::Memory(reason.to_string()))?;
        Ok(Player { pool: Pool::new(), table, evaluator: evaluator.clone(), nodes })
    }

    /// Forgets all it has seen.
    pub fn clear(&mut self) {
        self.pool.clear();
        self.table.clear();
    }

    /// The move to play and its value for the side to move, which has a legal move. `earlier` are
    /// the keys of the positions before.
    pub fn think(&mut self, position: &Position, earlier: &[u64]) -> (PackedMove, Score) {
        let job = SearchJob {
            earlier: earlier.to_vec(),
            evaluator: self.evaluator.clone(),
            ..SearchJob::new(position.clone(), Searcher::Playing)
        };
        let keeper = Keeper::with_limits(Limits::to_nodes(self.nodes * HARD_FACTOR));
        let nodes = self.nodes;
        let outcome = self.pool.run(&job, &self.table, &keeper, &mut |said| {
            if let Message::Line(info) = said
                && info.line.bound == Bound::Exact
                && info.nodes >= nodes
            {
                keeper.stop();
            }
        });
        (outcome.best(), outcome.score().unwrap_or_default())
    }
}
