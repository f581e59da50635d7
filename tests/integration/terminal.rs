//! The program on a terminal: a pseudo-terminal of a given width.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};

const CTRL_C: &[u8] = b"\x03";

/// The program on a terminal of its own.
struct Terminal {
    keyboard: File,
    screen: File,
    text: String,
    program: Child,
}

impl Terminal {
    fn start(arguments: &[&str], columns: u16) -> Terminal {
        Terminal::start_into(None, arguments, columns)
    }

    /// Starts the program with standard output into a file, if there is one.
    fn start_into(file: Option<File>, arguments: &[&str], columns: u16) -> Terminal {
        let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let (mut own, mut other) = (0, 0);
        // SAFETY: both descriptors and the size outlive the call; null means defaults.
        let opened = unsafe {
            libc::openpty(&mut own, &mut other, std::ptr::null_mut(), std::ptr::null(), &size)
        };
        assert_eq!(opened, 0, "there are pseudo-terminals");
        // SAFETY: the call above has just opened both, and nobody else owns them.
        let (own, other) = unsafe { (OwnedFd::from_raw_fd(own), OwnedFd::from_raw_fd(other)) };
        let stdio = || Stdio::from(other.try_clone().expect("a descriptor"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_tacet"));
        let output = file.map_or_else(stdio, Stdio::from);
        command.args(arguments).stdin(stdio()).stdout(output).stderr(stdio());
        // SAFETY: both calls are async-signal-safe and touch the child alone.
        unsafe {
            command.pre_exec(|| {
                // The terminal sends its signals to the session that it controls.
                if libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let program = command.spawn().expect("tacet runs");
        let own = File::from(own);
        assert!(own.as_raw_fd() >= 0);
        let keyboard = own.try_clone().expect("a descriptor");
        Terminal { keyboard, screen: own, text: String::new(), program }
    }

    fn press(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).expect("the terminal takes keys");
    }

    /// Reads until the screen shows `wanted`.
    fn wait_for(&mut self, wanted: &str) {
        while !self.text.contains(wanted) {
            assert!(self.read(), "no '{wanted}' in: {}", self.text);
        }
    }

    /// Reads some more; false at the end.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        // Linux answers EIO when the program has closed the terminal.
        let count = self.screen.read(&mut bytes).unwrap_or(0);
        self.text += &String::from_utf8_lossy(&bytes[..count]);
        count > 0
    }

    /// The complete output and the exit status. The terminal's echo of Ctrl-C is removed: it may come between
    /// any two outputs.
    fn finish(mut self) -> (Vec<String>, ExitStatus) {
        while self.read() {}
        let status = self.program.wait().expect("the program ends");
        let text = self.text.replace("^C", "");
        (text.lines().map(|line| line.trim_end().to_owned()).collect(), status)
    }
}

/// The output of a command that ends by itself.
fn shown(arguments: &[&str], columns: u16) -> Vec<String> {
    let (lines, status) = Terminal::start(arguments, columns).finish();
    assert!(status.success(), "{arguments:?}: {lines:?}");
    lines
}

#[test]
fn a_person_is_greeted() {
    let mut terminal = Terminal::start(&[], 80);
    let greeting = format!("Tacet {}, ", env!("CARGO_PKG_VERSION"));
    terminal.wait_for("Type 'help'");
    assert!(terminal.text.starts_with(&greeting), "{}", terminal.text);
    terminal.press(b"help\n");
    terminal.wait_for("position startpos");
    terminal.press(b"quit\n");
    assert!(terminal.finish().1.success());
}

/// A table whose variation ends between two moves, at any width.
#[test]
fn the_table_of_a_search_fits_the_terminal() {
    for columns in [60, 80, 132] {
        let lines = shown(&["go", "depth", "8"], columns);
        let row = |line: &&String| line.contains(" 1. ");
        assert!(lines.iter().any(|line| line.contains("score")), "{lines:?}");
        assert!(lines.iter().filter(row).count() >= 8, "{lines:?}");
        let columns = usize::from(columns);
        assert!(lines.iter().all(|line| line.chars().count() <= columns), "{columns}: {lines:?}");
        assert!(lines.iter().any(|line| line.starts_with("bestmove ")), "{lines:?}");
    }
}

#[test]
fn ctrl_c_ends_an_unlimited_search_with_its_answer() {
    let mut terminal = Terminal::start(&["go"], 100);
    terminal.wait_for(" 1. ");
    terminal.press(CTRL_C);
    let (lines, status) = terminal.finish();
    assert!(status.success(), "{status}: {lines:?}");
    assert!(lines.last().is_some_and(|line| line.starts_with("bestmove ")), "{lines:?}");
}

#[test]
fn tables_and_help_fit_eighty_columns() {
    let mut commands = vec![vec!["schemes"], vec!["--help"]];
    for name in [
        "go", "bench", "perft", "eval", "suite", "compare", "audit", "trace", "duel", "zugzwang",
        "mine",
    ] {
        commands.push(vec![name, "--help"]);
        commands.push(vec![name, "-h"]);
    }
    for command in commands {
        for line in shown(&command, 80) {
            assert!(line.chars().count() <= 80, "{command:?}: {line}");
        }
    }
}

/// The terminal of the other streams does not matter.
#[test]
fn redirected_output_is_not_made_to_fit_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("schemes.txt");
    let file = File::create(&path).expect("a file");
    let (lines, status) = Terminal::start_into(Some(file), &["schemes"], 60).finish();
    assert!(status.success(), "{lines:?}");
    let text = std::fs::read_to_string(&path).expect("a table");
    assert!(text.lines().any(|line| line.chars().count() > 80), "{text}");
    assert!(shown(&["schemes"], 60).iter().all(|line| line.chars().count() <= 60));
}

/// Checkmate and stalemate are named.
#[test]
fn the_end_of_a_game_has_its_name() {
    for (fen, word) in [
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "stalemate"),
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "checkmate"),
    ] {
        let lines = shown(&["go", "depth", "3", fen], 80);
        assert!(lines.iter().any(|line| line.ends_with(word)), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("cp 0")), "{lines:?}");
    }
}
