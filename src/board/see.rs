//! Static exchange evaluation (SEE): the material won by a move when both sides keep capturing on its
//! destination with their least valuable attacker, and either side may stop.
//!
//! Source: the swap algorithm of the Chess Programming Wiki ("Static Exchange Evaluation"). Pins are
//! ignored. A pawn that captures on the last rank counts as a queen, so minor pieces and rooks capture
//! before it.

use super::{Bitboard, PackedMove, Position, Rank, Role, Square, attacks};

/// Piece values in centipawns, indexed by [`Role`] less one. The king exceeds any sum of the others.
const VALUES: [i32; 6] = [100, 300, 300, 500, 900, 20_000];

/// The gain of a promotion to a queen.
const PROMOTION: i32 = value_of(Role::Queen) - value_of(Role::Pawn);

/// The least valuable attacker first.
const LEAST_FIRST: [Role; 6] = Role::ALL;

/// The same on the first and last rank, where a capturing pawn becomes a queen.
const LEAST_FIRST_PROMOTING: [Role; 6] =
    [Role::Knight, Role::Bishop, Role::Rook, Role::Pawn, Role::Queen, Role::King];

/// The value of a piece in an exchange, in centipawns.
#[inline]
pub const fn value_of(role: Role) -> i32 {
    VALUES[role as usize - 1]
}

/// Is the SEE value of a legal move at least `threshold` centipawns?
///
/// Equals `value(position, m) >= threshold`, but stops as soon as the answer is known.
pub fn see_ge(position: &Position, m: PackedMove, threshold: i32) -> bool {
    if m.is_castle() {
        return threshold <= 0;
    }
    let (gain, stake) = first_step(position, m);
    if gain < threshold {
        return false;
    }
    let mut swap = Swap::new(position, m);
    if swap.promotes(Role::Pawn) {
        // A promoting capture may win more than the captured piece, so the bounds below do not hold.
        return value(position, m) >= threshold;
    }
    // `balance` is the gain over the threshold of the side that moved last, if it loses the piece on
    // the square. At zero or above it can afford that loss.
    let mut balance = gain - threshold - stake;
    let mut holds = true;
    while balance < 0 {
        let Some(attacker) = swap.next_attacker() else {
            break;
        };
        if attacker == Role::King && swap.has_attackers() {
            // The king cannot capture into an attack.
            break;
        }
        holds = !holds;
        balance = -balance - 1 - value_of(attacker);
    }
    holds
}

/// The SEE value of a legal move, in centipawns for the side that moves.
pub fn value(position: &Position, m: PackedMove) -> i32 {
    if m.is_castle() {
        return 0;
    }
    let (gain, mut stake) = first_step(position, m);
    // The gain of each capture for the side that makes it. At most 32 pieces attack a square.
    let mut gains = [0; 33];
    gains[0] = gain;
    let mut last = 0;
    let mut swap = Swap::new(position, m);
    while let Some(attacker) = swap.next_attacker() {
        if attacker == Role::King && swap.has_attackers() {
            break;
        }
        let bonus = if swap.promotes(attacker) { PROMOTION } else { 0 };
        last += 1;
        gains[last] = stake + bonus - gains[last - 1];
        stake = value_of(attacker) + bonus;
    }
    // Either side may stop before a capture that loses.
    for capture in (1..=last).rev() {
        gains[capture - 1] = -gains[capture].max(-gains[capture - 1]);
    }
    gains[0]
}

/// The gain of the move itself, and the value of the piece then on its destination.
fn first_step(position: &Position, m: PackedMove) -> (i32, i32) {
    let captured = position.captured(m).map_or(0, value_of);
    match m.promoted_to() {
        Some(role) => (captured + value_of(role) - value_of(Role::Pawn), value_of(role)),
        None => (captured, value_of(position.moved_role(m))),
    }
}

/// The captures on one square, least valuable attacker first, sides alternating.
struct Swap<'a> {
    position: &'a Position,
    target: Square,
    occupied: Bitboard,
    attackers: Bitboard,
    to_move: super::Color,
}

impl<'a> Swap<'a> {
    fn new(position: &'a Position, m: PackedMove) -> Swap<'a> {
        let target = m.to();
        let mut occupied = position.occupied().without(m.from()).with(target);
        if m.is_en_passant() {
            occupied = occupied.without(Square::from_coords(target.file(), m.from().rank()));
        }
        let attackers = position.attackers_to(target, occupied) & occupied;
        Swap { position, target, occupied, attackers, to_move: !position.turn() }
    }

    /// Does a piece of this kind that captures here promote?
    fn promotes(&self, role: Role) -> bool {
        role == Role::Pawn && matches!(self.target.rank(), Rank::First | Rank::Eighth)
    }

    /// Are there attackers left of the side to move?
    fn has_attackers(&self) -> bool {
        (self.attackers & self.position.by_color(self.to_move)).any()
    }

    /// Removes the least valuable attacker of the side to move.
    fn next_attacker(&mut self) -> Option<Role> {
        let ours = self.attackers & self.position.by_color(self.to_move);
        let order = if self.promotes(Role::Pawn) { LEAST_FIRST_PROMOTING } else { LEAST_FIRST };
        let role = order.into_iter().find(|&r| (ours & self.position.by_role(r)).any())?;
        let square = (ours & self.position.by_role(role)).first()?;
        self.occupied = self.occupied.without(square);
        self.uncover(role);
        self.attackers &= self.occupied;
        self.to_move = !self.to_move;
        Some(role)
    }

    /// Adds sliders behind the piece that left (x-rays).
    fn uncover(&mut self, left: Role) {
        let queens = self.position.by_role(Role::Queen);
        if matches!(left, Role::Pawn | Role::Bishop | Role::Queen) {
            let bishops = self.position.by_role(Role::Bishop) | queens;
            self.attackers |= attacks::bishop_attacks(self.target, self.occupied) & bishops;
        }
        if matches!(left, Role::Rook | Role::Queen) {
            let rooks = self.position.by_role(Role::Rook) | queens;
            self.attackers |= attacks::rook_attacks(self.target, self.occupied) & rooks;
        }
    }
}
