//! Configurable null-move schemes.
//!
//! A null move passes the turn. If the opponent moves twice in a row and a reduced search still does not
//! bring the score below beta, some real move very likely holds beta too. The schemes of the literature
//! differ in what they conclude from that. Each is an entry of [`SCHEMES`], a combination of a few
//! independent parts; a new scheme is a new entry.
//!
//! - `schemes.rs`: the schemes and their parts;
//! - `rules.rs`: the decisions, pure functions of plain values;
//! - `apply.rs`: the search, written once and generic over the trait [`NullMoveSearch`] that both searchers
//!   implement;
//! - `parse.rs`: schemes with changes, such as `verified-r3+r=4`.
//!
//! R is counted as in the papers: the null move is searched to `depth - 1 - R`. Engine sources often
//! search to `depth - R`, so R = 4 in engine code is R = 3 here.

mod apply;
pub mod parse;
mod rules;
mod schemes;

pub use apply::{NullMoveSearch, Verdict, apply};
pub use rules::{NodeFacts, Path, piece_counts};
pub use schemes::{
    Ban, DEEP, FailHigh, Gate, Guard, RECHECK, Reduction, SCHEMES, Scheme, Verify, When,
};

#[cfg(test)]
mod tests;
