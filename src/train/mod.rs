//! Making training data, and training the evaluation with it (feature `train`).
//!
//! [`datagen`] lets the engine play itself and writes the games in [`format`](mod@format); [`texel`] fits the
//! numbers of the classical evaluation to such games, beginning at those of [`prior`]; [`trainer`]
//! trains the neural evaluation on them. [`curve`] is how both turn centipawns into points.

pub mod curve;
pub mod datagen;
pub mod format;
pub mod prior;
pub mod texel;
pub mod trainer;

use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::eval::network::NetworkError;
use format::Game;

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

/// Why data could not be made or used. Displays as one line.
#[derive(Debug)]
pub enum TrainError {
    /// A file could not be opened, read or written.
    File {
        /// Which.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// A file holds something else than games.
    Data {
        /// Which.
        path: PathBuf,
        /// The game in it, from 1.
        game: u64,
        /// What is wrong.
        reason: format::FormatError,
    },
    /// A file is no network to begin at.
    Network {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        reason: NetworkError,
    },
    /// What was to be shown could not be written.
    Output(std::io::Error),
    /// Nothing to learn from was found.
    NoPositions,
    /// The transposition table could not be had.
    Memory(String),
}

impl TrainError {
    fn file(path: &Path) -> impl Fn(std::io::Error) -> TrainError {
        let path = path.to_path_buf();
        move |reason| TrainError::File { path: path.clone(), reason }
    }
}

impl fmt::Display for TrainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrainError::File { path, reason } => write!(f, "{}: {reason}", path.display()),
            TrainError::Data { path, game, reason } => {
                write!(f, "{}: game {game}: {reason}", path.display())
            }
            TrainError::Network { path, reason } => write!(f, "{}: {reason}", path.display()),
            TrainError::Output(reason) => reason.fmt(f),
            TrainError::NoPositions => f.write_str("the files hold no position to learn from"),
            TrainError::Memory(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for TrainError {}

/// Random numbers that are the same for a seed for ever, whatever a crate's version makes of it:
/// SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed and a number within it: games of one seed, say.
    pub fn new(seed: u64, number: u64) -> Random {
        let mut random = Random(seed);
        random.0 = random.next().wrapping_add(number);
        random.0 = random.next();
        random
    }

    /// 64 random bits.
    #[allow(clippy::should_implement_trait)] // it never ends, so it is no iterator
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `limit` - 1; 0 if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}

/// Fisher and Yates's shuffle.
fn shuffle(order: &mut [u32], random: &mut Random) {
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last + 1));
    }
}

/// For clap: a number from 0 to 1.
fn share<T: std::str::FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    match text.parse::<T>() {
        Ok(value) if (T::from(0)..=T::from(1)).contains(&value) => Ok(value),
        _ => Err("a number from 0 to 1 is wanted".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_gives_its_published_sequence() {
        // The first outputs for seed 1234567, from the reference implementation.
        let mut random = Random(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([random.next(), random.next()], expected);
    }

    #[test]
    fn numbers_stay_below_the_limit_and_reach_all_of_it() {
        let mut random = Random::new(1, 2);
        let mut seen = [0; 7];
        (0..7_000).for_each(|_| seen[random.below(7)] += 1);
        assert!(seen.iter().all(|&n| n > 850), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }
}
