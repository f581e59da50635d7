//! Statistics of a match: Elo with its error, the likelihood of superiority, the sequential test.
//!
//! Both games with one opening are one observation, the *pair*: they are not independent, since the
//! opening favours the same colour in both. A pair's score for A is 0, 1/2, 1, 3/2 or 2. The counts of
//! these five are the *pentanomial* distribution; all errors come from its variance.
//!
//! Sources: Elo 1978 for the logistic scale; Wald 1945 for the sequential test; Michel Van den
//! Bergh, "Normalized Elo" and "A Practical Introduction to the GSPRT", for both in chess.

/// Counts of the pairs in which A scored 0, 1/2, 1, 3/2 and 2 of 2.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Pentanomial(pub [u64; 5]);

/// A pair's score as a share of its two points.
const SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// The quantile of the normal distribution that leaves 2.5 % on either side.
pub(crate) const SIGMAS_95: f64 = 1.959_964;

/// The estimated difference in strength.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Estimate {
    /// A's share of the points, from 0 to 1.
    pub(crate) score: f64,
    /// The difference on the logistic Elo scale; infinite if one side made every point.
    pub(crate) elo: f64,
    /// The bounds of its 95 % interval; infinite where the interval reaches a score of 0 or 1.
    pub(crate) interval: (f64, f64),
    /// The difference relative to the spread of a game's result, scaled so that it equals `elo` between
    /// equal sides without draws. NaN if all pairs have the same score.
    pub(crate) normalized: f64,
    /// The likelihood of superiority: the probability that A is stronger, 0 to 1.
    pub(crate) los: f64,
}

impl Pentanomial {
    /// Counts a pair in which A made this many half points, at most 4.
    pub(crate) fn add(&mut self, half_points: usize) {
        self.0[half_points.min(4)] += 1;
    }

    pub(crate) fn pairs(&self) -> u64 {
        self.0.iter().sum()
    }

    /// A's mean share of the points, 0 to 1; one half without pairs.
    pub(crate) fn mean(&self) -> f64 {
        if self.pairs() == 0 { 0.5 } else { mean(&self.weights()) }
    }

    /// The variance of a pair's share.
    pub(crate) fn variance(&self) -> f64 {
        if self.pairs() == 0 {
            return 0.0;
        }
        let (mean, pairs) = (self.mean(), self.pairs() as f64);
        let squares =
            self.0.iter().zip(SHARES).map(|(&n, share)| n as f64 * (share - mean).powi(2));
        squares.sum::<f64>() / pairs
    }

    /// The variance assumed if all pairs have the same score: about that with one more pair a point away, a
    /// share of 0.5. 0 if they differ.
    fn least_variance(&self) -> f64 {
        let kinds = self.0.iter().filter(|&&count| count > 0).count();
        if kinds == 1 { 0.25 / (self.pairs() + 1) as f64 } else { 0.0 }
    }

    /// The estimate; `None` without pairs.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        if self.pairs() == 0 {
            return None;
        }
        let score = self.mean();
        let error = (self.variance().max(self.least_variance()) / self.pairs() as f64).sqrt();
        let reach = SIGMAS_95 * error;
        Some(Estimate {
            score,
            elo: elo(score),
            interval: (elo(score - reach), elo(score + reach)),
            normalized: (score - 0.5) / (2.0 * self.variance()).sqrt() * NORMALIZED_UNIT,
            los: superiority(score, error),
        })
    }

    /// The logarithm of the likelihood ratio of two hypotheses on the Elo difference; positive
    /// favours `elo1`. 0 without pairs.
    ///
    /// Generalised: a hypothesis fixes only the mean score; the five probabilities are the likeliest with
    /// that mean. A score not seen yet counts as a thousandth of a pair, so the first pairs do not decide
    /// alone.
    pub(crate) fn log_likelihood_ratio(&self, elo0: f64, elo1: f64) -> f64 {
        if self.pairs() == 0 {
            return 0.0;
        }
        let weights = self.0.map(|count| if count == 0 { 1e-3 } else { count as f64 });
        likelihood(&weights, expected_score(elo1)) - likelihood(&weights, expected_score(elo0))
    }

    fn weights(&self) -> [f64; 5] {
        self.0.map(|count| count as f64)
    }
}

/// 800 / ln 10: with it the normalised scale agrees with the logistic one at equal strength.
const NORMALIZED_UNIT: f64 = 347.435_585_522_601_4;

/// The Elo difference that makes a score likely: `-400 log10(1 / score - 1)`.
pub(crate) fn elo(score: f64) -> f64 {
    if score <= 0.0 {
        f64::NEG_INFINITY
    } else if score >= 1.0 {
        f64::INFINITY
    } else {
        -400.0 * (1.0 / score - 1.0).log10()
    }
}

/// The score to expect at an Elo difference: `1 / (1 + 10^(-elo / 400))`.
pub(crate) fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The probability that the true score exceeds one half, given the measured one and its error.
fn superiority(score: f64, error: f64) -> f64 {
    normal_below((score - 0.5) / error)
}

/// The standard normal distribution function, to 1e-7 (Abramowitz & Stegun 1964, 7.1.26).
fn normal_below(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 5] =
        [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let tail = COEFFICIENTS.iter().fold(0.0, |sum, c| (sum + c) * t) * (-z * z).exp() / 2.0;
    if x < 0.0 { tail } else { 1.0 - tail }
}

fn mean(weights: &[f64; 5]) -> f64 {
    let total: f64 = weights.iter().sum();
    weights.iter().zip(SHARES).map(|(w, share)| w * share).sum::<f64>() / total
}

/// The logarithm of the greatest likelihood under a given mean, up to a constant of the weights.
///
/// By Lagrange's rule the likeliest probabilities are `p / (1 + t (x - mean))`, where `p` are the
/// shares seen and `t` solves `sum p (x - mean) / (1 + t (x - mean)) = 0`.
fn likelihood(weights: &[f64; 5], mean: f64) -> f64 {
    let slope = |t: f64| -> f64 {
        let terms =
            weights.iter().zip(SHARES).map(|(w, x)| w * (x - mean) / (1.0 + t * (x - mean)));
        terms.sum()
    };
    // The sum falls from +inf to -inf between the poles.
    let (mut low, mut high) = (-1.0 / (1.0 - mean), 1.0 / mean);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if slope(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let t = (low + high) / 2.0;
    let terms = weights.iter().zip(SHARES).filter(|&(&w, _)| w > 0.0);
    -terms.map(|(w, x)| w * (1.0 + t * (x - mean)).ln()).sum::<f64>()
}

/// A sequential probability ratio test: stop as soon as one hypothesis is likely enough.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Sprt {
    /// The Elo difference of the null hypothesis.
    pub(crate) elo0: f64,
    /// That of the alternative, larger.
    pub(crate) elo1: f64,
    /// The probability of accepting `elo1` where `elo0` is true.
    pub(crate) alpha: f64,
    /// The probability of accepting `elo0` where `elo1` is true.
    pub(crate) beta: f64,
}

/// The state of a sequential test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    Open,
    Accept0,
    Accept1,
}

impl Sprt {
    /// The bounds of the log-likelihood ratio: `ln(beta / (1 - alpha))` and
    /// `ln((1 - beta) / alpha)`.
    pub(crate) fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    pub(crate) fn ratio(&self, pairs: &Pentanomial) -> f64 {
        pairs.log_likelihood_ratio(self.elo0, self.elo1)
    }

    pub(crate) fn decide(&self, pairs: &Pentanomial) -> Decision {
        let (lower, upper) = self.bounds();
        match self.ratio(pairs) {
            ratio if ratio <= lower => Decision::Accept0,
            ratio if ratio >= upper => Decision::Accept1,
            _ => Decision::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance
    }

    #[test]
    fn elo_and_score_are_each_others_inverse() {
        assert!(near(elo(0.75), 190.848_501_887_865, 1e-9));
        assert!(near(expected_score(400.0), 10.0 / 11.0, 1e-12));
        assert!(near(elo(expected_score(-37.5)), -37.5, 1e-9));
        assert_eq!((elo(0.0), elo(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn the_normal_distribution() {
        for (x, p) in [(0.0, 0.5), (1.0, 0.841_344_746), (-1.959_964, 0.025), (3.0, 0.998_650_102)]
        {
            assert!(near(normal_below(x), p, 2e-7), "{x}");
        }
    }

    #[test]
    fn mean_variance_and_interval_by_hand() {
        // (2·0 + 4·0.25 + 8·0.5 + 4·0.75 + 2·1) / 20 = 10 / 20.
        let even = Pentanomial([2, 4, 8, 4, 2]);
        assert!(near(even.mean(), 0.5, 1e-12));
        // (2·0.25 + 4·0.0625 + 0 + 4·0.0625 + 2·0.25) / 20 = 1.5 / 20.
        assert!(near(even.variance(), 0.075, 1e-12));
        let estimate = even.estimate().unwrap();
        // The standard error is sqrt(0.075 / 20) = 0.0612372; 1.959964 of them are 0.1200228.
        assert!(near(estimate.interval.1, elo(0.620_022_8), 1e-3));
        assert!(near(estimate.interval.0, -estimate.interval.1, 1e-9));
        assert!(near(estimate.los, 0.5, 1e-7) && near(estimate.normalized, 0.0, 1e-9));

        // (1·0.25 + 2·0.5 + 1·1) / 4 = 0.5625; the deviations squared are 0.09765625, 2·0.00390625
        // and 0.19140625, in the mean 0.07421875.
        let ahead = Pentanomial([0, 1, 2, 0, 1]);
        assert!(near(ahead.mean(), 0.5625, 1e-12));
        assert!(near(ahead.variance(), 0.074_218_75, 1e-12));
        // 0.0625 / sqrt(0.1484375) · 347.4356 = 56.361.
        assert!(near(ahead.estimate().unwrap().normalized, 56.361, 1e-2));
    }

    #[test]
    fn one_sided_matches_are_infinite_and_not_nan() {
        let estimate = Pentanomial([0, 0, 0, 0, 5]).estimate().unwrap();
        assert!(estimate.elo == f64::INFINITY && estimate.los > 0.999);
        let drawn = Pentanomial([0, 0, 7, 0, 0]).estimate().unwrap();
        assert!(drawn.elo == 0.0 && near(drawn.los, 0.5, 1e-7));
        assert_eq!(Pentanomial::default().estimate(), None);
    }

    #[test]
    fn one_pair_proves_little_and_more_equal_pairs_prove_more() {
        let of = |pairs| Pentanomial([0, 0, 0, pairs, 0]).estimate().unwrap();
        let one = of(1);
        assert!(one.los > 0.5 && one.los < 0.9, "{one:?}");
        assert!(one.interval.0 < 0.0 && one.interval.1 > 400.0, "{one:?}");
        assert!(of(2).los > one.los && of(40).interval.0 > 150.0);
    }

    #[test]
    fn with_two_outcomes_the_ratio_is_the_binomial_one() {
        let (wins, losses) = (37.0, 23.0);
        let weights = [losses, 0.0, 0.0, 0.0, wins];
        let (s0, s1) = (0.5_f64, 0.6_f64);
        let expected = wins * (s1 / s0).ln() + losses * ((1.0 - s1) / (1.0 - s0)).ln();
        let ratio = likelihood(&weights, s1) - likelihood(&weights, s0);
        assert!(near(ratio, expected, 1e-9), "{ratio} {expected}");
    }

    #[test]
    fn near_even_strength_the_ratio_is_the_normal_one() {
        // For small differences: pairs · (s1 - s0) (2 mean - s0 - s1) / (2 variance).
        let pairs = Pentanomial([100, 450, 900, 500, 120]);
        let (s0, s1) = (expected_score(0.0), expected_score(5.0));
        let spread = 2.0 * pairs.mean() - s0 - s1;
        let normal = pairs.pairs() as f64 * (s1 - s0) * spread / (2.0 * pairs.variance());
        let ratio = pairs.log_likelihood_ratio(0.0, 5.0);
        assert!(near(ratio, normal, 0.02 * normal.abs()), "{ratio} {normal}");
    }

    #[test]
    fn the_test_decides_both_ways_and_only_when_it_may() {
        let sprt = Sprt { elo0: 0.0, elo1: 10.0, alpha: 0.05, beta: 0.05 };
        let (lower, upper) = sprt.bounds();
        assert!(near(lower, -2.944_438_979, 1e-8) && near(upper, 2.944_438_979, 1e-8));
        assert_eq!(sprt.decide(&Pentanomial::default()), Decision::Open);
        assert_eq!(sprt.decide(&Pentanomial([0, 0, 3, 0, 0])), Decision::Open);
        assert_eq!(sprt.decide(&Pentanomial([50, 200, 400, 320, 80])), Decision::Accept1);
        assert_eq!(sprt.decide(&Pentanomial([80, 320, 400, 200, 50])), Decision::Accept0);
    }
}
