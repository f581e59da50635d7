//! A small classical evaluation: material, piece-square values and the right to move.
//!
//! Every piece on its square has one value for the middlegame and one for the endgame; the sum of
//! both (White's minus Black's) is blended by how many officers are left on the board. The sums
//! change with a move by at most four table entries, so the work per node is a few additions.
//! [`endings`] corrects the result where little material is left.
//!
//! # Where the numbers come from
//! They are this project's own: as yet a formula of a few numbers per kind of piece (its material,
//! and what it gains by standing in the centre, by advancing, and so on), written down by hand.

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

/// Short for a [`Pair`].
pub const fn pair(middle: i32, end: i32) -> Pair {
    Pair { middle, end }
}

/// What having the move is worth, in centipawns.
pub const TEMPO: i32 = 12;

/// How much a kind of piece counts towards the middlegame, by role from pawn to king.
pub const PHASE: [i32; 6] = [0, 1, 1, 2, 4, 0];

/// The sum of [`PHASE`] over the start position; promotions may exceed it.
pub const FULL_PHASE: i32 = 24;

/// The value of each kind of piece (by role from pawn to king) on each square, as White sees
/// the board. Black's pieces use the square mirrored top to bottom.
pub const TABLES: [[Pair; 64]; 6] = mirrored(&HALVES);

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

const fn mirrored(halves: &[[Pair; 32]; 6]) -> [[Pair; 64]; 6] {
    let mut tables = [[pair(0, 0); 64]; 6];
    let mut role = 0;
    while role < 6 {
        let mut square = 0;
        while square < 64 {
            let file = if square % 8 < 4 { square % 8 } else { 7 - square % 8 };
            tables[role][square] = halves[role][square / 8 * 4 + file];
            square += 1;
        }
        role += 1;
    }
    tables
}

/// The left half of the board, files a to d, rank by rank from White's first; the right half
/// mirrors it. In the form that `tacet tune-eval` prints.
#[rustfmt::skip]
const HALVES: [[Pair; 32]; 6] = [
    [ // Pawn
        pair(0, 0), pair(0, 0), pair(0, 0), pair(0, 0),
        pair(78, 93), pair(82, 93), pair(86, 93), pair(90, 93),
        pair(86, 104), pair(90, 104), pair(94, 104), pair(98, 104),
        pair(96, 121), pair(100, 121), pair(104, 121), pair(108, 121),
        pair(104, 144), pair(108, 144), pair(112, 144), pair(116, 144),
        pair(110, 173), pair(114, 173), pair(118, 173), pair(122, 173),
        pair(138, 228), pair(142, 228), pair(146, 228), pair(150, 228),
        pair(0, 0), pair(0, 0), pair(0, 0), pair(0, 0),
    ],
    [ // Knight
        pair(299, 276), pair(308, 283), pair(317, 290), pair(326, 297),
        pair(318, 290), pair(327, 297), pair(336, 304), pair(345, 311),
        pair(331, 300), pair(340, 307), pair(349, 314), pair(358, 321),
        pair(344, 310), pair(353, 317), pair(362, 324), pair(371, 331),
        pair(348, 313), pair(357, 320), pair(366, 327), pair(375, 334),
        pair(343, 309), pair(352, 316), pair(361, 323), pair(370, 330),
        pair(328, 297), pair(337, 304), pair(346, 311), pair(355, 318),
        pair(333, 301), pair(342, 308), pair(351, 315), pair(360, 322),
    ],
    [ // Bishop
        pair(315, 297), pair(320, 301), pair(325, 305), pair(330, 309),
        pair(332, 306), pair(337, 310), pair(342, 314), pair(347, 318),
        pair(339, 312), pair(344, 316), pair(349, 320), pair(354, 324),
        pair(346, 318), pair(351, 322), pair(356, 326), pair(361, 330),
        pair(348, 320), pair(353, 324), pair(358, 328), pair(363, 332),
        pair(345, 318), pair(350, 322), pair(355, 326), pair(360, 330),
        pair(334, 312), pair(339, 316), pair(344, 320), pair(349, 324),
        pair(339, 314), pair(344, 318), pair(349, 322), pair(354, 326),
    ],
    [ // Rook
        pair(469, 510), pair(472, 510), pair(475, 510), pair(478, 510),
        pair(468, 512), pair(471, 512), pair(474, 512), pair(477, 512),
        pair(471, 514), pair(474, 514), pair(477, 514), pair(480, 514),
        pair(474, 516), pair(477, 516), pair(480, 516), pair(483, 516),
        pair(474, 518), pair(477, 518), pair(480, 518), pair(483, 518),
        pair(471, 520), pair(474, 520), pair(477, 520), pair(480, 520),
        pair(488, 536), pair(491, 536), pair(494, 536), pair(497, 536),
        pair(465, 524), pair(468, 524), pair(471, 524), pair(474, 524),
    ],
    [ // Queen
        pair(960, 940), pair(962, 947), pair(964, 954), pair(966, 961),
        pair(962, 951), pair(964, 958), pair(966, 965), pair(968, 972),
        pair(964, 962), pair(966, 969), pair(968, 976), pair(970, 983),
        pair(966, 973), pair(968, 980), pair(970, 987), pair(972, 994),
        pair(966, 977), pair(968, 984), pair(970, 991), pair(972, 998),
        pair(964, 974), pair(966, 981), pair(968, 988), pair(970, 995),
        pair(967, 976), pair(969, 983), pair(971, 990), pair(973, 997),
        pair(960, 968), pair(962, 975), pair(964, 982), pair(966, 989),
    ],
    [ // King
        pair(18, -8), pair(8, 3), pair(-2, 14), pair(-12, 25),
        pair(-24, 14), pair(-34, 25), pair(-44, 36), pair(-54, 47),
        pair(-48, 28), pair(-58, 39), pair(-68, 50), pair(-78, 61),
        pair(-72, 42), pair(-82, 53), pair(-92, 64), pair(-102, 75),
        pair(-86, 45), pair(-96, 56), pair(-106, 67), pair(-116, 78),
        pair(-90, 37), pair(-100, 48), pair(-110, 59), pair(-120, 70),
        pair(-94, 29), pair(-104, 40), pair(-114, 51), pair(-124, 62),
        pair(-98, 21), pair(-108, 32), pair(-118, 43), pair(-128, 54),
    ],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::movegen::MoveList;

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
    fn random_games(mut visit: impl FnMut(&Position, &mut Stack, MoveList)) {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for game in 0..120 {
            let mut position = Position::from_fen(STARTS[game % STARTS.len()]).unwrap();
            let mut state = Stack::new(&position);
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
            assert_eq!(before, Stack::new(position).evaluate(position), "{position:?}");
            for &m in moves.iter() {
                castlings += usize::from(m.is_castle());
                passants += usize::from(m.is_en_passant());
                promotions += usize::from(m.is_promotion());
                let (next, change) = position.play(m);
                state.push(&change);
                assert_eq!(state.top, Sums::of(&next), "{m} in {position:?}");
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
                Stack::new(&other).evaluate(&other),
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
        assert_eq!(Stack::new(&start).evaluate(&start), Score::cp(TEMPO));
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
