//! What is not chess: random numbers, fingerprints, progress bars, the terminal.

pub mod fingerprint;
pub mod interrupt;
pub mod progress;
pub mod random;
pub mod ranges;
pub mod suggest;
pub mod terminal;
