//! One search thread's state: what both searchers share.

use super::context::SharedContext;
use super::endgame::Endgame;
use super::null_move;
use super::observer::NullCutoff;
use super::stats::Stats;
use super::table::Table;
use super::{Iteration, Line, Outcome, SearchJob};
use crate::board::{PackedMove, Position, Role};
use crate::eval;
use crate::score::{Depth, MAX_PLY, Ply, Score};
use crate::time::TimeManager;

/// Nodes between a thread's looks at the others of its shared.
const SYNC_INTERVAL: u64 = 1024;
/// From this depth on every second thread goes ahead.
const AHEAD_FROM: Depth = 5;

/// What the classic and the playing searcher both stand on: counting, stopping, the path from the
/// root, principal variations.
pub struct Worker<'a> {
    /// What to search.
    pub job: &'a SearchJob,
    /// The table, shared.
    pub table: &'a Table,
    /// Says when to stop.
    pub time: &'a TimeManager,
    /// Shared by the threads of this search.
    pub shared: &'a SharedContext,
    /// The endgame tables.
    pub endgame: &'a Endgame,
    /// The number of this thread; the first checks the limits and reports.
    number: usize,
    /// Do not stop yet: the first thread completes one line of depth 1 whatever the limits say.
    must_finish: bool,
    /// Positions of so many men or fewer are looked up in the endgame tables; 0: none is.
    pub table_men: usize,
    /// Evaluation sums of the path.
    pub eval: eval::State,
    /// What was counted.
    pub stats: Stats,
    /// The worth of all pieces at the root: minor 2, rook 3, queen 6 (the `micromax` guard).
    pub root_material: u32,
    /// The depth of the iteration this thread is at.
    pub target: Depth,
    /// The deepest ply of this iteration.
    pub selective_depth: Ply,
    /// How many root moves may be played.
    pub choices: usize,
    /// Root moves not to be searched now: found already (MultiPV).
    pub excluded: Vec<PackedMove>,
    keys: Vec<u64>,
    next_look: u64,
    /// A row for each ply that has been reached.
    pv: Vec<Variation>,
}

/// The principal variation from one ply on.
#[derive(Clone)]
struct Variation {
    moves: [PackedMove; MAX_PLY + 1],
    length: usize,
}

impl Variation {
    const EMPTY: Variation = Variation { moves: [PackedMove::NONE; MAX_PLY + 1], length: 0 };

    fn moves(&self) -> &[PackedMove] {
        &self.moves[..self.length]
    }
}

impl<'a> Worker<'a> {
    /// A worker that stands at the job's root.
    ///
    /// The first of the shared minds the limits; the others search until they are stopped. What is
    /// left of the last search's evaluation is of use if there is any.
    pub fn new(
        job: &'a SearchJob,
        table: &'a Table,
        time: &'a TimeManager,
        shared: &'a SharedContext,
        number: usize,
        last: Option<eval::State>,
    ) -> Worker<'a> {
        let mut keys = Vec::with_capacity(job.earlier.len() + MAX_PLY + 8);
        keys.extend_from_slice(&job.earlier);
        let endgame = shared.read_endgame(job);
        let mut worker = Worker {
            job,
            table,
            time,
            shared,
            endgame,
            number,
            must_finish: number == 0,
            table_men: endgame.men(),
            eval: eval::State::resumed(last, job.evaluator(), &job.root),
            stats: Stats::default(),
            root_material: stage(&job.root),
            target: 1,
            selective_depth: 0,
            choices: 0,
            excluded: Vec::with_capacity(job.multi_pv),
            keys,
            next_look: 0,
            pv: Vec::with_capacity(MAX_PLY + 2),
        };
        let legal = job.root.legal_moves();
        worker.choices = legal.iter().filter(|&&m| worker.is_wanted_at_root(m)).count();
        worker
    }

    /// Counts a node. `None`: the search must stop.
    #[inline]
    pub fn enter(&mut self, ply: Ply) -> Option<()> {
        if self.stats.nodes >= self.next_look {
            self.look()?;
        }
        self.stats.nodes += 1;
        self.selective_depth = self.selective_depth.max(ply);
        Some(())
    }

    /// Publishes the counters of this thread and checks whether to stop.
    #[cold]
    fn look(&mut self) -> Option<()> {
        self.publish();
        let is_over = if self.is_first() {
            self.time.must_stop(self.shared.nodes())
        } else {
            self.time.is_stopped()
        };
        if (is_over && !self.must_finish) || self.is_overtaken() {
            return None;
        }
        let mut interval = SYNC_INTERVAL;
        if is_over {
            // The disk may be what made the search late.
            self.table_men = 0;
        } else if self.is_first() {
            let next = self.time.nodes_to_next_check(self.shared.nodes());
            interval = if self.shared.is_single() { next } else { next.min(interval) };
        }
        self.next_look = self.stats.nodes + interval;
        Some(())
    }

    /// From now on the search may be stopped: a line of depth 1 is complete.
    pub fn allow_stop(&mut self) {
        if self.must_finish {
            self.must_finish = false;
            self.look_soon();
        }
    }

    /// True if the search must end and has a line to answer with.
    pub fn is_stopped(&self) -> bool {
        self.time.is_stopped() && !self.must_finish
    }

    /// Has the clock looked at before the next node: something may have taken long.
    pub fn look_soon(&mut self) {
        self.next_look = self.stats.nodes;
    }

    /// Is not every root move searched, so that the root's value is not the position's?
    pub fn is_root_partial(&self) -> bool {
        !self.excluded.is_empty() || !self.job.search_moves.is_empty()
    }

    /// Has another thread completed this one's iteration, or a deeper one?
    pub fn is_overtaken(&self) -> bool {
        self.shared.depth() >= self.target
    }

    /// The depth of the iteration after one of depth `last`. Every second thread goes a ply further
    /// than the others: what it leaves in the table serves them in their next iteration, while in the
    /// same one all would be at the same nodes at the same time.
    pub fn next_depth(&self, last: Depth) -> Depth {
        let ahead = Depth::from(self.number % 2 == 1 && last >= AHEAD_FROM);
        (last + 1 + ahead).min(self.time.max_depth())
    }

    /// Goes back to the root from wherever the search was left.
    pub fn rewind(&mut self) {
        self.keys.truncate(self.job.earlier.len());
        self.eval.reset(&self.job.root);
    }

    /// Tells the shared what this thread has counted.
    pub fn publish(&self) {
        self.shared.count(self.number, &self.stats);
    }

    /// Publishes what this thread has found so far.
    pub fn publish_result(&self, found: &Outcome) {
        self.shared.publish(self.number, found, self.stats);
    }

    /// Nodes of all threads.
    pub fn all_nodes(&self) -> u64 {
        self.publish();
        self.shared.nodes()
    }

    /// Does this thread mind the limits and report?
    pub fn is_first(&self) -> bool {
        self.number == 0
    }

    /// Asks memory for the table's entry after a move: it is far away, and there is work to be done
    /// before it is needed.
    #[inline]
    pub fn prefetch(&self, position: &Position, m: PackedMove) {
        self.table.prefetch(position.approximate_key_after(m));
    }

    /// Plays a move; to be followed by [`Worker::unmake`].
    #[inline]
    pub fn make(&mut self, position: &Position, m: PackedMove) -> Position {
        // Cloned here, where it is returned from: a position is large, and a copy more is felt.
        let mut next = position.clone();
        let change = next.play_in_place(m);
        self.keys.push(position.key());
        self.eval.push(&change);
        next
    }

    /// Passes; to be followed by [`Worker::unmake`].
    #[inline]
    pub fn pass(&mut self, position: &Position) -> Position {
        self.keys.push(position.key());
        self.eval.push(&Default::default());
        position.pass()
    }

    /// Takes the last move or pass back.
    #[inline]
    pub fn unmake(&mut self) {
        self.keys.pop();
        self.eval.pop();
    }

    /// Does what an evaluation would have to do first.
    #[inline]
    pub fn prepare(&mut self, position: &Position) {
        self.eval.prepare(position);
    }

    /// The static value of the position the worker stands at.
    #[inline]
    pub fn evaluate(&mut self, position: &Position) -> Score {
        self.eval.evaluate(position)
    }

    /// Is this position, `ply` plies from the root, drawn by rule?
    #[inline]
    pub fn is_draw(&self, position: &Position, ply: Ply) -> bool {
        position.is_repetition(&self.keys, ply)
            || position.is_fifty_moves()
            || position.is_insufficient_material()
    }

    /// Can the side to move repeat a position since the root by its next move?
    #[inline]
    pub fn can_repeat(&self, position: &Position, ply: Ply) -> bool {
        position.can_repeat(&self.keys, ply)
    }

    /// Asks the observer, if there is one, whether a null-move cutoff may stand.
    #[inline]
    pub fn believes(
        &self,
        position: &Position,
        node: &null_move::NodeFacts,
        null_depth: Depth,
        score: Score,
    ) -> bool {
        let Some(observer) = &self.job.observer else { return true };
        let keys = &self.keys;
        observer.believes(&NullCutoff { position, keys, node: *node, null_depth, score })
    }

    /// Is a move to be searched at the root?
    pub fn is_wanted_at_root(&self, m: PackedMove) -> bool {
        let asked = &self.job.search_moves;
        (asked.is_empty() || asked.contains(&m))
            && !self.excluded.contains(&m)
            && self.endgame.admits(m, &self.excluded)
    }

    /// Begins the principal variation of a node: nothing yet.
    #[inline]
    pub fn clear_pv(&mut self, ply: Ply) {
        match self.pv.get_mut(ply) {
            Some(variation) => variation.length = 0,
            None => self.reach(ply),
        }
    }

    /// Most searches never come to most plies.
    #[cold]
    fn reach(&mut self, ply: Ply) {
        self.pv.resize(ply + 1, Variation::EMPTY);
    }

    /// The principal variation of a node is now this move and the child's variation.
    #[inline]
    pub fn update_pv(&mut self, ply: Ply, m: PackedMove) {
        let (upper, lower) = self.pv.split_at_mut(ply + 1);
        let below = lower.first().map_or(&[][..], Variation::moves);
        let variation = &mut upper[ply];
        let length = below.len().min(MAX_PLY);
        variation.moves[0] = m;
        variation.moves[1..=length].copy_from_slice(&below[..length]);
        variation.length = length + 1;
    }

    /// The principal variation of the root.
    pub fn root_pv(&self) -> &[PackedMove] {
        self.pv.first().map_or(&[], Variation::moves)
    }

    /// The end of an iteration, for the record.
    pub fn iteration(&self, line: &Line) -> Iteration {
        Iteration {
            depth: line.depth,
            best: line.moves.first().copied().unwrap_or_default(),
            score: line.score,
            stats: self.stats,
            elapsed: self.time.elapsed(),
        }
    }
}

/// The pieces of both sides: minor 2, rook 3, queen 6, pawns and kings nothing (Muller).
fn stage(position: &Position) -> u32 {
    const WORTH: [(Role, u32); 4] =
        [(Role::Knight, 2), (Role::Bishop, 2), (Role::Rook, 3), (Role::Queen, 6)];
    WORTH.iter().map(|&(role, worth)| position.by_role(role).count() as u32 * worth).sum()
}
