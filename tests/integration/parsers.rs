//! The parsers on nearly valid input: the functions that the fuzzer calls (`fuzz/`), with some thousand
//! inputs from a fixed seed.

#[path = "../../fuzz/src/lib.rs"]
mod entries;

use std::time::{Duration, Instant};

use tacet::kit::random::Random;

/// Inputs per property: enough for a test, too few for fuzzing.
const INPUTS: u64 = 4_000;

const COMMANDS: [&str; 6] = [
    "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves e1g1 e8c8",
    "go wtime 1000 btime -3 winc 10 binc 10 movestogo 4 searchmoves e2e4 d2d4 ponder",
    "setoption name Move Overhead value 100",
    "genfens 3 seed 18446744073709551615 book None",
    "go depth 5 nodes 99999999999999999999 mate 3 movetime 10 infinite",
    "perft 3",
];

const FENS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1\ne7e5 Nf6 d5",
    "nqbnrkrb/pppppppp/8/8/8/8/PPPPPPPP/NQBNRKRB w GEge - 0 1\nf1g1 O-O e2e4",
    "8/P1k5/8/3pP3/8/8/8/R3K2R w KQ d6 12 60\na8=Q a7a8n exd6 O-O-O e1c1",
    "7k/8/5K2/8/8/8/8/6Q1 w - - 0 1\nQg7# g1g7 --",
    "4k3/8/8/8/8/8/8/4K2R[Qq] w K - 0 1",
];

const EPDS: [&str; 6] = [
    "4k3/8/8/8/8/8/8/R3K3 w Q - - bm Ra8 + ;\n% rest\n4k3/8/8/3Pp3/8/8/8/4K3 w - e6 hmvc 9; bm de6 e.p., d6\0\n",
    "qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - bm Qxe7#; am 1. Qa2xa7 Qb2-b6; dm 0;",
    "7k/8/5K2/8/8/8/8/6Q1 w - - bm Qg7#; id \"one\"; dm 1;\n",
    "r1b1k2r/ppppnppp/2n2q2/2b5/3NP3/2P1B3/PP3PPP/RN1QKB1R w KQkq - am Nxc6 e4e5; ce +M4; c0 \"a; b\";",
    "# a comment\n\n8/8/8/8/8/3k4/2p5/2K5 w - - 0 1 bm Kb2; acd 12\n",
    "7k/8/5K2/8/8/8/8/6Q1 w - - hmvc 3; fmvn 70; bm #1 id \"no semicolon\"",
];

const PGNS: [&str; 5] = [
    "\u{feff}[Event \"a \"b\" \\\\ c\"]\r\n[Result \"*\"]\r\n%x\r\n1.e2-e4 -- 2.d4! Z0 {x} 3.0000 d5$2 ; y\r\n(3...e5 (3...Nf6 *)) ½-½\r\n",
    "[FEN \"8/1P1k4/8/3pP3/8/8/8/R3K2R w KQ d6 0 9;\"]\n\n9.ed e.p. Kc7 10. b8(Q)+ Kxb8 11.0-0-0 (11.e1g1) 1 - 0\n\n1 e4, e5\n\n1.d4",
    "[Event \"?\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 (2. f4 exf4) Nc6 {a comment} 3. Bb5 $1 a6 1-0\n\n",
    "[FEN \"7k/8/5K2/8/8/8/8/6Q1 w - - 0 1\"]\n[SetUp \"1\"]\n\n1. Qg7# 1-0\n",
    "[Variant \"Chess960\"]\n[FEN \"nqbnrkrb/pppppppp/8/8/8/8/PPPPPPPP/NQBNRKRB w GEge - 0 1\"]\n\n1. O-O O-O *\n",
];

#[test]
fn commands() {
    feed(&COMMANDS, INPUTS, entries::command);
}

#[test]
fn fens() {
    feed(&FENS, INPUTS, entries::fen);
}

#[test]
fn suites() {
    feed(&EPDS, INPUTS, entries::epd);
}

#[test]
fn games() {
    feed(&PGNS, INPUTS, entries::pgn);
}

#[test]
#[ignore = "runs for TACET_FUZZ_SECONDS seconds, ten if unset"]
fn suites_at_length() {
    feed_at_length(&EPDS, entries::epd);
}

#[test]
#[ignore = "runs for TACET_FUZZ_SECONDS seconds, ten if unset"]
fn games_at_length() {
    feed_at_length(&PGNS, entries::pgn);
}

/// Mutations of the shipped network, and short random files.
#[test]
fn networks() {
    let file = include_bytes!("../../src/eval/network/tacet.net");
    let mut random = Random::numbered(3, 0);
    entries::network(file);
    for _ in 0..20 {
        let mut bytes = file.to_vec();
        // In the header, which is checked before the checksum.
        let at = random.below(24);
        bytes[at] ^= 1 << random.below(8);
        entries::network(&bytes);
        bytes.truncate(random.below(file.len()));
        entries::network(&bytes);
    }
    for _ in 0..60 {
        let length = random.below(40);
        let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        entries::network(&bytes);
    }
}

/// Feeds each text unchanged, then mutations of it.
fn feed(texts: &[&str], inputs: u64, read: impl Fn(&[u8])) {
    for text in texts {
        read(text.as_bytes());
    }
    for number in 0..inputs {
        read(&mutated(texts, 1, number));
    }
}

/// Feeds mutations until the time is up. A failing input is printed.
fn feed_at_length(texts: &[&str], read: impl Fn(&[u8]) + std::panic::RefUnwindSafe) {
    let seconds = std::env::var("TACET_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let length = Duration::from_secs(seconds.unwrap_or(10));
    let begun = Instant::now();
    let mut inputs = 0;
    while begun.elapsed() < length {
        let bytes = mutated(texts, 2, inputs);
        let failed = std::panic::catch_unwind(|| read(&bytes)).is_err();
        assert!(!failed, "input {inputs}: {:?}", String::from_utf8_lossy(&bytes));
        inputs += 1;
    }
    println!("{inputs} inputs");
}

/// A mutation of a text, determined by seed and number.
fn mutated(texts: &[&str], seed: u64, number: u64) -> Vec<u8> {
    let mut random = Random::numbered(seed, number);
    let text = *random.pick(texts).expect("a text");
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        change(&mut bytes, texts, &mut random);
    }
    bytes
}

/// Inserts, deletes or replaces a byte, duplicates a part, truncates, or continues with another text.
fn change(bytes: &mut Vec<u8>, texts: &[&str], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let byte = match random.below(3) {
        0 => random.bits() as u8,
        1 => *random.pick(b"0123456789-/ \n\"").expect("a byte"),
        _ => *random.pick(b"KQRBNPkqrbnpwabcdefgh=x+#").expect("a byte"),
    };
    match random.below(6) {
        0 => bytes.insert(at, byte),
        1 if at < bytes.len() => drop(bytes.remove(at)),
        2 if at < bytes.len() => bytes[at] = byte,
        3 => {
            let end = at + random.below(bytes.len() + 1 - at);
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
        4 => bytes.truncate(at),
        _ => {
            let other = random.pick(texts).expect("a text").as_bytes();
            bytes.truncate(at);
            bytes.extend(&other[random.below(other.len())..]);
        }
    }
}
