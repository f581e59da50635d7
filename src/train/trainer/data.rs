//! The positions of games, packed for training.

use super::TrainArgs;
use crate::board::{Color, PackedMove, PieceSquare, Position};
use crate::eval::network::shape::{View, bucket};
use crate::eval::{Evaluator, State};
use crate::score::Score;
use crate::train::curve::Curve;
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
    first: u32,
    count: u8,
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
    /// The classical evaluation, in centipawns; 0 where it is not asked for.
    pub classical: i16,
}

/// The positions to learn from, and those held out.
pub fn load(args: &TrainArgs) -> Result<(Data, Data), TrainError> {
    let (mut training, mut held_out) = (Data::default(), Data::default());
    visit_games(&args.data, |number, game| {
        if number % HELD_OUT == 0 {
            held_out.add(&game, args, true);
        } else {
            training.add(&game, args, false);
        }
    })?;
    Ok((training, held_out))
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

    /// The pieces of a position.
    pub fn pieces(&self, sample: &Sample) -> &[PieceSquare] {
        let first = sample.first as usize;
        &self.pieces[first..first + usize::from(sample.count)]
    }

    fn add(&mut self, game: &Game, args: &TrainArgs, evaluated: bool) {
        for (position, m, score) in game.positions() {
            if is_wanted(&position, m, score) {
                self.add_position(&position, game.result.points(), score, args, evaluated);
            }
        }
    }

    /// `points` and `white_score` are White's.
    fn add_position(
        &mut self,
        position: &Position,
        points: f32,
        white_score: Score,
        args: &TrainArgs,
        evaluated: bool,
    ) {
        let us = position.turn();
        let (points, score) =
            if us.is_white() { (points, white_score) } else { (1.0 - points, -white_score) };
        let expected = Curve { scale: args.scale }.points(f64::from(score.value())) as f32;
        let view = |color: Color| View::of(color, position.king(color));
        let first = self.pieces.len() as u32;
        self.pieces.extend(position.piece_squares());
        let count = self.pieces.len() - first as usize;
        let classical = || State::with(&Evaluator::Classical, position).evaluate(position).raw();
        self.samples.push(Sample {
            first,
            count: count as u8,
            bucket: bucket(count) as u8,
            views: [view(us), view(!us)],
            target: args.wdl * points + (1.0 - args.wdl) * expected,
            points,
            score: score.raw(),
            classical: if evaluated { classical() } else { 0 },
        });
    }
}

/// Is it a position that the network is to judge? Asked with the move played and the score.
fn is_wanted(position: &Position, m: PackedMove, score: Score) -> bool {
    texel::is_wanted(position, m, score)
}
