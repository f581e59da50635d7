//! The shape of the network: how many of what, and which input a piece is.
//!
//! Each side sees the board as if it moved up it and its king stood on the right: Black's view is
//! turned top to bottom, and a view whose own king is on files a to d is mirrored left to right.
//! So the network learns every pattern once.

use crate::board::{Color, File, PieceSquare, Square};

/// One input for each kind of piece, own or the other side's, on each square.
pub const INPUTS: usize = 768;

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
pub const BUCKETS: usize = 4;

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
    /// Whether left and right are exchanged.
    pub mirrored: bool,
}

impl View {
    /// The view of the side whose king stands here.
    #[inline]
    pub fn of(color: Color, king: Square) -> View {
        View { color, mirrored: is_mirrored(king) }
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
        if self.mirrored { seen ^ 7 } else { seen }
    }
}

/// Does the side whose king stands here see the board mirrored?
#[inline]
pub fn is_mirrored(king: Square) -> bool {
    king.file() < File::E
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Role;

    #[test]
    fn buckets_part_the_piece_counts_evenly() {
        assert_eq!([0, 2, 8, 9, 16, 17, 32, 64].map(bucket), [0, 0, 0, 1, 1, 2, 3, 3]);
    }

    #[test]
    fn both_sides_see_the_same_in_the_same_situation() {
        let own = PieceSquare::new(Color::White, Role::Knight, Square::B1);
        let other = PieceSquare::new(Color::Black, Role::Knight, Square::B8);
        let mirrored = PieceSquare::new(Color::Black, Role::Knight, Square::G8);
        let white = View::of(Color::White, Square::E1);
        assert_eq!(white.input(own), 64 + 1);
        assert_eq!(View::of(Color::Black, Square::G8).input(other), 64 + 1);
        assert_eq!(View::of(Color::Black, Square::D8).input(mirrored), 64 + 1);
        assert_eq!(View::of(Color::Black, Square::E8).input(own), 384 + 64 + 57);
        assert!(!is_mirrored(Square::E4) && is_mirrored(Square::D4));
    }

    #[test]
    fn every_piece_is_an_input_of_its_own() {
        for view in [(Color::White, Square::A1), (Color::Black, Square::A1)] {
            let view = View::of(view.0, view.1);
            let mut seen = [false; INPUTS];
            for color in Color::ALL {
                for role in Role::ALL {
                    for square in Square::ALL {
                        let input = view.input(PieceSquare::new(color, role, square));
                        assert!(!std::mem::replace(&mut seen[input], true));
                    }
                }
            }
        }
    }
}
