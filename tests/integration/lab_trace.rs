//! `tacet trace`: the page holds the tree, and no file of a user is overwritten.

use std::process::{Command, Output};

const ZUGZWANG: &str = "8/8/8/8/8/4k3/2p5/2K5 b - - 0 1";

fn trace(place: &tempfile::TempDir, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tacet"))
        .current_dir(place)
        .arg("trace")
        .args(words)
        .output()
        .expect("tacet runs")
}

/// The data in the page, parsed.
fn data(page: &str) -> serde_json::Value {
    let (_, rest) =
        page.split_once("<script id=\"data\" type=\"application/json\">").expect("data");
    let (json, _) = rest.split_once("</script>").expect("an end");
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn a_page_is_self_contained_and_holds_every_node_of_the_last_iteration() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let words = [ZUGZWANG, "--depth", "9", "--null-move", "standard-r2+guard=none,verified-r3"];
    let output = trace(&place, &words);
    assert!(output.status.success(), "{output:?}");
    let page = std::fs::read_to_string(place.path().join("trace.html")).expect("the page");
    for outside in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let data = data(&page);
    let scenes = data["scenes"].as_array().expect("scenes");
    assert_eq!(scenes.len(), 2);
    for scene in scenes {
        let count = scene["parent"].as_array().expect("parents").len();
        assert_eq!(scene["nodes"], count);
        for column in ["san", "uci", "depth", "alpha", "beta", "score", "reason", "best"] {
            assert_eq!(scene[column].as_array().expect(column).len(), count, "{column}");
        }
    }
    let wrong = |scene: &serde_json::Value| scene["wrong"].as_array().expect("an array").len();
    assert!(wrong(&scenes[0]) > 0, "passing in the mutual zugzwang is false");
    let zugzwangs = scenes[1]["reason"].as_array().expect("reasons").iter().filter(|&r| r == 3);
    assert!(zugzwangs.count() > 0, "verification finds it");
}

#[test]
fn the_node_limit_is_kept_and_reported() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let output = trace(&place, &[ZUGZWANG, "--depth", "6", "--max-nodes", "10"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("10 of them shown"), "{output:?}");
}

#[test]
fn bad_positions_and_foreign_outputs_are_refused_in_one_line() {
    let place = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(place.path().join("trace.html"), "my page").expect("can be written");
    for (words, part) in [
        (vec![ZUGZWANG], "trace.html"),
        (vec!["8/8/8 w - - 0 1", "--out", "x.html"], "8/8/8"),
        (vec!["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "--out", "x.html"], "no legal move"),
    ] {
        let output = trace(&place, &words);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(error.contains(part) && error.trim_end().lines().count() == 1, "{error}");
    }
    let page = std::fs::read_to_string(place.path().join("trace.html")).expect("the page");
    assert_eq!(page, "my page");
}
