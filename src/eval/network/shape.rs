//! The shape of the network: how many of what, and which input a piece is.
//!
//! Each side sees the board as if it moved up it and its king stood on the right: Black's view is
//! turned top to bottom, and a view whose own king is on files a to d is mirrored left to right.
//! So the network learns every pattern once; and as it matters where the own king is, there is a
//! set of weights for each of a few regions ("king buckets").

use crate::board::{Color, PieceSquare, Square};

/// A piece on a square: own or the other side's, six kinds, 64 squares.
pub const PIECE_SQUARES: usize = 768;

/// Regions in which the own king may be, each with weights of its own.
pub const KING_BUCKETS: usize = 4;

/// One input for each piece on each square, in each king bucket.
pub const INPUTS: usize = KING_BUCKETS * PIECE_SQUARES;

/// The king bucket by rank, seen from the own side, and by file from e on: castled, at home in the
/// middle, before the home rank, on the way.
const KING_BUCKET: [[u8; 4]; 8] = [
    [1, 1, 0, 0],
    [2, 2, 2, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
];

/// Neurons a side: as many as the network has that is part of the program.
pub const HIDDEN: usize = match super::EMBEDDED.split_at(super::NEURONS).1.first_chunk() {
    Some(bytes) => u16::from_le_bytes(*bytes) as usize,
    None => 0,
};
const _: () = assert!(are_whole(HIDDEN), "whole vectors of neurons");

/// May a network have so many neurons? They fill the widest vectors.
pub const fn are_whole(neurons: usize) -> bool {
    neurons > 0 && neurons.is_multiple_of(32)
}

/// Outputs; one is chosen by how many pieces are left.
pub const BUCKETS: usize = 8;

/// A neuron's value of 1 as an integer.
pub const UNIT: i32 = 255;

/// An output weight of 1 as an integer.
pub const OUTPUT_UNIT: i32 = 64;

/// No first weight is further from 0: 32 of them and a bias fit into 16 bits.
pub const MOST_WEIGHT: i16 = 2 * UNIT as i16;

/// No bias of a neuron is further from 0.
pub const MOST_BIAS: i16 = 16_383;

/// No output weight is further from 0: multiplied by a neuron's value it fits into 16 bits.
pub const MOST_OUTPUT_WEIGHT: i16 = 127;

/// The output for so many pieces on the board, kings included.
#[inline]
pub const fn bucket(pieces: usize) -> usize {
    let bucket = pieces.saturating_sub(1) * BUCKETS / 32;
    if bucket < BUCKETS { bucket } else { BUCKETS - 1 }
}

/// How one side sees the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// The side.
    pub color: Color,
    /// Twice the king bucket, and one more if left and right are exchanged.
    king: u8,
}

impl View {
    /// So many views has each side.
    pub const COUNT: usize = 2 * KING_BUCKETS;

    /// The view of the side whose king stands here.
    #[inline]
    pub fn of(color: Color, king: Square) -> View {
        let rank = color.fold_wb(king, king.flip_vertical()).rank() as usize;
        let file = king.file() as usize;
        let mirrored = file < 4;
        let bucket = KING_BUCKET[rank][if mirrored { 3 - file } else { file - 4 }];
        View { color, king: 2 * bucket + u8::from(mirrored) }
    }

    /// Tells a side's views apart: below [`View::COUNT`].
    #[inline]
    pub const fn index(self) -> usize {
        self.king as usize
    }

    /// The input that is on if this piece is on the board: below [`INPUTS`].
    #[inline]
    pub const fn input(self, piece: PieceSquare) -> usize {
        let index = piece.index();
        let seen = match self.color {
            Color::White => index,
            Color::Black if index < 384 => (index + 384) ^ 56,
            Color::Black => (index - 384) ^ 56,
        };
        let (bucket, mirrored) = (self.index() / 2, self.index() % 2);
        bucket * PIECE_SQUARES + (seen ^ (7 * mirrored))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Role;

    #[test]
    fn buckets_part_the_piece_counts_evenly() {
        assert_eq!([0, 2, 4, 5, 16, 17, 32, 64].map(bucket), [0, 0, 0, 1, 3, 4, 7, 7]);
    }

    #[test]
    fn both_sides_see_the_same_in_the_same_situation() {
        let own = PieceSquare::new(Color::White, Role::Knight, Square::B1);
        let other = PieceSquare::new(Color::Black, Role::Knight, Square::B8);
        let mirrored = PieceSquare::new(Color::Black, Role::Knight, Square::G8);
        let bucket = PIECE_SQUARES;
        assert_eq!(View::of(Color::White, Square::E1).input(own), bucket + 64 + 1);
        assert_eq!(View::of(Color::Black, Square::G8).input(other), 64 + 1);
        assert_eq!(View::of(Color::Black, Square::D8).input(mirrored), bucket + 64 + 1);
        assert_eq!(View::of(Color::Black, Square::E8).input(own), bucket + 384 + 64 + 57);
    }

    #[test]
    fn the_king_decides_the_view() {
        let view = |king| View::of(Color::White, king).index();
        assert_eq!([Square::G1, Square::H1, Square::B1, Square::A1].map(view), [0, 0, 1, 1]);
        assert_eq!([Square::F1, Square::C1, Square::F2, Square::D3].map(view), [2, 3, 4, 7]);
        for square in Square::ALL {
            let black = View::of(Color::Black, square.flip_vertical());
            assert_eq!(view(square), black.index());
            assert_eq!(view(square) ^ 1, view(square.flip_horizontal()));
        }
    }

    #[test]
    fn every_piece_is_an_input_of_its_own_in_every_king_bucket() {
        for color in Color::ALL {
            let mut seen = [false; INPUTS];
            for king in [Square::G4, Square::G2, Square::G1, Square::E1] {
                let view = View::of(color, color.fold_wb(king, king.flip_vertical()));
                for color in Color::ALL {
                    for role in Role::ALL {
                        for square in Square::ALL {
                            let input = view.input(PieceSquare::new(color, role, square));
                            assert!(!std::mem::replace(&mut seen[input], true));
                        }
                    }
                }
            }
            assert!(seen.iter().all(|&seen| seen));
        }
    }
}
