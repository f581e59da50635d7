//! Time management: the limits of `go`, the resulting time budget, and the [`TimeManager`] that the
//! search threads and the coordinator of a search share.
//!
//! All limits hold together; the first one reached ends the search. The time budget of a move has
//! two bounds. The *hard* limit is checked during the search and never exceeded. The *soft* limit is
//! checked between iterations. It is longer while the best move is in doubt and shorter while it is
//! clear. Its size was tuned by games (`docs/notebook/tried.md`); the other constants were not.
//!
//! The search threads poll the limits every few hundred nodes. A thread that does not search waits
//! for the hard limit too ([`TimeManager::await_end`]), so that limits hold even if a search thread is
//! blocked or not scheduled.

mod clock;
mod group;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::board::{Color, color_index};
use crate::score::{Depth, MAX_DEPTH};
pub use clock::{Clock, NodeClock, Signal, SystemClock};
pub(crate) use group::SearchGroup;

/// Moves left in a game without `movestogo`, as an estimate.
const SUDDEN_DEATH_MOVES: u32 = 26;
/// Upper limit for `movestogo` when the remaining time is divided.
const MAX_MOVES_TO_GO: u32 = 52;
/// The soft limit as a multiple of the average time per move. Most moves are clear, so the time
/// used is about 0.7 of the soft limit ([`soft_limit_factor`]).
const SOFT_FACTOR: f64 = 1.5;
/// The hard limit as a multiple of the average time per move.
const HARD_FACTOR: f64 = 4.0;
/// The largest share of the clock for one of many moves, with `movestogo` or without [`Sharing::hard_share`].
const MAX_CLOCK_SHARE: f64 = 0.4;
/// The largest share of the clock for the last move before a time control. The rest is kept for
/// delays longer than the overhead; it is not lost, since it counts after the control.
const MAX_SHARE_BEFORE_CONTROL: f64 = 0.85;
/// In sudden death at least 1/N of the clock may be used, even if the overhead would leave less.
const MIN_CLOCK_PART: u32 = 8;
/// The time for a move if the overhead leaves none.
const MIN_TIME: Duration = Duration::from_millis(1);
/// Nodes between two checks of the limits, at most.
const CHECK_INTERVAL: u64 = 1024;
/// A short budget is checked about this many times, at an assumed microsecond per node.
const CHECKS_PER_BUDGET: u64 = 16;
/// Nodes between two checks, at least: a check costs a fraction of a node.
const MIN_CHECK_INTERVAL: u64 = 16;
/// Do not check the clock before this many nodes. They take a fraction of a millisecond, so even with an
/// empty clock the move comes from a search.
const FREE_NODES: u64 = 128;
/// Stop looking for a shorter mate when the depth exceeds the mate distance by this many plies. The extra
/// plies compensate for reductions.
const DEPTH_BEYOND_MATE: Depth = 10;
/// The value of `TimeManager::clock_start` while the engine ponders.
const PONDERING: u64 = u64::MAX;

/// All fields of `go`. They hold together: the first limit reached ends the search. The default has
/// no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// The deepest iteration.
    pub depth: Option<Depth>,
    /// Nodes of all threads together. A single thread meets it exactly.
    pub nodes: Option<u64>,
    /// Search for a mate in at most this many moves.
    pub mate: Option<u32>,
    /// Time for this move.
    pub move_time: Option<Duration>,
    /// Time on the clocks of White and Black; zero for a negative clock. A side without a clock and
    /// without another limit is given the other side's time.
    pub time: [Option<Duration>; 2],
    /// Increments of White and Black per move.
    pub increment: [Duration; 2],
    /// Moves to the next time control, if there is one.
    pub moves_to_go: Option<u32>,
    /// How time without a time control is shared out. Set by parameters, not by `go`.
    pub sharing: Sharing,
    /// Do not answer before `stop`.
    pub infinite: bool,
    /// Do not answer before `stop` or `ponderhit`. The clock starts at `ponderhit`; time spent
    /// before counts towards the soft limit.
    pub ponder: bool,
}

impl Limits {
    /// A search to a depth.
    pub fn to_depth(depth: Depth) -> Limits {
        Limits { depth: Some(depth), ..Limits::default() }
    }

    /// A search of a number of nodes.
    pub fn to_nodes(nodes: u64) -> Limits {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }

    /// True if the search ends without `stop` or `ponderhit`. A limit of `mate` alone does not
    /// count: the mate may not exist.
    pub fn is_bounded(&self, turn: Color) -> bool {
        let timed = self.move_time.or(self.clock(turn)).is_some();
        !self.infinite && !self.ponder && (timed || self.depth.is_some() || self.nodes.is_some())
    }

    /// The time left to the side to move, if there is a clock.
    fn clock(&self, turn: Color) -> Option<Duration> {
        let [own, other] = [turn, !turn].map(|side| self.time[color_index(side)]);
        let limited = self.infinite
            || self.move_time.is_some()
            || self.depth.is_some()
            || self.nodes.is_some();
        own.or(other.filter(|_| !limited))
    }
}

/// How the clock is shared out among the moves of a game without a time control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sharing {
    /// Moves left, as an estimate; at least 1.
    pub moves_left: u32,
    /// The hard limit as a share of the clock. `None`: a multiple of the average time per move.
    pub hard_share: Option<f64>,
}

impl Default for Sharing {
    fn default() -> Sharing {
        Sharing { moves_left: SUDDEN_DEATH_MOVES, hard_share: None }
    }
}

/// The state of a search after an iteration, from which the soft limit is decided.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchState {
    /// The depth of the iteration.
    pub depth: Depth,
    /// Nodes of all threads.
    pub nodes: u64,
    /// Iterations in a row with the same best move.
    pub stable_iterations: u32,
    /// Centipawns by which the score fell since the previous iteration; negative if it rose.
    pub score_drop: i32,
    /// The best move's share of the nodes at the root, 0 to 1.
    pub best_move_share: f64,
    /// Other doubt about the best move: per cent added to the soft limit.
    pub doubt: i32,
    /// Root moves that may be played.
    pub choices: usize,
    /// Moves to a mate by the side to move.
    pub mate_found: Option<u32>,
    /// True if the side to move is mated in the best line.
    pub is_mated: bool,
    /// If every line wanted ends in mate, by either side: plies to the farthest. `None` makes the
    /// search continue after a mate.
    pub all_mate_in: Option<Depth>,
}

/// Decides when a search ends. Shared by the search threads, the coordinator and the controller.
pub struct TimeManager {
    clock: Arc<dyn Clock>,
    limits: Limits,
    budget: Budget,
    /// Nodes between two checks of the clock.
    check_interval: u64,
    began: Duration,
    /// When our clock started, in nanoseconds, or [`PONDERING`].
    clock_start: AtomicU64,
    /// True once an iteration ended past the soft limit. While pondering the search continues; the
    /// ponder hit then ends it.
    soft_limit_reached: AtomicBool,
    /// Nodes of all threads at the last check.
    nodes: AtomicU64,
    /// The search must end: stopped, or a limit was reached.
    ended: AtomicBool,
    /// `stop` was called: the answer need not be held back.
    released: AtomicBool,
    signal: Signal,
}

impl TimeManager {
    /// Starts a search of the side `turn`. `overhead` is the time that a move costs in
    /// addition to the search (network, GUI).
    pub fn new(
        clock: Arc<dyn Clock>,
        limits: Limits,
        turn: Color,
        overhead: Duration,
    ) -> TimeManager {
        let began = clock.now();
        let clock_start = if limits.ponder { PONDERING } else { nanos(began) };
        let budget = Budget::new(&limits, turn, overhead);
        TimeManager {
            clock,
            check_interval: check_interval(budget.hard),
            budget,
            limits,
            began,
            clock_start: AtomicU64::new(clock_start),
            soft_limit_reached: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            released: AtomicBool::new(false),
            signal: Signal::default(),
        }
    }

    /// A time manager on the system clock, without overhead, for searches outside a game. The
    /// limits must be the same for both colours.
    pub fn with_limits(limits: Limits) -> TimeManager {
        TimeManager::new(Arc::new(SystemClock::new()), limits, Color::White, Duration::ZERO)
    }

    /// Time since the search began.
    pub fn elapsed(&self) -> Duration {
        self.clock.now().saturating_sub(self.began)
    }

    /// Nodes of all threads at the last call of [`TimeManager::must_stop`].
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    /// Ends the search and releases the answer.
    pub fn stop(&self) {
        self.released.store(true, Ordering::Release);
        self.end_search();
    }

    /// Ends the search on all threads. The answer may still be held back ([`Limits::infinite`]).
    pub fn end_search(&self) {
        self.ended.store(true, Ordering::Release);
        self.signal.raise();
    }

    /// True if the search must end. Does not read the clock.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// The opponent played the expected move: starts the clock, and ends the search if the soft
    /// limit is used up. A no-op if the clock runs already.
    pub fn ponder_hit(&self) {
        let now = nanos(self.clock.now());
        let start = &self.clock_start;
        let was_pondering =
            start.compare_exchange(PONDERING, now, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if was_pondering && self.soft_limit_reached.load(Ordering::SeqCst) {
            self.end_search();
        }
        self.signal.raise();
    }

    /// Checks the hard limits, nodes and time. Once true it stays true, as after `stop`. Called by
    /// the first thread with the nodes of all threads, as often as
    /// [`TimeManager::nodes_to_next_check`] asks for.
    pub fn must_stop(&self, nodes: u64) -> bool {
        self.nodes.store(nodes, Ordering::Relaxed);
        self.clock.searched(nodes);
        if self.is_stopped() {
            return true;
        }
        let timed = nodes >= FREE_NODES;
        let over = self.is_node_limit_reached(nodes) || (timed && self.is_hard_limit_reached());
        if over {
            self.end_search();
        }
        over
    }

    /// Nodes that may be searched before the next call of [`TimeManager::must_stop`], `1..=1024`.
    /// So a single thread meets a node limit exactly, and a short time limit is checked often.
    pub fn nodes_to_next_check(&self, nodes: u64) -> u64 {
        let left = self.limits.nodes.map_or(CHECK_INTERVAL, |limit| limit.saturating_sub(nodes));
        let most = if nodes < FREE_NODES { FREE_NODES - nodes } else { self.check_interval };
        left.clamp(1, most)
    }

    /// Decides after an iteration whether the next one may begin. False when the depth, the nodes,
    /// the mate asked for or the soft limit is reached, or when there is nothing left to find.
    pub fn may_deepen(&self, progress: &SearchState) -> bool {
        let is_mate_found = match (self.limits.mate, progress.mate_found) {
            (Some(wanted), Some(found)) => found <= wanted,
            _ => false,
        };
        self.clock.searched(progress.nodes);
        let soft = self.budget.soft.map(|soft| scaled(soft, soft_limit_factor(progress)));
        let soft_limit_reached = soft.is_some_and(|soft| self.elapsed() >= soft);
        self.soft_limit_reached.store(soft_limit_reached, Ordering::SeqCst);
        let done = is_mate_found
            || progress.depth >= self.max_depth()
            || self.is_node_limit_reached(progress.nodes)
            || self.is_mate_settled(progress)
            || (soft_limit_reached && !self.is_pondering());
        !done && !self.is_stopped()
    }

    /// The deepest iteration, `1..=MAX_DEPTH`.
    pub fn max_depth(&self) -> Depth {
        self.limits.depth.unwrap_or(MAX_DEPTH).clamp(1, MAX_DEPTH)
    }

    /// Blocks until the search must end or `is_done` is true, and ends the search at the hard limit
    /// of time. Whoever makes `is_done` true calls [`TimeManager::wake`]. Without a time limit no
    /// timer is started.
    pub fn await_end(&self, is_done: impl Fn() -> bool) {
        loop {
            let seen = self.signal.count();
            if is_done() || self.is_stopped() {
                return;
            }
            if self.is_hard_limit_reached() {
                self.end_search();
                return;
            }
            self.clock.wait(&self.signal, seen, self.deadline());
        }
    }

    /// Blocks until `is_done` is true, for at most `timeout`.
    pub fn await_for(&self, timeout: Duration, is_done: impl Fn() -> bool) {
        let deadline = self.clock.now().saturating_add(timeout);
        loop {
            let seen = self.signal.count();
            if is_done() || self.clock.now() >= deadline {
                return;
            }
            self.clock.wait(&self.signal, seen, Some(deadline));
        }
    }

    /// Blocks while the answer must be held back: with `infinite` until `stop`, with `ponder` until
    /// `stop` or `ponderhit`. Called after the search; uses no processor.
    pub fn hold_answer(&self) {
        loop {
            let seen = self.signal.count();
            if !self.is_answer_held() {
                return;
            }
            self.clock.wait(&self.signal, seen, None);
        }
    }

    /// Lets the threads that wait look at their conditions.
    pub fn wake(&self) {
        self.signal.raise();
    }

    fn is_answer_held(&self) -> bool {
        (self.limits.infinite || self.is_pondering()) && !self.released.load(Ordering::Acquire)
    }

    fn is_pondering(&self) -> bool {
        // Sequentially consistent with `soft_limit_reached`: either the ponder hit sees the end of
        // the iteration, or the iteration sees the hit.
        self.clock_start.load(Ordering::SeqCst) == PONDERING
    }

    /// True if every line ends in mate and no shorter mate is expected. In analysis, which is
    /// without clock, only a mate in one settles that. A search for a mate ends also when the side
    /// to move is mated itself.
    fn is_mate_settled(&self, progress: &SearchState) -> bool {
        let Some(mate) = progress.all_mate_in else { return false };
        let is_beyond = progress.depth > mate + DEPTH_BEYOND_MATE;
        let is_analysis = self.limits.nodes.is_none() && self.budget.soft.is_none();
        let goes_on = self.limits.depth.is_some()
            || match self.limits.mate {
                Some(_) => !progress.is_mated,
                None => is_analysis && mate > 2,
            };
        is_beyond && !goes_on
    }

    fn is_node_limit_reached(&self, nodes: u64) -> bool {
        self.limits.nodes.is_some_and(|limit| nodes >= limit)
    }

    fn is_hard_limit_reached(&self) -> bool {
        self.deadline().is_some_and(|deadline| self.clock.now() >= deadline)
    }

    /// When the hard limit of time is reached. `None` without one, and while pondering.
    fn deadline(&self) -> Option<Duration> {
        let hard = self.budget.hard?;
        match self.clock_start.load(Ordering::Acquire) {
            PONDERING => None,
            start => Some(Duration::from_nanos(start).saturating_add(hard)),
        }
    }
}

/// The time limits of one move, from the start of our clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Budget {
    soft: Option<Duration>,
    hard: Option<Duration>,
}

impl Budget {
    fn new(limits: &Limits, turn: Color, overhead: Duration) -> Budget {
        let side = color_index(turn);
        let clock = limits.clock(turn).map_or(Budget::default(), |time| {
            Budget::of_clock(time, limits.increment[side], limits, overhead)
        });
        let move_time = limits.move_time.map(|time| allowance(time, overhead));
        Budget { soft: clock.soft, hard: clock.hard.into_iter().chain(move_time).min() }
    }

    fn of_clock(
        time: Duration,
        increment: Duration,
        limits: &Limits,
        overhead: Duration,
    ) -> Budget {
        let Limits { moves_to_go, sharing, .. } = limits;
        let moves = moves_to_go.unwrap_or(sharing.moves_left).clamp(1, MAX_MOVES_TO_GO);
        // Keep what the later moves cost at least.
        let reserve =
            overhead.saturating_add(MIN_TIME).saturating_sub(increment).saturating_mul(moves - 1);
        let gain = increment.saturating_sub(overhead).saturating_mul(moves - 1);
        let kept = allowance(time, overhead.saturating_add(reserve));
        let usable = match moves_to_go {
            Some(_) => kept,
            // The number of moves is an estimate.
            None => kept.max(allowance(time, overhead) / MIN_CLOCK_PART),
        };
        let average = usable.saturating_add(gain) / moves;
        let share = MAX_CLOCK_SHARE + (1.0 - MAX_CLOCK_SHARE) / f64::from(moves);
        let share = share.min(MAX_SHARE_BEFORE_CONTROL);
        let hard = match sharing.hard_share {
            Some(share) if moves_to_go.is_none() => scaled(usable, share),
            _ => scaled(average, HARD_FACTOR).min(scaled(usable, share)),
        };
        let soft = scaled(average, SOFT_FACTOR).min(hard);
        Budget { soft: Some(soft), hard: Some(hard) }
    }
}

/// Nodes between two checks of the clock. Short budgets are checked more often.
fn check_interval(hard: Option<Duration>) -> u64 {
    let Some(hard) = hard else { return CHECK_INTERVAL };
    let micros = u64::try_from(hard.as_micros()).unwrap_or(u64::MAX);
    (micros / CHECKS_PER_BUDGET).clamp(MIN_CHECK_INTERVAL, CHECK_INTERVAL)
}

/// `time` less the overhead. If that leaves nothing: [`MIN_TIME`], but at most half of `time`.
fn allowance(time: Duration, overhead: Duration) -> Duration {
    time.saturating_sub(overhead).max(MIN_TIME.min(time / 2))
}

/// A duration times a small factor. Unlike `mul_f64` it does not panic on overflow.
fn scaled(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

/// The factor on the soft limit: above 1 while the best move is in doubt, 0.1 for a forced move.
fn soft_limit_factor(progress: &SearchState) -> f64 {
    if progress.choices == 1 {
        return 0.1;
    }
    let stability = 1.4 - 0.1 * f64::from(progress.stable_iterations.min(7));
    let drop = 1.0 + f64::from(progress.score_drop.clamp(-20, 60)) / 100.0;
    let effort = 1.5 - progress.best_move_share.clamp(0.0, 1.0);
    let doubt = 1.0 + f64::from(progress.doubt) / 100.0;
    (stability * drop * effort * doubt).clamp(0.3, 2.5)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(PONDERING - 1)
}

#[cfg(test)]
mod tests;
