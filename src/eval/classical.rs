//! A small classical evaluation: material, piece-square values and the right to move.
//!
//! Every piece on its square has one value for the middlegame and one for the endgame; the sum of
//! both (White's minus Black's) is blended by how many officers are left on the board. The sums
//! change with a move by at most four table entries, so the work per node is a few additions.
//! [`endings`] corrects the result where little material is left.
//!
//! # Where the numbers come from
//! They are this project's own. A formula of a few numbers per kind of piece (its material, and what
//! it gains by standing in the centre, by advancing, and so on) was written down by hand; 6,000
//! games that the engine then played against itself with it, 668,645 positions, and 500 games made
//! while trying the tools out, were what the values below were fitted to:
//!
//! ```text
//! tacet datagen --out games.viri --games 6000 --nodes 800 --seed 7
//! tacet tune-eval --result-share 0.8 --prior 50 games.viri ..
//! ```
//!
//! In 300 games at 6,000 nodes a move, book UHO_4060_v3, a first fit (to half of these games) won
//! 172, lost 84 and drew 44 against the formula: +105 ± 36 Elo. This one then scored 126 to 119 with
//! 55 draws against the first: +8 ± 37.

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
pub const TEMPO: i32 = 5;

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
        pair(30, 145), pair(60, 143), pair(65, 129), pair(49, 122),
        pair(39, 136), pair(70, 131), pair(68, 126), pair(75, 109),
        pair(40, 156), pair(55, 139), pair(65, 126), pair(83, 121),
        pair(31, 175), pair(67, 161), pair(72, 146), pair(87, 146),
        pair(80, 207), pair(77, 221), pair(42, 192), pair(114, 200),
        pair(163, 232), pair(115, 276), pair(44, 325), pair(55, 286),
        pair(0, 0), pair(0, 0), pair(0, 0), pair(0, 0),
    ],
    [ // Knight
        pair(253, 290), pair(294, 284), pair(346, 220), pair(275, 340),
        pair(270, 231), pair(303, 310), pair(316, 329), pair(303, 302),
        pair(292, 324), pair(336, 296), pair(318, 324), pair(306, 378),
        pair(310, 283), pair(294, 371), pair(326, 343), pair(332, 361),
        pair(375, 270), pair(319, 362), pair(369, 348), pair(333, 404),
        pair(351, 278), pair(306, 348), pair(346, 336), pair(403, 324),
        pair(330, 294), pair(325, 323), pair(340, 351), pair(395, 327),
        pair(317, 235), pair(239, 346), pair(285, 264), pair(312, 373),
    ],
    [ // Bishop
        pair(333, 250), pair(231, 388), pair(316, 312), pair(322, 337),
        pair(330, 285), pair(344, 332), pair(313, 359), pair(319, 365),
        pair(326, 318), pair(311, 368), pair(326, 386), pair(314, 370),
        pair(337, 337), pair(312, 372), pair(329, 365), pair(328, 382),
        pair(272, 350), pair(325, 356), pair(357, 374), pair(337, 402),
        pair(305, 371), pair(323, 346), pair(367, 351), pair(403, 329),
        pair(303, 318), pair(312, 360), pair(367, 367), pair(382, 267),
        pair(234, 392), pair(250, 320), pair(295, 328), pair(309, 358),
    ],
    [ // Rook
        pair(419, 564), pair(413, 587), pair(438, 575), pair(441, 564),
        pair(402, 572), pair(403, 569), pair(432, 568), pair(434, 549),
        pair(388, 572), pair(431, 568), pair(424, 565), pair(428, 564),
        pair(418, 601), pair(435, 595), pair(460, 589), pair(394, 594),
        pair(438, 596), pair(394, 607), pair(461, 594), pair(405, 611),
        pair(436, 597), pair(453, 591), pair(541, 581), pair(468, 587),
        pair(472, 598), pair(471, 575), pair(555, 563), pair(532, 568),
        pair(473, 582), pair(524, 576), pair(495, 586), pair(505, 581),
    ],
    [ // Queen
        pair(930, 911), pair(937, 972), pair(955, 940), pair(944, 941),
        pair(953, 935), pair(971, 885), pair(972, 954), pair(954, 954),
        pair(920, 947), pair(957, 965), pair(940, 989), pair(951, 956),
        pair(957, 928), pair(931, 1024), pair(933, 996), pair(946, 989),
        pair(946, 1042), pair(945, 1033), pair(981, 1008), pair(974, 1025),
        pair(945, 995), pair(999, 930), pair(927, 1016), pair(1030, 990),
        pair(922, 998), pair(946, 954), pair(986, 961), pair(997, 1048),
        pair(897, 1042), pair(973, 967), pair(1013, 1013), pair(995, 990),
    ],
    [ // King
        pair(-17, 5), pair(-15, 15), pair(-33, 1), pair(-28, 13),
        pair(-31, 7), pair(-79, 34), pair(-64, 37), pair(-74, 48),
        pair(-46, 12), pair(-39, 13), pair(-81, 43), pair(-119, 59),
        pair(-74, 36), pair(-100, 35), pair(-79, 39), pair(-12, 39),
        pair(-58, 18), pair(16, 62), pair(-114, 84), pair(-53, 42),
        pair(-81, 73), pair(-159, 98), pair(-49, 91), pair(-106, 67),
        pair(-112, 7), pair(-86, 96), pair(-76, 107), pair(-27, 71),
        pair(-42, -90), pair(-5, 100), pair(-107, 105), pair(-102, 36),
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
