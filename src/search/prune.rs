//! Steps 8 and 11: pruning, as pure functions.
//!
//! Pruning by static evaluation misses sacrifices: after giving up material the evaluation is so low that
//! every quiet follow-up looks futile. So it is off in the first plies, see [`keeps_sacrifices`].

use super::params;
use crate::score::{Depth, Ply, Score};

/// No pruning by static evaluation against a side that needs more than `alpha`, in the first plies. A side
/// that is already winning can only be after a mate, and gets more plies.
#[inline]
pub fn keeps_sacrifices(alpha: Score, ply: Ply) -> bool {
    let is_won = alpha >= Score::cp(params::sacrifice_mate_score());
    let last = if is_won { params::sacrifice_mate_ply() } else { params::sacrifice_ply() };
    params::use_sacrifices() != 0 && ply as i32 <= last
}

/// Reverse futility ("static null move"): the evaluation is above beta by a margin per ply of depth.
#[inline]
pub fn reverse_futility(depth: Depth, eval: Score, beta: Score, improving: bool) -> bool {
    let margin = params::reverse_futility_margin() * (depth - Depth::from(improving));
    params::use_reverse_futility() != 0
        && depth <= params::reverse_futility_depth()
        && !beta.is_decisive()
        && !eval.is_decisive()
        && eval - margin.max(0) >= beta
}

/// Blends a fail-high score with beta: `weight / 1024` of what is above beta remains.
#[inline]
pub fn blend_fail_high(score: Score, beta: Score, weight: i32) -> Score {
    if score >= beta && !score.is_decisive() && !beta.is_decisive() {
        beta + (score - beta) * weight / 1024
    } else {
        score
    }
}

/// Late-move pruning: quiet moves after this many moves are skipped.
#[inline]
pub fn late_move_count(depth: Depth, improving: bool) -> i32 {
    if params::use_late_move_pruning() == 0 {
        return i32::MAX;
    }
    let count = params::late_move_base() + depth * depth;
    if improving { count } else { count / 2 }
}

/// Futility pruning of a quiet move. `depth` is the expected reduced depth.
#[inline]
pub fn futility(depth: Depth, eval: Score, history: i32, alpha: Score) -> bool {
    let margin = params::futility_base()
        + params::futility_margin() * depth
        + history / params::futility_history();
    params::use_futility() != 0 && depth <= params::futility_depth() && eval + margin <= alpha
}

/// Futility pruning of a capture. `depth` is the expected reduced depth, `victim` the value captured.
#[inline]
pub fn capture_futility(
    depth: Depth,
    eval: Score,
    victim: i32,
    history: i32,
    alpha: Score,
) -> bool {
    let margin = params::capture_futility_base()
        + params::capture_futility_margin() * depth
        + victim * 3 / 2
        + history / 16;
    params::use_capture_futility() != 0
        && depth <= params::capture_futility_depth()
        && eval + margin < alpha
}

/// History pruning: a quiet move with a bad continuation history. `reduced` is the expected reduced
/// depth, `depth` that of the node.
#[inline]
pub fn bad_history(reduced: Depth, depth: Depth, ply: Ply, history: i32) -> bool {
    params::use_history_pruning() != 0
        && ply as i32 > params::history_pruning_spared_ply()
        && reduced <= params::history_pruning_depth()
        && history < -params::history_pruning_margin() * (depth - 1)
}

/// The material that a quiet move may lose by exchange, at most zero. `depth` is the expected reduced depth.
#[inline]
pub fn quiet_loss(depth: Depth) -> i32 {
    let depth = depth.max(0);
    -params::exchange_quiet_margin() * depth * depth
}

/// The material that a capture may lose by exchange, at most zero.
#[inline]
pub fn noisy_loss(depth: Depth, history: i32) -> i32 {
    let allowance = history * params::exchange_noisy_history() / 1024;
    -(params::exchange_noisy_margin() * depth + allowance).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reverse_futility_asks_for_more_the_deeper() {
        let (eval, beta) = (Score::cp(200), Score::cp(0));
        assert!(reverse_futility(1, eval, beta, false) && reverse_futility(2, eval, beta, true));
        assert!(!reverse_futility(8, eval, beta, false));
        assert!(!reverse_futility(1, eval, Score::mate_in(9), false));
        assert!(!reverse_futility(1, -eval, beta, true), "never below beta");
    }

    #[test]
    fn good_history_or_depth_saves_a_quiet_move() {
        let (eval, alpha) = (Score::cp(0), Score::cp(150));
        assert!(futility(0, eval, 0, alpha) && !futility(5, eval, 0, alpha));
        assert!(!futility(0, eval, 20_000, alpha));
        assert!(bad_history(1, 4, 9, -20_000) && !bad_history(1, 4, 9, -100));
        assert!(!bad_history(9, 12, 9, -40_000), "too deep");
        assert!(!bad_history(1, 4, 3, -20_000), "too near the root");
        assert!(!bad_history(0, 1, 9, 0));
    }

    #[test]
    fn a_capture_counts_its_victim() {
        let (eval, alpha) = (Score::cp(0), Score::cp(400));
        assert!(capture_futility(1, eval, 100, 0, alpha));
        assert!(!capture_futility(1, eval, 500, 0, alpha));
        assert!(!capture_futility(4, eval, 100, 0, alpha));
    }

    #[test]
    fn sacrifices_are_kept_near_the_root_and_longer_for_a_mate() {
        let won = Score::cp(1500);
        assert!(keeps_sacrifices(Score::ZERO, 2) && keeps_sacrifices(-won, 2));
        assert!(!keeps_sacrifices(Score::ZERO, 6) && !keeps_sacrifices(-won, 6));
        assert!(keeps_sacrifices(won, 6) && !keeps_sacrifices(won, 30));
    }

    #[test]
    fn more_quiet_moves_are_tried_the_deeper_and_while_improving() {
        assert!(late_move_count(3, true) > late_move_count(3, false));
        assert!(late_move_count(6, false) > late_move_count(3, false));
    }

    #[test]
    fn exchange_margins_grow_with_depth() {
        assert!(quiet_loss(3) < 0 && quiet_loss(5) < quiet_loss(3));
        assert!(noisy_loss(4, 0) < noisy_loss(2, 0));
        assert_eq!(quiet_loss(-2), 0);
    }
}
