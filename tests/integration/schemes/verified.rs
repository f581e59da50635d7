//! David-Tabibi & Netanyahu 2002, Figure 3: verified null-move pruning.
//!
//! ```text
//! int search(alpha, beta, depth, verify) {
//!     if (depth <= 0) return quiescence(alpha, beta);
//!     fail_high = false;
//!     if (not in check && null_ok() && (!verify || depth > 1)) {
//!         value = -search(-beta, -beta + 1, depth - R - 1, verify);
//!         if (value >= beta)
//!             if (verify) { depth--; verify = false; fail_high = true; }
//!             else return value;
//!     }
//! re_search:
//!     for each move: best = max(best, -search(-beta, -alpha, depth - 1, verify)); ...
//!     if (fail_high && best < beta) {
//!         depth++; fail_high = false; verify = true; goto re_search;
//!     }
//!     return best;
//! }
//! ```

use super::tree::{Entry, Tree};
use tacet::board::Position;
use tacet::score::{Depth, Score};

/// Figure 3 with a fixed R. `verify` is true at the root.
pub fn verified<const R: Depth>(
    tree: &mut Tree,
    position: &Position,
    depth: Depth,
    alpha: Score,
    beta: Score,
    may_pass: bool,
    verify: bool,
) -> Score {
    let depth = match tree.enter(position, depth, alpha, beta) {
        Entry::Leaf(score) => return score,
        Entry::Search(depth) => depth,
    };
    let search_moves = |tree: &mut Tree, depth: Depth, verify: bool| {
        tree.moves(position, alpha, beta, |tree, next, alpha, beta| {
            verified::<R>(tree, next, depth - 1, alpha, beta, true, verify)
        })
    };
    if may_pass && !position.in_check() && (!verify || depth > 1) {
        let value = -tree.passed(position, |tree, next| {
            verified::<R>(tree, next, depth - 1 - R, -beta, -beta + 1, false, verify)
        });
        if value >= beta && !verify {
            return value;
        }
        if value >= beta {
            let best = search_moves(tree, depth - 1, false);
            if best >= beta {
                return best;
            }
            // Zugzwang: every move is worse than passing.
        }
    }
    search_moves(tree, depth, verify)
}

/// The paper's second variant of section 5 with the re-search of Figure 3: the flag stays on below
/// a fail-high, so the null move never cuts.
pub fn throughout(
    tree: &mut Tree,
    position: &Position,
    depth: Depth,
    alpha: Score,
    beta: Score,
    may_pass: bool,
) -> Score {
    const R: Depth = 3;
    let depth = match tree.enter(position, depth, alpha, beta) {
        Entry::Leaf(score) => return score,
        Entry::Search(depth) => depth,
    };
    let search_moves = |tree: &mut Tree, depth: Depth| {
        tree.moves(position, alpha, beta, |tree, next, alpha, beta| {
            throughout(tree, next, depth - 1, alpha, beta, true)
        })
    };
    if may_pass && !position.in_check() && depth > 1 {
        let value = -tree.passed(position, |tree, next| {
            throughout(tree, next, depth - 1 - R, -beta, -beta + 1, false)
        });
        if value >= beta {
            let best = search_moves(tree, depth - 1);
            if best >= beta {
                return best;
            }
        }
    }
    search_moves(tree, depth)
}

/// Tacet's variant of Figure 3: the flag also stays on, so every fail-high is verified, where the side to
/// move has at most `FEW` pieces besides king and pawns.
pub fn few_pieces<const FEW: usize>(
    tree: &mut Tree,
    position: &Position,
    depth: Depth,
    alpha: Score,
    beta: Score,
    may_pass: bool,
    verify: bool,
) -> Score {
    const R: Depth = 3;
    let depth = match tree.enter(position, depth, alpha, beta) {
        Entry::Leaf(score) => return score,
        Entry::Search(depth) => depth,
    };
    let search_moves = |tree: &mut Tree, depth: Depth, verify: bool| {
        tree.moves(position, alpha, beta, |tree, next, alpha, beta| {
            few_pieces::<FEW>(tree, next, depth - 1, alpha, beta, true, verify)
        })
    };
    let verify_here = verify || position.non_pawn_pieces(position.turn()).count() <= FEW;
    if may_pass && !position.in_check() && (!verify_here || depth > 1) {
        let value = -tree.passed(position, |tree, next| {
            few_pieces::<FEW>(tree, next, depth - 1 - R, -beta, -beta + 1, false, verify)
        });
        if value >= beta && !verify_here {
            return value;
        }
        if value >= beta {
            let best = search_moves(tree, depth - 1, false);
            if best >= beta {
                return best;
            }
        }
    }
    search_moves(tree, depth, verify)
}
