//! A suite searched with several schemes, with the results in a journal and reports next to it. Shared by
//! `compare` and `audit`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::epd::Suite;
use super::journal::{self, Journal, Restart};
use super::report::Origin;
use super::runner::{self, SearchSetup, TaskWorker};
use super::{LabError, counted, note, signature};
use crate::kit::files::{Files, Output};
use crate::kit::progress::Progress;
use crate::kit::table::TextTable;
use crate::search::null_move::Scheme;

/// Suite, schemes, settings and files of an experiment.
pub(crate) struct Experiment {
    pub(crate) setup: SearchSetup,
    pub(crate) suite: Suite,
    /// Each once.
    pub(crate) schemes: Vec<&'static Scheme>,
    /// The start of the files' names.
    pub(crate) out: PathBuf,
    pub(crate) origin: Origin,
    pub(crate) restart: Restart,
}

/// A result: a line of the journal.
pub(crate) trait JournalEntry: Serialize + DeserializeOwned + Send {
    /// Identifies the search.
    type Key: Eq + Hash;

    fn key(&self) -> Self::Key;

    fn scheme(&self) -> &str;

    /// The signature of the engine that made it.
    fn signature(&self) -> u64;
}

/// Results by their searches.
pub(crate) type Results<E> = HashMap<<E as JournalEntry>::Key, E>;

/// The signatures of the searches, by the schemes' names.
pub(crate) type Signatures = BTreeMap<&'static str, u64>;

impl Experiment {
    /// The file of a suffix such as `.md`.
    pub(crate) fn file(&self, suffix: &str) -> PathBuf {
        let mut name = self.out.clone().into_os_string();
        name.push(suffix);
        name.into()
    }

    /// Declares the journal and the reports, given by suffix and what each is.
    pub(crate) fn declare<'a>(
        &self,
        files: &mut Files,
        header: &impl Serialize,
        reports: impl IntoIterator<Item = &'a (&'a str, &'static str)>,
    ) -> Result<Vec<Option<Output>>, LabError> {
        let path = self.file(".jsonl");
        let reports = reports.into_iter().map(|&(suffix, what)| (Some(self.file(suffix)), what));
        let command = &self.origin.command;
        journal::declare(files, Some((&path, header)), command, self.restart, reports)
    }

    /// Reads the results in the journal and computes the missing ones. `tasks` returns those of `total`
    /// searches that are not among the results.
    pub(crate) fn results<E: JournalEntry, T: Sync>(
        &self,
        files: &mut Files,
        header: &impl Serialize,
        total: usize,
        tasks: impl FnOnce(&Results<E>) -> Vec<T>,
        work: impl Fn(&T, &Signatures, &TaskWorker) -> Result<E, LabError> + Sync,
    ) -> Result<(Results<E>, Journal), LabError> {
        let path = self.file(".jsonl");
        let (mut journal, old): (_, Vec<E>) = Journal::open(&path, header, self.restart)?;
        files.wrote(&path);
        let remains = |done: usize| {
            let path = path.display();
            format!("{done} of {total} searches done; the same command resumes from {path}")
        };
        let signatures = signature::of_all(&self.setup, &self.schemes)
            .map_err(|error| error.if_interrupted(|| remains(old.len())))?;
        let made = old.iter().map(|entry| (entry.scheme(), entry.signature()));
        signature::check(&path, made, &signatures)?;
        // Of two results of one search the later counts: it may be deeper.
        let mut results: Results<E> = old.into_iter().map(|entry| (entry.key(), entry)).collect();
        let tasks = tasks(&results);
        let mut done_count = total - tasks.len();
        note_start(done_count, total, &path);
        let progress = Progress::new(total as u64, done_count as u64);
        let done = |_, entry: Result<E, LabError>| {
            let entry = entry?;
            journal.append(&entry)?;
            progress.inc(1);
            done_count += 1;
            results.insert(entry.key(), entry);
            Ok(())
        };
        let work = |task: &T, worker: &TaskWorker| work(task, &signatures, worker);
        let result = runner::for_all(&tasks, self.setup.jobs, self.setup.table, work, done);
        progress.finish_and_clear();
        result.map_err(|error| error.if_interrupted(|| remains(done_count)))?;
        Ok((results, journal))
    }

    /// Writes the reports, and their receipts into the journal.
    pub(crate) fn write(
        &self,
        files: &mut Files,
        journal: &mut Journal,
        outputs: Vec<Option<Output>>,
        contents: Vec<Vec<u8>>,
    ) -> Result<(), LabError> {
        let reports = outputs.into_iter().zip(contents);
        journal::write(files, Some(journal), &self.origin.command, reports)
    }

    /// The description of a figure, for screen readers: where it comes from.
    pub(crate) fn figure_text(&self) -> String {
        format!("{}. {}", self.origin.command, self.origin.line())
    }

    /// The suite's file without its directory.
    pub(crate) fn suite_name(&self) -> String {
        let name = self.suite.path.file_name().unwrap_or(self.suite.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// `wcs.epd, 1,001 positions`
    pub(crate) fn describe_suite(&self) -> String {
        format!("{}, {}", self.suite_name(), counted(self.suite.records.len(), "position"))
    }
}

fn note_start(done: usize, total: usize, journal: &Path) {
    if done > 0 {
        note(&format!("{done} of {total} searches are done already"));
    } else {
        note(&format!("{} go to {}", counted(total, "result"), journal.display()));
    }
}

/// The schemes without repetitions.
pub(crate) fn unique(schemes: &[&'static Scheme]) -> Vec<&'static Scheme> {
    let mut seen = HashSet::new();
    schemes.iter().copied().filter(|scheme| seen.insert(scheme.name)).collect()
}

/// A table as Markdown or, with a width, for a terminal, where the first `keys` columns are repeated.
pub(crate) fn table_text(table: &TextTable, width: Option<usize>, keys: usize) -> String {
    match width {
        Some(_) => table.plain(width, keys),
        None => table.to_string(),
    }
}

/// The items, separated by commas.
pub(crate) fn comma_list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// A sentence that begins with a capital.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
