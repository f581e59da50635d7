//! Lines of text files in UTF-8 or Windows-1252, with or without a byte order mark, with the line ends of
//! any system, and with NUL or Ctrl-Z as padding.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};

/// Maximum length of a line in bytes. A file with a longer line is rejected as binary.
const MAX_LINE: u64 = 1 << 24;
/// Maximum number of binary lines. A file with more is rejected.
const MAX_BINARY_LINES: usize = 64;

/// A line and its number, from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TextLine {
    pub number: usize,
    pub text: String,
    /// Where the part of `text` that has not been read begins.
    pub start: usize,
    /// True if that part may begin with a tag, as a whole line of the file may.
    pub is_whole: bool,
}

impl TextLine {
    /// The part that has not been read.
    pub(super) fn rest(&self) -> &str {
        &self.text[self.start..]
    }
}

/// The lines of a file.
pub(super) struct Lines<R> {
    bytes: BufReader<R>,
    number: usize,
    binary: usize,
    waiting: VecDeque<TextLine>,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(bytes: R) -> Lines<R> {
        Lines { bytes: BufReader::new(bytes), number: 0, binary: 0, waiting: VecDeque::new() }
    }

    /// Puts a line back; `next` returns it again.
    pub(super) fn push_back(&mut self, line: TextLine) {
        self.waiting.push_front(line);
    }

    /// The next line; `None` at the end of the file.
    ///
    /// # Errors
    /// If the file cannot be read or is not text.
    pub(super) fn next(&mut self) -> io::Result<Option<TextLine>> {
        if self.waiting.is_empty() {
            self.fill()?;
        }
        Ok(self.waiting.pop_front())
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        if self.bytes.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(());
        }
        if bytes.len() as u64 == MAX_LINE {
            return Err(no_text("a line has no end"));
        }
        self.number += 1;
        if self.number == 1 && is_utf16(&bytes) {
            return Err(no_text(IS_UTF16));
        }
        if is_binary(&bytes) {
            self.binary += 1;
            if self.binary > MAX_BINARY_LINES {
                return Err(no_text("too many control characters"));
            }
        }
        let text = decode(&bytes);
        let text = text.trim_start_matches('\u{feff}').trim_end_matches('\n');
        // Old Macintosh files end lines with a carriage return alone.
        for text in text.trim_end_matches('\r').split('\r') {
            let text = text.replace(['\0', '\u{1a}'], " ");
            self.waiting.push_back(TextLine {
                number: self.number,
                text,
                start: 0,
                is_whole: true,
            });
        }
        Ok(())
    }
}

fn no_text(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not a text: {reason}"))
}

/// Is more than one byte in twenty a control character?
fn is_binary(bytes: &[u8]) -> bool {
    let padding = |byte: &&u8| matches!(byte, 0 | 0x1a | b'\r' | b'\n');
    let text = &bytes[..bytes.len() - bytes.iter().rev().take_while(padding).count()];
    let controls = text.iter().filter(|&&byte| byte < 0x20 && !byte.is_ascii_whitespace()).count();
    controls * 20 > text.len()
}

/// Why a file of UTF-16 is refused.
pub const IS_UTF16: &str = "UTF-16; please convert it to UTF-8";

/// Do these bytes begin a file of UTF-16?
pub fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// Decodes UTF-8 or, if the bytes are not UTF-8, Windows-1252, which includes Latin-1.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    // 0x80 to 0x9f in Windows-1252; five are undefined.
    const HIGH: [char; 32] = [
        '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž',
        '\u{fffd}', '\u{fffd}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ',
        '\u{fffd}', 'ž', 'Ÿ',
    ];
    let decoded = |&byte: &u8| match byte {
        0x80..=0x9f => HIGH[usize::from(byte) - 0x80],
        _ => char::from(byte),
    };
    std::str::from_utf8(bytes)
        .map_or_else(|_| Cow::Owned(bytes.iter().map(decoded).collect()), Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(bytes);
        std::iter::from_fn(|| lines.next().expect("is text")).map(|line| line.text).collect()
    }

    #[test]
    fn lines_end_as_on_any_system() {
        for bytes in [&b"a\nb\n"[..], b"a\r\nb\r\n", b"a\rb", b"\xef\xbb\xbfa\nb", b"a\r\r\nb\n"] {
            assert_eq!(texts(bytes).join(" ").split_whitespace().collect::<Vec<_>>(), ["a", "b"]);
        }
        assert_eq!(texts(b"a\0\nb\x1a\0\0"), ["a ", "b   "]);
    }

    #[test]
    fn old_encodings_are_read() {
        assert_eq!(texts(b"M\xfcller \xbd-\xbd"), ["Müller ½-½"]);
        assert_eq!(texts("Müller ½-½ ♘f3".as_bytes()), ["Müller ½-½ ♘f3"]);
        assert_eq!(texts(b"\x93quoted\x94"), ["“quoted”"]);
    }

    #[test]
    fn what_is_no_text_ends() {
        let endless = Lines::new(io::repeat(0)).next().expect_err("has no end");
        assert!(endless.to_string().contains("not a text"), "{endless}");
        let wide = Lines::new(&b"\xff\xfe1\0.\0"[..]).next().expect_err("is UTF-16");
        assert!(wide.to_string().contains("UTF-16"), "{wide}");
        let mut lines = Lines::new(io::Cursor::new(b"\x01\x02\x03\x04x\n".repeat(1000)));
        assert!((0..1000).any(|_| lines.next().is_err()));
    }
}
