//! Clocks, and waiting for a deadline.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::kit::sync::lock;

/// A clock. Passed in, so that tests can control time.
pub trait Clock: Send + Sync {
    /// Time since a fixed moment. Never goes back.
    fn now(&self) -> Duration;

    /// The first search thread has searched `nodes` nodes and is about to read the clock.
    fn searched(&self, nodes: u64) {
        let _ = nodes;
    }

    /// Blocks until `signal` has been raised more than `seen` times, or until the clock shows
    /// `deadline`. May return early; callers check their condition and wait again.
    ///
    /// The default never wakes at a deadline. A clock that tests move by hand raises the signal
    /// instead.
    fn wait(&self, signal: &Signal, seen: u64, deadline: Option<Duration>) {
        let _ = deadline;
        signal.wait(seen, None);
    }
}

/// The monotonic clock of the system.
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

    fn wait(&self, signal: &Signal, seen: u64, deadline: Option<Duration>) {
        signal.wait(seen, deadline.map(|deadline| deadline.saturating_sub(self.now())));
    }
}

/// The clock of one search on which every node takes the same time. Games on such clocks depend on
/// neither the speed nor the load of the machine (Stockfish: `nodestime`).
#[derive(Debug)]
pub struct NodeClock {
    nodes_per_second: u64,
    nodes: AtomicU64,
}

impl NodeClock {
    /// A clock at zero.
    pub fn new(nodes_per_second: u64) -> NodeClock {
        NodeClock { nodes_per_second, nodes: AtomicU64::new(0) }
    }
}

impl Clock for NodeClock {
    fn now(&self) -> Duration {
        let nodes = self.nodes.load(Ordering::Relaxed);
        Duration::from_secs_f64(nodes as f64 / self.nodes_per_second as f64)
    }

    fn searched(&self, nodes: u64) {
        self.nodes.store(nodes, Ordering::Relaxed);
    }
}

/// Wakes waiting threads. It counts how often it was raised, so that no change between the check of a
/// condition and the wait is missed.
#[derive(Debug, Default)]
pub struct Signal {
    raised: Mutex<u64>,
    changed: Condvar,
}

impl Signal {
    /// How often the signal has been raised.
    pub fn count(&self) -> u64 {
        *lock(&self.raised)
    }

    /// Wakes all threads that wait.
    pub fn raise(&self) {
        *lock(&self.raised) += 1;
        self.changed.notify_all();
    }

    fn wait(&self, seen: u64, timeout: Option<Duration>) {
        let raised = lock(&self.raised);
        let is_unchanged = |raised: &mut u64| *raised == seen;
        match timeout {
            None => drop(self.changed.wait_while(raised, is_unchanged)),
            Some(timeout) => drop(self.changed.wait_timeout_while(raised, timeout, is_unchanged)),
        }
    }
}
