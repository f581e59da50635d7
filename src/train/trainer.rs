//! `tacet train`: trains the neural evaluation on games, on the processor, from nothing.
//!
//! The network is to predict, for the side to move, a mix of the game's result and of what the
//! searched score lets expect ([`curve`]); it learns by gradient descent on the cross
//! entropy (AdamW: Loshchilov & Hutter, "Decoupled weight decay regularization", 2019) with a rate
//! that falls along half a cosine. Only quiet positions count, as in [`texel`](super::texel).
//!
//! A batch is cut into a fixed number of parts whose slopes are added up in order, so the outcome
//! depends on the seed and not on the number of threads. One game in [`HELD_OUT`] is not learned
//! from; the network that predicts those best is kept.
//!
//! After every epoch the network file is written if it is the best, and beside it a checkpoint from
//! which `--resume` goes on.

mod adam;
mod checkpoint;
mod data;
pub mod judge;
mod model;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::TrainError;
use super::curve::{self, Curve, cross_entropy};
use crate::eval::network::Parameters;
use crate::kit::fingerprint;
use crate::kit::random::Random;
use adam::Step;
use checkpoint::Course;
use data::Data;
use judge::{Judgement, Part, each_part, parts, threads};
use model::Model;

pub use data::HELD_OUT;

/// What to learn from, and how.
#[derive(clap::Args, Clone, Debug)]
pub struct TrainArgs {
    /// Files made by `tacet datagen`
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    pub data: Vec<PathBuf>,
    /// The network file to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Learn the first classical evaluation of the games' positions and of others near them, instead of
    /// scores and results: to begin at
    #[arg(long)]
    pub classical: bool,
    /// Begin at this network instead of at nothing
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// How often every position is looked at
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..))]
    pub epochs: u32,
    /// The largest step of a weight; it falls to nothing
    #[arg(long, default_value_t = 0.001)]
    pub lr: f32,
    /// By how much of itself, times the step, a weight shrinks at every step
    #[arg(long, default_value_t = 0.01)]
    pub decay: f32,
    /// Positions between two steps
    #[arg(long, default_value_t = 4_096, value_parser = clap::value_parser!(u32).range(8..))]
    pub batch: u32,
    /// What is to be predicted.
    #[command(flatten)]
    pub targets: Targets,
    /// Decides the first weights and the order of the positions
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Go on where an interrupted training with the same options and data stopped
    #[arg(long)]
    pub resume: bool,
    /// How many threads work [default: one a core]
    #[arg(long)]
    pub threads: Option<NonZero<usize>>,
}

/// The points that a network is to predict for a position.
#[derive(clap::Args, Clone, Debug)]
pub struct Targets {
    /// The weight of the game's result; that of the score is the rest
    #[arg(long, default_value_t = 0.3, value_parser = super::share::<f32>)]
    pub wdl: f32,
    /// How much of the target comes from the scores of the moves that followed in the game, and the
    /// result at last, each move's share so many times that of the move before; 0: the position's
    /// own score alone
    #[arg(long, default_value_t = 0.0, value_parser = super::share::<f32>)]
    pub lambda: f32,
    /// Centipawns of score per unit of the logistic curve
    #[arg(long, default_value_t = 300.0, value_parser = positive)]
    pub scale: f64,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && value <= 1e6 => Ok(value),
        _ => Err("a number above 0 is wanted".to_string()),
    }
}

/// Trains a network and writes it; the losses go to stderr.
///
/// # Errors
/// If a file cannot be read or written, holds anything but games, or all of them hold no quiet
/// position; if the training to be resumed was another.
pub fn run(args: &TrainArgs) -> Result<(), TrainError> {
    let (training, held_out) = data::load(args)?;
    if training.is_empty() || held_out.is_empty() {
        return Err(TrainError::NoPositions);
    }
    eprintln!("{} positions, {} held out", training.len(), held_out.len());
    report_references(&held_out);
    let mut training = Training::new(args, &training, &held_out)?;
    while training.course.epochs < args.epochs {
        training.epoch();
        training.keep_if_best(&args.out)?;
        training.save()?;
    }
    training.conclude(&args.out)
}

/// What there is to compare a held-out loss with: a perfect guess's; and the first evaluation's, on
/// the curve that suits it best.
fn report_references(held_out: &Data) {
    let mean = |sum: f64| sum / held_out.len() as f64;
    let truths = || held_out.samples.iter().map(|sample| f64::from(sample.target));
    let values: Vec<f64> = held_out.samples.iter().map(|s| f64::from(s.classical)).collect();
    let curve = curve::fitted(&values.iter().copied().zip(truths()).collect::<Vec<_>>());
    let classical: f64 =
        values.iter().zip(truths()).map(|(&v, truth)| cross_entropy(truth, curve.points(v))).sum();
    let scores: Vec<(f64, f64)> =
        held_out.samples.iter().map(|s| (f64::from(s.score), f64::from(s.points))).collect();
    let Curve { scale } = curve::fitted(&scores);
    eprintln!("scores give the held-out results best with a scale of {scale:.0} centipawns");
    eprintln!(
        "held-out loss: {:.6} at best, {:.6} of the classical evaluation with a scale of {:.0}",
        held_out.least_loss(),
        mean(classical),
        curve.scale
    );
}

/// The state of the training.
struct Training<'a> {
    args: &'a TrainArgs,
    training: &'a Data,
    held_out: &'a Data,
    threads: usize,
    /// Tells this training from others.
    fingerprint: u64,
    course: Course,
    /// The slopes of each part of a batch.
    parts: Vec<Part>,
}

/// Where the training begins: at the checkpoint, at a network, or at nothing.
fn begin(args: &TrainArgs, fingerprint: u64) -> Result<Course, TrainError> {
    if args.resume
        && let Some(course) = Course::load(&checkpoint::beside(&args.out), fingerprint)?
    {
        eprintln!("resumed after epoch {}", course.epochs);
        return Ok(course);
    }
    Ok(Course::new(match &args.from {
        Some(path) => {
            let parameters = read(path)?;
            Model::of(&parameters).on_the_curve(parameters.scale, args.targets.scale)
        }
        None => Model::random(&mut Random::numbered(args.seed, 0)),
    }))
}

/// Tells trainings apart that would not come to the same.
fn identity(args: &TrainArgs, training: &Data, held_out: &Data) -> u64 {
    let nowhere = PathBuf::new();
    let args =
        TrainArgs { data: Vec::new(), out: nowhere, resume: false, threads: None, ..args.clone() };
    let data = [training, held_out].map(|data| (data.len(), data.fingerprint()));
    fingerprint::of_bytes(format!("{args:?} {data:?}").as_bytes())
}

impl<'a> Training<'a> {
    fn new(
        args: &'a TrainArgs,
        training: &'a Data,
        held_out: &'a Data,
    ) -> Result<Training<'a>, TrainError> {
        let fingerprint = identity(args, training, held_out);
        Ok(Training {
            args,
            training,
            held_out,
            threads: threads(args.threads),
            fingerprint,
            course: begin(args, fingerprint)?,
            parts: parts(),
        })
    }

    /// Looks at every position once.
    fn epoch(&mut self) {
        let begun = Instant::now();
        let epoch = self.course.epochs;
        // An order that depends on the epoch's number alone needs no place in the checkpoint.
        let mut order: Vec<u32> = (0..self.training.len() as u32).collect();
        Random::numbered(self.args.seed, u64::from(epoch) + 1).shuffle(&mut order);
        let batches = order.chunks(self.args.batch as usize);
        let (count, mut loss) = (batches.len() as f64, 0.0);
        for (number, batch) in batches.enumerate() {
            let done = (f64::from(epoch) + number as f64 / count) / f64::from(self.args.epochs);
            loss += self.step(batch, rate(done) * self.args.lr);
        }
        self.course.epochs += 1;
        let (positions, seconds) = (order.len() as f64, begun.elapsed().as_secs_f64());
        eprint!(
            "epoch {}: loss {:.6}, {:.0} positions/s",
            self.course.epochs,
            loss / positions,
            positions / seconds
        );
    }

    /// Learns from a batch. Returns the sum of its losses before.
    fn step(&mut self, batch: &[u32], rate: f32) -> f64 {
        let (model, data) = (&self.course.model, self.training);
        each_part(&mut self.parts, batch, self.threads, |part, indices| {
            part.loss = model.learn(data, indices, &mut part.scratch);
        });
        let step = Step { share: 1.0 / batch.len() as f32, rate, decay: self.args.decay };
        let slopes = self.parts.iter_mut().map(|part| part.scratch.slopes.as_mut_slice());
        let Course { model, adam, .. } = &mut self.course;
        adam.step(model, slopes, step, self.threads);
        self.parts.iter().map(|part| part.loss).sum()
    }

    /// What a model is worth on the held-out positions.
    fn judge(&mut self, model: &Model) -> Judgement {
        let batch = self.args.batch as usize;
        judge::judge(&mut self.parts, model, self.held_out, batch, self.threads)
    }

    /// Writes the network if it is the best so far.
    fn keep_if_best(&mut self, path: &Path) -> Result<(), TrainError> {
        let model = self.course.model.clone();
        let Judgement { loss, centipawns } = self.judge(&model);
        let is_best = loss < self.course.best.0;
        eprintln!(", held out {loss:.6}{}", if is_best { " (best)" } else { "" });
        if is_best {
            replace(path, &model.quantised(centipawns).to_bytes())?;
            self.course.best = (loss, model);
        }
        Ok(())
    }

    /// Writes the checkpoint.
    fn save(&self) -> Result<(), TrainError> {
        self.course.save(&checkpoint::beside(&self.args.out), self.fingerprint)
    }

    fn conclude(&mut self, path: &Path) -> Result<(), TrainError> {
        let best = self.course.best.1.clone();
        let parameters = best.quantised(self.judge(&best).centipawns);
        let Judgement { loss, .. } = self.judge(&Model::of(&parameters));
        replace(path, &parameters.to_bytes())?;
        eprintln!(
            "{}: held-out loss {loss:.6} in integers, {} centipawns per unit",
            path.display(),
            parameters.scale
        );
        Ok(())
    }
}

/// The share of the largest step when so much is done: a short rise, then half a cosine.
fn rate(done: f64) -> f32 {
    const RISE: f64 = 0.05;
    let fall = (1.0 + (std::f64::consts::PI * done).cos()) / 2.0;
    ((done / RISE).min(1.0) * fall).max(1e-3) as f32
}

fn read_all(paths: &[PathBuf]) -> Result<Vec<Parameters>, TrainError> {
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<Parameters, TrainError> {
    let bytes = std::fs::read(path).map_err(TrainError::file(path))?;
    Parameters::read(&bytes)
        .map_err(|reason| TrainError::Network { path: path.to_path_buf(), reason })
}

/// Writes a file in one piece: whoever reads it meanwhile finds the old bytes or the new.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), TrainError> {
    let part = path.with_added_extension("part");
    std::fs::write(&part, bytes).map_err(TrainError::writing(&part))?;
    std::fs::rename(&part, path).map_err(TrainError::writing(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::score::Score;

    /// Positions of random games, with random points.
    fn data(seed: u64) -> Data {
        let mut random = Random::new(seed);
        let mut data = Data::default();
        for _ in 0..20 {
            let mut position = Position::startpos();
            for _ in 0..20 {
                let Some(&m) = random.pick(&position.legal_moves()) else { break };
                position = position.play(m).0;
                let points = random.below(1_000) as f32 / 1_000.0;
                data.add(&position, points, points, Score::cp(random.below(400) as i32 - 200));
            }
        }
        data
    }

    fn args(name: &str) -> TrainArgs {
        let out = format!("tacet-trainer-{}-{name}.net", std::process::id());
        TrainArgs {
            data: Vec::new(),
            out: std::env::temp_dir().join(out),
            classical: false,
            from: None,
            epochs: 5,
            lr: 0.01,
            decay: 0.01,
            batch: 64,
            targets: Targets { wdl: 0.3, lambda: 0.0, scale: 300.0 },
            seed: 1,
            resume: true,
            threads: NonZero::new(2),
        }
    }

    fn tidy(args: &TrainArgs) {
        let _ = std::fs::remove_file(&args.out);
        let _ = std::fs::remove_file(checkpoint::beside(&args.out));
    }

    #[test]
    fn a_training_that_was_interrupted_ends_as_one_that_was_not() {
        let (training, held_out) = (data(1), data(2));
        let trained = |args: &TrainArgs, stops: &[u32]| {
            tidy(args);
            for &stop in stops {
                let mut training = Training::new(args, &training, &held_out).unwrap();
                while training.course.epochs < stop {
                    training.epoch();
                    training.keep_if_best(&args.out).unwrap();
                    training.save().unwrap();
                }
                if stop == args.epochs {
                    training.conclude(&args.out).unwrap();
                } else {
                    // Killed before the next checkpoint, the network written already.
                    training.epoch();
                    training.keep_if_best(&args.out).unwrap();
                }
            }
            std::fs::read(&args.out).unwrap()
        };
        let (whole, cut) = (args("whole"), args("cut"));
        assert!(trained(&whole, &[5]) == trained(&cut, &[1, 3, 5]));
        let concluded = Training::new(&cut, &training, &held_out).unwrap();
        assert_eq!(concluded.course.epochs, 5, "nothing is left to do");

        for other in [
            TrainArgs { lr: 0.02, ..cut.clone() },
            TrainArgs { epochs: 6, ..cut.clone() },
            TrainArgs { seed: 2, ..cut.clone() },
        ] {
            let refusal = Training::new(&other, &training, &held_out).err().unwrap().to_string();
            assert!(refusal.contains("other options or data"), "{refusal}");
        }
        assert!(Training::new(&cut, &data(3), &held_out).is_err());
        let afresh = TrainArgs { resume: false, lr: 0.02, ..cut.clone() };
        assert_eq!(Training::new(&afresh, &training, &held_out).unwrap().course.epochs, 0);
        [whole, cut].iter().for_each(tidy);
    }
}
