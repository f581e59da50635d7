//! AdamW: every number has its own rate, by how large and how steady its slopes were.
//!
//! A piece's weights in the king buckets are what all have in common and a difference each, which
//! are learned side by side ("factoriser", Stockfish's trainer, 2020), so that a bucket in which
//! kings are rarely seen learns from the others. Only their sum is kept: a step of what is in common
//! is a step of all.

use super::model::{BIASES, BLOCK, LENGTH, Model, TILE, clip};
use crate::eval::network::shape::{HIDDEN, KING_BUCKETS, PIECE_SQUARES};

const MEAN_DECAY: f32 = 0.9;
const SQUARE_DECAY: f32 = 0.999;

/// The weights of a tile that the king buckets have in common.
const COMMON: usize = PIECE_SQUARES * TILE;

/// So many numbers are learned.
pub const MEMORY: usize = LENGTH + PIECE_SQUARES * HIDDEN;

/// What is remembered of the slopes.
pub struct Adam {
    /// The running mean of each slope, in the model's order, and after each tile those of what its
    /// king buckets have in common: [`MEMORY`] of them.
    pub means: Vec<f32>,
    /// The running mean of its square.
    pub squares: Vec<f32>,
    /// How many steps were made.
    pub steps: i32,
}

/// How far to go.
#[derive(Clone, Copy)]
pub struct Step {
    /// The weight of each slope: one part of so many positions.
    pub share: f32,
    /// How much a number changes, about.
    pub rate: f32,
    /// By how much of itself, times the rate, a weight shrinks.
    pub decay: f32,
}

/// What belongs to one tile, or to the biases of the outputs.
struct Block<'a> {
    numbers: &'a mut [f32],
    means: &'a mut [f32],
    squares: &'a mut [f32],
    /// The slopes that each part of the batch found.
    parts: Vec<&'a mut [f32]>,
}

impl Adam {
    /// Nothing yet.
    pub fn new() -> Adam {
        Adam { means: vec![0.0; MEMORY], squares: vec![0.0; MEMORY], steps: 0 }
    }

    /// Changes the model against the sum of the parts' slopes, and sets them to 0.
    pub fn step<'a>(
        &'a mut self,
        model: &'a mut Model,
        parts: impl Iterator<Item = &'a mut [f32]>,
        step: Step,
        threads: usize,
    ) {
        self.steps += 1;
        let mut parts: Vec<_> = parts.map(|part| part.chunks_mut(BLOCK)).collect();
        let mut means = self.means.chunks_mut(BLOCK + COMMON);
        let mut squares = self.squares.chunks_mut(BLOCK + COMMON);
        let numbers = model.numbers_mut().chunks_mut(BLOCK);
        let mut blocks: Vec<_> = numbers
            .map(|numbers| Block {
                numbers,
                means: means.next().unwrap_or_default(),
                squares: squares.next().unwrap_or_default(),
                parts: parts.iter_mut().filter_map(Iterator::next).collect(),
            })
            .collect();
        let steps = self.steps;
        let each = blocks.len().div_ceil(threads);
        std::thread::scope(|scope| {
            for blocks in blocks.chunks_mut(each) {
                scope.spawn(move || blocks.iter_mut().for_each(|block| block.step(step, steps)));
            }
        });
    }
}

impl Block<'_> {
    fn step(&mut self, step: Step, steps: i32) {
        let mut slopes = self.slopes();
        let mean_share = 1.0 - MEAN_DECAY.powi(steps);
        let square_share = 1.0 - SQUARE_DECAY.powi(steps);
        let memory = self.means.iter_mut().zip(self.squares.iter_mut());
        for (slope, (mean, square)) in slopes.iter_mut().zip(memory) {
            *slope *= step.share;
            *mean += (1.0 - MEAN_DECAY) * (*slope - *mean);
            *square += (1.0 - SQUARE_DECAY) * (*slope * *slope - *square);
            *slope = step.rate * (*mean / mean_share) / ((*square / square_share).sqrt() + 1e-8);
        }
        let (own, common) = slopes.split_at(self.numbers.len());
        subtract(self.numbers, own);
        if !common.is_empty() {
            self.numbers.chunks_mut(COMMON).take(KING_BUCKETS).for_each(|b| subtract(b, common));
            // Biases are not pulled towards 0.
            for (row, weights) in self.numbers.chunks_mut(TILE).enumerate() {
                if row != BIASES {
                    weights.iter_mut().for_each(|w| *w -= step.rate * step.decay * *w);
                }
            }
        }
        clip(self.numbers);
    }

    /// The sums of the slopes of all parts, which are 0 then; and of all king buckets.
    fn slopes(&mut self) -> Vec<f32> {
        let mut slopes = Vec::with_capacity(self.means.len());
        slopes.resize(self.numbers.len(), 0.0);
        for part in &mut self.parts {
            for (total, slope) in slopes.iter_mut().zip(part.iter_mut()) {
                *total += std::mem::take(slope);
            }
        }
        let mut common = vec![0.0; self.means.len() - slopes.len()];
        if !common.is_empty() {
            for bucket in slopes.chunks(COMMON).take(KING_BUCKETS) {
                common.iter_mut().zip(bucket).for_each(|(common, slope)| *common += slope);
            }
        }
        slopes.extend(common);
        slopes
    }
}

fn subtract(numbers: &mut [f32], steps: &[f32]) {
    numbers.iter_mut().zip(steps).for_each(|(number, step)| *number -= step);
}
