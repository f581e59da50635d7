//! Help and error messages, word for word. After a change that is wanted:
//! `INSTA_UPDATE=always cargo test --test integration cli_texts`, and read the diff.

use std::process::{Command, Stdio};

fn run(arguments: &str) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tacet"))
        .args(arguments.split_whitespace())
        .env("COLUMNS", "80")
        .stdin(Stdio::null())
        .output()
        .expect("tacet runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(output.stdout), text(output.stderr))
}

/// The commands of every build. Those of features are left out of the list of the main help.
const COMMANDS: [&str; 16] = [
    "uci",
    "go",
    "bench",
    "perft",
    "eval",
    "schemes",
    "suite",
    "compare",
    "audit",
    "trace",
    "duel",
    "zugzwang",
    "mine tactics",
    "mine zugzwang",
    "mine openings",
    "completions",
];

#[test]
fn help_of_every_command() {
    let is_of_a_feature = |line: &&str| {
        ["ablate", "spsa", "datagen", "tune-eval", "train ", "judge", "fit-wdl"]
            .iter()
            .any(|name| line.starts_with(&format!("  {name}")))
    };
    let main: Vec<String> =
        run("--help").0.lines().filter(|line| !is_of_a_feature(line)).map(str::to_owned).collect();
    let mut text = format!("$ tacet --help\n{}\n", main.join("\n"));
    for command in COMMANDS {
        text += &format!("\n$ tacet {command} --help\n{}", run(&format!("{command} --help")).0);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn messages_about_mistakes() {
    let mut text = String::new();
    for arguments in [
        "benhc",
        "--xyzzy",
        "uci now",
        "go dept 3",
        "go depth",
        "go depth 500",
        "go ponder",
        "go --format xml",
        "go --null-move verfied-r3",
        "go --searcher clasic depth 1",
        "go depth 1 --fen nonsense",
        "go depth 1 --moves e2e5",
        "go depth 1 -o Contempt=3",
        "perft",
        "perft 240",
        "bench 2 3",
        "suite",
        "suite /no/such/file --depth 2",
        "suite x.epd --nodes -1",
        "suite x.epd --dept 1",
        "compare x.epd --depths 12-8",
        "duel verified-r3",
        "mine openings --count 1 --out x --seed -1",
        "completions dos",
    ] {
        let (stdout, stderr) = run(arguments);
        text += &format!("$ tacet {arguments}\n{stdout}{stderr}");
    }
    insta::assert_snapshot!(text);
}
