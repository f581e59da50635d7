//! All integration tests, in one program: most of the time of 23 would be spent on linking.

mod analysis;
mod architecture;
mod board;
mod classic;
mod cli;
mod common;
mod faults;
mod lab_compare;
mod lab_duel;
mod lab_mine;
mod lab_suite;
mod lab_zugzwang;
mod noise;
mod notation;
mod openbench;
mod pages;
mod parsers;
mod perft;
mod schemes;
mod see;
mod session;
mod suites;
mod syzygy;
mod tablebase;
mod train;
mod uci;
