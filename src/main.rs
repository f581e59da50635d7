//! Starts the logger and runs the command line.

use std::process::ExitCode;

use env_logger::{Env, Target};

fn main() -> ExitCode {
    // Standard output is for the protocol.
    env_logger::Builder::from_env(Env::default().default_filter_or("warn"))
        .target(Target::Stderr)
        .init();
    tacet::cli::run(std::env::args_os())
}
