use std::time::Instant;
use tacet::{
    board::Position,
    search::*,
    time::{Keeper, Limits},
};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let depth = a[1].parse().unwrap();
    let searcher = Searcher::named(&a[2]).unwrap();
    let fens = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "r1bq1rk1/pp2bppp/2n2n2/2pp4/8/1P1P1NP1/PB2PPBP/RN1Q1RK1 w - - 0 9",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "8/8/8/8/8/3k4/2p5/2K5 w - - 0 1",
    ];
    for f in fens {
        let mut job = SearchJob::new(Position::from_fen(f).unwrap(), searcher);
        if a.len() > 3 {
            job.scheme = null_move::Scheme::named(&a[3]).unwrap();
        }
        let table = table::Table::new(64).unwrap();
        let keeper = Keeper::with_limits(Limits::to_depth(depth));
        let t = Instant::now();
        let o = run(&job, &table, &keeper, &mut |_i| ());
        let l = &o.lines[0];
        println!(
            "{f}\n depth {} score {} nodes {} knps {:.0} q {:.2} first {:.3} pv {:?}",
            o.depth,
            l.score,
            o.stats.nodes,
            o.stats.nodes as f64 / t.elapsed().as_secs_f64() / 1e3,
            o.stats.quiescence_nodes as f64 / o.stats.nodes as f64,
            o.stats.first_move_cutoffs as f64 / o.stats.cutoffs as f64,
            l.moves
        );
    }
}
