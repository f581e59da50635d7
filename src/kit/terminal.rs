//! The terminal behind standard output.

use terminal_size::{Height, Width, terminal_size};

/// Columns of standard output; `None` if it is not a terminal.
pub fn width() -> Option<usize> {
    terminal_size().map(|(Width(columns), Height(_))| usize::from(columns))
}
