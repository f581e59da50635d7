//! Paired bootstrap intervals (Efron 1979) for differences between two schemes.
//!
//! The positions are resampled with replacement and the statistic is computed for the sample; the
//! middle 95 % of [`RESAMPLES`] such values are the interval. Positions are resampled in pairs (same
//! position, both schemes), so differences in tree size between positions cancel out. The seed is fixed: the
//! same results give the same interval, and all schemes of a table use the same samples.

use serde::Serialize;

use crate::kit::random::Random;

pub(crate) const RESAMPLES: usize = 2000;

/// The middle 95 % of a statistic.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The interval of `sum(a) / sum(b)` over the pairs `(a, b)`. `None` if there is no pair, or no
/// sum to divide by.
pub(crate) fn ratio(pairs: &[(u64, u64)]) -> Option<Interval> {
    interval(pairs.len(), |drawn| {
        let sum = |(a, b), &index: &usize| (a + pairs[index].0, b + pairs[index].1);
        let (a, b) = drawn.iter().fold((0, 0), sum);
        a as f64 / b as f64
    })
}

/// The interval of `sum(a) - sum(b)` over the pairs `(a, b)`. `None` if there is no pair.
pub(crate) fn difference(pairs: &[(bool, bool)]) -> Option<Interval> {
    interval(pairs.len(), |drawn| {
        let gain = |&index: &usize| i64::from(pairs[index].0) - i64::from(pairs[index].1);
        drawn.iter().map(gain).sum::<i64>() as f64
    })
}

/// The interval of a statistic of `count` items, given as the indices drawn.
pub(super) fn interval(
    count: usize,
    mut statistic: impl FnMut(&[usize]) -> f64,
) -> Option<Interval> {
    if count == 0 {
        return None;
    }
    let mut random = Random::new(0x7ace7);
    let mut drawn = vec![0; count];
    let mut values = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        drawn.fill_with(|| random.below(count));
        values.push(statistic(&drawn));
    }
    values.sort_by(f64::total_cmp);
    let tail = RESAMPLES / 40;
    let (low, high) = (values[tail], values[RESAMPLES - 1 - tail]);
    (low.is_finite() && high.is_finite()).then_some(Interval { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_schemes_have_no_spread() {
        let nodes: Vec<(u64, u64)> = (1..50).map(|n| (n * n, n * n)).collect();
        assert_eq!(ratio(&nodes), Some(Interval { low: 1.0, high: 1.0 }));
        let solved = [(true, true), (false, false), (true, true)];
        assert_eq!(difference(&solved), Some(Interval { low: 0.0, high: 0.0 }));
    }

    #[test]
    fn nothing_has_no_interval() {
        assert_eq!(ratio(&[]), None);
        assert_eq!(difference(&[]), None);
        assert_eq!(ratio(&[(0, 0)]), None);
    }

    #[test]
    fn the_interval_is_that_of_the_binomial() {
        // 100 of 400 gained: standard deviation sqrt(400 * 0.25 * 0.75) = 8.66, so 100 +- 17.
        let solved: Vec<(bool, bool)> = (0..400).map(|n| (n % 4 == 0, false)).collect();
        let Interval { low, high } = difference(&solved).expect("has pairs");
        assert!((81.0..=85.0).contains(&low), "{low}");
        assert!((115.0..=119.0).contains(&high), "{high}");
    }

    #[test]
    fn pairs_stay_together() {
        // Sizes differ by a factor of a thousand, ratios little: an unpaired interval would be wide.
        let pair =
            |n: u64| (10u64.pow(n as u32 % 4) * (100 + n % 3), 10u64.pow(n as u32 % 4) * 100);
        let pairs: Vec<(u64, u64)> = (0..300).map(pair).collect();
        let Interval { low, high } = ratio(&pairs).expect("has pairs");
        assert!(1.0 < low && low < high && high < 1.02, "{low} {high}");
        assert_eq!(ratio(&pairs), ratio(&pairs));
    }
}
