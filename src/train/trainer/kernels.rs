//! The inner loops of training: one tile of neurons and one slice of a batch.
//!
//! As in the engine's [`kernels`](crate::eval::network::kernels), each loop is written once and compiled
//! for several instruction sets. Sums have a fixed order, so all versions give the same result.

use super::model::{Layout, TILE, TileRow};
use crate::train::adam::{Adam, Rate};

/// A slice of a batch as the kernels read it.
#[derive(Default)]
pub(super) struct Slice {
    /// The active inputs of both views, position by position.
    pub inputs: Vec<[u16; 2]>,
    /// Number of pieces and the output of each position.
    pub positions: Vec<(u8, u8)>,
    /// Gradient of the loss by each position's output.
    pub gradients: Vec<f32>,
}

/// The results of one tile for a slice.
#[derive(Default)]
pub(super) struct Activations {
    /// Accumulators of both sides by position.
    pub accumulators: Vec<[TileRow; 2]>,
    /// The tile's part of each position's output.
    pub outputs: Vec<f32>,
}

/// The parameters of an update of weights.
#[derive(Clone, Copy)]
pub(super) struct Update {
    /// Adam's step sizes.
    pub rate: Rate,
    /// The factor of weight decay: 1 - lr × decay.
    pub kept: f32,
}

/// Number of partial sums. A single sum could not be vectorised, since its order is fixed.
const LANES: usize = 16;

macro_rules! compiled_for_every_instruction_set {
    ($(#[$doc:meta])* $name:ident, $body:ident, ($($argument:ident: $type:ty),*)) => {
        $(#[$doc])*
        pub(super) fn $name($($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512vl")]
                fn avx512($($argument: $type),*) {
                    $body($($argument),*);
                }
                #[target_feature(enable = "avx2")]
                fn avx2($($argument: $type),*) {
                    $body($($argument),*);
                }
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                    // SAFETY: the processor has the instructions.
                    return unsafe { avx512($($argument),*) };
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has the instructions.
                    return unsafe { avx2($($argument),*) };
                }
            }
            $body($($argument),*);
        }
    };
}

compiled_for_every_instruction_set! {
    /// Computes a tile's accumulators and its part of the outputs.
    forward, plain_forward,
    (layout: Layout, tile: &[f32], slice: &Slice, activations: &mut Activations)
}

compiled_for_every_instruction_set! {
    /// Adds the gradients of the slice's losses by the tile's parameters.
    backward, plain_backward,
    (layout: Layout, tile: &[f32], slice: &Slice, activations: &Activations, gradients: &mut [f32])
}

compiled_for_every_instruction_set! {
    /// Updates a tile by AdamW and clips it. In `gradients` those of the factoriser follow those of the tile.
    update, plain_update,
    (layout: Layout, tile: &mut [f32], gradients: &mut [f32], adam: &mut Adam, update: Update)
}

#[inline(always)]
fn plain_forward(layout: Layout, tile: &[f32], slice: &Slice, activations: &mut Activations) {
    let (rows, _) = tile.as_chunks::<TILE>();
    let Activations { accumulators, outputs } = activations;
    accumulators.clear();
    outputs.clear();
    let mut inputs = slice.inputs.as_slice();
    for &(count, output) in &slice.positions {
        let (active, rest) = inputs.split_at(usize::from(count));
        inputs = rest;
        let mut sums = [rows[layout.bias()]; 2];
        for &[own, other] in active {
            add(&mut sums[0], &rows[usize::from(own)]);
            add(&mut sums[1], &rows[usize::from(other)]);
        }
        let first = layout.output(usize::from(output));
        let mut lanes = [0.0; LANES];
        for (sums, weights) in sums.iter().zip(&rows[first..first + 2]) {
            add_product(&mut lanes, sums, weights);
        }
        outputs.push(lanes.iter().sum());
        accumulators.push(sums);
    }
}

#[inline(always)]
fn plain_backward(
    layout: Layout,
    tile: &[f32],
    slice: &Slice,
    activations: &Activations,
    gradients: &mut [f32],
) {
    let (rows, _) = tile.as_chunks::<TILE>();
    let (gradients, _) = gradients.as_chunks_mut::<TILE>();
    let mut inputs = slice.inputs.as_slice();
    let positions = slice.positions.iter().zip(&slice.gradients);
    for ((&(count, output), &gradient), sums) in positions.zip(&activations.accumulators) {
        let (active, rest) = inputs.split_at(usize::from(count));
        inputs = rest;
        let first = layout.output(usize::from(output));
        let mut by_sum = [[0.0; TILE]; 2];
        for side in 0..2 {
            let weights = &rows[first + side];
            let by_weight = &mut gradients[first + side];
            for i in 0..TILE {
                // SCReLU: the derivative of clamp(x, 0, 1)² is 2x inside the range and 0 outside.
                let value = sums[side][i].clamp(0.0, 1.0);
                by_weight[i] += gradient * value * value;
                let is_open = value == sums[side][i];
                let inside = gradient * weights[i] * 2.0 * value;
                by_sum[side][i] = if is_open { inside } else { 0.0 };
            }
            add(&mut gradients[layout.bias()], &by_sum[side]);
        }
        for &[own, other] in active {
            add(&mut gradients[usize::from(own)], &by_sum[0]);
            add(&mut gradients[usize::from(other)], &by_sum[1]);
        }
    }
}

#[inline(always)]
fn plain_update(
    layout: Layout,
    tile: &mut [f32],
    gradients: &mut [f32],
    adam: &mut Adam,
    update: Update,
) {
    let (own, common) = gradients.split_at_mut(tile.len());
    if !common.is_empty() {
        common.fill(0.0);
        let buckets = own[..layout.inputs * TILE].chunks_exact(common.len());
        for bucket in buckets {
            common.iter_mut().zip(bucket).for_each(|(common, gradient)| *common += gradient);
        }
    }
    adam.update(gradients, update.rate);
    let (own, common) = gradients.split_at(tile.len());
    // Biases are not decayed.
    for (row, weights) in tile.chunks_exact_mut(TILE).enumerate() {
        if row != layout.bias() {
            weights.iter_mut().for_each(|weight| *weight *= update.kept);
        }
    }
    subtract(tile, own);
    if !common.is_empty() {
        let buckets = tile[..layout.inputs * TILE].chunks_exact_mut(common.len());
        buckets.for_each(|bucket| subtract(bucket, common));
    }
    layout.clip(tile);
}

#[inline(always)]
fn add(to: &mut TileRow, row: &TileRow) {
    for (to, row) in to.iter_mut().zip(row) {
        *to += row;
    }
}

#[inline(always)]
fn subtract(numbers: &mut [f32], amounts: &[f32]) {
    numbers.iter_mut().zip(amounts).for_each(|(number, amount)| *number -= amount);
}

/// Adds the activations times the weights.
#[inline(always)]
fn add_product(lanes: &mut [f32; LANES], sums: &TileRow, weights: &TileRow) {
    for (sums, weights) in sums.chunks_exact(LANES).zip(weights.chunks_exact(LANES)) {
        for i in 0..LANES {
            let value = sums[i].clamp(0.0, 1.0);
            lanes[i] += value * value * weights[i];
        }
    }
}
