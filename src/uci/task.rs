//! Long work other than searches, such as `bench` and `perft`, on a thread of its own.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, unbounded};

use crate::search::thread::STACK_BYTES;

/// Long work.
pub(crate) trait Job: Send + Sync {
    /// The name, for messages.
    fn name(&self) -> &'static str;

    /// Works until done or stopped. `say` takes lines of output.
    ///
    /// # Errors
    /// If the work fails.
    fn run(&self, say: &dyn Fn(String)) -> Result<(), String>;

    /// Makes `run` return soon. Called from another thread.
    fn stop(&self);
}

/// A running [`Job`]. Dropping it stops it.
pub(crate) struct Task {
    job: Arc<dyn Job>,
    /// The output. Closed at the end.
    said: Receiver<String>,
    thread: Option<JoinHandle<Result<(), String>>>,
}

impl Task {
    /// Starts a job.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub(crate) fn start(job: impl Job + 'static) -> io::Result<Task> {
        let (sender, said) = unbounded();
        let job: Arc<dyn Job> = Arc::new(job);
        let worker = Arc::clone(&job);
        let say = move |line| {
            // The receiver may be gone.
            let _ = sender.send(line);
        };
        let thread = thread::Builder::new()
            .name(job.name().into())
            .stack_size(STACK_BYTES)
            .spawn(move || worker.run(&say))?;
        Ok(Task { job, said, thread: Some(thread) })
    }

    /// The output. The channel is closed when the task has ended.
    pub(crate) fn said(&self) -> &Receiver<String> {
        &self.said
    }

    /// Asks the task to stop. Its output ends with the channel.
    pub(crate) fn stop(&self) {
        self.job.stop();
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// If the work failed.
    pub(crate) fn join(mut self) -> Result<(), String> {
        let name = self.job.name();
        let ended = self.thread.take().map_or(Ok(Ok(())), JoinHandle::join);
        ended.unwrap_or_else(|_| Err("it panicked".to_owned())).map_err(|e| format!("{name}: {e}"))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // The result is not needed.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    struct Forever(AtomicBool);

    impl Job for Forever {
        fn name(&self) -> &'static str {
            "forever"
        }

        fn run(&self, say: &dyn Fn(String)) -> Result<(), String> {
            say("begun".to_owned());
            while !self.0.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            Err("stopped".to_owned())
        }

        fn stop(&self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    struct Broken;

    impl Job for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }

        fn run(&self, _: &dyn Fn(String)) -> Result<(), String> {
            panic!("on purpose");
        }

        fn stop(&self) {}
    }

    #[test]
    fn a_task_ends_when_stopped_or_dropped() {
        let task = Task::start(Forever(AtomicBool::default())).unwrap();
        assert_eq!(task.said().recv().unwrap(), "begun");
        task.stop();
        assert!(task.said().recv().is_err(), "the channel is closed");
        assert_eq!(task.join(), Err("forever: stopped".to_owned()));
        drop(Task::start(Forever(AtomicBool::default())).unwrap());
    }

    #[test]
    fn a_panic_is_a_failure_and_no_more() {
        let task = Task::start(Broken).unwrap();
        assert!(task.said().recv().is_err());
        assert_eq!(task.join(), Err("broken: it panicked".to_owned()));
    }
}
