//! Observes a search: accepted null-move cutoffs, and the tree node by node.
//!
//! Used by `tacet audit` and `tacet trace`. Without an observer the cost is one `Option` check per node
//! (classic searcher) or per null-move cutoff (playing searcher).

use std::fmt::Debug;

use super::null_move::NodeFacts;
use crate::board::{PackedMove, Position};
use crate::score::{Depth, Ply, Score};

/// A null-move cutoff that the scheme accepts.
#[derive(Clone, Copy, Debug)]
pub struct NullCutoff<'a> {
    /// The position of the node.
    pub position: &'a Position,
    /// Keys of the positions before it: those of the game, then those of the path from the root.
    pub keys: &'a [u64],
    /// The facts that the scheme used.
    pub node: NodeFacts,
    /// The depth to which the null move was searched; 0 and below is quiescence.
    pub null_depth: Depth,
}

/// How a node is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// By a move.
    Move(PackedMove),
    /// By a null move.
    Pass,
    /// The parent node itself, searched again without null moves to check a cutoff.
    Recheck,
}

/// A node, as it is entered.
#[derive(Clone, Copy, Debug)]
pub struct Entered<'a> {
    /// The position.
    pub position: &'a Position,
    /// The lower bound of the window.
    pub alpha: Score,
    /// The upper bound of the window.
    pub beta: Score,
    /// Plies left to search; 0 and below is quiescence.
    pub depth: Depth,
    /// Plies from the root.
    pub ply: Ply,
}

/// What decided the value of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Repetition, the fifty-move rule or insufficient material.
    Draw,
    /// An entry of the transposition table.
    Table,
    /// Quiescence search, or the evaluation at the greatest depth.
    Quiescence,
    /// A null move reached beta and was accepted.
    NullCutoff,
    /// A null move reached beta, and a shallower search of the moves confirmed it.
    Verified,
    /// A null move reached beta but no move did: the moves were searched again to the full depth.
    Zugzwang,
    /// The moves.
    Moves,
}

/// Watches a search. All methods do nothing by default.
pub trait Observer: Debug + Send + Sync {
    /// Returns whether a null-move cutoff that the scheme accepts may stand. If not, the search
    /// continues as if the null move had failed low.
    fn accepts(&self, cutoff: &NullCutoff<'_>) -> bool {
        let _ = cutoff;
        true
    }

    /// Called before a node is entered, with the step that leads to it.
    fn step(&self, step: Step) {
        let _ = step;
    }

    /// Called when a node is entered.
    fn enter(&self, node: &Entered<'_>) {
        let _ = node;
    }

    /// Called when the most recently entered open node returns. `best` is the best move, if there is one.
    fn leave(&self, score: Score, reason: Reason, best: PackedMove) {
        let _ = (score, reason, best);
    }
}
