//! Zobrist keys (Zobrist 1970), updated incrementally.
//!
//! The numbers come from SplitMix64 at compile time, so keys are the same in every build.

use super::{Change, Color, PieceSquare, Role, Square};
use crate::kit::random::split_mix;

/// The hash keys of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Keys {
    /// Everything that matters for legal moves: pieces, side to move, castling rights, and the en
    /// passant file if a legal capture there exists.
    pub position: u64,
    /// Pawns of both colours.
    pub pawns: u64,
    /// Kings and pieces of each colour, indexed by [`Color`] as in [`color_index`](super::color_index).
    pub non_pawns: [u64; 2],
    /// Kings, knights and bishops of both colours.
    pub minors: u64,
}

impl Keys {
    /// Adds or removes a piece.
    #[inline]
    pub fn toggle(&mut self, piece: PieceSquare) {
        let key = self::piece(piece);
        self.position ^= key;
        if piece.role() == Role::Pawn {
            self.pawns ^= key;
        } else {
            self.non_pawns[super::color_index(piece.color())] ^= key;
            if matches!(piece.role(), Role::Knight | Role::Bishop | Role::King) {
                self.minors ^= key;
            }
        }
    }

    /// Applies the board changes of a move.
    #[inline]
    pub fn apply(&mut self, change: &Change) {
        // Unrolled: a loop would go through memory.
        self.toggle(change.removed[0]);
        self.toggle(change.put[0]);
        if change.removed_len == 2 {
            self.toggle(change.removed[1]);
        }
        if change.put_len == 2 {
            self.toggle(change.put[1]);
        }
    }

    /// Passes the turn.
    #[inline]
    pub fn toggle_turn(&mut self) {
        self.position ^= NUMBERS.black_to_move;
    }
}

/// The number for a piece on a square.
#[inline]
pub(crate) fn piece(piece: PieceSquare) -> u64 {
    NUMBERS.pieces[piece.index()]
}

/// The number for the right to castle with the rook on `rook`.
#[inline]
pub(crate) fn castling(rook: Square) -> u64 {
    NUMBERS.castling[rook as usize]
}

/// The number for a legal en passant capture on the file of `square`.
#[inline]
pub(crate) fn en_passant(square: Square) -> u64 {
    NUMBERS.en_passant[square as usize & 7]
}

/// The number that is in the key while Black is to move.
#[inline]
pub(crate) fn turn(color: Color) -> u64 {
    if color.is_black() { NUMBERS.black_to_move } else { 0 }
}

struct Numbers {
    pieces: [u64; 768],
    castling: [u64; 64],
    en_passant: [u64; 8],
    black_to_move: u64,
}

static NUMBERS: Numbers = Numbers::new();

impl Numbers {
    const fn new() -> Numbers {
        let mut state = 0x7ace7;
        let mut numbers =
            Numbers { pieces: [0; 768], castling: [0; 64], en_passant: [0; 8], black_to_move: 0 };
        let mut i = 0;
        while i < 768 {
            (numbers.pieces[i], state) = split_mix(state);
            i += 1;
        }
        i = 0;
        while i < 64 {
            (numbers.castling[i], state) = split_mix(state);
            i += 1;
        }
        i = 0;
        while i < 8 {
            (numbers.en_passant[i], state) = split_mix(state);
            i += 1;
        }
        (numbers.black_to_move, _) = split_mix(state);
        numbers
    }
}
