//! Muller, micro-Max 4.4: null moves are switched on or off for the whole search by the material at the root.
//! A null move may answer a null move; only the decreasing depth ends that.

use super::tree::{Entry, Tree};
use tacet::board::{Position, Role};
use tacet::score::{Depth, Score};

const R: Depth = 2;

/// The pieces of both sides together are worth more than two minor pieces.
fn is_middle_game(root: &Position) -> bool {
    let worth = |role, value| root.by_role(role).count() * value;
    let minors = worth(Role::Knight, 2) + worth(Role::Bishop, 2);
    minors + worth(Role::Rook, 3) + worth(Role::Queen, 6) > 4
}

pub fn micromax(
    tree: &mut Tree,
    position: &Position,
    depth: Depth,
    alpha: Score,
    beta: Score,
) -> Score {
    let depth = match tree.enter(position, depth, alpha, beta) {
        Entry::Leaf(score) => return score,
        Entry::Search(depth) => depth,
    };
    if is_middle_game(tree.root()) && !position.in_check() {
        let value = -tree
            .passed(position, |tree, next| micromax(tree, next, depth - 1 - R, -beta, -beta + 1));
        if value >= beta {
            return value;
        }
    }
    tree.moves(position, alpha, beta, |tree, next, alpha, beta| {
        micromax(tree, next, depth - 1, alpha, beta)
    })
}
