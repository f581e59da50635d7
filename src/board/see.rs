//! Static exchange evaluation: what a move wins or loses when both sides go on capturing on its
//! destination with the piece that puts least at stake, and either may stop.
//!
//! Source: the swap algorithm of the Chess Programming Wiki ("Static Exchange Evaluation"). Pins
//! are not looked at. A pawn that captures on the last rank puts a queen at stake, so lesser pieces
//! go before it, as the published test collections have it.

use super::{Bitboard, PackedMove, Position, Rank, Role, Square, attacks};

/// Piece values of an exchange in centipawns, indexed by [`Role`] less one. The king's is larger
/// than any sum of the others.
const VALUES: [i32; 6] = [100, 300, 300, 500, 900, 20_000];

/// What a pawn gains by becoming a queen.
const PROMOTION: i32 = value_of(Role::Queen) - value_of(Role::Pawn);

/// The pieces by what they put at stake when they capture, least first.
const LEAST_FIRST: [Role; 6] = Role::ALL;

/// The same on the first and last rank, where a capturing pawn becomes a queen.
const LEAST_FIRST_PROMOTING: [Role; 6] =
    [Role::Knight, Role::Bishop, Role::Rook, Role::Pawn, Role::Queen, Role::King];

/// What a piece counts in an exchange, in centipawns.
#[inline]
pub const fn value_of(role: Role) -> i32 {
    VALUES[role as usize - 1]
}

/// Does the exchange begun by a legal move gain `threshold` centipawns or more?
///
/// The same as `value(position, m) >= threshold`, but stops as soon as the answer is known.
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
        // A pawn that captures here may win more than the piece it takes, so that the short cuts
        // below do not hold.
        return value(position, m) >= threshold;
    }
    // From here on `balance` is what the side to move is behind by, if the piece just moved to the
    // square is lost: zero or more means that the other side can afford to lose it.
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

/// The value of the exchange begun by a legal move, in centipawns for the side that moves.
pub fn value(position: &Position, m: PackedMove) -> i32 {
    if m.is_castle() {
        return 0;
    }
    let (gain, mut stake) = first_step(position, m);
    // What each capture in turn has gained for the side that made it. No square is attacked by
    // more than 32 pieces.
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

/// What the move itself captures or gains by promotion, and what then stands on its destination.
fn first_step(position: &Position, m: PackedMove) -> (i32, i32) {
    let captured = position.captured(m).map_or(0, value_of);
    match m.promoted_to() {
        Some(role) => (captured + value_of(role) - value_of(Role::Pawn), value_of(role)),
        None => (captured, value_of(position.moved_role(m))),
    }
}

/// The captures on one square, least at stake first, sides taking turns.
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

    /// Takes the attacker of the side to move that puts least at stake off the board.
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

    /// A slider behind the piece that left may attack now.
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
