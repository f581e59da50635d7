//! Searches that run at once and can be stopped together.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::TimeManager;
use crate::kit::sync::lock;

/// Searches that run at once and can be stopped together.
#[derive(Default)]
pub(crate) struct SearchGroup {
    running: Mutex<Vec<Arc<TimeManager>>>,
    is_stopped: AtomicBool,
}

impl SearchGroup {
    /// True once the group was stopped. Later results are ignored.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Ends all searches. Searches that begin later end at once.
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        lock(&self.running).iter().for_each(|time| time.stop());
    }

    /// Calls `search` with the time manager, which [`SearchGroup::stop`] stops.
    pub(crate) fn run<R>(&self, time: TimeManager, search: impl FnOnce(&TimeManager) -> R) -> R {
        let time = Arc::new(time);
        lock(&self.running).push(Arc::clone(&time));
        // After it is listed: a stop in between finds it, or is seen here.
        if self.is_stopped() {
            time.stop();
        }
        let result = search(&time);
        lock(&self.running).retain(|other| !Arc::ptr_eq(other, &time));
        result
    }
}
