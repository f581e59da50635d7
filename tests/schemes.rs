//! Every null-move scheme against an independent reference.
//!
//! Each reference is a plain recursive search typed from the source of one scheme alone: no table,
//! no history, nothing from `search::null_move` but the look-up of a name. The classic searcher,
//! its table and history switched off, has to return the same value with the same number of nodes
//! at every depth.

mod schemes {
    pub mod adaptive;
    pub mod double;
    pub mod endgame_verified;
    pub mod micromax;
    pub mod modern;
    pub mod positions;
    pub mod reduce;
    pub mod searcher;
    pub mod standard;
    pub mod tree;
    pub mod verified;
}

use schemes::positions::{DEEP, FOR_ADAPTIVE, FOR_RECHECK, POSITIONS};
use schemes::searcher::{classic, iterations};
use schemes::tree::{Iteration, Tree};
use schemes::{adaptive, double, endgame_verified, micromax, modern, reduce, standard, verified};
use std::collections::HashSet;
use tacet::board::Position;
use tacet::score::{Depth, Score};

/// The search of a position one ply from the root, to a depth, in a window.
type Child = fn(&mut Tree, &Position, Depth, Score, Score) -> Score;

fn position(fen: &str) -> Position {
    Position::from_fen(fen).unwrap_or_else(|error| panic!("{error}"))
}

fn reference(fen: &str, depth: Depth, child: Child) -> Vec<Iteration> {
    Tree::new(&position(fen)).iterate(depth, child)
}

/// Compares a scheme of the searcher with its reference on a list of positions.
fn compare(scheme: &str, positions: &[(&str, Depth)], child: Child) {
    let mut faults = Vec::new();
    for &(fen, depth) in positions {
        let expected = reference(fen, depth, child);
        let found = iterations(&classic(scheme, &position(fen), depth));
        let first = expected.iter().zip(&found).position(|(e, f)| e != f);
        if let Some(i) = first {
            faults.push(format!("{fen} depth {}: {:?}, not {:?}", i + 1, found[i], expected[i]));
        } else if found.len() != expected.len() {
            faults.push(format!("{fen}: {} iterations, not {depth}", found.len()));
        }
    }
    let shown = faults.iter().take(5).fold(String::new(), |text, fault| text + "\n" + fault);
    assert!(faults.is_empty(), "{scheme} differs in {} positions:{shown}", faults.len());
}

macro_rules! schemes {
    ($($test:ident, $name:literal, $child:expr;)*) => {
        /// The names of all rows.
        const NAMES: &[&str] = &[$($name),*];
        $(
            #[test]
            fn $test() {
                compare($name, POSITIONS, $child);
                compare($name, DEEP, $child);
            }
        )*
    };
}

schemes! {
    off, "off", standard::off;
    standard_r1, "standard-r1", |t, p, d, a, b| standard::standard::<1>(t, p, d, a, b, true);
    standard_r2, "standard-r2", |t, p, d, a, b| standard::standard::<2>(t, p, d, a, b, true);
    standard_r3, "standard-r3", |t, p, d, a, b| standard::standard::<3>(t, p, d, a, b, true);
    adaptive, "adaptive", |t, p, d, a, b| adaptive::adaptive(t, p, d, a, b, true);
    double, "double", |t, p, d, a, b| double::double(t, p, d, a, b, 0);
    endgame_verified, "endgame-verified", |t, p, d, a, b| endgame_verified::endgame_verified(t, p, d, a, b, true);
    micromax, "micromax", micromax::micromax;
    verified_r1, "verified-r1", |t, p, d, a, b| verified::verified::<1>(t, p, d, a, b, true, true);
    verified_r2, "verified-r2", |t, p, d, a, b| verified::verified::<2>(t, p, d, a, b, true, true);
    verified_r3, "verified-r3", |t, p, d, a, b| verified::verified::<3>(t, p, d, a, b, true, true);
    reduce_2, "reduce-2", |t, p, d, a, b| reduce::by_two(t, p, d, a, b, true);
    reduce_1, "reduce-1", |t, p, d, a, b| reduce::by_one(t, p, d, a, b, true);
    reduce_1_2, "reduce-1-2", |t, p, d, a, b| reduce::by_one_then_two(t, p, d, a, b, true, 1);
    verified_throughout, "verified-throughout", |t, p, d, a, b| verified::throughout(t, p, d, a, b, true);
    modern, "modern", |t, p, d, a, b| modern::modern(t, p, d, a, b, true, 0);
    verified_modern, "verified-modern", |t, p, d, a, b| modern::verified_modern(t, p, d, a, b, true, true);
}

#[test]
fn every_row_has_a_reference() {
    let rows: Vec<&str> = tacet::search::null_move::SCHEMES.iter().map(|row| row.name).collect();
    assert_eq!(rows, NAMES);
}

#[test]
fn the_positions_are_many_and_differ() {
    let full: HashSet<&str> =
        POSITIONS.iter().filter(|&&(_, depth)| depth == 5).map(|&(fen, _)| fen).collect();
    assert!(full.len() >= 200, "only {} positions are searched to depth 5", full.len());
    for (fen, _) in POSITIONS.iter().chain(DEEP).chain(FOR_ADAPTIVE).chain(FOR_RECHECK) {
        assert!(position(fen).has_legal_move(), "{fen} is over");
    }
}

#[test]
fn heinz_takes_three_where_the_depth_and_the_pieces_allow() {
    compare("adaptive", FOR_ADAPTIVE, |t, p, d, a, b| adaptive::adaptive(t, p, d, a, b, true));
}

#[test]
fn deep_cutoffs_of_the_modern_null_move_are_checked_again() {
    compare("modern", FOR_RECHECK, |t, p, d, a, b| modern::modern(t, p, d, a, b, true, 0));
    let stats =
        FOR_RECHECK.iter().map(|&(fen, depth)| classic("modern", &position(fen), depth).stats);
    for s in stats.clone() {
        println!("{s:?}");
    }
    assert!(stats.map(|s| s.verifications).sum::<u64>() > 0, "no cutoff was checked");
}

#[test]
fn verification_of_the_modern_null_move_at_great_depth() {
    compare("verified-modern", FOR_RECHECK, |t, p, d, a, b| {
        modern::verified_modern(t, p, d, a, b, true, true)
    });
}
