//! Opening books.

use std::collections::HashSet;

use super::adjudication::{Ending, by_rules};
use crate::board::movetext::MoveReader;
use crate::board::{PackedMove, Position};
use crate::kit::fingerprint;
use crate::kit::random::Random;

/// A position to begin at, with the moves that lead to it.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    /// Its place in the book, from 1.
    pub number: usize,
    /// The position before the moves.
    pub start: Position,
    pub moves: Vec<PackedMove>,
}

impl Opening {
    /// The position after its moves.
    pub(crate) fn end(&self) -> Position {
        self.moves.iter().fold(self.start.clone(), |position, &m| position.follow(m))
    }

    /// How the game is over by rule after the opening; `None` if it goes on.
    pub(crate) fn ending(&self) -> Option<Ending> {
        let mut position = self.start.clone();
        let mut earlier = Vec::with_capacity(self.moves.len());
        for &m in &self.moves {
            earlier.push(position.key());
            position = position.follow(m);
        }
        by_rules(&position, &earlier).map(|(_, ending)| ending)
    }
}

/// A set of openings.
#[derive(Clone, Debug)]
pub(crate) struct Book {
    pub name: String,
    /// A fingerprint of its openings in their order.
    pub fingerprint: u64,
    openings: Vec<Opening>,
}

/// The built-in openings, a line each: the moves from the start position, found by
/// `tacet mine openings`.
const BUILT_IN: &str = include_str!("openings.txt");

impl Book {
    /// The built-in openings.
    pub(crate) fn built_in() -> Book {
        let lines = BUILT_IN.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let openings = lines.enumerate().filter_map(|(i, line)| parse_line(i + 1, line));
        Book::new("built-in".to_owned(), openings)
    }

    /// A book of these openings. Those after which the game is over are skipped.
    pub(crate) fn new(name: String, openings: impl IntoIterator<Item = Opening>) -> Book {
        let openings: Vec<Opening> =
            openings.into_iter().filter(|opening| opening.ending().is_none()).collect();
        let text: Vec<String> = openings.iter().map(|opening| opening.end().to_fen()).collect();
        Book { name, fingerprint: fingerprint::of_bytes(text.join("\n").as_bytes()), openings }
    }

    /// The number of openings.
    pub(crate) fn len(&self) -> usize {
        self.openings.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.openings.is_empty()
    }

    /// The number of different positions in which the first `count` openings end.
    pub(crate) fn distinct_ends(&self, count: usize) -> usize {
        let first = self.openings.iter().take(count);
        first.map(|opening| opening.end().key()).collect::<HashSet<u64>>().len()
    }

    /// Puts the openings into an order that depends on the seed only.
    pub(crate) fn shuffle(&mut self, seed: u64) {
        Random::new(seed).shuffle(&mut self.openings);
    }

    /// The opening of a pair of games, from 0. Wraps around after the last opening. `None` if the book is
    /// empty.
    pub(crate) fn opening(&self, pair: usize) -> Option<&Opening> {
        self.openings.get(pair.checked_rem(self.len())?)
    }
}

/// An opening of the built-in book; none if a move is illegal.
fn parse_line(number: usize, line: &str) -> Option<Opening> {
    let mut reader = MoveReader::new(Position::startpos());
    reader.read_all(line).ok()?;
    Some(Opening { number, start: reader.start, moves: reader.moves })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_openings_are_legal_and_distinct() {
        let book = Book::built_in();
        assert!(book.len() >= 100);
        let lines = BUILT_IN.lines().filter(|line| line.starts_with(char::is_alphabetic)).count();
        assert_eq!(book.len(), lines, "every line is read");
        assert_eq!(book.distinct_ends(book.len()), book.len());
        assert!(book.openings.iter().all(|opening| opening.moves.len() == 8));
    }

    #[test]
    fn openings_drawn_by_rule_are_left_out() {
        let there_and_back = "g1f3 g8f6 f3g1 f6g8";
        let opening = |moves: &str| parse_line(1, moves).expect("legal moves");
        let (twice, thrice) = (opening(there_and_back), opening(&[there_and_back; 2].join(" ")));
        assert_eq!((twice.ending(), thrice.ending()), (None, Some(Ending::Repetition)));
        let of_fen = |fen| Opening {
            number: 1,
            start: Position::from_fen(fen).expect("a position"),
            moves: Vec::new(),
        };
        let bare = of_fen("4k3/8/8/8/8/8/8/4K3 w - - 0 1");
        let slow = of_fen("4k3/8/8/8/8/8/8/R3K3 w - - 100 80");
        assert_eq!(bare.ending(), Some(Ending::Material));
        assert_eq!(slow.ending(), Some(Ending::FiftyMoves));
        assert_eq!(Book::new("x".to_owned(), [twice, thrice, bare, slow]).len(), 1);
    }

    #[test]
    fn transpositions_end_in_one_position() {
        let lines = ["g1f3 g8f6 b1c3", "b1c3 g8f6 g1f3", "e2e4"];
        let book = Book::new("x".to_owned(), lines.map(|line| parse_line(1, line).unwrap()));
        assert_eq!([1, 2, 3, 9].map(|count| book.distinct_ends(count)), [1, 1, 2, 2]);
    }

    #[test]
    fn the_seed_decides_the_order_and_the_book_goes_round() {
        let shuffled = |seed| {
            let mut book = Book::built_in();
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
}
