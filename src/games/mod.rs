//! A game between two sides: what duels, training games and openings have in common.

pub(crate) mod random_opening;
