//! A random sample of the positions that a search evaluates.
//!
//! Positions inside a search tree differ more from each other than those of one game. A network learns more
//! from them (Stockfish's `gensfen_nonpv`, nodchip/Stockfish PR 264, 2020).

use crate::board::Position;
use crate::kit::random::Random;

/// Positions kept of one search.
const CAPACITY: usize = 8;

/// A uniform sample of the positions it is offered (Vitter 1985, algorithm R).
pub(crate) struct Sampler {
    random: Random,
    offered: usize,
    kept: Vec<Position>,
}

impl Sampler {
    /// An empty sample. The random numbers decide which positions stay in it.
    pub(crate) fn new(random: Random) -> Sampler {
        Sampler { random, offered: 0, kept: Vec::with_capacity(CAPACITY) }
    }

    /// Adds a position, perhaps instead of an earlier one.
    #[cold]
    pub(super) fn offer(&mut self, position: &Position) {
        self.offered += 1;
        if self.kept.len() < CAPACITY {
            self.kept.push(position.clone());
        } else if let Some(slot) = self.kept.get_mut(self.random.below(self.offered)) {
            *slot = position.clone();
        }
    }

    /// The positions, in random order.
    pub(crate) fn into_positions(mut self) -> Vec<Position> {
        self.random.shuffle(&mut self.kept);
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_has_the_same_chance() {
        let mut position = Position::startpos();
        let positions: Vec<Position> = (0..40)
            .map(|_| {
                let m = position.legal_moves()[0];
                position = position.play(m).0;
                position.clone()
            })
            .collect();
        let rounds = 2_000;
        let mut first = vec![0; positions.len()];
        for number in 0..rounds {
            let mut sampler = Sampler::new(Random::numbered(1, number));
            positions.iter().for_each(|position| sampler.offer(position));
            let sample = sampler.into_positions();
            assert_eq!(sample.len(), CAPACITY);
            let ply = |position: &Position| {
                2 * (position.fullmove_number() as usize - 1)
                    + usize::from(!position.turn().is_white())
            };
            first[ply(&sample[0]) - 1] += 1;
        }
        // 50 each; a standard deviation is 7.
        assert!(first.iter().all(|count| (20..=80).contains(count)), "{first:?}");
    }

    #[test]
    fn few_positions_are_all_kept() {
        let mut sampler = Sampler::new(Random::new(1));
        sampler.offer(&Position::startpos());
        assert_eq!(sampler.into_positions().len(), 1);
    }
}
