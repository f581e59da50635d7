//! `tacet judge`: what networks are worth on games, without learning from them.

use std::io::{self, Write};
use std::num::NonZero;
use std::path::PathBuf;

use super::data::{self, Data};
use super::model::{Model, Scratch};
use super::{Targets, read_all};
use crate::train::TrainError;

/// What to judge by.
#[derive(clap::Args, Clone, Debug)]
pub struct JudgeArgs {
    /// The network files
    #[arg(required = true, value_name = "NETWORK")]
    pub networks: Vec<PathBuf>,
    /// Files made by `tacet datagen`, best of games that none of the networks learned from
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    pub data: Vec<PathBuf>,
    /// What is to be predicted.
    #[command(flatten)]
    pub targets: Targets,
    /// How many threads work [default: one a core]
    #[arg(long)]
    pub threads: Option<NonZero<usize>>,
}

/// Positions looked at between two sums.
const BATCH: usize = 16_384;

/// Writes a table of the networks' losses.
///
/// # Errors
/// If a file cannot be read, or is no file of games or no network; if all games hold no quiet
/// position; if the output cannot be written.
pub fn run(args: &JudgeArgs, output: &mut impl Write) -> Result<(), TrainError> {
    let networks = read_all(&args.networks)?;
    let data = data::load_whole(&args.data, &args.targets)?;
    if data.is_empty() {
        return Err(TrainError::NoPositions);
    }
    let (mut parts, threads) = (parts(), threads(args.threads));
    let table = || -> io::Result<()> {
        writeln!(output, "{} positions", data.len())?;
        writeln!(output, "    loss  centipawns per unit  network")?;
        writeln!(output, "{:.6}  {:>19}  a perfect guess", data.least_loss(), "")?;
        for (path, parameters) in args.networks.iter().zip(networks) {
            let model = Model::of(&parameters).on_the_curve(parameters.scale, args.targets.scale);
            let Judgement { loss, centipawns } = judge(&mut parts, &model, &data, BATCH, threads);
            writeln!(output, "{loss:.6}  {centipawns:>19.0}  {}", path.display())?;
        }
        output.flush()
    };
    table().map_err(TrainError::Output)
}

/// One part of a batch.
pub struct Part {
    /// In what it is worked out.
    pub scratch: Scratch,
    /// The sum of its losses.
    pub loss: f64,
    /// Of its positions in open games.
    scale: LeastSquares,
}

/// What is needed to say how many centipawns a unit of output stands for.
#[derive(Clone, Copy, Default)]
struct LeastSquares {
    /// The sum of the products of output and score.
    both: f64,
    /// The sum of the outputs' squares.
    square: f64,
}

/// What a model is worth on some positions.
pub struct Judgement {
    /// The mean loss.
    pub loss: f64,
    /// How many centipawns of searched score a unit of output stands for where the game is open; 1
    /// if the outputs are all 0.
    pub centipawns: f64,
}

/// Beyond so many centipawns a game is no longer open.
const OPEN_GAME: u16 = 2_000;

/// A batch is cut into so many parts: no more threads than that are of use.
const PARTS: usize = 8;

/// The parts of a batch.
pub fn parts() -> Vec<Part> {
    let part = |_| Part { scratch: Scratch::new(), loss: 0.0, scale: LeastSquares::default() };
    (0..PARTS).map(part).collect()
}

/// So many threads as are wanted, or one a core.
pub fn threads(wanted: Option<NonZero<usize>>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    wanted.map_or_else(cores, NonZero::get).min(PARTS)
}

/// What a model is worth on positions, looked at a batch at a time.
pub fn judge(
    parts: &mut [Part],
    model: &Model,
    data: &Data,
    batch: usize,
    threads: usize,
) -> Judgement {
    let indices: Vec<u32> = (0..data.len() as u32).collect();
    let (mut loss, LeastSquares { mut both, mut square }) = (0.0, LeastSquares::default());
    for indices in indices.chunks(batch) {
        each_part(parts, indices, threads, |part, indices| part.judge(model, data, indices));
        for part in parts.iter() {
            loss += part.loss;
            both += part.scale.both;
            square += part.scale.square;
        }
    }
    Judgement {
        loss: loss / data.len() as f64,
        centipawns: if square > 0.0 { both / square } else { 1.0 },
    }
}

impl Part {
    /// Looks at positions without learning from them. What an ending that is known to be won is worth
    /// says nothing of the scale of others.
    fn judge(&mut self, model: &Model, data: &Data, indices: &[u32]) {
        let Part { scratch, loss, scale } = self;
        *scale = LeastSquares::default();
        *loss = model.outputs(data, indices, scratch, |sample, output, odds| {
            if odds.abs() < 2.0 && sample.score.unsigned_abs() < OPEN_GAME {
                let output = f64::from(output);
                scale.both += output * f64::from(sample.score);
                scale.square += output * output;
            }
        });
    }
}

/// Does the parts of a batch, in any order.
pub fn each_part(
    parts: &mut [Part],
    batch: &[u32],
    threads: usize,
    work: impl Fn(&mut Part, &[u32]) + Sync,
) {
    let length = batch.len().div_ceil(PARTS);
    let cut = |number: usize| {
        &batch[(number * length).min(batch.len())..((number + 1) * length).min(batch.len())]
    };
    let share = PARTS.div_ceil(threads);
    std::thread::scope(|scope| {
        for (thread, parts) in parts.chunks_mut(share).enumerate() {
            let (work, cut) = (&work, &cut);
            scope.spawn(move || {
                for (number, part) in parts.iter_mut().enumerate() {
                    work(part, cut(thread * share + number));
                }
            });
        }
    });
}
