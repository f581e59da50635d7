//! Tells which moves give check without playing them.

use super::{Bitboard, PackedMove, Position, Square, attacks};

/// Squares from which the side to move gives check. Computed once per position, used for many moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checks {
    king: Square,
    /// By role from pawn to queen: the squares from which the piece attacks the king.
    squares: [Bitboard; 5],
    /// Own pieces whose move may discover a check.
    blockers: Bitboard,
}

impl Checks {
    /// Computes them for the side to move.
    pub(crate) fn of(position: &Position) -> Checks {
        let king = position.king(!position.turn());
        let occupied = position.occupied();
        let bishop = attacks::bishop_attacks(king, occupied);
        let rook = attacks::rook_attacks(king, occupied);
        Checks {
            king,
            squares: [
                attacks::pawn_attacks(!position.turn(), king),
                attacks::knight_attacks(king),
                bishop,
                rook,
                bishop | rook,
            ],
            blockers: blockers(position, king),
        }
    }

    /// Does a legal move of the position give check?
    #[inline(always)]
    pub(crate) fn gives(&self, position: &Position, m: PackedMove) -> bool {
        if !m.is_plain() {
            return gives_when_played(position, m);
        }
        let role = position.moved_role(m);
        let direct =
            self.squares.get(role as usize - 1).is_some_and(|squares| squares.contains(m.to()));
        direct
            || (self.blockers.contains(m.from())
                && !attacks::ray(self.king, m.from()).contains(m.to()))
    }
}

/// The answer for castling, en passant and promotions.
#[cold]
fn gives_when_played(position: &Position, m: PackedMove) -> bool {
    position.play(m).0.in_check()
}

/// Could the opponent mate in one if the side to move passed? The side to move must not be in check.
pub(crate) fn is_mate_threatened(position: &Position) -> bool {
    let passed = position.pass();
    let checks = Checks::of(&passed);
    let mates = |m| checks.gives(&passed, m) && !passed.play(m).0.has_legal_move();
    passed.legal_moves().iter().any(|&m| mates(m))
}

/// Own pieces that are alone between the opponent's king and an own slider.
fn blockers(position: &Position, king: Square) -> Bitboard {
    let snipers = position.us() & position.snipers(king);
    let alone = snipers.into_iter().map(|sniper| {
        let shield = attacks::between(king, sniper) & position.occupied();
        if shield.more_than_one() { Bitboard::EMPTY } else { shield }
    });
    alone.fold(Bitboard::EMPTY, |all, one| all | one) & position.us()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_agrees_with_playing_the_move() {
        let roots = [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "5k2/8/8/8/8/8/8/4K2R w K - 0 1",
            "3k4/8/8/K1pP3r/8/8/8/3R4 w - c6 0 2",
            "7k/8/8/4P3/8/2b2B2/8/B5K1 w - - 0 1",
        ];
        for fen in roots {
            let position = Position::from_fen(fen).expect(fen);
            agree_below(&position, 3);
        }
    }

    #[test]
    fn threats_of_mate_are_those_of_the_opponent() {
        for (fen, threatened) in [
            ("6k1/5p1p/5p1Q/5N2/8/8/6K1/2q5 b - - 0 1", true),
            ("6k1/5p1p/5p1Q/5N2/8/8/6K1/2q5 w - - 0 1", false),
            ("6k1/5ppp/8/8/8/8/8/4R1K1 b - - 0 1", true),
            ("6k1/5pp1/7p/8/8/8/8/4R1K1 b - - 0 1", false),
            ("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR b KQkq - 3 3", true),
            ("7k/6pp/7N/3Q4/8/8/8/K7 b - - 0 1", true),
        ] {
            let position = Position::from_fen(fen).expect(fen);
            assert_eq!(is_mate_threatened(&position), threatened, "{fen}");
        }
    }

    fn agree_below(position: &Position, depth: u32) {
        let checks = Checks::of(position);
        for &m in position.legal_moves().iter() {
            let next = position.play(m).0;
            assert_eq!(checks.gives(position, m), next.in_check(), "{m:?} in {position:?}");
            if depth > 1 {
                agree_below(&next, depth - 1);
            }
        }
    }
}
