//! The thread that ends searches. It does not search: it waits for the first search thread, for the
//! hard limit and for `stop`, and then answers. So limits hold even if search threads are blocked or not
//! scheduled.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::{Answer, Event, SearchFault, send};
use crate::search::pool::Search;

/// How long to wait for the first search thread after the end of the search. Its result includes the
/// unfinished iteration.
const LAST_WORD: Duration = Duration::from_millis(8);
/// The same while no thread has completed an iteration.
const FIRST_ITERATION: Duration = Duration::from_millis(50);
/// Time that the vote waits for the other threads. Later threads vote with their last completed iteration.
const VOTE: Duration = Duration::from_millis(2);

/// A handle on the thread.
pub(super) struct Coordinator {
    searches: Sender<(Arc<Search>, Answered)>,
}

/// Closed when a search is answered.
type Answered = Sender<()>;

impl Coordinator {
    /// Starts the thread. It ends with the handle.
    pub(super) fn start(events: Sender<Event>) -> io::Result<Coordinator> {
        let (searches, received) = unbounded::<(Arc<Search>, Answered)>();
        thread::Builder::new().name("coordinator".into()).spawn(move || {
            for (search, answered) in received {
                send(&events, Event::Done(answer(&search)));
                // In this order: the caller may need the table's memory after the answer.
                drop(search);
                drop(answered);
            }
        })?;
        Ok(Coordinator { searches })
    }

    /// Answers a search when it ends. The channel returned is closed then.
    pub(super) fn answer(&self, search: &Arc<Search>) -> Receiver<()> {
        let (sender, answered) = bounded(0);
        // Sending cannot fail: the thread lives as long as this handle.
        let _ = self.searches.send((Arc::clone(search), sender));
        answered
    }
}

fn answer(search: &Search) -> Answer {
    let time = search.time();
    time.await_end(|| search.is_first_done());
    let timeout = if search.has_result() { LAST_WORD } else { FIRST_ITERATION };
    time.await_for(timeout, || search.is_first_done());
    time.end_search();
    time.await_for(VOTE, || search.is_all_done());
    // Before the answer is held back: that is not time of the search.
    let elapsed = time.elapsed();
    time.hold_answer();
    let outcome = search.conclude();
    let fault = search.panic().map(|message| SearchFault::Panic { message });
    Answer { outcome, elapsed, fault }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::board::Position;
    use crate::search::pool::Pool;
    use crate::search::table::Table;
    use crate::search::{SearchJob, SearcherKind};
    use crate::time::{Clock, Limits, Signal, SystemClock, TimeManager};

    /// A clock that shows how many waits without a deadline it has seen, in seconds.
    #[derive(Default)]
    struct WaitClock(AtomicU64);

    impl Clock for WaitClock {
        fn now(&self) -> Duration {
            Duration::from_secs(self.0.load(Ordering::SeqCst))
        }

        fn wait(&self, signal: &Signal, seen: u64, deadline: Option<Duration>) {
            if deadline.is_none() {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
            let soon = SystemClock::new();
            soon.wait(signal, seen, Some(Duration::from_millis(1)));
        }
    }

    #[test]
    fn the_time_of_a_search_ends_before_its_answer_is_held_back() {
        let clock = Arc::new(WaitClock::default());
        let limits = Limits { infinite: true, ..Limits::to_depth(3) };
        let root = Position::startpos();
        let turn = root.turn();
        let time = Arc::new(TimeManager::new(clock.clone(), limits, turn, Duration::ZERO));
        let job = SearchJob::new(root, SearcherKind::Playing);
        let table = Arc::new(Table::new(1).unwrap());
        let search = Search::new(job, table, Arc::clone(&time), 1, Box::new(|_| ()));
        let search = Arc::new(search);
        let mut pool = Pool::default();
        pool.set_threads(1).unwrap();
        pool.start(&search);
        pool.wait_until_idle();
        let answer = thread::scope(|scope| {
            let answer = scope.spawn(|| answer(&search));
            while clock.now() < Duration::from_secs(10) {
                thread::sleep(Duration::from_millis(1));
            }
            time.stop();
            answer.join().unwrap()
        });
        assert_eq!((answer.outcome.depth, answer.elapsed), (3, Duration::ZERO));
    }
}
