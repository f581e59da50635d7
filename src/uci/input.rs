//! The lines of the input, read on a thread of their own.

use std::io::{self, BufRead, Read};
use std::thread;

use crossbeam_channel::{Receiver, bounded};

/// A longer line is left out. A game of a hundred thousand moves is shorter.
pub const LONGEST_LINE: usize = 2 << 20;

/// Lines read ahead.
const READ_AHEAD: usize = 16;

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line, with its end.
    Text(String),
    /// A line longer than [`LONGEST_LINE`] bytes.
    TooLong,
}

/// Reads lines on a thread of its own; the channel is closed at the end of input. What is not UTF-8
/// is read as replacement characters.
///
/// # Errors
/// If there can be no thread.
pub fn lines(mut input: impl BufRead + Send + 'static) -> io::Result<Receiver<Line>> {
    let (sender, receiver) = bounded(READ_AHEAD);
    let read = move || {
        while let Some(line) = next_line(&mut input) {
            if sender.send(line).is_err() {
                break;
            }
        }
    };
    thread::Builder::new().name("reader".into()).spawn(read)?;
    Ok(receiver)
}

/// The next line; `None` at the end of input, and if it cannot be read.
fn next_line(input: &mut impl BufRead) -> Option<Line> {
    let mut bytes = Vec::new();
    input.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', &mut bytes).ok()?;
    if bytes.is_empty() {
        return None;
    }
    if bytes.len() == LONGEST_LINE && !bytes.ends_with(b"\n") {
        input.skip_until(b'\n').ok()?;
        return Some(Line::TooLong);
    }
    Some(Line::Text(String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<Line> {
        let mut input = bytes;
        std::iter::from_fn(|| next_line(&mut input)).collect()
    }

    fn text(line: &str) -> Line {
        Line::Text(line.to_owned())
    }

    #[test]
    fn lines_and_what_looks_like_them() {
        assert_eq!(read(b""), []);
        assert_eq!(read(b"uci\r\n\nquit"), [text("uci\r\n"), text("\n"), text("quit")]);
        assert_eq!(read(b"\xff\n"), [text("\u{fffd}\n")]);
    }

    #[test]
    fn a_line_too_long_is_left_out() {
        let mut bytes = vec![b'x'; 3 * LONGEST_LINE];
        assert_eq!(read(&bytes), [Line::TooLong]);
        bytes.extend(b"\nuci\n");
        assert_eq!(read(&bytes), [Line::TooLong, text("uci\n")]);
        let mut longest = vec![b'x'; LONGEST_LINE - 1];
        longest.push(b'\n');
        assert!(matches!(&read(&longest)[..], [Line::Text(_)]));
    }
}
