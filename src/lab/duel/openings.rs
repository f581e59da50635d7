//! Where games begin: a book in EPD or PGN, or a balanced set of our own.

use std::path::{Path, PathBuf};

use crate::board::{PackedMove, Position, pgn};
use crate::kit::fingerprint;
use crate::kit::random::Random;
use crate::lab::{LabError, epd, read_games};

/// An opening.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Where it stands in its book, from 1.
    pub number: usize,
    /// The position before its moves.
    pub start: Position,
    /// Its moves.
    pub moves: Vec<PackedMove>,
}

impl Opening {
    /// The position after its moves.
    pub fn end(&self) -> Position {
        self.moves.iter().fold(self.start.clone(), |position, &m| position.play(m).0)
    }
}

/// Which openings are played, and in what order.
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
    /// As [`Book::read`].
    pub fn open(&self) -> Result<Book, LabError> {
        let mut book = match &self.book {
            Some(path) => Book::read(path)?,
            None => Book::own()?,
        };
        book.shuffle(self.seed);
        Ok(book)
    }
}

/// A set of openings.
#[derive(Clone, Debug)]
pub struct Book {
    /// What to call it.
    pub name: String,
    /// A fingerprint of its openings in their order.
    pub fingerprint: u64,
    openings: Vec<Opening>,
}

/// Our own openings, a line each: the moves from the start position. See [`make`].
const OWN: &str = include_str!("openings.txt");

impl Book {
    /// The built-in openings.
    ///
    /// # Errors
    /// None that can occur: the tests read them all.
    pub fn own() -> Result<Book, LabError> {
        let openings: Result<Vec<Opening>, LabError> = OWN
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .enumerate()
            .map(|(index, line)| parse_line(index + 1, line))
            .collect();
        Ok(Book::new("built-in".to_owned(), openings?))
    }

    /// The openings of a file: PGN if its name ends so, else EPD.
    ///
    /// # Errors
    /// A file that cannot be read, or has no opening or a bad one.
    pub fn read(path: &Path) -> Result<Book, LabError> {
        let is_pgn = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("pgn"));
        let openings = if is_pgn { read_pgn(path)? } else { read_epd(path)? };
        let playable: Vec<Opening> =
            openings.into_iter().filter(|opening| opening.end().has_legal_move()).collect();
        if playable.is_empty() {
            return Err(LabError::Usage(format!("{} has no opening to play", path.display())));
        }
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Book::new(name.to_string_lossy().into_owned(), playable))
    }

    fn new(name: String, openings: Vec<Opening>) -> Book {
        let text: Vec<String> = openings.iter().map(|opening| opening.end().to_fen()).collect();
        Book { name, fingerprint: fingerprint::of_bytes(text.join("\n").as_bytes()), openings }
    }

    /// How many openings there are; at least 1.
    pub fn len(&self) -> usize {
        self.openings.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.openings.is_empty()
    }

    /// Are there openings for so many pairs of games, if the same one gives the same games again?
    ///
    /// # Errors
    /// If there are too few.
    pub fn check_pairs(&self, pairs: usize) -> Result<(), LabError> {
        if pairs <= self.len() {
            return Ok(());
        }
        Err(LabError::Usage(format!(
            "{} games need {pairs} openings, and the book '{}' has {}: without a clock the same \
             opening gives the same game again; choose a larger --book",
            pairs.saturating_mul(2),
            self.name,
            self.len()
        )))
    }

    /// Puts the openings into an order that depends on the seed alone.
    pub fn shuffle(&mut self, seed: u64) {
        Random::new(seed).shuffle(&mut self.openings);
    }

    /// The opening of a pair, from 0: round and round. `None` for an empty book.
    pub fn opening(&self, pair: usize) -> Option<&Opening> {
        self.openings.get(pair.checked_rem(self.len())?)
    }
}

fn parse_line(number: usize, line: &str) -> Result<Opening, LabError> {
    let mut position = Position::startpos();
    let mut moves = Vec::new();
    for text in line.split_ascii_whitespace() {
        let m = position
            .parse_uci(text)
            .map_err(|error| LabError::Usage(format!("built-in opening {number}: {error}")))?;
        position = position.play(m).0;
        moves.push(m);
    }
    Ok(Opening { number, start: Position::startpos(), moves })
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

/// Makes openings as our own were made: random legal moves from the start position, drawn from a
/// seed, that lead to distinct positions, neither in check nor over, which `is_balanced` accepts.
pub fn make(
    count: usize,
    plies: usize,
    seed: u64,
    mut is_balanced: impl FnMut(&Position) -> bool,
) -> Vec<Vec<PackedMove>> {
    let mut random = Random::new(seed);
    let mut seen = std::collections::HashSet::new();
    let mut made = Vec::with_capacity(count);
    while made.len() < count {
        let Some((moves, position)) = random_line(plies, &mut random) else { continue };
        let is_playable = !position.in_check() && position.has_legal_move();
        if is_playable && seen.insert(position.key()) && is_balanced(&position) {
            made.push(moves);
        }
    }
    made
}

fn random_line(plies: usize, random: &mut Random) -> Option<(Vec<PackedMove>, Position)> {
    let mut position = Position::startpos();
    let mut moves = Vec::with_capacity(plies);
    for _ in 0..plies {
        let m = *random.pick(&position.legal_moves())?;
        position = position.play(m).0;
        moves.push(m);
    }
    Some((moves, position))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn our_own_openings_are_legal_and_distinct() {
        let book = Book::own().unwrap();
        let keys: HashSet<u64> = book.openings.iter().map(|opening| opening.end().key()).collect();
        assert!(book.len() >= 100);
        assert_eq!(keys.len(), book.len());
        assert!(book.openings.iter().all(|opening| opening.moves.len() == 8));
    }

    #[test]
    fn the_seed_decides_the_order_and_the_book_goes_round() {
        let shuffled = |seed| {
            let mut book = Book::own().unwrap();
            book.shuffle(seed);
            book
        };
        let (one, again, two) = (shuffled(1), shuffled(1), shuffled(2));
        let numbers = |book: &Book| -> Vec<usize> {
            (0..9).map(|pair| book.opening(pair).unwrap().number).collect()
        };
        assert_eq!(numbers(&one), numbers(&again));
        assert_ne!(numbers(&one), numbers(&two));
        let round = one.opening(one.len()).unwrap().number;
        assert_eq!(Some(round), one.opening(0).map(|opening| opening.number));
    }

    #[test]
    fn made_openings_depend_on_the_seed_alone() {
        let make = |seed| make(20, 8, seed, |_| true);
        assert_eq!(make(5), make(5));
        assert_ne!(make(5), make(6));
        assert!(make(5).iter().all(|moves| moves.len() == 8));
    }
}
