//! Ctrl-C in commands that take long: what is found stays, one line says what is left, status 130.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;
use std::{fs, thread};

use tempfile::TempDir;

use crate::session::PATIENCE;

/// More than any depth that a test waits for.
const DEEP: &str = "60";

fn scratch() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// True once the process has a handler for SIGINT. Before, the signal would just kill it.
fn listens(process: u32) -> bool {
    const SIGINT_BIT: u64 = 1 << 1;
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & SIGINT_BIT != 0)
}

fn start(folder: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tacet"));
    command.args(words).current_dir(folder).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("tacet starts")
}

/// Runs a command, presses Ctrl-C once it listens and `is_due`, and returns what it said.
fn interrupted(folder: &Path, words: &[&str], is_due: impl Fn() -> bool) -> Output {
    interrupt(start(folder, words), words, is_due)
}

/// [`interrupted`] for a command that was started already.
fn interrupt(mut child: Child, words: &[&str], is_due: impl Fn() -> bool) -> Output {
    let begun = Instant::now();
    while !(listens(child.id()) && is_due()) {
        assert!(begun.elapsed() < PATIENCE, "{words:?} never began");
        assert_eq!(child.try_wait().expect("it can be asked"), None, "{words:?} ended");
        thread::yield_now();
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
    child.wait_with_output().expect("it ends")
}

/// Asserts a clean end and returns the line that says it.
fn last_word(words: &[&str], output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{words:?}: {output:?}");
    let said: Vec<_> = text.lines().filter(|line| line.starts_with("tacet: interrupted")).collect();
    assert_eq!(said.len(), 1, "{words:?}: {text}");
    said[0].to_owned()
}

const POSITIONS: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - bm a2a3;\n\
                         rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e2e4;\n";

#[test]
fn commands_with_a_journal_keep_it_and_say_how_to_resume() {
    let scratch = scratch();
    let folder = scratch.path();
    fs::write(folder.join("two.epd"), POSITIONS).expect("it can be written");
    for words in [
        &["compare", "two.epd", "--depths", "1,40", "--jobs", "1", "--out", "compared"][..],
        &["audit", "two.epd", "--depths", "1,40", "--jobs", "1", "--out", "audited"],
        &["suite", "two.epd", "--depth", DEEP, "--jobs", "1", "--out", "solved.jsonl"],
        &["duel", "NullMove=off", "NullMove=double", "--nodes", "50000", "--out", "played.jsonl"],
        // The first move takes longer than any test.
        &["duel", "NullMove=off", "NullMove=double", "--depth", DEEP, "--out", "deep.jsonl"],
    ] {
        let journal = folder.join(words[words.len() - 1]).with_extension("jsonl");
        let output = interrupted(folder, words, || journal.exists());
        let said = last_word(words, &output);
        assert!(said.contains("the same command resumes from"), "{words:?}: {said}");
        assert!(journal.exists());
    }
}

#[test]
fn a_closed_output_hides_no_interruption() {
    let scratch = scratch();
    let folder = scratch.path();
    let words = ["duel", "NullMove=off", "NullMove=double", "--depth", DEEP, "--out", "deep.jsonl"];
    let mut child = start(folder, &words);
    drop(child.stdout.take());
    let journal = folder.join("deep.jsonl");
    let output = interrupt(child, &words, || journal.exists());
    let said = last_word(&words, &output);
    assert!(said.contains("the same command resumes from"), "{said}");
}

#[test]
fn results_of_other_searches_do_not_count_as_done() {
    let scratch = scratch();
    let folder = scratch.path();
    fs::write(folder.join("two.epd"), POSITIONS).expect("it can be written");
    let shallow = ["compare", "two.epd", "--depths", "1", "--null-move", "off", "--out", "c"];
    let output = start(folder, &shallow).wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    let schemes = ["--null-move", "off,double", "--out", "c", "--force"];
    let deep = [&["compare", "two.epd", "--depths", DEEP][..], &schemes].concat();
    // It listens from the searches of the signatures on.
    let output = interrupted(folder, &deep, || true);
    let said = last_word(&deep, &output);
    assert!(said.contains("0 of 4 searches done"), "{said}");
}

#[test]
fn commands_without_a_journal_say_how_far_they_came() {
    let scratch = scratch();
    let folder = scratch.path();
    fs::write(folder.join("two.epd"), POSITIONS).expect("it can be written");
    let pgn = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 *\n";
    fs::write(folder.join("games.pgn"), pgn.repeat(2000)).expect("it can be written");
    let syzygy = crate::common::three_man_tables();
    let syzygy = syzygy.to_str().expect("the path is text");
    for words in [
        &["duel", "NullMove=off", "NullMove=verified-r3", "--games", "1000", "--nodes", "50000"][..],
        &["zugzwang", "--epd", "two.epd", "--depth", DEEP],
        &["mine", "openings", "--count", "100000", "--nodes", "50000", "--out", "o.epd"],
        &["mine", "tactics", "games.pgn", "--out", "t.epd"],
        &["mine", "zugzwang", "--count", "100000", "--syzygy", syzygy, "--out", "z.epd"],
    ] {
        let output = interrupted(folder, words, || true);
        last_word(words, &output);
    }
    for name in ["o.epd", "t.epd", "z.epd"] {
        assert!(!folder.join(name).exists(), "half a file has the whole one's name");
    }
}

#[cfg(feature = "tune")]
#[test]
fn tuning_can_be_interrupted() {
    let scratch = scratch();
    let folder = scratch.path();
    for words in [
        &["ablate", "--factors", "use_iir=0", "--pairs", "1000", "--nodes", "20000", "--out", "a"]
            [..],
        &["spsa", "--tune", "iir_depth", "--iterations", "9000", "--nodes", "20000", "--out", "s"],
    ] {
        let journal = folder.join(words[words.len() - 1]);
        let output = interrupted(folder, words, || journal.exists());
        let said = last_word(words, &output);
        assert!(said.contains("resumes"), "{words:?}: {said}");
    }
}
