//! The null move of current engines, and the same conditions with the verification of the 2002 paper.

use super::tree::{Entry, Tree};
use tacet::board::Position;
use tacet::score::{Depth, Ply, Score};

/// With at most this many pieces a side verifies also below a fail-high.
const FEW: usize = 1;

/// R grows with the depth and with the margin of the static value over beta.
fn reduction(depth: Depth, value: Score, beta: Score) -> Depth {
    3 + depth / 3 + ((value - beta) / 80).min(7)
}

/// The static value is at least beta, with a margin that shrinks with depth.
fn is_ahead(depth: Depth, value: Score, beta: Score) -> bool {
    value - beta >= (105 - 9 * depth).max(0)
}

/// The window holds more than one value.
fn is_pv(alpha: Score, beta: Score) -> bool {
    beta - alpha > 1
}

/// The modern null move. None is made with at most `NONE` pieces or at plies below `no_null_before`. A
/// fail-high is rechecked with at most `FEWER` pieces, and from depth `RECHECK` on.
pub fn modern<const NONE: usize, const FEWER: usize, const RECHECK: Depth>(
    tree: &mut Tree,
    position: &Position,
    depth: Depth,
    alpha: Score,
    beta: Score,
    may_pass: bool,
    no_null_before: Ply,
) -> Score {
    let depth = match tree.enter(position, depth, alpha, beta) {
        Entry::Leaf(score) => return score,
        Entry::Search(depth) => depth,
    };
    let pieces = position.non_pawn_pieces(position.turn()).count();
    let allowed = may_pass && tree.ply() >= no_null_before;
    if allowed && pieces > NONE && !position.in_check() && !is_pv(alpha, beta) {
        let static_value = tree.evaluate(position);
        if is_ahead(depth, static_value, beta) {
            let reduced = depth - 1 - reduction(depth, static_value, beta);
            let value = -tree.passed(position, |tree, next| {
                modern::<NONE, FEWER, RECHECK>(
                    tree,
                    next,
                    reduced,
                    -beta,
                    -beta + 1,
                    false,
                    no_null_before,
                )
            });
            let doubtful = pieces <= FEWER || depth >= RECHECK;
            let confirmed = confirmed::<NONE, FEWER, RECHECK>;
            if value >= beta && (!doubtful || confirmed(tree, position, reduced, beta)) {
                return if value.is_mate_for_us() { beta } else { value };
            }
        }
    }
    tree.moves(position, alpha, beta, |tree, next, alpha, beta| {
        modern::<NONE, FEWER, RECHECK>(tree, next, depth - 1, alpha, beta, true, no_null_before)
    })
}

/// Does the node reach beta in a search as deep as its null move, without null moves in the first three
/// quarters of that depth?
fn confirmed<const NONE: usize, const FEWER: usize, const RECHECK: Depth>(
    tree: &mut Tree,
    position: &Position,
    reduced: Depth,
    beta: Score,
) -> bool {
    let depth = reduced.max(1);
    let ban = tree.ply() + (3 * depth / 4) as Ply;
    modern::<NONE, FEWER, RECHECK>(tree, position, depth, beta - 1, beta, false, ban) >= beta
}

/// Verified null-move pruning with the modern trigger and reduction. A side with few pieces verifies
/// every fail-high.
pub fn verified_modern(
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
            verified_modern(tree, next, depth - 1, alpha, beta, true, verify)
        })
    };
    let pieces = position.non_pawn_pieces(position.turn()).count();
    let verifies = verify || pieces <= FEW;
    let allowed = may_pass && pieces > 0 && (!verifies || depth > 1);
    if allowed && !position.in_check() && !is_pv(alpha, beta) {
        let static_value = tree.evaluate(position);
        if is_ahead(depth, static_value, beta) {
            let reduced = depth - 1 - reduction(depth, static_value, beta);
            let value = -tree.passed(position, |tree, next| {
                verified_modern(tree, next, reduced, -beta, -beta + 1, false, verify)
            });
            if value >= beta && !verifies {
                return value;
            }
            if value >= beta {
                let best = search_moves(tree, depth - 1, false);
                if best >= beta {
                    return best;
                }
            }
        }
    }
    search_moves(tree, depth, verify)
}
