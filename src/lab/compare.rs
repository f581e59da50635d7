//! `tacet compare`: the tables of David-Tabibi & Netanyahu 2002 for any suite and any schemes.
//!
//! Every position is searched once with each scheme to the greatest depth; what stood after each
//! iteration gives the tables of all depths. Results go to a journal as they come, so that the same
//! command goes on where it was killed, and one with more schemes, more positions of the suite or
//! lesser depths uses what is there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::chart::{self, Series};
use super::epd::{Record, Suite};
use super::journal::Journal;
use super::runner::{self, SearchArgs, Selection};
use super::tally::{self, Cell, Entry, Grid, Step};
use super::{LabError, bootstrap, print, report, signature, variant};
use crate::board::PackedMove;
use crate::score::{Depth, Score};
use crate::search::Outcome;
use crate::search::null_move::Scheme;
use crate::search::stats::Stats;
use crate::search::table::Table;
use crate::time::Limits;

/// Compares null-move schemes on a suite of positions
///
/// Prints the tables of "Verified Null-Move Pruning" (2002) as Markdown: nodes, positions solved
/// (or mates found), and what happened inside the trees. Writes them beside the journal as .md,
/// .csv and .json, and the trees' growth as .svg. A command that was killed goes on when it is
/// given again.
#[derive(clap::Args, Clone, Debug)]
pub struct CompareArgs {
    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    search: SearchArgs,

    /// The depths in plies; 8 if no limit is given
    #[arg(long, value_name = "D,D,...", value_delimiter = ',', value_parser = runner::depth,
          conflicts_with_all = ["nodes", "time"])]
    depths: Vec<Depth>,

    /// Instead of depths: so many nodes for each position
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,

    /// Instead of depths: so many milliseconds for each position
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    time: Option<u64>,

    /// The null-move schemes
    #[arg(long, value_name = "SCHEME,...", value_delimiter = ',', value_parser = variant::scheme,
          default_value = "standard-r2,standard-r3,verified-r3")]
    null_move: Vec<&'static Scheme>,

    /// The scheme that the others are compared with; verified-r3 if it is there, else the last
    #[arg(long, value_name = "SCHEME", value_parser = variant::scheme)]
    base: Option<&'static Scheme>,

    /// Where the files go: a directory, or the beginning of their names; compare-SUITE here
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,

    /// Begin anew: forget the results of a run before
    #[arg(long)]
    fresh: bool,
}

/// Runs `tacet compare`.
///
/// # Errors
/// If the suite cannot be read or is not EPD, if the base is none of the schemes, if the journal
/// was made with other settings or by an engine that searches differently, or if a file cannot be
/// written.
pub fn run(args: CompareArgs) -> Result<(), LabError> {
    let plan = Plan::new(args)?;
    let results = plan.results()?;
    let rows = plan.rows(&results);
    let names: Vec<&'static str> = plan.schemes.iter().map(|scheme| scheme.name).collect();
    let grid = Grid { schemes: &names, base: plan.base, results: &rows };
    let cells = grid.cells(&plan.stages());
    let text = plan.markdown(&cells);
    report::write_text(&plan.file("md"), text.as_bytes())?;
    report::write_csv(&plan.file("csv"), &tally::csv_head(), &tally::csv_rows(&cells))?;
    report::write_json(&plan.file("json"), &plan.report(&cells))?;
    if let Some(figure) = plan.figure(&grid)? {
        report::write_text(&plan.file("svg"), figure.as_bytes())?;
    }
    print(&text)
}

/// A comparison to be made: the arguments, checked.
struct Plan {
    args: CompareArgs,
    suite: Suite,
    schemes: Vec<&'static Scheme>,
    base: usize,
    /// Ascending; empty if the searches are limited otherwise.
    depths: Vec<Depth>,
    out: PathBuf,
}

/// The results by line of the suite and scheme.
type Results = HashMap<(usize, String), Entry>;

/// What results depend on: the first line of the journal. Which positions, schemes and depths are
/// wanted changes no result and is free.
#[derive(Serialize)]
struct Header {
    journal: &'static str,
    tacet: &'static str,
    suite_hash: String,
    searcher: &'static str,
    switches: BTreeMap<&'static str, bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash_mb: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash_entries: Option<u32>,
    nodes: Option<u64>,
    time_ms: Option<u64>,
}

/// The JSON file.
#[derive(Serialize)]
struct Report<'a> {
    command: String,
    settings: Header,
    suite: String,
    positions: usize,
    base: &'static str,
    cells: &'a [Cell],
}

impl Plan {
    fn new(args: CompareArgs) -> Result<Plan, LabError> {
        let suite = args.selection.read()?;
        let mut schemes = args.null_move.clone();
        let mut seen = HashSet::new();
        schemes.retain(|scheme| seen.insert(scheme.name));
        let mut depths = args.depths.clone();
        if depths.is_empty() && args.nodes.is_none() && args.time.is_none() {
            depths.push(8);
        }
        depths.sort_unstable();
        depths.dedup();
        let base = base(&schemes, args.base)?;
        let out = out(&args)?;
        Ok(Plan { args, suite, schemes, base, depths, out })
    }

    fn file(&self, extension: &str) -> PathBuf {
        let mut name = self.out.clone().into_os_string();
        name.push(".");
        name.push(extension);
        name.into()
    }

    /// The lines of the tables: the depths, or the end.
    fn stages(&self) -> Vec<Option<Depth>> {
        if self.depths.is_empty() {
            vec![None]
        } else {
            self.depths.iter().copied().map(Some).collect()
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            depth: self.depths.last().copied(),
            nodes: self.args.nodes,
            move_time: self.args.time.map(Duration::from_millis),
            ..Limits::default()
        }
    }

    fn header(&self) -> Header {
        Header {
            journal: "tacet compare",
            tacet: env!("CARGO_PKG_VERSION"),
            suite_hash: format!("{:016x}", self.suite.hash),
            searcher: runner::searcher_name(self.args.search.searcher),
            switches: self.args.search.switches_by_name(),
            hash_mb: self.args.search.entries.is_none().then_some(self.args.search.hash),
            hash_entries: self.args.search.entries,
            nodes: self.args.nodes,
            time_ms: self.args.time,
        }
    }

    /// Takes the results there are from the journal and makes the others.
    fn results(&self) -> Result<Results, LabError> {
        let path = self.file("jsonl");
        let (mut journal, old): (_, Vec<Entry>) =
            Journal::open(&path, &self.header(), self.args.fresh)?;
        let signatures = self.signatures()?;
        check_signatures(&path, &old, &signatures)?;
        // Of a position searched twice the deeper search comes later.
        let mut results: Results =
            old.into_iter().map(|entry| ((entry.line, entry.scheme.clone()), entry)).collect();
        let tasks = self.tasks(&results);
        let total = self.suite.records.len() * self.schemes.len();
        if tasks.len() < total {
            eprintln!("{} of {total} searches are done already", total - tasks.len());
        }
        let bar = runner::progress(total, total - tasks.len());
        let work = |&(record, scheme): &(&Record, &'static Scheme), table: &Table| {
            let signature = signatures.get(scheme.name).copied().unwrap_or_default();
            self.entry(record, scheme, signature, table)
        };
        let done = |_, entry: Entry| {
            journal.append(&entry)?;
            bar.inc(1);
            results.insert((entry.line, entry.scheme.clone()), entry);
            Ok(())
        };
        runner::for_all(&tasks, self.args.search.jobs, self.args.search.table_size(), work, done)?;
        bar.finish_and_clear();
        Ok(results)
    }

    /// The searches that are not done yet.
    fn tasks(&self, results: &Results) -> Vec<(&Record, &'static Scheme)> {
        let schemes = |record| self.schemes.iter().map(move |&scheme| (record, scheme));
        let all = self.suite.records.iter().flat_map(schemes);
        let wanted = self.depths.last().copied();
        let done = |entry: &Entry| entry.to_depth >= wanted;
        all.filter(|(record, scheme)| !results.get(&key(record, scheme)).is_some_and(done))
            .collect()
    }

    fn entry(
        &self,
        record: &Record,
        scheme: &'static Scheme,
        signature: u64,
        table: &Table,
    ) -> Entry {
        let begun = Instant::now();
        let outcome = self.args.search.search(&record.position, scheme, self.limits(), table);
        let time = begun.elapsed();
        let steps = outcome.iterations.iter();
        Entry {
            line: record.line,
            scheme: scheme.name.to_owned(),
            signature,
            to_depth: self.depths.last().copied(),
            steps: steps
                .map(|i| step(record, i.depth, i.best, Some(i.score), i.elapsed, i.stats))
                .collect(),
            end: end(record, &outcome, time),
        }
    }

    /// The results in the order of suite and schemes.
    fn rows<'a>(&self, results: &'a Results) -> Vec<Vec<&'a Entry>> {
        let row = |record: &Record| {
            let entry = |scheme: &&Scheme| results.get(&key(record, scheme));
            self.schemes.iter().filter_map(entry).collect()
        };
        self.suite.records.iter().map(row).collect()
    }

    /// A fingerprint of how each scheme searches: results of an engine that searches otherwise
    /// must not be mixed with ours, whatever its version says.
    fn signatures(&self) -> Result<BTreeMap<&'static str, u64>, LabError> {
        let mut signatures = BTreeMap::new();
        let search = &self.args.search;
        let work = |scheme: &&'static Scheme, table: &Table| {
            signature::of(scheme, |position, limits| search.search(position, scheme, limits, table))
        };
        let done = |index: usize, signature| {
            if let Some(scheme) = self.schemes.get(index) {
                signatures.insert(scheme.name, signature);
            }
            Ok(())
        };
        runner::for_all(&self.schemes, search.jobs, search.table_size(), work, done)?;
        Ok(signatures)
    }

    /// The command that makes these tables, without what changes no number.
    fn command(&self) -> String {
        let mut words = vec!["tacet compare".to_owned()];
        words.extend(self.args.selection.words());
        if !self.depths.is_empty() {
            words.push(format!("--depths {}", comma_list(&self.depths)));
        }
        words.extend(self.args.nodes.map(|nodes| format!("--nodes {nodes}")));
        words.extend(self.args.time.map(|time| format!("--time {time}")));
        let names: Vec<&str> = self.schemes.iter().map(|scheme| scheme.name).collect();
        words.push(format!("--null-move {}", comma_list(&names)));
        words.extend(self.args.base.map(|base| format!("--base {}", base.name)));
        words.extend(self.args.search.words());
        words.join(" ")
    }

    fn markdown(&self, cells: &[Cell]) -> String {
        let records = &self.suite.records;
        let mates = records.iter().all(|record| record.mate.is_some());
        let found = if mates { "mates found" } else { "solved" };
        let base = self.schemes.get(self.base).map_or("", |scheme| scheme.name);
        format!(
            "# {name}: {count} positions\n\n    {command}\n\n\
             Tacet {version}, {settings}. Nodes are counted from depth 1 on. Intervals: paired \
             bootstrap over the positions, {resamples} resamples.\n\n\
             ## Tree size and {what}\n\n{tree}\n\
             {spread}\
             ## Inside the trees\n\n{inside}",
            name = self.suite_name(),
            count = report::grouped(records.len() as u64),
            command = self.command(),
            version = env!("CARGO_PKG_VERSION"),
            settings = self.args.search.describe(),
            resamples = report::grouped(bootstrap::RESAMPLES as u64),
            what = if mates { "mates found" } else { "positions solved" },
            tree = tally::tree_table(cells, base, found),
            spread = self.spread(cells),
            inside = tally::inside_table(cells),
        )
    }

    /// The section on single positions; nothing if there is only one scheme.
    fn spread(&self, cells: &[Cell]) -> String {
        if self.schemes.len() < 2 {
            return String::new();
        }
        let base = self.schemes.get(self.base).map_or("", |scheme| scheme.name);
        format!(
            "## Position by position\n\n\
             Nodes over those of {base} in the same position: the least and the most with their \
             lines of the suite, and what a tenth, half and nine tenths of the positions do not \
             exceed.\n\n{}\n",
            tally::spread_table(cells)
        )
    }

    fn suite_name(&self) -> String {
        let name = self.suite.path.file_name().unwrap_or(self.suite.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    fn report<'a>(&self, cells: &'a [Cell]) -> Report<'a> {
        Report {
            command: self.command(),
            settings: self.header(),
            suite: self.suite.path.display().to_string(),
            positions: self.suite.records.len(),
            base: self.schemes.get(self.base).map_or("", |scheme| scheme.name),
            cells,
        }
    }

    /// The figure; none if the searches were not limited by depth.
    fn figure(&self, grid: &Grid) -> Result<Option<String>, LabError> {
        let (Some(&least), Some(&most)) = (self.depths.first(), self.depths.last()) else {
            return Ok(None);
        };
        // A single depth is no curve: show how it came about.
        let from = if least == most { (most - 3).max(1) } else { least };
        let line = |(scheme, name): (usize, &&str)| Series {
            name: (*name).to_owned(),
            points: (from..=most).map(|depth| (depth, grid.nodes(depth, scheme))).collect(),
        };
        let series: Vec<Series> = grid.schemes.iter().enumerate().map(line).collect();
        let count = report::grouped(self.suite.records.len() as u64);
        let title = format!("Tree size: {}, {count} positions", self.suite_name());
        chart::tree_size(&title, &series).map(Some)
    }
}

fn key(record: &Record, scheme: &Scheme) -> (usize, String) {
    (record.line, scheme.name.to_owned())
}

fn comma_list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// The place of the base among the schemes.
fn base(schemes: &[&Scheme], wanted: Option<&Scheme>) -> Result<usize, LabError> {
    let place = |name| schemes.iter().position(|scheme| scheme.name == name);
    match wanted {
        Some(scheme) => place(scheme.name).ok_or_else(|| {
            LabError::Usage(format!("the base {} is not among the schemes", scheme.name))
        }),
        None => Ok(place("verified-r3").unwrap_or(schemes.len().saturating_sub(1))),
    }
}

/// The beginning of the files' names; its directory is made.
fn out(args: &CompareArgs) -> Result<PathBuf, LabError> {
    let stem = args.selection.file.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("compare-{stem}");
    let Some(path) = &args.out else { return Ok(PathBuf::from(name)) };
    let is_directory = path.is_dir() || path.as_os_str().to_string_lossy().ends_with(['/', '\\']);
    let out = if is_directory { path.join(name) } else { path.clone() };
    if let Some(directory) = out.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(directory).map_err(LabError::writing(directory))?;
    }
    Ok(out)
}

fn check_signatures(
    path: &Path,
    entries: &[Entry],
    signatures: &BTreeMap<&'static str, u64>,
) -> Result<(), LabError> {
    let differs = |entry: &&Entry| {
        signatures.get(entry.scheme.as_str()).is_some_and(|&ours| ours != entry.signature)
    };
    entries.iter().find(differs).map_or(Ok(()), |entry| {
        Err(LabError::Usage(format!(
            "{} was made by an engine that searches {} differently; choose another --out, or \
             --fresh to begin anew",
            path.display(),
            entry.scheme
        )))
    })
}

fn end(record: &Record, outcome: &Outcome, time: Duration) -> Step {
    step(record, outcome.depth, outcome.best(), outcome.score(), time, outcome.stats)
}

fn step(
    record: &Record,
    depth: Depth,
    best: PackedMove,
    score: Option<Score>,
    time: Duration,
    stats: Stats,
) -> Step {
    let chess960 = record.position.needs_chess960();
    Step {
        depth,
        best: record.position.uci(best, chess960),
        score: score.map_or("-".to_owned(), |score| score.to_string()),
        solved: record.solved(best, score),
        micros: u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
        stats,
    }
}
