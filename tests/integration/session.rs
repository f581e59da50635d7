//! The real program behind two pipes. Every wait is bounded, so a program that hangs fails the test.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use tacet::board::Position;

/// Upper bound of every wait, for a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// A running program.
pub struct Session {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

/// The output of a search.
#[derive(Debug)]
pub struct Answer {
    /// Its `info` lines with a score.
    pub infos: Vec<Info>,
    /// The texts of its `info string` lines.
    pub remarks: Vec<String>,
    pub best: String,
    pub ponder: Option<String>,
}

/// An `info` line.
#[derive(Clone, Debug)]
pub struct Info {
    pub depth: u32,
    pub rank: usize,
    pub score: Value,
    pub is_exact: bool,
    pub nodes: u64,
    pub pv: Vec<String>,
}

/// A score. Ordered from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Centipawns(i32),
    Mate(i32),
}

impl Session {
    /// Starts the program without arguments, as GUIs do.
    pub fn start() -> Session {
        Session::start_with(&[])
    }

    pub fn start_with(arguments: &[&str]) -> Session {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tacet"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("tacet starts");
        let output = child.stdout.take().expect("a pipe");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Session { child, input, lines }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends lines in one piece.
    pub fn send(&mut self, text: &str) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(format!("{text}\n").as_bytes()).expect("tacet reads");
    }

    /// The lines up to and including the first that begins with `beginning`.
    pub fn until(&self, beginning: &str) -> Vec<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut lines: Vec<String> = Vec::new();
        while lines.last().is_none_or(|line| !line.starts_with(beginning)) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => lines.push(line),
                Err(error) => panic!("no '{beginning}': {error}; so far {lines:#?}"),
            }
        }
        lines
    }

    /// The lines that arrive within `time`.
    pub fn within(&self, time: Duration) -> Vec<String> {
        let deadline = Instant::now() + time;
        let mut lines = Vec::new();
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => lines.push(line),
                Err(_) => return lines,
            }
        }
    }

    /// Sends lines and returns the output until all are executed. Not for use during a search.
    pub fn ask(&mut self, text: &str) -> Vec<String> {
        self.send(text);
        self.send("isready");
        let mut lines = self.until("readyok");
        lines.pop();
        lines
    }

    /// Sends lines of which the last is a `go`, and waits for its answer.
    pub fn search(&mut self, text: &str) -> Answer {
        self.send(text);
        self.answer()
    }

    /// Waits for the answer of a search.
    pub fn answer(&self) -> Answer {
        read_answer(&self.until("bestmove"))
    }

    /// Closes the input and waits for the end. Returns the remaining output.
    pub fn finish(mut self) -> (Vec<String>, ExitStatus) {
        self.input = None;
        let mut lines = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("tacet does not end with its input"),
            }
        }
        (lines, self.wait())
    }

    /// Closes both pipes, like a GUI that crashes, and waits for the end.
    pub fn abandoned(mut self) -> ExitStatus {
        self.input = None;
        // The reading thread ends with the next line.
        self.lines = channel().1;
        self.wait()
    }

    /// Waits for the end.
    pub fn wait(&mut self) -> ExitStatus {
        wait(&mut self.child)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the end of a program.
pub fn wait(child: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return status;
        }
        assert!(Instant::now() < deadline, "tacet does not end");
        thread::sleep(Duration::from_millis(5));
    }
}

impl Answer {
    /// The last exact line of the best move. Lines of this search must not have been read before.
    pub fn last(&self) -> &Info {
        let best = self.infos.iter().rev().find(|info| info.rank == 1 && info.is_exact);
        best.expect("an info line before bestmove")
    }

    /// The lines of the last depth of which as many as are `wanted` were shown.
    pub fn final_lines(&self, wanted: usize) -> &[Info] {
        let at = self.infos.windows(wanted).rposition(|lines| {
            lines.iter().enumerate().all(|(i, info)| info.rank == i + 1 && info.is_exact)
        });
        let at = at.unwrap_or_else(|| panic!("not {wanted} lines: {self:?}"));
        &self.infos[at..at + wanted]
    }
}

impl Value {
    fn worth(self) -> i32 {
        match self {
            Value::Centipawns(n) => n,
            Value::Mate(n) if n > 0 => 1_000_000 - n,
            Value::Mate(n) => -1_000_000 - n,
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<std::cmp::Ordering> {
        Some(self.worth().cmp(&other.worth()))
    }
}

/// The lines of a search, the last of them its `bestmove`.
pub fn read_answer(lines: &[String]) -> Answer {
    let (last, before) = lines.split_last().expect("a line");
    let words: Vec<&str> = last.split(' ').collect();
    let (best, ponder) = match words[..] {
        ["bestmove", best] => (best, None),
        ["bestmove", best, "ponder", ponder] => (best, Some(ponder.to_owned())),
        _ => panic!("not a bestmove: {last}"),
    };
    let remark = |line: &String| line.strip_prefix("info string ").map(str::to_owned);
    // The others report progress.
    let has_score = |line: &&String| line.starts_with("info ") && line.contains(" score ");
    Answer {
        infos: before.iter().filter(has_score).map(|line| read_info(line)).collect(),
        remarks: before.iter().filter_map(remark).collect(),
        best: best.to_owned(),
        ponder,
    }
}

fn read_info(line: &str) -> Info {
    let words: Vec<&str> = line.split(' ').collect();
    let after = |name: &str| words.iter().position(|word| *word == name).map(|at| at + 1);
    let number = |name: &str| after(name).map_or(0, |at| read_number(words[at], line));
    let score = after("score").unwrap_or_else(|| panic!("no score: {line}"));
    let value = read_number(words[score + 1], line) as i32;
    Info {
        depth: number("depth") as u32,
        rank: number("multipv") as usize,
        score: match words[score] {
            "cp" => Value::Centipawns(value),
            "mate" => Value::Mate(value),
            other => panic!("score {other}: {line}"),
        },
        is_exact: !words.contains(&"lowerbound") && !words.contains(&"upperbound"),
        nodes: number("nodes") as u64,
        pv: after("pv").map_or(Vec::new(), |at| words[at..].iter().map(|&m| m.into()).collect()),
    }
}

fn read_number(word: &str, line: &str) -> i64 {
    word.parse().unwrap_or_else(|_| panic!("'{word}' is no number: {line}"))
}

/// The position after moves in UCI notation. Panics if one is illegal.
pub fn play(root: &Position, moves: &[String]) -> Position {
    moves.iter().fold(root.clone(), |position, text| {
        let m = position.read_move(text).unwrap_or_else(|error| panic!("{error}"));
        position.play(m).0
    })
}

/// The position of a valid FEN.
pub fn position(fen: &str) -> Position {
    Position::from_fen(fen).unwrap_or_else(|error| panic!("{error}"))
}
