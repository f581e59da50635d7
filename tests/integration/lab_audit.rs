//! `tacet audit` on positions with a known false cutoff and on one without.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Black to move reaches Moreland's mutual zugzwang 8/8/8/8/8/3k4/2p5/2K5 by Kd3.
const ZUGZWANG: &str = "8/8/8/8/8/4k3/2p5/2K5 b - - bm Kd3; id \"zugzwang\";\n";
/// Qh3 threatens mate on g2, which a pass answered by quiescence does not see (Goetsch & Campbell
/// 1990).
const MATE: &str = "5rk1/5ppp/8/8/N5q1/B4pP1/P4P1P/RR4K1 b - - bm Qh3; id \"mate\";\n";
/// Rooks on an open board: passing costs a tempo and nothing else.
const QUIET: &str = "r5k1/5ppp/8/8/8/8/5PPP/R5K1 w - - id \"quiet\";\n";

struct Place(tempfile::TempDir);

impl Place {
    fn new(suite: &str) -> Place {
        let place = Place(tempfile::tempdir().expect("a temporary directory"));
        std::fs::write(place.path("s.epd"), suite).expect("the suite can be written");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn audit(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tacet"));
        command.current_dir(&self.0).args(["audit", "s.epd", "--hash", "1"]).args(words);
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        let output = self.audit(words).output().expect("tacet runs");
        assert!(output.status.success(), "{output:?}");
        output
    }

    fn read(&self, name: &str) -> String {
        read(&self.path(name))
    }

    /// The rows of the CSV file, by column.
    fn column(&self, name: &str) -> Vec<String> {
        let text = self.read("audit-s.csv");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let place = reader.headers().expect("a head").iter().position(|head| head == name);
        let place = place.expect("the column is there");
        reader.records().map(|row| row.expect("a row")[place].to_owned()).collect()
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn verdicts(suite: &str, scheme: &str, depth: &str) -> Vec<String> {
    let place = Place::new(suite);
    place.run(&["--depths", depth, "--null-move", scheme, "--sample", "10000"]);
    place.column("verdict")
}

#[test]
fn a_pass_in_mutual_zugzwang_is_a_false_cutoff() {
    let found = verdicts(ZUGZWANG, "standard-r2+guard=none", "8");
    assert!(found.iter().any(|verdict| verdict == "zugzwang"), "{found:?}");
    let verified = verdicts(ZUGZWANG, "verified-r3", "8");
    assert!(!verified.iter().any(|verdict| verdict == "zugzwang"), "{verified:?}");
}

#[test]
fn a_pass_that_hides_a_quiet_mate_is_a_false_cutoff() {
    let found = verdicts(MATE, "standard-r2", "4");
    assert!(found.iter().any(|verdict| verdict == "horizon"), "{found:?}");
}

#[test]
fn no_cutoff_is_false_where_a_pass_costs_only_a_tempo() {
    let found = verdicts(QUIET, "standard-r2", "4");
    assert!(!found.is_empty() && found.iter().all(|verdict| verdict == "true"), "{found:?}");
}

#[test]
fn the_search_is_the_same_with_and_without_an_audit() {
    let place = Place::new(ZUGZWANG);
    place.run(&["--depths", "6", "--null-move", "double,verified-r3"]);
    for scheme in ["double", "verified-r3"] {
        let output = Command::new(env!("CARGO_BIN_EXE_tacet"))
            .current_dir(&place.0)
            .args(["suite", "s.epd", "--searcher", "classic", "--hash", "1", "--depth", "6"])
            .args(["--null-move", scheme, "--json", &format!("{scheme}.json")])
            .output()
            .expect("tacet runs");
        assert!(output.status.success(), "{output:?}");
        let suite: serde_json::Value =
            serde_json::from_str(&place.read(&format!("{scheme}.json"))).expect("JSON");
        let journal = place.read("audit-s.jsonl");
        let entry = journal
            .lines()
            .skip(1)
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
            .find(|entry| entry["scheme"] == scheme)
            .expect("the scheme is in the journal");
        assert_eq!(entry["nodes"], suite["totals"]["nodes"], "{scheme}");
    }
}

#[test]
fn a_killed_audit_resumes_and_jobs_change_nothing() {
    let suite = format!("{ZUGZWANG}{MATE}{QUIET}");
    let words = ["--depths", "4,5", "--null-move", "standard-r2,standard-r3"];
    let whole = Place::new(&suite);
    whole.run(&words);
    let killed = Place::new(&suite);
    let mut child = killed
        .audit(&words)
        .args(["--jobs", "2"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("tacet runs");
    // Killed when the journal holds at least one search. It may hold all.
    while child.try_wait().expect("a status").is_none() {
        let journal = std::fs::read_to_string(killed.path("audit-s.jsonl")).unwrap_or_default();
        if journal.lines().count() > 2 {
            break;
        }
        std::thread::yield_now();
    }
    let _ = child.kill();
    let _ = child.wait();
    killed.run(&words);
    assert_eq!(killed.read("audit-s.csv"), whole.read("audit-s.csv"));
    for figure in ["audit-s.svg", "audit-s-nodes.svg"] {
        assert_eq!(killed.read(figure), whole.read(figure));
    }
    assert_eq!(killed.read("audit-s.md"), whole.read("audit-s.md"));
}

#[test]
fn a_suite_or_a_foreign_file_is_never_overwritten() {
    let place = Place::new(QUIET);
    std::fs::write(place.path("mine.md"), "my notes").expect("can be written");
    let output = place.audit(&["--out", "mine", "--depths", "3"]).output().expect("tacet runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(place.read("mine.md"), "my notes");
    assert_eq!(place.read("s.epd"), QUIET);
}
