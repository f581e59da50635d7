//! `tacet fit-wdl`: fits the [win model](crate::score::wdl) to stored games.
//!
//! Positions are counted by move, score and result. A score of exactly 0 is not: it mostly is no
//! evaluation but a draw found by searching. The model's eight numbers are those that make
//! the counts most likely, found by Fisher's scoring (R. A. Fisher 1935; the steps of Newton's
//! method with the expected curvature).

use std::io::Write;
use std::path::PathBuf;

use super::format::GameResult;
use super::{TrainError, visit_games};
use crate::score::Score;
use crate::score::wdl::{MOVES, Model, REFERENCE, powers};

/// What to fit the model to.
#[derive(clap::Args, Clone, Debug)]
pub struct FitWdlArgs {
    /// Files made by `tacet datagen`
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Fits the model and prints it as `src/score/wdl.rs` has it; how well it fits goes to stderr.
///
/// # Errors
/// If a file cannot be read or holds anything but games, or all of them hold no position to count;
/// if the output cannot be written.
pub fn run(args: &FitWdlArgs, output: &mut impl Write) -> Result<(), TrainError> {
    let mut counts = Counts::new();
    visit_games(&args.files, |_, game| {
        for (position, _, score) in game.positions() {
            if !score.is_decisive() && score != Score::ZERO {
                counts.add(position.fullmove_number(), score.value(), game.result, 1.0);
            }
        }
    })?;
    if counts.total() == 0.0 {
        return Err(TrainError::NoPositions);
    }
    let model = fitted(&counts);
    report(&counts, &model);
    let numbers = |polynomial: [f64; 4]| polynomial.map(|number| format!("{number:.1}")).join(", ");
    writeln!(
        output,
        "pub const MODEL: Model =\n    Model {{ even: [{}], width: [{}] }};",
        numbers(model.even),
        numbers(model.width)
    )
    .map_err(TrainError::Output)
}

/// Scores further from 0 are not counted: they say little, and games end by adjudication there.
const MOST: i32 = 700;
/// Centipawns that are counted together.
const STEP: i32 = 10;
const BINS: usize = (2 * MOST / STEP + 1) as usize;

/// How often a score at a move led to which result, all seen from White.
struct Counts {
    cells: Vec<[f64; 3]>,
}

/// Positions of one move number and about one score.
struct Cell<'a> {
    number: u32,
    value: f64,
    /// Lost, drawn and won.
    results: &'a [f64; 3],
}

impl Counts {
    fn new() -> Counts {
        let moves = (MOVES.end() - MOVES.start() + 1) as usize;
        Counts { cells: vec![[0.0; 3]; moves * BINS] }
    }

    /// Counts a position so many times. Moves and scores out of range are not counted.
    fn add(&mut self, number: u32, value: i32, result: GameResult, times: f64) {
        if MOVES.contains(&number) && value.abs() <= MOST {
            let bin = (value + MOST + STEP / 2) / STEP;
            let cell = (number - MOVES.start()) as usize * BINS + bin as usize;
            if let Some(cell) = self.cells.get_mut(cell) {
                cell[result as usize] += times;
            }
        }
    }

    fn total(&self) -> f64 {
        self.cells.iter().flatten().sum()
    }

    /// All cells that are not empty.
    fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        self.cells.iter().enumerate().filter(|(_, results)| **results != [0.0; 3]).map(
            |(index, results)| Cell {
                number: MOVES.start() + (index / BINS) as u32,
                value: f64::from((index % BINS) as i32 * STEP - MOST),
                results,
            },
        )
    }
}

// --- Fitting -------------------------------------------------------------------------------------

/// So many numbers has a model.
const NUMBERS: usize = 8;

/// The most likely model.
fn fitted(counts: &Counts) -> Model {
    const ROUNDS: usize = 200;
    let mut model = Model { even: [150.0, 0.0, 0.0, 0.0], width: [80.0, 0.0, 0.0, 0.0] };
    let mut likelihood = log_likelihood(counts, &model);
    for _ in 0..ROUNDS {
        let step = newton_step(counts, &model);
        // A step that goes too far is halved until it is an improvement.
        let shorter = (0..30).map(|halvings| moved(&model, &step, 0.5_f64.powi(halvings)));
        let better = shorter
            .map(|model| (log_likelihood(counts, &model), model))
            .find(|&(found, _)| found > likelihood);
        let Some((found, next)) = better else { break };
        let gain = found - likelihood;
        (likelihood, model) = (found, next);
        if gain < 1e-9 * likelihood.abs() {
            break;
        }
    }
    model
}

fn moved(model: &Model, step: &[f64; NUMBERS], share: f64) -> Model {
    Model {
        even: std::array::from_fn(|i| model.even[i] + share * step[i]),
        width: std::array::from_fn(|i| model.width[i] + share * step[4 + i]),
    }
}

/// The chances of loss, draw and win, none quite 0.
fn chances(model: &Model, cell: &Cell) -> [f64; 3] {
    let (win, loss) = (model.win(cell.value, cell.number), model.win(-cell.value, cell.number));
    [loss, 1.0 - win - loss, win].map(|chance| chance.max(1e-9))
}

/// The logarithm of how likely the counts are. A model without meaning is not at all.
fn log_likelihood(counts: &Counts, model: &Model) -> f64 {
    let has_meaning =
        MOVES.map(|number| model.curve(number)).all(|(even, width)| even > 0.0 && width > 1.0);
    if !has_meaning {
        return f64::NEG_INFINITY;
    }
    let of_cell = |cell: Cell| -> f64 {
        let chances = chances(model, &cell);
        cell.results.iter().zip(chances).map(|(count, chance)| count * chance.ln()).sum()
    };
    counts.cells().map(of_cell).sum()
}

/// Where the likelihood would be greatest, were it a parabola of the expected curvature.
fn newton_step(counts: &Counts, model: &Model) -> [f64; NUMBERS] {
    let mut slope = [0.0; NUMBERS];
    let mut curvature = [[0.0; NUMBERS]; NUMBERS];
    for cell in counts.cells() {
        let (even, width) = model.curve(cell.number);
        // How a curve's value changes with its middle and its width.
        let slopes = |value: f64| {
            let win = model.win(value, cell.number);
            let steepness = win * (1.0 - win) / width;
            [-steepness, -steepness * (value - even) / width]
        };
        let (win, loss) = (slopes(cell.value), slopes(-cell.value));
        let draw = [-win[0] - loss[0], -win[1] - loss[1]];
        let total: f64 = cell.results.iter().sum();
        let powers = powers(cell.number);
        // Each number is a coefficient of the middle (0) or the width (1), times a power.
        let factor = |number: usize| (number / 4, powers[number % 4]);
        for (by, (count, chance)) in
            [loss, draw, win].into_iter().zip(cell.results.iter().zip(chances(model, &cell)))
        {
            for i in 0..NUMBERS {
                let (side, power) = factor(i);
                let by_i = by[side] * power;
                slope[i] += count / chance * by_i;
                for (j, entry) in curvature[i].iter_mut().enumerate() {
                    let (side, power) = factor(j);
                    *entry += total / chance * by_i * by[side] * power;
                }
            }
        }
    }
    solved(curvature, slope)
}

/// The solution of a symmetric system of equations, by elimination (Gauss & Jordan). What the data
/// do not determine stays as it is.
fn solved(mut matrix: [[f64; NUMBERS]; NUMBERS], mut right: [f64; NUMBERS]) -> [f64; NUMBERS] {
    for (i, row) in matrix.iter_mut().enumerate() {
        row[i] += 1e-9 * row[i] + 1e-12;
    }
    for pivot in 0..NUMBERS {
        let (row, value) = (matrix[pivot], right[pivot]);
        let others = matrix.iter_mut().zip(&mut right).enumerate().filter(|(i, _)| *i != pivot);
        for (_, (other, right)) in others {
            let factor = other[pivot] / row[pivot];
            other.iter_mut().zip(row).for_each(|(entry, own)| *entry -= factor * own);
            *right -= factor * value;
        }
    }
    let solution = std::array::from_fn(|i| right[i] / matrix[i][i]);
    solution.map(|number: f64| if number.is_finite() { number } else { 0.0 })
}

// --- Reporting -----------------------------------------------------------------------------------

fn report(counts: &Counts, model: &Model) {
    let total = counts.total();
    let loss = -log_likelihood(counts, model) / total;
    eprintln!("{total:.0} positions, loss {loss:.4}");
    let (even, width) = model.curve(REFERENCE);
    eprintln!(
        "at move {REFERENCE} {even:.0} centipawns win every second game, {:.0} three of four",
        even + width * 3.0_f64.ln()
    );
    eprintln!("moves      score        games won: expected   found");
    for (first, last) in [(*MOVES.start(), 20), (21, 40), (41, 80), (81, *MOVES.end())] {
        for value in [-200, -100, 0, 100, 200, 400] {
            if let Some((expected, found)) = compared(counts, model, first..=last, value) {
                eprintln!("{first:>3}-{last:<3} {value:>7} {expected:>28.1} % {found:>6.1} %");
            }
        }
    }
}

/// The share of wins in per cent within 25 centipawns of a score, expected and found; none if there
/// are hardly any positions.
fn compared(
    counts: &Counts,
    model: &Model,
    moves: std::ops::RangeInclusive<u32>,
    value: i32,
) -> Option<(f64, f64)> {
    let (mut total, mut expected, mut found) = (0.0, 0.0, 0.0);
    let near = |cell: &Cell| (cell.value - f64::from(value)).abs() <= 25.0;
    for cell in counts.cells().filter(|cell| moves.contains(&cell.number) && near(cell)) {
        let positions: f64 = cell.results.iter().sum();
        total += positions;
        expected += positions * model.win(cell.value, cell.number);
        found += cell.results[GameResult::WhiteWon as usize];
    }
    (total >= 100.0).then(|| (100.0 * expected / total, 100.0 * found / total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_again() {
        let truth = Model { even: [230.0, -120.0, 40.0, -4.0], width: [60.0, 30.0, -12.0, 2.0] };
        let mut counts = Counts::new();
        for number in MOVES {
            for value in (-MOST..=MOST).step_by(STEP as usize) {
                let win = truth.win(f64::from(value), number);
                let loss = truth.win(f64::from(-value), number);
                for (result, chance) in [
                    (GameResult::BlackWon, loss),
                    (GameResult::Draw, 1.0 - win - loss),
                    (GameResult::WhiteWon, win),
                ] {
                    counts.add(number, value, result, 100.0 * chance);
                }
            }
        }
        let found = fitted(&counts);
        for number in MOVES {
            let ((even, width), truth) = (found.curve(number), truth.curve(number));
            assert!((even - truth.0).abs() < 0.5 && (width - truth.1).abs() < 0.5, "{found:?}");
        }
    }

    #[test]
    fn a_single_position_is_no_harm() {
        let mut counts = Counts::new();
        counts.add(40, 50, GameResult::WhiteWon, 1.0);
        let model = fitted(&counts);
        assert!(model.even.iter().chain(&model.width).all(|number| number.is_finite()));
        counts.add(7, 0, GameResult::Draw, 1.0);
        counts.add(121, 0, GameResult::Draw, 1.0);
        counts.add(40, MOST + 1, GameResult::Draw, 1.0);
        assert_eq!(counts.total(), 1.0);
    }

    #[test]
    fn equations_are_solved() {
        let matrix = std::array::from_fn(|i| {
            std::array::from_fn(|j| if i == j { 9.0 } else { 1.0 / (1 + i + j) as f64 })
        });
        let truth: [f64; NUMBERS] = std::array::from_fn(|i| i as f64 - 3.0);
        let right =
            matrix.map(|row: [f64; NUMBERS]| row.iter().zip(truth).map(|(m, x)| m * x).sum());
        let found = solved(matrix, right);
        assert!(found.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
    }
}
