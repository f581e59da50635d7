//! The order of moves: the sooner the best one comes, the smaller the tree.

use crate::board::movegen::{Kind, MAX_MOVES, MoveList, generate};
use crate::board::{PackedMove, Position, Role};

/// Moves with values, taken best first. Sorting as far as needed: most nodes are left early.
pub struct Scored {
    moves: MoveList,
    /// From the highest bit: value 32, place in the order of generation (reversed) 16, move 16. No
    /// two are equal, so the largest is the best move, the earliest generated among equals.
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
    pub const fn new() -> Scored {
        Scored { moves: MoveList::new(), keys: [0; MAX_MOVES], next: 0 }
    }

    /// Generates the moves of one kind and values them.
    #[inline]
    pub fn fill(&mut self, position: &Position, kind: Kind, value: impl Fn(PackedMove) -> i32) {
        self.moves.clear();
        self.next = 0;
        generate(position, kind, &mut self.moves);
        for (i, (key, &m)) in self.keys.iter_mut().zip(self.moves.iter()).enumerate() {
            let place = (MAX_MOVES - i) as i64;
            *key = i64::from(value(m)) << 32 | place << 16 | i64::from(m.raw());
        }
    }

    /// The best move not yet taken, the earliest generated among equals, and its value.
    #[inline]
    pub fn take(&mut self) -> Option<(PackedMove, i32)> {
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

/// Most valuable victim first, then least valuable attacker; a promotion counts the queen gained.
#[inline]
pub fn mvv_lva(position: &Position, m: PackedMove) -> i32 {
    let victim = position.captured(m).map_or(0, |role| role as i32);
    let gain = if m.promoted_to() == Some(Role::Queen) { Role::Queen as i32 } else { 0 };
    (victim + gain) * 8 - position.moved_role(m) as i32
}
