//! Evaluation (signatures agreed).
use crate::board::{Change, Position};
use crate::score::Score;
/// A stack of incremental sums, one per search thread; the top belongs to the current node.
pub struct State;
impl State {
    /// A stack whose bottom is `position`.
    pub fn new(_position: &Position) -> State {
        todo!()
    }
    /// Empties the stack and begins anew.
    pub fn reset(&mut self, _position: &Position) {
        todo!()
    }
    /// A move was played (an empty change: a pass).
    pub fn push(&mut self, _change: &Change) {
        todo!()
    }
    /// It was taken back.
    pub fn pop(&mut self) {
        todo!()
    }
    /// The static value of `position`, which must be the top's, for the side to move.
    pub fn evaluate(&mut self, _position: &Position) -> Score {
        todo!()
    }
}
