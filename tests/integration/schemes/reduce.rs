//! David-Tabibi & Netanyahu 2002, section 5: three variants that only ever make the search
//! shallower. A null move that fails high never cuts, and there is no second search.
//!
//! A null move is tried only where a fail-high would leave a ply to search: where the reduction is
//! less than the depth.

use super::tree::{Entry, Tree};
use tacet::board::Position;
use tacet::score::{Depth, Score};

const R: Depth = 3;

/// First variant: two plies shallower wherever the null move fails high.
pub fn by_two(
    tree: &mut Tree,
    position: &Position,
    depth: Depth,
    alpha: Score,
    beta: Score,
    may_pass: bool,
) -> Score {
    let mut depth = match tree.enter(position, depth, alpha, beta) {
        Entry::Leaf(score) => return score,
        Entry::Search(depth) => depth,
    };
    if may_pass && !position.in_check() && depth > 2 {
        let value = -tree.passed(position, |tree, next| {
            by_two(tree, next, depth - 1 - R, -beta, -beta + 1, false)
        });
        if value >= beta {
            depth -= 2;
        }
    }
    tree.moves(position, alpha, beta, |tree, next, alpha, beta| {
        by_two(tree, next, depth - 1, alpha, beta, true)
    })
}

/// Second variant: one ply shallower wherever the null move fails high, in the subtree of such a
/// node too.
pub fn by_one(
    tree: &mut Tree,
    position: &Position,
    depth: Depth,
    alpha: Score,
    beta: Score,
    may_pass: bool,
) -> Score {
    let mut depth = match tree.enter(position, depth, alpha, beta) {
        Entry::Leaf(score) => return score,
        Entry::Search(depth) => depth,
    };
    if may_pass && !position.in_check() && depth > 1 {
        let value = -tree.passed(position, |tree, next| {
            by_one(tree, next, depth - 1 - R, -beta, -beta + 1, false)
        });
        if value >= beta {
            depth -= 1;
        }
    }
    tree.moves(position, alpha, beta, |tree, next, alpha, beta| {
        by_one(tree, next, depth - 1, alpha, beta, true)
    })
}

/// Third variant: one ply shallower where the null move fails high for the first time on a path,
/// two plies below. `plies` is what a fail-high costs here.
pub fn by_one_then_two(
    tree: &mut Tree,
    position: &Position,
    depth: Depth,
    alpha: Score,
    beta: Score,
    may_pass: bool,
    plies: Depth,
) -> Score {
    let mut depth = match tree.enter(position, depth, alpha, beta) {
        Entry::Leaf(score) => return score,
        Entry::Search(depth) => depth,
    };
    let mut plies_below = plies;
    if may_pass && !position.in_check() && depth > plies {
        let value = -tree.passed(position, |tree, next| {
            by_one_then_two(tree, next, depth - 1 - R, -beta, -beta + 1, false, plies)
        });
        if value >= beta {
            depth -= plies;
            plies_below = 2;
        }
    }
    tree.moves(position, alpha, beta, |tree, next, alpha, beta| {
        by_one_then_two(tree, next, depth - 1, alpha, beta, true, plies_below)
    })
}
