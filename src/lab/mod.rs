//! The laboratory: experiments with suites of positions, from one command each.
//!
//! | module | what it does |
//! |---|---|
//! | [`epd`] | reads suites of positions |
//! | [`runner`] | searches many positions, several at a time, each with one thread |
//! | [`suite`] | `tacet suite`: solves a suite |
//! | [`compare`] | `tacet compare`: the tables of the 2002 paper for any suite and schemes |
//! | [`duel`] | `tacet duel`: a match between two schemes |
//! | [`zugzwang`] | `tacet zugzwang`: would the side to move rather pass? |
//! | [`mine`] | `tacet mine`: makes suites and openings |
//! | `ablate` | `tacet ablate`: what each step of the search is worth (feature `tune`) |
//! | `spsa` | `tacet spsa`: tunes search parameters by games (feature `tune`) |
//! | `pairs` | the pairs of games that both play (feature `tune`) |
//! | [`journal`] | the record of a long run, from which it resumes |
//! | [`bootstrap`] | intervals for differences between schemes |
//! | [`tally`] | the tables of a comparison, from single results |
//! | [`variant`] | changes of a null-move scheme, typed |
//! | [`report`] | tables as Markdown and as files |
//! | [`chart`] | the paper's Figure 4 as SVG |

#[cfg(feature = "tune")]
pub mod ablate;
pub mod bootstrap;
pub mod chart;
pub mod compare;
pub mod duel;
pub mod epd;
pub mod journal;
pub mod mine;
#[cfg(feature = "tune")]
pub mod pairs;
pub mod report;
pub mod runner;
mod signature;
#[cfg(feature = "tune")]
pub mod spsa;
pub mod suite;
pub mod tally;
pub mod variant;
pub mod zugzwang;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::board::pgn::{self, PgnError};

/// More bytes than any suite or book has.
const MOST_BYTES: u64 = 1 << 29;

/// Why an experiment could not be done. Displays as one line.
#[derive(Debug)]
pub enum LabError {
    /// What was asked for makes no sense.
    Usage(String),
    /// A line of a file is not what it should be.
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A file cannot be read.
    Read {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// A file cannot be written.
    Write {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// Standard output cannot be written.
    Output(io::Error),
    /// The machine lacks something, as memory.
    Machine(String),
}

impl LabError {
    /// For `map_err` on reading a file.
    pub fn reading(file: &Path) -> impl FnOnce(io::Error) -> LabError {
        let file = file.to_owned();
        |error| LabError::Read { file, error }
    }

    /// For `map_err` on writing a file.
    pub fn writing(file: &Path) -> impl FnOnce(io::Error) -> LabError {
        let file = file.to_owned();
        |error| LabError::Write { file, error }
    }

    /// Did the reader of our output merely have enough (`tacet suite ... | head`)?
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, LabError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The exit status: 2 for bad input, 1 for what went wrong with good input, 0 for a closed
    /// pipe, which is no failure.
    pub fn exit_status(&self) -> u8 {
        match self {
            LabError::Usage(_) | LabError::Line { .. } | LabError::Read { .. } => 2,
            LabError::Output(_) if self.is_closed_pipe() => 0,
            LabError::Write { .. } | LabError::Output(_) | LabError::Machine(_) => 1,
        }
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabError::Usage(reason) | LabError::Machine(reason) => f.write_str(reason),
            LabError::Line { file, line, reason } => {
                write!(f, "{}, line {line}: {reason}", file.display())
            }
            LabError::Read { file, error } => write!(f, "cannot read {}: {error}", file.display()),
            LabError::Write { file, error } => {
                write!(f, "cannot write {}: {error}", file.display())
            }
            LabError::Output(error) => write!(f, "cannot write to standard output: {error}"),
        }
    }
}

impl std::error::Error for LabError {}

/// Reads a whole file.
///
/// # Errors
/// [`LabError::Read`], also for what has no end, as `/dev/zero`.
pub fn read_file(path: &Path) -> Result<Vec<u8>, LabError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .and_then(|count| match count as u64 {
            0..=MOST_BYTES => Ok(()),
            _ => Err(io::ErrorKind::FileTooLarge.into()),
        })
        .map_err(LabError::reading(path))?;
    Ok(bytes)
}

/// Reads a PGN file: its games in order, and what is wrong with each of the others.
///
/// # Errors
/// If the file cannot be read or is no text.
pub fn read_games(path: &Path) -> Result<(Vec<pgn::Game>, Vec<String>), LabError> {
    let file = File::open(path).map_err(LabError::reading(path))?;
    let (mut games, mut bad) = (Vec::new(), Vec::new());
    for game in pgn::read(file) {
        match game {
            Ok(game) => games.push(game),
            Err(PgnError::Io(error)) => return Err(LabError::reading(path)(error)),
            Err(error) => bad.push(format!("{}, {error}", path.display())),
        }
    }
    Ok((games, bad))
}

/// Writes to standard output at once; unlike `print!`, a closed pipe is an error, not a panic.
///
/// # Errors
/// [`LabError::Output`].
pub fn print(text: &str) -> Result<(), LabError> {
    use io::Write;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(LabError::Output)
}
