//! Searching many positions, several at a time, each by a search with one thread and a table of
//! its own that is cleared before: how many run at a time changes no node count.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::epd::{self, Suite};
use super::{LabError, report};
use crate::board::{Color, Position};
use crate::kit::progress::Progress;
use crate::score::{Depth, MAX_PLY};
use crate::search::null_move::Scheme;
use crate::search::table::Table;
use crate::search::{self, ClassicOptions, Outcome, SearchJob, Searcher};
use crate::time::{Limits, TimeManager};

/// Which positions of which suite.
#[derive(clap::Args, Clone, Debug)]
pub struct Selection {
    /// A suite of positions in EPD
    pub file: PathBuf,

    /// Leave out positions in which a side has only king and pawns, as the paper did
    #[arg(long)]
    pub discard_pawn_endings: bool,

    /// Only positions in which both sides have only king and pawns
    #[arg(long, conflicts_with = "discard_pawn_endings")]
    pub pawn_endings: bool,

    /// Only every Nth position (of those not left out)
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub every: u32,
}

impl Selection {
    /// Reads the suite and selects.
    ///
    /// # Errors
    /// If the file is no suite, if in a selected position the game is over, or if nothing is left.
    pub fn read(&self) -> Result<Suite, LabError> {
        let mut suite = epd::read(&self.file)?;
        suite.records.retain(|record| {
            let bare = |color| record.position.non_pawn_pieces(color).is_empty();
            !(self.discard_pawn_endings && record.is_pawn_ending())
                && (!self.pawn_endings || Color::ALL.into_iter().all(bare))
        });
        let step = usize::try_from(self.every).unwrap_or(usize::MAX);
        suite.records = suite.records.into_iter().step_by(step).collect();
        if let Some(over) = suite.records.iter().find(|r| !r.position.has_legal_move()) {
            return Err(LabError::Line {
                file: self.file.clone(),
                line: over.line,
                reason: "the game is over here: there is no legal move".to_owned(),
            });
        }
        if suite.records.is_empty() {
            let path = self.file.display();
            return Err(LabError::Usage(format!("{path} has no position of the kind wanted")));
        }
        Ok(suite)
    }

    /// The selection as it is typed.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![self.file.display().to_string()];
        if self.discard_pawn_endings {
            words.push("--discard-pawn-endings".to_owned());
        }
        if self.pawn_endings {
            words.push("--pawn-endings".to_owned());
        }
        if self.every > 1 {
            words.push(format!("--every {}", self.every));
        }
        words
    }
}

/// How to search.
#[derive(clap::Args, Clone, Debug)]
pub struct SearchArgs {
    /// The searcher: classic (the paper's), playing (the strong one) or tactical (the strong one for
    /// problems)
    #[arg(long, value_name = "NAME", default_value = "classic", value_parser = searcher)]
    pub searcher: Searcher,

    /// Megabytes of the transposition table, of which every job has one
    #[arg(long, value_name = "MB", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub hash: u32,

    /// Instead of megabytes: so many entries, rounded up to a multiple of four
    #[arg(long, value_name = "N", conflicts_with = "hash",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub entries: Option<u32>,

    /// How many positions are searched at a time
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: u16,

    /// Turn a choice of the classic searcher on or off, as in history=off
    #[arg(short = 'o', long = "switch", value_name = "NAME=on|off", value_parser = switch)]
    pub switches: Vec<Switch>,
}

/// A choice of the classic searcher, turned on or off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    name: &'static str,
    on: bool,
}

/// The size of a transposition table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableSize {
    /// In megabytes, as engines count.
    Megabytes(u32),
    /// In entries: for tables of less than a megabyte.
    Entries(u32),
}

impl TableSize {
    /// A table of this size.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn table(self) -> Result<Table, LabError> {
        let size = |size| usize::try_from(size).unwrap_or(usize::MAX);
        let table = match self {
            TableSize::Megabytes(megabytes) => Table::new(size(megabytes)),
            TableSize::Entries(count) => Table::with_entries(size(count)),
        };
        table.map_err(|error| LabError::Machine(error.to_string()))
    }
}

impl SearchArgs {
    /// The choices of the classic searcher; the last word on each counts.
    pub fn switches(&self) -> ClassicOptions {
        let mut switches = ClassicOptions::default();
        for Switch { name, on } in &self.switches {
            if let Some(switch) = switches.by_name(name) {
                *switch = *on;
            }
        }
        switches
    }

    /// The choices by name.
    pub fn switches_by_name(&self) -> BTreeMap<&'static str, bool> {
        let mut switches = self.switches();
        let state = |name| switches.by_name(name).map(|switch| (name, *switch));
        ClassicOptions::NAMES.iter().copied().filter_map(state).collect()
    }

    /// What is not as by default, as it is typed; `jobs` is left out, since it changes no result.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.searcher != Searcher::Classic {
            words.push(format!("--searcher {}", searcher_name(self.searcher)));
        }
        match self.table_size() {
            TableSize::Megabytes(64) => {}
            TableSize::Megabytes(size) => words.push(format!("--hash {size}")),
            TableSize::Entries(count) => words.push(format!("--entries {count}")),
        }
        let mut defaults = ClassicOptions::default();
        for (name, on) in self.switches_by_name() {
            if defaults.by_name(name).is_some_and(|switch| *switch != on) {
                words.push(format!("--switch {name}={}", if on { "on" } else { "off" }));
            }
        }
        words
    }

    /// The settings in a sentence.
    pub fn describe(&self) -> String {
        let name = searcher_name(self.searcher);
        let size = match self.table_size() {
            TableSize::Megabytes(size) => format!("{size} MB"),
            TableSize::Entries(count) => format!("{}-entry", report::grouped(count.into())),
        };
        format!("{name} searcher, one thread, {size} table cleared for each position")
    }

    /// How large each job's table is.
    pub fn table_size(&self) -> TableSize {
        self.entries.map_or(TableSize::Megabytes(self.hash), TableSize::Entries)
    }

    /// Searches a position with a table that is cleared before.
    pub fn search(
        &self,
        position: &Position,
        scheme: &'static Scheme,
        limits: Limits,
        table: &Table,
    ) -> Outcome {
        table.clear();
        let job = SearchJob {
            scheme,
            switches: self.switches(),
            ..SearchJob::new(position.clone(), self.searcher)
        };
        search::run(&job, table, &TimeManager::with_limits(limits), &mut |_| {})
    }
}

/// The name of a searcher.
pub fn searcher_name(searcher: Searcher) -> &'static str {
    Searcher::ALL.iter().find(|(_, s)| *s == searcher).map_or("?", |(name, _)| name)
}

/// For clap: a searcher by its name.
///
/// # Errors
/// If there is none of that name.
pub fn searcher(name: &str) -> Result<Searcher, String> {
    Searcher::named(name).ok_or_else(|| one_of("searcher", Searcher::ALL.iter().map(|(n, _)| *n)))
}

/// For clap: a depth in plies.
///
/// # Errors
/// If it is no number, or none that a search can reach.
pub fn depth(text: &str) -> Result<Depth, String> {
    let range = 1..MAX_PLY as Depth;
    let read = text.parse().ok().filter(|depth| range.contains(depth));
    read.ok_or_else(|| format!("a depth is a number from 1 to {}", range.end - 1))
}

fn switch(text: &str) -> Result<Switch, String> {
    let (name, state) = text.split_once('=').ok_or("it is written NAME=on or NAME=off")?;
    let on = match state {
        "on" | "true" => true,
        "off" | "false" => false,
        _ => return Err("a switch is on or off".to_owned()),
    };
    let name = ClassicOptions::NAMES.iter().copied().find(|known| known.eq_ignore_ascii_case(name));
    let name = name.ok_or_else(|| one_of("switch", ClassicOptions::NAMES.iter().copied()))?;
    Ok(Switch { name, on })
}

/// What to say of a word that is none of those known.
pub fn one_of(what: &str, names: impl IntoIterator<Item = &'static str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    format!("there is no such {what}; there are {}", names.join(", "))
}

/// The stack of a search thread in bytes: room for the deepest recursion.
const STACK: usize = 32 << 20;

/// Does `work` for all tasks, `jobs` at a time, each with a table of that size; `done` gets the
/// results with their tasks' indices, on this thread, in the order in which they come.
///
/// # Errors
/// If a table or a thread cannot be had, and the first error of `done`, after which no task is
/// begun.
pub fn for_all<T: Sync, R: Send>(
    tasks: &[T],
    jobs: u16,
    size: TableSize,
    work: impl Fn(&T, &Table) -> R + Sync,
    done: impl FnMut(usize, R) -> Result<(), LabError>,
) -> Result<(), LabError> {
    let count = usize::from(jobs).min(tasks.len());
    let tables = (0..count).map(|_| size.table()).collect::<Result<Vec<_>, _>>()?;
    for_all_with(tasks, tables, work, done)
}

/// The same with anything in place of the tables: as many tasks at a time as there are `owned`.
///
/// # Errors
/// If a thread cannot be had, and the first error of `done`, after which no task is begun.
pub fn for_all_with<T: Sync, O: Send, R: Send>(
    tasks: &[T],
    owned: Vec<O>,
    work: impl Fn(&T, &O) -> R + Sync,
    mut done: impl FnMut(usize, R) -> Result<(), LabError>,
) -> Result<(), LabError> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (next, stop, work) = (&next, &stop, &work);
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for own in owned {
            let sender = sender.clone();
            let worker = move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(index) else { break };
                    if sender.send((index, work(task, &own))).is_err() {
                        break;
                    }
                }
            };
            start(scope, worker).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        }
        drop(sender);
        results.into_iter().try_for_each(|(index, result)| {
            done(index, result).inspect_err(|_| stop.store(true, Ordering::Relaxed))
        })
    })
}

/// Begins `work` on a thread of a scope, with room for the deepest search.
///
/// # Errors
/// If no thread can be had.
pub fn start<'scope, R: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    work: impl FnOnce() -> R + Send + 'scope,
) -> Result<thread::ScopedJoinHandle<'scope, R>, LabError> {
    let started = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
    started.map_err(|error| LabError::Machine(format!("cannot start a thread: {error}")))
}

/// Does `work` on a thread with room for the deepest search.
///
/// # Errors
/// If no thread can be had.
pub fn with_stack<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R, LabError> {
    thread::scope(|scope| {
        start(scope, work)?.join().or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Progress of `total` tasks, `done` of which are there already.
pub fn progress(total: usize, done: usize) -> Progress {
    Progress::new(total as u64, done as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(switches: &[&str]) -> SearchArgs {
        SearchArgs {
            searcher: Searcher::Classic,
            hash: 64,
            entries: None,
            jobs: 1,
            switches: switches.iter().map(|text| switch(text).expect("is a switch")).collect(),
        }
    }

    #[test]
    fn switches_are_set_by_name_and_the_last_counts() {
        let args = args(&["history=off", "Store-Null-Cutoffs=on", "history=on", "table=off"]);
        let expected =
            ClassicOptions { store_null_cutoffs: true, table: false, ..ClassicOptions::default() };
        assert_eq!(args.switches(), expected);
        assert_eq!(args.words(), ["--switch store-null-cutoffs=on", "--switch table=off"]);
        assert_eq!(args.switches_by_name().len(), ClassicOptions::NAMES.len());
    }

    #[test]
    fn a_table_is_sized_in_megabytes_or_entries() {
        let mut args = args(&[]);
        assert_eq!(args.words(), [""; 0]);
        args.hash = 1;
        assert_eq!(args.words(), ["--hash 1"]);
        args.entries = Some(4096);
        assert_eq!(args.words(), ["--entries 4096"]);
        assert!(args.describe().contains("4,096-entry table"));
        assert!(args.table_size().table().is_ok_and(|table| table.megabytes() == 0));
    }

    #[test]
    fn wrong_words_are_told_the_right_ones() {
        assert!(switch("history").is_err_and(|e| e.contains("NAME=on")));
        assert!(switch("history=maybe").is_err_and(|e| e.contains("on or off")));
        assert!(switch("hystory=on").is_err_and(|e| e.contains("check-extension")));
        assert!(searcher("fast").is_err_and(|e| e.contains("classic")));
        for text in ["0", "-1", "240", "x", "99999999999"] {
            assert!(depth(text).is_err_and(|e| e.contains("from 1 to 239")), "{text}");
        }
    }
}
