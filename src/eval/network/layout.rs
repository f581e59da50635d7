//! The layout of a network file: shapes, the order of the numbers, and their limits.
//!
//! The build script compiles this file too, to check the network that it embeds, so it uses nothing else of
//! the crate.

/// The first bytes of a file.
pub(super) const MAGIC: [u8; 8] = *b"TACETNET";
/// The format that the program reads.
pub(super) const FORMAT: u16 = 3;
/// Bytes before the first parameter.
pub(super) const HEADER: usize = 20;
/// Bytes of the checksum at the end.
pub(super) const CHECKSUM: usize = 8;

/// Bytes of the file of a network of this shape.
pub(super) const fn file_length(shape: Shape) -> usize {
    HEADER + 2 * shape.parameters() + CHECKSUM
}

/// Piece-square inputs of one king bucket: own or other side, six kinds, 64 squares.
pub const PIECE_SQUARES: usize = 768;

/// Outputs ("output buckets"), chosen by the number of pieces.
pub const OUTPUTS: usize = 8;

/// A neuron's value of 1 as an integer (QA).
pub const UNIT: i32 = 255;

/// Largest absolute first-layer weight: 32 of them and a bias fit into 16 bits.
pub const MAX_WEIGHT: i16 = 2 * UNIT as i16;

/// Largest absolute first-layer bias.
pub const MAX_BIAS: i16 = 16_383;

/// Largest absolute output weight: its product with a neuron's value fits into 16 bits.
pub const MAX_OUTPUT_WEIGHT: i16 = 127;

/// The numbers of neurons and king buckets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Neurons per side, called N.
    pub hidden: usize,
    /// King buckets: 1 or 4.
    pub king_buckets: usize,
}

impl Shape {
    /// Neurons come in whole cache lines of the trainer and of the engine's kernels.
    pub const HIDDEN_STEP: usize = 64;
    /// The largest number of neurons.
    pub const MAX_HIDDEN: usize = 2_048;

    /// Can the trainer train, and a build embed, a network of this shape?
    pub const fn is_supported(self) -> bool {
        self.hidden > 0
            && self.hidden <= Shape::MAX_HIDDEN
            && self.hidden.is_multiple_of(Shape::HIDDEN_STEP)
            && (self.king_buckets == 1 || self.king_buckets == 4)
    }

    /// Inputs of the first layer.
    pub const fn inputs(self) -> usize {
        self.king_buckets * PIECE_SQUARES
    }

    /// Index of the first layer's biases among the parameters; its weights precede them.
    pub const fn biases(self) -> usize {
        self.inputs() * self.hidden
    }

    /// Index of the output weights.
    pub const fn output_weights(self) -> usize {
        self.biases() + self.hidden
    }

    /// Index of the output biases.
    pub const fn output_biases(self) -> usize {
        self.output_weights() + OUTPUTS * 2 * self.hidden
    }

    /// Number of parameters.
    pub const fn parameters(self) -> usize {
        self.output_biases() + OUTPUTS
    }

    /// Can the integer arithmetic evaluate a network of this scale and these numbers, all of its parameters?
    pub(super) fn allows(self, scale: u16, numbers: &[i16]) -> bool {
        let within = |part: &[i16], max: i16| {
            part.iter().all(|number| number.unsigned_abs() <= max.unsigned_abs())
        };
        scale > 0
            && within(&numbers[..self.biases()], MAX_WEIGHT)
            && within(&numbers[self.biases()..self.output_weights()], MAX_BIAS)
            && within(&numbers[self.output_weights()..self.output_biases()], MAX_OUTPUT_WEIGHT)
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = if self.king_buckets == 1 { "" } else { "s" };
        write!(f, "{} neurons and {} king bucket{plural}", self.hidden, self.king_buckets)
    }
}
