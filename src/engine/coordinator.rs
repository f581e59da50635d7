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
    time.hold_answer();
    let outcome = search.conclude();
    let fault = search.panic().map(|message| SearchFault::Panic { message });
    Answer { outcome, elapsed: time.elapsed(), fault }
}
