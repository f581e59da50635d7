//! A seeded random number generator with the same output on every machine.
//!
//! SplitMix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators"): small,
//! good enough for shuffling and sampling, not for secrets.

/// One step of SplitMix64 (Steele, Lea & Flood 2014): the output and the next state.
pub const fn split_mix(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31), state)
}

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator whose numbers depend on the seed alone.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The generator for one numbered item, e.g. a game. Different for each number.
    pub fn numbered(seed: u64, number: u64) -> Random {
        let mut random = Random(seed);
        random.0 = random.bits().wrapping_add(number);
        random.0 = random.bits();
        random
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let (bits, state) = split_mix(self.0);
        self.0 = state;
        bits
    }

    /// A number in `0..bound`; 0 if the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of a 64 by 64 bit product: the bias is below bound / 2^64.
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        // The high 53 bits fill the mantissa: 0 <= x < 1.
        let x = (self.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        x < probability
    }

    /// One of the items, or `None` if there is none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Puts items into random order (Fisher & Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // From the reference implementation by Vigna, seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn shuffling_keeps_every_item_and_depends_on_the_seed() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..50).collect();
            Random::new(seed).shuffle(&mut items);
            items
        };
        let mut sorted = shuffled(1);
        assert_eq!(shuffled(1), sorted);
        assert_ne!(shuffled(2), sorted);
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..50));
    }

    #[test]
    fn every_number_of_a_seed_has_its_own_sequence() {
        let first = |seed, number| Random::numbered(seed, number).bits();
        let firsts: std::collections::HashSet<u64> =
            (0..30).flat_map(|seed| (0..30).map(move |number| first(seed, number))).collect();
        assert_eq!(firsts.len(), 900);
        assert_eq!(first(7, 7), first(7, 7));
    }

    #[test]
    fn chances_come_true_as_often_as_they_say() {
        let mut random = Random::new(5);
        for (probability, count) in [(0.0, 0..=0), (0.2, 1_880..=2_120), (1.0, 10_000..=10_000)] {
            let hits = (0..10_000).filter(|_| random.chance(probability)).count();
            assert!(count.contains(&hits), "{probability}: {hits}");
        }
    }

    #[test]
    fn bounds_hold() {
        let mut random = Random::new(3);
        assert_eq!(random.below(0), 0);
        assert!(random.pick::<u8>(&[]).is_none());
        let mut seen = [0; 6];
        for _ in 0..600 {
            seen[random.below(6)] += 1;
        }
        assert!(seen.iter().all(|&count| count > 60), "{seen:?}");
    }
}
