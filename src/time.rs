//! When to stop: the limits of one `go`, what they mean as a budget of time, and the [`TimeManager`]
//! that the controller and all search threads share.
//!
//! All limits hold together and the first one reached ends the search. The time for a move has two
//! bounds. The *hard* one is looked at inside the search and is never passed. The *soft* one is
//! looked at between iterations, and is stretched while the best move is in doubt and shrunk while
//! it is not. How large it is, games have said (`docs/notebook/tried.md`); the other shares below are our own
//! choice.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::board::{Color, color_index};
use crate::score::{Depth, MAX_DEPTH};

/// How many moves a game without `movestogo` is thought to last yet.
const SUDDEN_DEATH_MOVES: u32 = 26;
/// The soft limit as a multiple of what one move may cost on average: most moves are in little doubt,
/// so that what is thought is about 0.7 of the soft limit ([`patience`]).
const SOFT_FACTOR: f64 = 1.5;
/// The hard limit as a multiple of what one move may cost on average.
const HARD_FACTOR: f64 = 4.0;
/// One move of many may take this share of the clock at most.
const MOST_OF_CLOCK: f64 = 0.4;
/// Even the last move before a control leaves the rest of this: what is left counts after it, and a
/// machine may stand still for longer than the overhead.
const MOST_BEFORE_CONTROL: f64 = 0.85;
/// One part in so many of a clock without control may be used, whatever the overhead.
const LEAST_PART: u32 = 8;
/// Thought about even if the overhead leaves nothing.
const LEAST_TIME: Duration = Duration::from_millis(1);
/// The search looks at the clock at least this often, in nodes.
const LOOK_INTERVAL: u64 = 1024;
/// A short budget, of which a thousand nodes would be a good part, is looked at about so many
/// times, reckoning a node at a microsecond.
const LOOKS: u64 = 16;
/// Nodes between two looks, however short the budget: a look costs a small part of a node.
const LEAST_LOOK_INTERVAL: u64 = 16;
/// Time is no limit before so many nodes: they take a fraction of a millisecond, and even an empty
/// clock wants a move that was thought about.
const FREE_NODES: u64 = 128;
/// An iteration so many plies beyond a mate finds no nearer one: reductions have been made up for.
const BEYOND_MATE: Depth = 10;
/// `TimeManager::clock_start` while the opponent's clock runs.
const PONDERING: u64 = u64::MAX;

/// Where the time comes from: injected, so that tests own it.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment; never goes back.
    fn now(&self) -> Duration;
}

/// The machine's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock(Instant);

impl SystemClock {
    /// A clock that starts now.
    pub fn new() -> SystemClock {
        SystemClock(Instant::now())
    }
}

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// All fields of `go` together; the first limit reached wins. The default has no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// The deepest iteration, in plies.
    pub depth: Option<Depth>,
    /// Nodes of all threads together; met exactly by a single thread.
    pub nodes: Option<u64>,
    /// A mate in so many moves or fewer is sought.
    pub mate: Option<u32>,
    /// Time for this move.
    pub move_time: Option<Duration>,
    /// Remaining time by colour, white first; zero if the clock is negative. Who has no clock of its own
    /// and no other limit has as much as the other side.
    pub time: [Option<Duration>; 2],
    /// What each move adds to the clock, by colour, white first.
    pub increment: [Duration; 2],
    /// Moves until the clock is filled again; `None`: never.
    pub moves_to_go: Option<u32>,
    /// No answer before `stop`.
    pub infinite: bool,
    /// No answer before `stop` or `ponderhit`; the clock starts at the latter, and what was thought
    /// before counts towards the soft limit.
    pub ponder: bool,
}

impl Limits {
    /// A search to `depth` plies.
    pub fn to_depth(depth: Depth) -> Limits {
        Limits { depth: Some(depth), ..Limits::default() }
    }

    /// A search of `nodes` nodes.
    pub fn to_nodes(nodes: u64) -> Limits {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }

    /// Does the search end by itself, without `stop` or `ponderhit`? A mate that is sought may not
    /// exist, so it is no limit in this sense.
    pub fn is_bounded(&self, turn: Color) -> bool {
        let timed = self.move_time.or(self.clock(turn)).is_some();
        !self.infinite && !self.ponder && (timed || self.depth.is_some() || self.nodes.is_some())
    }

    /// The time left to the side that is to move, if there is a clock.
    fn clock(&self, turn: Color) -> Option<Duration> {
        let [own, other] = [turn, !turn].map(|side| self.time[color_index(side)]);
        let limited = self.infinite
            || self.move_time.is_some()
            || self.depth.is_some()
            || self.nodes.is_some();
        own.or(other.filter(|_| !limited))
    }
}

/// What the search tells after an iteration, for the soft limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// The depth just completed.
    pub depth: Depth,
    /// Nodes of all threads so far.
    pub nodes: u64,
    /// Iterations in a row with the same best move.
    pub stable_iterations: u32,
    /// How much the score fell since the iteration before, in centipawns (negative: rose).
    pub score_drop: i32,
    /// The best move's share of the root's nodes, 0..=1.
    pub best_move_share: f64,
    /// Root moves to choose from.
    pub choices: usize,
    /// Moves to the mate found for us, if any.
    pub mate_found: Option<u32>,
    /// If every line wanted ends in mate, for or against us: the plies to the farthest of them. A
    /// searcher that is to go on all the same leaves it out.
    pub all_mate_in: Option<Depth>,
}

/// Says when a search ends. Shared by the controller and all search threads.
pub struct TimeManager {
    clock: Arc<dyn Clock>,
    limits: Limits,
    budget: Budget,
    /// Nodes from one look at the clock to the next.
    look_interval: u64,
    began: Duration,
    /// When our own clock started, in nanoseconds, or [`PONDERING`].
    clock_start: AtomicU64,
    /// The soft limit was used up, maybe while pondering: then the ponder hit ends the search.
    ripe: AtomicBool,
    /// Nodes of all threads at the last look at the limits.
    nodes: AtomicU64,
    /// The search is over: stopped, or a hard limit is met.
    ended: AtomicBool,
    /// Somebody said stop: the answer is held back no longer.
    released: AtomicBool,
    /// Guards no data: for waiting on `changed`.
    gate: Mutex<()>,
    changed: Condvar,
}

impl TimeManager {
    /// Starts the clock for a search by the side `turn`; `overhead` is what a move costs beside
    /// thinking (the network, the GUI).
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
            look_interval: look_interval(budget.hard),
            budget,
            limits,
            began,
            clock_start: AtomicU64::new(clock_start),
            ripe: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            released: AtomicBool::new(false),
            gate: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// A keeper on the machine's clock without overhead, for searches outside a game. Only limits
    /// that are the same for both colours make sense here.
    pub fn with_limits(limits: Limits) -> TimeManager {
        TimeManager::new(Arc::new(SystemClock::new()), limits, Color::White, Duration::ZERO)
    }

    /// Time since the search began.
    pub fn elapsed(&self) -> Duration {
        self.clock.now().saturating_sub(self.began)
    }

    /// Nodes searched, as was last told to [`TimeManager::must_stop`].
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    /// Ends the search and lets the answer go.
    pub fn stop(&self) {
        self.released.store(true, Ordering::Release);
        self.end_search();
        self.wake();
    }

    /// Ends the search on all threads; unlike [`TimeManager::stop`] the answer may still be held back.
    pub fn end_search(&self) {
        self.ended.store(true, Ordering::Release);
    }

    /// Is the search to end? Cheap: the clock is not looked at.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// The opponent played the move pondered on: the clock starts, and if there was time enough to
    /// think already, the search ends. Without effect if the clock runs.
    pub fn ponder_hit(&self) {
        let now = nanos(self.clock.now());
        let start = &self.clock_start;
        let was_pondering =
            start.compare_exchange(PONDERING, now, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if was_pondering && self.ripe.load(Ordering::SeqCst) {
            self.end_search();
        }
        self.wake();
    }

    /// Looked at by the main thread every 1,024 nodes or fewer (`nodes` of all threads): true, once
    /// and for all, when a hard limit (nodes, time) is met or stop was called.
    pub fn must_stop(&self, nodes: u64) -> bool {
        self.nodes.store(nodes, Ordering::Relaxed);
        if self.is_stopped() {
            return true;
        }
        let timed = nodes >= FREE_NODES;
        let over = self.is_node_limit_met(nodes) || (timed && self.has_used(self.budget.hard));
        if over {
            self.end_search();
        }
        over
    }

    /// How many more nodes may be searched before [`TimeManager::must_stop`] has to be asked
    /// (1..=1024). Asking so often makes the node limit exact and keeps a short time limit.
    pub fn nodes_to_next_look(&self, nodes: u64) -> u64 {
        let left = self.limits.nodes.map_or(LOOK_INTERVAL, |limit| limit.saturating_sub(nodes));
        let most = if nodes < FREE_NODES { FREE_NODES - nodes } else { self.look_interval };
        left.clamp(1, most)
    }

    /// After an iteration: may the next one begin? False when depth, nodes, mate or soft time is
    /// reached, or when there is nothing more to be found: the mates are known, and no depth and no
    /// shorter mate was asked for.
    pub fn may_deepen(&self, progress: &Progress) -> bool {
        let mated = match (self.limits.mate, progress.mate_found) {
            (Some(wanted), Some(found)) => found <= wanted,
            _ => false,
        };
        let soft = self.budget.soft.map(|soft| scaled(soft, patience(progress)));
        let ripe = soft.is_some_and(|soft| self.elapsed() >= soft);
        self.ripe.store(ripe, Ordering::SeqCst);
        let done = mated
            || progress.depth >= self.max_depth()
            || self.is_node_limit_met(progress.nodes)
            || self.is_beyond_mate(progress)
            || (ripe && !self.is_pondering());
        !done && !self.is_stopped()
    }

    /// The deepest iteration wanted, `1..=MAX_DEPTH`.
    pub fn max_depth(&self) -> Depth {
        self.limits.depth.unwrap_or(MAX_DEPTH).clamp(1, MAX_DEPTH)
    }

    /// Blocks without using the processor while the answer must be held back: during `infinite`
    /// until stop, during `ponder` until stop or ponder hit. Called after the search.
    pub fn hold_answer(&self) {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let held = self.changed.wait_while(gate, |()| self.is_answer_held());
        drop(held);
    }

    fn is_answer_held(&self) -> bool {
        (self.limits.infinite || self.is_pondering()) && !self.released.load(Ordering::Acquire)
    }

    fn is_pondering(&self) -> bool {
        // In one order with `ripe`: of a hit and an iteration's end one must see the other.
        self.clock_start.load(Ordering::SeqCst) == PONDERING
    }

    fn is_beyond_mate(&self, progress: &Progress) -> bool {
        let asked = self.limits.depth.is_some() || self.limits.mate.is_some();
        !asked && progress.all_mate_in.is_some_and(|mate| progress.depth > mate + BEYOND_MATE)
    }

    fn is_node_limit_met(&self, nodes: u64) -> bool {
        self.limits.nodes.is_some_and(|limit| nodes >= limit)
    }

    /// Has our own clock run for so long? Never while pondering.
    fn has_used(&self, limit: Option<Duration>) -> bool {
        let Some(limit) = limit else { return false };
        match self.clock_start.load(Ordering::Acquire) {
            PONDERING => false,
            start => self.clock.now().saturating_sub(Duration::from_nanos(start)) >= limit,
        }
    }

    fn wake(&self) {
        // The lock keeps the waiter from falling asleep between its look and its sleep.
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.changed.notify_all();
        drop(gate);
    }
}

/// The bounds of time for one move, counted from the start of our clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Budget {
    soft: Option<Duration>,
    hard: Option<Duration>,
}

impl Budget {
    fn new(limits: &Limits, turn: Color, overhead: Duration) -> Budget {
        let side = color_index(turn);
        let clock = limits.clock(turn).map_or(Budget::default(), |time| {
            Budget::of_clock(time, limits.increment[side], limits.moves_to_go, overhead)
        });
        let move_time = limits.move_time.map(|time| allowance(time, overhead));
        Budget { soft: clock.soft, hard: clock.hard.into_iter().chain(move_time).min() }
    }

    fn of_clock(
        time: Duration,
        increment: Duration,
        moves_to_go: Option<u32>,
        overhead: Duration,
    ) -> Budget {
        let moves = moves_to_go.unwrap_or(SUDDEN_DEATH_MOVES).clamp(1, SUDDEN_DEATH_MOVES * 2);
        // What the later moves cost at least is not ours to spend on this one.
        let reserve =
            overhead.saturating_add(LEAST_TIME).saturating_sub(increment).saturating_mul(moves - 1);
        let gain = increment.saturating_sub(overhead).saturating_mul(moves - 1);
        let kept = allowance(time, overhead.saturating_add(reserve));
        let usable = match moves_to_go {
            Some(_) => kept,
            // The number of moves is but a guess.
            None => kept.max(allowance(time, overhead) / LEAST_PART),
        };
        let pool = usable.saturating_add(gain);
        let average = pool / moves;
        let share = MOST_OF_CLOCK + (1.0 - MOST_OF_CLOCK) / f64::from(moves);
        let share = share.min(MOST_BEFORE_CONTROL);
        let hard = scaled(average, HARD_FACTOR).min(scaled(usable, share));
        let soft = scaled(average, SOFT_FACTOR).min(hard);
        Budget { soft: Some(soft), hard: Some(hard) }
    }
}

/// Nodes between two looks at the clock: fewer if there is little time to pass by.
fn look_interval(hard: Option<Duration>) -> u64 {
    let Some(hard) = hard else { return LOOK_INTERVAL };
    let micros = u64::try_from(hard.as_micros()).unwrap_or(u64::MAX);
    (micros / LOOKS).clamp(LEAST_LOOK_INTERVAL, LOOK_INTERVAL)
}

/// What may be thought of `time`: less the overhead; a moment if that leaves nothing, but never
/// more than there is.
fn allowance(time: Duration, overhead: Duration) -> Duration {
    time.saturating_sub(overhead).max(LEAST_TIME.min(time / 2))
}

/// A duration times a small factor, without the panic of `mul_f64` at the end of the range.
fn scaled(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

/// The factor on the soft limit: above 1 while the best move is in doubt, small if there is but one.
fn patience(progress: &Progress) -> f64 {
    if progress.choices == 1 {
        return 0.1;
    }
    let stability = 1.4 - 0.1 * f64::from(progress.stable_iterations.min(7));
    let drop = 1.0 + f64::from(progress.score_drop.clamp(-20, 60)) / 100.0;
    let effort = 1.5 - progress.best_move_share.clamp(0.0, 1.0);
    (stability * drop * effort).clamp(0.3, 2.5)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(PONDERING - 1)
}

#[cfg(test)]
mod tests;
