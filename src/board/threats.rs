//! The squares that the opponent attacks, by kind of piece.

use super::{Bitboard, File, Position, Role, Square, attacks};

/// The squares attacked by the side not to move.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Threats {
    /// By any piece.
    pub all: Bitboard,
    /// By pawns.
    pub by_pawns: Bitboard,
    /// By pawns, knights and bishops.
    pub by_minors: Bitboard,
    /// By pawns, knights, bishops and rooks.
    pub by_rooks: Bitboard,
}

impl Threats {
    /// Computes them.
    pub(crate) fn of(position: &Position) -> Threats {
        let them = !position.turn();
        let occupied = position.occupied();
        let reach = |role: Role| {
            let each = |from: Square| attacks::attacks(from, role.of(them), occupied);
            let pieces = position.pieces(them, role).into_iter();
            pieces.map(each).fold(Bitboard::EMPTY, |all, squares| all | squares)
        };
        let by_pawns = pawn_threats(position);
        let by_minors = by_pawns | reach(Role::Knight) | reach(Role::Bishop);
        let by_rooks = by_minors | reach(Role::Rook);
        let all = by_rooks | reach(Role::Queen) | reach(Role::King);
        Threats { all, by_pawns, by_minors, by_rooks }
    }

    /// The squares attacked by pieces of less value than this kind; none for pawns and kings.
    #[inline]
    pub(crate) fn by_less_than(&self, role: Role) -> Bitboard {
        match role {
            Role::Knight | Role::Bishop => self.by_pawns,
            Role::Rook => self.by_minors,
            Role::Queen => self.by_rooks,
            Role::Pawn | Role::King => Bitboard::EMPTY,
        }
    }
}

fn pawn_threats(position: &Position) -> Bitboard {
    let them = !position.turn();
    let pawns = position.pieces(them, Role::Pawn);
    let (left, right) = if them.is_white() { (7, 9) } else { (-9, -7) };
    let a_file = Bitboard::from_file(File::A);
    let h_file = Bitboard::from_file(File::H);
    (pawns & !a_file).shift(left) | (pawns & !h_file).shift(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Rank;
    use crate::board::see::value_of;

    #[test]
    fn all_is_what_attacks_each_square() {
        let kiwipete = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        for position in [Position::startpos(), Position::from_fen(kiwipete).expect("legal")] {
            let threats = Threats::of(&position);
            for square in Square::ALL {
                let attackers = position.attackers_to(square, position.occupied());
                let theirs = attackers & position.them();
                assert_eq!(threats.all.contains(square), theirs.any(), "{square}");
                for role in [Role::Knight, Role::Rook, Role::Queen] {
                    let lesser = theirs
                        .into_iter()
                        .filter_map(|from| position.role_at(from))
                        .any(|other| value_of(other) < value_of(role));
                    assert_eq!(threats.by_less_than(role).contains(square), lesser, "{square}");
                }
            }
        }
    }

    #[test]
    fn at_first_the_third_rank_is_attacked() {
        let position = Position::startpos();
        let free = Threats::of(&position).all & !position.occupied();
        assert_eq!(free, Bitboard::from_rank(Rank::Sixth));
    }
}
