//! Counting the leaves of the move tree, the test of every move generator.

use super::{PackedMove, Position};

/// The number of move sequences of `depth` plies.
///
/// ```
/// use tacet::board::{Position, perft::perft};
/// assert_eq!(perft(&Position::startpos(), 4), 197_281);
/// ```
pub fn perft(position: &Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        // The list's length is the count: the last ply need not be played.
        1 => position.legal_moves().len() as u64,
        _ => position.legal_moves().iter().map(|&m| perft(&position.play(m).0, depth - 1)).sum(),
    }
}

/// [`perft`] for each move of the root; `depth` is at least 1.
pub fn divide(position: &Position, depth: u32) -> Vec<(PackedMove, u64)> {
    let below = |&m: &PackedMove| (m, perft(&position.play(m).0, depth.saturating_sub(1)));
    position.legal_moves().iter().map(below).collect()
}
