//! A position of the corpus in 32 bytes, seen from the side to move.

use crate::board::pgn::GameResult;
use crate::board::{Color, PieceSquare, Position, Role, Square};
use crate::eval::network::shape::{View, output_bucket};
use crate::score::Score;

/// A position, its score and its game's result, all from the side to move: its pieces are White's, and
/// the board is flipped if it is Black.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sample {
    occupied: u64,
    /// A nibble per piece in the order of the squares, low nibble first: role 0 to 5, plus 8 for the other side.
    pieces: [u8; 16],
    /// The searched score in centipawns.
    pub score: i16,
    /// Half points, or [`NO_RESULT`].
    half_points: u8,
    /// Squares of the own and the other king.
    kings: [u8; 2],
}

const NO_RESULT: u8 = 3;

const _: () = assert!(size_of::<Sample>() == 32);

impl Sample {
    /// Packs a position. The score and the result are White's.
    pub(crate) fn new(position: &Position, score: Score, result: Option<GameResult>) -> Sample {
        let us = position.turn();
        let flip = if us.is_white() { 0 } else { 56 };
        let mut board = [0_u8; 64];
        let mut occupied = 0_u64;
        for piece in position.piece_squares() {
            let square = piece.square() as usize ^ flip;
            let side = if piece.color() == us { 0 } else { 8 };
            board[square] = piece.role() as u8 - 1 + side;
            occupied |= 1 << square;
        }
        let mut pieces = [0; 16];
        for (index, square) in bits(occupied).take(32).enumerate() {
            pieces[index / 2] |= board[square] << (4 * (index % 2));
        }
        let king = |color: Color| position.king(color) as u8 ^ flip as u8;
        let points = |result: GameResult| {
            let whites = result.half_points() as u8;
            if us.is_white() { whites } else { 2 - whites }
        };
        Sample {
            occupied,
            pieces,
            score: if us.is_white() { score.raw() } else { (-score).raw() },
            half_points: result.map_or(NO_RESULT, points),
            kings: [king(us), king(!us)],
        }
    }

    /// Points of the side to move: 0, 0.5 or 1; `None` for a score without a result.
    pub(crate) fn result(self) -> Option<f64> {
        (self.half_points != NO_RESULT).then(|| f64::from(self.half_points) / 2.0)
    }

    /// Number of pieces.
    pub(crate) fn count(self) -> usize {
        self.occupied.count_ones() as usize
    }

    /// The output bucket.
    pub(crate) fn output(self) -> usize {
        output_bucket(self.count())
    }

    /// The active inputs of a network with this many king buckets, each as the side to move and as the
    /// other side sees it.
    pub(crate) fn inputs(self, king_buckets: usize) -> impl Iterator<Item = [u16; 2]> {
        let square = |king: u8| Square::new(u32::from(king));
        let own = View::with_king_buckets(Color::White, square(self.kings[0]), king_buckets);
        let other = View::with_king_buckets(Color::Black, square(self.kings[1]), king_buckets);
        bits(self.occupied).take(32).enumerate().map(move |(index, square)| {
            let nibble = self.pieces[index / 2] >> (4 * (index % 2)) & 15;
            let color = Color::from_white(nibble & 8 == 0);
            let role = Role::ALL[usize::from(nibble & 7)];
            let piece = PieceSquare::new(color, role, Square::new(square as u32));
            [own.input(piece) as u16, other.input(piece) as u16]
        })
    }
}

/// The indices of the set bits.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FENS: [&str; 5] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
        "2kr3r/ppp2ppp/8/4n3/8/2N5/PPP2PPP/R3R1K1 b - - 0 1",
        "8/PPP4k/8/8/8/8/4Kppp/8 w - - 0 1",
        "8/8/4k3/8/8/8/8/4K2R b - - 0 1",
    ];

    #[test]
    fn inputs_are_those_of_the_position() {
        for fen in FENS {
            let position = Position::from_fen(fen).unwrap();
            let sample = Sample::new(&position, Score::ZERO, None);
            assert_eq!(sample.count(), position.occupied().count());
            for king_buckets in [1, 4] {
                let us = position.turn();
                let views = [us, !us].map(|color| {
                    View::with_king_buckets(color, position.king(color), king_buckets)
                });
                let mut expected: Vec<[u16; 2]> = position
                    .piece_squares()
                    .map(|piece| views.map(|view| view.input(piece) as u16))
                    .collect();
                let mut found: Vec<[u16; 2]> = sample.inputs(king_buckets).collect();
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected, "{fen}");
            }
        }
    }

    #[test]
    fn scores_and_results_are_those_of_the_side_to_move() {
        let [white, black] = [FENS[0], FENS[1]].map(|fen| Position::from_fen(fen).unwrap());
        let of = |position, result| Sample::new(position, Score::cp(30), result);
        assert_eq!([of(&white, None).score, of(&black, None).score], [30, -30]);
        assert_eq!(of(&white, Some(GameResult::Win(Color::White))).result(), Some(1.0));
        assert_eq!(of(&black, Some(GameResult::Win(Color::White))).result(), Some(0.0));
        assert_eq!(of(&black, Some(GameResult::Draw)).result(), Some(0.5));
        assert_eq!(of(&black, None).result(), None);
    }
}
