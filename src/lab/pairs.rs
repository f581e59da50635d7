//! What `tacet spsa` and `tacet ablate` stand on: pairs of games between two settings of the playing
//! searcher, both games of a pair with one opening, with colours changed (feature `tune`).

use std::ops::AddAssign;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::LabError;
use super::duel::book::BookArgs;
use super::duel::defaults;
use super::duel::side::MAX_HASH;
use super::signature;
use crate::board::Color;
use crate::board::notation::quoted;
use crate::board::pgn::GameResult;
use crate::eval::Evaluator;
use crate::games::adjudication::{DrawRule, Rules, WinRule};
use crate::games::openings::Book;
use crate::games::play::{self, Conditions, Pair};
use crate::games::player::{Pace, Player, Side};
use crate::search::Searcher;

/// When games are broken off: as those of `tacet duel` are by default.
const RULES: Rules = Rules {
    win: Some(WinRule { score: 1000, moves: 4 }),
    draw: Some(DrawRule { from: 40, score: 10, moves: 8 }),
    max_moves: Some(300),
};

/// How pairs are played.
#[derive(clap::Args, Clone, Debug)]
pub struct PairArgs {
    /// Nodes a move
    #[arg(long, value_name = "N", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: u64,

    /// The table of a side in MB
    #[arg(long, value_name = "MB", default_value_t = 16,
          value_parser = clap::value_parser!(u32).range(1..=MAX_HASH as i64))]
    pub hash: u32,

    /// What the games begin with.
    #[command(flatten)]
    pub openings: BookArgs,
}

/// Where pairs are played.
pub struct Ground {
    /// The playing searcher as it is by default.
    pub usual: Side,
    /// How it searches.
    signature: u64,
    /// For all that is drawn.
    pub seed: u64,
    /// What games begin with.
    pub book: Book,
}

/// What the results of pairs depend on, beside the sides' settings: for a journal's first line.
#[derive(Serialize)]
pub struct Terms {
    side: String,
    signature: u64,
    book: String,
    book_fingerprint: String,
    seed: u64,
    rules: String,
}

/// How the games of a pair ended for one side.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// How many it won.
    pub won: u32,
    /// How many it lost.
    pub lost: u32,
}

impl Outcome {
    /// Games won less games lost.
    pub fn lead(self) -> i32 {
        self.won as i32 - self.lost as i32
    }

    /// For the other side.
    pub fn reversed(self) -> Outcome {
        Outcome { won: self.lost, lost: self.won }
    }

    fn count(&mut self, winner: Option<Color>, own: Color) {
        match winner {
            Some(winner) if winner == own => self.won += 1,
            Some(_) => self.lost += 1,
            None => {}
        }
    }
}

impl AddAssign for Outcome {
    fn add_assign(&mut self, other: Outcome) {
        self.won += other.won;
        self.lost += other.lost;
    }
}

impl Ground {
    /// The ground that the arguments describe.
    ///
    /// # Errors
    /// If the book cannot be read.
    pub fn new(args: &PairArgs) -> Result<Ground, LabError> {
        let usual = Side {
            searcher: Searcher::Playing,
            scheme: Searcher::Playing.default_scheme(),
            hash: args.hash as usize,
            pace: Pace::Nodes(args.nodes),
            ..defaults()
        };
        let signature = signature::of_side(&usual)?;
        Ok(Ground { usual, signature, seed: args.openings.seed, book: args.openings.open()? })
    }

    /// What results depend on.
    pub fn terms(&self) -> Terms {
        Terms {
            side: self.usual.to_string(),
            signature: self.signature,
            book: self.book.name.clone(),
            book_fingerprint: format!("{:016x}", self.book.fingerprint),
            seed: self.seed,
            rules: RULES.to_string(),
        }
    }

    /// Plays the pair of a number, from 1: how the first side did. Beyond the book its openings
    /// come again.
    ///
    /// # Errors
    /// If there is no memory for the tables.
    pub fn play(&self, number: usize, first: &Side, second: &Side) -> Result<Outcome, LabError> {
        let mut outcome = Outcome::default();
        let Some(opening) = self.book.opening(number - 1) else { return Ok(outcome) };
        let player = |side| {
            Player::new(side, Evaluator::default())
                .map_err(|error| LabError::Machine(error.to_string()))
        };
        let (mut first, mut second) = (player(first)?, player(second)?);
        let abandoned = AtomicBool::new(false);
        let conditions = Conditions { rules: RULES, tables: None, abandoned: &abandoned };
        for own in [Color::White, Color::Black] {
            let (white, black) = match own {
                Color::White => (&mut first, &mut second),
                Color::Black => (&mut second, &mut first),
            };
            let mut players = Pair { white, black };
            let winner = match play::play(opening, &mut players, conditions)
                .map(|finished| finished.result)
            {
                Some(GameResult::Win(winner)) => Some(winner),
                _ => None,
            };
            outcome.count(winner, own);
        }
        Ok(outcome)
    }
}

/// For clap: a share above nothing, at most the whole.
///
/// # Errors
/// If it is no number, or another.
pub fn share(text: &str) -> Result<f64, String> {
    let read = text.parse().ok().filter(|share| *share > 0.0 && *share <= 1.0);
    read.ok_or_else(|| format!("'{}' is not a number above 0, at most 1", quoted(text)))
}
