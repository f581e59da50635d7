//! Iterative deepening with aspiration windows and MultiPV.

use super::{Playing, Root, Task};
use crate::board::PackedMove;
use crate::score::{Depth, Score};
use crate::search::null_move::Path;
use crate::search::{Bound, Info, Line, Outcome, params};
use crate::time::Progress;
use std::time::Duration;

/// Bounds are reported only in searches that take longer than this.
const TALKATIVE_AFTER: Duration = Duration::from_secs(1);

impl Playing<'_> {
    /// Deepens until the keeper says stop.
    pub fn run(mut self, report: &mut dyn FnMut(&Info)) -> Outcome {
        let mut outcome = Outcome::default();
        let mut stable = 0;
        for depth in 1..=self.worker.keeper.max_depth() {
            self.root = Root { depth, ..Root::default() };
            let Some(lines) = self.iteration(depth, &outcome.lines, report) else {
                self.keep_partial(&mut outcome);
                break;
            };
            outcome.iterations.push(self.worker.iteration(&lines[0]));
            let same = outcome.best() == lines[0].moves[0];
            stable = if same { stable + 1 } else { 0 };
            let drop = outcome.score().map_or(0, |score| score - lines[0].score);
            outcome.depth = depth;
            outcome.lines = lines;
            let progress = self.progress(&outcome, stable, drop);
            if self.worker.is_first() && !self.worker.keeper.may_deepen(&progress) {
                break;
            }
        }
        outcome.stats = self.worker.stats;
        outcome
    }

    /// One iteration: the best lines, as many as are wanted. `None` if stopped.
    fn iteration(
        &mut self,
        depth: Depth,
        last: &[Line],
        report: &mut dyn FnMut(&Info),
    ) -> Option<Vec<Line>> {
        let mut lines: Vec<Line> = Vec::new();
        self.worker.excluded.clear();
        while lines.len() < self.worker.job.multi_pv {
            let guess = last.get(lines.len()).map(|line| line.score);
            let Some(line) = self.aspiration(depth, guess, lines.len() + 1, report)? else {
                break;
            };
            self.worker.excluded.push(line.moves[0]);
            lines.push(line);
        }
        lines.sort_by_cached_key(|line| std::cmp::Reverse(self.worth(line)));
        for (i, line) in lines.iter().enumerate() {
            report(&self.info(line.clone(), i + 1));
        }
        (!lines.is_empty()).then_some(lines)
    }

    /// Searches the root with a window around the last score, widened until the score lies within.
    /// The inner `None`: no root move is left.
    fn aspiration(
        &mut self,
        depth: Depth,
        guess: Option<Score>,
        rank: usize,
        report: &mut dyn FnMut(&Info),
    ) -> Option<Option<Line>> {
        let mut width = params::aspiration_window();
        let (mut alpha, mut beta) = match guess {
            Some(guess) if depth >= params::aspiration_depth() => (guess - width, guess + width),
            _ => (-Score::INFINITE, Score::INFINITE),
        };
        let mut reduced = depth;
        loop {
            self.worker.selective_depth = 0;
            let task =
                Task { alpha, beta, depth: reduced, ply: 0, cut_node: false, path: Path::ROOT };
            let score = self.search(&self.worker.job.root, task)?;
            let moves = self.worker.root_pv().to_vec();
            let bound = if score <= alpha {
                Bound::Upper
            } else if score >= beta {
                Bound::Lower
            } else {
                Bound::Exact
            };
            let line =
                Line { score, bound, moves, depth, selective_depth: self.worker.selective_depth };
            match bound {
                Bound::Exact => return Some((!line.moves.is_empty()).then_some(line)),
                // Nothing below the whole window: no move was searched.
                Bound::Upper if alpha == -Score::INFINITE => return Some(None),
                Bound::Upper => {
                    beta = Score::cp((alpha.value() + beta.value()) / 2).max(alpha + 1);
                    alpha = score - width;
                    reduced = depth;
                }
                Bound::Lower => {
                    beta = score + width;
                    // A move this good needs no full depth to be seen again.
                    reduced = (reduced - 1).max(depth - 3).max(1);
                }
            }
            if bound != Bound::Upper && self.worker.keeper.elapsed() > TALKATIVE_AFTER {
                report(&self.info(line, rank));
            }
            width += width / 2 + 4;
            if width > 1200 {
                (alpha, beta) = (-Score::INFINITE, Score::INFINITE);
            }
        }
    }

    /// The larger the better: by what is shown, then by the endgame tables, then by the search.
    fn worth(&self, line: &Line) -> (Score, (i32, i32), Score) {
        let endgame = &self.worker.crew.endgame;
        let first = line.moves.first().copied().unwrap_or_default();
        (endgame.judged(line.clone()).score, endgame.rank(first), line.score)
    }

    fn info(&self, line: Line, rank: usize) -> Info {
        Info {
            line: self.worker.crew.endgame.judged(line),
            multi_pv: rank,
            nodes: self.worker.all_nodes(),
            tablebase_hits: self.worker.crew.tablebase_hits(),
            hash_full: self.worker.table.hash_full(),
        }
    }

    /// A search stopped inside an iteration may have found a better move already.
    fn keep_partial(&mut self, outcome: &mut Outcome) {
        let Some((score, moves)) = self.root.partial.take() else {
            return;
        };
        let depth = self.root.depth;
        let selective_depth = self.worker.selective_depth;
        let line = Line { score, bound: Bound::Exact, moves, depth, selective_depth };
        match outcome.lines.first_mut() {
            // With several lines wanted, a partial one may be any of them.
            Some(first) if self.worker.job.multi_pv == 1 => *first = line,
            Some(_) => {}
            None => outcome.lines.push(line),
        }
    }

    fn progress(&self, outcome: &Outcome, stable: u32, score_drop: i32) -> Progress {
        let best = outcome.best();
        let spent = |m: PackedMove| {
            self.root.effort.iter().find(|(other, _)| *other == m).map_or(0, |&(_, nodes)| nodes)
        };
        let total: u64 = self.root.effort.iter().map(|&(_, nodes)| nodes).sum();
        let mate = outcome.score().and_then(Score::mate_moves);
        Progress {
            depth: outcome.depth,
            nodes: self.worker.all_nodes(),
            stable_iterations: stable,
            score_drop,
            best_move_share: spent(best) as f64 / total.max(1) as f64,
            mate_found: mate.and_then(|moves| u32::try_from(moves).ok()),
            all_mate_in: farthest_mate(&outcome.lines),
        }
    }
}

/// If all lines end in mate: the plies to the farthest.
fn farthest_mate(lines: &[Line]) -> Option<Depth> {
    let moves: Option<Vec<i32>> = lines.iter().map(|line| line.score.mate_moves()).collect();
    moves?.iter().map(|moves| 2 * moves.abs()).max()
}
