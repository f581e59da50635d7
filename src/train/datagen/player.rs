//! Plays one game: the engine against itself.

use std::collections::HashSet;

use super::DatagenArgs;
use crate::board::{PackedMove, Position, see};
use crate::eval::Evaluator;
use crate::games::random_opening::{OPENING_LIMIT, random_opening};
use crate::kit::random::Random;
use crate::score::Score;
use crate::search::sample::Sampler;
use crate::search::table::Table;
use crate::search::thread::SearchThread;
use crate::search::{Bound, Message, SearchJob, Searcher};
use crate::time::{Limits, TimeManager};
use crate::train::TrainError;
use crate::train::branches::Branches;
use crate::train::format::{Game, GameResult, InnerPosition};

/// A player's transposition table has 1 MB for this many nodes a move, up to a limit.
const NODES_PER_MEGABYTE: u64 = 1_000;
const MAX_MEGABYTES: u64 = 64;
/// The hard limit, as a multiple of the soft one: for an iteration that does not end.
const HARD_FACTOR: u64 = 8;
/// A game without a result after this many plies is drawn.
pub(super) const MAX_PLIES: usize = 400;
/// Separates the random numbers that sample from those of the games, so that the games are the same
/// with and without sampling.
const SAMPLING: u64 = 0x5a3d_91c7_02f4_be68;

/// A finished game, and the positions sampled from inside its searches.
pub(super) struct Played {
    pub game: Game,
    pub inner: Vec<InnerPosition>,
}

impl Played {
    /// The bytes of the sampled positions.
    pub fn inner_bytes(&self) -> Vec<u8> {
        self.inner.iter().flat_map(InnerPosition::to_bytes).collect()
    }
}

/// Plays both sides of games. A game depends on the options and its number only.
pub(super) struct Player<'a> {
    pool: SearchThread,
    table: Table,
    evaluator: Evaluator,
    seed: u64,
    nodes: u64,
    branches: Option<&'a Branches>,
    branch_share: f64,
    /// The share of the searches from which a position is sampled.
    inner_share: f64,
}

impl<'a> Player<'a> {
    pub fn new(
        args: &DatagenArgs,
        evaluator: &Evaluator,
        branches: Option<&'a Branches>,
    ) -> Result<Player<'a>, TrainError> {
        let megabytes = (args.nodes / NODES_PER_MEGABYTE).clamp(1, MAX_MEGABYTES) as usize;
        let table =
            Table::new(megabytes).map_err(|reason| TrainError::Memory(reason.to_string()))?;
        Ok(Player {
            pool: SearchThread::new(),
            table,
            evaluator: evaluator.clone(),
            seed: args.seed,
            nodes: args.nodes,
            branches,
            branch_share: args.branch_share,
            inner_share: if args.inner_out.is_some() { args.inner_share } else { 0.0 },
        })
    }

    /// Plays the game of this number, from 0.
    pub fn play(&mut self, number: u64) -> Played {
        let mut random = Random::numbered(self.seed, number);
        let mut sampling = Random::numbered(self.seed ^ SAMPLING, number);
        self.pool.forget();
        self.table.clear();
        let start = self.opening(&mut random);
        let mut game = Game { start: start.clone(), result: GameResult::Draw, moves: Vec::new() };
        let mut position = start;
        let mut earlier = Vec::with_capacity(MAX_PLIES);
        let mut samples = Vec::new();
        let mut referee = Referee::default();
        while game.moves.len() < MAX_PLIES {
            let (m, score) = if sampling.chance(self.inner_share) {
                self.pool.set_sampler(Some(Sampler::new(Random::new(sampling.bits()))));
                let found = self.think(&position, &earlier);
                samples.extend(self.pool.set_sampler(None).map(Sampler::into_positions));
                found
            } else {
                self.think(&position, &earlier)
            };
            let white = for_white(&position, score);
            game.moves.push((m, white));
            earlier.push(position.key());
            position = position.play(m).0;
            if let Some(result) = result_by_rule(&position, &earlier).or(referee.judge(white)) {
                game.result = result;
                break;
            }
        }
        earlier.push(position.key());
        // After the game, so that its searches are not affected.
        let inner = self.label(number as u32 + 1, samples, earlier.into_iter().collect());
        Played { game, inner }
    }

    /// A position to begin at that is not decided yet.
    fn opening(&mut self, random: &mut Random) -> Position {
        if let Some(branches) = self.branches
            && random.chance(self.branch_share)
            && let Some(position) = branches.pick(random)
        {
            return position;
        }
        loop {
            if let Some(position) = random_opening(random) {
                let (_, score) = self.think(&position, &[]);
                if score.value().abs() <= OPENING_LIMIT {
                    return position;
                }
            }
        }
    }

    /// Searches the first calm position of each sample. `known` are the keys of the game's positions,
    /// which are left out.
    fn label(
        &mut self,
        game: u32,
        samples: Vec<Vec<Position>>,
        mut known: HashSet<u64>,
    ) -> Vec<InnerPosition> {
        let mut inner = Vec::with_capacity(samples.len());
        for sample in samples {
            let wanted =
                |position: &Position| !known.contains(&position.key()) && is_calm(position);
            let Some(position) = sample.into_iter().find(wanted) else { continue };
            known.insert(position.key());
            let (best, score) = self.think(&position, &[]);
            if !score.is_decisive() {
                let score = for_white(&position, score);
                inner.push(InnerPosition { game, position, best, score });
            }
        }
        inner
    }

    /// The move to play and its score for the side to move, which has a legal move.
    fn think(&mut self, position: &Position, earlier: &[u64]) -> (PackedMove, Score) {
        let job = SearchJob {
            earlier: earlier.to_vec(),
            evaluator: self.evaluator.clone(),
            ..SearchJob::new(position.clone(), Searcher::Playing)
        };
        let time = TimeManager::with_limits(Limits::to_nodes(self.nodes * HARD_FACTOR));
        let nodes = self.nodes;
        let outcome = self.pool.run(&job, &self.table, &time, &mut |said| {
            if let Message::Line(info) = said
                && info.line.bound == Bound::Exact
                && info.nodes >= nodes
            {
                time.stop();
            }
        });
        (outcome.best(), outcome.score().unwrap_or_default())
    }
}

fn for_white(position: &Position, score: Score) -> Score {
    if position.turn().is_white() { score } else { -score }
}

/// Can a static evaluation be right here? Not in check, or where a capture or promotion wins material.
fn is_calm(position: &Position) -> bool {
    let legal = position.legal_moves();
    let wins = |m: &PackedMove| position.is_noisy(*m) && see::see_ge(position, *m, 1);
    !legal.is_empty()
        && !position.in_check()
        && !position.is_insufficient_material()
        && !position.is_fifty_moves()
        && !legal.iter().any(wins)
}

/// The result if the game is over by the rules. `earlier` are the keys of the positions before.
fn result_by_rule(position: &Position, earlier: &[u64]) -> Option<GameResult> {
    if !position.has_legal_move() {
        let mated = position.in_check();
        return Some(if mated { GameResult::win(!position.turn()) } else { GameResult::Draw });
    }
    let drawn = position.is_insufficient_material()
        || position.is_fifty_moves()
        || position.is_repetition(earlier, 0);
    drawn.then_some(GameResult::Draw)
}

/// Ends games whose result is clear. A side wins once the score has been [`Referee::WIN_SCORE`] or
/// more in its favour for [`Referee::WIN_MOVES`] moves of both sides in a row, as both see it. A
/// game is drawn once the score has been within [`Referee::DRAW_SCORE`] of 0 for
/// [`Referee::DRAW_MOVES`] in a row, not before move [`Referee::DRAW_AFTER`].
#[derive(Clone, Debug, Default)]
pub struct Referee {
    moves: u32,
    winning: u32,
    losing: u32,
    level: u32,
}

impl Referee {
    /// Centipawns that win.
    pub const WIN_SCORE: i32 = 1_000;
    /// For so many moves of both sides.
    pub const WIN_MOVES: u32 = 6;
    /// Centipawns that draw.
    pub const DRAW_SCORE: i32 = 8;
    /// For so many moves of both sides.
    pub const DRAW_MOVES: u32 = 12;
    /// After so many moves of both sides.
    pub const DRAW_AFTER: u32 = 80;

    /// Takes note of the score of a move, seen from White; the result if it is clear now.
    pub fn judge(&mut self, white: Score) -> Option<GameResult> {
        let value = white.value();
        let count = |run: &mut u32, goes_on: bool| *run = if goes_on { *run + 1 } else { 0 };
        self.moves += 1;
        count(&mut self.winning, value >= Referee::WIN_SCORE);
        count(&mut self.losing, value <= -Referee::WIN_SCORE);
        count(&mut self.level, value.abs() <= Referee::DRAW_SCORE);
        if self.winning >= Referee::WIN_MOVES {
            Some(GameResult::WhiteWon)
        } else if self.losing >= Referee::WIN_MOVES {
            Some(GameResult::BlackWon)
        } else if self.level >= Referee::DRAW_MOVES && self.moves >= Referee::DRAW_AFTER {
            Some(GameResult::Draw)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_referee_needs_a_run_of_clear_scores() {
        let judge = |scores: &[i32]| {
            let mut referee = Referee::default();
            scores
                .iter()
                .map(|&score| referee.judge(Score::cp(score)))
                .fold(None, |_, result| result)
        };
        assert_eq!(judge(&[1_000; 5]), None);
        assert_eq!(judge(&[1_000; 6]), Some(GameResult::WhiteWon));
        assert_eq!(judge(&[-1_500; 6]), Some(GameResult::BlackWon));
        assert_eq!(judge(&[1_000, 1_000, 1_000, 999, 1_000, 1_000, 1_000]), None);
        assert_eq!(judge(&[0; 79]), None);
        assert_eq!(judge(&[0; 80]), Some(GameResult::Draw));
        let late: Vec<i32> = [[50; 80].as_slice(), &[-8; 11]].concat();
        assert_eq!(judge(&late), None);
        assert_eq!(judge(&[late.as_slice(), &[8]].concat()), Some(GameResult::Draw));
    }

    #[test]
    fn rules_end_games() {
        let result = |fen: &str| result_by_rule(&Position::from_fen(fen).unwrap(), &[]);
        assert_eq!(result("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), Some(GameResult::Draw));
        assert_eq!(result("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"), Some(GameResult::WhiteWon));
        assert_eq!(result("7k/8/6K1/8/8/8/8/8 b - - 0 1"), Some(GameResult::Draw));
        assert_eq!(result("7k/8/6K1/8/8/8/8/R7 w - - 100 80"), Some(GameResult::Draw));
        assert_eq!(result("7k/8/6K1/8/8/8/8/R7 w - - 99 80"), None);
    }
}
