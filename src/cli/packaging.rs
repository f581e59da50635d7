//! What a package brings beside the program: what it was made from, shell completions and man pages,
//! all from the definition of the command line.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, io};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::eval::network::{EMBEDDED_CHECKSUM, EMBEDDED_NUMBER};
use crate::lab::{self, LabError};

/// Prints what a shell needs to complete commands and options
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the man page
#[derive(Args)]
pub struct ManArgs {
    /// Write the pages of all commands into this folder instead
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The version, the commit and the network of this program, one a line.
pub fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let number = match EMBEDDED_NUMBER {
            0 => "unnumbered".to_owned(),
            number => number.to_string(),
        };
        format!(
            "{}\ncommit {}\nnetwork {number}, checksum {EMBEDDED_CHECKSUM:016x}",
            env!("CARGO_PKG_VERSION"),
            env!("TACET_COMMIT")
        )
    });
    &TEXT
}

/// Prints a shell's completions.
///
/// # Errors
/// [`LabError::Output`].
pub fn completions(args: &CompletionsArgs, mut command: Command) -> Result<(), LabError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "tacet", &mut script);
    lab::print(&String::from_utf8_lossy(&script))
}

/// Prints the main man page, or writes all.
///
/// # Errors
/// If they cannot be written.
pub fn man(args: &ManArgs, command: Command) -> Result<(), LabError> {
    // The pages are of a version, not of a build.
    let command = command.long_version(None);
    match &args.out {
        Some(folder) => write_pages(command, folder).map_err(LabError::writing(folder)),
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page).map_err(LabError::Output)?;
            lab::print(&String::from_utf8_lossy(&page))
        }
    }
}

fn write_pages(command: Command, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(command, folder)
}
