//! A move in 16 bits.

use super::{Role, Square};

/// A move in 16 bits: origin, destination, kind.
///
/// Castling is written as the king capturing its own rook, in standard chess too, so that Chess960
/// needs no second form. The packed form knows neither the moving nor the captured piece: a
/// [`Position`](super::Position) supplies both.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct PackedMove(u16);

const CASTLE: u16 = 1 << 12;
const EN_PASSANT: u16 = 2 << 12;
const PROMOTION: u16 = 4 << 12; // plus knight 0, bishop 1, rook 2, queen 3

impl PackedMove {
    /// No move.
    pub const NONE: PackedMove = PackedMove(0);
    /// A pass in the move list of a game. It is not legal in any position, so the search never sees it.
    /// [`Position::follow`](super::Position::follow) plays it.
    pub const PASS: PackedMove = PackedMove(3 << 12);

    /// A move that is neither castling, en passant nor promotion.
    #[inline]
    pub const fn normal(from: Square, to: Square) -> PackedMove {
        PackedMove(from as u16 | (to as u16) << 6)
    }

    /// Castling: the king on `king` with its own rook on `rook`.
    #[inline]
    pub const fn castle(king: Square, rook: Square) -> PackedMove {
        PackedMove(PackedMove::normal(king, rook).0 | CASTLE)
    }

    /// A pawn captures en passant.
    #[inline]
    pub const fn en_passant(from: Square, to: Square) -> PackedMove {
        PackedMove(PackedMove::normal(from, to).0 | EN_PASSANT)
    }

    /// A pawn promotes to `role`, which is a knight, bishop, rook or queen.
    #[inline]
    pub const fn promotion(from: Square, to: Square, role: Role) -> PackedMove {
        PackedMove(PackedMove::normal(from, to).0 | PROMOTION | (role as u16 - 2) << 12)
    }

    /// The square moved from.
    #[inline]
    pub const fn from(self) -> Square {
        Square::new((self.0 & 63) as u32)
    }

    /// The square moved to; for castling the square of the rook.
    #[inline]
    pub const fn to(self) -> Square {
        Square::new((self.0 >> 6 & 63) as u32)
    }

    /// Is this castling?
    #[inline]
    pub const fn is_castle(self) -> bool {
        self.0 & 0xf000 == CASTLE
    }

    /// Is this a capture en passant?
    #[inline]
    pub const fn is_en_passant(self) -> bool {
        self.0 & 0xf000 == EN_PASSANT
    }

    /// Is this a promotion?
    #[inline]
    pub const fn is_promotion(self) -> bool {
        self.0 & 0xc000 == PROMOTION
    }

    /// Is this neither castling, en passant nor promotion?
    #[inline]
    pub const fn is_plain(self) -> bool {
        self.0 >> 12 == 0
    }

    /// What a pawn is promoted to.
    #[inline]
    pub const fn promoted_to(self) -> Option<Role> {
        if self.is_promotion() {
            const ROLES: [Role; 4] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
            Some(ROLES[(self.0 >> 12 & 3) as usize])
        } else {
            None
        }
    }

    /// Is this [`PackedMove::NONE`]?
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Is this [`PackedMove::PASS`]?
    #[inline]
    pub const fn is_pass(self) -> bool {
        self.0 == PackedMove::PASS.0
    }

    /// Is this a move?
    #[inline]
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }

    /// The 16 bits, for storing.
    #[inline]
    pub const fn raw(self) -> u16 {
        self.0
    }

    /// The inverse of [`PackedMove::raw`]. Any 16 bits are accepted: ask
    /// [`Position::is_legal`](super::Position::is_legal) before playing what comes from a table.
    #[inline]
    pub const fn from_raw(raw: u16) -> PackedMove {
        PackedMove(raw)
    }
}

/// The move as UCI writes it in Chess960 mode; `0000` for none and for a pass. For text that depends on
/// the castling mode see [`notation`](super::notation).
impl std::fmt::Display for PackedMove {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_none() || self.is_pass() {
            return f.write_str("0000");
        }
        write!(f, "{}{}", self.from(), self.to())?;
        match self.promoted_to() {
            Some(role) => write!(f, "{}", role.char()),
            None => Ok(()),
        }
    }
}

impl std::fmt::Debug for PackedMove {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_survives_packing() {
        let (from, to) = (Square::E7, Square::D8);
        for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
            let m = PackedMove::promotion(from, to, role);
            assert_eq!((m.from(), m.to(), m.promoted_to()), (from, to, Some(role)));
            assert!(!m.is_castle() && !m.is_en_passant());
        }
        let m = PackedMove::castle(Square::E1, Square::H1);
        assert!(m.is_castle() && !m.is_promotion() && !m.is_en_passant());
        let m = PackedMove::en_passant(Square::E5, Square::D6);
        assert!(m.is_en_passant() && !m.is_promotion() && !m.is_castle());
        assert!(PackedMove::NONE.is_none());
    }

    #[test]
    fn invalid_bits_have_no_kind() {
        for kind in [3_u16, 8, 9, 10, 12, 15] {
            let m = PackedMove::from_raw(kind << 12 | 0x0fc8);
            assert!(!m.is_castle() && !m.is_en_passant() && !m.is_promotion() && !m.is_plain());
            assert_eq!(m.promoted_to(), None);
        }
    }
}
