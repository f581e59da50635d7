//! EPD, the Extended Position Description (Edwards 1994): a line with the first four fields of a FEN,
//! optionally its two counters, and operations that end with a semicolon.
//!
//! Common deviations are accepted: a missing semicolon is supplied before a known opcode, and free text is
//! kept. The operations `hmvc` and `fmvn` set the position's clocks.

use super::Position;
use super::notation::{NotationError, quoted};

/// A position and its operations.
#[derive(Clone, Debug)]
pub struct Epd {
    /// The position.
    pub position: Position,
    /// The operations in order.
    pub operations: Vec<Operation>,
}

/// An operation: `bm Nf3 e4` is the opcode `bm` with two operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The name of the operation.
    pub opcode: String,
    /// Its operands, without quotation marks.
    pub operands: Vec<String>,
}

/// Why a line is not EPD. Displays as one line without a line break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EpdError {
    /// The position or a move.
    #[error(transparent)]
    Notation(#[from] NotationError),
    /// An opcode that is nearly that of a task.
    #[error("unknown opcode '{0}' (did you mean '{1}'?)")]
    Opcode(String, &'static str),
    /// An operation is given twice, with different operands.
    #[error("'{0}' is given twice with different values")]
    Repeated(&'static str),
    /// An operation that must name moves names none.
    #[error("'{0}' names no move")]
    NoMove(&'static str),
    /// An operation has no number where it must have one.
    #[error("'{opcode}' expects {wanted}, not '{text}'")]
    Number {
        /// The opcode.
        opcode: &'static str,
        /// The number that it needs, in words.
        wanted: &'static str,
        /// The operand found, shortened.
        text: String,
    },
}

impl Epd {
    /// Reads a line; `None` if it is empty or a comment (`#`, `%`).
    ///
    /// # Errors
    /// If the line is not EPD.
    pub fn parse(line: &str) -> Result<Option<Epd>, EpdError> {
        // Files from DOS end with a control-Z, others are padded with NUL.
        let line = line.replace(['\0', '\u{1a}', '\u{feff}'], " ");
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '%']) {
            return Ok(None);
        }
        let (fen, rest) = split_fen(line);
        let mut position = Position::from_fen(&fen)?;
        let operations = operations(&position, rest);
        let clock = |opcode: &'static str| {
            let found = operations.iter().find(|operation| operation.opcode == opcode);
            found.map(|operation| number(opcode, operation)).transpose()
        };
        if let (halfmoves, fullmoves) = (clock("hmvc")?, clock("fmvn")?)
            && (halfmoves.is_some() || fullmoves.is_some())
        {
            position = position.with_clocks(
                halfmoves.unwrap_or_else(|| position.halfmove_clock()),
                fullmoves.unwrap_or_else(|| position.fullmove_number()),
            )?;
        }
        Ok(Some(Epd { position, operations }))
    }
}

impl Position {
    /// Reads a FEN that operations of EPD may follow, as in `... w - - bm Kg2;`, or `startpos`.
    ///
    /// # Errors
    /// As [`Position::from_fen`], and if other text than operations follows.
    pub fn from_fen_line(text: &str) -> Result<Position, NotationError> {
        if text.trim() == "startpos" {
            return Ok(Position::startpos());
        }
        let (fen, rest) = split_fen(text.trim());
        if rest.is_empty() {
            return Position::from_fen(&fen);
        }
        match Epd::parse(text) {
            Ok(Some(epd)) => {
                let first = epd.operations.first().map_or("", |operation| &operation.opcode);
                if first.is_empty() || OPCODES.contains(&first) || is_comment(first) {
                    return Ok(epd.position);
                }
                Err(NotationError::Trailing(quoted(first)))
            }
            Ok(None) => Position::from_fen(text),
            Err(EpdError::Notation(error)) => Err(error),
            Err(error) => Err(NotationError::Fen(quoted(text.trim()), error.to_string())),
        }
    }
}

impl Position {
    /// The four fields with which a line of EPD begins.
    pub fn epd_fields(&self) -> String {
        let fen = self.to_fen();
        fen.split(' ').take(4).collect::<Vec<_>>().join(" ")
    }
}

/// The opcodes of the standard that are not numbered.
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

fn number(opcode: &'static str, operation: &Operation) -> Result<u32, EpdError> {
    let text = operation.operands.first().map_or("", String::as_str);
    let refusal = || EpdError::Number { opcode, wanted: "a number", text: quoted(text) };
    text.parse().map_err(|_| refusal())
}

/// Splits a line into a FEN, with its counters if they are there, and the operations.
fn split_fen(line: &str) -> (String, &str) {
    let mut fields = Vec::new();
    let mut rest = line;
    while fields.len() < 4 && !rest.starts_with(';') && !rest.is_empty() {
        fields.push(next_field(&mut rest));
    }
    // Dashes in place of the counters, or one too many.
    while rest.starts_with("- ") || rest == "-" {
        next_field(&mut rest);
    }
    while fields.len() < 6 && rest.starts_with(|c: char| c.is_ascii_digit()) {
        fields.push(next_field(&mut rest));
    }
    (fields.join(" "), rest)
}

/// Splits off the first field and the space after it. A semicolon ends a field too.
fn next_field<'a>(rest: &mut &'a str) -> &'a str {
    let end = rest.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(rest.len());
    let (field, after) = rest.split_at(end);
    *rest = after.trim_start();
    field
}

/// A token of the operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'a> {
    Word(&'a str),
    Text(&'a str),
    End,
}

/// Splits a text into words, quoted strings and semicolons. An unterminated string ends with the line.
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

/// Parses operations. An opcode follows each semicolon. If the semicolon is missing, a known opcode
/// begins the next operation where the current one may end.
fn operations(position: &Position, text: &str) -> Vec<Operation> {
    let tokens = tokens(text);
    let mut operations: Vec<Operation> = Vec::new();
    let mut open = false;
    for (index, token) in tokens.iter().enumerate() {
        match (*token, operations.last_mut()) {
            (Token::End, _) => open = false,
            // A comment up to the end of the line.
            (Token::Word(word), _) if word == "#" || word.starts_with("//") => break,
            // The opcode twice, as in `bm bm Nf3;`.
            (Token::Word(word), Some(last))
                if open && last.operands.is_empty() && last.opcode == word => {}
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

/// Is the first of these tokens a standard opcode and not a move?
fn is_opcode(position: &Position, tokens: &[Token]) -> bool {
    let [Token::Word(word), after @ ..] = tokens else {
        return false;
    };
    // `c4` is a comment before a string, else a move.
    (is_comment(word) && matches!(after, [Token::Text(_), ..]))
        || (OPCODES.contains(word) && position.read_move(word).is_err())
}

/// The comments `c0` to `c9` and the variables `v0` to `v9`.
const fn is_comment(word: &str) -> bool {
    matches!(word.as_bytes(), [b'c' | b'v', b'0'..=b'9'])
}
