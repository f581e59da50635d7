//! Tells the compiler the commit and the network to embed.
//!
//! `TACET_COMMIT` is for `tacet --version`. `TACET_NETWORK` is the network's file: the one that ships, or
//! the one named by the environment variable `EVALFILE`, which OpenBench's client sets (`make
//! EVALFILE=FILE`). The program is compiled for the shape that this file's header names.

#[path = "src/kit/fingerprint.rs"]
mod fingerprint;
#[path = "src/eval/network/layout.rs"]
mod layout;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use layout::{CHECKSUM, FORMAT, HEADER, MAGIC, OUTPUTS, Shape, file_length};

/// What the program is built from, apart from the network.
const SOURCES: [&str; 4] = ["build.rs", "Cargo.lock", "Cargo.toml", "src"];

/// Path of the shipped network in the package.
const NETWORK: &str = "src/eval/network/tacet.net";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=EVALFILE");
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    set("TACET_COMMIT", &commit_line(&package));
    match network(&package) {
        Ok(path) => set("TACET_NETWORK", &path.to_string_lossy()),
        Err(reason) => println!("cargo::error={reason}"),
    }
}

fn set(name: &str, value: &str) {
    println!("cargo::rustc-env={name}={value}");
}

/// The network's file, if the program can evaluate it. Otherwise the build fails, with a message in one line.
fn network(package: &Path) -> Result<PathBuf, String> {
    let named = env::var_os("EVALFILE").filter(|name| !name.is_empty());
    let path = package.join(named.unwrap_or_else(|| NETWORK.into()));
    println!("cargo::rerun-if-changed={}", path.display());
    let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    check(&bytes).map_err(|reason| format!("{}: {reason}", path.display()))?;
    Ok(path)
}

/// Makes the checks of the program's reader (`src/eval/network/mod.rs`).
fn check(bytes: &[u8]) -> Result<(), String> {
    if bytes.len() < HEADER || !bytes.starts_with(&MAGIC) {
        return Err("not a Tacet network".to_owned());
    }
    let field = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let (format, outputs, scale) = (field(8), field(14), field(16));
    if format != FORMAT {
        return Err(format!("a network of format {format}; this version reads format {FORMAT}"));
    }
    let shape = Shape { hidden: field(10).into(), king_buckets: field(12).into() };
    if !shape.is_supported() || usize::from(outputs) != OUTPUTS {
        return Err(format!("a network of {shape} and {outputs} outputs, which is not supported"));
    }
    if bytes.len() != file_length(shape) {
        return Err(format!("a network of {} bytes, not {}", bytes.len(), file_length(shape)));
    }
    let (content, stored) = bytes.split_at(bytes.len() - CHECKSUM);
    if stored != fingerprint::of_bytes(content).to_le_bytes() {
        return Err("a damaged network: wrong checksum".to_owned());
    }
    let (pairs, _) = content[HEADER..].as_chunks::<2>();
    let numbers: Vec<i16> = pairs.iter().map(|&pair| i16::from_le_bytes(pair)).collect();
    if shape.allows(scale, &numbers) {
        Ok(())
    } else {
        Err("a network with a number out of range".to_owned())
    }
}

/// The commit that `tacet --version` names. Debug builds name none, or tests would be rebuilt after each
/// commit.
fn commit_line(package: &Path) -> String {
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        return "not named in debug builds".to_owned();
    }
    commit(package).unwrap_or_else(|| "unknown: not built in a git repository".to_owned())
}

/// The short hash of the commit, and whether the sources differ from it.
fn commit(package: &Path) -> Option<String> {
    // The source may lie inside another repository.
    let top = fs::canonicalize(git(package, &["rev-parse", "--show-toplevel"])?).ok()?;
    if top != fs::canonicalize(package).ok()? {
        return None;
    }
    watch(package);
    let hash = git(package, &["rev-parse", "--short", "HEAD"])?;
    let status = ["--no-optional-locks", "status", "--porcelain", "--untracked-files=no", "--"];
    let changes = git(package, &[&status[..], &SOURCES].concat())?;
    Some(if changes.is_empty() { hash } else { format!("{hash}, changed since") })
}

/// Reruns this script when the sources change and when HEAD moves. Git's index is not watched, since `git
/// status` writes it; nor are files that do not exist, or cargo would rebuild every time.
fn watch(package: &Path) {
    let of_git = ["HEAD", "logs/HEAD"]
        .iter()
        .filter_map(|name| git(package, &["rev-parse", "--git-path", name]))
        .map(PathBuf::from);
    for path in SOURCES.iter().map(PathBuf::from).chain(of_git) {
        if package.join(&path).exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}

/// Git's output, if it succeeds.
fn git(package: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(package).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
