//! The terminal behind standard output.

use std::io;

use terminal_size::{Height, Width, terminal_size_of};

/// Columns of standard output; `None` if it is not a terminal.
pub(crate) fn width() -> Option<usize> {
    // `terminal_size` would take the terminal of another stream if standard output is redirected.
    terminal_size_of(io::stdout()).map(|(Width(columns), Height(_))| usize::from(columns))
}

/// Breaks text between words into lines of at most `width` columns; all lines but the first begin
/// with `indent`. A word that is longer has a line of its own.
pub(crate) fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut wrapped = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            wrapped.push('\n');
            wrapped += indent;
            column = indent.chars().count();
        } else if column > 0 {
            wrapped.push(' ');
            column += 1;
        }
        wrapped += word;
        column += length;
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        let text = "one two three four";
        assert_eq!(wrap(text, 9, "  "), "one two\n  three\n  four");
        assert_eq!(wrap(text, usize::MAX, "  "), text);
        assert_eq!(wrap(text, 1, ""), "one\ntwo\nthree\nfour");
        assert_eq!(wrap("", 9, ""), "");
    }
}
