//! The tables of docs/research/ can be regenerated; small ones are regenerated here.

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The tables that `make tables` makes: name, suite and options.
fn listed() -> Vec<(String, String, Vec<String>)> {
    let list = read(".ci/tables.list");
    let rows = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| {
        let mut words = row.split_whitespace().map(str::to_owned);
        let mut word = || words.next().expect("a name and a suite");
        (word(), word(), words.collect())
    })
    .collect()
}

/// Every page of the results with its text.
fn pages() -> Vec<(String, String)> {
    let folder = root().join("docs/research/results");
    let entries =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| name.ends_with(".md"))
        .map(|name| (name.clone(), read(&format!("docs/research/results/{name}"))))
        .collect()
}

/// What follows a marker line of a page, up to the end marker.
fn marked<'a>(page: &'a str, marker: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("<!-- table {marker} -->\n"))?;
    Some(rest.split_once("<!-- end of table -->").expect("every marker has its end").0)
}

#[test]
fn every_table_of_the_list_is_on_a_page_and_every_marker_in_the_list() {
    let rows = listed();
    let names: HashSet<&str> = rows.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names.len(), rows.len(), "a name is given twice");
    let mut shown = HashSet::new();
    for (page, text) in pages() {
        let starts = text.matches("<!-- table ").count();
        assert_eq!(starts, text.matches("<!-- end of table -->").count(), "{page}");
        for line in text.lines().filter(|line| line.starts_with("<!-- table ")) {
            let (name, section) = line["<!-- table ".len()..]
                .strip_suffix(" -->")
                .and_then(|marker| marker.split_once(": "))
                .unwrap_or_else(|| panic!("{page}: {line}"));
            assert!(
                names.contains(name) || ["switches", "straight"].contains(&name),
                "{page}: {line}"
            );
            let sections =
                ["origin", "summary", "Tree size", "Position by position", "Inside", "rows"];
            assert!(sections.contains(&section), "{page}: {line}");
            shown.insert(name.to_owned());
        }
    }
    // Single reports: the rows of one table, and the seconds of a page.
    let is_part = |name: &str| {
        ["switch-", "straight-"].iter().any(|rows| name.starts_with(rows)) || name == "wcs-seconds"
    };
    // The report of an audit is a page.
    let reports = pages().into_iter().filter(|(page, _)| page.starts_with("audit-"));
    shown.extend(reports.map(|(page, _)| page.trim_end_matches(".md").to_owned()));
    let is_missing = |name: &&&str| !is_part(name) && !shown.contains(**name);
    let missing: Vec<_> = names.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "on no page: {missing:?}");
}

/// The command of a page is the one that the list makes the table with.
#[test]
fn pages_name_the_command_of_their_table() {
    for (name, suite, words) in listed() {
        let marker = format!("{name}: origin");
        let Some((page, text)) =
            pages().into_iter().find(|(_, text)| marked(text, &marker).is_some())
        else {
            continue;
        };
        let origin = marked(&text, &marker).expect("it was found").replace("\\\n", "");
        let schemes = words.last().filter(|_| words[words.len() - 2] == "--null-move");
        let command: String = origin
            .lines()
            .find(|line| line.starts_with("tacet "))
            .expect("a command")
            .split_whitespace()
            .collect();
        assert!(command.contains(&suite), "{page}: {command}");
        if let Some(schemes) = schemes {
            assert!(command.contains(schemes), "{page}: {command}");
        }
    }
}

/// The first depths of the table of tactics, made again: the rest takes too long for a test.
#[test]
fn small_tables_come_out_as_they_are_on_the_page() {
    let (_, suite, words) =
        listed().into_iter().find(|(name, ..)| name == "tactics").expect("it is listed");
    let folder = tempfile::tempdir().expect("a folder");
    let mut words = words;
    let depths = words.iter().position(|word| word == "--depths").expect("it has depths") + 1;
    words[depths] = "4,5".to_owned();
    let output = Command::new(env!("CARGO_BIN_EXE_tacet"))
        .args(["compare", "--searcher", "classic", "--jobs", "2", "--out"])
        .arg(folder.path().join("t"))
        .arg(root().join("tests/suites").join(suite))
        .args(&words)
        .output()
        .expect("tacet runs");
    assert!(output.status.success(), "{output:?}");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows = |text: &str| -> Vec<String> {
        let is_row = |line: &&str| {
            let first = line.trim_start_matches(['|', ' ']).chars().next();
            line.starts_with("| ") && matches!(first, Some('4' | '5'))
        };
        text.lines().filter(is_row).map(|line| line.replace(' ', "")).collect()
    };
    let tree = report.split("## ").find(|part| part.starts_with("Tree size")).expect("a table");
    let page = read("docs/research/results/tactics.md");
    let shown = marked(&page, "tactics: Tree size").expect("the page has the table");
    assert_eq!(rows(tree), rows(shown));
    assert_eq!(rows(tree).len(), 8);

    // The script reads columns of the CSV file by their names.
    let csv = std::fs::read_to_string(folder.path().join("t.csv")).expect("a CSV file");
    let header: HashSet<&str> = csv.lines().next().expect("a header").split(',').collect();
    let script = read(".ci/tables");
    let names = script.split("at[\"").skip(1).map(|rest| rest.split('"').next().expect("a name"));
    let names: HashSet<&str> = names.collect();
    assert!(names.contains("nodes") && names.contains("ratio_low"), "{names:?}");
    assert!(names.is_subset(&header), "{names:?} are not all in {header:?}");
}
