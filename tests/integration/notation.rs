//! Text of positions and moves: round trips over random games, and invalid text.

use crate::common::{SEEDS, games, oracle, position, positions};
use proptest::prelude::*;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use tacet::board::notation::NotationError;
use tacet::board::{PackedMove, Position};

proptest! {
    #![proptest_config(crate::common::config())]

    #[test]
    fn fen_round_trip(game in games(100)) {
        for position in game.positions() {
            let fen = position.to_fen();
            let again = crate::common::position(&fen);
            prop_assert_eq!(again.to_fen(), fen);
            prop_assert_eq!(again, position);
        }
    }

    #[test]
    fn uci_round_trip_in_both_castling_modes(position in positions(80)) {
        let moves = position.legal_moves();
        for chess960 in [true, false] {
            if position.needs_chess960() && !chess960 {
                // In standard notation a king move and castling could have the same text.
                continue;
            }
            for &m in moves.iter() {
                let text = position.uci(m, chess960);
                prop_assert_eq!(position.read_move(&text), Ok(m), "{:?} {}", &position, text);
            }
        }
    }

    #[test]
    fn san_round_trip(position in positions(80)) {
        let chess = oracle(&position.to_fen());
        for &m in position.legal_moves().iter() {
            let text = position.san(m);
            prop_assert_eq!(position.read_move(&text), Ok(m), "{:?} {}", &position, text);
            let uci: UciMove = m.to_string().parse().expect("a UCI move");
            let expected = SanPlus::from_move(chess.clone(), uci.to_move(&chess).expect("legal"));
            prop_assert_eq!(text, expected.to_string());
        }
    }

    /// Any text gives a position or an error of one line.
    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        check_fen(&text);
        check_moves(&Position::startpos(), &text);
    }

    /// Nearly valid text reaches deeper into the parsers than noise.
    #[test]
    fn nearly_right_text_is_answered(
        position in positions(40),
        at in any::<prop::sample::Index>(),
        letter in prop::sample::select(&b"KQRBNPkqrbnp12345678/ -wbabcdefgh0+#=xO\xc3\n\0"[..]),
        cut in any::<bool>(),
    ) {
        let moves = position.legal_moves();
        let m = moves.first().copied().unwrap_or(PackedMove::NONE);
        let mut texts = vec![position.to_fen(), m.to_string()];
        if m.is_some() {
            texts.push(position.san(m));
        }
        for text in texts {
            let mut bytes = text.into_bytes();
            let index = at.index(bytes.len());
            bytes[index] = letter;
            if cut {
                bytes.truncate(index);
            }
            let text = String::from_utf8_lossy(&bytes);
            check_fen(&text);
            check_moves(&position, &text);
        }
    }
}

/// An accepted FEN gives a usable position; a rejected one gives an error.
fn check_fen(text: &str) {
    match Position::from_fen(text) {
        Ok(position) => {
            for &m in position.legal_moves().iter() {
                assert!(position.is_legal(m), "{text}: {m}");
                let (next, _) = position.play(m);
                assert_eq!(*next.keys(), next.recomputed_keys(), "{text}: {m}");
            }
        }
        Err(error) => check_message(&error),
    }
}

fn check_moves(position: &Position, text: &str) {
    match position.read_move(text) {
        Ok(m) => assert!(position.is_legal(m), "{text}: {m}"),
        Err(error) => check_message(&error),
    }
}

fn check_message(error: &NotationError) {
    let message = error.to_string();
    assert!(!message.contains(['\n', '\r', '\0']), "not one clean line: {message:?}");
    assert!(message.chars().count() < 400, "too long: {message}");
}

#[test]
fn castling_is_read_as_step_and_as_capture() {
    let position = position(SEEDS[1]);
    for (step, capture) in [("e1g1", "e1h1"), ("e1c1", "e1a1")] {
        let m = position.read_move(capture).expect("legal");
        assert!(m.is_castle());
        assert_eq!(position.read_move(step), Ok(m));
        assert_eq!(position.uci(m, false), step);
        assert_eq!(position.uci(m, true), capture);
    }
}

#[test]
fn in_chess960_a_step_of_the_king_is_a_step() {
    // King f1, rook h1: f1g1 is a step, f1h1 castles.
    let position = position("4k3/8/8/8/8/8/8/5K1R w H - 0 1");
    assert!(position.needs_chess960());
    assert!(!position.read_move("f1g1").expect("legal").is_castle());
    assert!(position.read_move("f1h1").expect("legal").is_castle());
}

#[test]
fn fens_in_all_castling_forms_are_one_position() {
    let standard = position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    let shredder = position("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1");
    assert_eq!(standard, shredder);
    assert_eq!(shredder.to_fen(), "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    // X-FEN: the inner rook needs its file, the outer one is K.
    let inner = position("4k3/8/8/8/8/8/8/4K1RR w G - 0 1");
    assert_eq!(inner.to_fen(), "4k3/8/8/8/8/8/8/4K1RR w G - 0 1");
    assert_ne!(inner.key(), position("4k3/8/8/8/8/8/8/4K1RR w K - 0 1").key());
}

#[test]
fn fens_with_missing_or_doubtful_fields_are_read() {
    for (text, fen) in [
        ("8/8/4k3/8/8/3K4/8/8", "8/8/4k3/8/8/3K4/8/8 w - - 0 1"),
        ("8/8/4k3/8/8/3K4/8/8 b - -", "8/8/4k3/8/8/3K4/8/8 b - - 0 1"),
        (" 8/8/4k3/8/8/3K4/8/8  b  -  -  7  9 ", "8/8/4k3/8/8/3K4/8/8 b - - 7 9"),
        // Rights without a rook and an en passant square without a pawn are dropped.
        ("4k3/8/8/8/8/8/8/4K3 w KQkq - 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
        ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
        // A triple check, which no game can produce.
        ("4k3/8/3N4/8/4R3/7B/8/B3K3 b - - 0 1", "4k3/8/3N4/8/4R3/7B/8/B3K3 b - - 0 1"),
    ] {
        assert_eq!(Position::from_fen(text).map(|p| p.to_fen()), Ok(fen.to_owned()), "{text:?}");
    }
}

#[test]
fn bad_fens_are_refused_with_the_reason() {
    for (text, reason) in [
        ("", "not a FEN"),
        ("hello have a nice day w - - 0 1", "not a FEN"),
        ("rnbqkbnr/pppppppp/8/6/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "not a FEN"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR K KQkq - 0 1", "not a FEN"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "the board is empty"),
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", "a king is missing"),
        ("4k3/8/8/8/8/8/8/3KK3 w - - 0 1", "more than one king"),
        ("4k3/8/8/8/8/8/8/3KP3 w - - 0 1", "a pawn stands on the first or last rank"),
        ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "the side not to move is in check"),
        ("4k3/8/8/8/8/QQQQQQQQ/QQQQQQQQ/4K3 b - - 0 1", "more than 16 men"),
    ] {
        let error = Position::from_fen(text).expect_err(text).to_string();
        assert!(error.contains(reason), "{text:?}: {error}");
    }
}

#[test]
fn a_long_bad_text_is_cut_in_the_message() {
    let error = Position::from_fen(&"x".repeat(5000)).expect_err("no FEN").to_string();
    assert!(error.len() < 200 && error.contains("..."), "{error}");
}

#[test]
fn illegal_moves_name_move_and_position() {
    let start = Position::startpos();
    for text in ["e2e5", "e7e5", "0000", "e2", "e2e4q", "a1a1", "Nf6", "O-O", "--", "", "é2e4"] {
        let error = start.read_move(text).expect_err(text).to_string();
        let names_it = error.contains(text) && !error.contains('\n');
        assert!(error.contains(" move: ") && names_it, "{error}");
    }
}

#[test]
fn san_as_files_write_it() {
    let promoting = position("3n2k1/2P5/8/8/8/8/8/R3K2R w KQ - 0 1");
    for (text, uci) in [
        ("cxd8=Q+", "c7d8q"),
        ("cxd8=Q", "c7d8q"),
        ("cxd8=N!?", "c7d8n"),
        ("c8=R", "c7c8r"),
        ("cxd8Q+", "c7d8q"),
        ("c8(N)", "c7c8n"),
        ("c7xd8Q", "c7d8q"),
        ("O-O", "e1h1"),
        ("0-0-0", "e1a1"),
        ("O-O+", "e1h1"),
        ("Ra1-a8", "a1a8"),
        ("c7xd8=Q", "c7d8q"),
        ("a1a8", "a1a8"),
        ("Ra8", "a1a8"),
    ] {
        let m = promoting.read_move(text).map(|m| m.to_string());
        assert_eq!(m, Ok(uci.to_owned()), "{text}");
    }
    for text in ["Rb1c1", "Ra8Q", "c8K", "Q", "(Q)", "c8()"] {
        assert!(promoting.read_move(text).is_err(), "{text}");
    }
}

#[test]
fn the_board_as_text_shows_turn_and_key() {
    let text = Position::startpos().to_string();
    assert!(text.contains("| r | n | b | q | k | b | n | r | 8"), "{text}");
    assert!(text.contains("Fen: rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"));
    assert!(!text.contains("Checkers"));
    let check = position("4k3/4R3/8/8/8/8/8/4K3 b - - 0 1").to_string();
    assert!(check.contains("Checkers: e7"), "{check}");
}
