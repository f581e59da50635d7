//! The search threads of an engine, and what they remember between the searches of a game.
//!
//! Threads share the transposition table (Lazy SMP): each searches the whole tree with histories of
//! its own, and what one stores the others find. The first to complete an iteration completes it for
//! all. At the end they vote.

use std::thread;

use super::classic::Classic;
use super::context::SharedContext;
use super::endgame::Endgame;
use super::handicap::Handicap;
use super::pvs::{Memory, Pvs};
use super::sample::Sampler;
use super::table::Table;
use super::worker::Worker;
use super::{Bound, Line, Message, Outcome, SearchJob, Searcher};
use crate::board::PackedMove;
use crate::score::Score;
use crate::time::TimeManager;

/// The search recurses once a ply.
const STACK_BYTES: usize = 16 << 20;

/// The threads.
pub struct Pool {
    /// One a thread; the first thread is the caller's own.
    memories: Vec<Memory>,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool::new()
    }
}

impl Pool {
    /// A pool of one thread that remembers nothing.
    pub fn new() -> Pool {
        Pool { memories: vec![Memory::new()] }
    }

    /// So many threads from the next search on, at least one. Those that stay keep what they know.
    pub fn set_threads(&mut self, threads: usize) {
        self.memories.resize_with(threads.max(1), Memory::new);
    }

    /// Forgets what was learned: for a new game.
    pub fn clear(&mut self) {
        self.memories.fill_with(Memory::new);
    }

    /// Sets the sampler that is shown the positions which the first thread evaluates, and returns
    /// the previous one. A sampler does not change the search.
    pub fn set_sampler(&mut self, sampler: Option<Sampler>) -> Option<Sampler> {
        self.memories.first_mut().and_then(|memory| std::mem::replace(&mut memory.sampler, sampler))
    }

    /// Runs a search to its end. `time` says when that is, `report` is called with all that the
    /// first thread has to say. The classic searcher uses one thread whatever the pool has.
    ///
    /// If the root has a legal move, the outcome has at least one line with at least one move,
    /// even if the time stops the search before the first node.
    pub fn run(
        &mut self,
        job: &SearchJob,
        table: &Table,
        time: &TimeManager,
        report: &mut dyn FnMut(&Message),
    ) -> Outcome {
        if let Some(handicap) = job.handicap {
            return self.play_weaker(handicap, job, table, time, report);
        }
        table.new_search();
        job.values.install();
        let mut outcome = match job.searcher {
            Searcher::Playing | Searcher::Tactical => self.play(job, table, time, report),
            Searcher::Classic => {
                let shared = SharedContext::new(1, Endgame::default());
                Classic::new(Worker::new(job, table, time, &shared, 0, None)).run(report)
            }
        };
        if outcome.lines.is_empty() {
            outcome.lines.extend(any_move(job));
        }
        outcome
    }

    /// Searches more lines than are wanted and shown, and errs in choosing one.
    fn play_weaker(
        &mut self,
        handicap: Handicap,
        job: &SearchJob,
        table: &Table,
        time: &TimeManager,
        report: &mut dyn FnMut(&Message),
    ) -> Outcome {
        let mut report_wanted = |message: &Message| match message {
            Message::Line(info) if info.multi_pv > job.multi_pv => {}
            _ => report(message),
        };
        let weakened = handicap.weakened(job);
        let mut outcome = self.run(&weakened, table, time, &mut report_wanted);
        handicap.choose(job, &mut outcome.lines);
        outcome.lines.truncate(job.multi_pv);
        outcome
    }

    fn play(
        &mut self,
        job: &SearchJob,
        table: &Table,
        time: &TimeManager,
        report: &mut dyn FnMut(&Message),
    ) -> Outcome {
        let shared = &SharedContext::new(self.memories.len(), Endgame::new(job));
        let mut memories = self.memories.iter_mut().enumerate();
        let Some((_, first)) = memories.next() else { return Outcome::default() };
        let mut outcome = thread::scope(|scope| {
            let helpers: Vec<_> = memories
                .filter_map(|(number, memory)| {
                    let last = memory.take_eval();
                    let worker = Worker::new(job, table, time, shared, number, last);
                    let search = move || {
                        job.values.install();
                        Pvs::new(worker, memory, &mut |_| ()).run()
                    };
                    let builder = thread::Builder::new().stack_size(STACK_BYTES);
                    // Without a helper the search is slower, not wrong.
                    builder.spawn_scoped(scope, search).ok()
                })
                .collect();
            let worker = Worker::new(job, table, time, shared, 0, first.take_eval());
            let guard = EndOfSearch(time);
            let outcome = Pvs::new(worker, first, report).run();
            drop(guard);
            let others = helpers.into_iter().filter_map(|helper| helper.join().ok());
            elect(job, outcome, others.collect())
        });
        let endgame = &shared.endgame;
        outcome.stats.tablebase_hits += endgame.hits();
        outcome.lines = outcome.lines.into_iter().map(|line| endgame.judged(line)).collect();
        if outcome.lines.is_empty() {
            outcome.lines.extend(endgame.first_line());
        }
        outcome
    }
}

/// Ends the search on all threads when dropped, by a panic too: who waits for the others to end would
/// wait for ever.
struct EndOfSearch<'k>(&'k TimeManager);

impl Drop for EndOfSearch<'_> {
    fn drop(&mut self) {
        self.0.end_search();
    }
}

/// The threads vote on the move to play: each with the depth it completed, and more the better its
/// score. What was counted is added up.
fn elect(job: &SearchJob, first: Outcome, others: Vec<Outcome>) -> Outcome {
    if others.is_empty() {
        return first;
    }
    let mut stats = first.stats;
    others.iter().for_each(|other| stats += other.stats);
    let mut outcomes = vec![first];
    outcomes.extend(others);
    let elected = if job.multi_pv == 1 { winner(&outcomes) } else { 0 };
    Outcome { stats, ..outcomes.swap_remove(elected) }
}

/// The thread whose move has most votes and, of those, whose own vote weighs most.
fn winner(outcomes: &[Outcome]) -> usize {
    let worst = outcomes.iter().filter_map(Outcome::score).min().unwrap_or(Score::ZERO);
    let weight = |outcome: &Outcome| {
        let score = outcome.score().unwrap_or(worst);
        i64::from(score - worst + 10) * i64::from(outcome.depth)
    };
    let votes = |m: PackedMove| -> i64 {
        outcomes.iter().filter(|outcome| outcome.best() == m).map(weight).sum()
    };
    let rank = |outcome: &Outcome| (votes(outcome.best()), weight(outcome));
    let mut best = 0;
    for (i, outcome) in outcomes.iter().enumerate() {
        if rank(outcome) > rank(&outcomes[best]) {
            best = i;
        }
    }
    best
}

/// A line of one legal move, for a search that was stopped before it found any.
fn any_move(job: &SearchJob) -> Option<Line> {
    let legal = job.root.legal_moves();
    let m = job.search_moves.first().or_else(|| legal.first())?;
    Some(Line {
        score: Score::ZERO,
        bound: Bound::Exact,
        moves: vec![*m],
        depth: 0,
        selective_depth: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::search::context::CompletedIteration;
    use crate::time::Limits;

    fn outcome(m: PackedMove, score: i32, depth: i32) -> Outcome {
        let line = Line {
            score: Score::cp(score),
            bound: Bound::Exact,
            moves: vec![m],
            depth,
            selective_depth: 0,
        };
        Outcome { lines: vec![line], depth, ..Outcome::default() }
    }

    #[test]
    fn two_threads_outvote_one_that_is_not_much_deeper() {
        let moves = Position::startpos().legal_moves();
        let (a, b) = (moves[0], moves[1]);
        let outcomes = [outcome(a, 20, 12), outcome(b, 20, 11), outcome(b, 18, 11)];
        assert_eq!(winner(&outcomes), 1);
        let outcomes = [outcome(a, 300, 12), outcome(b, 20, 11), outcome(b, 18, 11)];
        assert_eq!(winner(&outcomes), 0);
    }

    #[test]
    fn several_threads_search_one_position() {
        let mut pool = Pool::new();
        pool.set_threads(3);
        let job = SearchJob::new(Position::startpos(), Searcher::Playing);
        let table = Table::new(1).unwrap();
        let time = TimeManager::with_limits(Limits::to_depth(7));
        let outcome = pool.run(&job, &table, &time, &mut |_| ());
        assert!(job.root.is_legal(outcome.best()));
        assert!(time.is_stopped());
    }

    #[test]
    fn a_thread_goes_on_from_the_deepest_iteration_of_all() {
        let job = SearchJob::new(Position::startpos(), Searcher::Playing);
        let table = Table::new(1).unwrap();
        let shared = SharedContext::new(2, Endgame::default());
        let run = |number: usize, depth: i32| {
            let time = TimeManager::with_limits(Limits::to_depth(depth));
            let worker = Worker::new(&job, &table, &time, &shared, number, None);
            Pvs::new(worker, &mut Memory::new(), &mut |_| ()).run()
        };
        let first = run(0, 6);
        let second = run(1, 8);
        let depths: Vec<_> = second.iterations.iter().map(|iteration| iteration.depth).collect();
        assert_eq!(depths, [6, 8], "every second thread goes ahead");
        assert_eq!(second.iterations[0].score, first.iterations[5].score);
        assert_eq!(second.iterations[0].best, first.best());
    }

    #[test]
    fn a_thread_that_is_overtaken_in_an_iteration_leaves_it_whole() {
        let kiwipete = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let job = SearchJob::new(Position::from_fen(kiwipete).unwrap(), Searcher::Playing);
        let table = Table::new(1).unwrap();
        let shared = SharedContext::new(2, Endgame::default());
        let ahead = || {
            let lines = outcome(job.root.legal_moves()[0], 0, 11).lines;
            shared.complete(CompletedIteration { depth: 11, lines, effort: Vec::new() });
        };
        // As if the other thread came to depth 11 while this one begins with depth 9.
        let mut report = |message: &Message| match message {
            Message::Line(info) if info.line.depth == 7 => ahead(),
            _ => {}
        };
        let time = TimeManager::with_limits(Limits::to_depth(12));
        let worker = Worker::new(&job, &table, &time, &shared, 1, None);
        let outcome = Pvs::new(worker, &mut Memory::new(), &mut report).run();
        let depths: Vec<_> = outcome.iterations.iter().map(|iteration| iteration.depth).collect();
        assert_eq!(depths, [1, 2, 3, 4, 5, 7, 11, 12]);
        let nodes = |depth: usize| outcome.iterations[depth].stats.nodes;
        assert!(nodes(6) > nodes(5), "it had begun");
        outcome.lines[0].moves.iter().fold(job.root.clone(), |position, &m| {
            assert!(position.is_legal(m));
            position.play(m).0
        });
    }

    #[test]
    fn several_threads_find_nothing_where_no_move_is_legal() {
        for fen in ["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "R6k/6pp/8/8/8/8/8/6K1 b - - 0 1"] {
            let mut pool = Pool::new();
            pool.set_threads(2);
            let job = SearchJob::new(Position::from_fen(fen).unwrap(), Searcher::Playing);
            let table = Table::new(1).unwrap();
            let time = TimeManager::with_limits(Limits::to_depth(5));
            let outcome = pool.run(&job, &table, &time, &mut |_| ());
            assert!(outcome.lines.is_empty(), "{fen}");
        }
    }
}
