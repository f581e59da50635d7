//! Staged generation of legal moves.
//!
//! Noisy moves (captures and queen promotions) and quiet moves are generated separately: a node cut by a
//! capture never generates quiet moves. Every generated move is legal. The tests compare both stages
//! together with shakmaty's `legal_moves`.

use arrayvec::ArrayVec;

use super::{Bitboard, Color, File, PackedMove, Position, Rank, Role, Square, attacks};

/// Which moves to generate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Captures (en passant and all promotions by capture included) and promotions to a queen.
    Noisy,
    /// All other moves, with castling and underpromotions without capture.
    Quiet,
    /// Both at once, in no particular order: faster than one after the other.
    All,
}

/// No position of 16 men a side has more moves: 15 queens with 27 each and a king with 8. A position that a
/// game can reach has at most 218.
pub const MAX_MOVES: usize = 416;
const _: () = assert!(15 * 27 + 8 <= MAX_MOVES);

/// A list of moves on the stack.
#[derive(Clone, Default)]
pub struct MoveList(ArrayVec<PackedMove, MAX_MOVES>);

impl MoveList {
    /// An empty list.
    #[inline]
    pub const fn new() -> MoveList {
        MoveList(ArrayVec::new_const())
    }

    /// Appends a move.
    #[inline]
    pub fn push(&mut self, m: PackedMove) {
        self.0.push(m);
    }

    /// Removes all moves.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl std::ops::Deref for MoveList {
    type Target = [PackedMove];
    #[inline]
    fn deref(&self) -> &[PackedMove] {
        &self.0
    }
}

impl std::ops::DerefMut for MoveList {
    #[inline]
    fn deref_mut(&mut self) -> &mut [PackedMove] {
        &mut self.0
    }
}

impl std::fmt::Debug for MoveList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Appends the legal moves of one kind to `list`.
pub fn generate(position: &Position, kind: Kind, list: &mut MoveList) {
    let mut generator = Generator::new(position, list);
    let evasions = match position.checkers().count() {
        0 => Bitboard::FULL,
        1 => {
            let checker = position.checkers().first().unwrap_or(generator.king);
            attacks::between(generator.king, checker).with(checker)
        }
        _ => Bitboard::EMPTY,
    };
    let targets = match kind {
        Kind::Noisy => position.them(),
        Kind::Quiet => !position.occupied(),
        Kind::All => !position.us(),
    };
    if evasions.any() {
        generator.pieces(targets & evasions);
        generator.pawns(kind, evasions);
    }
    generator.king_steps(targets);
    if kind != Kind::Noisy && position.checkers().is_empty() {
        generator.castling();
    }
}

struct Generator<'a> {
    position: &'a Position,
    list: &'a mut MoveList,
    us: Color,
    king: Square,
    pinned: Bitboard,
}

impl<'a> Generator<'a> {
    #[inline]
    fn new(position: &'a Position, list: &'a mut MoveList) -> Generator<'a> {
        let us = position.turn();
        let king = position.king(us);
        Generator { position, list, us, king, pinned: position.pinned }
    }

    /// Knights, bishops, rooks and queens to the target squares.
    #[inline]
    fn pieces(&mut self, targets: Bitboard) {
        let (position, occupied) = (self.position, self.position.occupied());
        // A pinned knight has no move at all.
        for from in position.pieces(self.us, Role::Knight) & !self.pinned {
            self.push_all(from, attacks::knight_attacks(from) & targets);
        }
        let queens = position.by_role(Role::Queen);
        for from in position.us() & (position.by_role(Role::Bishop) | queens) {
            let to = attacks::bishop_attacks(from, occupied) & targets;
            self.push_all(from, self.on_pin_line(from, to));
        }
        for from in position.us() & (position.by_role(Role::Rook) | queens) {
            let to = attacks::rook_attacks(from, occupied) & targets;
            self.push_all(from, self.on_pin_line(from, to));
        }
    }

    #[inline]
    fn push_all(&mut self, from: Square, targets: Bitboard) {
        for to in targets {
            self.list.push(PackedMove::normal(from, to));
        }
    }

    /// The target squares that a pin allows.
    #[inline]
    fn on_pin_line(&self, from: Square, targets: Bitboard) -> Bitboard {
        if self.pinned.contains(from) { targets & attacks::ray(self.king, from) } else { targets }
    }

    /// Pawn moves, by bitboard shifts. `evasions` are the squares that answer a check.
    #[inline]
    fn pawns(&mut self, kind: Kind, evasions: Bitboard) {
        let pawns = self.position.pieces(self.us, Role::Pawn);
        let seventh = Bitboard::from_rank(self.us.relative_rank(Rank::Seventh));
        if kind != Kind::Quiet {
            self.pawn_captures(pawns & !seventh, evasions, |list, from, to| {
                list.push(PackedMove::normal(from, to));
            });
            self.en_passant(pawns);
        }
        if kind != Kind::Noisy {
            self.pawn_steps(pawns & !seventh, evasions);
        }
        if (pawns & seventh).any() {
            self.promotions(kind, pawns & seventh, evasions);
        }
    }

    #[inline]
    fn pawn_captures(
        &mut self,
        pawns: Bitboard,
        evasions: Bitboard,
        push: impl Fn(&mut MoveList, Square, Square),
    ) {
        let targets = self.position.them() & evasions;
        // Towards the a-file and towards the h-file, seen from White.
        for (edge, offset) in [(File::A, 7), (File::H, 9)] {
            let offset = if self.us.is_white() { offset } else { offset - 16 };
            let pawns = pawns & !Bitboard::from_file(edge);
            for to in pawns.shift(offset) & targets {
                let from = back(to, offset);
                if self.may_leave(from, to) {
                    push(self.list, from, to);
                }
            }
        }
    }

    /// Single and double steps.
    #[inline]
    fn pawn_steps(&mut self, pawns: Bitboard, evasions: Bitboard) {
        let empty = !self.position.occupied();
        let up = if self.us.is_white() { 8 } else { -8 };
        let single = pawns.shift(up) & empty;
        let third = Bitboard::from_rank(self.us.relative_rank(Rank::Third));
        let double = (single & third).shift(up) & empty;
        for (targets, offset) in [(single, up), (double, 2 * up)] {
            for to in targets & evasions {
                let from = back(to, offset);
                if self.may_leave(from, to) {
                    self.list.push(PackedMove::normal(from, to));
                }
            }
        }
    }

    /// All moves of pawns on the seventh rank.
    fn promotions(&mut self, kind: Kind, pawns: Bitboard, evasions: Bitboard) {
        if kind != Kind::Quiet {
            self.pawn_captures(pawns, evasions, |list, from, to| {
                for role in [Role::Queen, Role::Knight, Role::Rook, Role::Bishop] {
                    list.push(PackedMove::promotion(from, to, role));
                }
            });
        }
        let stepping: &[Role] = match kind {
            Kind::Noisy => &[Role::Queen],
            Kind::Quiet => &[Role::Knight, Role::Rook, Role::Bishop],
            Kind::All => &[Role::Queen, Role::Knight, Role::Rook, Role::Bishop],
        };
        let up = if self.us.is_white() { 8 } else { -8 };
        for to in pawns.shift(up) & !self.position.occupied() & evasions {
            let from = back(to, up);
            if self.may_leave(from, to) {
                for &role in stepping {
                    self.list.push(PackedMove::promotion(from, to, role));
                }
            }
        }
    }

    #[inline]
    fn may_leave(&self, from: Square, to: Square) -> bool {
        !self.pinned.contains(from) || attacks::ray(self.king, from).contains(to)
    }

    fn en_passant(&mut self, pawns: Bitboard) {
        let Some(to) = ep_square(self.position) else {
            return;
        };
        for from in pawns & attacks::pawn_attacks(!self.us, to) {
            let m = PackedMove::en_passant(from, to);
            if en_passant_is_safe(self.position, self.king, m) {
                self.list.push(m);
            }
        }
    }

    #[inline]
    fn king_steps(&mut self, targets: Bitboard) {
        for to in attacks::king_attacks(self.king) & targets {
            if king_is_safe(self.position, self.king, to) {
                self.list.push(PackedMove::normal(self.king, to));
            }
        }
    }

    fn castling(&mut self) {
        let rooks = self.position.castling_rooks() & self.position.us();
        for rook in rooks {
            if castling_is_legal(self.position, self.king, rook, self.pinned) {
                self.list.push(PackedMove::castle(self.king, rook));
            }
        }
    }
}

impl Position {
    /// Is this move legal? It may be any 16 bits, as TT moves are.
    pub fn is_legal(&self, m: PackedMove) -> bool {
        let (us, from, to) = (self.turn(), m.from(), m.to());
        let king = self.king(us);
        if !self.us().contains(from) || m.is_none() {
            return false;
        }
        let Some(role) = self.role_at(from) else {
            return false;
        };
        if m.is_castle() {
            // Compares all bits: other patterns with the castling bits are no moves.
            return m == PackedMove::castle(from, to)
                && role == Role::King
                && (self.castling_rooks() & self.us()).contains(to)
                && !self.in_check()
                && castling_is_legal(self, king, to, self.pinned);
        }
        if self.us().contains(to) {
            return false;
        }
        match role {
            Role::Pawn => return self.is_legal_pawn_move(m, king),
            _ if !m.is_plain() => return false,
            Role::King => {
                return attacks::king_attacks(from).contains(to) && king_is_safe(self, from, to);
            }
            _ => {}
        }
        attacks::attacks(from, role.of(us), self.occupied()).contains(to)
            && self.answers_check_and_pin(from, to, king)
    }

    fn is_legal_pawn_move(&self, m: PackedMove, king: Square) -> bool {
        let (us, from, to) = (self.turn(), m.from(), m.to());
        let attacked = attacks::pawn_attacks(us, from).contains(to);
        if m.is_en_passant() {
            return m == PackedMove::en_passant(from, to)
                && attacked
                && ep_square(self) == Some(to)
                && en_passant_is_safe(self, king, m);
        }
        let last = matches!(to.rank(), Rank::First | Rank::Eighth);
        if m.is_promotion() != last || (!last && !m.is_plain()) {
            return false;
        }
        let up = if us.is_white() { 8 } else { -8 };
        let empty = !self.occupied();
        let moves = if self.occupied().contains(to) {
            attacked
        } else {
            let single = Bitboard::from_square(from).shift(up) & empty;
            let third = Bitboard::from_rank(us.relative_rank(Rank::Third));
            (single | ((single & third).shift(up) & empty)).contains(to)
        };
        moves && self.answers_check_and_pin(from, to, king)
    }

    /// Do pins and checks allow a piece other than the king to move from `from` to `to`?
    fn answers_check_and_pin(&self, from: Square, to: Square, king: Square) -> bool {
        if self.checkers().more_than_one() {
            return false;
        }
        if let Some(checker) = self.checkers().first()
            && to != checker
            && !attacks::between(king, checker).contains(to)
        {
            return false;
        }
        !self.pinned.contains(from) || attacks::ray(king, from).contains(to)
    }
}

/// The en passant square, if a capture there is legal.
#[inline]
fn ep_square(position: &Position) -> Option<Square> {
    let rank = position.turn().relative_rank(Rank::Sixth);
    position.ep_file.map(|file| Square::from_coords(file, rank))
}

#[inline]
fn back(to: Square, offset: i32) -> Square {
    // The pawn came from the board, so the square exists.
    Square::new((to as i32 - offset) as u32)
}

/// Would the king on `from` be safe on `to`?
#[inline]
fn king_is_safe(position: &Position, from: Square, to: Square) -> bool {
    let occupied = position.occupied().without(from);
    (position.attackers_to(to, occupied) & position.them()).is_empty()
}

/// En passant removes two pawns from a rank, which pins do not cover: tests all attackers of the king.
fn en_passant_is_safe(position: &Position, king: Square, m: PackedMove) -> bool {
    let captured = Square::from_coords(m.to().file(), m.from().rank());
    let occupied = position.occupied().without(m.from()).without(captured).with(m.to());
    let attackers = position.attackers_to(king, occupied) & position.them();
    attackers.without(captured).is_empty()
}

/// Is castling with `rook`, for which the right exists, legal? The king is not in check.
fn castling_is_legal(position: &Position, king: Square, rook: Square, pinned: Bitboard) -> bool {
    let (king_to, rook_to) = super::castling_targets(king, rook);
    let king_path = attacks::between(king, king_to).with(king_to);
    let rook_path = attacks::between(rook, rook_to).with(rook_to);
    let others = position.occupied().without(king).without(rook);
    ((king_path | rook_path) & others).is_empty()
        && king_path.into_iter().all(|square| king_is_safe(position, king, square))
        // In Chess960 the rook may shield its king from a slider on the first rank.
        && !pinned.contains(rook)
}
