//! How much shallower late moves are searched: pure functions of plain values.

use super::params;
use crate::score::{Depth, Score};

/// What a reduction depends on.
#[derive(Clone, Copy, Debug)]
pub struct Late {
    /// The depth of the node.
    pub depth: Depth,
    /// The number of the move, from 1.
    pub number: i32,
    /// Neither capture nor promotion to a queen.
    pub quiet: bool,
    /// The window is open.
    pub pv: bool,
    /// A null-window node expected to fail high.
    pub cut_node: bool,
    /// The evaluation rose since this side's last move.
    pub improving: bool,
    /// The table's move is a capture.
    pub tt_capture: bool,
    /// The move gives check.
    pub check: bool,
    /// The move's history.
    pub history: i32,
    /// The table remembers a PV node here.
    pub tt_pv: bool,
    /// Many moves of the node below have been cut.
    pub cutoffs: bool,
    /// By how much the evaluation was corrected, in centipawns.
    pub error: i32,
}

/// Natural logarithms of 1..64, in 1/1024.
const LN: [i32; 64] = {
    let mut table = [0; 64];
    let mut n = 2;
    while n < 64 {
        table[n] = (ln(n as f64) * 1024.0) as i32;
        n += 1;
    }
    table
};

/// ln x by the series of the inverse hyperbolic tangent: the standard one is not const.
const fn ln(x: f64) -> f64 {
    let mut x = x;
    let mut halvings = 0.0;
    while x > 1.5 {
        x /= 2.0;
        halvings += 1.0;
    }
    let y = (x - 1.0) / (x + 1.0);
    let (mut power, mut sum, mut k) = (y, 0.0, 1.0);
    while k < 40.0 {
        sum += power / k;
        power *= y * y;
        k += 2.0;
    }
    2.0 * sum + halvings * std::f64::consts::LN_2
}

/// The base reduction in 1/1024 ply: it grows with both logarithms.
#[inline]
fn base(depth: Depth, number: i32) -> i32 {
    params::reduction_base() + logarithms(depth, number) * params::reduction_slope() / 1024
}

/// ln(depth) ln(number) in 1/1024.
#[inline]
fn logarithms(depth: Depth, number: i32) -> i32 {
    (LN[depth.clamp(1, 63) as usize] * LN[number.clamp(1, 63) as usize]) >> 10
}

/// The reduction that pruning expects of a late quiet move, in plies, before it is known better.
#[inline]
pub fn expected(depth: Depth, number: i32, improving: bool, pv: bool) -> Depth {
    let growth = logarithms(depth, number) * params::pruning_slope() / 1024;
    let fine = growth + params::pruning_base() - 1024 * i32::from(pv);
    (fine >> 10) + Depth::from(!improving && growth > 1024)
}

/// The reduction of a late move in plies; may be negative, the caller clamps.
#[inline]
pub fn late_move(late: &Late) -> Depth {
    if params::use_late_move_reductions() == 0 { 0 } else { fine(late) >> 10 }
}

/// The same in 1/1024 ply.
#[inline]
fn fine(late: &Late) -> i32 {
    let mut r = base(late.depth, late.number);
    if late.quiet {
        r += i32::from(late.tt_capture) * params::reduction_tt_capture();
    } else {
        r = r * params::reduction_noisy() / 1024;
    }
    r += i32::from(late.cut_node) * params::reduction_cut_node();
    r -= i32::from(late.pv) * params::reduction_pv();
    r += i32::from(!late.improving) * params::reduction_not_improving();
    r -= i32::from(late.check) * params::reduction_check();
    r -= i32::from(late.tt_pv) * params::reduction_tt_pv();
    r += i32::from(late.cutoffs) * params::reduction_cutoffs();
    r -= late.error.abs().min(128) * params::reduction_error();
    r - late.history * 1024 / params::reduction_history()
}

/// A late move turned out to be good: by how much its depth is to differ from the full one. `best`
/// is the best score before. Idea: Stockfish, 2022.
#[inline]
pub fn correction(score: Score, best: Score) -> Depth {
    Depth::from(score > best + params::deeper_margin())
        - Depth::from(score < best + params::shallower_margin())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: Late = Late {
        depth: 12,
        number: 20,
        quiet: true,
        pv: false,
        cut_node: false,
        improving: true,
        tt_capture: false,
        check: false,
        history: 0,
        tt_pv: false,
        cutoffs: false,
        error: 0,
    };

    #[test]
    fn logarithms_are_right() {
        for (n, &ln) in LN.iter().enumerate().skip(1) {
            assert!((ln - ((n as f64).ln() * 1024.0) as i32).abs() <= 1);
        }
    }

    #[test]
    fn pruning_expects_more_of_what_is_late_deep_and_gets_worse() {
        let usual = expected(8, 12, true, false);
        assert!(usual > expected(8, 3, true, false) && usual > expected(3, 12, true, false));
        assert_eq!(expected(8, 12, true, true), usual - 1);
        assert_eq!(expected(8, 12, false, false), usual + 1);
        assert_eq!(
            expected(1, 2, false, false),
            expected(1, 2, true, false),
            "too shallow to tell"
        );
    }

    #[test]
    fn later_and_deeper_is_reduced_more() {
        assert!(late_move(&LATE) > late_move(&Late { number: 4, ..LATE }));
        assert!(late_move(&LATE) > late_move(&Late { depth: 4, ..LATE }));
        assert!(late_move(&LATE) > late_move(&Late { history: 16_000, ..LATE }));
        let less = [
            Late { number: 19, ..LATE },
            Late { pv: true, ..LATE },
            Late { tt_pv: true, ..LATE },
            Late { check: true, ..LATE },
            Late { error: -100, ..LATE },
        ];
        assert!(less.iter().all(|late| fine(late) < fine(&LATE)), "{less:?}");
        let more = [
            Late { cut_node: true, ..LATE },
            Late { cutoffs: true, ..LATE },
            Late { improving: false, ..LATE },
            Late { tt_capture: true, ..LATE },
        ];
        assert!(more.iter().all(|late| fine(late) > fine(&LATE)), "{more:?}");
        assert_eq!(late_move(&LATE), fine(&LATE) >> 10);
    }
}
