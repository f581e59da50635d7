//! The neural evaluation: a small network of integers that a move changes little.
//!
//! Every piece on its square is an input, seen by both sides, with weights that depend on where the
//! own king is ([`shape`]). The same layer of neurons is applied to either side's view; a neuron's
//! sum is clipped to 0..1 and squared (SCReLU), and the output is a weighted sum of the side to
//! move's neurons and the other's, with weights that depend on how many pieces are left. Trained by
//! `tacet train`.
//!
//! [`accumulator`] keeps the neurons up to date along a search, [`kernels`] are the inner loops,
//! and this file loads and stores networks.
//!
//! # The file
//! All numbers are little-endian. Weights of the first layer are in units of 1/255, those of the
//! output in units of 1/64, its biases in units of 1/(255 × 64).
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `TACETNET` |
//! | 2, 2, 2, 2 | version (2), neurons a side, outputs (8), centipawns per unit of output |
//! | 8 | checksum of all that follows: FNV-1a, 64 bits (Fowler, Noll & Vo) |
//! | 2 × 4 × 768 × neurons | the first layer's weights, by king bucket and input |
//! | 2 × neurons | its biases |
//! | 2 × outputs × 2 × neurons | the output's weights: by output, own neurons first |
//! | 2 × outputs | its biases |
//!
//! Version 1 had one king bucket and 4 outputs. Such a file is read as one of version 2 in which all
//! king buckets are equal, and every two outputs.

pub mod accumulator;
pub mod kernels;
pub mod shape;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::board::PieceSquare;
use crate::kit::fingerprint;
use kernels::{Kernels, Row};
use shape::{
    BUCKETS, HIDDEN, INPUTS, KING_BUCKETS, MOST_BIAS, MOST_OUTPUT_WEIGHT, MOST_WEIGHT, OUTPUT_UNIT,
    PIECE_SQUARES, UNIT, View,
};

/// A network that can be evaluated.
pub struct Network {
    weights: Box<[Row]>,
    bias: Row,
    output: [[Row; 2]; BUCKETS],
    output_bias: [i16; BUCKETS],
    /// Centipawns per unit of output.
    scale: u16,
    kernels: Kernels,
}

/// The numbers of a network, in the units and the order of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// Centipawns per unit of output, 1 and up.
    pub scale: u16,
    /// All numbers from the first layer's weights to the output's biases: [`LENGTH`] of them.
    pub numbers: Vec<i16>,
}

/// Where the first layer's biases begin among the numbers; its weights are before them.
pub const BIAS: usize = INPUTS * HIDDEN;
/// Where the output's weights begin.
pub const OUTPUT: usize = BIAS + HIDDEN;
/// Where the output's biases begin.
pub const OUTPUT_BIAS: usize = OUTPUT + BUCKETS * 2 * HIDDEN;
/// How many numbers a network has.
pub const LENGTH: usize = OUTPUT_BIAS + BUCKETS;
/// How many bytes its file has.
const FILE: usize = HEADER + 2 * LENGTH;

/// The file that is part of the program; see `docs/develop/nnue.md` for how it was made. The build may
/// name another (`make EVALFILE=FILE`). It decides how many neurons there are.
pub const EMBEDDED: &[u8] = include_bytes!(env!("TACET_NETWORK"));
const _: () = assert!(
    matches!(Layout::of(u16::from_le_bytes([EMBEDDED[8], EMBEDDED[9]])),
        Some(layout) if EMBEDDED.len() == layout.bytes()),
    "a network that is cut or too long, or of another version"
);

/// The checksum in the header of [`EMBEDDED`].
pub const EMBEDDED_CHECKSUM: u64 = match EMBEDDED.split_at(CHECKSUM).1.first_chunk() {
    Some(bytes) => u64::from_le_bytes(*bytes),
    None => 0,
};

const MAGIC: [u8; 8] = *b"TACETNET";
const VERSION: u16 = 2;
const HEADER: usize = 24;
/// Where in the header the number of neurons is.
const NEURONS: usize = 10;
/// Where in the header the checksum is.
const CHECKSUM: usize = 16;

/// How much of what a file of some version has.
#[derive(Clone, Copy)]
struct Layout {
    king_buckets: usize,
    outputs: usize,
}

impl Layout {
    /// That of a version, if there is such a version.
    const fn of(version: u16) -> Option<Layout> {
        match version {
            1 => Some(Layout { king_buckets: 1, outputs: 4 }),
            VERSION => Some(Layout { king_buckets: KING_BUCKETS, outputs: BUCKETS }),
            _ => None,
        }
    }

    /// How many bytes a file has.
    const fn bytes(self) -> usize {
        let rows = self.king_buckets * PIECE_SQUARES + 1 + self.outputs * 2;
        HEADER + 2 * (rows * HIDDEN + self.outputs)
    }

    /// The numbers of such a file as those of a network of this shape.
    fn widened(self, numbers: &[i16]) -> Vec<i16> {
        let (weights, rest) = numbers.split_at(self.king_buckets * PIECE_SQUARES * HIDDEN);
        let (bias, rest) = rest.split_at(HIDDEN);
        let (output, output_bias) = rest.split_at(self.outputs * 2 * HIDDEN);
        let mut wide = Vec::with_capacity(LENGTH);
        (0..KING_BUCKETS / self.king_buckets).for_each(|_| wide.extend(weights));
        wide.extend(bias);
        for part in [output, output_bias] {
            for one in part.chunks(part.len() / self.outputs) {
                (0..BUCKETS / self.outputs).for_each(|_| wide.extend(one));
            }
        }
        wide
    }
}

/// Why bytes are no network. Displays as one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NetworkError {
    /// The file cannot be read.
    File(String),
    /// It is not a network of Tacet.
    Magic,
    /// A format of another version.
    Version(u16),
    /// A network of another shape: neurons a side, outputs, and the outputs wanted.
    Shape(u16, u16, usize),
    /// So many bytes, where a file of its version has another number.
    Length(usize, usize),
    /// The bytes are not those that were written.
    Checksum,
    /// A number is larger than the arithmetic allows, or the scale is 0.
    Range,
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkError::File(reason) => f.write_str(reason),
            NetworkError::Magic => f.write_str("not a network of Tacet"),
            NetworkError::Version(found) => {
                write!(f, "a network of version {found}, not 1 to {VERSION}")
            }
            NetworkError::Shape(hidden, outputs, wanted) => write!(
                f,
                "a network of {hidden} neurons and {outputs} outputs, not {HIDDEN} and {wanted}"
            ),
            NetworkError::Length(found, wanted) => {
                write!(f, "a network of {found} bytes or more, not {wanted}")
            }
            NetworkError::Checksum => f.write_str("a damaged network: wrong checksum"),
            NetworkError::Range => f.write_str("a network with a number out of range"),
        }
    }
}

impl std::error::Error for NetworkError {}

impl Network {
    /// Reads a network from a file's bytes.
    ///
    /// # Errors
    /// If they are anything else than a whole network of this shape.
    pub fn read(bytes: &[u8]) -> Result<Network, NetworkError> {
        Network::new(&Parameters::read(bytes)?)
    }

    /// Reads a network from a file.
    ///
    /// # Errors
    /// If it cannot be read, or holds anything else than a network of this shape.
    pub fn load(path: &Path) -> Result<Network, NetworkError> {
        let mut bytes = Vec::new();
        // No more than can be right, whatever the file is.
        let most = (FILE + 1) as u64;
        File::open(path)
            .and_then(|file| file.take(most).read_to_end(&mut bytes))
            .map_err(|reason| NetworkError::File(reason.to_string()))?;
        Network::read(&bytes)
    }

    /// A network of these numbers.
    ///
    /// # Errors
    /// If there are too many or too few, or one is out of range.
    pub fn new(parameters: &Parameters) -> Result<Network, NetworkError> {
        let numbers = parameters.checked()?;
        let row = |first: usize| Row(std::array::from_fn(|i| numbers[first + i]));
        Ok(Network {
            weights: (0..INPUTS).map(|input| row(input * HIDDEN)).collect(),
            bias: row(BIAS),
            output: std::array::from_fn(|bucket| {
                std::array::from_fn(|side| row(OUTPUT + (2 * bucket + side) * HIDDEN))
            }),
            output_bias: std::array::from_fn(|bucket| numbers[OUTPUT_BIAS + bucket]),
            scale: parameters.scale,
            kernels: Kernels::best(),
        })
    }

    /// The weights of a piece's input.
    #[inline]
    fn row(&self, view: View, piece: PieceSquare) -> &Row {
        &self.weights[view.input(piece)]
    }

    /// The value in centipawns for the side whose sums come first.
    #[inline]
    fn output(&self, sums: [&Row; 2], bucket: usize) -> i32 {
        let sum = (self.kernels.output)(sums, &self.output[bucket]) / i64::from(UNIT);
        let value = sum + i64::from(self.output_bias[bucket]);
        (value * i64::from(self.scale) / i64::from(UNIT * OUTPUT_UNIT)) as i32
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Network({HIDDEN} neurons, {BUCKETS} outputs, {})", self.kernels.name)
    }
}

impl Parameters {
    /// Reads a file's bytes.
    ///
    /// # Errors
    /// If they are anything else than a whole file of a network of this shape.
    pub fn read(bytes: &[u8]) -> Result<Parameters, NetworkError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(NetworkError::Magic);
        }
        let Some((header, body)) = bytes.split_at_checked(HEADER) else {
            return Err(NetworkError::Length(bytes.len(), FILE));
        };
        let field = |index: usize| u16::from_le_bytes([header[index], header[index + 1]]);
        let (version, hidden, outputs, scale) = (field(8), field(NEURONS), field(12), field(14));
        let Some(layout) = Layout::of(version) else {
            return Err(NetworkError::Version(version));
        };
        if (usize::from(hidden), usize::from(outputs)) != (HIDDEN, layout.outputs) {
            return Err(NetworkError::Shape(hidden, outputs, layout.outputs));
        }
        if bytes.len() != layout.bytes() {
            return Err(NetworkError::Length(bytes.len(), layout.bytes()));
        }
        if header[CHECKSUM..] != checksum(body) {
            return Err(NetworkError::Checksum);
        }
        let number = |pair: &[u8]| i16::from_le_bytes([pair[0], pair[1]]);
        let numbers: Vec<i16> = body.chunks_exact(2).map(number).collect();
        Ok(Parameters { scale, numbers: layout.widened(&numbers) })
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        file(HIDDEN as u16, self.scale, &self.numbers)
    }

    /// The numbers, if they are as many as there must be and none is out of range.
    fn checked(&self) -> Result<&[i16], NetworkError> {
        let numbers = self.numbers.as_slice();
        if numbers.len() != LENGTH {
            return Err(NetworkError::Length(HEADER + 2 * numbers.len(), FILE));
        }
        let within = |part: &[i16], most: i16| {
            part.iter().all(|number| number.unsigned_abs() <= most.unsigned_abs())
        };
        let is_allowed = within(&numbers[..BIAS], MOST_WEIGHT)
            && within(&numbers[BIAS..OUTPUT], MOST_BIAS)
            && within(&numbers[OUTPUT..OUTPUT_BIAS], MOST_OUTPUT_WEIGHT)
            && self.scale > 0;
        if is_allowed { Ok(numbers) } else { Err(NetworkError::Range) }
    }
}

/// The file of a network that knows nothing, of any number of neurons. A program with this network
/// in it (`make EVALFILE=FILE`) trains and plays with networks of its size.
pub fn blank(neurons: u16) -> Vec<u8> {
    let hidden = usize::from(neurons);
    file(neurons, 1, &vec![0; (INPUTS + 1 + 2 * BUCKETS) * hidden + BUCKETS])
}

/// The file of these numbers: those of a network of so many neurons, in the order of the file.
pub fn file(neurons: u16, scale: u16, numbers: &[i16]) -> Vec<u8> {
    let body: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend(MAGIC);
    for number in [VERSION, neurons, BUCKETS as u16, scale] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(checksum(&body));
    bytes.extend(body);
    bytes
}

fn checksum(body: &[u8]) -> [u8; 8] {
    fingerprint::of_bytes(body).to_le_bytes()
}

#[cfg(test)]
mod tests;
