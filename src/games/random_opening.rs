//! Random openings.
//!
//! A random move is drawn in two steps: the kind of the piece by fixed weights, then one of its moves.
//! Moves drawn uniformly would be mostly those of the queen and the bishops once these are out.
//! Source: PlentyChess PR 227, +13.2 ± 5.6 Elo for a network trained on such games.

use crate::board::{PackedMove, Position, Role, see};
use crate::kit::random::Random;

/// The weight of each kind of piece. Kinds without a sound move are not drawn.
const WEIGHTS: [(Role, usize); 6] = [
    (Role::Pawn, 35),
    (Role::Knight, 15),
    (Role::Bishop, 15),
    (Role::Rook, 5),
    (Role::Queen, 15),
    (Role::King, 15),
];

/// Largest loss of a move by exchanges, in centipawns: a pawn.
const MAX_LOSS: i32 = 100;

/// An opening whose evaluation is further from 0 than this, in centipawns, is decided.
pub(crate) const OPENING_LIMIT: i32 = 250;

/// Plays eight or nine random moves from the start position, so that both sides come to move first.
/// `None` if a side runs out of sound moves.
pub(crate) fn random_opening(random: &mut Random) -> Option<Position> {
    let plies = 8 + random.below(2);
    random_moves(Position::startpos(), plies, random)
}

/// Plays this many random moves. `None` if a side runs out of sound moves.
pub(crate) fn random_moves(
    mut position: Position,
    plies: usize,
    random: &mut Random,
) -> Option<Position> {
    for _ in 0..plies {
        let m = random_move(&position, random)?;
        position = position.play(m).0;
    }
    position.has_legal_move().then_some(position)
}

fn random_move(position: &Position, random: &mut Random) -> Option<PackedMove> {
    let legal = position.legal_moves();
    let moves: Vec<PackedMove> = legal.iter().copied().filter(|&m| is_sound(position, m)).collect();
    let of_role = |role| moves.iter().filter(move |&&m| position.moved_role(m) == role);
    let movable = WEIGHTS.into_iter().filter(|&(role, _)| of_role(role).next().is_some());
    let mut ticket = random.below(movable.clone().map(|(_, weight)| weight).sum());
    for (role, weight) in movable {
        if ticket < weight {
            let choice = random.below(of_role(role).count());
            return of_role(role).nth(choice).copied();
        }
        ticket -= weight;
    }
    None
}

/// Does the move lose a pawn at most, by its own exchange (SEE) and by any capture of the opponent after it?
fn is_sound(position: &Position, m: PackedMove) -> bool {
    if !see::see_ge(position, m, -MAX_LOSS) {
        return false;
    }
    let won = position.captured(m).map_or(0, see::value_of);
    let next = position.play(m).0;
    let loses = |reply: &PackedMove| {
        next.is_noisy(*reply) && see::see_ge(&next, *reply, won + MAX_LOSS + 1)
    };
    !next.legal_moves().iter().any(loses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn sound(fen: &str, m: &str) -> bool {
        let position = Position::from_fen(fen).unwrap();
        is_sound(&position, position.read_move(m).unwrap())
    }

    #[test]
    fn kinds_are_drawn_by_weight() {
        // Every kind can move.
        let fen = "r3kb1r/ppp1pppp/2nqbn2/3p4/3P4/2NQBN2/PPP1PPPP/R3KB1R w KQkq - 0 1";
        let position = Position::from_fen(fen).unwrap();
        let mut random = Random::new(1);
        let mut counts: HashMap<Role, usize> = HashMap::new();
        for _ in 0..10_000 {
            let m = random_move(&position, &mut random).unwrap();
            *counts.entry(position.moved_role(m)).or_default() += 1;
        }
        for (role, weight) in WEIGHTS {
            let count = counts[&role];
            assert!(count.abs_diff(100 * weight) < 200, "{role:?}: {count}");
        }
        // In the start position only pawns and knights: 35 to 15.
        let position = Position::startpos();
        let pawns = (0..1_000)
            .filter_map(|_| random_move(&position, &mut random))
            .filter(|&m| position.moved_role(m) == Role::Pawn)
            .count();
        assert!((650..750).contains(&pawns), "{pawns}");
    }

    #[test]
    fn moves_that_lose_a_piece_are_refused() {
        let start = "rnbqkbnr/pppp1ppp/8/4p3/3PP3/8/PPP2PPP/RNBQKBNR w KQkq - 0 1";
        assert!(sound(start, "g1f3"));
        assert!(sound(start, "d1h5"));
        assert!(!sound(start, "c1h6"), "a bishop for nothing");
        assert!(!sound(start, "f1a6"));
        assert!(sound(start, "d4e5"));
        let traded = "rnbqkb1r/pppp1ppp/5n2/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 1";
        assert!(sound(traded, "f3e5"), "a pawn is won");
        assert!(!sound("4k3/8/3p4/4p3/8/5N2/8/4K3 w - - 0 1", "f3e5"), "a knight for a pawn");
        assert!(sound("4k3/8/3p4/4n3/8/5N2/8/4K3 w - - 0 1", "f3e5"), "a knight for a knight");
        // Another piece is left hanging.
        assert!(
            !sound("4k3/8/8/8/1b6/2N5/3P4/R3K3 w - - 0 1", "d2d3"),
            "the knight is pinned twice"
        );
        assert!(!sound("4k3/8/8/3p4/2N5/8/8/4K3 w - - 0 1", "e1e2"), "the knight stays attacked");
        assert!(sound("4k3/8/8/3p4/2P5/8/8/4K3 w - - 0 1", "e1e2"), "a pawn may be lost");
    }

    #[test]
    fn a_side_without_sound_moves_ends_the_opening() {
        // White's king and pawn cannot move. Every move of the knight leaves it to be taken.
        let position = Position::from_fen("5b1k/8/8/8/3p4/p3p3/P7/KN6 w - - 0 1").unwrap();
        assert!(!position.legal_moves().is_empty());
        assert!(random_moves(position, 1, &mut Random::new(1)).is_none());
    }

    #[test]
    fn openings_are_various_and_repeatable() {
        let opening = |n| random_opening(&mut Random::numbered(3, n)).map(|p| p.to_fen());
        let openings: std::collections::HashSet<String> = (0..200).filter_map(opening).collect();
        assert!(openings.len() > 190, "{}", openings.len());
        assert_eq!(opening(7), opening(7));
    }
}
