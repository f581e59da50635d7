//! Moreland 2001; Diepeveen: the double null move. "Allow exactly two null-move searches before
//! forcing a real move": a pass may be answered by a pass, which gives back the position of the first
//! pass. In zugzwang that refutes the first pass, so no material guard is needed.

use super::tree::{Entry, Tree};
use tacet::board::Position;
use tacet::score::{Depth, Score};

const R: Depth = 2;

/// `passes` is the number of null moves made since the last real move.
pub fn double(
    tree: &mut Tree,
    position: &Position,
    depth: Depth,
    alpha: Score,
    beta: Score,
    passes: u32,
) -> Score {
    let depth = match tree.enter(position, depth, alpha, beta) {
        Entry::Leaf(score) => return score,
        Entry::Search(depth) => depth,
    };
    if passes < 2 && !position.in_check() {
        let value = -tree.passed(position, |tree, next| {
            double(tree, next, depth - 1 - R, -beta, -beta + 1, passes + 1)
        });
        if value >= beta {
            return value;
        }
    }
    tree.moves(position, alpha, beta, |tree, next, alpha, beta| {
        double(tree, next, depth - 1, alpha, beta, 0)
    })
}
