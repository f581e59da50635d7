//! Lists of moves that are picked in the order of their values.

use crate::board::movegen::{Kind, MAX_MOVES, MoveList, generate};
use crate::board::{PackedMove, Position, Role};

/// Moves with values, picked best first by selection sort: most nodes are cut after a few moves.
pub(crate) struct Scored {
    moves: MoveList,
    /// From the highest bit: value (32 bits), place in the order of generation, reversed (16), move (16). The
    /// greatest key is the best move; among equal values, the one generated first.
    keys: [i64; MAX_MOVES],
    next: usize,
}

impl Default for Scored {
    fn default() -> Scored {
        Scored::new()
    }
}

impl Scored {
    /// No moves.
    pub(crate) const fn new() -> Scored {
        Scored { moves: MoveList::new(), keys: [0; MAX_MOVES], next: 0 }
    }

    /// Generates the moves of one kind with their values.
    #[inline]
    pub(crate) fn fill(
        &mut self,
        position: &Position,
        kind: Kind,
        value: impl Fn(PackedMove) -> i32,
    ) {
        self.moves.clear();
        self.next = 0;
        generate(position, kind, &mut self.moves);
        for (i, (key, &m)) in self.keys.iter_mut().zip(self.moves.iter()).enumerate() {
            let place = (MAX_MOVES - i) as i64;
            *key = i64::from(value(m)) << 32 | place << 16 | i64::from(m.raw());
        }
    }

    /// Picks the best of the remaining moves; among equal values, the one generated first.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<(PackedMove, i32)> {
        let rest = &mut self.keys[self.next..self.moves.len()];
        let mut best = *rest.first()?;
        let mut at = 0;
        for (i, &key) in rest.iter().enumerate().skip(1) {
            if key > best {
                (best, at) = (key, i);
            }
        }
        rest.swap(0, at);
        self.next += 1;
        Some((PackedMove::from_raw(best as u16), (best >> 32) as i32))
    }
}

/// Most valuable victim first, then least valuable attacker (MVV/LVA). A promotion counts as a capture of a
/// queen.
#[inline]
pub(crate) fn mvv_lva(position: &Position, m: PackedMove) -> i32 {
    let victim = position.captured(m).map_or(0, |role| role as i32);
    let gain = if m.promoted_to() == Some(Role::Queen) { Role::Queen as i32 } else { 0 };
    (victim + gain) * 8 - position.moved_role(m) as i32
}
