//! The order of moves: the sooner the best one comes, the smaller the tree.

use crate::board::movegen::{Kind, MAX_MOVES, MoveList, generate};
use crate::board::{PackedMove, Position, Role};

/// Moves with values, taken best first. Sorting as far as needed: most nodes are left early.
pub struct Scored {
    moves: MoveList,
    values: [i32; MAX_MOVES],
    next: usize,
}

impl Default for Scored {
    fn default() -> Scored {
        Scored::new()
    }
}

impl Scored {
    /// No moves.
    #[inline]
    pub const fn new() -> Scored {
        Scored { moves: MoveList::new(), values: [0; MAX_MOVES], next: 0 }
    }

    /// Generates the moves of one kind and values them.
    #[inline]
    pub fn fill(&mut self, position: &Position, kind: Kind, value: impl Fn(PackedMove) -> i32) {
        self.moves.clear();
        self.next = 0;
        generate(position, kind, &mut self.moves);
        for (slot, &m) in self.values.iter_mut().zip(self.moves.iter()) {
            *slot = value(m);
        }
    }

    /// The best move not yet taken, the earliest generated among equals, and its value.
    #[inline]
    pub fn take(&mut self) -> Option<(PackedMove, i32)> {
        let first = self.next;
        let rest = &self.values[first..self.moves.len()];
        let (mut best, mut value) = (first, *rest.first()?);
        for (i, &candidate) in rest.iter().enumerate().skip(1) {
            if candidate > value {
                (best, value) = (first + i, candidate);
            }
        }
        let m = self.moves[best];
        // Moved up by one, not swapped, so that equals keep their order.
        self.moves.copy_within(first..best, first + 1);
        self.values.copy_within(first..best, first + 1);
        self.next += 1;
        Some((m, value))
    }
}

/// Most valuable victim first, then least valuable attacker; a promotion counts the queen gained.
#[inline]
pub fn mvv_lva(position: &Position, m: PackedMove) -> i32 {
    let victim = position.captured(m).map_or(0, |role| role as i32);
    let gain = if m.promoted_to() == Some(Role::Queen) { Role::Queen as i32 } else { 0 };
    (victim + gain) * 8 - position.moved_role(m) as i32
}
