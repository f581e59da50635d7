//! A game between two sides: what duels, training games and openings have in common.

pub mod adjudication;
pub mod openings;
pub mod play;
pub mod player;
pub mod random_opening;
