//! Perft: counts the leaves of the move tree, the standard test of a move generator.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{PackedMove, Position};

/// Counts the move sequences of `depth` plies.
///
/// ```
/// use tacet::board::{Position, perft::perft};
/// assert_eq!(perft(&Position::startpos(), 4), 197_281);
/// ```
pub fn perft(position: &Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        // Bulk counting: the last ply is not played.
        1 => position.legal_moves().len() as u64,
        _ => position.legal_moves().iter().map(|&m| perft(&position.play(m).0, depth - 1)).sum(),
    }
}

/// [`perft`] that returns `None` soon after `stop` is set.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use tacet::board::{Position, perft::perft_until};
/// let start = Position::startpos();
/// assert_eq!(perft_until(&start, 4, &AtomicBool::new(false)), Some(197_281));
/// assert_eq!(perft_until(&start, 60, &AtomicBool::new(true)), None);
/// ```
pub fn perft_until(position: &Position, depth: u32, stop: &AtomicBool) -> Option<u64> {
    // Frequent enough: below are at most some ten thousand moves.
    if depth <= 2 {
        return Some(perft(position, depth));
    }
    if stop.load(Relaxed) {
        return None;
    }
    let below = |&m: &PackedMove| perft_until(&position.play(m).0, depth - 1, stop);
    position.legal_moves().iter().map(below).sum()
}

/// [`perft_until`] for each move of the root in turn. `depth` is at least 1.
pub fn divide(
    position: &Position,
    depth: u32,
    stop: &AtomicBool,
) -> impl Iterator<Item = (PackedMove, Option<u64>)> {
    let count = move |m| perft_until(&position.play(m).0, depth.saturating_sub(1), stop);
    let moves = position.legal_moves();
    (0..moves.len()).map(move |i| (moves[i], count(moves[i])))
}
