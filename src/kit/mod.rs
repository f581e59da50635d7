//! What is not chess: random numbers and fingerprints.

pub mod fingerprint;
pub mod random;
