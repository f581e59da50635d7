//! Moreland 2001; Plenkner 1995, "A null-move technique impervious to zugzwang": in the endgame a
//! fail-high of the null move is accepted only if the node itself, searched as shallow as the null
//! move was, fails high as well.

use super::tree::{Entry, Tree};
use tacet::board::Position;
use tacet::score::{Depth, Score};

const R: Depth = 2;

/// The side to move has at most one piece besides king and pawns.
fn is_endgame(position: &Position) -> bool {
    position.non_pawn_pieces(position.turn()).count() <= 1
}

pub fn endgame_verified(
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
    if may_pass && !position.in_check() {
        let reduced = depth - 1 - R;
        let value = -tree.passed(position, |tree, next| {
            endgame_verified(tree, next, reduced, -beta, -beta + 1, false)
        });
        if value >= beta {
            // The same node with no null move of its own; the nodes below it make theirs.
            let agrees = !is_endgame(position)
                || endgame_verified(tree, position, reduced.max(1), beta - 1, beta, false) >= beta;
            if agrees {
                return value;
            }
        }
    }
    tree.moves(position, alpha, beta, |tree, next, alpha, beta| {
        endgame_verified(tree, next, depth - 1, alpha, beta, true)
    })
}
