//! The shape of a network, and which input a piece on a square is.
//!
//! Each side sees the board from its own end: Black's view is flipped top to bottom, and a view whose
//! own king stands on files a to d is mirrored left to right, so that the own king is always on the
//! right half. The first layer has one set of weights per king bucket, a region of squares of the own
//! king.

use super::EMBEDDED;
pub use super::layout::{
    MAX_BIAS, MAX_OUTPUT_WEIGHT, MAX_WEIGHT, OUTPUTS, PIECE_SQUARES, Shape, UNIT,
};
use crate::board::{Color, PieceSquare, Square};

impl Shape {
    /// The shape this program is compiled for: that of the embedded network.
    pub const BUILT: Shape =
        Shape { hidden: header_field(10) as usize, king_buckets: header_field(12) as usize };
}

const fn header_field(at: usize) -> u16 {
    match EMBEDDED.split_at(at).1.first_chunk() {
        Some(bytes) => u16::from_le_bytes(*bytes),
        None => 0,
    }
}

/// Neurons per side of this build.
pub const HIDDEN: usize = Shape::BUILT.hidden;

/// King buckets of this build.
pub const KING_BUCKETS: usize = Shape::BUILT.king_buckets;

const _: () = assert!(Shape::BUILT.is_supported(), "EVALFILE has an unsupported shape");

/// King bucket by rank, from the own side, and by file from e to h: castled, at home in the centre, second
/// rank, further up.
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

/// An output weight of 1 as an integer (QB).
pub const OUTPUT_UNIT: i32 = 64;

/// The output for this number of pieces, kings included: 2-4, 5-8, and so on to 29-32.
#[inline]
pub const fn output_bucket(pieces: usize) -> usize {
    let bucket = pieces.saturating_sub(1) * OUTPUTS / 32;
    if bucket < OUTPUTS { bucket } else { OUTPUTS - 1 }
}

/// How one side sees the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// The side.
    pub color: Color,
    /// Twice the king bucket, plus 1 if mirrored.
    king: u8,
}

impl View {
    /// Number of views of each side.
    pub const COUNT: usize = 2 * KING_BUCKETS;

    /// The view of `color`, whose king stands on `king`, in this build's network.
    #[inline]
    pub fn of(color: Color, king: Square) -> View {
        View::with_king_buckets(color, king, KING_BUCKETS)
    }

    /// The same in a network of 1 or 4 king buckets.
    #[inline]
    pub fn with_king_buckets(color: Color, king: Square, king_buckets: usize) -> View {
        let rank = color.fold_wb(king, king.flip_vertical()).rank() as usize;
        let file = king.file() as usize;
        let mirrored = file < 4;
        let column = if mirrored { 3 - file } else { file - 4 };
        let bucket = if king_buckets == 1 { 0 } else { KING_BUCKET[rank][column] };
        View { color, king: 2 * bucket + u8::from(mirrored) }
    }

    /// Distinguishes a side's views: below [`View::COUNT`].
    #[inline]
    pub const fn index(self) -> usize {
        self.king as usize
    }

    /// The input that is 1 if this piece is on the board: below [`Shape::inputs`].
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

    fn view(color: Color, king: Square) -> View {
        View::with_king_buckets(color, king, 4)
    }

    #[test]
    fn output_buckets_split_the_piece_counts_evenly() {
        assert_eq!([0, 2, 4, 5, 16, 17, 32, 64].map(output_bucket), [0, 0, 0, 1, 3, 4, 7, 7]);
    }

    #[test]
    fn both_sides_see_mirrored_situations_alike() {
        let own = PieceSquare::new(Color::White, Role::Knight, Square::B1);
        let other = PieceSquare::new(Color::Black, Role::Knight, Square::B8);
        let mirrored = PieceSquare::new(Color::Black, Role::Knight, Square::G8);
        let bucket = PIECE_SQUARES;
        assert_eq!(view(Color::White, Square::E1).input(own), bucket + 64 + 1);
        assert_eq!(view(Color::Black, Square::G8).input(other), 64 + 1);
        assert_eq!(view(Color::Black, Square::D8).input(mirrored), bucket + 64 + 1);
        assert_eq!(view(Color::Black, Square::E8).input(own), bucket + 384 + 64 + 57);
    }

    #[test]
    fn the_king_decides_the_view() {
        let index = |king| view(Color::White, king).index();
        assert_eq!([Square::G1, Square::H1, Square::B1, Square::A1].map(index), [0, 0, 1, 1]);
        assert_eq!([Square::F1, Square::C1, Square::F2, Square::D3].map(index), [2, 3, 4, 7]);
        for square in Square::ALL {
            let black = view(Color::Black, square.flip_vertical());
            assert_eq!(index(square), black.index());
            assert_eq!(index(square) ^ 1, index(square.flip_horizontal()));
            let single = View::with_king_buckets(Color::White, square, 1);
            assert_eq!(single.index(), index(square) % 2, "one king bucket, mirrored");
        }
    }

    #[test]
    fn every_piece_is_an_input_of_its_own_in_every_king_bucket() {
        for (king_buckets, kings) in
            [(4, &[Square::G4, Square::G2, Square::G1, Square::E1][..]), (1, &[Square::G4])]
        {
            for color in Color::ALL {
                let shape = Shape { hidden: 64, king_buckets };
                let mut seen = vec![false; shape.inputs()];
                for &king in kings {
                    let king = color.fold_wb(king, king.flip_vertical());
                    let view = View::with_king_buckets(color, king, king_buckets);
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

    #[test]
    fn shapes_that_no_kernel_has_are_not_supported() {
        let is_supported = |hidden, king_buckets| Shape { hidden, king_buckets }.is_supported();
        assert!([64, 256, 384, 512, 768].iter().all(|&n| is_supported(n, 1) && is_supported(n, 4)));
        for (hidden, king_buckets) in
            [(0, 1), (32, 1), (500, 4), (2_112, 1), (512, 0), (512, 2), (512, 5)]
        {
            assert!(!is_supported(hidden, king_buckets), "{hidden} {king_buckets}");
        }
    }
}
