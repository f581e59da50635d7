//! A small classical evaluation: material, piece-square values and the right to move.
//!
//! Every piece on its square has one value for the middlegame and one for the endgame; the sum of
//! both (White's minus Black's) is blended by how many officers are left on the board. The sums
//! change with a move by at most four table entries, so the work per node is a few additions.
//! [`endings`] corrects the result where little material is left.
//!
//! # Where the numbers come from
//! They are this project's own. [`TABLES`] is computed at compile time from the [`Profile`] of each
//! kind of piece: its material, and what it gains by standing in the centre, by advancing, and so
//! on. The profiles were written down by hand from general chess knowledge.

use super::endings;
use crate::board::{Change, Position};
use crate::score::{MAX_PLY, Score};

/// A value for the middlegame and one for the endgame, in centipawns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pair {
    /// The value while all officers are on the board.
    pub middle: i32,
    /// The value when none is left.
    pub end: i32,
}

/// What having the move is worth, in centipawns.
pub const TEMPO: i32 = 12;

/// How much a kind of piece counts towards the middlegame, by role from pawn to king.
pub const PHASE: [i32; 6] = [0, 1, 1, 2, 4, 0];

/// The sum of [`PHASE`] over the start position; promotions may exceed it.
pub const FULL_PHASE: i32 = 24;

/// The value of each kind of piece (by role from pawn to king) on each square, as White sees
/// the board. Black's pieces use the square mirrored top to bottom.
pub const TABLES: [[Pair; 64]; 6] = formula_tables();

/// The sums of the current position, and below them those of the positions before it.
#[derive(Clone, Debug)]
pub struct Stack {
    top: Sums,
    below: Vec<Sums>,
}

impl Stack {
    /// A stack whose bottom is `position`.
    pub fn new(position: &Position) -> Stack {
        Stack { top: Sums::of(position), below: Vec::with_capacity(MAX_PLY + 16) }
    }

    /// Empties the stack and begins anew.
    pub fn reset(&mut self, position: &Position) {
        self.below.clear();
        self.top = Sums::of(position);
    }

    /// A move was played (an empty change: a pass).
    #[inline]
    pub fn push(&mut self, change: &Change) {
        self.below.push(self.top);
        for &piece in change.removed() {
            self.top.0 -= ENTRIES[piece.index()];
        }
        for &piece in change.put() {
            self.top.0 += ENTRIES[piece.index()];
        }
    }

    /// It was taken back. The bottom stays.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(sums) = self.below.pop() {
            self.top = sums;
        }
    }

    /// The value of `position`, which must be the top's, for the side to move.
    #[inline]
    pub fn evaluate(&self, position: &Position) -> Score {
        debug_assert_eq!(self.top, Sums::of(position), "wrong sums for {position:?}");
        let white = self.top.blended();
        let ours = if position.turn().is_white() { white } else { -white };
        if self.top.phase() <= endings::PHASE_LIMIT {
            endings::corrected(position, ours, TEMPO)
        } else {
            Score::cp(ours + TEMPO)
        }
    }
}

/// Middlegame, endgame and phase in one word, so that a piece is one addition: 24 bits, 24 bits
/// and, above them, 16. The lower two are signed; what they borrow from above is given back on
/// reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sums(i64);

const END_SHIFT: u32 = 24;
const PHASE_SHIFT: u32 = 48;

impl Sums {
    fn of(position: &Position) -> Sums {
        Sums(position.piece_squares().map(|piece| ENTRIES[piece.index()]).sum())
    }

    #[inline]
    fn middle(self) -> i32 {
        (self.0 as i32) << 8 >> 8
    }

    #[inline]
    fn end(self) -> i32 {
        let rounded = self.0 + (1 << (END_SHIFT - 1));
        ((rounded >> END_SHIFT) as i32) << 8 >> 8
    }

    #[inline]
    fn phase(self) -> i32 {
        let rounded = self.0 + (1 << (PHASE_SHIFT - 1)) + (1 << (END_SHIFT - 1));
        (rounded >> PHASE_SHIFT) as i32
    }

    #[inline]
    fn blended(self) -> i32 {
        let phase = self.phase().min(FULL_PHASE);
        (self.middle() * phase + self.end() * (FULL_PHASE - phase)) / FULL_PHASE
    }
}

/// What each piece on each square adds to [`Sums`], by [`PieceSquare::index`](crate::board::PieceSquare::index).
static ENTRIES: [i64; 768] = entries();

const fn entries() -> [i64; 768] {
    let mut entries = [0; 768];
    let mut role = 0;
    while role < 6 {
        let mut square = 0;
        while square < 64 {
            let Pair { middle, end } = TABLES[role][square];
            let value = middle as i64 + ((end as i64) << END_SHIFT);
            let phase = (PHASE[role] as i64) << PHASE_SHIFT;
            entries[role * 64 + square] = phase + value;
            entries[384 + role * 64 + (square ^ 56)] = phase - value;
            square += 1;
        }
        role += 1;
    }
    entries
}

/// What is known of a kind of piece before any game was played; in centipawns.
struct Profile {
    /// The piece itself.
    material: Pair,
    /// Per step towards the centre: the four central squares are six steps from a corner.
    centre: Pair,
    /// Per rank from its own side's first.
    advance: Pair,
    /// Per square of that number: what grows towards the goal.
    advance_squared: Pair,
    /// On the seventh rank.
    seventh: Pair,
    /// On the first rank, besides.
    home: Pair,
}

const fn pair(middle: i32, end: i32) -> Pair {
    Pair { middle, end }
}

/// By role from pawn to king.
const PROFILES: [Profile; 6] = [
    Profile {
        material: pair(72, 88),
        centre: pair(4, 0),
        advance: pair(1, 2),
        advance_squared: pair(1, 3),
        seventh: pair(20, 20),
        home: pair(0, 0),
    },
    Profile {
        material: pair(305, 280),
        centre: pair(9, 7),
        advance: pair(4, 3),
        advance_squared: pair(0, 0),
        seventh: pair(-10, -8),
        home: pair(-6, -4),
    },
    Profile {
        material: pair(325, 300),
        centre: pair(5, 4),
        advance: pair(2, 2),
        advance_squared: pair(0, 0),
        seventh: pair(-8, -4),
        home: pair(-10, -3),
    },
    Profile {
        material: pair(465, 510),
        centre: pair(3, 0),
        advance: pair(0, 2),
        advance_squared: pair(0, 0),
        seventh: pair(20, 14),
        home: pair(4, 0),
    },
    Profile {
        material: pair(960, 940),
        centre: pair(2, 7),
        advance: pair(0, 4),
        advance_squared: pair(0, 0),
        seventh: pair(5, 5),
        home: pair(0, 0),
    },
    Profile {
        material: pair(0, 0),
        centre: pair(-10, 11),
        advance: pair(-14, 3),
        advance_squared: pair(0, 0),
        seventh: pair(0, 0),
        home: pair(18, -8),
    },
];

const fn formula_tables() -> [[Pair; 64]; 6] {
    let mut tables = [[pair(0, 0); 64]; 6];
    let mut role = 0;
    while role < 6 {
        let mut square = 0;
        while square < 64 {
            tables[role][square] = formula(&PROFILES[role], square as i32 % 8, square as i32 / 8);
            square += 1;
        }
        role += 1;
    }
    tables
}

const fn formula(profile: &Profile, file: i32, rank: i32) -> Pair {
    let centre = steps_from_edge(file) + steps_from_edge(rank);
    let mut value = profile.material;
    value = plus(value, profile.centre, centre);
    value = plus(value, profile.advance, rank);
    value = plus(value, profile.advance_squared, rank * rank);
    value = plus(value, profile.seventh, (rank == 6) as i32);
    plus(value, profile.home, (rank == 0) as i32)
}

const fn plus(sum: Pair, weight: Pair, times: i32) -> Pair {
    pair(sum.middle + weight.middle * times, sum.end + weight.end * times)
}

/// 0 on the edge, 3 in the middle.
const fn steps_from_edge(coordinate: i32) -> i32 {
    if coordinate < 4 { coordinate } else { 7 - coordinate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::movegen::MoveList;
    use crate::eval::State;

    /// Start, castling on both sides, en passant and promotions near.
    const STARTS: [&str; 4] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "r3k2r/1P4P1/8/p2Pp2p/P2pP2P/8/1p4p1/R3K2R w KQkq e6 0 1",
        "8/PPP4k/8/8/8/8/4Kppp/8 w - - 0 1",
    ];

    /// A small generator of our own: the sequence must never change with a crate's version.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 33) as usize % limit
        }
    }

    /// The same position with colours, sides and the turn exchanged.
    fn flipped(position: &Position) -> Position {
        let fen = position.to_fen();
        let fields: Vec<&str> = fen.split(' ').collect();
        let swap = |text: &str| -> String {
            let other = |c: char| {
                if c.is_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }
            };
            text.chars().map(other).collect()
        };
        let ranks: Vec<String> = fields[0].split('/').rev().map(swap).collect();
        let turn = if fields[1] == "w" { "b" } else { "w" };
        let passant = fields[3].replace(['3', '6'], if turn == "w" { "6" } else { "3" });
        let text = format!("{} {turn} {} {passant} 0 1", ranks.join("/"), swap(fields[2]));
        Position::from_fen(&text).unwrap()
    }

    /// Plays random games, passes among the moves; `visit` sees every node with its state.
    fn random_games(mut visit: impl FnMut(&Position, &mut State, MoveList)) {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for game in 0..120 {
            let mut position = Position::from_fen(STARTS[game % STARTS.len()]).unwrap();
            let mut state = State::new(&position);
            for _ in 0..160 {
                let moves = position.legal_moves();
                visit(&position, &mut state, moves.clone());
                if moves.is_empty() {
                    break;
                }
                if !position.in_check() && random.below(12) == 0 {
                    state.push(&Change::default());
                    position = position.pass();
                    continue;
                }
                let (next, change) = position.play(moves[random.below(moves.len())]);
                state.push(&change);
                position = next;
            }
        }
    }

    #[test]
    fn incremental_sums_equal_recomputed_ones_and_taking_back_restores_them() {
        let (mut castlings, mut passants, mut promotions, mut nodes) = (0, 0, 0, 0);
        random_games(|position, state, moves| {
            let before = state.evaluate(position);
            assert_eq!(before, State::new(position).evaluate(position), "{position:?}");
            for &m in moves.iter() {
                castlings += usize::from(m.is_castle());
                passants += usize::from(m.is_en_passant());
                promotions += usize::from(m.is_promotion());
                let (next, change) = position.play(m);
                state.push(&change);
                assert_eq!(state.sums.top, Sums::of(&next), "{m} in {position:?}");
                state.pop();
            }
            assert_eq!(state.evaluate(position), before);
            nodes += 1;
        });
        assert!(castlings > 50 && passants > 20 && promotions > 500 && nodes > 5_000);
    }

    #[test]
    fn exchanging_the_colours_changes_nothing_for_the_side_to_move() {
        random_games(|position, state, _| {
            let other = flipped(position);
            assert_eq!(
                state.evaluate(position),
                State::new(&other).evaluate(&other),
                "{position:?}"
            );
        });
    }

    #[test]
    fn packing_loses_nothing() {
        for (middle, end, phase) in [(0, 0, 0), (-1, 1, 24), (1, -1, 62), (-9_000, -9_001, 1)] {
            let packed = Sums(middle + (end << END_SHIFT) + (phase << PHASE_SHIFT));
            assert_eq!((packed.middle(), packed.end()), (middle as i32, end as i32));
            assert_eq!(packed.phase(), phase as i32);
        }
    }

    #[test]
    fn the_start_is_level_but_for_the_move() {
        let start = Position::startpos();
        assert_eq!(State::new(&start).evaluate(&start), Score::cp(TEMPO));
    }

    #[test]
    fn pieces_have_their_usual_order_of_value() {
        let mean = |role: usize| {
            let sum: i32 = TABLES[role].iter().map(|pair| pair.middle + pair.end).sum();
            sum / 128
        };
        let [pawn, knight, bishop, rook, queen] = [0, 1, 2, 3, 4].map(mean);
        assert!(pawn * 2 < knight && knight <= bishop && bishop + pawn < rook);
        assert!(rook + bishop < queen && queen < 3 * bishop + pawn);
    }
}
