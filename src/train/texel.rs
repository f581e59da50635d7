//! `tacet tune-eval`: fits the numbers of the classical evaluation to games.
//!
//! Texel's method (Peter Österlund, "Texel's Tuning Method", Chess Programming Wiki, 2014): a logistic curve
//! turns an evaluation into expected points, and the values minimise their cross entropy against a target.
//! The target mixes the game's result and the expected points of the searched score. The optimiser is Adam,
//! with regularisation towards the [`prior`], which dominates where data is sparse.
//!
//! Only quiet positions count: no check, no capture or promotion played, no mate or tablebase score, and none
//! of the endings that [`endings`] corrects. The board is folded left to right.

use std::io::Write;
use std::path::PathBuf;

use super::adam::{Adam, Rate};
use super::curve::{self, Curve, cross_entropy};
use super::format::TrainingGame;
use super::{TrainError, prior, visit_games};
use crate::board::pgn::GameResult;
use crate::board::{Color, PackedMove, Position};
use crate::eval::classical::{FULL_PHASE, Halves, TaperedValue, first, phase};
use crate::eval::endings::{self, Balance};
use crate::kit::random::Random;
use crate::score::Score;

/// Options of `tacet tune-eval`.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct TuneArgs {
    /// Files of games made by `tacet datagen`
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Passes over the positions
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    pub epochs: u32,
    /// Largest learning rate, in centipawns per step; falls to 0 along half a cosine
    #[arg(long, default_value_t = 1.0, value_name = "CP", value_parser = super::number_above_zero)]
    pub lr: f64,
    /// Share of the game's result in the target; the rest is the score's
    #[arg(long, default_value_t = 0.5, value_name = "SHARE", value_parser = super::share::<f64>)]
    pub result_share: f64,
    /// Weight of the prior values, in positions
    #[arg(long, default_value_t = 300.0, value_name = "POSITIONS", value_parser = super::number_from_zero)]
    pub prior: f64,
    /// Seed of the order of the positions
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Fits the values and writes them to `output` as Rust tables; losses go to standard error.
///
/// # Errors
/// If a file cannot be read, holds anything but games, or all of them hold no quiet position; and
/// if `output` fails.
pub(crate) fn run(args: &TuneArgs, output: &mut impl Write) -> Result<(), TrainError> {
    let (training, held_out) = load(&args.files)?;
    if training.samples.is_empty() || held_out.samples.is_empty() {
        return Err(TrainError::NoPositions);
    }
    eprintln!("{} positions, {} held out", training.samples.len(), held_out.samples.len());
    let target = Target { curve: fitted_curve(&training), result_share: args.result_share };
    eprintln!("scores predict the results best at a scale of {:.1} centipawns", target.curve.scale);
    let values = fit(args, &target, &training, &held_out);
    output.write_all(rust_tables(&values).as_bytes()).map_err(TrainError::Output)
}

/// Values to fit: middlegame and endgame values of every kind of piece on every square of the left half, and
/// the tempo.
const FEATURES: usize = prior::SQUARES * 6;
const VALUES: usize = 2 * FEATURES + 1;
type Values = [f64; VALUES];

/// Positions. The pieces of all of them, as feature indices, are in one list.
#[derive(Default)]
struct Data {
    pieces: Vec<u8>,
    samples: Vec<Sample>,
}

#[derive(Clone, Copy)]
struct Sample {
    /// Index of the first piece; White's come first.
    first: usize,
    whites: u8,
    blacks: u8,
    phase: u8,
    white_to_move: bool,
    result: GameResult,
    /// From White's view.
    score: Score,
}

// --- Loading -------------------------------------------------------------------------------------

/// One game in this many is held out.
const HELD_OUT: u64 = 10;

/// The training positions and the held-out ones.
fn load(files: &[PathBuf]) -> Result<(Data, Data), TrainError> {
    let (mut training, mut held_out) = (Data::default(), Data::default());
    visit_games(files, |number, game| {
        let data = if number % HELD_OUT == 0 { &mut held_out } else { &mut training };
        data.add(&game);
    })?;
    Ok((training, held_out))
}

impl Data {
    fn add(&mut self, game: &TrainingGame) {
        for (position, m, score) in game.positions() {
            if is_wanted(&position, m, score) {
                self.add_position(&position, game.result, score);
            }
        }
    }

    fn add_position(&mut self, position: &Position, result: GameResult, score: Score) {
        let first = self.pieces.len();
        for color in Color::ALL {
            let ours = position.piece_squares().filter(|piece| piece.color() == color);
            self.pieces.extend(ours.map(|piece| {
                let square = color.fold_wb(piece.square(), piece.square().flip_vertical());
                let role = piece.role() as usize - 1;
                (role * prior::SQUARES + prior::half_square(square as usize)) as u8
            }));
        }
        self.samples.push(Sample {
            first,
            whites: position.by_color(Color::White).count() as u8,
            blacks: position.by_color(Color::Black).count() as u8,
            phase: phase(position).min(FULL_PHASE) as u8,
            white_to_move: position.turn().is_white(),
            result,
            score,
        });
    }

    /// The features of White's and of Black's pieces.
    fn pieces(&self, sample: &Sample) -> (&[u8], &[u8]) {
        let first = sample.first;
        let end = first + usize::from(sample.whites + sample.blacks);
        self.pieces[first..end].split_at(usize::from(sample.whites))
    }
}

/// True for quiet positions in which no rule corrects the evaluation. `m` is the move played, `score` White's.
pub(crate) fn is_wanted(position: &Position, m: PackedMove, score: Score) -> bool {
    !position.in_check() && !position.is_noisy(m) && !score.is_decisive() && !is_corrected(position)
}

/// True where the evaluation of endings changes the value of the stronger side: the one that can win, or, if
/// both or neither can, the one with more material. Of equal sides either may be the stronger.
fn is_corrected(position: &Position) -> bool {
    if !endings::may_mislead(position) {
        return false;
    }
    // The score must not decide, since it is the label. Nor must the weaker side's scale: with king and pawn
    // against king that of the bare king is 0, but no value in its favour is to be expected.
    let sides = Color::ALL.map(|strong| {
        let balance = Balance::of(position, strong);
        let scale = endings::scale(position, strong, &balance);
        let is_changed =
            scale != endings::FULL_SCALE || endings::drive(position, strong, &balance) != 0;
        ((scale > 0, balance.material()), is_changed)
    });
    let stronger = sides.map(|(strength, _)| strength).into_iter().max();
    sides.into_iter().any(|(strength, is_changed)| Some(strength) == stronger && is_changed)
}

// --- Fitting -------------------------------------------------------------------------------------

/// The target of the fit.
struct Target {
    curve: Curve,
    result_share: f64,
}

impl Target {
    fn expected(&self, value: f64) -> f64 {
        self.curve.points(value)
    }

    fn of(&self, sample: &Sample) -> f64 {
        let by_score = self.expected(f64::from(sample.score.value()));
        let by_result = f64::from(sample.result.points());
        self.result_share * by_result + (1.0 - self.result_share) * by_score
    }
}

/// The curve with which searched scores predict the results best.
fn fitted_curve(data: &Data) -> Curve {
    let pair = |s: &Sample| (f64::from(s.score.value()), f64::from(s.result.points()));
    curve::fitted(&data.samples.iter().map(pair).collect::<Vec<_>>(), 0.0)
}

const BATCH: usize = 8_192;

/// Adam's epsilon: small, since gradients per centipawn are.
const EPSILON: f32 = 1e-12;

fn fit(args: &TuneArgs, target: &Target, training: &Data, held_out: &Data) -> Values {
    let start = values_of(&prior::tables());
    let mut values = start;
    let (mut adam, mut steps) = (Adam::new(VALUES), 0);
    let mut order: Vec<u32> = (0..training.samples.len() as u32).collect();
    let mut random = Random::numbered(args.seed, 0);
    let pull = args.prior / training.samples.len() as f64;
    eprintln!("prior values: held-out loss {:.6}", loss(held_out, target, &values));
    for epoch in 0..args.epochs {
        random.shuffle(&mut order);
        let done = f64::from(epoch) / f64::from(args.epochs);
        let lr = args.lr * (1.0 + (std::f64::consts::PI * done).cos()) / 2.0;
        for batch in order.chunks(BATCH) {
            let mut gradient = gradient(training, target, &values, batch);
            for (index, gradient) in gradient.iter_mut().enumerate() {
                *gradient += pull * curvature(target) * (values[index] - start[index]);
            }
            steps += 1;
            let mut updates = gradient.map(|gradient| gradient as f32);
            adam.update(&mut updates, Rate::new(lr as f32, steps, EPSILON));
            for (value, update) in values.iter_mut().zip(updates) {
                *value -= f64::from(update);
            }
        }
        if (epoch + 1) % 5 == 0 || epoch + 1 == args.epochs {
            let (inside, outside) =
                (loss(training, target, &values), loss(held_out, target, &values));
            eprintln!("epoch {}: loss {inside:.6}, held out {outside:.6}", epoch + 1);
        }
    }
    values
}

/// A typical second derivative of one position's loss by a value: turns the weight of the prior into positions.
fn curvature(target: &Target) -> f64 {
    0.2 / (target.curve.scale * target.curve.scale)
}

fn values_of(tables: &Halves) -> Values {
    let mut values = [0.0; VALUES];
    for (feature, pair) in tables.iter().flatten().enumerate() {
        values[feature] = f64::from(pair.middle);
        values[FEATURES + feature] = f64::from(pair.end);
    }
    values[2 * FEATURES] = f64::from(first::TEMPO);
    values
}

/// The evaluation of a sample from White's view.
fn evaluate(data: &Data, values: &Values, sample: &Sample) -> f64 {
    let (whites, blacks) = data.pieces(sample);
    let (mut middle, mut end) = (0.0, 0.0);
    for &feature in whites {
        middle += values[usize::from(feature)];
        end += values[FEATURES + usize::from(feature)];
    }
    for &feature in blacks {
        middle -= values[usize::from(feature)];
        end -= values[FEATURES + usize::from(feature)];
    }
    let share = f64::from(sample.phase) / f64::from(FULL_PHASE);
    middle * share + end * (1.0 - share) + values[2 * FEATURES] * sign(sample.white_to_move)
}

fn sign(is_white: bool) -> f64 {
    if is_white { 1.0 } else { -1.0 }
}

/// The mean gradient of the loss over a batch.
fn gradient(data: &Data, target: &Target, values: &Values, batch: &[u32]) -> Values {
    let mut gradient = [0.0; VALUES];
    for &index in batch {
        let sample = &data.samples[index as usize];
        let expected = target.expected(evaluate(data, values, sample));
        let by_value = (expected - target.of(sample)) / target.curve.scale / batch.len() as f64;
        let share = f64::from(sample.phase) / f64::from(FULL_PHASE);
        let (middle, end) = (by_value * share, by_value * (1.0 - share));
        let (whites, blacks) = data.pieces(sample);
        for &feature in whites {
            gradient[usize::from(feature)] += middle;
            gradient[FEATURES + usize::from(feature)] += end;
        }
        for &feature in blacks {
            gradient[usize::from(feature)] -= middle;
            gradient[FEATURES + usize::from(feature)] -= end;
        }
        gradient[2 * FEATURES] += by_value * sign(sample.white_to_move);
    }
    gradient
}

fn loss(data: &Data, target: &Target, values: &Values) -> f64 {
    let each = |sample: &Sample| {
        cross_entropy(target.of(sample), target.expected(evaluate(data, values, sample)))
    };
    data.samples.iter().map(each).sum::<f64>() / data.samples.len() as f64
}

// --- Printing ------------------------------------------------------------------------------------

/// The values in the form of the files of `eval/classical/`.
fn rust_tables(values: &Values) -> String {
    const NAMES: [&str; 6] = ["Pawn", "Knight", "Bishop", "Rook", "Queen", "King"];
    let mut text = format!("pub const TEMPO: i32 = {:.0};\n\n", values[2 * FEATURES]);
    text.push_str("#[rustfmt::skip]\npub const HALVES: Halves = [\n");
    for (role, name) in NAMES.iter().enumerate() {
        text.push_str(&format!("    [ // {name}\n"));
        for rank in 0..8 {
            text.push_str("       ");
            for file in 0..4 {
                let TaperedValue { middle, end } = rounded(values, role, rank * 4 + file);
                text.push_str(&format!(" pair({middle}, {end}),"));
            }
            text.push('\n');
        }
        text.push_str("    ],\n");
    }
    text.push_str("];\n");
    text
}

fn rounded(values: &Values, role: usize, square: usize) -> TaperedValue {
    if role == 0 && !(4..28).contains(&square) {
        return TaperedValue::default(); // no pawn can stand here
    }
    let feature = role * prior::SQUARES + square;
    let whole = |value: f64| value.round() as i32;
    TaperedValue { middle: whole(values[feature]), end: whole(values[FEATURES + feature]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{Evaluator, State};
    const FENS: [&str; 4] = [
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "2r3k1/5ppp/8/3n4/8/1P3N2/P4PPP/3R2K1 w - - 0 1",
        "8/5ppk/7p/8/1P6/P6P/5PP1/6K1 b - - 0 1",
    ];

    #[test]
    fn positions_have_the_value_that_the_evaluation_gives_them() {
        let values = values_of(&first::HALVES);
        for fen in FENS {
            let position = Position::from_fen(fen).unwrap();
            let mut data = Data::default();
            data.add_position(&position, GameResult::Draw, Score::ZERO);
            let expected = State::with(Evaluator::first(), &position).evaluate(&position);
            let white = if position.turn().is_white() { expected } else { -expected };
            let value = evaluate(&data, &values, &data.samples[0]);
            assert!((value - f64::from(white.value())).abs() < 1.0, "{fen}: {value}");
        }
    }

    #[test]
    fn the_gradient_is_the_derivative_of_the_loss() {
        let mut data = Data::default();
        for fen in FENS {
            let position = Position::from_fen(fen).unwrap();
            data.add_position(&position, GameResult::Win(Color::Black), Score::cp(-70));
        }
        let target = Target { curve: Curve::logistic(150.0), result_share: 0.3 };
        let values = values_of(&prior::tables());
        let found = gradient(&data, &target, &values, &[0, 1, 2, 3]);
        for index in (0..VALUES).step_by(7).chain([2 * FEATURES]) {
            let moved = |by: f64| {
                let mut values = values;
                values[index] += by;
                loss(&data, &target, &values)
            };
            let measured = (moved(0.01) - moved(-0.01)) / 0.02;
            assert!((measured - found[index]).abs() < 1e-8, "{index}: {measured}");
        }
    }

    #[test]
    fn unwanted_positions_are_left_out() {
        let wanted = |fen: &str, m: &str, score| {
            let position = Position::from_fen(fen).unwrap();
            is_wanted(&position, position.read_move(m).unwrap(), score)
        };
        assert!(wanted(FENS[1], "e1g1", Score::cp(20)));
        assert!(!wanted(FENS[1], "e2a6", Score::cp(20)), "a capture");
        assert!(!wanted(FENS[1], "e1g1", Score::mate_in(9)), "a mate");
        assert!(!wanted("4k3/8/8/8/8/8/4r3/4K2R w K - 0 1", "e1d1", Score::ZERO), "a check");
        assert!(!wanted("8/8/4k3/8/8/2R1K3/8/8 w - - 0 1", "e3e4", Score::cp(500)), "driven");
        assert!(!wanted("8/8/4kb2/8/8/2R1K3/8/8 w - - 0 1", "e3e4", Score::cp(50)), "scaled");
    }

    #[test]
    fn endings_are_left_out_for_both_colours_and_whatever_the_score() {
        for (white, black, is_wanted_there) in [
            ("4k3/8/8/8/4P3/4K3/8/8", "8/8/4k3/4p3/8/8/8/4K3", true),
            ("4k2r/8/8/8/4P3/4K3/8/R7", "r7/8/4k3/4p3/8/8/8/4K2R", true),
            ("4k2r/4pp2/8/8/4PP2/4K3/8/R7", "r7/8/4k3/4pp2/8/8/4PP2/4K2R", true),
            ("4k2r/8/8/8/8/4K3/8/R7", "r7/8/4k3/8/8/8/8/4K2R", false),
            // The bishop cannot win. The value of two pawns is not scaled, that of one is.
            ("4k3/3pp3/8/8/8/4K3/8/2B5", "2b5/8/4k3/8/8/8/3PP3/4K3", true),
            ("4k3/4p3/8/8/8/4K3/8/2B5", "2b5/8/4k3/8/8/8/4P3/4K3", false),
            // The stronger side has no pawn and rarely wins; the value of the other is not scaled.
            ("4k2r/4p3/8/8/8/4K3/8/R1N5", "r1n5/8/4k3/8/8/8/4P3/4K2R", false),
        ] {
            for (board, turn, m) in [(white, "w", "e3d3"), (black, "b", "e6d6")] {
                let position = Position::from_fen(&format!("{board} {turn} - - 0 1")).unwrap();
                let m = position.read_move(m).unwrap();
                for score in [-40, 0, 40] {
                    let found = is_wanted(&position, m, Score::cp(score));
                    assert_eq!(found, is_wanted_there, "{board} {score}");
                }
            }
        }
    }

    #[test]
    fn the_results_of_games_are_learned() {
        // Knights on the rim lose, knights in the centre win, in every game.
        let args = TuneArgs {
            files: Vec::new(),
            epochs: 50,
            lr: 2.0,
            result_share: 1.0,
            prior: 1.0,
            seed: 1,
        };
        let mut data = Data::default();
        for (fen, result) in [
            ("4k3/pppp4/8/8/N7/8/PPPP4/4K3 w - - 0 1", GameResult::Win(Color::Black)),
            ("4k3/pppp4/8/8/3N4/8/PPPP4/4K3 w - - 0 1", GameResult::Win(Color::White)),
        ] {
            for _ in 0..50 {
                data.add_position(&Position::from_fen(fen).unwrap(), result, Score::ZERO);
            }
        }
        let target = Target { curve: Curve::logistic(150.0), result_share: 1.0 };
        let values = fit(&args, &target, &data, &data);
        let start = values_of(&prior::tables());
        let end_of = |square: usize| FEATURES + prior::SQUARES + square;
        let (rim, centre) = (end_of(12), end_of(15)); // a4, d4
        assert!(values[rim] < start[rim] - 20.0 && values[centre] > start[centre] + 5.0);
        assert_eq!(
            values,
            fit(&args, &target, &data, &data),
            "the same input gives the same values"
        );
    }

    #[test]
    fn the_scale_found_is_the_one_that_made_the_results() {
        let mut data = Data::default();
        let position = Position::startpos();
        let truth = Target { curve: Curve::logistic(200.0), result_share: 1.0 };
        for score in (-600..=600).step_by(20) {
            let wins = (truth.expected(f64::from(score)) * 1_000.0).round() as usize;
            for game in 0..1_000 {
                let won = if game < wins {
                    GameResult::Win(Color::White)
                } else {
                    GameResult::Win(Color::Black)
                };
                data.add_position(&position, won, Score::cp(score));
            }
        }
        assert!((fitted_curve(&data).scale - 200.0).abs() < 2.0);
    }
}
