//! A signature of how an engine searches, so that results of one are not taken for another's.

use crate::board::Position;
use crate::fingerprint;
use crate::score::Score;
use crate::search::Outcome;
use crate::time::Limits;

const POSITIONS: [&str; 3] = [
    "r1bq1rk1/pp2bppp/2n2n2/2pp4/8/1P1P1NP1/PB2PPBP/RN1Q1RK1 w - - 0 9",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1",
];

/// Deep enough for what differs only in deep searches (the pawn ending's is), in a fraction of a
/// second.
const NODES: u64 = 40_000;
const DEPTH: i32 = 20;

/// A fingerprint of the nodes, moves and scores of a few searches, each by a `search` that knows nothing
/// yet: 53 bits, as JSON readers keep.
pub fn of(mut search: impl FnMut(&Position, Limits) -> Outcome) -> u64 {
    let limits = Limits { depth: Some(DEPTH), ..Limits::to_nodes(NODES) };
    let mut found = Vec::new();
    for position in POSITIONS.iter().filter_map(|fen| Position::from_fen(fen).ok()) {
        let outcome = search(&position, limits.clone());
        let score = outcome.score().map_or(0, Score::raw);
        found.extend(outcome.iterations.iter().map(|iteration| iteration.stats.nodes));
        found.extend([outcome.stats.nodes, outcome.best().raw().into(), score as u64]);
    }
    let bytes: Vec<u8> = found.into_iter().flat_map(u64::to_le_bytes).collect();
    fingerprint::of_bytes(&bytes) >> 11
}
