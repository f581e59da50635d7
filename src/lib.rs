//! Tacet: a UCI chess engine, and a laboratory for the null move.
//!
//! # The map
//!
//! The crate is a house of floors; lower floors never name higher ones.
//!
//! | floor | module | what it is for |
//! |---|---|---|
//! | 0 | [`board`] | the rules: positions, moves, notation, keys |
//! | 0 | [`score`] | centipawns and mate distances |
//! | 0 | [`kit`] | what is not chess: random numbers, fingerprints |
//! | 1 | [`eval`] | what a position is worth without searching |
//! | 1 | [`time`] | when to stop |
//! | 2 | [`search`] | the searchers, the table, and the pluggable [null move](search::null_move) |
//! | 3 | `games` | a game between two sides: openings, adjudication, record |
//! | 3 | [`engine`] | position, options, table and a running search; no text, no I/O |
//! | 4 | [`uci`] | the protocol; all its text |
//! | 4 | [`lab`] | experiments with suites of positions |
//! | 4 | `train` | training data and tuning of the evaluation (feature `train`) |
//! | 5 | [`cli`] | the command line |
//!
//! shakmaty is named only in [`board`]. Text for the user is printed only on floors 4 and 5.

#![warn(clippy::expect_used, clippy::unwrap_used)]

pub mod board;
pub mod cli;
pub mod engine;
pub mod eval;
mod games;
pub mod kit;
pub mod lab;
pub mod score;
pub mod search;
pub mod time;
#[cfg(feature = "train")]
pub mod train;
pub mod uci;
