//! The prior of the classical evaluation: piece-square values written by hand from general chess knowledge.
//! Tuning starts from them and is pulled towards them.
//!
//! Each kind of piece has a `Profile` of a few numbers: its material, and what it gains by standing in the
//! centre, by advancing, and so on.

use crate::eval::classical::{Halves, TaperedValue, pair};

/// Squares of the left half of the board, rank by rank from White's first rank.
pub(crate) const SQUARES: usize = 32;

/// Folds a square onto the left half.
pub(crate) fn half_square(square: usize) -> usize {
    square / 8 * 4 + steps_from_edge(square % 8)
}

/// The values of each kind of piece, from pawn to king, on the squares of the left half.
pub(crate) fn tables() -> Halves {
    std::array::from_fn(|role| {
        std::array::from_fn(|square| PROFILES[role].value(square % 4, square / 4))
    })
}

/// The prior of a kind of piece, in centipawns.
struct Profile {
    /// The material value.
    material: TaperedValue,
    /// Per step from the edge, of both coordinates: 6 steps on the four central squares.
    centre: TaperedValue,
    /// Per rank above the own first rank.
    advance: TaperedValue,
    /// Per square of that number.
    advance_squared: TaperedValue,
    /// On the seventh rank.
    seventh: TaperedValue,
    /// On the first rank.
    home: TaperedValue,
}

/// By role from pawn to king.
const PROFILES: [Profile; 6] = [
    Profile {
        material: pair(72, 88),
        centre: pair(4, 0),
        advance: pair(1, 2),
        advance_squared: pair(1, 3),
        seventh: pair(20, 20),
        home: pair(0, 0),
    },
    Profile {
        material: pair(305, 280),
        centre: pair(9, 7),
        advance: pair(4, 3),
        advance_squared: pair(0, 0),
        seventh: pair(-10, -8),
        home: pair(-6, -4),
    },
    Profile {
        material: pair(325, 300),
        centre: pair(5, 4),
        advance: pair(2, 2),
        advance_squared: pair(0, 0),
        seventh: pair(-8, -4),
        home: pair(-10, -3),
    },
    Profile {
        material: pair(465, 510),
        centre: pair(3, 0),
        advance: pair(0, 2),
        advance_squared: pair(0, 0),
        seventh: pair(20, 14),
        home: pair(4, 0),
    },
    Profile {
        material: pair(960, 940),
        centre: pair(2, 7),
        advance: pair(0, 4),
        advance_squared: pair(0, 0),
        seventh: pair(5, 5),
        home: pair(0, 0),
    },
    Profile {
        material: pair(0, 0),
        centre: pair(-10, 11),
        advance: pair(-14, 3),
        advance_squared: pair(0, 0),
        seventh: pair(0, 0),
        home: pair(18, -8),
    },
];

impl Profile {
    /// The value on file 0 to 3 and rank 0 to 7.
    fn value(&self, file: usize, rank: usize) -> TaperedValue {
        let terms = [
            (self.material, 1),
            (self.centre, steps_from_edge(file) + steps_from_edge(rank)),
            (self.advance, rank),
            (self.advance_squared, rank * rank),
            (self.seventh, usize::from(rank == 6)),
            (self.home, usize::from(rank == 0)),
        ];
        let sum = |part: fn(&TaperedValue) -> i32| {
            terms.iter().map(|(weight, times)| part(weight) * *times as i32).sum()
        };
        pair(sum(|weight| weight.middle), sum(|weight| weight.end))
    }
}

/// 0 on the edge, 3 in the centre.
fn steps_from_edge(coordinate: usize) -> usize {
    coordinate.min(7 - coordinate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_board_is_folded_left_to_right() {
        assert_eq!([0, 3, 4, 7, 8, 63].map(half_square), [0, 3, 3, 0, 4, 28]);
    }

    #[test]
    fn the_prior_follows_common_knowledge() {
        let [pawn, knight, _, rook, _, king] = tables();
        let (a1, d1, d4, a7, d7) = (0, 3, 15, 24, 27);
        assert!(knight[d4].middle > knight[a1].middle + 30);
        assert!(king[a1].middle > king[d4].middle && king[a1].end < king[d4].end);
        assert!(rook[d7].middle > rook[d4].middle && pawn[a7].end > pawn[d4].end + 50);
        assert_eq!(rook[d1].middle, 465 + 3 * 3 + 4);
    }
}
