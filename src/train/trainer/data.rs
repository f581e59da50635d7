//! The positions of games, packed for training.

use std::path::PathBuf;

use super::{Targets, TrainArgs};
use crate::board::{Color, PieceSquare, Position};
use crate::eval::network::shape::{View, output_bucket as bucket};
use crate::eval::{Evaluator, State};
use crate::kit::fingerprint;
use crate::kit::random::Random;
use crate::score::Score;
use crate::train::curve::{Curve, cross_entropy};
use crate::train::format::Game;
use crate::train::{TrainError, texel, visit_games};

/// One game in so many is held out.
pub const HELD_OUT: u64 = 20;

/// Positions, with their pieces behind one another.
#[derive(Default)]
pub struct Data {
    pieces: Vec<PieceSquare>,
    /// The positions.
    pub samples: Vec<Sample>,
}

/// A position. Values are for the side to move.
#[derive(Clone, Copy)]
pub struct Sample {
    /// Where its pieces begin.
    first: usize,
    /// How many pieces there are.
    pub count: u8,
    /// The output that is responsible.
    pub bucket: u8,
    /// How the side to move sees the board, and the other.
    pub views: [View; 2],
    /// The points to predict.
    pub target: f32,
    /// The points that the game brought.
    pub points: f32,
    /// The searched score in centipawns.
    pub score: i16,
    /// The classical evaluation, in centipawns.
    pub classical: i16,
}

/// The positions to learn from, and those held out.
pub fn load(args: &TrainArgs) -> Result<(Data, Data), TrainError> {
    let (mut training, mut held_out) = (Data::default(), Data::default());
    visit_games(&args.data, |number, game| {
        let data = if number % HELD_OUT == 0 { &mut held_out } else { &mut training };
        if args.classical {
            data.add_evaluated(&game, &args.targets, &mut Random::numbered(args.seed, number));
        } else {
            data.add_played(&game, &args.targets);
        }
    })?;
    Ok((training, held_out))
}

/// All quiet positions of games.
pub fn load_whole(files: &[PathBuf], targets: &Targets) -> Result<Data, TrainError> {
    let mut data = Data::default();
    visit_games(files, |_, game| data.add_played(&game, targets))?;
    Ok(data)
}

impl Data {
    /// How many positions.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// What remains of the loss of a perfect guess, since the truth is a mix.
    pub fn least_loss(&self) -> f64 {
        let truths = self.samples.iter().map(|sample| f64::from(sample.target));
        truths.map(|truth| cross_entropy(truth, truth)).sum::<f64>() / self.len() as f64
    }

    /// A number that tells whether data are the same.
    pub fn fingerprint(&self) -> u64 {
        let pieces = self.pieces.iter().map(|piece| piece.index() as u64);
        let words = |sample: &Sample| {
            let views = sample.views.map(|view| view.index() as u64);
            let small = views[0] | views[1] << 4 | u64::from(sample.count) << 8;
            small << 32 | u64::from(sample.target.to_bits())
        };
        fingerprint::of_words(pieces.chain(self.samples.iter().map(words)))
    }

    /// The pieces of a position.
    pub fn pieces(&self, sample: &Sample) -> &[PieceSquare] {
        let first = sample.first;
        &self.pieces[first..first + usize::from(sample.count)]
    }

    /// The quiet positions of a game, to learn its result and scores.
    fn add_played(&mut self, game: &Game, targets: &Targets) {
        let points = game.result.points();
        let foreseen = foreseen(game, targets);
        for ((position, m, score), expected) in game.positions().zip(foreseen) {
            if texel::is_wanted(&position, m, score) {
                let target = targets.wdl * points + (1.0 - targets.wdl) * expected;
                self.add(&position, target, points, score);
            }
        }
    }

    /// The positions of a game, and as many some random moves away: to learn the classical
    /// evaluation.
    fn add_evaluated(&mut self, game: &Game, targets: &Targets, random: &mut Random) {
        for (position, ..) in game.positions() {
            for position in [astray(&position, random), position] {
                let score = classical(&position);
                if !position.in_check() && !texel::is_corrected(&position, score) {
                    let points = expected(targets, score);
                    self.add(&position, points, points, score);
                }
            }
        }
    }

    /// Adds a position; the target, the result and the score are White's.
    pub fn add(&mut self, position: &Position, target: f32, points: f32, score: Score) {
        let us = position.turn();
        let view = |color: Color| View::of(color, position.king(color));
        let ours = |points: f32| if us.is_white() { points } else { 1.0 - points };
        let first = self.pieces.len();
        self.pieces.extend(position.piece_squares());
        let count = self.pieces.len() - first;
        self.samples.push(Sample {
            first,
            count: count as u8,
            bucket: bucket(count) as u8,
            views: [view(us), view(!us)],
            target: ours(target),
            points: ours(points),
            score: seen_by(us, score).raw(),
            classical: seen_by(us, classical(position)).raw(),
        });
    }
}

/// The points that White could expect in each position of a game, by its score and, more and more
/// lightly, by those that came later: the targets of TD(lambda) (Sutton 1988).
fn foreseen(game: &Game, targets: &Targets) -> Vec<f32> {
    let mut later = game.result.points();
    let mut points: Vec<f32> = game
        .moves
        .iter()
        .rev()
        .map(|&(_, score)| {
            later = targets.lambda * later + (1.0 - targets.lambda) * expected(targets, score);
            later
        })
        .collect();
    points.reverse();
    points
}

/// The points that White's score lets White expect.
fn expected(targets: &Targets, score: Score) -> f32 {
    Curve { scale: targets.scale }.points(f64::from(score.value())) as f32
}

/// The first evaluation, for White.
fn classical(position: &Position) -> Score {
    let ours = State::with(Evaluator::first(), position).evaluate(position);
    seen_by(position.turn(), ours)
}

/// White's score seen by a colour, or a colour's seen by White.
fn seen_by(color: Color, score: Score) -> Score {
    if color.is_white() { score } else { -score }
}

/// A position up to six random moves on.
fn astray(position: &Position, random: &mut Random) -> Position {
    let mut position = position.clone();
    for _ in 0..=random.below(6) {
        let moves = position.legal_moves();
        let Some(&m) = moves.get(random.below(moves.len())) else { break };
        position = position.play(m).0;
    }
    position
}
