//! Making training data, and training the evaluation with it (feature `train`).
//!
//! [`datagen`] lets the engine play itself and writes the games in [`format`](mod@format), which can
//! begin in the middle of older ones ([`branches`]); [`texel`] fits the numbers of the classical
//! evaluation to such games, beginning at those of [`prior`]; [`trainer`] trains the neural evaluation
//! on them. [`curve`] is how both turn centipawns into points. [`wdl`] fits the model that turns scores
//! into chances.

pub mod branches;
pub mod curve;
pub mod datagen;
pub mod format;
pub mod prior;
pub mod texel;
pub mod trainer;
pub mod wdl;

use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::eval::network::NetworkError;
use format::{Game, InnerPosition};

/// Shows the games of all files, one after the other, with their number in their file from 1.
///
/// # Errors
/// If a file cannot be read, or holds anything but games.
pub fn visit_games(files: &[PathBuf], mut visit: impl FnMut(u64, Game)) -> Result<(), TrainError> {
    for path in files {
        let file = File::open(path).map_err(TrainError::file(path))?;
        let mut reader = BufReader::with_capacity(1 << 20, file);
        for number in 1.. {
            let game = Game::read(&mut reader).map_err(|reason| TrainError::Data {
                path: path.clone(),
                game: number,
                reason,
            })?;
            let Some(game) = game else { break };
            visit(number, game);
        }
    }
    Ok(())
}

/// Shows the positions of all files that `datagen --inner-out` wrote, one after the other.
///
/// # Errors
/// If a file cannot be read, or holds anything but such positions.
pub fn visit_inner(
    files: &[PathBuf],
    mut visit: impl FnMut(InnerPosition),
) -> Result<(), TrainError> {
    for path in files {
        let file = File::open(path).map_err(TrainError::file(path))?;
        let mut reader = BufReader::with_capacity(1 << 20, file);
        for number in 1.. {
            let position = InnerPosition::read(&mut reader).map_err(|reason| TrainError::Data {
                path: path.clone(),
                game: number,
                reason,
            })?;
            let Some(position) = position else { break };
            visit(position);
        }
    }
    Ok(())
}

/// Why data could not be made or used. Displays as one line.
#[derive(Debug)]
#[allow(missing_docs)] // The messages say what the fields are.
pub enum TrainError {
    /// A file could not be opened or read.
    File { path: PathBuf, reason: std::io::Error },
    /// A file could not be written.
    Write { path: PathBuf, reason: std::io::Error },
    /// A file holds something else than games.
    Data {
        path: PathBuf,
        /// The game in it, from 1.
        game: u64,
        reason: format::FormatError,
    },
    /// A file of games is not what these options would have made of it so far.
    Others {
        path: PathBuf,
        /// The difference, if it is known.
        difference: Option<String>,
    },
    /// A file is both input and output, or two outputs at once.
    SameFile { path: PathBuf, options: [&'static str; 2] },
    /// The file beside the games exists and is no manifest.
    Manifest { path: PathBuf, reason: String },
    /// A file is no network to begin at.
    Network { path: PathBuf, reason: NetworkError },
    /// A file is not what a training can go on from.
    Checkpoint { path: PathBuf, reason: &'static str },
    /// What was to be shown could not be written.
    Output(std::io::Error),
    /// Nothing to learn from was found.
    NoPositions,
    /// Nothing to begin a game at was found.
    NoOpening,
    /// The transposition table could not be had.
    Memory(String),
}

impl TrainError {
    fn file(path: &Path) -> impl Fn(std::io::Error) -> TrainError {
        let path = path.to_path_buf();
        move |reason| TrainError::File { path: path.clone(), reason }
    }

    fn writing(path: &Path) -> impl Fn(std::io::Error) -> TrainError {
        let path = path.to_path_buf();
        move |reason| TrainError::Write { path: path.clone(), reason }
    }

    /// Was what was asked for wrong, and not the machine?
    pub fn is_bad_input(&self) -> bool {
        !matches!(self, TrainError::Write { .. } | TrainError::Output(_) | TrainError::Memory(_))
    }
}

impl fmt::Display for TrainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrainError::File { path, reason } => {
                write!(f, "cannot read {}: {reason}", path.display())
            }
            TrainError::Write { path, reason } => {
                write!(f, "cannot write {}: {reason}", path.display())
            }
            TrainError::Others { path, difference: Some(difference) } => {
                write!(f, "{} was begun with {difference}; choose another --out", path.display())
            }
            TrainError::Others { path, difference: None } => write!(
                f,
                "{} was begun with other options (--seed, --nodes, --eval-file, --branch) or by \
                 another version, which played its first game differently; choose another --out",
                path.display()
            ),
            TrainError::SameFile { path, options: [first, second] } => {
                write!(f, "{}: {first} and {second} are the same file", path.display())
            }
            TrainError::Manifest { path, reason } => {
                write!(f, "{} is not a manifest of datagen: {reason}", path.display())
            }
            TrainError::Data { path, game, reason } => {
                write!(f, "{}: game {game}: {reason}", path.display())
            }
            TrainError::Network { path, reason } => write!(f, "{}: {reason}", path.display()),
            TrainError::Checkpoint { path, reason } => write!(f, "{}: {reason}", path.display()),
            TrainError::Output(reason) => reason.fmt(f),
            TrainError::NoPositions => f.write_str("the files hold no position to learn from"),
            TrainError::NoOpening => f.write_str("every position of the files is decided already"),
            TrainError::Memory(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for TrainError {}

/// For clap: a number from 0 to 1.
fn share<T: std::str::FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    match text.parse::<T>() {
        Ok(value) if (T::from(0)..=T::from(1)).contains(&value) => Ok(value),
        _ => Err("a number from 0 to 1 is wanted".to_string()),
    }
}
