//! Steps 4 and 5: the static evaluation, and what it tells.

use super::{Frame, Known, Pvs, Task};
use crate::board::threats::Threats;
use crate::board::{PackedMove, PieceSquare, Position};
use crate::score::{Depth, Ply, Score};
use crate::search::table::Entry;
use crate::search::{Bound, params};

impl Pvs<'_> {
    /// Step 4. Evaluates, unless in check or while a move is left out.
    pub(super) fn know(
        &mut self,
        position: &Position,
        entry: Option<Entry>,
        task: &Task,
        again: bool,
    ) -> Known {
        let ply = task.ply;
        let mut error = if again { self.frames[ply].error } else { 0 };
        let (raw_eval, eval) = if position.in_check() {
            self.frames[ply].eval = None;
            (None, -Score::INFINITE)
        } else if again && let Some(eval) = self.frames[ply].eval {
            (Some(eval), eval)
        } else {
            let raw = entry.and_then(|entry| entry.eval);
            let raw = raw.unwrap_or_else(|| self.evaluate(position));
            let corrected;
            (corrected, error) = self.corrected(position, raw, ply);
            self.frames[ply].error = error;
            self.frames[ply].eval = Some(corrected);
            self.learn_from_evaluation(ply);
            (Some(raw), refined(corrected, entry.as_ref(), ply))
        };
        let tt_move = entry.map_or(PackedMove::NONE, |entry| entry.best);
        let tt_pv = task.is_pv()
            || entry.is_some_and(|entry| entry.tt_pv)
            || (again && self.frames[ply].tt_pv);
        self.frames[ply].tt_pv = tt_pv;
        Known {
            tt_move,
            tt_capture: tt_move.is_some() && position.is_noisy(tt_move),
            entry,
            raw_eval,
            eval,
            error,
            improving: self.is_improving(ply),
            tt_pv,
            threats: Threats::default(),
            checks: None,
            before: self.before(ply),
        }
    }

    /// The evaluation with its known errors corrected, and what they come to. One that is known is
    /// right as it is: in a won ending its small steps show the way.
    pub(super) fn corrected(&self, position: &Position, raw: Score, ply: Ply) -> (Score, i32) {
        if raw.is_known() {
            return (raw, 0);
        }
        let moves = self.last_moves(ply);
        let corrected = self.memory.correction.corrected(position, moves, raw);
        (corrected, corrected - raw)
    }

    pub(super) fn last_moves(&self, ply: Ply) -> [Option<PieceSquare>; 2] {
        let [last, before, ..] = self.before(ply);
        [last, before]
    }

    /// Is the evaluation better than two plies ago, or four if there was a check?
    fn is_improving(&self, ply: Ply) -> bool {
        let earlier = |plies| ply.checked_sub(plies).and_then(|ply| self.frames[ply].eval);
        match (self.frames[ply].eval, earlier(2).or_else(|| earlier(4))) {
            (Some(now), Some(then)) => now > then,
            (now, _) => now.is_some(),
        }
    }

    /// The pieces moved one, two, four and six plies before a node.
    pub(super) fn before(&self, ply: Ply) -> [Option<PieceSquare>; 4] {
        let moved = |plies: Ply| ply.checked_sub(plies).and_then(|ply| self.frames[ply].moved);
        [moved(1), moved(2), moved(4), moved(6)]
    }

    /// Step 5. The depth, corrected if the static evaluation tells that the reduction was too much or
    /// too little. Idea: Stockfish, 2024.
    pub(super) fn in_hindsight(&self, task: &Task) -> Depth {
        let (Some(last), Some(eval_sum)) = (self.parent(task.ply), self.eval_sum(task.ply)) else {
            return task.depth;
        };
        if params::use_hindsight() == 0 {
            task.depth
        } else if last.reduction >= params::hindsight_reduction() && eval_sum <= 0 {
            task.depth + 1
        } else if last.reduction >= 1 && task.depth >= 2 && eval_sum > params::hindsight_margin() {
            task.depth - 1
        } else {
            task.depth
        }
    }

    /// The frame of the node above, which the root has not.
    pub(super) fn parent(&self, ply: Ply) -> Option<&Frame> {
        ply.checked_sub(1).map(|above| &self.frames[above])
    }

    /// What both sides hope for, each before its move: the static evaluations here and above together,
    /// in centipawns. Above 0 the last move did its side no good.
    pub(super) fn eval_sum(&self, ply: Ply) -> Option<i32> {
        Some(self.frames[ply].eval?.value() + self.parent(ply)?.eval?.value())
    }
}

/// The evaluation, or the table's score where its bound says that it is nearer the truth.
pub fn refined(eval: Score, entry: Option<&Entry>, ply: Ply) -> Score {
    let Some(entry) = entry else { return eval };
    let score = entry.score.from_table(ply);
    let nearer = match entry.bound {
        Bound::Exact => true,
        Bound::Lower => score > eval,
        Bound::Upper => score < eval,
    };
    if nearer && !score.is_decisive() { score } else { eval }
}
