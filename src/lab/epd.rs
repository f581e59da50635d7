//! Suites of positions in EPD, the Extended Position Description (Edwards 1994), as it is found
//! in the wild.
//!
//! A line has the first four fields of a FEN, perhaps its two counters, and operations that end
//! with a semicolon: `bm` (best moves), `am` (moves to avoid), `dm` (mate in so many moves), `id`
//! and others. Suites write a mate as `bm #4` or as `ce +M4` too, moves in standard or long
//! algebraic or UCI notation; they forget a semicolon here and there and append free text. All of
//! that is read; what remains is an error with its line.

use std::path::{Path, PathBuf};

use super::LabError;
use crate::board::notation::quoted;
use crate::board::{Color, PackedMove, Position};
use crate::kit::fingerprint;
use crate::score::Score;

/// A file of positions.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Where it was read from.
    pub path: PathBuf,
    /// A fingerprint of its bytes (FNV-1a, 64 bit): tells whether it is the same file.
    pub hash: u64,
    /// Its positions in order.
    pub records: Vec<Record>,
}

/// A position with what the file says of it.
#[derive(Clone, Debug)]
pub struct Record {
    /// The line in the file, from 1.
    pub line: usize,
    /// The position.
    pub position: Position,
    /// Its `id`; without one, `line N`.
    pub id: String,
    /// Moves that solve it (`bm`); empty if the file names none.
    pub best: Vec<PackedMove>,
    /// Moves that do not (`am`).
    pub avoid: Vec<PackedMove>,
    /// The length of the mate in moves, if known (`dm 4`, `bm #4`, `ce +M4`); negative if the side
    /// to move is mated.
    pub mate: Option<i32>,
    /// Every operation, these included, as written.
    pub operations: Vec<Operation>,
}

/// An operation: `bm Nf3 e4` is the opcode `bm` with two operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its name.
    pub opcode: String,
    /// Its operands, without quotation marks.
    pub operands: Vec<String>,
}

/// Reads a suite.
///
/// # Errors
/// If the file cannot be read, has no position at all, or has a line that is not EPD.
pub fn read(path: &Path) -> Result<Suite, LabError> {
    let bytes = super::read_file(path)?;
    // Old files have names of players in old encodings; nothing that matters is beyond ASCII.
    let records = parse(&String::from_utf8_lossy(&bytes))
        .map_err(|(line, reason)| LabError::Line { file: path.to_owned(), line, reason })?;
    if records.is_empty() {
        return Err(LabError::Usage(format!("{} has no position", path.display())));
    }
    Ok(Suite { path: path.to_owned(), hash: fingerprint::of_bytes(&bytes), records })
}

/// All positions of a text.
///
/// # Errors
/// The first line that is not EPD, from 1, and why.
pub fn parse(text: &str) -> Result<Vec<Record>, (usize, String)> {
    let text = text.trim_start_matches('\u{feff}');
    text.lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let number = index + 1;
            Record::parse(line, number).map_err(|reason| (number, reason)).transpose()
        })
        .collect()
}

/// Has a side nothing but king and pawns?
pub fn is_pawn_ending(position: &Position) -> bool {
    Color::ALL.into_iter().any(|color| position.non_pawn_pieces(color).is_empty())
}

impl Record {
    /// Reads a line; `None` if it is empty or a comment.
    ///
    /// # Errors
    /// Why it is not EPD.
    pub fn parse(line: &str, number: usize) -> Result<Option<Record>, String> {
        // Files from DOS end with a control-Z.
        let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{1a}');
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (fen, rest) = split_fen(line);
        let position = Position::from_fen(&fen).map_err(|error| error.to_string())?;
        let operations = operations(&position, rest);
        let mut record = Record {
            line: number,
            position,
            id: format!("line {number}"),
            best: Vec::new(),
            avoid: Vec::new(),
            mate: None,
            operations: Vec::new(),
        };
        for operation in &operations {
            record.understand(operation)?;
        }
        record.operations = operations;
        Ok(Some(record))
    }

    /// The operands of an operation, if the line has it.
    pub fn operands(&self, opcode: &str) -> Option<&[String]> {
        let found = self.operations.iter().find(|operation| operation.opcode == opcode);
        found.map(|operation| operation.operands.as_slice())
    }

    /// Does this answer solve the position? `None` if the line sets no task.
    ///
    /// Where the length of a mate is known, a mate at most that long must have been found,
    /// whatever its first move; else the move must be one of the best and none to avoid.
    pub fn solved(&self, best: PackedMove, score: Option<Score>) -> Option<bool> {
        if let Some(known) = self.mate {
            let found = score.and_then(Score::mate_moves).unwrap_or(0);
            return Some(found.signum() == known.signum() && found.abs() <= known.abs());
        }
        if self.best.is_empty() && self.avoid.is_empty() {
            return None;
        }
        let wanted = self.best.is_empty() || self.best.contains(&best);
        Some(best.is_some() && wanted && !self.avoid.contains(&best))
    }

    /// Has a side nothing but king and pawns? The paper left such positions out of its suites.
    pub fn is_pawn_ending(&self) -> bool {
        is_pawn_ending(&self.position)
    }

    /// The task in words: `bm Nf3 am e4`, `mate in 4`; empty if there is none.
    pub fn task(&self) -> String {
        if let Some(mate) = self.mate {
            let verb = if mate < 0 { "mated" } else { "mate" };
            return format!("{verb} in {}", mate.abs());
        }
        let lists = [("bm", &self.best), ("am", &self.avoid)];
        let mut words: Vec<String> = Vec::new();
        for (opcode, moves) in lists.into_iter().filter(|(_, moves)| !moves.is_empty()) {
            words.push(opcode.to_owned());
            words.extend(moves.iter().map(|&m| self.position.san(m)));
        }
        words.join(" ")
    }

    fn understand(&mut self, operation: &Operation) -> Result<(), String> {
        let operands = &operation.operands;
        match operation.opcode.as_str() {
            "bm" => self.best_moves(operands),
            "am" => {
                self.avoid = self.moves("am", operands)?;
                Ok(())
            }
            "dm" => {
                self.mate = Some(mate_length(operands.first().map_or("", String::as_str), "dm")?);
                Ok(())
            }
            "ce" => {
                if let Some(mate) = operands.first().and_then(|text| evaluation_mate(text)) {
                    self.mate = Some(mate);
                }
                Ok(())
            }
            "id" if !operands.is_empty() => {
                self.id = operands.join(" ");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn best_moves(&mut self, operands: &[String]) -> Result<(), String> {
        if let [only] = operands
            && let Some(length) = only.strip_prefix('#')
        {
            self.mate = Some(mate_length(length, "bm #")?);
        } else {
            self.best = self.moves("bm", operands)?;
        }
        Ok(())
    }

    fn moves(&self, opcode: &str, operands: &[String]) -> Result<Vec<PackedMove>, String> {
        if operands.is_empty() {
            return Err(format!("'{opcode}' names no move"));
        }
        let read = |text: &String| self.position.parse_san(text).map_err(|error| error.to_string());
        operands.iter().map(read).collect::<Result<_, _>>()
    }
}

/// `4` or `-4`.
fn mate_length(text: &str, what: &str) -> Result<i32, String> {
    let bad = || format!("'{what}' wants the moves to the mate, not '{}'", quoted(text));
    let length: i16 = text.parse().map_err(|_| bad())?;
    if length == 0 { Err(bad()) } else { Ok(i32::from(length)) }
}

/// The mate of a `ce` operation, as in `+M4`, `-M4`, `M4`, `#4`.
fn evaluation_mate(text: &str) -> Option<i32> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = rest.strip_prefix(['M', '#'])?;
    let length: i16 = digits.parse().ok().filter(|&length| length > 0)?;
    Some(sign * i32::from(length))
}

/// Splits a line into a FEN, with its counters if they are there, and the operations.
fn split_fen(line: &str) -> (String, &str) {
    let mut fields = Vec::new();
    let mut rest = line;
    while fields.len() < 4 && !rest.starts_with(';') && !rest.is_empty() {
        fields.push(next_field(&mut rest));
    }
    while fields.len() < 6 && rest.starts_with(|c: char| c.is_ascii_digit()) {
        fields.push(next_field(&mut rest));
    }
    (fields.join(" "), rest)
}

/// Takes a field and the space after it off the front; a semicolon ends a field too.
fn next_field<'a>(rest: &mut &'a str) -> &'a str {
    let end = rest.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(rest.len());
    let (field, after) = rest.split_at(end);
    *rest = after.trim_start();
    field
}

/// A piece of the operations' text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'a> {
    Word(&'a str),
    Text(&'a str),
    End,
}

/// Cuts a text into words, quoted strings and semicolons. A string without its end ends with the
/// line.
fn tokens(mut text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    loop {
        text = text.trim_start();
        if let Some(after) = text.strip_prefix(';') {
            tokens.push(Token::End);
            text = after;
        } else if let Some(after) = text.strip_prefix('"') {
            let (string, after) = after.split_once('"').unwrap_or((after, ""));
            tokens.push(Token::Text(string));
            text = after;
        } else if text.is_empty() {
            return tokens;
        } else {
            let end = text
                .find(|c: char| c.is_whitespace() || matches!(c, ';' | '"'))
                .unwrap_or(text.len());
            let (word, after) = text.split_at(end);
            tokens.push(Token::Word(word));
            text = after;
        }
    }
}

/// Puts tokens together. After a semicolon comes an opcode; so does, if the semicolon was
/// forgotten, a known opcode where the operation before it may end.
fn operations(position: &Position, text: &str) -> Vec<Operation> {
    let tokens = tokens(text);
    let mut operations: Vec<Operation> = Vec::new();
    let mut open = false;
    for (index, token) in tokens.iter().enumerate() {
        match (*token, operations.last_mut()) {
            (Token::End, _) => open = false,
            // A comment up to the end of the line.
            (Token::Word(word), _) if word == "#" || word.starts_with("//") => break,
            (Token::Word(word), Some(last))
                if open && !(last.may_end() && is_opcode(position, &tokens[index..])) =>
            {
                last.operands.push(word.to_owned());
            }
            (Token::Text(string), Some(last)) if open => last.operands.push(string.to_owned()),
            (Token::Word(word), _) => {
                operations.push(Operation { opcode: word.to_owned(), operands: Vec::new() });
                open = true;
            }
            // A string without an opcode is a remark.
            (Token::Text(_), _) => {}
        }
    }
    operations
}

impl Operation {
    /// May the next operation begin without a semicolon? Not in the words of a comment.
    fn may_end(&self) -> bool {
        const ENDING: [&str; 13] =
            ["bm", "am", "sm", "pm", "pv", "ce", "dm", "id", "acd", "acn", "acs", "hmvc", "fmvn"];
        !self.operands.is_empty() && ENDING.contains(&self.opcode.as_str())
    }
}

/// Is the first of these tokens an opcode of the standard, and no move?
fn is_opcode(position: &Position, tokens: &[Token]) -> bool {
    const OPCODES: [&str; 25] = [
        "acd",
        "acn",
        "acs",
        "am",
        "bm",
        "ce",
        "dm",
        "draw_accept",
        "draw_claim",
        "draw_offer",
        "draw_reject",
        "eco",
        "fmvn",
        "hmvc",
        "id",
        "nic",
        "noop",
        "pm",
        "pv",
        "rc",
        "resign",
        "sm",
        "tcgs",
        "tcri",
        "tcsi",
    ];
    let [Token::Word(word), after @ ..] = tokens else {
        return false;
    };
    // The comments c0 to c9 and the variables v0 to v9; but `c4` is a move as well.
    let is_comment = matches!(word.as_bytes(), [b'c' | b'v', b'0'..=b'9'])
        && matches!(after, [Token::Text(_), ..]);
    is_comment || (OPCODES.contains(word) && position.parse_san(word).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROOKS: &str = "8/8/p1p5/1p5p/1P5p/8/PPP2K1p/4R1rk w - -";
    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

    fn record(line: &str) -> Record {
        Record::parse(line, 7).expect("is EPD").expect("has a position")
    }

    fn record_at(fen: &str, operations: &str) -> Record {
        record(&format!("{fen} {operations}"))
    }

    fn reason(fen: &str, operations: &str) -> String {
        Record::parse(&format!("{fen} {operations}"), 7).expect_err("is no EPD")
    }

    fn sans(record: &Record, moves: &[PackedMove]) -> Vec<String> {
        moves.iter().map(|&m| record.position.san(m)).collect()
    }

    #[test]
    fn the_usual_line() {
        let record = record_at(START, r#"bm e4 Nf3; id "first; of 2"; c0 "a remark";"#);
        assert_eq!(sans(&record, &record.best), ["e4", "Nf3"]);
        assert_eq!(record.id, "first; of 2");
        assert_eq!(record.operands("c0"), Some(&["a remark".to_owned()][..]));
        assert_eq!((record.mate, record.line), (None, 7));
        assert_eq!(record.task(), "bm e4 Nf3");
    }

    #[test]
    fn counters_are_tolerated_in_any_number() {
        for counters in ["", "0 1", "5", "3 40", "0 1;", "12 77 ;"] {
            let line = format!("{ROOKS} {counters} bm Rf1; id \"x\";");
            assert_eq!(record(&line).best.len(), 1, "{line}");
        }
        assert_eq!(record_at(ROOKS, "3 40 bm Rf1;").position.fullmove_number(), 40);
    }

    #[test]
    fn semicolons_may_be_missing() {
        for operations in [
            r#"bm Rf1 id "x""#,
            r#"bm Rf1 id "x";"#,
            r#"id "x" bm Rf1"#,
            r#"acd 9 bm Rf1 id x"#,
            r#"bm Rf1 c4 "a remark"; id "x""#,
            r#"bm Rf1; id "x"#,
            r#"bm Rf1; "lost words" id "x"; # and so on"#,
            r#"bm Rf1; id "x"; // bm Rf2"#,
        ] {
            let record = record_at(ROOKS, operations);
            assert_eq!(sans(&record, &record.best), ["Rf1"], "{operations}");
            assert_eq!(record.id, "x", "{operations}");
        }
    }

    #[test]
    fn a_move_that_looks_like_a_comment_is_a_move() {
        let record = record_at(START, "bm e4 c4; id \"x\"");
        assert_eq!(sans(&record, &record.best), ["e4", "c4"]);
    }

    #[test]
    fn all_notations_of_moves() {
        for text in ["Rf1", "Re1-f1", "e1f1", "Rf1!", "Ref1"] {
            let record = record_at(ROOKS, &format!("bm {text};"));
            assert_eq!(sans(&record, &record.best), ["Rf1"], "{text}");
        }
        let castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -";
        for text in ["O-O", "0-0", "e1g1", "e1h1"] {
            let record = record_at(castling, &format!("bm {text};"));
            assert_eq!(sans(&record, &record.best), ["O-O"], "{text}");
        }
    }

    #[test]
    fn mates_in_their_three_forms() {
        for (operations, mate) in [
            ("dm 4;", 4),
            ("bm #4;", 4),
            ("bm #-3", -3),
            ("bm Rf1; ce +M4; pv Rf1;", 4),
            ("ce -M2;", -2),
            ("ce M12;", 12),
        ] {
            assert_eq!(record_at(ROOKS, operations).mate, Some(mate), "{operations}");
        }
        assert_eq!(record_at(ROOKS, "ce 120; bm Rf1;").mate, None);
    }

    #[test]
    fn what_solves_a_position() {
        let best = record_at(START, "bm e4; am d4;");
        let m = |text| best.position.parse_san(text).expect("is legal");
        let cp = Some(Score::cp(10));
        assert_eq!(best.solved(m("e4"), cp), Some(true));
        assert_eq!(best.solved(m("d4"), cp), Some(false));
        assert_eq!(best.solved(m("c4"), cp), Some(false));
        assert_eq!(best.solved(PackedMove::NONE, None), Some(false));
        let avoid = record_at(START, "am d4");
        assert_eq!(avoid.solved(m("c4"), cp), Some(true));
        assert_eq!(avoid.solved(PackedMove::NONE, None), Some(false));
        assert_eq!(record(START).solved(m("e4"), cp), None);
        let mate = record_at(START, "bm e4; ce +M2");
        assert_eq!(mate.solved(m("d4"), Some(Score::mate_in(3))), Some(true));
        assert_eq!(mate.solved(m("d4"), Some(Score::mate_in(1))), Some(true));
        assert_eq!(mate.solved(m("e4"), Some(Score::mate_in(5))), Some(false));
        assert_eq!(mate.solved(m("e4"), Some(Score::mated_in(2))), Some(false));
        let mated = record_at(START, "bm #-2");
        assert_eq!(mated.solved(m("e4"), Some(Score::mated_in(4))), Some(true));
        assert_eq!(mated.solved(m("e4"), Some(Score::mated_in(6))), Some(false));
        assert_eq!(mated.solved(m("e4"), Some(Score::mate_in(1))), Some(false));
    }

    #[test]
    fn pawn_endings_are_those_of_either_side() {
        assert!(!record(ROOKS).is_pawn_ending());
        assert!(record("8/8/p1p5/1p5p/1P5p/8/PPP2K1p/4R2k b - -").is_pawn_ending());
        assert!(record("8/7p/2k1Pp2/pp1p2p1/3P2P1/4P3/P3K2P/8 w - - bm e4;").is_pawn_ending());
    }

    #[test]
    fn errors_say_what_is_wrong() {
        assert!(reason(ROOKS, "bm Ra8;").contains("illegal move: 'Ra8'"));
        assert!(reason(ROOKS, "bm;").contains("'bm' names no move"));
        assert!(reason(ROOKS, "dm soon;").contains("not 'soon'"));
        assert!(reason(ROOKS, "bm #0;").contains("not '0'"));
        assert!(reason(ROOKS, "bm #99999;").contains("'99999'"));
        assert!(reason("hello have a nice", "day").contains("not a FEN"));
        assert!(reason("8/8/8/8/8/8/8/K7 w - -", "").contains("a king is missing"));
    }

    #[test]
    fn files_skip_comments_and_count_lines() {
        let text = format!("\u{feff}# head\r\n\r\n{ROOKS} bm Rf1;\r\n  {START}\r\n\u{1a}");
        let lines: Vec<usize> = parse(&text).expect("is EPD").iter().map(|r| r.line).collect();
        assert_eq!(lines, [3, 4]);
        let broken = format!("{text}\n{ROOKS} bm Rg9;\n");
        assert_eq!(parse(&broken).expect_err("has a bad move").0, 6);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = parse(&text);
            let _ = Record::parse(&format!("{START} {text}"), 1);
        }

        #[test]
        fn no_jumble_of_operations_panics(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "bm", "am", "dm", "id", "ce", "c0", "c4", "e4", "#4", "#", "+M3", "-M", "0-0",
                    "\"", "\"x\"", ";", " ", "//", "Nf3", "0", "1", "é", "-", "#-",
                ]),
                0..20,
            ),
            glue in prop::sample::select(vec!["", " "]),
        ) {
            let _ = Record::parse(&format!("{START} {}", words.join(glue)), 1);
        }
    }
}
