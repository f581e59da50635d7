//! Steps 10 to 16: the moves of a node, one after another.

use super::learn::Tried;
use super::picker::Picker;
use super::{Found, Known, Pvs, Task};
use crate::board::{PackedMove, Position, see};
use crate::score::{Depth, Ply, Score};
use crate::search::Searcher;
use crate::search::extend::{self, Extension};
use crate::search::history::{Quiet, moved_piece};
use crate::search::params;
use crate::search::prune;
use crate::search::reduce::{self, Late};

/// A move about to be searched.
struct Candidate {
    m: PackedMove,
    number: i32,
    /// What its histories depend on, if it is quiet.
    quiet: Option<Quiet>,
    check: bool,
    history: i32,
    /// The best score of the moves before.
    best: Score,
}

/// What Step 11 found.
enum Hopeless {
    No,
    Move,
    AllQuiets,
}

impl Pvs<'_> {
    /// Steps 10 to 16: the moves.
    pub(super) fn moves(
        &mut self,
        position: &Position,
        mut task: Task,
        known: &Known,
    ) -> Option<Found> {
        let ply = task.ply;
        let mut found = Found { score: -Score::INFINITE, best: PackedMove::NONE, shallow: false };
        let mut picker = Picker::new(known.tt_move);
        let mut tried = Tried::default();
        let mut number = 0;
        let excluded = self.frames[ply].excluded;
        let first_alpha = task.alpha;
        self.worker.clear_pv(ply);

        while let Some(m) = self.next_move(position, &mut picker, known, ply) {
            if m == excluded || (task.is_root() && !self.worker.is_wanted_at_root(m)) {
                continue;
            }
            number += 1;
            self.worker.prefetch(position, m);
            if task.is_root() {
                self.announce(m, number as usize);
            }
            let quiet = (!position.is_noisy(m)).then(|| Quiet::new(position, &known.threats, m));
            let history = match &quiet {
                Some(quiet) => self.memory.history.quiets(position, &known.before).value(quiet),
                None => self.memory.history.noisy(position, m),
            };
            let check = known.checks.is_some_and(|checks| checks.gives(position, m));
            let candidate = Candidate { m, number, quiet, check, history, best: found.score };

            // Step 11: moves that cannot matter.
            if !task.is_root() && !found.score.is_lost() && number > 1 {
                match self.hopeless(position, &task, known, &candidate) {
                    Hopeless::No => {}
                    Hopeless::Move => continue,
                    Hopeless::AllQuiets => {
                        picker.skip_quiets();
                        continue;
                    }
                }
            }

            // Step 12: some moves get more depth.
            let extension = match self.extension(position, &task, known, m)? {
                Extension::Plies(plies) => plies,
                Extension::Cut(score) => return Some(Found { score, best: m, shallow: true }),
            };

            // Steps 13 to 15: search it.
            let before = self.worker.stats.nodes;
            let score = self.child(position, &task, known, &candidate, extension)?;
            if task.is_root() {
                self.root.spend(m, self.worker.stats.nodes - before);
            }
            if score > found.score {
                found = Found { score, best: m, shallow: false };
                if score > task.alpha {
                    task.alpha = score;
                    self.worker.update_pv(ply, m);
                    if task.is_root() && self.root.lines.is_empty() {
                        self.root.partial = Some((score, self.worker.root_pv().to_vec()));
                    }
                }
            }
            if score >= task.beta {
                // Step 16: what was learned.
                self.frames[ply].cutoffs += 1;
                self.worker.stats.cutoffs += 1;
                self.worker.stats.first_move_cutoffs += u64::from(number == 1);
                let unforeseen = known.raw_eval.is_some() && known.eval <= first_alpha;
                let depth = task.depth + Depth::from(unforeseen);
                self.learn(position, known, m, &tried, depth);
                break;
            }
            tried.push(m, quiet.is_some());
        }
        if params::use_exact_bonus() != 0
            && found.score > first_alpha
            && found.score < task.beta
            && excluded.is_none()
        {
            self.learn(position, known, found.best, &tried, task.depth);
        }
        if found.score <= first_alpha && number > 0 && excluded.is_none() {
            self.learn_from_fail_low(task.depth, ply);
        }

        if number == 0 {
            found.score = if excluded.is_some() {
                task.alpha
            } else if position.in_check() {
                Score::mated_in(ply)
            } else {
                Score::ZERO
            };
        }
        Some(found)
    }

    /// Step 11. Late-move, futility, history and exchange pruning.
    fn hopeless(
        &self,
        position: &Position,
        task: &Task,
        known: &Known,
        candidate: &Candidate,
    ) -> Hopeless {
        let &Candidate { m, number, quiet, check, history, .. } = candidate;
        let reduction = reduce::expected(task.depth, number, known.improving, task.is_pv());
        let reduced = (task.depth - 1 - reduction).max(0);
        // What gives material looks futile.
        let eval = self.frames[task.ply].eval.filter(|_| !task.keeps_sacrifices());
        let loses = |most| {
            params::use_exchange_pruning() != 0
                && task.depth <= params::exchange_depth()
                && !see::see_ge(position, m, most)
        };
        let hopeless = |is_so| if is_so { Hopeless::Move } else { Hopeless::No };
        let Some(quiet) = quiet else {
            let is_futile = |eval| {
                let victim = position.captured(m).map_or(0, see::value_of);
                prune::capture_futility(reduced, eval, victim, history, task.alpha)
            };
            let may_be_futile = !check && !task.is_pv() && m.promoted_to().is_none();
            return hopeless(
                (may_be_futile && eval.is_some_and(is_futile))
                    || loses(prune::noisy_loss(task.depth, history)),
            );
        };
        if check && params::use_check_exemption() != 0 {
            return hopeless(loses(prune::noisy_loss(task.depth, 0)));
        }
        if number > prune::late_move_count(task.depth, known.improving) {
            return Hopeless::AllQuiets;
        }
        let histories = self.memory.history.quiets(position, &known.before);
        let (alone, after) =
            (histories.main_history(&quiet), histories.continuation_history(&quiet));
        let is_futile = |eval| prune::futility(reduced, eval, alone / 2 + after, task.alpha);
        hopeless(
            prune::bad_history(reduced, task.depth, task.ply, after)
                || eval.is_some_and(is_futile)
                || loses(prune::quiet_loss(reduced)),
        )
    }

    /// Step 12. Is the table's move the only one that reaches its score? Then it is searched deeper.
    fn extension(
        &mut self,
        position: &Position,
        task: &Task,
        known: &Known,
        m: PackedMove,
    ) -> Option<Extension> {
        let may_be = m == known.tt_move
            && !task.is_root()
            && self.frames[task.ply].excluded.is_none()
            && task.ply < 2 * self.worker.target as Ply;
        let Some(entry) = known.entry.as_ref().filter(|_| may_be) else {
            return Some(Extension::Plies(0));
        };
        let score = entry.score.from_table(task.ply);
        if !extend::worth_trying(task.depth, entry.depth, entry.bound, score) {
            return Some(Extension::Plies(0));
        }
        let beta = extend::singular_beta(score, task.depth);
        self.frames[task.ply].excluded = known.tt_move;
        let value = self.search(position, task.scout(beta, (task.depth - 1) / 2, task.path));
        self.frames[task.ply].excluded = PackedMove::NONE;
        // It left a variation without this move.
        self.worker.clear_pv(task.ply);
        Some(extend::singular(value?, beta, task.beta, score, task.is_pv(), task.cut_node))
    }

    /// Steps 13 to 15: plays a move and searches it, late moves shallower, all but the first with
    /// a null window.
    fn child(
        &mut self,
        position: &Position,
        task: &Task,
        known: &Known,
        candidate: &Candidate,
        extension: Depth,
    ) -> Option<Score> {
        let &Candidate { m, number, quiet, check, history, best } = candidate;
        let ply = task.ply;
        let full = task.depth - 1 + extension;
        self.frames[ply].moved = Some(moved_piece(position, m));
        self.frames[ply].quiet = quiet;
        let next = self.worker.make(position, m);
        let path = task.path.after_move();
        let (alpha, beta) = (task.alpha, task.beta);
        let null_window = |depth, cut_node| Task {
            alpha: -alpha - 1,
            beta: -alpha,
            depth,
            ply: ply + 1,
            cut_node,
            path,
        };
        let mut score = Score::ZERO;
        let mut open = task.is_pv() && number == 1;

        let is_whole = task.is_root() && self.worker.job.searcher == Searcher::Tactical;
        if number > 1 && task.depth >= 2 && !is_whole {
            // Step 13: late-move reductions.
            let reduction = reduce::late_move(&Late {
                depth: task.depth,
                number,
                quiet: quiet.is_some(),
                pv: task.is_pv(),
                cut_node: task.cut_node,
                improving: known.improving,
                tt_capture: known.tt_capture,
                check,
                history,
                tt_pv: known.tt_pv,
                cutoffs: self.frames[ply + 1].cutoffs > 2,
                error: known.error,
            });
            let depth = (full - reduction).clamp(1.min(full), full);
            self.frames[ply].reduction = full - depth;
            score = -self.search(&next, null_window(depth, true))?;
            self.frames[ply].reduction = 0;
            if score > alpha && depth < full {
                let again = full + reduce::correction(score, best);
                if depth < again {
                    score = -self.search(&next, null_window(again, !task.cut_node))?;
                }
            }
            open = task.is_pv() && score > alpha;
        } else if !open {
            // Step 14: null window.
            score = -self.search(&next, null_window(full, !task.cut_node))?;
            open = task.is_pv() && score > alpha;
        }
        if open {
            // Step 15: the whole window.
            let whole = Task {
                alpha: -beta,
                beta: -alpha,
                depth: full,
                ply: ply + 1,
                cut_node: false,
                path,
            };
            score = -self.search(&next, whole)?;
        }
        self.worker.unmake();
        Some(score)
    }
}
