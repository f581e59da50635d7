//! Scores: centipawns, and mates as a distance from the root.
//!
//! A [`Score`] is from the side to move. Values above [`Score::MATE_BOUND`] are mates: mate in `n` plies from
//! the root is `MATE - n`. Values above [`Score::WIN_BOUND`] and up to [`Score::MATE_BOUND`] are tablebase
//! wins. All others are evaluations in centipawns. The transposition table stores mates as a distance from
//! the *node* ([`Score::to_table`]), because a node can be reached at different plies.

pub mod wdl;

use std::fmt;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

/// Depth of a search in plies. Zero and below is quiescence.
pub type Depth = i32;
/// Distance from the root in plies.
pub type Ply = usize;

/// The greatest distance from the root, in plies.
pub const MAX_PLY: Ply = 240;
/// The deepest iteration.
pub const MAX_DEPTH: Depth = MAX_PLY as Depth - 1;

/// A value from the side to move's point of view, in centipawns or as a mate distance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Score(i16);

impl Score {
    /// A draw.
    pub const ZERO: Score = Score(0);
    /// Larger than any score that a search returns.
    pub const INFINITE: Score = Score(32_001);
    /// Smaller than any score that a search returns.
    pub const MIN: Score = Score(-Score::INFINITE.0);
    /// The side to move mates at once (not reached: mate in 1 ply is `MATE - 1`).
    pub const MATE: Score = Score(32_000);
    /// Scores above this are mates for the side to move.
    pub const MATE_BOUND: Score = Score(Score::MATE.0 - MAX_PLY as i16 - 1);
    /// A tablebase win at the root, minus 1 for each ply from the root.
    pub const TABLEBASE_WIN: Score = Score(Score::MATE_BOUND.0 - 1);
    /// Scores above this are mates or tablebase wins.
    pub const WIN_BOUND: Score = Score(Score::TABLEBASE_WIN.0 - MAX_PLY as i16 - 1);
    /// The largest evaluation.
    pub const MAX_EVAL: Score = Score(Score::WIN_BOUND.0 - 1);
    /// The smallest evaluation.
    pub const MIN_EVAL: Score = Score(-Score::MAX_EVAL.0);
    /// Known endgame wins have at least this evaluation.
    pub const KNOWN_WIN: Score = Score(10_000);

    /// A score of `value` centipawns, clamped to what an evaluation may be.
    pub const fn cp(value: i32) -> Score {
        let max = Score::MAX_EVAL.0 as i32;
        if value > max {
            Score::MAX_EVAL
        } else if value < -max {
            Score::MIN_EVAL
        } else {
            Score(value as i16)
        }
    }

    /// An evaluation of `value` centipawns, clamped below [`Score::KNOWN_WIN`]: a large sum of material alone
    /// is not a known win.
    pub const fn estimate(value: i32) -> Score {
        let max = Score::KNOWN_WIN.0 as i32 - 1;
        if value > max {
            Score(max as i16)
        } else if value < -max {
            Score(-max as i16)
        } else {
            Score(value as i16)
        }
    }

    /// The side to move is mated `ply` plies from the root.
    pub const fn mated_in(ply: Ply) -> Score {
        Score(ply as i16 - Score::MATE.0)
    }

    /// The side to move mates `ply` plies from the root.
    pub const fn mate_in(ply: Ply) -> Score {
        Score(Score::MATE.0 - ply as i16)
    }

    /// A tablebase win for the side to move, `ply` plies from the root.
    pub const fn tablebase_win(ply: Ply) -> Score {
        Score(Score::TABLEBASE_WIN.0 - ply as i16)
    }

    /// A tablebase loss for the side to move, `ply` plies from the root.
    pub const fn tablebase_loss(ply: Ply) -> Score {
        Score(ply as i16 - Score::TABLEBASE_WIN.0)
    }

    /// The raw value, as stored in the transposition table.
    pub const fn raw(self) -> i16 {
        self.0
    }

    /// The inverse of [`Score::raw`].
    pub const fn from_raw(raw: i16) -> Score {
        Score(raw)
    }

    /// The value as a plain number, for margins and formulas.
    pub const fn value(self) -> i32 {
        self.0 as i32
    }

    /// Is this a mate for the side to move?
    pub const fn is_mate_for_us(self) -> bool {
        self.0 > Score::MATE_BOUND.0
    }

    /// Is this a mate against the side to move?
    pub const fn is_mate_against_us(self) -> bool {
        self.0 < -Score::MATE_BOUND.0
    }

    /// Is this a mate for either side?
    pub const fn is_mate(self) -> bool {
        self.is_mate_for_us() || self.is_mate_against_us()
    }

    /// Is this a mate or tablebase win for the side to move?
    pub const fn is_won(self) -> bool {
        self.0 > Score::WIN_BOUND.0
    }

    /// Is this a mate or tablebase win against the side to move?
    pub const fn is_lost(self) -> bool {
        self.0 < -Score::WIN_BOUND.0
    }

    /// Is this a mate or tablebase result rather than an evaluation?
    pub const fn is_decisive(self) -> bool {
        self.is_won() || self.is_lost()
    }

    /// Is it the evaluation of an ending whose result is known, or a decisive score?
    pub const fn is_known(self) -> bool {
        self.0.unsigned_abs() >= Score::KNOWN_WIN.0 as u16
    }

    /// Moves to the mate, positive if the side to move mates; `None` if this is no mate.
    ///
    /// ```
    /// # use tacet::score::Score;
    /// assert_eq!(Score::mate_in(5).mate_moves(), Some(3));
    /// assert_eq!(Score::mated_in(4).mate_moves(), Some(-2));
    /// assert_eq!(Score::cp(100).mate_moves(), None);
    /// ```
    pub fn mate_moves(self) -> Option<i32> {
        if self.is_mate_for_us() {
            Some((Score::MATE.value() - self.value() + 1) / 2)
        } else if self.is_mate_against_us() {
            Some(-((Score::MATE.value() + self.value()) / 2))
        } else {
            None
        }
    }

    /// Plies from the root to the mate, by either side; `None` if this is no mate.
    pub const fn mate_plies(self) -> Option<Depth> {
        if self.is_mate_for_us() {
            Some(Score::MATE.value() - self.value())
        } else if self.is_mate_against_us() {
            Some(Score::MATE.value() + self.value())
        } else {
            None
        }
    }

    /// Plies from the root to the position whose tablebase result decides, for either side; `None` if
    /// this is no tablebase result.
    pub const fn tablebase_plies(self) -> Option<Depth> {
        if self.is_mate() || !self.is_decisive() {
            None
        } else {
            Some(Score::TABLEBASE_WIN.value() - self.value().abs())
        }
    }

    /// The form stored in the table: a decisive score counted from the node at `ply`, not the root.
    pub fn to_table(self, ply: Ply) -> Score {
        if self.0 > Score::WIN_BOUND.0 {
            Score(self.0 + ply as i16)
        } else if self.0 < -Score::WIN_BOUND.0 {
            Score(self.0 - ply as i16)
        } else {
            self
        }
    }

    /// The inverse of [`Score::to_table`], for a node at `ply`.
    pub fn from_table(self, ply: Ply) -> Score {
        if self.0 > Score::WIN_BOUND.0 {
            Score(self.0 - ply as i16)
        } else if self.0 < -Score::WIN_BOUND.0 {
            Score(self.0 + ply as i16)
        } else {
            self
        }
    }
}

impl Neg for Score {
    type Output = Score;
    #[inline]
    fn neg(self) -> Score {
        Score(-self.0)
    }
}

/// Adds a margin; saturates at `±INFINITE`.
impl Add<i32> for Score {
    type Output = Score;
    #[inline]
    fn add(self, margin: i32) -> Score {
        let max = i32::from(Score::INFINITE.0);
        Score((i32::from(self.0) + margin).clamp(-max, max) as i16)
    }
}

impl Sub<i32> for Score {
    type Output = Score;
    #[inline]
    fn sub(self, margin: i32) -> Score {
        self + -margin
    }
}

impl AddAssign<i32> for Score {
    fn add_assign(&mut self, margin: i32) {
        *self = *self + margin;
    }
}

impl SubAssign<i32> for Score {
    fn sub_assign(&mut self, margin: i32) {
        *self = *self - margin;
    }
}

/// The difference of two scores in centipawns.
impl Sub for Score {
    type Output = i32;
    #[inline]
    fn sub(self, other: Score) -> i32 {
        i32::from(self.0) - i32::from(other.0)
    }
}

/// In the form of UCI, `cp 31` or `mate -2`, but with the search's own centipawns.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mate_moves() {
            Some(moves) => write!(f, "mate {moves}"),
            None => write!(f, "cp {}", self.0),
        }
    }
}

impl fmt::Debug for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_are_counted_in_moves_of_the_mating_side() {
        assert_eq!(Score::mate_in(1).to_string(), "mate 1");
        assert_eq!(Score::mate_in(3).to_string(), "mate 2");
        assert_eq!(Score::mated_in(0).to_string(), "mate 0");
        assert_eq!(Score::mated_in(2).to_string(), "mate -1");
        assert_eq!(Score::cp(-31).to_string(), "cp -31");
        let plies = [Score::mate_in(3), Score::mated_in(2), Score::cp(9)].map(Score::mate_plies);
        assert_eq!(plies, [Some(3), Some(2), None]);
    }

    #[test]
    fn table_form_is_relative_to_the_node() {
        for ply in [0, 1, 7, MAX_PLY - 10] {
            for score in [Score::mate_in(ply + 3), Score::mated_in(ply + 2), Score::cp(55)] {
                assert_eq!(score.to_table(ply).from_table(ply), score);
            }
        }
        assert_eq!(Score::mate_in(9).to_table(4), Score::mate_in(5));
    }

    #[test]
    fn evaluations_never_look_like_mates() {
        assert!(!Score::cp(1_000_000).is_decisive());
        assert!(!Score::cp(-1_000_000).is_decisive());
        assert!(!Score::MAX_EVAL.is_decisive() && !Score::MIN_EVAL.is_decisive());
    }

    #[test]
    fn tablebase_results_lie_between_evaluations_and_mates() {
        for ply in [0, 1, MAX_PLY] {
            let (win, loss) = (Score::tablebase_win(ply), Score::tablebase_loss(ply));
            assert!(win > Score::MAX_EVAL && win < Score::mate_in(MAX_PLY), "{ply}");
            assert!(win.is_won() && !win.is_lost() && !win.is_mate(), "{ply}");
            assert_eq!(loss, -win);
            assert!(loss.is_lost() && loss < Score::MIN_EVAL && loss > Score::mated_in(MAX_PLY));
            let plies = [win, loss].map(Score::tablebase_plies);
            assert_eq!((plies, win.mate_plies()), ([Some(ply as Depth); 2], None));
            assert_eq!(win.to_table(ply), Score::TABLEBASE_WIN, "counted from the node");
            assert_eq!(loss.to_table(ply).from_table(ply), loss);
        }
        assert!(Score::tablebase_win(3) > Score::tablebase_win(4), "sooner is better");
        let others = [Score::mate_in(3), Score::mated_in(MAX_PLY), Score::MAX_EVAL, Score::ZERO];
        assert_eq!(others.map(Score::tablebase_plies), [None; 4]);
    }
}
