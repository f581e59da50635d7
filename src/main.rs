fn main() {
    let p = tacet::board::Position::from_fen(
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    )
    .unwrap();
    println!("{}", p);
    let t = std::time::Instant::now();
    println!("{}", tacet::board::perft::perft(&p, 5));
    println!("{:?}", t.elapsed());
}
