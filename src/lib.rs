#![doc = "placeholder"]
pub mod board;
pub mod eval;
pub mod score;
pub mod search;
pub mod time;
