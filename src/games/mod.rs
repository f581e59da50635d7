//! A game between two sides: what duels, training games and openings have in common.

pub(crate) mod adjudication;
pub(crate) mod openings;
pub(crate) mod play;
pub(crate) mod player;
pub(crate) mod random_opening;
