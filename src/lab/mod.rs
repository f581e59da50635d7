//! The laboratory: experiments with suites of positions, one command each.
//!
//! | module | what it does |
//! |---|---|
//! | [`epd`] | reads suites of positions |
//! | `runner` | searches many positions, several at once, one thread each |
//! | `suite` | `tacet suite`: solves a suite |
//! | `compare` | `tacet compare`: the tables of the 2002 paper for any suite and schemes |
//! | `audit` | `tacet audit`: how often is a null-move cutoff false? |
//! | `trace` | `tacet trace`: a search tree as an HTML page |
//! | `duel` | `tacet duel`: a match between two schemes |
//! | `zugzwang` | `tacet zugzwang`: would the side to move rather pass? |
//! | `mine` | `tacet mine`: makes suites and openings |
//! | `ablate` | `tacet ablate`: measures every step of the search in one match (feature `tune`) |
//! | `spsa` | `tacet spsa`: tunes search parameters by games (feature `tune`) |
//! | `pairs` | the pairs of games that both play (feature `tune`) |
//! | `experiment` | a suite searched with several schemes, journal and reports |
//! | `journal` | the results of a long run on disk, from which it resumes |
//! | `signature` | a fingerprint of how an engine searches, stored with the results |
//! | `bootstrap` | intervals for differences between schemes |
//! | `tally` | the tables of a comparison, from single results |
//! | `variant` | null-move schemes with changes, as typed |
//! | `report` | what every report says about its origin, and numbers as text |
//! | `chart` | figures as SVG |

#[cfg(feature = "tune")]
pub(crate) mod ablate;
pub(crate) mod audit;
pub(crate) mod bootstrap;
pub(crate) mod chart;
pub(crate) mod compare;
pub(crate) mod duel;
pub mod epd;
pub(crate) mod experiment;
pub(crate) mod journal;
pub(crate) mod mine;
#[cfg(feature = "tune")]
pub(crate) mod pairs;
pub(crate) mod report;
pub(crate) mod runner;
mod signature;
#[cfg(feature = "tune")]
pub(crate) mod spsa;
pub(crate) mod suite;
pub(crate) mod tally;
pub(crate) mod trace;
pub(crate) mod zugzwang;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::board::pgn::{self, PgnError};
use crate::board::tablebase::TablebaseError;
use crate::kit::files::{Files, FilesError};
use crate::kit::progress;
pub(crate) use crate::search::null_move::parse as variant;
use crate::search::table::AllocationError;

/// Largest size of an input in bytes, larger than any suite or book.
const MAX_BYTES: u64 = 1 << 29;

/// The exit status of a program ended by Ctrl-C, as in shells.
const INTERRUPTED: u8 = 130;

/// An error in an experiment. Displays as one line.
#[derive(Debug, Error)]
pub enum LabError {
    /// Invalid arguments.
    #[error("{0}")]
    Usage(String),
    /// A bad line of a file.
    #[error("{}, line {line}: {reason}", file.display())]
    Line { file: PathBuf, line: usize, reason: String },
    /// A file cannot be read.
    #[error("cannot read {}: {error}", file.display())]
    Read { file: PathBuf, error: io::Error },
    /// A file cannot be written.
    #[error("cannot write {}: {error}", file.display())]
    Write { file: PathBuf, error: io::Error },
    /// An output is refused, or cannot be written.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// Standard output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
    /// Endgame tables cannot be read.
    #[error(transparent)]
    Tables(#[from] TablebaseError),
    /// The machine lacks memory.
    #[error(transparent)]
    Memory(#[from] AllocationError),
    /// The machine lacks threads or the like.
    #[error("{0}")]
    Machine(String),
    /// Ctrl-C.
    #[error("interrupted{0}")]
    Interrupted(String),
    /// Another error, with what was kept of the work.
    #[error("{error}; {remains}")]
    Kept { error: Box<LabError>, remains: String },
}

impl LabError {
    /// For `map_err` on reading a file.
    pub(crate) fn reading(file: &Path) -> impl FnOnce(io::Error) -> LabError {
        let file = file.to_owned();
        |error| LabError::Read { file, error }
    }

    /// For `map_err` on writing a file.
    pub(crate) fn writing(file: &Path) -> impl FnOnce(io::Error) -> LabError {
        let file = file.to_owned();
        |error| LabError::Write { file, error }
    }

    /// Adds what was kept of the work that Ctrl-C ended.
    pub(crate) fn if_interrupted(self, remains: impl FnOnce() -> String) -> LabError {
        match self {
            LabError::Interrupted(_) => LabError::Interrupted(format!(": {}", remains())),
            other => other,
        }
    }

    /// Adds what was kept of the work, whatever the error.
    pub(crate) fn with_remains(self, remains: String) -> LabError {
        match self {
            LabError::Interrupted(_) => LabError::Interrupted(format!(": {remains}")),
            error => LabError::Kept { error: Box::new(error), remains },
        }
    }

    /// True if the reader of standard output went away (`tacet suite ... | head`).
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, LabError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The exit status: 2 for bad input, 1 for system errors, 130 after Ctrl-C, 0 for a closed pipe.
    pub(crate) fn exit_status(&self) -> u8 {
        match self {
            LabError::Usage(_)
            | LabError::Line { .. }
            | LabError::Read { .. }
            | LabError::Tables(_) => 2,
            LabError::Files(error) => error.exit_status(),
            LabError::Kept { error, .. } => error.exit_status(),
            LabError::Interrupted(_) => INTERRUPTED,
            LabError::Output(_) if self.is_closed_pipe() => 0,
            LabError::Write { .. }
            | LabError::Output(_)
            | LabError::Memory(_)
            | LabError::Machine(_) => 1,
        }
    }
}

pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, LabError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .and_then(|count| match count as u64 {
            0..=MAX_BYTES => Ok(()),
            _ => Err(io::ErrorKind::FileTooLarge.into()),
        })
        .map_err(LabError::reading(path))?;
    Ok(bytes)
}

/// Reads a PGN file. Returns its games in order, and an error for each bad game.
pub(crate) fn read_games(path: &Path) -> Result<(Vec<pgn::Game>, Vec<String>), LabError> {
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

pub(crate) fn report_refused(refused: &[String]) {
    const MAX_SHOWN: usize = 20;
    for reason in refused.iter().take(MAX_SHOWN) {
        warn(&format!("skipped: {reason}"));
    }
    if refused.len() > MAX_SHOWN {
        warn(&format!("skipped: {} more games", refused.len() - MAX_SHOWN));
    }
}

/// Writes to standard output and flushes. A closed pipe is an error, not a panic as in `print!`.
pub(crate) fn print(text: &str) -> Result<(), LabError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(LabError::Output)
}

/// [`print`] for a command that also writes a file, if `is_written`: a closed pipe ends the printing only.
pub(crate) fn print_beside(text: &str, is_written: bool) -> Result<(), LabError> {
    match print(text) {
        Err(error) if is_written && error.is_closed_pipe() => Ok(()),
        printed => printed,
    }
}

/// Prints a warning to standard error, also with `--quiet`: something of the input is left out.
pub(crate) fn warn(text: &str) {
    // The work continues even if standard error is closed.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints a note to standard error, unless `--quiet` is set.
pub(crate) fn note(text: &str) {
    if !progress::is_quiet() {
        warn(text);
    }
}

/// Lists the files that a command wrote, at its end.
pub(crate) fn note_written(files: &Files) {
    if let Some(text) = files.summary() {
        note(&text);
    }
}

/// `1 position`, `7 positions`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", report::grouped(count as u64))
}

/// The arguments of a command as the command line gives them.
#[cfg(test)]
pub(crate) fn parsed<A: clap::Args>(words: &str) -> A {
    let command = A::augment_args(clap::Command::new("tacet").no_binary_name(true));
    let matches = command.get_matches_from(words.split_whitespace());
    A::from_arg_matches(&matches).expect("every required argument is there")
}
