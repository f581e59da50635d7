//! `tacet suite`: how many positions of a suite are solved, and at what cost?

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::epd::{Record, Suite};
use super::runner::{self, SearchArgs, Selection};
use super::{LabError, print, report, variant};
use crate::score::Depth;
use crate::search::Outcome;
use crate::search::null_move::Scheme;
use crate::search::stats::Stats;
use crate::time::Limits;

/// Depth in plies if no limit is given.
const DEFAULT_DEPTH: Depth = 8;

/// Solves a suite of positions
///
/// A position is solved if the move found is one of its best moves (bm) and none of those to avoid
/// (am); where the length of a mate is known (dm, bm #N, ce +MN), if a mate at most that long is
/// found.
#[derive(clap::Args, Clone, Debug)]
pub struct SuiteArgs {
    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    search: SearchArgs,

    /// Search to this depth in plies; 8 if no limit is given, the first limit reached if several
    #[arg(long, value_parser = runner::depth)]
    depth: Option<Depth>,

    /// Search so many nodes
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,

    /// Search so many milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    time: Option<u64>,

    /// The null-move scheme; verified-r3 for the classic searcher, modern-endgame for the playing one
    #[arg(long, value_name = "SCHEME", value_parser = variant::scheme)]
    null_move: Option<&'static Scheme>,

    /// Write the results to this file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the results to this file as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// Runs `tacet suite`.
///
/// # Errors
/// If the suite cannot be read or is not EPD, or if the results cannot be written. That a position
/// is not solved is no error.
pub fn run(args: &SuiteArgs) -> Result<(), LabError> {
    let suite = args.selection.read()?;
    report::check_writable(args.csv.iter().chain(&args.json))?;
    print(&args.head(&suite))?;
    let layout = Layout::of(&suite.records);
    print(&layout.head())?;
    let begun = Instant::now();
    let lines = args.solve(&suite.records, &layout)?;
    let totals = Totals::of(&lines, begun.elapsed());
    print(&totals.to_string())?;
    if let Some(path) = &args.csv {
        report::write_csv(path, &csv_head(), &lines.iter().map(Solution::csv).collect::<Vec<_>>())?;
    }
    if let Some(path) = &args.json {
        report::write_json(path, &args.report(&suite, &lines, &totals))?;
    }
    Ok(())
}

/// What became of a position.
#[derive(Clone, Debug, Serialize)]
struct Solution {
    line: usize,
    id: String,
    fen: String,
    task: String,
    /// `None` if the suite sets no task here.
    solved: Option<bool>,
    /// In standard algebraic notation.
    best: String,
    /// As UCI writes it, for the side to move.
    score: String,
    depth: Depth,
    time_ms: f64,
    #[serde(flatten)]
    stats: Stats,
}

impl Solution {
    fn new(record: &Record, outcome: &Outcome, time: Duration) -> Solution {
        let (best, score) = (outcome.best(), outcome.score());
        Solution {
            line: record.line,
            id: record.id.clone(),
            fen: record.position.to_fen(),
            task: record.task(),
            solved: record.solved(best, score),
            best: if best.is_some() { record.position.san(best) } else { "-".to_owned() },
            score: score.map_or("-".to_owned(), |score| score.to_string()),
            depth: outcome.depth,
            time_ms: milliseconds(time),
            stats: outcome.stats,
        }
    }

    fn csv(&self) -> Vec<String> {
        let mut row = vec![
            self.line.to_string(),
            self.id.clone(),
            self.fen.clone(),
            self.task.clone(),
            self.solved.map_or(String::new(), |solved| u8::from(solved).to_string()),
            self.best.clone(),
            self.score.clone(),
            self.depth.to_string(),
            self.time_ms.to_string(),
        ];
        row.extend(self.stats.fields().map(|(_, count)| count.to_string()));
        row
    }
}

fn csv_head() -> Vec<&'static str> {
    let mut head = vec!["line", "id", "fen", "task", "solved", "best", "score", "depth", "time_ms"];
    head.extend(Stats::default().fields().map(|(name, _)| name));
    head
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// The JSON file.
#[derive(Serialize)]
struct Report<'a> {
    tacet: &'static str,
    suite: String,
    suite_hash: String,
    searcher: &'static str,
    null_move: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash_mb: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash_entries: Option<u32>,
    switches: BTreeMap<&'static str, bool>,
    depth: Option<Depth>,
    nodes: Option<u64>,
    time_ms: Option<u64>,
    totals: &'a Totals,
    positions: &'a [Solution],
}

impl SuiteArgs {
    fn limits(&self) -> Limits {
        let unlimited = self.depth.is_none() && self.nodes.is_none() && self.time.is_none();
        Limits {
            depth: if unlimited { Some(DEFAULT_DEPTH) } else { self.depth },
            nodes: self.nodes,
            move_time: self.time.map(Duration::from_millis),
            ..Limits::default()
        }
    }

    fn scheme(&self) -> &'static Scheme {
        self.null_move.unwrap_or_else(|| self.search.searcher.default_scheme())
    }

    /// Searches all positions; each is printed as soon as all before it are.
    fn solve(&self, records: &[Record], layout: &Layout) -> Result<Vec<Solution>, LabError> {
        let limits = self.limits();
        let work = |record: &Record, table: &_| {
            let begun = Instant::now();
            let limits = limits.clone();
            let outcome = self.search.search(&record.position, self.scheme(), limits, table);
            Solution::new(record, &outcome, begun.elapsed())
        };
        let bar = runner::progress(records.len(), 0);
        let mut waiting = BTreeMap::new();
        let mut lines: Vec<Solution> = Vec::with_capacity(records.len());
        let done = |index, line: Solution| {
            waiting.insert(index, line);
            bar.inc(1);
            while let Some(line) = waiting.remove(&lines.len()) {
                bar.suspend(|| print(&layout.line(&line)))?;
                lines.push(line);
            }
            Ok(())
        };
        runner::for_all(records, self.search.jobs, self.search.table_size(), work, done)?;
        bar.finish_and_clear();
        Ok(lines)
    }

    fn head(&self, suite: &Suite) -> String {
        format!(
            "{}: {} positions; {}, {}\n\n",
            suite.path.display(),
            suite.records.len(),
            self.limits_in_words(),
            self.settings()
        )
    }

    fn settings(&self) -> String {
        let mut text = format!("null move {}, {}", self.scheme().name, self.search.describe());
        for word in self.search.words().iter().filter(|word| word.starts_with("--switch")) {
            text.push_str(&word.replace("--switch", ","));
        }
        text
    }

    fn limits_in_words(&self) -> String {
        let limits = self.limits();
        let mut words = Vec::new();
        words.extend(limits.depth.map(|depth| format!("depth {depth}")));
        words.extend(limits.nodes.map(|nodes| format!("{} nodes", report::grouped(nodes))));
        words.extend(self.time.map(|time| format!("{time} ms")));
        words.join(" or ")
    }

    fn report<'a>(&self, suite: &Suite, lines: &'a [Solution], totals: &'a Totals) -> Report<'a> {
        let limits = self.limits();
        Report {
            tacet: env!("CARGO_PKG_VERSION"),
            suite: suite.path.display().to_string(),
            suite_hash: format!("{:016x}", suite.hash),
            searcher: runner::searcher_name(self.search.searcher),
            null_move: self.scheme().name,
            hash_mb: self.search.entries.is_none().then_some(self.search.hash),
            hash_entries: self.search.entries,
            switches: self.search.switches_by_name(),
            depth: limits.depth,
            nodes: limits.nodes,
            time_ms: self.time,
            totals,
            positions: lines,
        }
    }
}

/// The widths of the columns that depend on the suite.
struct Layout {
    id: usize,
}

impl Layout {
    fn of(records: &[Record]) -> Layout {
        const WIDEST: usize = 32;
        let widths = records.iter().map(|record| record.id.chars().count());
        Layout { id: widths.max().unwrap_or(0).clamp(2, WIDEST) }
    }

    fn head(&self) -> String {
        self.columns(["id", "solved", "best", "score", "depth", "nodes", "seconds", "wanted"])
    }

    fn line(&self, line: &Solution) -> String {
        let solved = match line.solved {
            Some(true) => "yes",
            Some(false) => "no",
            None => "-",
        };
        let id: String = line.id.chars().take(self.id).collect();
        let nodes = report::grouped(line.stats.nodes);
        let seconds = format!("{:.3}", line.time_ms / 1e3);
        let depth = line.depth.to_string();
        let wanted = &line.task;
        self.columns([&id, solved, &line.best, &line.score, &depth, &nodes, &seconds, wanted])
    }

    fn columns(&self, cells: [&str; 8]) -> String {
        let [id, solved, best, score, depth, nodes, seconds, wanted] = cells;
        let width = self.id;
        let line = format!(
            "{id:width$}  {solved:6}  {best:7}  {score:>9}  {depth:>5}  {nodes:>15}  {seconds:>9}  \
             {wanted}"
        );
        format!("{}\n", line.trim_end())
    }
}

/// The suite as a whole.
#[derive(Clone, Debug, Default, Serialize)]
struct Totals {
    positions: usize,
    /// How many of them set a task.
    tasks: usize,
    solved: usize,
    /// Of all positions together, whatever ran at a time.
    time_ms: f64,
    /// From the first to the last.
    wall_ms: f64,
    #[serde(flatten)]
    stats: Stats,
}

impl Totals {
    fn of(lines: &[Solution], wall: Duration) -> Totals {
        let mut totals = Totals { wall_ms: milliseconds(wall), ..Totals::default() };
        for line in lines {
            totals.positions += 1;
            totals.tasks += usize::from(line.solved.is_some());
            totals.solved += usize::from(line.solved == Some(true));
            totals.time_ms += line.time_ms;
            totals.stats += line.stats;
        }
        totals
    }
}

impl std::fmt::Display for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.time_ms / 1e3;
        writeln!(f, "\nsolved  {} of {}", self.solved, self.tasks)?;
        if self.tasks < self.positions {
            writeln!(f, "        {} positions set no task", self.positions - self.tasks)?;
        }
        writeln!(f, "nodes   {}", report::grouped(self.stats.nodes))?;
        write!(f, "time    {seconds:.3} s")?;
        if seconds > 0.0 {
            let speed = self.stats.nodes as f64 / seconds;
            write!(f, ", {} nodes a second", report::grouped(speed as u64))?;
        }
        writeln!(f, "; {:.3} s on the clock", self.wall_ms / 1e3)
    }
}
