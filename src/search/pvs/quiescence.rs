//! Quiescence: captures and promotions until the position is quiet; every evasion when in check.

use super::Pvs;
use super::evaluation::refined;
use super::picker::noisy_value;
use crate::board::movegen::Kind;
use crate::board::threats::Threats;
use crate::board::{PackedMove, Position, see};
use crate::score::{MAX_PLY, Ply, Score};
use crate::search::history::{Quiet, moved_piece};
use crate::search::table::Entry;
use crate::search::{Bound, params, prune};

impl Pvs<'_> {
    /// The value of a node when only captures are searched, fail-soft.
    pub(super) fn quiescence(
        &mut self,
        position: &Position,
        mut alpha: Score,
        beta: Score,
        ply: Ply,
    ) -> Option<Score> {
        self.worker.enter(ply)?;
        self.worker.stats.quiescence_nodes += 1;
        self.worker.clear_pv(ply);
        if self.worker.is_draw(position, ply) {
            return Some(Score::ZERO);
        }
        if ply >= MAX_PLY {
            return Some(self.worker.evaluate(position));
        }
        let entry = self.probe(position);
        if let Some(entry) = &entry
            && let Some(score) = decides(entry, alpha, beta, ply)
        {
            return Some(score);
        }

        let raw = (!position.in_check()).then(|| {
            let known = entry.and_then(|entry| entry.eval);
            known.unwrap_or_else(|| self.evaluate(position))
        });
        let mut best = raw.map_or(-Score::INFINITE, |raw| {
            refined(self.corrected(position, raw, ply).0, entry.as_ref(), ply)
        });
        let mut best_move = PackedMove::NONE;
        if best >= beta && entry.is_some() {
            // What the table has says more than that nothing need be done.
            return Some(trusted(best, beta));
        }
        if best < beta {
            alpha = alpha.max(best);
            // What a capture must reach beside its victim to be tried.
            let futile = raw.map(|_| best + params::quiescence_margin());
            let tt_move = entry.map_or(PackedMove::NONE, |entry| entry.best);
            let (mut number, mut quiets) = (0, 0);
            for kind in [Kind::Noisy, Kind::Quiet] {
                if kind == Kind::Quiet && !position.in_check() {
                    break;
                }
                self.order(position, kind, tt_move, ply);
                while let Some((m, _)) = self.memory.lists[ply].moves.take() {
                    self.worker.prefetch(position, m);
                    if let Some(futile) = futile
                        && let Some(bound) = self.skip(position, m, futile, alpha)
                    {
                        best = best.max(bound);
                        continue;
                    }
                    // One way out of a check that is not mate is enough to look at.
                    let seen = if params::use_quiet_evasions() != 0 { quiets } else { number };
                    if kind == Kind::Quiet && seen > 0 && !best.is_lost() {
                        break;
                    }
                    number += 1;
                    quiets += i32::from(kind == Kind::Quiet);
                    self.frames[ply].moved = Some(moved_piece(position, m));
                    let next = self.worker.make(position, m);
                    let score = -self.quiescence(&next, -beta, -alpha, ply + 1)?;
                    self.worker.unmake();
                    if score > best {
                        best = score;
                        if score > alpha {
                            alpha = score;
                            best_move = m;
                            self.worker.update_pv(ply, m);
                        }
                    }
                    if score >= beta {
                        break;
                    }
                }
                if best >= beta {
                    break;
                }
            }
            if number == 0 && position.in_check() {
                return Some(Score::mated_in(ply));
            }
        }

        best = trusted(best, beta);
        // Captures alone prove no exact value.
        let bound = if best >= beta { Bound::Lower } else { Bound::Upper };
        let entry = Entry {
            best: best_move,
            score: best.to_table(ply),
            bound,
            eval: raw,
            depth: 0,
            tt_pv: entry.is_some_and(|entry| entry.tt_pv),
        };
        self.worker.table.store(position.key(), entry);
        Some(best)
    }

    /// Generates the moves of one kind, the table's first.
    fn order(&mut self, position: &Position, kind: Kind, tt_move: PackedMove, ply: Ply) {
        let history = &self.memory.history;
        if kind == Kind::Noisy {
            self.memory.lists[ply].moves.fill(position, kind, |m| {
                if m == tt_move { i32::MAX } else { noisy_value(position, history, m) }
            });
            return;
        }
        let threats = Threats::of(position);
        let history = history.quiets(position, &self.before(ply));
        self.memory.lists[ply].moves.fill(position, kind, |m| {
            let quiet = Quiet::new(position, &threats, m);
            if m == tt_move { i32::MAX } else { history.value(&quiet) }
        });
    }

    /// Why a capture need not be tried: the bound that it cannot exceed.
    fn skip(
        &self,
        position: &Position,
        m: PackedMove,
        futile: Score,
        alpha: Score,
    ) -> Option<Score> {
        let victim = position.captured(m).map_or(0, see::value_of);
        let bound = futile + victim;
        if m.promoted_to().is_none() && bound <= alpha {
            return Some(bound);
        }
        (!see::see_ge(position, m, 0)).then_some(-Score::INFINITE)
    }
}

/// Captures alone are a poor witness of how far above beta.
fn trusted(best: Score, beta: Score) -> Score {
    prune::blend_fail_high(best, beta, params::quiescence_trust())
}

fn decides(entry: &Entry, alpha: Score, beta: Score, ply: Ply) -> Option<Score> {
    if beta - alpha > 1 {
        return None;
    }
    let score = entry.score.from_table(ply);
    entry.bound.decides(score, alpha, beta).then_some(score)
}
