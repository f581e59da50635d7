//! Endgame tables in the search: what is won is won in time, what is drawn is held, and what is
//! broken does no harm.
//!
//! The tables are not part of the repository. Where `../shared/syzygy` is absent, the tests that
//! need it say so and pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tacet::board::tablebase::{Tablebase, Wdl};
use tacet::board::{Color, PackedMove, Position};
use tacet::engine::Engine;
use tacet::score::Score;
use tacet::search::endgame::Probing;
use tacet::search::pool::Pool;
use tacet::search::table::Table;
use tacet::search::{self, Outcome, SearchJob, Searcher};
use tacet::time::{Limits, TimeManager};
use tacet::uci::options::{self, Note};

fn folder() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/syzygy");
    if !path.is_dir() {
        println!("skipped: no tables in ../shared/syzygy");
        return None;
    }
    Some(path)
}

fn tables() -> Option<Arc<Tablebase>> {
    folder().map(|path| Arc::new(Tablebase::open(&[path]).unwrap()))
}

fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("tacet-syzygy-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn position(fen: &str) -> Position {
    Position::from_fen(fen).unwrap()
}

fn probing(tables: &Arc<Tablebase>) -> Probing {
    Probing { tables: Some(Arc::clone(tables)), ..Probing::default() }
}

fn job(fen: &str, probing: Probing) -> SearchJob {
    SearchJob { probing, ..SearchJob::new(position(fen), Searcher::Playing) }
}

fn run(job: &SearchJob, limits: Limits) -> Outcome {
    let table = Table::new(1).unwrap();
    search::run(job, &table, &TimeManager::with_limits(limits), &mut |_| ())
}

/// A game from a position, each side with tables or without and with its limits; up to its end, or
/// to `most` plies. The positions in order, the last of them where it ended.
fn game(fen: &str, players: [(Probing, Limits); 2], most: usize) -> Vec<Position> {
    let table = Table::new(4).unwrap();
    let mut positions = vec![position(fen)];
    let mut keys: Vec<u64> = Vec::new();
    while positions.len() <= most {
        let now = positions[positions.len() - 1].clone();
        if !now.has_legal_move() || now.is_fifty_moves() || now.is_insufficient_material() {
            break;
        }
        let (probing, limits) = &players[(positions.len() - 1) % 2];
        let job = SearchJob {
            earlier: keys.clone(),
            probing: probing.clone(),
            ..SearchJob::new(now.clone(), Searcher::Playing)
        };
        let keeper = TimeManager::with_limits(limits.clone());
        let best = search::run(&job, &table, &keeper, &mut |_| ()).best();
        keys.push(now.key());
        positions.push(now.play(best).0);
    }
    positions
}

fn is_mate(position: &Position) -> bool {
    position.in_check() && !position.has_legal_move()
}

// --- With tables --------------------------------------------------------------------------------

#[test]
fn won_endings_are_won_within_fifty_moves() {
    let Some(tables) = tables() else { return };
    for fen in [
        "8/8/8/3k4/8/8/8/KQ6 w - - 0 1",
        "8/8/8/3k4/8/8/8/KR6 w - - 0 1",
        "8/8/8/3k4/8/8/8/KBN5 w - - 0 1",
        "8/8/8/3k4/8/8/8/KBB5 w - - 0 1",
        "8/3r4/3k4/8/8/8/8/KQ6 w - - 0 1",
        "3k4/8/3K4/3P4/8/8/8/8 w - - 0 1",
        "8/3n4/3k4/8/8/8/4K3/Q7 w - - 0 1",
    ] {
        assert_eq!(tables.probe_wdl(&position(fen)), Some(Wdl::Win), "{fen}");
        let player = (probing(&tables), Limits::to_nodes(200));
        let positions = game(fen, [player.clone(), player], 400);
        let last = &positions[positions.len() - 1];
        assert!(is_mate(last) && last.turn() == Color::Black, "{fen}: {last:?}");
    }
}

#[test]
fn drawn_endings_are_held() {
    let Some(tables) = tables() else { return };
    for fen in [
        "8/8/8/8/3k4/3p4/8/3K4 w - - 0 1",
        "8/8/8/r7/8/2NK4/8/6k1 w - - 0 1",
        "8/8/8/4K3/8/8/1kp5/6Q1 b - - 0 1",
        "8/8/8/8/r7/8/1B1K4/6k1 w - - 0 1",
    ] {
        assert_eq!(tables.probe_wdl(&position(fen)), Some(Wdl::Draw), "{fen}");
        let holder = (probing(&tables), Limits::to_nodes(50));
        let attacker = (Probing::default(), Limits::to_depth(8));
        let positions = game(fen, [holder, attacker], 80);
        for after in positions.iter().skip(1).step_by(2) {
            let value = tables.probe_wdl(after).unwrap();
            assert!(value <= Wdl::Draw, "{fen}: {after:?} is a {value}");
        }
    }
}

#[test]
fn only_the_quick_win_counts_late() {
    let Some(tables) = tables() else { return };
    let rook = job("7k/R7/6K1/8/8/8/8/8 w - - 99 80", probing(&tables));
    for limits in [Limits::to_nodes(1), Limits::to_depth(6)] {
        let outcome = run(&rook, limits);
        assert_eq!(rook.root.uci(outcome.best(), false), "a7a8");
    }
    // As late as can be: no move may be lost.
    let early = position("8/8/8/3k4/8/8/8/KBN5 w - - 0 1");
    let dtz = tables.probe_dtz(&early).unwrap();
    let late = early.to_fen().replace(" 0 1", &format!(" {} 80", 99 - dtz));
    let player = (probing(&tables), Limits::to_nodes(100));
    let positions = game(&late, [player.clone(), player], 400);
    assert!(is_mate(&positions[positions.len() - 1]), "{late}: {positions:?}");
}

#[test]
fn the_result_is_shown_whatever_the_evaluation() {
    let Some(tables) = tables() else { return };
    for (fen, score) in [
        ("8/8/8/3k4/8/8/8/KBN5 w - - 0 1", Score::TABLEBASE_WIN),
        ("8/8/8/3k4/8/8/8/KBN5 b - - 0 1", -Score::TABLEBASE_WIN),
        ("8/8/8/8/3k4/3p4/8/3K4 w - - 0 1", Score::ZERO),
    ] {
        let outcome = run(&job(fen, probing(&tables)), Limits::to_depth(5));
        assert_eq!(outcome.score(), Some(score), "{fen}");
        assert!(outcome.stats.tablebase_hits > 0, "{fen}");
    }
}

#[test]
fn without_the_fifty_move_rule_a_late_win_is_a_win() {
    let Some(tables) = tables() else { return };
    let fen = "8/8/8/4k3/8/8/R7/K7 w - - 95 80";
    for (fifty_moves, score) in [(true, Score::ZERO), (false, Score::TABLEBASE_WIN)] {
        let probing = Probing { fifty_moves, ..probing(&tables) };
        assert_eq!(run(&job(fen, probing), Limits::to_depth(3)).score(), Some(score));
    }
}

#[test]
fn positions_inside_are_looked_up() {
    let Some(tables) = tables() else { return };
    // The queen takes the rook, and what is left is won; but the mate is far.
    let fen = "6k1/8/8/3r1n2/8/8/3Q4/3K4 w - - 0 1";
    let outcome = run(&job(fen, probing(&tables)), Limits::to_depth(8));
    let score = outcome.score().unwrap();
    assert!(score.is_won() && !score.is_mate(), "{score}");
    assert!(outcome.stats.tablebase_hits > 0);
    // The rook takes the knight, and rook against rook is drawn.
    let drawn = "8/8/3k4/3r4/8/8/3R1n2/3K4 w - - 0 1";
    assert_eq!(run(&job(drawn, probing(&tables)), Limits::to_depth(8)).score(), Some(Score::ZERO));

    let hits = |limit, depth| {
        let probing = Probing { limit, depth, ..probing(&tables) };
        run(&job(fen, probing), Limits::to_depth(5)).stats.tablebase_hits
    };
    assert_eq!(hits(0, 1), 0, "tables off");
    assert!(hits(4, 1) > hits(4, 100), "of the largest only far from the leaves");
    assert!(hits(4, 1) > hits(3, 1));
}

#[test]
fn several_lines_wins_first() {
    let Some(tables) = tables() else { return };
    let kpk = job("3k4/8/3K4/3P4/8/8/8/8 w - - 0 1", probing(&tables));
    let ranked = tables.rank_moves(&kpk.root).unwrap();
    let outcome = run(&SearchJob { multi_pv: 256, ..kpk.clone() }, Limits::to_depth(6));
    assert_eq!(outcome.lines.len(), ranked.len());
    assert!(outcome.lines.is_sorted_by(|a, b| a.score >= b.score), "{:?}", outcome.lines);
    for line in &outcome.lines {
        let known = ranked.iter().find(|known| known.m == line.moves[0]).unwrap();
        assert_eq!(line.score.value().signum(), known.wdl.sign(), "{line:?}");
    }
    assert!(outcome.lines[0].score.is_won());
}

#[test]
fn of_the_moves_asked_for_the_best_is_chosen() {
    let Some(tables) = tables() else { return };
    let kpk = job("3k4/8/3K4/3P4/8/8/8/8 w - - 0 1", probing(&tables));
    let ranked = tables.rank_moves(&kpk.root).unwrap();
    let drawing: Vec<PackedMove> =
        ranked.iter().filter(|known| known.wdl == Wdl::Draw).map(|known| known.m).collect();
    assert!(!drawing.is_empty());
    let only = SearchJob { search_moves: drawing.clone(), ..kpk.clone() };
    let outcome = run(&only, Limits::to_depth(4));
    assert_eq!(outcome.score(), Some(Score::ZERO));
    assert!(drawing.contains(&outcome.best()));
    let winning = ranked[0].m;
    let both = SearchJob { search_moves: vec![drawing[0], winning], ..kpk };
    assert_eq!(run(&both, Limits::to_nodes(1)).best(), winning);
}

#[test]
fn several_threads_share_the_tables() {
    let Some(tables) = tables() else { return };
    let mut pool = Pool::new();
    pool.set_threads(3);
    let table = Table::new(1).unwrap();
    for fen in ["6k1/8/8/3r1n2/8/8/3Q4/3K4 w - - 0 1", "8/3r4/3k4/8/8/8/8/KQ6 w - - 0 1"] {
        let keeper = TimeManager::with_limits(Limits::to_depth(7));
        let outcome = pool.run(&job(fen, probing(&tables)), &table, &keeper, &mut |_| ());
        assert!(outcome.score().unwrap().is_won() && outcome.stats.tablebase_hits > 0, "{fen}");
    }
}

#[test]
fn without_dtz_the_result_is_held_all_the_same() {
    let Some(folder) = folder() else { return };
    let missing = scratch("no-dtz");
    let broken = scratch("bad-dtz");
    for name in ["KPvK", "KQvK", "KRvK", "KBvK", "KNvK"] {
        for scratch in [&missing, &broken] {
            let file = format!("{name}.rtbw");
            fs::copy(folder.join(&file), scratch.join(&file)).unwrap();
        }
        // It begins as a table does, and is none.
        let mut content = vec![0xff_u8; 80];
        content[..4].copy_from_slice(&[0xd7, 0x66, 0x0c, 0xa5]);
        fs::write(broken.join(format!("{name}.rtbz")), content).unwrap();
    }
    for scratch in [missing, broken] {
        let tables = Arc::new(Tablebase::open(&[&scratch]).unwrap());
        let fen = "3k4/8/3K4/3P4/8/8/8/8 w - - 0 1";
        assert!(tables.rank_moves(&position(fen)).is_none(), "{}", scratch.display());
        let outcome = run(&job(fen, probing(&tables)), Limits::to_nodes(1));
        assert!(outcome.stats.tablebase_hits > 0);
        let after = position(fen).play(outcome.best()).0;
        assert_eq!(tables.probe_wdl(&after), Some(Wdl::Loss));
        let player = (probing(&tables), Limits::to_nodes(3000));
        let positions = game(fen, [player.clone(), player], 200);
        assert!(is_mate(&positions[positions.len() - 1]), "{positions:?}");
        fs::remove_dir_all(scratch).unwrap();
    }
}

// --- Without tables -----------------------------------------------------------------------------

#[test]
fn a_lone_king_is_mated() {
    for (fen, nodes) in [
        ("8/8/8/3k4/8/8/8/KQ6 w - - 0 1", 1_000),
        ("8/8/8/3k4/8/8/8/KR6 b - - 0 1", 1_000),
        ("8/8/8/3K4/8/8/8/kbb5 b - - 0 1", 1_000),
        ("8/8/8/3k4/8/8/8/KBN5 w - - 0 1", 10_000),
        ("3k4/8/3K4/3P4/8/8/8/8 w - - 0 1", 1_000),
    ] {
        let player = (Probing::default(), Limits::to_nodes(nodes));
        let positions = game(fen, [player.clone(), player], 200);
        let last = &positions[positions.len() - 1];
        assert!(is_mate(last) && last.us().count() == 1, "{fen}: {last:?}");
    }
}

#[test]
fn what_cannot_be_opened_leaves_what_was_there() {
    // It begins as a table does, and is none; but that shows only when it is asked.
    let hollow = scratch("hollow");
    let mut content = vec![0xff_u8; 80];
    content[..4].copy_from_slice(&[0x71, 0xe8, 0x23, 0x5d]);
    fs::write(hollow.join("KQvK.rtbw"), content).unwrap();
    let empty = scratch("nothing");
    let broken = scratch("text");
    fs::write(broken.join("KRvK.rtbw"), "not a table").unwrap();

    let mut engine = Engine::new(crossbeam_channel::unbounded().0).unwrap();
    let mut set = |value: &str| {
        let said = options::set(&mut engine, "SyzygyPath", value);
        let files = engine.options().probing.tables.as_ref().map(|tables| tables.files());
        (said, files)
    };
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    assert_eq!(set("<empty>"), (Ok(None), None));
    assert_eq!(set(""), (Ok(None), None));
    let opened = Note::Done("tablebases: 1 files, up to 3 men".to_owned());
    assert_eq!(set(&path(&hollow)), (Ok(Some(opened.clone())), Some(1)));
    let both = std::env::join_paths([&hollow, &empty]).unwrap().into_string().unwrap();
    for value in ["/no/such/place", &path(&empty), &path(&broken), &both, &"x".repeat(1 << 20)] {
        let (said, files) = set(value);
        let reason = said.unwrap_err();
        assert!(reason.starts_with("SyzygyPath: tablebases: "), "{reason}");
        assert!(reason.ends_with("the old tables stay") && reason.len() < 600, "{reason}");
        assert!(!reason.contains('\n'), "{reason}");
        assert_eq!(files, Some(1), "{reason}");
    }
    let twice = std::env::join_paths([&hollow, &hollow]).unwrap().into_string().unwrap();
    assert_eq!(set(&twice).1, Some(2));
    assert_eq!(set("<EMPTY>"), (Ok(None), None));

    let tables = Arc::new(Tablebase::open(&[&hollow]).unwrap());
    let outcome = run(&job("8/8/8/3k4/8/8/8/KQ6 w - - 0 1", probing(&tables)), Limits::to_depth(4));
    assert_eq!(outcome.stats.tablebase_hits, 0);
    assert!(outcome.best().is_some());
    [hollow, empty, broken].iter().for_each(|path| fs::remove_dir_all(path).unwrap());
}

#[test]
fn the_other_options_hold_from_the_next_search_on() {
    let mut engine = Engine::new(crossbeam_channel::unbounded().0).unwrap();
    for (name, value, note) in [
        ("SyzygyProbeDepth", "12", None),
        ("SyzygyProbeLimit", "9", Some("SyzygyProbeLimit 9 is outside 0..=7; 7 instead")),
        ("syzygyprobelimit", "5", None),
        ("Syzygy50MoveRule", "false", None),
    ] {
        let note = note.map(|note: &str| Note::Clamped(note.to_owned()));
        assert_eq!(options::set(&mut engine, name, value), Ok(note));
    }
    let probing = &engine.options().probing;
    assert_eq!((probing.depth, probing.limit, probing.fifty_moves), (12, 5, false));
    assert!(options::set(&mut engine, "SyzygyProbeDepth", "deep").is_err());
}
