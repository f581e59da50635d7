//! One table for the terminal, for Markdown and for CSV, from the same rows.

use std::fmt;

/// How a column is aligned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Align {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// Rows of cells under heads. `Display` writes Markdown whose columns are aligned.
#[derive(Clone, Debug)]
pub(crate) struct TextTable {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

/// A column: its head, its alignment, and the cell of a row.
pub(crate) type Column<'a, R> = (&'a str, Align, &'a dyn Fn(&R) -> String);

/// Blanks between two columns on a terminal.
const GAP: usize = 2;

impl TextTable {
    /// An empty table with these heads.
    pub(crate) fn new(columns: &[(&str, Align)]) -> TextTable {
        let own = |&(head, align): &(&str, Align)| (head.to_owned(), align);
        TextTable { columns: columns.iter().map(own).collect(), rows: Vec::new() }
    }

    /// A table with a row for each item, its cells made by the columns.
    pub(crate) fn of<'a, R: 'a>(
        rows: impl IntoIterator<Item = &'a R>,
        columns: &[Column<R>],
    ) -> TextTable {
        let heads: Vec<(&str, Align)> =
            columns.iter().map(|&(head, align, _)| (head, align)).collect();
        let mut table = TextTable::new(&heads);
        for row in rows {
            table.push(columns.iter().map(|(.., cell)| cell(row)).collect());
        }
        table
    }

    /// Adds a row; missing cells stay empty, surplus ones are dropped.
    pub(crate) fn push(&mut self, mut row: Vec<String>) {
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    /// The table for a terminal of `width` columns, or of any width. If it is too wide, it is cut into
    /// blocks below one another, each of which repeats the first `keys` columns.
    pub(crate) fn plain(&self, width: Option<usize>, keys: usize) -> String {
        let widths = self.widths(0, |cell| cell.chars().count());
        let blocks = blocks(&widths, width, keys.min(widths.len()));
        let texts: Vec<String> =
            blocks.iter().map(|block| self.plain_block(block, &widths)).collect();
        texts.join("\n")
    }

    /// The rows as CSV, heads first. Quoted as RFC 4180 asks.
    pub(crate) fn csv(&self) -> String {
        let quoted = |cell: &String| {
            if cell.contains(['"', ',', '\n', '\r']) {
                format!("\"{}\"", cell.replace('"', "\"\""))
            } else {
                cell.clone()
            }
        };
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let heads = line(self.columns.iter().map(|(head, _)| quoted(head)).collect());
        let rows = self.rows.iter().map(|row| line(row.iter().map(quoted).collect()));
        heads + &rows.collect::<String>()
    }

    fn plain_block(&self, block: &[usize], widths: &[usize]) -> String {
        let line = |cells: &dyn Fn(usize) -> String| {
            let cells: Vec<String> =
                block.iter().map(|&at| pad(&cells(at), widths[at], self.columns[at].1)).collect();
            format!("{}\n", cells.join(&" ".repeat(GAP)).trim_end())
        };
        let heads = line(&|at| self.columns[at].0.clone());
        let rows = self.rows.iter().map(|row| line(&|at| row[at].clone()));
        heads + &rows.collect::<String>()
    }

    fn widths(&self, min: usize, width: impl Fn(&str) -> usize) -> Vec<usize> {
        let column = |at: usize| {
            let cells = self.rows.iter().map(|row| width(&row[at]));
            cells.chain([width(&self.columns[at].0), min]).max().unwrap_or(min)
        };
        (0..self.columns.len()).map(column).collect()
    }
}

/// Groups columns into blocks that fit the width; the keys come first in each.
fn blocks(widths: &[usize], width: Option<usize>, keys: usize) -> Vec<Vec<usize>> {
    let fixed: usize = widths[..keys].iter().map(|width| width + GAP).sum();
    let mut blocks: Vec<Vec<usize>> = vec![(0..keys).collect()];
    let mut used = fixed;
    for (at, own) in widths.iter().enumerate().skip(keys) {
        let block = blocks.last().map_or(0, Vec::len);
        if width.is_some_and(|width| used + own > width) && block > keys {
            blocks.push((0..keys).collect());
            used = fixed;
        }
        used += own + GAP;
        blocks.last_mut().into_iter().for_each(|block| block.push(at));
    }
    blocks
}

fn pad(cell: &str, width: usize, align: Align) -> String {
    match align {
        Align::Left => format!("{cell:<width$}"),
        Align::Right => format!("{cell:>width$}"),
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let escaped = |cell: &str| cell.replace('|', "\\|");
        // Markdown asks for three dashes.
        let widths = self.widths(3, |cell| escaped(cell).chars().count());
        let line = |f: &mut fmt::Formatter<'_>, cells: &mut dyn Iterator<Item = &String>| {
            for ((cell, &width), (_, align)) in cells.zip(&widths).zip(&self.columns) {
                write!(f, "| {} ", pad(&escaped(cell), width, *align))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable {
        let mut table = TextTable::new(&[("scheme", Align::Left), ("nodes", Align::Right)]);
        table.push(vec!["off".into(), "1,000,000".into()]);
        table.push(vec!["a|b".into()]);
        table
    }

    #[test]
    fn markdown_is_aligned() {
        assert_eq!(
            table().to_string(),
            "| scheme |     nodes |\n\
             |:-------|----------:|\n\
             | off    | 1,000,000 |\n\
             | a\\|b   |           |\n"
        );
    }

    #[test]
    fn a_terminal_gets_one_block_if_it_is_wide_enough() {
        let one = "scheme      nodes\noff     1,000,000\na|b\n";
        assert_eq!(table().plain(None, 1), one);
        assert_eq!(table().plain(Some(17), 1), one);
    }

    #[test]
    fn no_line_of_a_narrow_table_is_too_long_and_no_cell_is_lost() {
        let heads = ["depth", "scheme", "nodes", "growth", "solved", "difference"];
        let mut table = TextTable::new(&heads.map(|head| (head, Align::Right)));
        for row in 0..3 {
            table.push((0..6).map(|column| format!("{row}{column}")).collect());
        }
        for width in 25..70 {
            let text = table.plain(Some(width), 2);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
            assert!((0..3).all(|row| (2..6).all(|c| text.contains(&format!("{row}{c}")))));
            assert_eq!(text.matches("scheme").count(), text.split("\n\n").count());
        }
    }

    #[test]
    fn csv_is_quoted_where_it_must_be() {
        let mut table = table();
        table.push(vec!["say \"x\", y".into(), "2".into()]);
        assert_eq!(table.csv(), "scheme,nodes\noff,\"1,000,000\"\na|b,\n\"say \"\"x\"\", y\",2\n");
    }
}
