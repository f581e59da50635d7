//! Which openings a match plays.

use std::path::{Path, PathBuf};

use crate::board::pgn;
use crate::games::openings::{Book, Opening};
use crate::lab::{LabError, epd, read_games};

/// The book and the order of its openings.
#[derive(clap::Args, Clone, Debug)]
pub struct BookArgs {
    /// Openings in EPD, or in PGN if the name ends in .pgn [default: a balanced set of our own]
    #[arg(long, value_name = "FILE")]
    pub book: Option<PathBuf>,

    /// Decides the order of the openings and all else that is drawn
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
}

impl BookArgs {
    /// The openings in their order.
    ///
    /// # Errors
    /// A file that cannot be read, or has no opening or a bad one.
    pub fn open(&self) -> Result<Book, LabError> {
        let mut book = self.book.as_deref().map_or_else(|| Ok(Book::built_in()), read)?;
        book.shuffle(self.seed);
        Ok(book)
    }
}

/// The openings of a file: PGN if its name ends so, else EPD.
fn read(path: &Path) -> Result<Book, LabError> {
    let is_pgn = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("pgn"));
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let book = Book::new(name, if is_pgn { read_pgn(path)? } else { read_epd(path)? });
    if book.is_empty() {
        return Err(LabError::Usage(format!("{} has no opening to play", path.display())));
    }
    Ok(book)
}

fn read_epd(path: &Path) -> Result<Vec<Opening>, LabError> {
    let records = epd::read(path)?.records;
    let opening = |(index, record): (usize, epd::Record)| Opening {
        number: index + 1,
        start: record.position,
        moves: Vec::new(),
    };
    Ok(records.into_iter().enumerate().map(opening).collect())
}

fn read_pgn(path: &Path) -> Result<Vec<Opening>, LabError> {
    let opening = |(index, game): (usize, pgn::Game)| Opening {
        number: index + 1,
        start: game.start,
        moves: game.moves,
    };
    let (games, bad) = read_games(path)?;
    match bad.into_iter().next() {
        Some(reason) => Err(LabError::Usage(reason)),
        None => Ok(games.into_iter().enumerate().map(opening).collect()),
    }
}

/// Checks that a book has an opening for each of this many pairs of games. Without a clock the same
/// opening gives the same games again.
///
/// # Errors
/// If there are too few.
pub fn check_pairs(book: &Book, pairs: usize) -> Result<(), LabError> {
    if pairs <= book.len() {
        return Ok(());
    }
    Err(LabError::Usage(format!(
        "{} games need {pairs} openings, and the book '{}' has {}: without a clock the same \
         opening gives the same game again; choose a larger --book",
        pairs.saturating_mul(2),
        book.name,
        book.len()
    )))
}
