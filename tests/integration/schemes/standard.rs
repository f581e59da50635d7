//! Beal 1989, Goetsch & Campbell 1990, Donninger 1993; Figure 1 of David-Tabibi & Netanyahu 2002.
//!
//! ```text
//! if (ok_to_null_move and not in check) {
//!     make_null_move();
//!     value = -search(-beta, -beta + 1, depth - 1 - R);
//!     undo_null_move();
//!     if (value >= beta) return value;
//! }
//! ```

use super::tree::{Entry, Tree};
use tacet::board::Position;
use tacet::score::{Depth, Score};

/// Plain principal variation search: the search that the others are measured against.
pub fn off(tree: &mut Tree, position: &Position, depth: Depth, alpha: Score, beta: Score) -> Score {
    let depth = match tree.enter(position, depth, alpha, beta) {
        Entry::Leaf(score) => return score,
        Entry::Search(depth) => depth,
    };
    tree.moves(position, alpha, beta, |tree, next, alpha, beta| {
        off(tree, next, depth - 1, alpha, beta)
    })
}

/// The null move with a fixed reduction: not in check, not with king and pawns alone, not as the
/// answer to another null move.
pub fn standard<const R: Depth>(
    tree: &mut Tree,
    position: &Position,
    depth: Depth,
    alpha: Score,
    beta: Score,
    may_pass: bool,
) -> Score {
    let depth = match tree.enter(position, depth, alpha, beta) {
        Entry::Leaf(score) => return score,
        Entry::Search(depth) => depth,
    };
    let has_piece = position.non_pawn_pieces(position.turn()).any();
    if may_pass && has_piece && !position.in_check() {
        let value = -tree.passed(position, |tree, next| {
            standard::<R>(tree, next, depth - 1 - R, -beta, -beta + 1, false)
        });
        if value >= beta {
            return value;
        }
    }
    tree.moves(position, alpha, beta, |tree, next, alpha, beta| {
        standard::<R>(tree, next, depth - 1, alpha, beta, true)
    })
}
