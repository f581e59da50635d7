//! Every null-move scheme against an independent reference.
mod schemes {
    pub mod adaptive;
    pub mod double;
    pub mod endgame_verified;
    pub mod micromax;
    pub mod modern;
    pub mod reduce;
    pub mod standard;
    pub mod tree;
    pub mod verified;
}
use schemes::*;
use tacet::board::Position;
use tree::Tree;

#[test]
#[ignore]
fn measure() {
    for line in std::fs::read_to_string("/tmp/refs_cands.txt").unwrap().lines() {
        let (group, fen) = line.split_once('\t').unwrap();
        let Ok(position) = Position::from_fen(fen) else { println!("BAD {fen}"); continue };
        if !position.has_legal_move() { println!("NOMOVE {fen}"); continue }
        let mut tree = Tree::new(&position);
        let off = tree.iterate(4, standard::off);
        if off[3].nodes > 30_000 { println!("{group}\t4\t{}\t{}\t{fen}", off[3].nodes, 0); continue }
        let mut tree = Tree::new(&position);
        let off = tree.iterate(5, standard::off);
        println!("{group}\t5\t{}\t{}\t{fen}", off[4].nodes, off[4].score);
    }
}
