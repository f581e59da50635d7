//! Known perft numbers: the number of move sequences of a given length.
//!
//! A sample is typed in here and runs in seconds. The complete suites take minutes:
//! `TACET_SUITES=DIR cargo test --release --test integration perft -- --ignored --nocapture`, with
//! `standard.epd`, `tricky.epd` and `chess960.epd` in `DIR/perft`.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::common::position;
use tacet::board::perft::{divide, perft};

/// A position, a depth and the number of leaves.
type Fact = (&'static str, u32, u64);

/// From the suite that came with the ROCE engine (J. Arends), and Kiwipete.
const STANDARD: [Fact; 23] = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 5, 4_865_609),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 4, 4_085_603),
    ("8/8/8/8/8/8/6k1/4K2R w K - 0 1", 6, 185_867),
    ("r3k3/1K6/8/8/8/8/8/8 w q - 0 1", 6, 367_724),
    ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", 4, 314_346),
    ("r3k2r/8/8/8/8/8/8/R3K1R1 w Qkq - 0 1", 4, 316_214),
    ("2r1k2r/8/8/8/8/8/8/R3K2R w KQk - 0 1", 4, 317_324),
    ("r3k3/1K6/8/8/8/8/8/8 b q - 0 1", 6, 413_018),
    ("8/8/4k3/3Nn3/3nN3/4K3/8/8 w - - 0 1", 5, 1_198_299),
    ("8/1n4N1/2k5/8/8/5K2/1N4n1/8 b - - 0 1", 5, 582_642),
    ("B6b/8/8/8/2K5/4k3/8/b6B w - - 0 1", 5, 1_320_507),
    ("8/8/1B6/7b/7k/8/2B1b3/7K b - - 0 1", 5, 1_591_064),
    ("7k/RR6/8/8/8/8/rr6/7K w - - 0 1", 5, 2_161_211),
    ("R6r/8/8/2K5/5k2/8/8/r6R b - - 0 1", 4, 771_368),
    ("K7/8/8/3Q4/4q3/8/8/7k w - - 0 1", 6, 3_370_175),
    ("8/2k1p3/3pP3/3P2K1/8/8/8/8 w - - 0 1", 6, 34_834),
    ("8/3k4/3p4/8/3P4/3K4/8/8 w - - 0 1", 6, 157_093),
    ("8/3k4/3p4/8/3P4/3K4/8/8 b - - 0 1", 6, 158_065),
    ("3k4/3pp3/8/8/8/8/3PP3/3K4 w - - 0 1", 6, 199_002),
    ("8/Pk6/8/8/8/8/6Kp/8 w - - 0 1", 6, 1_030_499),
    ("n1n5/1Pk5/8/8/8/8/5Kp1/5N1N w - - 0 1", 5, 2_193_768),
    ("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 0 1", 5, 3_605_103),
    ("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", 5, 3_605_103),
];

/// Collected by Martin Sedlak: <http://www.talkchess.com/forum/viewtopic.php?t=47318>
const TRICKY: [Fact; 16] = [
    // En passant that would leave the king in check, along the rank and the diagonal.
    ("3k4/3p4/8/K1P4r/8/8/8/8 b - - 0 1", 6, 1_134_888),
    ("8/8/4k3/8/2p5/8/B2P2K1/8 w - - 0 1", 6, 1_015_133),
    // En passant gives check.
    ("8/8/1k6/2b5/2pP4/8/5K2/8 b - d3 0 1", 6, 1_440_467),
    // Castling gives check, short and long.
    ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", 6, 661_072),
    ("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", 6, 803_711),
    // Rights lost by the capture of a rook.
    ("r3k2r/1b4bq/8/8/8/8/7B/R3K2R w KQkq - 0 1", 4, 1_274_206),
    // Castling through and into check.
    ("r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq - 0 1", 4, 1_720_476),
    // Promotion out of check.
    ("2K2r2/4P3/8/8/8/8/8/3k4 w - - 0 1", 6, 3_821_001),
    // Discovered check.
    ("8/8/1P2K3/8/2n5/1q6/8/5k2 b - - 0 1", 5, 1_004_658),
    // Promotion and underpromotion give check.
    ("4k3/1P6/8/8/8/8/K7/8 w - - 0 1", 6, 217_342),
    ("8/P1k5/K7/8/8/8/8/8 w - - 0 1", 6, 92_683),
    // Self-stalemate; stalemate or mate.
    ("K1k5/8/P7/8/8/8/8/8 w - - 0 1", 6, 2_217),
    ("8/k1P5/8/1K6/8/8/8/8 w - - 0 1", 7, 567_584),
    // Double check.
    ("8/8/2k5/5q2/5n2/8/5K2/8 b - - 0 1", 4, 23_527),
    // The right is gone although the rook never moved: it was captured.
    ("1k6/1b6/8/8/7R/8/8/4K2R b K - 0 1", 5, 1_063_513),
    ("1k6/8/8/8/R7/1n6/8/R3K3 b Q - 0 1", 5, 346_695),
];

/// From the Chess960 suite of the Chess Programming Wiki ("Chess960 Perft Results").
const CHESS960: [Fact; 15] = [
    ("bnqnrbkr/1pp2pp1/p7/3pP2p/4P1P1/8/PPPP3P/BNQNRBKR w HEhe d6 0 9", 4, 962_591),
    ("nnbbrkrq/2pp1pp1/1p5p/pP2p3/7P/N7/P1PPPPP1/N1BBRKRQ w GEge - 0 9", 4, 242_350),
    ("nbrn1qkr/ppp1pp2/3p2p1/3Q3P/b7/8/PPPPPP1P/NBRNB1KR w HChc - 2 9", 4, 1_133_446),
    ("nqrkb1rb/pp2pppp/2p1n3/3p4/3PP1N1/8/PPP2PPP/NQRKB1RB w GCgc - 0 9", 4, 679_387),
    ("nrknrbbq/p4ppp/2p1p3/1p1p4/1P2P3/2P5/P1NP1PPP/1RKNRBBQ w EBeb - 0 9", 4, 587_668),
    ("bnrbk1qn/1pppprpp/8/p4p1P/6P1/3P4/PPP1PP2/BNRBKRQN w FCc - 0 9", 4, 268_157),
    ("rbb1qnkr/p1ppp1pp/1p3p2/6n1/8/1PN1P2P/P1PP1PP1/RBB1QNKR w HAha - 0 9", 4, 467_660),
    ("qrbnknrb/ppp1pp2/6p1/7p/PPNp4/8/2PPPPPP/QRB1KNRB w GBgb - 0 9", 4, 742_772),
    ("rnknbb1r/p1ppp1pp/8/1p1P1p1q/8/P1P5/1P2PPPP/RNKNBBQR w HAha - 1 9", 4, 417_451),
    ("rnqbkr1n/1p1ppbpp/3p1p2/p7/8/1P6/P1PPPPPP/R1QBKRBN w FAfa - 0 9", 4, 492_678),
    ("bbrqknnr/ppp4p/3pp3/5pp1/4PP2/5Q2/PPPP2PP/BBR1KNNR w HChc - 0 9", 4, 758_528),
    ("brkn1rqb/1p1ppppp/3n4/p1p5/1P3P2/8/PNPPP1PP/BR1KNRQB w fb - 1 9", 4, 469_818),
    ("rkbnqbrn/pp1ppp1p/2p5/6p1/P7/4P3/KPPPQPPP/R1BN1BRN w - - 3 9", 4, 401_483),
    ("rqkb1rnn/1pp1pp1p/p5p1/1b1p4/3P4/P5P1/RPP1PP1P/1QKBBRNN w Ffa - 1 9", 4, 290_897),
    ("r1krnnbq/pp1ppp1p/6p1/2p5/2P5/P3P3/Rb1P1PPP/1BKRNNBQ w Dda - 0 9", 5, 937_188),
];

#[test]
fn standard_facts() {
    check_all(&STANDARD);
}

#[test]
fn tricky_facts() {
    check_all(&TRICKY);
}

#[test]
fn chess960_facts() {
    check_all(&CHESS960);
}

#[test]
fn divide_adds_up_to_perft() {
    for &(fen, depth, nodes) in &STANDARD[..4] {
        let depth = depth - 1;
        let (root, stop) = (position(fen), AtomicBool::new(false));
        let parts: Vec<u64> = divide(&root, depth, &stop).filter_map(|(_, nodes)| nodes).collect();
        assert_eq!(parts.len() as u64, perft(&position(fen), 1), "{fen}");
        let sum: u64 = parts.iter().sum();
        assert_eq!(sum, perft(&position(fen), depth), "{fen}");
        assert!(sum < nodes);
    }
}

/// Positions that no game reaches: odds, many promoted pieces, sixteen pieces of any kind. The counts are
/// compared with shakmaty's generator, which handles up to 270 moves.
#[test]
fn positions_that_cannot_arise_have_the_moves_that_shakmaty_finds() {
    for (fen, depth) in [
        ("r1bq1rk1/ppp1ppbp/2np1np1/8/8/2P1PP2/PP1PQQPP/QQQQ1K1Q w - - 1 7", 2),
        ("nnnnknnn/nnnnnnnn/8/8/8/8/NNNNNNNN/NNNNKNNN w - - 0 1", 3),
        ("qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1", 2),
        ("bbbbkbbb/bbbbbbbb/8/8/8/8/BBBBBBBB/BBBBKBBB w - - 0 1", 3),
        ("rrrrkrrr/rrrrrrrr/8/8/8/8/RRRRRRRR/RRRRKRRR w KQkq - 0 1", 2),
        ("3k4/8/8/8/8/8/PPPPPPPP/QQQQKQQQ w - - 0 1", 3),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/1NBQKBN1 w kq - 0 1", 3),
        ("r1k3r1/8/8/qqqqqqqq/QQQQQQQQ/8/8/R1K3R1 w GAga - 0 1", 2),
    ] {
        let expected = shakmaty::perft(&crate::common::oracle(fen), depth);
        assert_eq!(perft(&position(fen), depth), expected, "{fen}");
    }
}

#[test]
fn more_moves_than_any_game_allows_fit_into_the_list() {
    let fen = "k2B1Q1Q/BR6/Q5Q1/3Q4/Q4Q2/2Q4Q/K3Q3/1Q4Q1 w - - 0 1";
    let position = position(fen);
    let moves = position.legal_moves();
    assert_eq!(moves.len(), 228);
    for &m in moves.iter() {
        assert!(position.is_legal(m), "{m}");
        assert_eq!(position.read_move(&position.san(m)), Ok(m));
    }
}

#[test]
fn depth_zero_is_one_leaf() {
    assert_eq!(perft(&position(STANDARD[1].0), 0), 1);
}

#[test]
#[ignore = "needs standard.epd: TACET_SUITES=DIR"]
fn standard_suite_in_full() {
    run_suite("standard.epd", u32::MAX);
}

#[test]
#[ignore = "needs tricky.epd: TACET_SUITES=DIR"]
fn tricky_suite_in_full() {
    run_suite("tricky.epd", u32::MAX);
}

#[test]
#[ignore = "needs chess960.epd: TACET_SUITES=DIR"]
fn chess960_suite_to_depth_5() {
    run_suite("chess960.epd", 5);
}

#[test]
#[ignore = "a measurement: worth something only with --release on a quiet machine"]
fn speed_is_at_least_nine_tenths_of_shakmatys() {
    let mut slowest = f64::INFINITY;
    for (fen, depth) in [(STANDARD[0].0, 5), (STANDARD[1].0, 4)] {
        let (ours, theirs) = (position(fen), crate::common::oracle(fen));
        let mut ratios: Vec<f64> = Vec::new();
        // Alternating, so that other load on the machine affects both.
        for _ in 0..15 {
            let (our_nodes, our_seconds) = timed(|| perft(&ours, depth));
            let (their_nodes, their_seconds) = timed(|| shakmaty::perft(&theirs, depth));
            assert_eq!(our_nodes, their_nodes);
            ratios.push(their_seconds / our_seconds);
        }
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        eprintln!("{fen}: our speed is {median:.3} times shakmaty's (median of 15 pairs)");
        slowest = slowest.min(median);
    }
    assert!(slowest >= 0.9);
}

fn timed(run: impl FnOnce() -> u64) -> (u64, f64) {
    let started = Instant::now();
    let nodes = run();
    (nodes, started.elapsed().as_secs_f64())
}

fn check_all(facts: &[Fact]) {
    for &(fen, depth, nodes) in facts {
        assert_eq!(perft(&position(fen), depth), nodes, "{fen} at depth {depth}");
    }
}

/// Checks all positions of a suite to this depth, and prints the time.
fn run_suite(name: &str, max_depth: u32) {
    let text = crate::common::suite(&format!("perft/{name}"));
    let started = Instant::now();
    let (mut positions, mut facts, mut leaves) = (0, 0, 0_u64);
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let (fen, counts) = parse_line(line);
        let position = position(fen);
        positions += 1;
        for (depth, nodes) in counts {
            if depth <= max_depth {
                assert_eq!(perft(&position, depth), nodes, "{name}: {fen} at depth {depth}");
                facts += 1;
                leaves += nodes;
            }
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("{name}: {positions} positions, {facts} facts, {leaves} leaves in {seconds:.1} s");
    assert!(facts > 0, "{name} has no counts");
}

/// `FEN ;D1 20 ;D2 400 ...`
fn parse_line(line: &str) -> (&str, Vec<(u32, u64)>) {
    let mut fields = line.split(';');
    let fen = fields.next().unwrap_or_default().trim();
    let counts = fields.map(|field| {
        let (depth, nodes) = field.trim().split_once(' ').expect("a depth and a count");
        let depth = depth.trim_start_matches('D').parse().expect("a depth");
        (depth, nodes.trim().parse().expect("a count"))
    });
    (fen, counts.collect())
}
