//! When to stop (signatures agreed; helper fills in).
use crate::board::Color;
use crate::score::Depth;
use std::sync::Arc;
use std::time::Duration;

/// Where the time comes from: injected, so that tests own it.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment; never goes back.
    fn now(&self) -> Duration;
}

/// All fields of `go` together; the first limit reached wins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    pub depth: Option<Depth>,
    pub nodes: Option<u64>,
    /// Moves.
    pub mate: Option<u32>,
    pub move_time: Option<Duration>,
    /// Remaining time by colour, white first; zero if the clock is negative.
    pub time: [Option<Duration>; 2],
    pub increment: [Duration; 2],
    pub moves_to_go: Option<u32>,
    pub infinite: bool,
    pub ponder: bool,
}

/// What the search tells after an iteration, for the soft limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    pub depth: Depth,
    pub nodes: u64,
    /// Iterations in a row with the same best move.
    pub stable_iterations: u32,
    /// How much the score fell since the iteration before, in centipawns (negative: rose).
    pub score_drop: i32,
    /// The best move's share of the root's nodes, 0..=1.
    pub best_move_share: f64,
    /// Moves to the mate found for us, if any.
    pub mate_found: Option<u32>,
}

/// Says when a search ends. Shared by the controller and all search threads.
pub struct Keeper;

impl Keeper {
    pub fn new(
        _clock: Arc<dyn Clock>,
        _limits: Limits,
        _turn: Color,
        _overhead: Duration,
    ) -> Keeper {
        todo!()
    }
    /// Time since the search began.
    pub fn elapsed(&self) -> Duration {
        todo!()
    }
    pub fn stop(&self) {
        todo!()
    }
    pub fn is_stopped(&self) -> bool {
        todo!()
    }
    /// The opponent played the move pondered on: the clock starts.
    pub fn ponder_hit(&self) {
        todo!()
    }
    /// Looked at by the main thread every 1,024 nodes or fewer (`nodes` of all threads): true, once and for
    /// all, when a hard limit (nodes, time) is met or stop was called.
    pub fn must_stop(&self, _nodes: u64) -> bool {
        todo!()
    }
    /// How many more nodes may be searched before `must_stop` has to be asked (1..=1024).
    pub fn nodes_to_next_look(&self, _nodes: u64) -> u64 {
        todo!()
    }
    /// After an iteration: may the next one begin? False when depth, mate or soft time is reached.
    pub fn may_deepen(&self, _progress: &Progress) -> bool {
        todo!()
    }
    /// The deepest iteration wanted.
    pub fn max_depth(&self) -> Depth {
        todo!()
    }
    /// Blocks without using the processor while the answer must be held back: during `infinite` until
    /// stop, during `ponder` until stop or ponder hit.
    pub fn hold_answer(&self) {
        todo!()
    }
}
