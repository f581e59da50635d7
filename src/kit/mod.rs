//! Utilities outside chess: random numbers, fingerprints, dates, tables, output files, progress bars,
//! the terminal, the processors.

pub mod date;
pub mod files;
pub mod fingerprint;
pub mod interrupt;
pub mod processors;
pub mod progress;
pub mod random;
pub mod ranges;
pub mod suggest;
pub mod table;
pub mod terminal;
