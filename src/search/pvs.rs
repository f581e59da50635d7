//! The playing searcher: principal variation search with what engines of today know, in numbered
//! steps of a method each. `docs/develop/search.md` has a paragraph per step.

mod driver;
mod evaluation;
mod learn;
mod moves;
mod picker;
mod quiescence;

use super::correction::Correction;
use super::history::{self, History, Quiet};
use super::null_move::{self, NullMoveSearch, Path, Verdict};
use super::params;
use super::prune;
use super::sample::Sampler;
use super::stats::Stats;
use super::table::Entry;
use super::worker::Worker;
use super::{Bound, Line, Message};
use crate::board::checks::{self, Checks};
use crate::board::threats::Threats;
use crate::board::{PackedMove, PieceSquare, Position, see};
use crate::eval;
use crate::score::{Depth, MAX_PLY, Ply, Score};
use picker::Lists;

/// What the endgame tables prove is remembered as if searched so many plies deeper.
const PROVED_DEPTH: Depth = 6;
/// Plies without a capture or pawn move that make a draw.
const FIFTY_MOVES: Depth = 100;

/// The searcher of one thread.
pub struct Pvs<'a> {
    worker: Worker<'a>,
    memory: &'a mut Memory,
    /// The path from the root, one frame a ply.
    frames: Vec<Frame>,
    root: Root,
    report: &'a mut dyn FnMut(&Message),
}

/// What a thread keeps from one search of a game to the next.
pub struct Memory {
    history: History,
    correction: Correction,
    /// Moves of the nodes on the path, one pair of lists a ply: kept to save the allocation.
    lists: Vec<Lists>,
    /// The evaluation's sums of the last search.
    eval: Option<eval::State>,
    /// Shown every position that is evaluated, if there is one.
    pub sampler: Option<Sampler>,
}

impl Memory {
    /// Nothing learned yet.
    pub fn new() -> Memory {
        let lists = (0..=MAX_PLY + 1).map(|_| Lists::default()).collect();
        Memory {
            history: History::new(),
            correction: Correction::new(),
            lists,
            eval: None,
            sampler: None,
        }
    }

    /// What is left of the last search's evaluation, for the next one.
    pub fn take_eval(&mut self) -> Option<eval::State> {
        self.eval.take()
    }
}

/// What a node leaves for those below it.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// The static evaluation, unless in check.
    eval: Option<Score>,
    /// The piece just moved from here, on its destination; none for a pass.
    moved: Option<PieceSquare>,
    /// The move made, if it is quiet.
    quiet: Option<Quiet>,
    /// Plies by which the search of the node below was reduced.
    reduction: Depth,
    /// Cutoffs at this ply since the node two plies above was entered.
    cutoffs: u32,
    /// A move left out, to see whether the others are worse.
    excluded: PackedMove,
    /// What was known of the node before the move was left out: [`Known::tt_pv`].
    tt_pv: bool,
    /// [`Known::error`].
    error: i32,
}

/// The root's own bookkeeping.
#[derive(Default)]
struct Root {
    /// The lines of this iteration, as far as they are complete.
    lines: Vec<Line>,
    /// The best line found so far while there is none, for a search that is stopped inside it.
    partial: Option<(Score, Vec<PackedMove>)>,
    /// Nodes spent on each root move in this iteration.
    effort: Vec<(PackedMove, u64)>,
}

/// What a call of the search is to do.
#[derive(Clone, Copy)]
struct Task {
    alpha: Score,
    beta: Score,
    depth: Depth,
    ply: Ply,
    /// Is this a null-window node that is expected to fail high?
    cut_node: bool,
    path: Path,
}

impl Task {
    #[inline]
    fn is_pv(&self) -> bool {
        self.beta - self.alpha > 1
    }

    #[inline]
    fn is_root(&self) -> bool {
        self.ply == 0
    }

    /// May the side to move be giving something up for more than alpha? See [`prune::keeps_sacrifices`].
    #[inline]
    fn keeps_sacrifices(&self) -> bool {
        prune::keeps_sacrifices(self.alpha, self.ply)
    }

    /// May the other side be giving something up against the side to move?
    #[inline]
    fn keeps_their_sacrifices(&self) -> bool {
        prune::keeps_sacrifices(-self.beta, self.ply)
    }

    /// A null-window search of this same node around `beta`.
    fn scout(self, beta: Score, depth: Depth, path: Path) -> Task {
        Task { alpha: beta - 1, beta, depth, path, ..self }
    }
}

/// What is known of a node before its moves are searched.
struct Known {
    entry: Option<Entry>,
    tt_move: PackedMove,
    tt_capture: bool,
    /// The evaluation as the evaluator gave it, for the table.
    raw_eval: Option<Score>,
    /// The evaluation, made better by the table's bound; `-INFINITE` in check.
    eval: Score,
    /// By how much it was corrected, in centipawns.
    error: i32,
    improving: bool,
    /// Is this a PV node, or was it one?
    tt_pv: bool,
    /// What the opponent attacks; filled in when the moves are searched.
    threats: Threats,
    /// From where a move gives check; filled in with the threats.
    checks: Option<Checks>,
    before: [Option<PieceSquare>; 4],
}

#[derive(Clone, Copy)]
struct Found {
    score: Score,
    best: PackedMove,
    /// Found without searching the node to its depth (multicut).
    shallow: bool,
}

/// What the endgame tables say of a node: the score is no less than the one, and no more than the
/// other.
#[derive(Clone, Copy)]
struct Proved {
    least: Score,
    most: Score,
}

impl Proved {
    const NOTHING: Proved = Proved { least: Score::LEAST, most: Score::INFINITE };

    fn by(score: Score, bound: Bound) -> Proved {
        match bound {
            Bound::Exact => Proved { least: score, most: score },
            Bound::Lower => Proved { least: score, ..Proved::NOTHING },
            Bound::Upper => Proved { most: score, ..Proved::NOTHING },
        }
    }

    /// The score, if there is nothing left to search for in this window.
    fn decides(&self, alpha: Score, beta: Score) -> Option<Score> {
        if self.least == self.most || self.least >= beta {
            Some(self.least)
        } else {
            (self.most <= alpha).then_some(self.most)
        }
    }
}

/// What the steps before the moves decided.
enum Before {
    /// Leave the node.
    Leave(Score),
    /// Search the moves.
    Search { depth: Depth, path: Path, redo: bool },
}

impl<'a> Pvs<'a> {
    /// A searcher for the worker's job, which tells `report` what it finds.
    pub fn new(
        worker: Worker<'a>,
        memory: &'a mut Memory,
        report: &'a mut dyn FnMut(&Message),
    ) -> Pvs<'a> {
        let frames = vec![Frame::default(); MAX_PLY + 2];
        Pvs { worker, memory, frames, root: Root::default(), report }
    }

    /// The value of a node, fail-soft. `None` if the search was stopped.
    fn search(&mut self, position: &Position, mut task: Task) -> Option<Score> {
        // Step 1: leaves go to quiescence.
        if task.depth <= 0 {
            return self.quiescence(position, task.alpha, task.beta, task.ply);
        }
        self.worker.enter(task.ply)?;
        self.worker.clear_pv(task.ply);

        // Step 2: draws, the deepest ply, and mates that are nearer already.
        if !task.is_root()
            && let Some(score) = self.ends_here(position, &mut task)
        {
            return Some(score);
        }

        // Step 3: the transposition table.
        let excluded = self.frames[task.ply].excluded;
        let entry = if excluded.is_none() { self.probe(position) } else { None };
        if let Some(entry) = &entry
            && let Some(score) = table_cutoff(entry, position, &task)
        {
            self.worker.stats.table_cutoffs += 1;
            if score >= task.beta {
                self.learn_from_table(position, entry.best, task.depth, task.ply);
            }
            return Some(score);
        }

        // Step 3, second part: the endgame tables.
        let mut proved = Proved::NOTHING;
        if position.occupied().count() <= self.worker.table_men {
            proved = self.look_up(position, &task);
            if let Some(score) = proved.decides(task.alpha, task.beta) {
                return Some(score);
            }
        }

        // Step 4: the static evaluation, and whether it rises.
        let mut known = self.know(position, entry, &task, excluded.is_some());

        // The cutoffs of the nodes that this one leads to are counted anew.
        self.frames[task.ply + 2].cutoffs = 0;
        if task.is_root() {
            self.frames[1].cutoffs = 0;
        }

        // Steps 5 to 9: reductions and cuts before any move.
        let mut found = match self.before_moves(position, &task, &known)? {
            Before::Leave(score) => return Some(score.clamp(proved.least, proved.most)),
            Before::Search { depth, path, redo } => {
                known.threats = Threats::of(position);
                known.checks = Some(Checks::of(position));
                let reduced = Task { depth, path, ..task };
                let found = self.moves(position, reduced, &known)?;
                if redo && found.score < task.beta {
                    // Passing reaches beta, no move does: zugzwang. Once more at full depth.
                    self.again(position, task, &known)?
                } else {
                    task.depth = depth;
                    found
                }
            }
        };
        found.score = found.score.clamp(proved.least, proved.most);

        // Step 17: remember.
        if excluded.is_none() && !found.shallow {
            self.store(position, &task, &known, found);
            self.learn_error(position, &task, found);
        }
        Some(found.score)
    }

    /// Step 2. Narrows the window to what a mate can still be.
    fn ends_here(&mut self, position: &Position, task: &mut Task) -> Option<Score> {
        if self.worker.is_draw(position, task.ply) {
            return Some(Score::ZERO);
        }
        if task.ply >= MAX_PLY {
            return Some(self.worker.evaluate(position));
        }
        if params::use_upcoming_repetition() != 0
            && task.alpha < Score::ZERO
            && self.worker.can_repeat(position, task.ply)
        {
            task.alpha = Score::ZERO;
        }
        task.alpha = task.alpha.max(Score::mated_in(task.ply));
        task.beta = task.beta.min(Score::mate_in(task.ply + 1));
        (task.alpha >= task.beta).then_some(task.alpha)
    }

    /// The static value of the position the worker stands at.
    #[inline]
    fn evaluate(&mut self, position: &Position) -> Score {
        if let Some(sampler) = &mut self.memory.sampler {
            sampler.offer(position);
        }
        self.worker.evaluate(position)
    }

    /// Step 3. The table's entry with its move checked.
    fn probe(&mut self, position: &Position) -> Option<Entry> {
        // The entry is on its way from memory: till it comes, what is nearly always needed is done.
        self.worker.prepare(position);
        self.memory.correction.prefetch(position);
        let mut entry = self.worker.table.probe(position.key())?;
        self.worker.stats.table_hits += 1;
        if !position.is_legal(entry.best) {
            entry.best = PackedMove::NONE;
        }
        let left = FIFTY_MOVES - position.halfmove_clock() as Depth;
        if entry.score.mate_plies().is_some_and(|plies| plies > left) {
            // The fifty-move rule may come first, which the key does not know: anything is possible.
            entry.score = Score::INFINITE;
            entry.bound = Bound::Upper;
        }
        Some(entry)
    }

    /// Step 3, second part. Only just after a capture or a pawn move do the tables know enough.
    #[cold]
    fn look_up(&mut self, position: &Position, task: &Task) -> Proved {
        if task.is_root() || self.frames[task.ply].excluded.is_some() {
            return Proved::NOTHING;
        }
        let endgame = &self.worker.shared.endgame;
        let Some((score, bound)) = endgame.probe(position, task.depth, task.ply) else {
            return Proved::NOTHING;
        };
        // The disk may be slow.
        self.worker.look_soon();
        self.worker.stats.tablebase_hits += 1;
        let proved = Proved::by(score, bound);
        if proved.decides(task.alpha, task.beta).is_some() {
            self.worker.table.store(
                position.key(),
                Entry {
                    best: PackedMove::NONE,
                    score: score.to_table(task.ply),
                    bound,
                    eval: None,
                    // It holds at any depth, but what is searched has to find room too.
                    depth: task.depth + PROVED_DEPTH,
                    tt_pv: task.is_pv(),
                },
            );
        }
        proved
    }

    /// Steps 5 to 9.
    fn before_moves(&mut self, position: &Position, task: &Task, known: &Known) -> Option<Before> {
        let search = |depth| Some(Before::Search { depth, path: task.path, redo: false });
        if position.in_check() {
            return search(task.depth);
        }
        let is_singular_search = self.frames[task.ply].excluded.is_some();
        let depth = if is_singular_search { task.depth } else { self.depth_of(task, known) };

        // Step 7: reverse futility.
        let is_above = !known.tt_pv
            && !task.keeps_their_sacrifices()
            && prune::reverse_futility(depth, known.eval, task.beta, known.improving)
            && (depth < params::mate_threat_depth() || !is_mate_threatened(position));
        if is_above {
            return Some(Before::Leave(known.eval));
        }
        let may_pass = !task.is_pv() || self.worker.job.scheme.may_pass_in_pv();
        if is_singular_search || !may_pass {
            return search(depth);
        }

        // Step 8: the null move.
        let before = self.null_move(position, Task { depth, ..*task }, known)?;
        // Step 9: probcut.
        if let Before::Search { depth, .. } = before
            && !task.is_pv()
            && let Some(score) = self.probcut(position, &Task { depth, ..*task }, known)?
        {
            return Some(Before::Leave(score));
        }
        Some(before)
    }

    /// Steps 5 and 6: the depth that a node is worth.
    fn depth_of(&self, task: &Task, known: &Known) -> Depth {
        // Step 5: in hindsight.
        let depth = self.in_hindsight(task);
        // Step 6: without a table move not its full depth (internal iterative reduction, Schröder).
        let is_blind = params::use_iir() != 0
            && depth >= params::iir_depth()
            && known.tt_move.is_none()
            && (task.is_pv() || task.cut_node);
        depth - Depth::from(is_blind)
    }

    /// Step 8. A pass by the scheme chosen.
    fn null_move(&mut self, position: &Position, task: Task, known: &Known) -> Option<Before> {
        let unchanged = Before::Search { depth: task.depth, path: task.path, redo: false };
        // A pass cannot prove a win, nor that nothing is behind what the other side gave up.
        if task.beta.is_won() || task.keeps_their_sacrifices() {
            return Some(unchanged);
        }
        let own = position.non_pawn_pieces(position.turn()).count() as u32;
        let theirs = position.non_pawn_pieces(!position.turn()).count() as u32;
        let node = null_move::Node {
            depth: task.depth,
            ply: task.ply,
            in_check: false,
            is_pv: task.is_pv(),
            own_pieces: own,
            most_pieces: own.max(theirs),
            root_material: self.worker.root_material,
            static_eval: known.eval,
            own_eval: self.frames[task.ply].eval.unwrap_or(known.eval),
            beta: task.beta,
            path: task.path,
        };
        let scheme = self.worker.job.scheme;
        let verdict =
            null_move::apply(scheme, &node, &mut AtNode { searcher: self, position, task })?;
        Some(match verdict {
            // A win found with an extra move for the other side is not a proved win.
            Verdict::Cut(score) if score.is_decisive() => Before::Leave(task.beta),
            Verdict::Cut(score) => Before::Leave(score),
            Verdict::Continue { depth, path, redo } => Before::Search { depth, path, redo },
            Verdict::NotTried | Verdict::FailedLow => unchanged,
        })
    }

    /// Step 9 (Buro 1995), off: a capture far above beta in a shallow search will stay above it.
    /// The inner `None`: no such capture.
    fn probcut(
        &mut self,
        position: &Position,
        task: &Task,
        known: &Known,
    ) -> Option<Option<Score>> {
        let beta = prune::probcut_beta(task.beta, known.improving);
        if !prune::probcut(task.depth, task.beta, beta, known.entry.as_ref(), task.ply) {
            return Some(None);
        }
        let ply = task.ply;
        self.begin_noisy(position, ply);
        while let Some((m, _)) = self.memory.lists[ply].moves.take() {
            if !see::see_ge(position, m, beta - known.eval) {
                continue;
            }
            self.frames[ply].moved = Some(history::moved_piece(position, m));
            self.frames[ply].quiet = None;
            self.worker.prefetch(position, m);
            let next = self.worker.make(position, m);
            let mut score = -self.quiescence(&next, -beta, -beta + 1, ply + 1)?;
            if score >= beta && task.depth > 4 {
                let child = Task {
                    alpha: -beta,
                    beta: -beta + 1,
                    depth: task.depth - 4,
                    ply: ply + 1,
                    cut_node: !task.cut_node,
                    path: task.path.after_move(),
                };
                score = -self.search(&next, child)?;
            }
            self.worker.unmake();
            if score >= beta {
                let shallow = Task { depth: task.depth - 3, ..*task };
                self.store(position, &shallow, known, Found { score, best: m, shallow: false });
                return Some(Some(if score.is_decisive() {
                    score
                } else {
                    score - (beta - task.beta)
                }));
            }
        }
        Some(None)
    }

    /// The second search after a failed verification, counted apart.
    fn again(&mut self, position: &Position, task: Task, known: &Known) -> Option<Found> {
        self.worker.stats.zugzwangs += 1;
        let before = self.worker.stats.nodes;
        let found = self.moves(position, task, known)?;
        self.worker.stats.research_nodes += self.worker.stats.nodes - before;
        self.worker.stats.false_alarms += u64::from(found.score >= task.beta);
        Some(found)
    }

    /// Step 17, second part: how wrong was the evaluation? Only where the search tells, and where
    /// no capture explains it; in a node that fails low no move does.
    fn learn_error(&mut self, position: &Position, task: &Task, found: Found) {
        let Some(eval) = self.frames[task.ply].eval else { return };
        if self.is_partial(task) {
            return;
        }
        let tells = if found.score >= task.beta {
            found.score > eval
        } else {
            found.score > task.alpha || found.score < eval
        };
        let failed_low = found.score <= task.alpha;
        let quiet = failed_low || found.best.is_none() || !position.is_noisy(found.best);
        if tells && quiet && !found.score.is_decisive() {
            let moves = self.last_moves(task.ply);
            let error = found.score - eval;
            self.memory.correction.learn(position, moves, task.depth, error);
        }
    }

    /// Is the value of this node not the position's?
    fn is_partial(&self, task: &Task) -> bool {
        task.is_root() && self.worker.is_root_partial()
    }

    /// Step 17.
    fn store(&mut self, position: &Position, task: &Task, known: &Known, found: Found) {
        if self.is_partial(task) {
            return;
        }
        let bound = if found.score >= task.beta {
            Bound::Lower
        } else if task.is_pv() && found.score > task.alpha {
            Bound::Exact
        } else {
            Bound::Upper
        };
        let entry = Entry {
            // In a node that fails low no move is known to be better than another.
            best: if bound == Bound::Upper { PackedMove::NONE } else { found.best },
            score: found.score.to_table(task.ply),
            bound,
            eval: known.raw_eval,
            depth: task.depth,
            tt_pv: known.tt_pv,
        };
        self.worker.table.store(position.key(), entry);
    }
}

impl Root {
    fn spend(&mut self, m: PackedMove, nodes: u64) {
        match self.effort.iter_mut().find(|(other, _)| *other == m) {
            Some((_, spent)) => *spent += nodes,
            None => self.effort.push((m, nodes)),
        }
    }
}

/// Does a table entry decide a node? Not in PV nodes, so that their variations stay whole, and not
/// near the fifty-move rule, which the key does not know.
fn table_cutoff(entry: &Entry, position: &Position, task: &Task) -> Option<Score> {
    if task.is_pv() || entry.depth < task.depth || position.halfmove_clock() >= 90 {
        return None;
    }
    let score = entry.score.from_table(task.ply);
    entry.bound.decides(score, task.alpha, task.beta).then_some(score)
}

/// Does a pass lose to a mate at once? Then the evaluation, however high, proves nothing.
fn is_mate_threatened(position: &Position) -> bool {
    params::use_mate_threats() != 0 && checks::is_mate_threatened(position)
}

/// A node, as the null-move module sees it.
struct AtNode<'s, 'a, 'p> {
    searcher: &'s mut Pvs<'a>,
    position: &'p Position,
    task: Task,
}

impl NullMoveSearch for AtNode<'_, '_, '_> {
    fn search_null_move(&mut self, beta: Score, depth: Depth, path: Path) -> Option<Score> {
        let ply = self.task.ply;
        // Quiescence would not see the mate; a deeper search sees it itself.
        if depth <= 0 && is_mate_threatened(self.position) {
            return Some(Score::mated_in(ply + 2));
        }
        self.searcher.frames[ply].moved = None;
        self.searcher.frames[ply].quiet = None;
        let next = self.searcher.worker.pass(self.position);
        let task = Task {
            alpha: -beta,
            beta: -beta + 1,
            depth,
            ply: ply + 1,
            cut_node: !self.task.cut_node,
            path,
        };
        let score = -self.searcher.search(&next, task)?;
        self.searcher.worker.unmake();
        Some(score)
    }

    fn believes(&mut self, node: &null_move::Node, null_depth: Depth, score: Score) -> bool {
        self.searcher.worker.believes(self.position, node, null_depth, score)
    }

    fn research(&mut self, beta: Score, depth: Depth, path: Path) -> Option<Score> {
        // The depth was corrected in hindsight already. The root's own frame has no reduction here.
        let above = self.task.ply.saturating_sub(1);
        let reduction = std::mem::take(&mut self.searcher.frames[above].reduction);
        let score = self.searcher.search(self.position, self.task.scout(beta, depth, path));
        self.searcher.frames[above].reduction = reduction;
        score
    }

    fn stats(&mut self) -> &mut Stats {
        &mut self.searcher.worker.stats
    }
}
