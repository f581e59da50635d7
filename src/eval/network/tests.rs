//! Incremental equals recomputed, and files are read or refused.

use std::sync::Arc;

use super::accumulator::Stack;
use super::*;
use crate::board::{Change, Color, Position, Square, color_index};
use crate::eval::{Evaluator, State, endings};
use crate::score::Score;

/// Start, castling on both sides, en passant and promotions near, and Chess960.
const STARTS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/1P4P1/8/p2Pp2p/P2pP2P/8/1p4p1/R3K2R w KQkq e6 0 1",
    "8/PPP4k/8/8/8/8/4Kppp/8 w - - 0 1",
    "1rk1r3/pppppppp/8/8/8/8/PPPPPPPP/1RK1R3 w EBeb - 0 1",
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

fn random_parameters() -> Parameters {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut number = |most: usize| (random.below(2 * most + 1) as i32 - most as i32) as i16;
    let mut numbers = Vec::new();
    (0..BIAS).for_each(|_| numbers.push(number(60)));
    (BIAS..OUTPUT).for_each(|_| numbers.push(number(200)));
    (OUTPUT..LENGTH).for_each(|_| numbers.push(number(127)));
    Parameters { scale: 300, numbers }
}

/// The value as the definition has it, without rows, kernels or sums kept.
fn defined(parameters: &Parameters, position: &Position) -> Score {
    let numbers = |index: usize| i64::from(parameters.numbers[index]);
    let bucket = (position.occupied().count() - 1) / (32 / BUCKETS);
    let mut sum = 0;
    for (number, color) in [position.turn(), !position.turn()].into_iter().enumerate() {
        let king = position.king(color);
        for neuron in 0..HIDDEN {
            let mut value = numbers(BIAS + neuron);
            for piece in position.piece_squares() {
                let seen = |square: Square| {
                    let square = if color.is_black() { square.flip_vertical() } else { square };
                    let left = (king as usize % 8) < 4;
                    if left { square.flip_horizontal() } else { square }
                };
                let region = match seen(king) {
                    Square::G1 | Square::H1 => 0,
                    Square::E1 | Square::F1 => 1,
                    Square::E2 | Square::F2 | Square::G2 | Square::H2 => 2,
                    _ => 3,
                };
                let kind = usize::from(piece.color() != color) * 6 + piece.role() as usize - 1;
                let input = region * 768 + kind * 64 + seen(piece.square()) as usize;
                value += numbers(input * HIDDEN + neuron);
            }
            let weight = numbers(OUTPUT + (2 * bucket + number) * HIDDEN + neuron);
            sum += value.clamp(0, 255).pow(2) * weight;
        }
    }
    let value = (sum / 255 + numbers(OUTPUT_BIAS + bucket)) * i64::from(parameters.scale);
    let value = (value / (255 * 64)) as i32;
    if endings::may_mislead(position) {
        endings::won(position).unwrap_or_else(|| endings::corrected(position, value, 0))
    } else {
        Score::cp(value)
    }
}

#[test]
fn incremental_sums_equal_recomputed_ones_and_taking_back_restores_them() {
    let parameters = random_parameters();
    let network = Arc::new(Network::new(&parameters).unwrap());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut castlings, mut passants, mut promotions, mut crossings, mut passes) = (0, 0, 0, 0, 0);
    for game in 0..80 {
        let mut position = Position::from_fen(STARTS[game % STARTS.len()]).unwrap();
        let mut stack = Stack::new(Arc::clone(&network), &position);
        let mut line: Vec<Position> = Vec::new();
        for _ in 0..140 {
            let moves = position.legal_moves();
            // Not at every node: so that several changes are caught up with at once.
            if random.below(3) > 0 {
                assert_eq!(stack.evaluate(&position), defined(&parameters, &position));
            }
            if moves.is_empty() {
                break;
            }
            for &m in moves.iter().filter(|_| random.below(4) == 0) {
                let (next, change) = position.play(m);
                stack.push(&change);
                assert_eq!(stack.evaluate(&next), defined(&parameters, &next), "{m} {position:?}");
                stack.pop();
            }
            if line.len() > 6 && random.below(16) == 0 {
                for _ in 0..random.below(6) {
                    stack.pop();
                    position = line.pop().unwrap();
                }
                continue;
            }
            line.push(position.clone());
            if !position.in_check() && random.below(12) == 0 {
                passes += 1;
                stack.push(&Change::default());
                position = position.pass();
                continue;
            }
            let special = moves.iter().rfind(|m| m.is_castle() || m.is_en_passant());
            let m = special.copied().unwrap_or(moves[random.below(moves.len())]);
            castlings += usize::from(m.is_castle());
            passants += usize::from(m.is_en_passant());
            promotions += usize::from(m.is_promotion());
            let (next, change) = position.play(m);
            let view = |position: &Position| {
                Color::ALL.map(|c| View::of(c, position.king(c)))[color_index(!next.turn())]
            };
            crossings += usize::from(view(&position) != view(&next));
            stack.push(&change);
            position = next;
        }
        if game % 7 == 0 {
            stack.reset(&position);
            assert_eq!(stack.evaluate(&position), defined(&parameters, &position));
        }
    }
    let counted = [castlings, passants, promotions, passes, crossings];
    assert!(counted.iter().all(|&n| n > 20), "{counted:?}");
}

#[test]
fn what_is_written_is_read() {
    let parameters = random_parameters();
    let bytes = parameters.to_bytes();
    assert_eq!(Parameters::read(&bytes), Ok(parameters));
    assert!(Network::read(&bytes).is_ok());
}

#[test]
fn a_file_of_the_first_version_is_a_network_of_equal_king_buckets() {
    const FIRST: usize = 768 * HIDDEN;
    let numbers = random_parameters().numbers;
    let old = [&numbers[..FIRST], &numbers[BIAS..OUTPUT + 8 * HIDDEN], &[1, 2, 3, 4]].concat();
    let body: Vec<u8> = old.iter().flat_map(|number| number.to_le_bytes()).collect();
    let header = [1, HIDDEN as u16, 4, 300].map(u16::to_le_bytes).concat();
    let bytes = [&MAGIC[..], &header, &checksum(&body), &body].concat();
    let read = Parameters::read(&bytes).unwrap();
    assert_eq!((read.scale, read.numbers.len()), (300, LENGTH));
    for bucket in 0..4 {
        assert!(read.numbers[bucket * FIRST..][..FIRST] == numbers[..FIRST]);
    }
    for output in 0..8 {
        let old = &numbers[OUTPUT + output / 2 * 2 * HIDDEN..][..2 * HIDDEN];
        assert!(&read.numbers[OUTPUT + output * 2 * HIDDEN..][..2 * HIDDEN] == old);
    }
    assert_eq!(read.numbers[BIAS..OUTPUT], numbers[BIAS..OUTPUT]);
    assert_eq!(read.numbers[OUTPUT_BIAS..], [1, 1, 2, 2, 3, 3, 4, 4]);
    let cut = Parameters::read(&bytes[..bytes.len() - 2]).unwrap_err();
    assert_eq!(cut, NetworkError::Length(bytes.len() - 2, bytes.len()));
}

#[test]
fn what_is_no_network_is_refused_with_the_reason() {
    let bytes = random_parameters().to_bytes();
    let with = |index: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[index] = byte;
        bytes
    };
    let longer = [bytes.as_slice(), &[0]].concat();
    let neurons = HIDDEN % 256 + 200 * 256;
    let shape = format!("a network of {neurons} neurons and {BUCKETS} outputs, not {HIDDEN} and");
    for (bytes, reason) in [
        (Vec::new(), "not a network of Tacet"),
        (b"TACETNET".to_vec(), "a network of 8 bytes or more"),
        (with(0, b'X'), "not a network of Tacet"),
        (with(8, 9), "a network of version 9, not 1 to 2"),
        (with(11, 200), &shape),
        (with(1_000, 222), "wrong checksum"),
        (with(14, 0), "out of range"),
        (bytes[..bytes.len() - 1].to_vec(), "bytes or more, not"),
        (longer, "bytes or more, not"),
    ] {
        let bytes = if reason == "out of range" {
            // The scale is not under the checksum; 0 is 0 in both its bytes.
            let mut bytes = bytes;
            bytes[15] = 0;
            bytes
        } else {
            bytes
        };
        let refusal = Network::read(&bytes).unwrap_err().to_string();
        assert!(refusal.contains(reason) && !refusal.contains('\n'), "{refusal}");
    }
}

#[test]
fn numbers_too_large_for_the_arithmetic_are_refused() {
    for (index, number) in [(5, 511), (BIAS, -16_384), (OUTPUT, 128), (OUTPUT_BIAS - 1, i16::MIN)] {
        let mut parameters = random_parameters();
        parameters.numbers[index] = number;
        assert_eq!(Network::read(&parameters.to_bytes()).unwrap_err(), NetworkError::Range);
    }
    let short = Parameters { scale: 1, numbers: vec![0; LENGTH - 1] };
    assert!(matches!(Network::new(&short).unwrap_err(), NetworkError::Length(..)));
}

#[test]
fn the_embedded_network_is_the_default() {
    let network = Network::read(EMBEDDED).expect("a network");
    let position = Position::from_fen(STARTS[1]).unwrap();
    let expected = Stack::new(Arc::new(network), &position).evaluate(&position);
    let Evaluator::Network(default) = Evaluator::default() else { panic!("no network") };
    assert_eq!(State::new(&position).evaluate(&position), expected);
    let Evaluator::Network(again) = Evaluator::default() else { panic!("no network") };
    assert!(Arc::ptr_eq(&default, &again), "read once only");
}

#[test]
fn what_is_left_of_a_search_serves_the_next_one_of_the_same_network() {
    let [first, other] = [random_parameters(), Parameters::read(EMBEDDED).unwrap()]
        .map(|parameters| Evaluator::Network(Arc::new(Network::new(&parameters).unwrap())));
    let [before, after] = [STARTS[1], STARTS[2]].map(|fen| Position::from_fen(fen).unwrap());
    let classical = Evaluator::named(Evaluator::CLASSICAL).unwrap();
    for evaluator in [&first, &other, &classical, Evaluator::first()] {
        let mut last = State::with(&first, &before);
        let (next, change) = before.play(before.legal_moves()[0]);
        last.push(&change);
        last.evaluate(&next);
        let value = State::resumed(Some(last), evaluator, &after).evaluate(&after);
        assert_eq!(value, State::with(evaluator, &after).evaluate(&after));
    }
}

#[test]
fn files_that_are_none_are_refused() {
    let refusal = Network::load(Path::new("/no/such/file")).unwrap_err();
    assert!(matches!(refusal, NetworkError::File(_)));
    assert!(Network::load(&std::env::temp_dir()).is_err());
}

#[test]
fn a_blank_network_sees_nothing_in_any_position() {
    let network = Arc::new(Network::read(&blank(HIDDEN as u16)).unwrap());
    let position = Position::from_fen(STARTS[2]).unwrap();
    assert_eq!(Stack::new(network, &position).evaluate(&position), Score::ZERO);
    let larger = HIDDEN as u16 + 32;
    let refused = NetworkError::Shape(larger, BUCKETS as u16, BUCKETS);
    assert_eq!(Parameters::read(&blank(larger)), Err(refused));
}
