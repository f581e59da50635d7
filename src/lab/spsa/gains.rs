//! The gain sequences: the size of the shifts and of the steps.
//!
//! Both shrink as powers of the iteration with Spall's exponents (1998, "Implementation of the
//! simultaneous perturbation algorithm for stochastic optimization", IEEE Transactions on Aerospace
//! and Electronic Systems 34(3)). As in fishtest and OpenBench they are given by their final values.

use crate::kit::random::Random;
use crate::search::params::Param;

/// Exponent of the step.
const ALPHA: f64 = 0.602;
/// Exponent of the shift.
const GAMMA: f64 = 0.101;
/// Damps the first iterations: this share of all iterations is added to the iteration's number.
const DELAY: f64 = 0.1;
/// Minimum shift, so that the two values tried differ as integers.
const MIN_SHIFT: f64 = 0.5;

/// The gain sequences of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gains {
    pub(crate) iterations: usize,
    /// OpenBench's `R_end`: the final step per game won, relative to the parameter's own step.
    pub(crate) rate: f64,
}

impl Gains {
    /// The shift of a parameter to either side in an iteration, numbered from 1.
    pub(crate) fn shift(&self, param: &Param, iteration: usize) -> f64 {
        let left = self.iterations as f64 / iteration as f64;
        (f64::from(param.step) * left.powf(GAMMA)).max(MIN_SHIFT)
    }

    /// The step of a parameter per game won in an iteration.
    pub(crate) fn stride(&self, param: &Param, iteration: usize) -> f64 {
        let (all, delay) = (self.iterations as f64, DELAY * self.iterations as f64);
        let last = self.rate * f64::from(param.step).powi(2);
        let left = (all + delay) / (iteration as f64 + delay);
        last * left.powf(ALPHA) / self.shift(param, iteration)
    }
}

/// The random direction of a parameter in an iteration, for the first player.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Direction {
    /// 1 or -1.
    pub(crate) sign: f64,
    /// In 0..1; added before rounding down, so that rounding has no bias.
    pub(crate) rounding: f64,
}

/// The directions of an iteration for `count` parameters: they depend only on the seed and the
/// iteration.
pub(crate) fn directions(seed: u64, iteration: usize, count: usize) -> Vec<Direction> {
    let mut random = Random::numbered(seed, iteration as u64);
    let direction = |_| {
        let bits = random.bits();
        let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
        Direction { sign, rounding: (bits >> 11) as f64 / (1_u64 << 53) as f64 }
    };
    (0..count).map(direction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAM: Param = Param { name: "x", default: 50, min: 0, max: 100, step: 8 };

    #[test]
    fn gains_shrink_to_their_final_values() {
        let gains = Gains { iterations: 1000, rate: 0.002 };
        assert!((gains.shift(&PARAM, 1000) - 8.0).abs() < 1e-9);
        assert!((gains.stride(&PARAM, 1000) - 0.002 * 8.0).abs() < 1e-9);
        assert!((gains.shift(&PARAM, 1) - 8.0 * 1000_f64.powf(0.101)).abs() < 1e-9);
        for iteration in 1..1000 {
            assert!(gains.shift(&PARAM, iteration) > gains.shift(&PARAM, iteration + 1));
            // A stride is their quotient and may grow at first.
            let gain = |k| gains.stride(&PARAM, k) * gains.shift(&PARAM, k);
            assert!(gain(iteration) > gain(iteration + 1));
        }
    }

    #[test]
    fn directions_are_fair_and_repeatable() {
        let all: Vec<Direction> = (1..=2000).flat_map(|k| directions(7, k, 2)).collect();
        assert_eq!(directions(7, 2000, 2), all[3998..]);
        let sum: f64 = all.iter().map(|direction| direction.sign).sum();
        let mean = all.iter().map(|direction| direction.rounding).sum::<f64>() / 4000.0;
        assert!(sum.abs() < 250.0, "{sum}");
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        let alike = all.chunks(2).filter(|pair| pair[0].sign == pair[1].sign).count();
        assert!((900..1100).contains(&alike), "{alike}");
    }
}
