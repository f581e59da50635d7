//! `genfens`: openings for training games in the form that OpenBench asks an engine for, so that
//! OpenBench can make data on many machines.
//!
//! An opening is a few random moves from the start position or from a position of a book. Decided openings
//! are skipped. The openings depend on the seed and the evaluation.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::command::GenFens;
use super::task::Job;
use crate::board::Position;
use crate::eval::Evaluator;
use crate::games::random_opening::{OPENING_LIMIT, random_moves, random_opening};
use crate::kit::files::open_regular;
use crate::kit::random::Random;
use crate::search::table::Table;
use crate::search::{self, PvsOptions, SearchJob, Searcher};
use crate::time::{Limits, TimeManager};

/// Nodes of the search that decides whether an opening is balanced.
const NODES: u64 = 2_000;
/// The table of that search, in MB.
const HASH: usize = 1;
/// Maximum number of attempts at one opening, or at one position of the book.
const MAX_ATTEMPTS: u32 = 200;
/// Largest length of a line of the book; longer lines are cut.
const MAX_LINE: u64 = 4_096;

/// The making of openings.
pub(crate) struct Openings {
    wanted: GenFens,
    evaluator: Evaluator,
    stopped: AtomicBool,
}

impl Openings {
    /// A job for these openings. The evaluation tells which are decided.
    pub(crate) fn new(wanted: GenFens, evaluator: Evaluator) -> Openings {
        Openings { wanted, evaluator, stopped: AtomicBool::new(false) }
    }

    /// The next opening.
    fn next(
        &self,
        book: &mut Option<Book>,
        random: &mut Random,
        table: &Table,
    ) -> Result<Position, String> {
        for _ in 0..MAX_ATTEMPTS {
            let position = match book {
                Some(book) => random_moves(book.position(random)?, 2 + random.below(2), random),
                None => random_opening(random),
            };
            if let Some(position) = position.filter(|position| self.is_open(position, table)) {
                return Ok(position);
            }
        }
        Err(format!("{MAX_ATTEMPTS} openings in a row are decided"))
    }

    fn is_open(&self, position: &Position, table: &Table) -> bool {
        let options = PvsOptions { evaluator: self.evaluator.clone(), ..PvsOptions::default() };
        let job = SearchJob::new(position.clone(), Searcher::Pvs(options));
        table.clear();
        let time = TimeManager::with_limits(Limits::to_nodes(NODES));
        let score = search::run(&job, table, &time, &mut |_| ()).score();
        score.is_some_and(|score| score.value().abs() <= OPENING_LIMIT)
    }
}

/// Each opening is a line `info string genfens FEN`.
impl Job for Openings {
    fn name(&self) -> &'static str {
        "genfens"
    }

    fn run(&self, say: &dyn Fn(String)) -> Result<(), String> {
        let mut book = self.wanted.book.as_deref().map(Book::open).transpose()?;
        let table = Table::new(HASH).map_err(|error| error.to_string())?;
        let mut random = Random::numbered(self.wanted.seed, 0);
        for _ in 0..self.wanted.count {
            if self.stopped.load(Ordering::Relaxed) {
                say("info string genfens stopped".to_owned());
                break;
            }
            let position = self.next(&mut book, &mut random, &table)?;
            say(format!("info string genfens {}", position.to_fen()));
        }
        Ok(())
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// A book of positions, one per line. Any position can be drawn without reading the file.
struct Book {
    name: String,
    file: BufReader<File>,
    bytes: u64,
}

impl Book {
    fn open(name: &str) -> Result<Book, String> {
        let open = || {
            let file = open_regular(Path::new(name))?;
            let bytes = file.metadata()?.len();
            Ok(Book { name: name.to_owned(), file: BufReader::new(file), bytes })
        };
        open().map_err(|error: std::io::Error| format!("{name}: {error}"))
    }

    /// A position of the book.
    fn position(&mut self, random: &mut Random) -> Result<Position, String> {
        for _ in 0..MAX_ATTEMPTS {
            let place = random.below(usize::try_from(self.bytes).unwrap_or(usize::MAX)) as u64;
            let line = self.line(place).map_err(|error| format!("{}: {error}", self.name))?;
            // EPD and FEN agree in their first four fields.
            let fields: Vec<&str> = line.split_whitespace().take(4).collect();
            if !fields.is_empty() {
                let fen = format!("{} 0 1", fields.join(" "));
                return Position::from_fen(&fen).map_err(|error| format!("{}: {error}", self.name));
            }
        }
        Err(format!("{}: no positions", self.name))
    }

    /// The line after the one at this byte; after the last line the first.
    fn line(&mut self, place: u64) -> std::io::Result<String> {
        let mut line = Vec::new();
        self.file.seek(SeekFrom::Start(place))?;
        self.file.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        line.clear();
        if self.file.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            self.file.seek(SeekFrom::Start(0))?;
            self.file.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        }
        Ok(String::from_utf8_lossy(&line).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::HashSet;

    fn made(wanted: GenFens) -> Result<Vec<String>, String> {
        let lines = RefCell::new(Vec::new());
        let openings = Openings::new(wanted, Evaluator::default());
        openings.run(&|line| lines.borrow_mut().push(line)).map(|()| lines.into_inner())
    }

    fn wanted(seed: u64, book: Option<String>) -> GenFens {
        GenFens { count: 12, seed, book }
    }

    fn book(name: &str, text: &str) -> Option<String> {
        let path =
            std::env::temp_dir().join(format!("tacet-genfens-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Some(path.to_str().unwrap().to_owned())
    }

    #[test]
    fn openings_are_legal_undecided_various_and_depend_on_the_seed() {
        let lines = made(wanted(1, None)).unwrap();
        assert_eq!(lines.len(), 12);
        assert_eq!(lines.iter().collect::<HashSet<_>>().len(), 12);
        for line in &lines {
            let fen = line.strip_prefix("info string genfens ").unwrap();
            assert_eq!(fen.split(' ').count(), 6);
            assert_eq!(Position::from_fen(fen).unwrap().to_fen(), fen);
        }
        let turns: HashSet<&str> = lines.iter().filter_map(|line| line.split(' ').nth(4)).collect();
        assert_eq!(turns.len(), 2, "both sides come to move first");
        assert_eq!(made(wanted(1, None)).unwrap(), lines);
        assert_ne!(made(wanted(2, None)).unwrap(), lines);
    }

    #[test]
    fn a_book_is_begun_at() {
        // Pawns only, which random moves from the start position do not reach.
        let text = "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - hmvc 0;\n\n\
                    4k3/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/4K3 w - - 0 2\n";
        let path = book("pawns", text);
        let lines = made(wanted(1, path.clone())).unwrap();
        assert!(lines.iter().all(|line| !line.contains(['q', 'Q'])), "{lines:?}");
        assert!(lines.iter().collect::<HashSet<_>>().len() > 8);
        let _ = std::fs::remove_file(path.unwrap());
    }

    #[test]
    fn invalid_books_are_refused_in_one_line() {
        let (nothing, text) = (book("nothing", ""), book("text", "These are\nno positions\n"));
        let lost = book("lost", "4k3/8/8/8/8/8/8/QQQQK3 w - -\n");
        for (book, reason) in [
            (Some("/no/such/book".to_owned()), "/no/such/book"),
            (nothing.clone(), "no positions"),
            (text.clone(), "genfens-"),
            (lost.clone(), "are decided"),
        ] {
            let refusal = made(wanted(1, book)).unwrap_err();
            assert!(refusal.contains(reason) && !refusal.contains('\n'), "{refusal}");
        }
        for path in [nothing, text, lost] {
            let _ = std::fs::remove_file(path.unwrap());
        }
    }
}
