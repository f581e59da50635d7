//! The shipped suites have the properties that their README names.

use std::collections::HashSet;
use std::path::PathBuf;

use tacet::board::tablebase::{Tablebase, Wdl};
use tacet::board::{Color, Position};
use tacet::lab::epd::{self, Record, SkipBad};
use tacet::score::Depth;
use tacet::search::null_move::Scheme;
use tacet::search::table::Table;
use tacet::search::{self, SearchJob, SearcherKind};
use tacet::time::{Limits, TimeManager};

use crate::common;

fn suite(name: &str) -> Vec<Record> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/suites").join(name);
    epd::read(&path, SkipBad(false)).expect("every line is EPD with legal moves").records
}

/// Checks every suite: one task per line, no position and no name twice.
fn check(records: &[Record], least: usize) {
    assert!(records.len() >= least, "only {} positions", records.len());
    let (mut keys, mut names) = (HashSet::new(), HashSet::new());
    for record in records {
        let id = &record.id;
        let tasks = record.best.len() + usize::from(record.mate.is_some());
        assert!(tasks == 1 && record.avoid.is_empty(), "{id}: one best move, or a mate");
        assert!(record.position.legal_moves().len() > 1, "{id}: there is a choice");
        assert!(!id.starts_with("line ") && names.insert(id.clone()), "{id}: a name of its own");
        assert!(keys.insert(record.position.key()), "{id}: the position is there before");
        assert!(record.operands("c0").is_some(), "{id}: where it is from");
    }
}

/// Does the classic searcher without null moves solve it?
fn solves(record: &Record, depth: Depth) -> bool {
    let table = Table::new(16).expect("there is memory");
    let off = Scheme::named("off").expect("it exists");
    let job =
        SearchJob { scheme: off, ..SearchJob::new(record.position.clone(), SearcherKind::Classic) };
    let time = TimeManager::with_limits(Limits::to_depth(depth));
    let outcome = search::run(&job, &table, &time, &mut |_| {});
    record.solved(outcome.best(), outcome.score()) == Some(true)
}

#[test]
fn tactics() {
    let records = suite("tactics.epd");
    check(&records, 200);
    for record in &records {
        assert!(!record.is_pawn_ending() && record.mate.is_none(), "{}", record.id);
        assert!(!record.position.in_check(), "{}", record.id);
    }
    // The cheap ones of the sample: deep enough for those that say they settle at depth 5.
    let shallow = records.iter().filter(|record| settled(record) == Some(5));
    let sample: Vec<&Record> = shallow.step_by(12).collect();
    assert!(sample.len() >= 3);
    for record in sample {
        assert!(solves(record, 5), "{}", record.id);
    }
}

#[test]
fn zugzwangs() {
    let records = suite("zugzwang.epd");
    check(&records, 60);
    let mined: Vec<&Record> = records.iter().filter(|record| settled(record).is_some()).collect();
    let sample: Vec<&&Record> = mined.iter().step_by(5).collect();
    assert!(sample.len() >= 10);
    for record in sample {
        assert!(solves(record, settled(record).expect("it says")), "{}", record.id);
    }
}

#[test]
fn studies() {
    let records = suite("studies.epd");
    check(&records, 30);
    let known: HashSet<u64> =
        suite("zugzwang.epd").iter().map(|record| record.position.key()).collect();
    for record in &records {
        assert_eq!(record.position.turn(), Color::White, "{}", record.id);
        assert!(record.position.occupied().count() >= 5, "{}", record.id);
        assert!(!known.contains(&record.position.key()), "{}: in zugzwang.epd too", record.id);
    }
}

/// The depth that a mined position's comment names.
fn settled(record: &Record) -> Option<Depth> {
    record.operands("c0")?.first()?.split_once("settled at depth ")?.1.parse().ok()
}

#[test]
#[ignore = "needs four-man tables: TACET_SYZYGY=DIR"]
fn zugzwangs_of_four_men_have_one_right_move() {
    let tables = Tablebase::open(&[common::four_man_tables()]).expect("the tables are there");
    let worth =
        |position: &Position, m| tables.probe_wdl(&position.play(m).0).map(|reply| (-reply).sign());
    for Record { position, best, id, .. } in &suite("zugzwang.epd") {
        if position.occupied().count() > 4 {
            continue;
        }
        let Some(&best) = best.first() else {
            assert_eq!(tables.probe_wdl(position), Some(Wdl::Win), "{id}");
            continue;
        };
        let right = worth(position, best);
        assert!(right.is_some_and(|right| right >= 0), "{id}");
        for &m in position.legal_moves().iter() {
            assert!(m == best || worth(position, m) < right, "{id}");
        }
    }
}
