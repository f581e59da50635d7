//! Which nodes and moves are left out: pure functions of plain values.
//!
//! Whole nodes are left, and moves are futile, where the evaluation is far from the window. That says
//! nothing where material is given up for an attack: it looks like a loss. So near the root, where a
//! side [`keeps_sacrifices`], they are searched; further on that would cost too much.

use super::params;
use super::table::Entry;
use crate::score::{Depth, Ply, Score};

/// May a side that wants more than `alpha` be giving something up for it? Near the root always; a
/// side that is winning already, so that it must be looking for a mate, some plies longer.
#[inline]
pub fn keeps_sacrifices(alpha: Score, ply: Ply) -> bool {
    let is_won = alpha >= Score::cp(params::sacrifice_mate_score());
    let last = if is_won { params::sacrifice_mate_ply() } else { params::sacrifice_ply() };
    params::use_sacrifices() != 0 && ply as i32 <= last
}

/// Reverse futility ("static null move"): so far above beta that no quiet continuation will fall
/// below it.
#[inline]
pub fn reverse_futility(depth: Depth, eval: Score, beta: Score, improving: bool) -> bool {
    let margin = params::reverse_futility_margin() * (depth - Depth::from(improving));
    params::use_reverse_futility() != 0
        && depth <= params::reverse_futility_depth()
        && !beta.is_decisive()
        && !eval.is_decisive()
        && eval - margin.max(0) >= beta
}

/// A score of which so much (in 1/1024) of what is above beta is blend_fail_high.
#[inline]
pub fn blend_fail_high(score: Score, beta: Score, share: i32) -> Score {
    if score >= beta && !score.is_decisive() && !beta.is_decisive() {
        beta + (score - beta) * share / 1024
    } else {
        score
    }
}

/// What a capture must reach for probcut.
#[inline]
pub fn probcut_beta(beta: Score, improving: bool) -> Score {
    beta + params::probcut_margin() - i32::from(improving) * params::probcut_improving()
}

/// Is probcut worth trying? Not where the table already says that the score is below.
#[inline]
pub fn probcut(depth: Depth, beta: Score, raised: Score, entry: Option<&Entry>, ply: Ply) -> bool {
    let denied =
        entry.is_some_and(|entry| entry.depth >= depth - 3 && entry.score.from_table(ply) < raised);
    params::use_probcut() != 0 && depth >= params::probcut_depth() && !beta.is_decisive() && !denied
}

/// How many quiet moves are tried at a depth before the rest is left out.
#[inline]
pub fn late_move_count(depth: Depth, improving: bool) -> i32 {
    if params::use_late_move_pruning() == 0 {
        return i32::MAX;
    }
    let count = params::late_move_base() + depth * depth;
    if improving { count } else { count / 2 }
}

/// Futility: not even a quiet move of this history will reach alpha from here. `depth` is reduced.
#[inline]
pub fn futility(depth: Depth, eval: Score, history: i32, alpha: Score) -> bool {
    let margin = params::futility_base()
        + params::futility_margin() * depth
        + history / params::futility_history();
    params::use_futility() != 0 && depth <= params::futility_depth() && eval + margin <= alpha
}

/// The same for a capture of a piece of this worth. `depth` is reduced.
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

/// Moves that did this badly after the moves before are not tried, but for those near the root. Only
/// `reduced` is reduced.
#[inline]
pub fn bad_history(reduced: Depth, depth: Depth, ply: Ply, history: i32) -> bool {
    params::use_history_pruning() != 0
        && ply as i32 > params::history_pruning_spared_ply()
        && reduced <= params::history_pruning_depth()
        && history < -params::history_pruning_margin() * (depth - 1)
}

/// What a quiet move may lose by exchange and still be tried. `depth` is reduced.
#[inline]
pub fn quiet_loss(depth: Depth) -> i32 {
    let depth = depth.max(0);
    -params::exchange_quiet_margin() * depth * depth
}

/// What a capture may lose by exchange and still be tried.
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
    fn a_good_history_or_more_depth_saves_a_quiet_move() {
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
    fn both_sides_hunt_near_the_root_and_those_that_win_longer() {
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
    fn only_moves_that_lose_much_are_left_out() {
        assert!(quiet_loss(3) < 0 && quiet_loss(5) < quiet_loss(3));
        assert!(noisy_loss(4, 0) < noisy_loss(2, 0));
        assert_eq!(quiet_loss(-2), 0);
    }
}
