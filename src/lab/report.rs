//! Tables: as Markdown that is also readable as it stands, and as files.

use std::fmt;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::LabError;

/// To which side a column is aligned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table in Markdown; all cells of a column get the same width.
#[derive(Clone, Debug)]
pub struct MarkdownTable {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl MarkdownTable {
    /// A table with these column heads.
    pub fn new(columns: &[(&str, Align)]) -> MarkdownTable {
        let own = |&(head, align): &(&str, Align)| (head.to_owned(), align);
        MarkdownTable { columns: columns.iter().map(own).collect(), rows: Vec::new() }
    }

    /// Adds a row; missing cells stay empty, surplus ones are dropped.
    pub fn push(&mut self, mut row: Vec<String>) {
        row.resize(self.columns.len(), String::new());
        self.rows.push(row.into_iter().map(|cell| cell.replace('|', "\\|")).collect());
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count());
        let head = self.columns.get(column).map_or(0, |(head, _)| head.chars().count());
        cells.chain([head, 3]).max().unwrap_or(3)
    }
}

impl fmt::Display for MarkdownTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.columns.len()).map(|c| self.width(c)).collect();
        let line = |f: &mut fmt::Formatter<'_>, cells: &mut dyn Iterator<Item = &String>| {
            for ((cell, &width), (_, align)) in cells.zip(&widths).zip(&self.columns) {
                match align {
                    Align::Left => write!(f, "| {cell:<width$} ")?,
                    Align::Right => write!(f, "| {cell:>width$} ")?,
                }
            }
            writeln!(f, "|")
        };
        line(f, &mut self.columns.iter().map(|(head, _)| head))?;
        for (&width, (_, align)) in widths.iter().zip(&self.columns) {
            match align {
                Align::Left => write!(f, "|:{}-", "-".repeat(width))?,
                Align::Right => write!(f, "|-{}:", "-".repeat(width))?,
            }
        }
        writeln!(f, "|")?;
        self.rows.iter().try_for_each(|row| line(f, &mut row.iter()))
    }
}

/// `1652668804` as `1,652,668,804`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share in per cent, with two decimals if it is small: `76.9 %`, `0.03 %`; `-` of nothing.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let share = 100.0 * part as f64 / whole as f64;
    if share > 0.0 && share < 0.95 { format!("{share:.2} %") } else { format!("{share:.1} %") }
}

/// A count with its share of another: `1,234 (6.1 %)`; `0` if there is nothing to share.
pub fn with_share(part: u64, whole: u64) -> String {
    if part == 0 { "0".to_owned() } else { format!("{} ({})", grouped(part), percent(part, whole)) }
}

/// Finds out whether the files can be written, before work whose result would be lost. What is in
/// them stays.
///
/// # Errors
/// For the first that cannot.
pub fn check_writable<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), LabError> {
    for path in paths {
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.map_err(LabError::writing(path))?;
    }
    Ok(())
}

/// Writes a table of raw numbers as CSV.
///
/// # Errors
/// If the file cannot be written.
pub fn write_csv(path: &Path, head: &[&str], rows: &[Vec<String>]) -> Result<(), LabError> {
    let write = || -> csv::Result<()> {
        let mut file = csv::Writer::from_path(path)?;
        file.write_record(head)?;
        rows.iter().try_for_each(|row| file.write_record(row))?;
        Ok(file.flush()?)
    };
    write().map_err(|error| LabError::writing(path)(error.into()))
}

/// Writes anything as JSON.
///
/// # Errors
/// If the file cannot be written.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), LabError> {
    let mut text =
        serde_json::to_vec_pretty(value).map_err(|error| LabError::writing(path)(error.into()))?;
    text.push(b'\n');
    write_text(path, &text)
}

/// Writes a file.
///
/// # Errors
/// If it cannot be written.
pub fn write_text(path: &Path, text: &[u8]) -> Result<(), LabError> {
    std::fs::write(path, text).map_err(LabError::writing(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn shares_keep_two_digits() {
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(3, 10_000), "0.03 %");
        assert_eq!(percent(0, 5), "0.0 %");
        assert_eq!(percent(5, 0), "-");
        assert_eq!(with_share(1500, 3000), "1,500 (50.0 %)");
        assert_eq!(with_share(0, 0), "0");
    }

    #[test]
    fn tables_are_aligned_markdown() {
        let mut table = MarkdownTable::new(&[("scheme", Align::Left), ("nodes", Align::Right)]);
        table.push(vec!["off".into(), "1,000,000".into()]);
        table.push(vec!["a|b".into()]);
        assert_eq!(
            table.to_string(),
            "| scheme |     nodes |\n\
             |:-------|----------:|\n\
             | off    | 1,000,000 |\n\
             | a\\|b   |           |\n"
        );
    }
}
