//! The network in floating point: what it says, and in which direction it must change.
//!
//! Rows of weights are many and wide, and a position needs few of them: more time would go into
//! fetching than into sums. So the neurons are cut into [`TILE`]s whose rows fit into the
//! processor's second cache, one tile's numbers lie together, and a part of a batch is worked out
//! tile by tile, with the sums of a tile in registers.
//!
//! The loops over neurons are written so that the compiler vectorises them, and are compiled for
//! several instruction sets like those of [`kernels`](crate::eval::network::kernels). Sums are
//! formed in a fixed order, so that all of them give the same numbers.

use std::ops::Range;

use super::data::{Data, Sample};
use crate::eval::network::Parameters;
use crate::eval::network::shape::{
    HIDDEN, MAX_OUTPUT_WEIGHT, MAX_WEIGHT, OUTPUT_UNIT, OUTPUTS as BUCKETS, Shape, UNIT,
};
use crate::kit::random::Random;

const INPUTS: usize = Shape::BUILT.inputs();
pub const LENGTH: usize = Shape::BUILT.parameters();

/// Neurons of a tile.
pub const TILE: usize = if HIDDEN.is_multiple_of(64) { 64 } else { 32 };

/// Rows of a tile: the weights of each input, the biases, the weights of each output, own first.
const ROWS: usize = INPUTS + 1 + 2 * BUCKETS;

/// Numbers of a tile. After the last one come the biases of the outputs.
pub const BLOCK: usize = ROWS * TILE;

/// Where the biases of the outputs begin.
const TAIL: usize = HIDDEN / TILE * BLOCK;

/// The row of the neurons' biases.
pub const BIASES: usize = INPUTS;

type Tile = [f32; TILE];

/// What an output of 1 adds to the logarithm of the odds. The less, the larger are the output's
/// weights, and the less is lost when they are rounded: of 1 they were seven 64ths on average.
const STEEPNESS: f32 = 0.5;

/// Sums that are formed side by side, or the compiler must keep the order of a single one.
const LANES: usize = 16;

/// All numbers of a network as multiples of 1, tile by tile.
#[derive(Clone)]
pub struct Model {
    numbers: Vec<f32>,
}

/// In what a part of a batch is worked out.
pub struct Scratch {
    /// The slope of the loss by each number of a model, in its order.
    pub slopes: Vec<f32>,
    /// The positions: in the data they are far apart.
    samples: Vec<Sample>,
    /// The inputs that are on, as both sides see them, position by position.
    inputs: Vec<[u16; 2]>,
    /// The neurons' sums of both sides, tile by tile.
    sums: Vec<[Tile; 2]>,
    /// The output of each position but its bias.
    outputs: Vec<[f32; LANES]>,
}

impl Scratch {
    /// All slopes 0.
    pub fn new() -> Scratch {
        Scratch {
            slopes: vec![0.0; LENGTH],
            samples: Vec::new(),
            inputs: Vec::new(),
            sums: Vec::new(),
            outputs: Vec::new(),
        }
    }
}

/// Rows, and what their numbers are in the file.
struct Region {
    rows: Range<usize>,
    /// What 1 is as an integer.
    unit: f32,
    /// The largest number there may be.
    most: f32,
}

const fn region(rows: Range<usize>, unit: i32, most: i16) -> Region {
    let unit = unit as f32;
    // The margin keeps rounding from leaving the range.
    Region { rows, unit, most: (most as f32 - 0.5) / unit }
}

const REGIONS: [Region; 3] = [
    region(0..INPUTS, UNIT, MAX_WEIGHT),
    // No need for more than the sum of all weights that can be on.
    region(BIASES..BIASES + 1, UNIT, 8 * MAX_WEIGHT),
    region(INPUTS + 1..ROWS, OUTPUT_UNIT, MAX_OUTPUT_WEIGHT),
];

/// The biases of the outputs.
const OUTPUT_BIASES: Region = region(0..0, UNIT * OUTPUT_UNIT, i16::MAX);

impl Model {
    /// A model that knows nothing.
    pub fn random(random: &mut Random) -> Model {
        let mut number = |most: f32| {
            let share = (random.bits() >> 40) as f32 / (1_u32 << 24) as f32;
            (2.0 * share - 1.0) * most
        };
        let output_most = 1.0 / (2.0 * HIDDEN as f32).sqrt() / STEEPNESS;
        let numbers = (0..LENGTH)
            .map(|index| match index % BLOCK / TILE {
                _ if index >= TAIL => 0.0,
                ..INPUTS => number(0.1),
                INPUTS => 0.2 + number(0.1),
                _ => number(output_most),
            })
            .collect();
        Model { numbers }
    }

    /// The model that a network's integers stand for.
    pub fn of(parameters: &Parameters) -> Model {
        let mut model = Model { numbers: vec![0.0; LENGTH] };
        let (tiled, biases) = model.numbers.split_at_mut(TAIL);
        for (region, row) in rows() {
            for (tile, numbers) in tiled.chunks_exact_mut(BLOCK).enumerate() {
                let integers = &parameters.numbers[row * HIDDEN + tile * TILE..][..TILE];
                for (number, &integer) in numbers[row * TILE..][..TILE].iter_mut().zip(integers) {
                    *number = f32::from(integer) / region.unit;
                }
            }
        }
        for (bias, &integer) in biases.iter_mut().zip(&parameters.numbers[ROWS * HIDDEN..]) {
            *bias = f32::from(integer) / OUTPUT_BIASES.unit;
        }
        model
    }

    /// The same with outputs such that one of 1 is worth what `centipawns` of `scale` centipawns per
    /// unit of the logistic curve are worth: as if it had been trained on that curve.
    pub fn on_the_curve(mut self, centipawns: u16, scale: f64) -> Model {
        let factor = f32::from(centipawns) / (scale as f32 * STEEPNESS);
        let (tiled, biases) = self.numbers.split_at_mut(TAIL);
        for tile in tiled.chunks_exact_mut(BLOCK) {
            tile[(INPUTS + 1) * TILE..].iter_mut().for_each(|weight| *weight *= factor);
            clip(tile);
        }
        biases.iter_mut().for_each(|bias| *bias *= factor);
        clip(biases);
        self
    }

    /// The nearest integers, for a network with so many centipawns per unit of output.
    pub fn quantised(&self, centipawns: f64) -> Parameters {
        let (tiled, biases) = self.numbers.split_at(TAIL);
        let mut numbers = Vec::with_capacity(LENGTH);
        let nearest = |number: &f32, region: &Region| (number * region.unit).round() as i16;
        for (region, row) in rows() {
            for tile in tiled.chunks_exact(BLOCK) {
                let row = &tile[row * TILE..][..TILE];
                numbers.extend(row.iter().map(|number| nearest(number, region)));
            }
        }
        numbers.extend(biases.iter().map(|bias| nearest(bias, &OUTPUT_BIASES)));
        Parameters {
            shape: Shape::BUILT,
            number: 0,
            scale: centipawns.round().clamp(1.0, f64::from(u16::MAX)) as u16,
            numbers,
        }
    }

    /// A model of these numbers, of which there must be [`LENGTH`].
    pub fn of_numbers(numbers: Vec<f32>) -> Model {
        debug_assert_eq!(numbers.len(), LENGTH);
        Model { numbers }
    }

    /// All numbers.
    pub fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    /// All numbers, to be changed.
    pub fn numbers_mut(&mut self) -> &mut [f32] {
        &mut self.numbers
    }

    /// The outputs for positions, given to `take` one after the other, each with the logarithm of the
    /// odds that it stands for. Returns the sum of the losses.
    pub fn outputs(
        &self,
        data: &Data,
        indices: &[u32],
        scratch: &mut Scratch,
        mut take: impl FnMut(&Sample, f32, f32),
    ) -> f64 {
        let loss = self.run(data, indices, scratch, false);
        for (sample, lanes) in scratch.samples.iter().zip(&scratch.outputs) {
            let output = self.output(sample, lanes);
            take(sample, output, STEEPNESS * output);
        }
        loss
    }

    /// Adds the slopes of the losses of positions, and returns the sum of the losses.
    pub fn learn(&self, data: &Data, indices: &[u32], scratch: &mut Scratch) -> f64 {
        self.run(data, indices, scratch, true)
    }

    fn run(&self, data: &Data, indices: &[u32], scratch: &mut Scratch, learn: bool) -> f64 {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                // SAFETY: the processor has the instructions.
                return unsafe { self.run_avx512(data, indices, scratch, learn) };
            }
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has the instructions.
                return unsafe { self.run_avx2(data, indices, scratch, learn) };
            }
        }
        self.run_plain(data, indices, scratch, learn)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn run_avx512(&self, data: &Data, indices: &[u32], scratch: &mut Scratch, learn: bool) -> f64 {
        self.run_plain(data, indices, scratch, learn)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(&self, data: &Data, indices: &[u32], scratch: &mut Scratch, learn: bool) -> f64 {
        self.run_plain(data, indices, scratch, learn)
    }

    #[inline(always)]
    fn run_plain(&self, data: &Data, indices: &[u32], scratch: &mut Scratch, learn: bool) -> f64 {
        scratch.samples.clear();
        scratch.samples.extend(indices.iter().map(|&index| data.samples[index as usize]));
        scratch.inputs.clear();
        for sample in &scratch.samples {
            let seen = data.pieces(sample).iter();
            scratch.inputs.extend(seen.map(|&p| sample.views.map(|view| view.input(p) as u16)));
        }
        self.forward(scratch);
        let mut sum = 0.0;
        let mut slopes = Vec::with_capacity(indices.len());
        for (sample, lanes) in scratch.samples.iter().zip(&scratch.outputs) {
            let odds = STEEPNESS * self.output(sample, lanes);
            sum += loss(odds, sample.target);
            slopes.push(STEEPNESS * (points(odds) - sample.target));
        }
        if learn {
            self.backward(scratch, &slopes);
        }
        sum
    }

    fn output(&self, sample: &Sample, lanes: &[f32; LANES]) -> f32 {
        self.numbers[TAIL + usize::from(sample.bucket)] + lanes.iter().sum::<f32>()
    }

    /// The neurons' sums, and the outputs.
    #[inline(always)]
    fn forward(&self, scratch: &mut Scratch) {
        let Scratch { samples, inputs, sums, outputs, .. } = scratch;
        sums.clear();
        outputs.clear();
        outputs.resize(samples.len(), [0.0; LANES]);
        for tile in self.numbers[..TAIL].chunks_exact(BLOCK) {
            let (rows, _) = tile.as_chunks::<TILE>();
            let mut inputs = inputs.as_slice();
            for (sample, output) in samples.iter().zip(outputs.iter_mut()) {
                let on = take(&mut inputs, sample);
                let mut seen = [rows[INPUTS]; 2];
                for &[own, other] in on {
                    add(&mut seen[0], &rows[usize::from(own)]);
                    add(&mut seen[1], &rows[usize::from(other)]);
                }
                let first = output_row(sample);
                for (sums, weights) in seen.iter().zip(&rows[first..first + 2]) {
                    add_product(output, sums, weights);
                }
                sums.push(seen);
            }
        }
    }

    /// From the slopes of the loss by the outputs to those by all numbers.
    #[inline(always)]
    fn backward(&self, scratch: &mut Scratch, by_output: &[f32]) {
        let (tiled, biases) = scratch.slopes.split_at_mut(TAIL);
        let mut sums = scratch.sums.iter();
        let blocks = self.numbers[..TAIL].chunks_exact(BLOCK);
        for (tile, slopes) in blocks.zip(tiled.chunks_exact_mut(BLOCK)) {
            let (rows, _) = tile.as_chunks::<TILE>();
            let (slopes, _) = slopes.as_chunks_mut::<TILE>();
            let mut inputs = scratch.inputs.as_slice();
            for ((sample, &slope), sums) in scratch.samples.iter().zip(by_output).zip(&mut sums) {
                let on = take(&mut inputs, sample);
                let first = output_row(sample);
                let mut by_sum = [[0.0; TILE]; 2];
                for side in 0..2 {
                    let weights = &rows[first + side];
                    let by_weight = &mut slopes[first + side];
                    for i in 0..TILE {
                        let value = sums[side][i].clamp(0.0, 1.0);
                        by_weight[i] += slope * value * value;
                        let is_open = value == sums[side][i];
                        let steep = slope * weights[i] * 2.0 * value;
                        by_sum[side][i] = if is_open { steep } else { 0.0 };
                    }
                    add(&mut slopes[INPUTS], &by_sum[side]);
                }
                for &[own, other] in on {
                    add(&mut slopes[usize::from(own)], &by_sum[0]);
                    add(&mut slopes[usize::from(other)], &by_sum[1]);
                }
            }
        }
        for (sample, slope) in scratch.samples.iter().zip(by_output) {
            biases[usize::from(sample.bucket)] += slope;
        }
    }
}

/// Every row of a tile, with its region.
fn rows() -> impl Iterator<Item = (&'static Region, usize)> {
    REGIONS.iter().flat_map(|region| region.rows.clone().map(move |row| (region, row)))
}

/// Puts the numbers of one tile, or the biases of the outputs, back into the range that integers
/// can hold.
pub fn clip(numbers: &mut [f32]) {
    let clip = |numbers: &mut [f32], most: f32| {
        numbers.iter_mut().for_each(|number| *number = number.clamp(-most, most));
    };
    if numbers.len() < BLOCK {
        return clip(numbers, OUTPUT_BIASES.most);
    }
    for Region { rows, most, .. } in &REGIONS {
        clip(&mut numbers[rows.start * TILE..rows.end * TILE], *most);
    }
}

/// Takes the inputs of a position off those of a batch.
#[inline(always)]
fn take<'a>(inputs: &mut &'a [[u16; 2]], sample: &Sample) -> &'a [[u16; 2]] {
    let (taken, rest) = inputs.split_at(usize::from(sample.count));
    *inputs = rest;
    taken
}

/// The row of the output's weights for the own neurons.
fn output_row(sample: &Sample) -> usize {
    INPUTS + 1 + 2 * usize::from(sample.bucket)
}

#[inline(always)]
fn add(to: &mut Tile, row: &Tile) {
    for (to, row) in to.iter_mut().zip(row) {
        *to += row;
    }
}

/// Adds the activations times the weights.
#[inline(always)]
fn add_product(lanes: &mut [f32; LANES], sums: &Tile, weights: &Tile) {
    for (sums, weights) in sums.chunks_exact(LANES).zip(weights.chunks_exact(LANES)) {
        for i in 0..LANES {
            let value = sums[i].clamp(0.0, 1.0);
            lanes[i] += value * value * weights[i];
        }
    }
}

/// The points that a logarithm of odds lets expect.
fn points(odds: f32) -> f32 {
    1.0 / (1.0 + (-odds).exp())
}

/// The cross entropy, in a form that stands large odds.
fn loss(odds: f32, target: f32) -> f64 {
    let odds = f64::from(odds);
    odds.max(0.0) - odds * f64::from(target) + (-odds.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::eval::network::Network;
    use crate::eval::{Evaluator, State};
    use crate::score::Score;
    use std::sync::Arc;

    const POSITIONS: [&str; 3] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
        "2kr3r/ppp2ppp/8/4n3/8/2N5/PPP2PPP/R3R1K1 b - - 0 1",
    ];

    fn data() -> Data {
        let mut data = Data::default();
        for (fen, target) in POSITIONS.into_iter().zip([0.5, 0.9, 0.2]) {
            data.add(&Position::from_fen(fen).unwrap(), target, target, Score::ZERO);
        }
        data
    }

    #[test]
    fn slopes_are_those_of_the_loss() {
        let (data, mut model) = (data(), Model::random(&mut Random::numbered(5, 0)));
        let indices = [0, 1, 2];
        let mut scratch = Scratch::new();
        let loss = model.learn(&data, &indices, &mut scratch);
        let slopes = scratch.slopes.clone();
        assert_eq!(loss, model.run(&data, &indices, &mut scratch, false));
        let mut random = Random::numbered(6, 0);
        let mut steep = 0;
        for _ in 0..16_000 {
            const STEP: f32 = 1.0 / 256.0;
            let index = random.below(LENGTH);
            let kept = model.numbers[index];
            let mut at = |number| {
                model.numbers[index] = number;
                model.run(&data, &indices, &mut scratch, false)
            };
            let slope = (at(kept + STEP) - at(kept - STEP)) / f64::from(2.0 * STEP);
            at(kept);
            let found = f64::from(slopes[index]);
            assert!((slope - found).abs() < 0.01 * (slope.abs() + 0.1), "{slope} {found}");
            steep += usize::from(slope.abs() > 0.002);
        }
        assert!(steep > 200, "{steep}");
    }

    #[test]
    fn all_versions_learn_the_same() {
        let (data, model) = (data(), Model::random(&mut Random::numbered(7, 0)));
        let (mut best, mut plain) = (Scratch::new(), Scratch::new());
        let losses = [
            model.run(&data, &[0, 1, 2], &mut best, true),
            model.run_plain(&data, &[0, 1, 2], &mut plain, true),
        ];
        assert!(losses[0] == losses[1] && best.slopes == plain.slopes);
    }

    #[test]
    fn a_model_says_what_its_integers_say() {
        let data = data();
        let parameters = Model::random(&mut Random::numbered(8, 0)).quantised(400.0);
        let model = Model::of(&parameters);
        let network = Evaluator::Network(Arc::new(Network::new(&parameters).unwrap()));
        let mut fens = POSITIONS.iter();
        model.outputs(&data, &[0, 1, 2], &mut Scratch::new(), |_, output, _| {
            let position = Position::from_fen(fens.next().unwrap()).unwrap();
            let value = State::with(&network, &position).evaluate(&position).value();
            let output = f64::from(output) * 400.0;
            assert!((f64::from(value) - output).abs() < 2.0, "{value} {output}");
        });
        assert_eq!(fens.next(), None);
        assert_eq!(model.quantised(400.0), parameters);
    }

    #[test]
    fn what_a_network_says_in_centipawns_does_not_depend_on_its_scale() {
        let (data, mut scratch) = (data(), Scratch::new());
        let parameters = Model::random(&mut Random::numbered(8, 0)).quantised(400.0);
        let mut said = Vec::new();
        Model::of(&parameters).outputs(&data, &[0, 1, 2], &mut scratch, |_, output, _| {
            said.push(400.0 * output);
        });
        let model = Model::of(&parameters).on_the_curve(400, 250.0);
        model.outputs(&data, &[0, 1, 2], &mut scratch, |_, _, odds| {
            let before = said.remove(0);
            assert!((250.0 * odds - before).abs() < 0.01, "{before} {odds}");
        });
        assert!(said.is_empty());
    }

    #[test]
    fn numbers_stay_where_integers_can_follow() {
        let mut model = Model::random(&mut Random::numbered(9, 0));
        for sign in [-1.0, 1.0] {
            model.numbers.fill(1e9 * sign);
            model.numbers.chunks_mut(BLOCK).for_each(clip);
            assert!(Network::new(&model.quantised(1.0)).is_ok());
        }
    }
}
