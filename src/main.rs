//! The binary: starts the logger and hands the command line over.

use std::process::ExitCode;

use env_logger::{Env, Target};

fn main() -> ExitCode {
    // Stdout belongs to the protocol.
    env_logger::Builder::from_env(Env::default().default_filter_or("warn"))
        .target(Target::Stderr)
        .init();
    tacet::cli::run(std::env::args_os())
}
