//! Long work that is no search of the engine's, as `bench` and `perft`: done on a thread of its own,
//! so that commands are read meanwhile.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, unbounded};

use crate::search::pool::STACK_BYTES;

/// Something that takes its time.
pub trait Job: Send + Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Works until it is done or stopped; `say` takes lines for the user.
    ///
    /// # Errors
    /// Why it could not be done.
    fn run(&self, say: &dyn Fn(String)) -> Result<(), String>;

    /// Makes `run` return soon. Called on another thread.
    fn stop(&self);
}

/// A [`Job`] that goes on. Dropping it stops it.
pub struct Task {
    job: Arc<dyn Job>,
    /// What it says; closed when it is over.
    said: Receiver<String>,
    thread: Option<JoinHandle<Result<(), String>>>,
}

impl Task {
    /// Begins.
    ///
    /// # Errors
    /// If there can be no thread.
    pub fn start(job: impl Job + 'static) -> io::Result<Task> {
        let (sender, said) = unbounded();
        let job: Arc<dyn Job> = Arc::new(job);
        let worker = Arc::clone(&job);
        let say = move |line| {
            // Nobody listens any more: nothing to do about it.
            let _ = sender.send(line);
        };
        let thread = thread::Builder::new()
            .name(job.name().into())
            .stack_size(STACK_BYTES)
            .spawn(move || worker.run(&say))?;
        Ok(Task { job, said, thread: Some(thread) })
    }

    /// What it says. The channel is closed when the task is over.
    pub fn said(&self) -> &Receiver<String> {
        &self.said
    }

    /// Asks it to end; what it says is to be read until the channel is closed.
    pub fn stop(&self) {
        self.job.stop();
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// Why it failed.
    pub fn join(mut self) -> Result<(), String> {
        let name = self.job.name();
        let ended = self.thread.take().map_or(Ok(Ok(())), JoinHandle::join);
        ended.unwrap_or_else(|_| Err("it panicked".to_owned())).map_err(|e| format!("{name}: {e}"))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // An end that nobody waits for has nobody to be told of its failure.
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
