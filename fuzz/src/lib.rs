//! Properties of the parsers that hold for any bytes: one function for each kind of input. The fuzzer
//! calls them (`fuzz_targets/`). `tests/integration/parsers.rs` of the main package calls them with
//! inputs of its own, on a stable compiler.

use std::fmt::Display;
use std::sync::Arc;

use tacet::board::{Position, pgn};
use tacet::eval::network::shape::Shape;
use tacet::eval::network::{Network, Parameters};
use tacet::eval::{Evaluator, State};
use tacet::lab::epd;
use tacet::uci::command;

/// A line of UCI is parsed, or refused in one line.
pub fn command(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Err(refusal) = command::parse(&text) {
        assert_one_line(&refusal);
    }
    for note in command::parse_go(text.split_whitespace()).notes {
        assert_one_line(&note);
    }
}

/// A FEN is refused in one line, or gives a position that is written as it was read. So does a move.
pub fn fen(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (fen, moves) = text.split_once('\n').unwrap_or((&text, ""));
    match Position::from_fen(fen) {
        Ok(position) => {
            let written = position.to_fen();
            let again = Position::from_fen(&written).map_err(|error| error.to_string());
            assert_eq!(again.as_ref(), Ok(&position), "{written}");
            check_moves(&position, moves);
        }
        Err(refusal) => assert_one_line(&refusal),
    }
}

fn check_moves(position: &Position, moves: &str) {
    for word in moves.split_whitespace() {
        match position.read_move(word) {
            Ok(m) => {
                assert!(position.is_legal(m), "{word}");
                assert_eq!(position.read_move(&position.san(m)), Ok(m), "{word}");
            }
            Err(refusal) => assert_one_line(&refusal),
        }
    }
    for &m in position.legal_moves().iter() {
        assert_eq!(position.read_move(&position.uci(m, true)), Ok(m));
    }
}

/// A suite gives positions with tasks of legal moves, or is refused in one line that names the bad line.
pub fn epd(bytes: &[u8]) {
    let (records, bad) = epd::parse(&pgn::decode(bytes));
    for record in records {
        for &m in record.best.iter().chain(&record.avoid) {
            assert!(record.position.is_legal(m), "{}", record.id);
        }
        assert_one_line(&record.task());
    }
    for line in bad {
        assert!(line.line >= 1);
        assert_one_line(&line.reason);
    }
}

/// Every game has legal moves or is refused in one line, and reading terminates.
pub fn pgn(bytes: &[u8]) {
    for (number, game) in pgn::read(bytes).enumerate() {
        assert!(number <= bytes.len(), "reading does not end");
        match game {
            Ok(game) => {
                let mut position = game.start.clone();
                for &m in &game.moves {
                    assert!(position.is_legal(m) || m.is_pass() && !position.in_check());
                    position = position.follow(m);
                }
                assert_eq!(position, game.end());
                let written = game.to_string();
                let again = pgn::read(written.as_bytes()).next().expect("a game").expect("is PGN");
                assert_eq!((again.start, again.moves), (game.start, game.moves), "{written}");
            }
            Err(refusal) => assert_one_line(&refusal),
        }
    }
}

/// A file is a network or is refused in one line. No accepted network can overflow.
pub fn network(bytes: &[u8]) {
    match Network::read(bytes) {
        Ok(network) => evaluate(network),
        Err(refusal) => assert_one_line(&refusal),
    }
    // A fuzzer cannot guess a checksum, so the bytes also serve as the parameters of a complete file.
    let number = |at: usize| match bytes.len() {
        0 => 0,
        length => i16::from_le_bytes([bytes[2 * at % length], bytes[(2 * at + 1) % length]]),
    };
    let shift = bytes.first().map_or(0, |byte| byte % 16);
    let shape = Shape::BUILT;
    let numbers = (0..shape.parameters()).map(|at| number(at) >> shift).collect();
    let parameters = Parameters { shape, scale: number(0).unsigned_abs(), number: 0, numbers };
    match Network::read(&parameters.to_bytes()) {
        Ok(network) => evaluate(network),
        Err(refusal) => assert_one_line(&refusal),
    }
}

/// Evaluates along some moves, with incremental updates and from scratch.
fn evaluate(network: Network) {
    let evaluator = Evaluator::Network(Arc::new(network));
    let mut position = Position::startpos();
    let mut state = State::with(&evaluator, &position);
    for text in ["e2e4", "d7d5", "e4d5", "d8d5", "b1c3", "d5e5", "f1e2", "c8g4", "d2d4", "g4e2"] {
        let Ok(m) = position.read_move(text) else { break };
        let (next, change) = position.play(m);
        state.push(&change);
        position = next;
        let fresh = State::with(&evaluator, &position).evaluate(&position);
        assert_eq!(state.evaluate(&position), fresh, "after {text}");
    }
    // An ending whose value is scaled.
    let ending = Position::from_fen("8/4kb2/8/3P4/4K3/4B3/8/8 w - - 0 1").expect("a position");
    State::with(&evaluator, &ending).evaluate(&ending);
}

fn assert_one_line(text: &impl Display) {
    let text = text.to_string();
    assert!(!text.contains(['\n', '\r']), "{text:?}");
}
