//! Evaluation: what a position is worth without searching it.
//!
//! A [`State`] accompanies a search. It is told of every move played and taken back, keeps sums
//! that a move changes little, and answers with a [`Score`] when asked. [`classical`] adds up
//! piece-square values; [`endings`] knows the few endings in which such a sum misleads.

pub mod classical;
pub mod endings;

use crate::board::{Change, Position};
use crate::score::Score;

/// A stack of incremental sums, one per search thread; the top belongs to the current node.
#[derive(Clone, Debug)]
pub struct State {
    sums: classical::Stack,
}

impl State {
    /// A stack whose bottom is `position`.
    pub fn new(position: &Position) -> State {
        State { sums: classical::Stack::new(position) }
    }

    /// Empties the stack and begins anew.
    pub fn reset(&mut self, position: &Position) {
        self.sums.reset(position);
    }

    /// A move was played (an empty change: a pass).
    #[inline]
    pub fn push(&mut self, change: &Change) {
        self.sums.push(change);
    }

    /// It was taken back.
    #[inline]
    pub fn pop(&mut self) {
        self.sums.pop();
    }

    /// The static value of `position`, which must be the top's, for the side to move. Never a
    /// mate or tablebase score.
    #[inline]
    pub fn evaluate(&mut self, position: &Position) -> Score {
        self.sums.evaluate(position)
    }
}
