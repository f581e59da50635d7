//! The rules of the architecture, checked on the source text: imports between modules, the use of the chess
//! library, where text is printed, the length of files and functions, and distinct names of public types.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Top-level modules and their floors. None imports from a higher floor. A module that is not listed fails
/// the test: give it a floor.
const FLOORS: [(&str, u32); 13] = [
    ("board", 0),
    ("score", 0),
    ("kit", 0),
    ("eval", 1),
    ("time", 1),
    ("search", 2),
    ("games", 3),
    ("engine", 3),
    ("uci", 4),
    ("lab", 4),
    ("train", 4),
    ("cli", 5),
    ("main", 5),
];

/// Imports within a floor. All others are forbidden, so the modules of floor 4 are independent.
const NEIGHBOURS: [(&str, &str); 1] = [("board", "kit")];

/// The crates with shakmaty's types.
const CHESS_CRATES: [&str; 2] = ["shakmaty", "shakmaty_syzygy"];

/// The modules that may print text for the user.
const PRINTERS: [&str; 5] = ["uci", "lab", "train", "cli", "main"];

const PRINTING: [&str; 5] = ["println!", "eprintln!", "print!", "eprint!", "dbg!"];

const MAX_FILE_LINES: usize = 600;
const MAX_FUNCTION_LINES: usize = 100;
const MAX_MAIN_LINES: usize = 59;

/// A source file: its path below `src/`, its top-level module, and its lines without comments,
/// literals and unit tests.
struct Source {
    path: String,
    module: String,
    lines: Vec<String>,
}

#[test]
fn every_module_has_a_floor() {
    for source in sources() {
        let known = source.module == "lib" || floor(&source.module).is_some();
        assert!(known, "src/{}: '{}' is on no floor", source.path, source.module);
    }
}

#[test]
fn lower_floors_never_import_higher_ones() {
    let mut faults = Vec::new();
    for source in sources() {
        let Some(own) = floor(&source.module) else { continue };
        for (number, line) in numbered(&source) {
            for (module, other) in FLOORS {
                if other > own && names_module(line, module) {
                    faults.push(format!("src/{}:{number}: imports {module}", source.path));
                }
            }
        }
    }
    assert_none(&faults, "a module imports from a floor above its own");
}

#[test]
fn modules_of_one_floor_are_independent() {
    let mut faults = Vec::new();
    for source in sources() {
        let own = source.module.as_str();
        for (number, line) in numbered(&source) {
            for (module, other) in FLOORS {
                let is_neighbour = module != own && floor(own) == Some(other);
                let is_allowed = NEIGHBOURS.contains(&(own, module)) || own == "main";
                if is_neighbour && !is_allowed && names_module(line, module) {
                    faults.push(format!("src/{}:{number}: imports {module}", source.path));
                }
            }
        }
    }
    assert_none(&faults, "a module imports from a room of its own floor");
}

#[test]
fn public_types_have_names_of_their_own() {
    let mut homes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources() {
        for name in source.lines.iter().filter_map(|line| public_type(line)) {
            homes.entry(name).or_default().push(source.path.clone());
        }
    }
    let faults: Vec<String> = homes
        .iter()
        .filter(|(_, files)| files.len() > 1)
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect();
    assert_none(&faults, "two types that other modules see share a name");
}

#[test]
fn the_chess_library_is_named_only_in_board() {
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| source.module != "board") {
        for (number, line) in numbered(source) {
            for name in CHESS_CRATES.iter().filter(|name| has_word(line, name)) {
                faults.push(format!("src/{}:{number}: names {name}", source.path));
            }
        }
    }
    assert_none(&faults, "only src/board/ names the chess library");
}

#[test]
fn text_is_printed_only_where_it_is_made() {
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| !PRINTERS.contains(&source.module.as_str())) {
        for (number, line) in numbered(source) {
            for name in PRINTING.iter().filter(|name| has_word(line, name.trim_end_matches('!'))) {
                if line.contains(*name) {
                    faults.push(format!("src/{}:{number}: {name}", source.path));
                }
            }
        }
    }
    assert_none(&faults, "only uci, lab, train, cli and main print");
}

#[test]
fn files_are_short() {
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| !source.path.ends_with("tests.rs")) {
        let max = if source.path == "main.rs" { MAX_MAIN_LINES } else { MAX_FILE_LINES };
        let length = source.lines.len();
        if length > max {
            faults.push(format!("src/{}: {length} lines without its tests", source.path));
        }
    }
    assert_none(&faults, "a file has at most 600 lines without its tests, main.rs under 60");
}

#[test]
fn functions_are_short() {
    let mut faults = Vec::new();
    for source in sources() {
        for (name, first, length) in functions(&source.lines) {
            if length > MAX_FUNCTION_LINES {
                faults.push(format!("src/{}:{first}: {name}: {length} lines", source.path));
            }
        }
    }
    assert_none(&faults, "a function has at most 100 lines");
}

// --- Reading the source -------------------------------------------------------------------------

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&root, &root, &mut found);
    assert!(found.len() > 10, "the source was not found below {}", root.display());
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).expect("a folder that can be read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a text file");
            let below = path.strip_prefix(root).expect("a path below src").to_owned();
            let path = below.to_string_lossy().replace('\\', "/");
            let module = path.split('/').next().unwrap_or_default().trim_end_matches(".rs");
            let module = module.to_owned();
            found.push(Source { path, module, lines: without_tests(&text) });
        }
    }
}

/// The lines up to the unit tests, with comments and the insides of literals blanked.
fn without_tests(text: &str) -> Vec<String> {
    let code = blank_literals(text);
    let lines: Vec<String> = code.lines().map(str::to_owned).collect();
    let is_test_module = |at: &usize| {
        lines[*at].starts_with("#[cfg(test)]")
            && lines.get(at + 1).is_some_and(|next| next.starts_with("mod "))
    };
    let end = (0..lines.len()).find(is_test_module).unwrap_or(lines.len());
    lines[..end].to_vec()
}

/// Replaces comments and the contents of string and character literals by spaces, so that only code is
/// searched. Line breaks stay.
fn blank_literals(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_end(bytes, at);
        if end == at {
            out.push(bytes[at]);
            at += 1;
        } else {
            out.extend(bytes[at..end].iter().map(|&b| if b == b'\n' { b'\n' } else { b' ' }));
            at = end;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Where the comment or literal that begins at `at` ends; `at` itself if none begins there.
fn literal_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let word_before = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    if rest.starts_with(b"//") {
        at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
    } else if rest.starts_with(b"/*") {
        at + find(rest, b"*/").map_or(rest.len(), |end| end + 2)
    } else if !word_before && (rest.starts_with(b"r\"") || rest.starts_with(b"r#")) {
        raw_string_end(rest).map_or(at, |end| at + end)
    } else if rest.starts_with(b"\"") {
        at + quoted_end(rest, b'"')
    } else if rest.starts_with(b"'\\") || (rest.len() > 2 && rest[0] == b'\'' && rest[2] == b'\'') {
        at + quoted_end(rest, b'\'')
    } else {
        at
    }
}

fn raw_string_end(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&b| b == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    let open = 2 + hashes;
    Some(find(&rest[open..], &close).map_or(rest.len(), |end| open + end + close.len()))
}

fn quoted_end(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// Functions by brace counting: name, first line, number of lines.
fn functions(lines: &[String]) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if let Some(name) = function_name(line)
            && let Some(length) = block_length(&lines[index..])
        {
            found.push((name, index + 1, length));
        }
    }
    found
}

fn function_name(line: &str) -> Option<String> {
    let (before, after) = line.split_once("fn ")?;
    let is_keyword = before.is_empty() || before.ends_with(' ');
    let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (is_keyword && !name.is_empty()).then_some(name)
}

/// The name of the type that the line makes public to the whole crate or further. Types of an
/// implementation (`type Item = ..`) are indented and do not count.
fn public_type(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')')?.1,
        None => rest,
    };
    let (keyword, name) = rest.strip_prefix(' ')?.split_once(' ')?;
    let is_type = matches!(keyword, "struct" | "enum" | "trait" | "union")
        || (keyword == "type" && !line.starts_with(' '));
    is_type.then(|| name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
}

/// Lines from the first to the one that closes the first brace; none for a declaration without body.
fn block_length(lines: &[String]) -> Option<usize> {
    let mut depth = 0;
    for (index, line) in lines.iter().enumerate() {
        for c in line.chars() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ';' if depth == 0 && !line.contains('[') => return None,
                _ => {}
            }
        }
        if depth == 0 && line.contains('}') {
            return Some(index + 1);
        }
    }
    None
}

fn numbered(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    source.lines.iter().enumerate().map(|(index, line)| (index + 1, line.as_str()))
}

fn floor(module: &str) -> Option<u32> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|&(_, floor)| floor)
}

/// Does the line name the module by a path from the root of the crate?
fn names_module(line: &str, module: &str) -> bool {
    let paths = [format!("crate::{module}"), format!("tacet::{module}")];
    let direct = paths.iter().any(|path| {
        line.match_indices(path).any(|(at, _)| {
            !line[at + path.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
        })
    });
    let grouped = line.split_once("crate::{").is_some_and(|(_, group)| {
        group
            .split([',', '{', '}', ' '])
            .any(|part| part.split("::").next().is_some_and(|first| first == module))
    });
    direct || grouped
}

/// Does the line hold the word, not as a part of a longer one?
fn has_word(line: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(is_letter) && !line[at + word.len()..].starts_with(is_letter)
    })
}

fn assert_none(faults: &[String], rule: &str) {
    assert!(faults.is_empty(), "{rule}:\n  {}", faults.join("\n  "));
}

// --- The reader itself --------------------------------------------------------------------------

#[test]
fn the_reader_sees_code_and_nothing_else() {
    let text = "use crate::uci; // println!(\nlet s = \"dbg!\\\" x\"; let c = '\"'; f::<'a>(r#\"y\"z\"#);\n";
    let code = blank_literals(text);
    assert_eq!(code.lines().count(), 2);
    assert!(code.contains("crate::uci") && code.contains("f::<'a>("), "{code}");
    assert!(!code.contains("println") && !code.contains("dbg") && !code.contains('y'), "{code}");
}

#[test]
fn the_reader_finds_imports() {
    assert!(names_module("use crate::uci::Loop;", "uci"));
    assert!(names_module("use crate::{board::Position, uci};", "uci"));
    assert!(!names_module("use crate::uci_text;", "uci"));
    assert!(!names_module("self.uci()", "uci"));
}

#[test]
fn the_reader_finds_public_types() {
    let name = |line| public_type(line).unwrap_or_default();
    assert_eq!(name("pub struct Entry<T> {"), "Entry");
    assert_eq!(name("    pub enum Kind {"), "Kind");
    assert_eq!(name("pub type Ply = usize;"), "Ply");
    assert_eq!(name("pub(in crate::uci) struct Entry;"), "Entry");
    for line in ["struct Entry;", "    pub type Item = u8;", "pub(crate) fn f() {", "publish x y"] {
        assert_eq!(public_type(line), None, "{line}");
    }
}

#[test]
fn the_reader_counts_lines_of_functions() {
    let text = "fn a();\npub fn b(x: [u8; 2]) -> u8 {\n    if x {\n    }\n}\n";
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert_eq!(functions(&lines), [("b".to_owned(), 2, 4)]);
}
