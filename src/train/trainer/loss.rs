//! The losses that training can minimise.
//!
//! With `p` the points that the network expects and `t` the target, both from 0 to 1:
//!
//! | name | loss | used by |
//! |---|---|---|
//! | `ce` | -t ln p - (1 - t) ln(1 - p) | logistic regression, Texel tuning |
//! | `mse` | (p - t)² | bullet |
//! | `2.5` | \|p - t\|^2.5 | nnue-pytorch |
//!
//! The gradient by the logit is `p - t` for cross entropy. For the others it has the factor `p (1 - p)`,
//! which is small in decided positions.

use crate::train::curve::{Curve, Expected};

/// A loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Loss {
    /// Cross entropy.
    #[value(name = "ce")]
    CrossEntropy,
    /// Squared error of the expected points (bullet).
    #[value(name = "mse")]
    SquaredError,
    /// Absolute error of the expected points to the power of 2.5 (Stockfish).
    #[value(name = "2.5")]
    Power,
}

const EXPONENT: f64 = 2.5;

impl Loss {
    /// The loss of one position.
    pub(crate) fn value(self, expected: Expected, target: f64) -> f64 {
        let Expected { points, complement, .. } = expected;
        let error = points - target;
        match self {
            Loss::CrossEntropy => -target * points.ln() - (1.0 - target) * complement.ln(),
            Loss::SquaredError => error * error,
            Loss::Power => error.abs().powf(EXPONENT),
        }
    }

    /// Its derivative by the logit.
    pub(crate) fn gradient(self, expected: Expected, target: f64) -> f64 {
        let Expected { points, complement, derivative } = expected;
        let error = points - target;
        match self {
            Loss::CrossEntropy => error * derivative / (points * complement),
            Loss::SquaredError => 2.0 * error * derivative,
            Loss::Power => {
                EXPONENT * error.abs().powf(EXPONENT - 1.0) * error.signum() * derivative
            }
        }
    }
}

/// Sums over positions: the trained loss, and the two measures that compare networks of any loss.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Losses {
    /// The loss that is trained.
    pub trained: f64,
    /// Cross entropy.
    pub cross_entropy: f64,
    /// Squared error.
    pub squared_error: f64,
}

impl Losses {
    /// Adds a position.
    pub(crate) fn add(&mut self, loss: Loss, expected: Expected, target: f64) {
        let cross_entropy = Loss::CrossEntropy.value(expected, target);
        let squared_error = Loss::SquaredError.value(expected, target);
        self.cross_entropy += cross_entropy;
        self.squared_error += squared_error;
        self.trained += match loss {
            Loss::CrossEntropy => cross_entropy,
            Loss::SquaredError => squared_error,
            Loss::Power => loss.value(expected, target),
        };
    }

    /// Sums into means.
    pub(crate) fn mean(self, positions: usize) -> Losses {
        let count = positions as f64;
        Losses {
            trained: self.trained / count,
            cross_entropy: self.cross_entropy / count,
            squared_error: self.squared_error / count,
        }
    }
}

/// The target of training.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Target {
    /// Turns scores and outputs into points.
    pub curve: Curve,
    /// Share of the game's result; the rest is the score's. A position without a result has its score's points.
    pub wdl: f64,
}

impl Target {
    /// The target of a position with this score in centipawns and, if known, this result.
    pub(crate) fn points(self, score: i16, result: Option<f64>) -> f64 {
        let expected = self.curve.points(f64::from(score));
        result.map_or(expected, |result| self.wdl * result + (1.0 - self.wdl) * expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn gradients_are_the_derivatives_of_the_losses() {
        for curve in [Curve::logistic(1.0), Curve { scale: 1.0, offset: 0.8 }] {
            for &loss in Loss::value_variants() {
                for logit in [-9.0, -2.0, -0.3, 0.0, 0.7, 3.0, 12.0] {
                    for target in [0.0, 0.25, 0.5, 0.9, 1.0] {
                        let at = |logit| loss.value(curve.expected(logit), target);
                        let slope = (at(logit + 1e-5) - at(logit - 1e-5)) / 2e-5;
                        let found = loss.gradient(curve.expected(logit), target);
                        assert!((slope - found).abs() < 1e-6, "{loss:?} {logit} {target}: {found}");
                    }
                }
            }
        }
    }

    #[test]
    fn gradients_stay_finite_however_wrong_the_network_is() {
        for &loss in Loss::value_variants() {
            for logit in [-1e6, 1e6] {
                let expected = Curve::logistic(1.0).expected(logit);
                for target in [0.0, 0.5, 1.0] {
                    assert!(loss.gradient(expected, target).is_finite());
                    assert!(loss.value(expected, target).is_finite());
                }
            }
        }
    }

    #[test]
    fn targets_mix_results_and_scores_and_take_scores_alone_without_a_result() {
        let target = Target { curve: Curve::logistic(100.0), wdl: 0.25 };
        assert_eq!(target.points(0, Some(1.0)), 0.625);
        assert_eq!(target.points(0, Some(0.0)), 0.375);
        assert_eq!(target.points(0, None), 0.5);
        assert!(target.points(300, None) > 0.95);
    }
}
