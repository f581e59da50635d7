//! Correction history: the average error of the static evaluation in similar positions.
//!
//! The score of a search is compared with the static evaluation of its node. The error is stored under
//! several features of the position (pawns, each side's pieces, minor pieces, the last two moves) and
//! added to the evaluation of positions that share them. Idea: Caissa (Witek) and Stockfish, 2024.

use super::history::boxed;
use super::{memory, params};
use crate::board::threats::Threats;
use crate::board::{PieceSquare, Position, color_index};
use crate::score::{Depth, Score};

/// Entries of a table that is indexed by a hash key.
const SLOTS: usize = if cfg!(feature = "tune") { 65_536 } else { 16_384 };
/// Entries in use unless the fifty-move counter is part of the key.
const USUAL_SLOTS: usize = 16_384;
/// Rows of the table by the move four plies ago, which is off by default.
const FOURTH: usize = if cfg!(feature = "tune") { 768 } else { 1 };
/// Errors stay within ±`LIMIT`, in units of about 1/32 centipawn before weighting.
const LIMIT: i32 = 1024;

type BySide<const N: usize> = Box<[[i16; N]; 2]>;

/// One table for each feature, all by side to move.
pub(crate) struct Correction {
    pawns: BySide<SLOTS>,
    non_pawns: [BySide<SLOTS>; 2],
    minors: BySide<SLOTS>,
    /// By piece and destination of the last move, then of the move before.
    continuation: Box<[[i16; 768]; 768]>,
    /// By piece and destination of the last move, then of the move four plies ago.
    fourth: Box<[[i16; 768]; FOURTH]>,
    /// By our pieces that are attacked.
    threats: BySide<SLOTS>,
}

/// The moves one, two and four plies ago. The third is `None` unless its table is in use.
pub(crate) type Moves = [Option<PieceSquare>; 3];

impl Default for Correction {
    fn default() -> Correction {
        Correction::new()
    }
}

impl Correction {
    /// Empty tables.
    pub(crate) fn new() -> Correction {
        Correction {
            pawns: boxed([0; SLOTS]),
            non_pawns: [boxed([0; SLOTS]), boxed([0; SLOTS])],
            minors: boxed([0; SLOTS]),
            continuation: boxed([0; 768]),
            fourth: boxed([0; 768]),
            threats: boxed([0; SLOTS]),
        }
    }

    /// Prefetches what [`Correction::corrected`] reads, except the tables by moves.
    #[inline]
    pub(crate) fn prefetch(&self, position: &Position) {
        let keys = position.keys();
        let side = color_index(position.turn());
        let prefetch =
            |table: &BySide<SLOTS>, key| memory::prefetch(&table[side][slot(position, key)]);
        prefetch(&self.pawns, keys.pawns);
        prefetch(&self.non_pawns[0], keys.non_pawns[0]);
        prefetch(&self.non_pawns[1], keys.non_pawns[1]);
        prefetch(&self.minors, keys.minors);
    }

    /// The evaluation plus the average error of similar positions.
    #[inline]
    pub(crate) fn corrected(&self, position: &Position, moves: Moves, eval: Score) -> Score {
        if params::use_correction() == 0 {
            return eval;
        }
        let keys = position.keys();
        let side = color_index(position.turn());
        let get = |table: &BySide<SLOTS>, key| i32::from(table[side][slot(position, key)]);
        let mut sum = get(&self.pawns, keys.pawns) * params::correction_pawns()
            + get(&self.non_pawns[0], keys.non_pawns[0]) * params::correction_non_pawns()
            + get(&self.non_pawns[1], keys.non_pawns[1]) * params::correction_non_pawns()
            + get(&self.minors, keys.minors) * params::correction_minors();
        if let [Some(last), Some(before), _] = moves {
            let error = self.continuation[last.index()][before.index()];
            sum += i32::from(error) * params::correction_continuation();
        }
        if let [Some(last), _, Some(fourth)] = moves {
            let error = self.fourth[last.index()][fourth.index()];
            sum += i32::from(error) * params::correction_fourth();
        }
        if params::use_correction_threats() != 0 {
            let error = self.threats[side][threat_key(position) as usize % USUAL_SLOTS];
            sum += i32::from(error) * params::correction_threats();
        }
        Score::cp(eval.value() + sum / 2048)
    }

    /// Records that a search to `depth` scored `error` centipawns above the evaluation.
    pub(crate) fn learn(&mut self, position: &Position, moves: Moves, depth: Depth, error: i32) {
        let bonus = (error * depth / 8).clamp(-LIMIT / 4, LIMIT / 4);
        let keys = position.keys();
        let side = color_index(position.turn());
        update(&mut self.pawns[side][slot(position, keys.pawns)], bonus);
        update(&mut self.non_pawns[0][side][slot(position, keys.non_pawns[0])], bonus);
        update(&mut self.non_pawns[1][side][slot(position, keys.non_pawns[1])], bonus);
        update(&mut self.minors[side][slot(position, keys.minors)], bonus);
        if let [Some(last), Some(before), _] = moves {
            update(&mut self.continuation[last.index()][before.index()], bonus);
        }
        if let [Some(last), _, Some(fourth)] = moves {
            update(&mut self.fourth[last.index()][fourth.index()], bonus);
        }
        if params::use_correction_threats() != 0 {
            let key = threat_key(position) as usize % USUAL_SLOTS;
            update(&mut self.threats[side][key], bonus);
        }
    }
}

#[inline]
fn slot(position: &Position, key: u64) -> usize {
    if params::use_correction_clock() == 0 {
        return key as usize % USUAL_SLOTS;
    }
    // Idea: Reckless 125807e.
    let bucket = u64::from(position.halfmove_clock() / 16);
    (key ^ bucket.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % SLOTS
}

/// A key of our attacked pieces. Idea: PlentyChess 428, Stockfish.
fn threat_key(position: &Position) -> u64 {
    let attacked = (Threats::of(position).all & position.us()).0;
    attacked.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

#[inline]
fn update(error: &mut i16, bonus: i32) {
    let value = i32::from(*error);
    *error = (value + bonus - value * bonus.abs() / LIMIT) as i16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_correct_similar_positions_and_stay_small() {
        let mut correction = Correction::new();
        let position = Position::startpos();
        let eval = Score::cp(10);
        assert_eq!(correction.corrected(&position, [None; 3], eval), eval);
        for _ in 0..1000 {
            correction.learn(&position, [None; 3], 20, 500);
        }
        let raised = correction.corrected(&position, [None; 3], eval);
        assert!(raised > eval && raised < eval + 500, "{raised}");
        let reply = position.play(position.legal_moves()[0]).0;
        let other = correction.corrected(&reply, [None; 3], eval);
        assert_eq!(other, eval, "the other side's errors are its own");
    }
}
