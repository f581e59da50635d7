//! Syzygy tables: known positions, the fifty-move rule, and files that are none. The three-man tables
//! are in `tests/syzygy`; tests of larger ones are ignored by default.

use std::fs;
use std::path::PathBuf;

use tacet::board::Position;
use tacet::board::tablebase::{Tablebase, Wdl};

use crate::common;

fn tables() -> Tablebase {
    Tablebase::open(&[common::three_man_tables()]).unwrap()
}

/// The four-man tables, for tests that are ignored by default.
fn large_tables() -> Tablebase {
    Tablebase::open(&[common::four_man_tables()]).unwrap()
}

fn position(fen: &str) -> Position {
    Position::from_fen(fen).unwrap()
}

fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("tacet-tb-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn known_values() {
    let tables = tables();
    assert_eq!((tables.files(), tables.max_pieces()), (10, 3));
    for (fen, wdl) in [
        ("8/8/8/8/8/2k5/8/K2R4 w - - 0 1", Wdl::Win),
        ("8/8/8/8/8/2k5/8/K2R4 b - - 0 1", Wdl::Loss),
        ("8/8/8/8/8/3k4/2p5/2K5 w - - 0 1", Wdl::Loss),
        ("8/8/8/8/8/3k4/2p5/2K5 b - - 0 1", Wdl::Draw),
        ("8/8/8/3k4/8/8/8/K2N4 w - - 0 1", Wdl::Draw),
    ] {
        assert_eq!(tables.probe_wdl(&position(fen)), Some(wdl), "{fen}");
    }
}

#[test]
#[ignore = "needs four-man tables: TACET_SYZYGY=DIR"]
fn the_trebuchet_loses_for_the_side_to_move() {
    let tables = large_tables();
    for turn in ["w", "b"] {
        let root = position(&format!("8/8/8/2pK4/1kP5/8/8/8 {turn} - - 0 1"));
        assert_eq!(tables.probe_wdl(&root), Some(Wdl::Loss), "{turn}");
    }
}

#[test]
fn positions_outside_the_tables_give_none() {
    let tables = tables();
    assert_eq!(tables.probe_wdl(&Position::startpos()), None);
    assert_eq!(tables.probe_wdl(&position("4k3/8/8/8/8/8/8/4K2R w K - 0 1")), None);
    assert_eq!(tables.rank_moves(&Position::startpos()), None);
}

#[test]
fn moves_are_ranked_by_result_and_then_by_progress() {
    let tables = tables();
    let mate_in_one = position("7k/R7/6K1/8/8/8/8/8 w - - 0 1");
    let ranked = tables.rank_moves(&mate_in_one).unwrap();
    assert_eq!(mate_in_one.uci(ranked[0].m, false), "a7a8");
    assert_eq!((ranked[0].wdl, ranked[0].dtz), (Wdl::Win, 1));
    assert!(ranked.is_sorted_by_key(|m| (std::cmp::Reverse(m.wdl), m.dtz)));

    let equal = ranked.iter().filter(|m| m.rank() == ranked[0].rank());
    assert!(equal.count() > 1);
    assert!(ranked[1].dtz > 1, "one move makes the fastest progress");
    assert_eq!(tables.probe_dtz(&mate_in_one), Some(1));

    let values = tables.values_of_moves(&mate_in_one).unwrap();
    assert_eq!(values.len(), ranked.len());
    for (m, wdl) in values {
        assert!(ranked.iter().any(|other| (other.m, other.wdl) == (m, wdl)), "{m:?}");
    }
}

#[test]
fn the_clock_turns_a_slow_win_into_a_draw() {
    let tables = tables();
    // Mate on the hundredth ply counts, mate one ply later does not.
    let in_time = position("7k/R7/6K1/8/8/8/8/8 w - - 99 80");
    let best = tables.rank_moves(&in_time).unwrap();
    assert!(best[1].rank() < best[0].rank(), "{best:?}");
    assert_eq!((in_time.uci(best[0].m, false).as_str(), best[0].wdl), ("a7a8", Wdl::Win));

    let late = position("8/8/8/4k3/8/8/R7/K7 w - - 95 80");
    assert_eq!(tables.probe_wdl(&late), Some(Wdl::Win));
    let best = tables.rank_moves(&late).unwrap();
    assert_eq!(best[0].wdl, Wdl::CursedWin);
}

#[test]
fn every_move_of_a_position_adds_up_to_its_value() {
    let fens = [
        "8/8/3k4/8/3K4/3P4/8/8 w - - 0 1",
        "8/8/8/8/8/3k4/2p5/2K5 w - - 0 1",
        "8/5k2/8/8/8/8/1Q6/K7 b - - 0 1",
        "8/8/8/8/8/5k2/8/4R1K1 b - - 0 1",
    ];
    assert_best_moves(&tables(), &fens);
}

#[test]
#[ignore = "needs four-man tables: TACET_SYZYGY=DIR"]
fn every_move_of_a_larger_position_adds_up_to_its_value() {
    let fens = [
        "8/2k5/8/3n4/8/8/4P3/4K3 b - - 0 1",
        "8/5k2/8/8/3q4/8/1Q6/K7 w - - 0 1",
        "8/8/8/8/1p6/k7/P7/1K6 w - - 0 1",
        "8/8/8/8/3pP3/8/8/k1K5 b - e3 0 1",
    ];
    assert_best_moves(&large_tables(), &fens);
}

fn assert_best_moves(tables: &Tablebase, fens: &[&str]) {
    for fen in fens {
        let position = position(fen);
        let best = tables.rank_moves(&position).unwrap()[0];
        assert_eq!(Some(best.wdl), tables.probe_wdl(&position), "{fen}");
    }
}

#[test]
fn bad_directories_and_files_are_one_clear_line() {
    let missing = Tablebase::open(&["/no/such/place"]).unwrap_err().to_string();
    assert!(missing.contains("/no/such/place") && !missing.contains('\n'), "{missing}");

    let empty = scratch("empty");
    fs::write(empty.join("README"), "nothing").unwrap();
    let error = Tablebase::open(&[&empty]).unwrap_err().to_string();
    assert!(error.contains("no .rtbw or .rtbz file"), "{error}");

    for (name, content) in [("size", vec![0; 81]), ("magic", vec![0; 80]), ("none", vec![])] {
        let broken = scratch(name);
        fs::write(broken.join("KQvK.rtbw"), content).unwrap();
        let error = Tablebase::open(&[&broken]).unwrap_err().to_string();
        assert!(error.contains("KQvK.rtbw") && !error.contains('\n'), "{error}");
        fs::remove_dir_all(broken).unwrap();
    }
    fs::remove_dir_all(empty).unwrap();
}

#[test]
fn a_truncated_table_gives_no_answer() {
    // The magic and the size are right, and nothing else.
    let broken = scratch("short");
    let mut content = vec![0xff_u8; 80];
    content[..4].copy_from_slice(&[0x71, 0xe8, 0x23, 0x5d]);
    fs::write(broken.join("KQvK.rtbw"), content).unwrap();
    let tables = Tablebase::open_list(broken.to_str().unwrap()).unwrap();
    assert_eq!(tables.files(), 1);
    assert_eq!(tables.probe_wdl(&position("8/8/8/8/8/2k5/8/K2Q4 w - - 0 1")), None);
    fs::remove_dir_all(broken).unwrap();
}
