//! Tacet's scheme from the audit: R = 3, with two exceptions. If the static value is less than 300 centipawns
//! above beta, or beta is a mate against the side to move, the null move is searched to at least depth 1. If
//! the side to move has at most one piece, a fail-high is verified as in Figure 3 of David-Tabibi & Netanyahu
//! 2002. Otherwise it is a cutoff.

use super::tree::{Entry, Tree};
use tacet::board::Position;
use tacet::score::{Depth, Score};

pub fn calibrated(
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
            calibrated(tree, next, depth - 1, alpha, beta, true, verify)
        })
    };
    let verify_here = verify && position.non_pawn_pieces(position.turn()).count() <= 1;
    if may_pass && !position.in_check() && (!verify_here || depth > 1) {
        let is_doubtful = beta.is_mate_against_us() || tree.evaluate(position) - beta < 300;
        let null_depth = if is_doubtful && depth >= 3 { (depth - 4).max(1) } else { depth - 4 };
        let value = -tree.passed(position, |tree, next| {
            calibrated(tree, next, null_depth, -beta, -beta + 1, false, verify)
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
