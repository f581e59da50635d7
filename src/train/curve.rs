//! From centipawns to expected points.
//!
//! A win and a loss each have a logistic curve, `offset` centipawns away from an even score:
//!
//! ```text
//! win(v) = 1 / (1 + exp((offset - v) / scale)),   loss(v) = win(-v)
//! points(v) = (1 + win(v) - loss(v)) / 2
//! ```
//!
//! With an offset of 0 this is the ordinary logistic curve. With a larger one scores near 0 mean a draw, as in
//! the model of Stockfish's trainer (nnue-pytorch), where the offset is 270 and the scale 340.

/// The model of expected points.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Curve {
    /// Centipawns per unit of the logistic function.
    pub scale: f64,
    /// Centipawns at which a side wins every other game; 0 for a single logistic curve.
    pub offset: f64,
}

/// Expected points at some logit, which is the value divided by the scale.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Expected {
    /// Between 0 and 1.
    pub points: f64,
    /// `1 - points`, without rounding it to 0.
    pub complement: f64,
    /// The derivative of `points` by the logit.
    pub derivative: f64,
}

impl Curve {
    /// A single logistic curve.
    pub(crate) fn logistic(scale: f64) -> Curve {
        Curve { scale, offset: 0.0 }
    }

    /// Expected points of a value in centipawns, 0 to 1.
    pub(crate) fn points(self, value: f64) -> f64 {
        self.expected(value / self.scale).points
    }

    /// Expected points at a logit.
    pub(crate) fn expected(self, logit: f64) -> Expected {
        // Beyond this the values do not change, and divisions by 0 are possible.
        let logit = logit.clamp(-100.0, 100.0);
        let offset = self.offset / self.scale;
        // (1 + win - loss) / 2 is the mean of two logistic functions, since 1 - loss(v) is one too.
        let (win, not_win) = logistic(logit - offset);
        let (not_loss, loss) = logistic(logit + offset);
        Expected {
            points: (win + not_loss) / 2.0,
            complement: (not_win + loss) / 2.0,
            derivative: (win * not_win + not_loss * loss) / 2.0,
        }
    }
}

/// The logistic function and its complement, both exact where they are small.
fn logistic(logit: f64) -> (f64, f64) {
    let small = (-logit.abs()).exp();
    let (large, small) = (1.0 / (1.0 + small), small / (1.0 + small));
    if logit < 0.0 { (small, large) } else { (large, small) }
}

/// Cross entropy of expected against true points, both 0 to 1.
pub(crate) fn cross_entropy(target: f64, points: f64) -> f64 {
    let p = points.clamp(1e-12, 1.0 - 1e-12);
    -(target * p.ln() + (1.0 - target) * (1.0 - p).ln())
}

/// The scale at which values in centipawns predict the points paired with them best by cross entropy, found by
/// golden section search.
pub(crate) fn fitted(pairs: &[(f64, f64)], offset: f64) -> Curve {
    let loss = |scale: f64| -> f64 {
        let curve = Curve { scale, offset };
        pairs.iter().map(|&(value, points)| cross_entropy(points, curve.points(value))).sum()
    };
    let ratio = (5_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (30.0, 1_500.0);
    while high - low > 0.1 {
        let step = ratio * (high - low);
        if loss(high - step) < loss(low + step) { high = low + step } else { low = high - step }
    }
    Curve { scale: (low + high) / 2.0, offset }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_of_a_curve_is_recovered() {
        for offset in [0.0, 150.0] {
            let curve = Curve { scale: 212.0, offset };
            let pairs: Vec<(f64, f64)> =
                (-900..900).map(|v| (f64::from(v), curve.points(f64::from(v)))).collect();
            assert!((fitted(&pairs, offset).scale - 212.0).abs() < 1.0);
        }
    }

    #[test]
    fn win_draw_and_loss_add_up_as_the_formula_says() {
        let curve = Curve { scale: 340.0, offset: 270.0 };
        for value in [-3_000.0, -400.0, -1.0, 0.0, 150.0, 270.0, 2_000.0] {
            let win = |value: f64| 1.0 / (1.0 + ((270.0 - value) / 340.0).exp());
            let points = (1.0 + win(value) - win(-value)) / 2.0;
            let found = curve.expected(value / 340.0);
            assert!((found.points - points).abs() < 1e-12);
            assert!((found.points + found.complement - 1.0).abs() < 1e-12);
            let step = 1e-6;
            let above = curve.expected(value / 340.0 + step).points;
            let below = curve.expected(value / 340.0 - step).points;
            assert!(((above - below) / (2.0 * step) - found.derivative).abs() < 1e-8);
        }
        assert_eq!(curve.points(0.0), 0.5);
        assert!((Curve::logistic(100.0).points(100.0) - 0.731_058_578).abs() < 1e-8);
    }

    #[test]
    fn extreme_values_stay_finite() {
        for offset in [0.0, 300.0] {
            for value in [-1e9, -32_000.0, 32_000.0, 1e9] {
                let expected = Curve { scale: 1.0, offset }.expected(value);
                let parts = [expected.points, expected.complement];
                assert!(parts.iter().all(|part| part.is_finite() && *part > 0.0), "{expected:?}");
            }
        }
    }

    #[test]
    fn the_target_has_the_lowest_cross_entropy() {
        for target in [0.0, 0.3, 1.0] {
            let loss = |points| cross_entropy(target, points);
            for points in [target - 0.01, target + 0.01] {
                let in_range = (0.0..=1.0).contains(&points);
                assert!(!in_range || loss(target) < loss(points));
            }
        }
    }
}
