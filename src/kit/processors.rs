//! The processors of the machine.

use std::sync::OnceLock;
use std::thread;

/// The number of processors that this process may use, at least one. The limit of a container and the
/// affinity of the process count. They are read once, since that takes several system calls and every
/// `go` asks.
pub(crate) fn count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// The number of threads that can run at the same time. `None` if unknown: on Windows
/// [`count`] sees a group of at most 64 processors.
pub(crate) fn concurrency() -> Option<usize> {
    (!cfg!(windows)).then(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_processor() {
        assert!(count() >= 1);
        assert!(concurrency().is_none_or(|threads| threads == count()));
    }
}
