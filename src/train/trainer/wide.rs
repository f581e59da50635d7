//! Networks of more neurons, made from one that has learned already.
//!
//! Every neuron becomes two that share its weight in the output, so that the network says nearly
//! the same as before (Chen, Goodfellow & Shlens, "Net2Net", 2016). A little chance tells the two
//! apart, or they would learn the same for ever.

use crate::eval::network::shape::{HIDDEN, MOST_BIAS, MOST_OUTPUT_WEIGHT, MOST_WEIGHT};
use crate::eval::network::{self, BIAS, OUTPUT, OUTPUT_BIAS, Parameters};
use crate::kit::random::Random;

/// The twin's weights and bias differ by at most so much from the first's.
const DIFFERENCE: i16 = 4;

/// The file of a network of twice as many neurons.
pub fn doubled(parameters: &Parameters, seed: u64) -> Vec<u8> {
    let mut random = Random::numbered(seed, 0);
    let mut chance = || random.below(2 * DIFFERENCE as usize + 1) as i16 - DIFFERENCE;
    let numbers = &parameters.numbers;
    let mut wide = Vec::with_capacity(2 * numbers.len());
    for (first, most) in [(&numbers[..BIAS], MOST_WEIGHT), (&numbers[BIAS..OUTPUT], MOST_BIAS)] {
        for row in first.chunks(HIDDEN) {
            wide.extend(row);
            wide.extend(
                row.iter().map(|number| number.saturating_add(chance()).clamp(-most, most)),
            );
        }
    }
    for row in numbers[OUTPUT..OUTPUT_BIAS].chunks(HIDDEN) {
        let most = MOST_OUTPUT_WEIGHT;
        let halves = row.iter().map(|number| (number / 2 + chance()).clamp(-most, most));
        let halves: Vec<i16> = halves.collect();
        wide.extend(&halves);
        wide.extend(row.iter().zip(&halves).map(|(number, half)| number - half));
    }
    wide.extend(&numbers[OUTPUT_BIAS..]);
    network::file(2 * HIDDEN as u16, parameters.scale, &wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_add_up_and_the_twins_differ_a_little() {
        let parameters = Parameters::read(network::EMBEDDED).unwrap();
        let bytes = doubled(&parameters, 1);
        let number = |at: usize| i16::from_le_bytes([bytes[24 + 2 * at], bytes[25 + 2 * at]]);
        assert_eq!(usize::from(u16::from_le_bytes([bytes[10], bytes[11]])), 2 * HIDDEN);
        let mut differ = 0;
        for (at, &old) in parameters.numbers[..OUTPUT_BIAS].iter().enumerate() {
            let first = 2 * (at - at % HIDDEN) + at % HIDDEN;
            let (first, second) = (number(first), number(first + HIDDEN));
            assert!((first - second).abs() <= DIFFERENCE || at >= OUTPUT);
            assert_eq!(if at < OUTPUT { first } else { first + second }, old);
            differ += usize::from(first != second);
        }
        assert!(differ > OUTPUT_BIAS / 2);
        assert_eq!(number(2 * OUTPUT_BIAS), parameters.numbers[OUTPUT_BIAS]);
        assert_eq!(doubled(&parameters, 1), bytes);
        assert_ne!(doubled(&parameters, 2), bytes);
    }
}
