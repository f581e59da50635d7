//! When a move is searched deeper: pure functions of plain values.
//!
//! Singular extensions (Anantharaman, Campbell & Hsu 1988) in the form of today's engines: the
//! table's move is left out and the rest searched to half the depth; if all of it stays well
//! below, the move is singular. Multicut (Björnsson & Marsland) falls out of the same search.

use super::{Bound, params};
use crate::score::{Depth, Score};

/// What the search without the table's move found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extension {
    /// Search the move so many plies deeper; may be negative.
    Plies(Depth),
    /// Other moves reach beta too: leave the node with this score.
    Cut(Score),
}

/// Is the table's move worth the trial? `score` is the table's, as seen from the root.
#[inline]
pub fn worth_trying(depth: Depth, entry_depth: Depth, bound: Bound, score: Score) -> bool {
    params::use_singular() != 0
        && depth >= params::singular_depth()
        && entry_depth >= depth - 3
        && bound != Bound::Upper
        && !score.is_decisive()
}

/// What the other moves must stay below.
#[inline]
pub fn singular_beta(score: Score, depth: Depth) -> Score {
    score - params::singular_margin() * depth / 16
}

/// The conclusion from `value`, what the other moves reached in a search around `beta`.
#[inline]
pub fn singular(
    value: Score,
    beta: Score,
    node_beta: Score,
    table_score: Score,
    pv: bool,
    cut_node: bool,
) -> Extension {
    if value < beta {
        let double =
            params::double_extension_margin() + if pv { params::double_extension_pv() } else { 0 };
        Extension::Plies(if beta - value > double { 2 } else { 1 })
    } else if beta >= node_beta {
        Extension::Cut(beta)
    } else if table_score >= node_beta {
        Extension::Plies(-2)
    } else if cut_node {
        Extension::Plies(-1)
    } else {
        Extension::Plies(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_move_far_above_the_others_is_singular() {
        let (beta, node_beta, table) = (Score::cp(40), Score::cp(90), Score::cp(60));
        let say = |value| singular(value, beta, node_beta, table, false, false);
        assert_eq!(say(Score::cp(35)), Extension::Plies(1));
        assert_eq!(say(Score::cp(0)), Extension::Plies(2));
        assert_eq!(say(Score::cp(41)), Extension::Plies(0));
        assert_eq!(
            singular(Score::cp(50), beta, Score::cp(30), table, false, true),
            Extension::Cut(beta)
        );
    }
}
