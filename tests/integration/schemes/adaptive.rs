//! Heinz 1999, "Adaptive null-move pruning": the standard null move, R chosen node by node.

use super::tree::{Entry, Tree};
use tacet::board::{Color, Position};
use tacet::score::{Depth, Score};

/// R is 3 at depths over 8, at depths 7 and 8 only while one side has three pieces; else it is 2.
fn reduction(position: &Position, depth: Depth) -> Depth {
    let pieces = |color| position.non_pawn_pieces(color).count();
    let most = pieces(Color::White).max(pieces(Color::Black));
    match depth {
        9.. => 3,
        7 | 8 if most >= 3 => 3,
        _ => 2,
    }
}

pub fn adaptive(
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
        let reduced = depth - 1 - reduction(position, depth);
        let value = -tree
            .passed(position, |tree, next| adaptive(tree, next, reduced, -beta, -beta + 1, false));
        if value >= beta {
            return value;
        }
    }
    tree.moves(position, alpha, beta, |tree, next, alpha, beta| {
        adaptive(tree, next, depth - 1, alpha, beta, true)
    })
}
