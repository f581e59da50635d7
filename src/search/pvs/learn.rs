//! Step 16: what a node teaches about moves.

use super::{Known, Pvs};
use crate::board::threats::Threats;
use crate::board::{PackedMove, Position};
use crate::score::{Depth, Ply};
use crate::search::history::{self, Quiet};
use crate::search::params;

/// Moves searched without a cutoff, to be rewarded the other way; the first so many of each kind.
#[derive(Default)]
pub struct Tried {
    moves: [[PackedMove; Tried::MOST]; 2],
    lengths: [usize; 2],
}

impl Tried {
    const MOST: usize = 32;

    pub fn push(&mut self, m: PackedMove, quiet: bool) {
        let kind = usize::from(quiet);
        if self.lengths[kind] < Tried::MOST {
            self.moves[kind][self.lengths[kind]] = m;
            self.lengths[kind] += 1;
        }
    }

    /// The captures and promotions but for this move, which was the best after all.
    fn noisies_but(&self, m: PackedMove) -> impl Iterator<Item = PackedMove> {
        self.but(m, 0)
    }

    /// The quiet moves but for this one.
    fn quiets_but(&self, m: PackedMove) -> impl Iterator<Item = PackedMove> {
        self.but(m, 1)
    }

    fn but(&self, m: PackedMove, kind: usize) -> impl Iterator<Item = PackedMove> {
        let moves = &self.moves[kind][..self.lengths[kind]];
        moves.iter().copied().filter(move |&other| other != m)
    }
}

impl Pvs<'_> {
    /// Rewards the move that cut, and those tried before it the other way.
    pub(super) fn learn(
        &mut self,
        position: &Position,
        known: &Known,
        m: PackedMove,
        tried: &Tried,
        depth: Depth,
    ) {
        let bonus = history::bonus(depth);
        let malus = bonus * params::history_malus() / 1024;
        let history = &mut self.memory.history;
        if position.is_noisy(m) {
            history.update_noisy(position, m, bonus);
        } else {
            let mut update = |m, bonus| {
                history.update_quiet(
                    &Quiet::new(position, &known.threats, m),
                    &known.before,
                    bonus,
                );
            };
            update(m, bonus);
            tried.quiets_but(m).for_each(|other| update(other, -malus));
        }
        for other in tried.noisies_but(m) {
            history.update_noisy(position, other, -malus);
        }
    }

    /// No move was good enough here: the quiet move that led here was a good one.
    pub(super) fn learn_from_fail_low(&mut self, depth: Depth, ply: Ply) {
        if params::use_fail_low_bonus() == 0 {
            return;
        }
        if let Some(quiet) = self.parent(ply).and_then(|above| above.quiet) {
            let bonus = history::bonus(depth) * params::fail_low_bonus() / 1024;
            let before = self.before(ply - 1);
            self.memory.history.update_quiet(&quiet, &before, bonus);
        }
    }

    /// The static evaluation after a quiet move tells of the move: it is good if it lowers the
    /// opponent's eval_sum. Idea: Stockfish, 2020.
    pub(super) fn learn_from_evaluation(&mut self, ply: Ply) {
        if params::use_evaluation_bonus() == 0 {
            return;
        }
        let quiet = self.parent(ply).and_then(|above| above.quiet);
        if let (Some(quiet), Some(eval_sum)) = (quiet, self.eval_sum(ply)) {
            let most = params::evaluation_bonus_max();
            let bonus = (-eval_sum * params::evaluation_bonus() / 16).clamp(-most, most);
            self.memory.history.update_butterfly(&quiet, bonus);
        }
    }

    /// The table cut: its quiet move is good here.
    pub(super) fn learn_from_table(
        &mut self,
        position: &Position,
        m: PackedMove,
        depth: Depth,
        ply: Ply,
    ) {
        if params::use_table_bonus() != 0 && m.is_some() && !position.is_noisy(m) {
            let quiet = Quiet::new(position, &Threats::of(position), m);
            let before = self.before(ply);
            self.memory.history.update_quiet(&quiet, &before, history::bonus(depth));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_that_was_the_best_after_all_is_left_out() {
        let mut tried = Tried::default();
        let moves = [1, 2, 3].map(PackedMove::from_raw);
        moves.iter().for_each(|&m| tried.push(m, true));
        tried.push(PackedMove::from_raw(9), false);
        assert_eq!(tried.quiets_but(moves[1]).collect::<Vec<_>>(), [moves[0], moves[2]]);
        assert_eq!(tried.noisies_but(moves[1]).collect::<Vec<_>>(), [PackedMove::from_raw(9)]);
        assert_eq!(tried.quiets_but(moves[1]).count(), 2);
    }
}
