//! `tacet audit`: how often is a null-move cutoff false?
//!
//! While a position is searched, cutoffs that the scheme accepts are sampled. Each is then searched
//! again to the node's full depth, in the window `(beta - 1, beta)`, without null moves and with a
//! table and history of its own. If that search stays below beta, the cutoff was false. This happens after
//! the audited search and does not change it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::chart::{self, Figure, Series};
use super::experiment::{
    self, Experiment, ExperimentArgs, JournalEntry, Key, Results, SearchTask, capitalised,
    comma_list,
};
use super::journal::RunFiles;
use super::report::grouped;
use super::runner::{Depths, SearchHeader, TaskWorker};
use super::{LabError, bootstrap, print};
use crate::kit::table::Align::{Left, Right};
use crate::kit::table::{Column, TextTable};
use crate::kit::terminal;
use crate::score::Depth;
use crate::search::null_move::Scheme;
use crate::search::observer::Observer;
use crate::search::{Outcome, SearchJob};
use crate::time::Limits;

mod bands;
mod figure;
pub(super) mod judge;
pub(super) mod sampler;

use bands::{Count, DIVISIONS};
use judge::{Judge, JudgedCutoff, Tables};
use sampler::{CutoffSampler, Denier, SampleSize, SampledCutoff};

/// Measure how often null-move cutoffs are false
///
/// Samples the cutoffs that a scheme accepts and searches each node again without null moves, to
/// the same depth. Prints the share of false cutoffs, with 95 % intervals, by depth, material, margin
/// and other conditions, and the cost of checking them. Writes the tables as .md, all samples as .csv
/// and figures as .svg (by depth) and -nodes.svg (false cutoffs over nodes) next to the journal (.jsonl);
/// the same command resumes from it.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct AuditArgs {
    /// Depths in plies, e.g. 7, 7-9 or 7,9
    #[arg(long, alias = "depth", value_name = "RANGE", default_value = "7")]
    depths: Depths,

    /// Maximum number of cutoffs to audit per position and depth of the node
    #[arg(long, value_name = "N", default_value_t = 12,
          value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,

    /// The same for the four greatest depths of each search [default: as --sample]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    deep_sample: Option<u32>,

    /// Seed of the sample
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    experiment: ExperimentArgs,
}

/// Runs `tacet audit`.
pub(crate) fn run(args: AuditArgs) -> Result<(), LabError> {
    let plan = Plan::new(args)?;
    let (mut files, known) = plan.open()?;
    let results = plan.results(&mut files, known)?;
    let found = plan.found(&results);
    let title = plan.title();
    let contents = vec![
        plan.markdown(&found, None).into_bytes(),
        csv(&found).into_bytes(),
        figure::draw(&title, &found)?.into_bytes(),
        plan.nodes_figure(&found)?.into_bytes(),
    ];
    files.write(contents)?;
    print(&plan.markdown(&found, terminal::width()))?;
    files.note_written();
    Ok(())
}

/// An audit: the arguments, checked.
struct Plan {
    args: AuditArgs,
    experiment: Experiment,
}

/// The settings that the results depend on: the first line of the journal.
#[derive(Serialize)]
struct AuditHeader {
    #[serde(flatten)]
    search: SearchHeader,
    sample: u32,
    deep_sample: u32,
    seed: u64,
}

/// The audit of one search: a line of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct AuditEntry {
    line: usize,
    scheme: String,
    signature: u64,
    /// Of the search.
    depth: Depth,
    nodes: u64,
    best: String,
    solved: Option<bool>,
    /// Cutoffs accepted, by depth of the node, sampled or not.
    cutoffs: BTreeMap<Depth, u64>,
    samples: Vec<JudgedCutoff>,
    /// Controls: for each false cutoff one true cutoff of the same depth, if there is one. True if denying it
    /// changes the root.
    controls: Vec<bool>,
}

/// The results of one scheme at one depth.
struct Found<'a> {
    name: String,
    entries: Vec<&'a AuditEntry>,
}

impl<'a> Found<'a> {
    fn samples(&self) -> impl Iterator<Item = &'a JudgedCutoff> + '_ {
        self.entries.iter().flat_map(|entry| &entry.samples)
    }

    fn cutoffs(&self) -> u64 {
        self.entries.iter().flat_map(|entry| entry.cutoffs.values()).sum()
    }

    fn nodes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.nodes).sum()
    }

    /// False cutoffs per million: each sample stands for its share of the cutoffs of its depth and
    /// position.
    fn per_million(&self) -> f64 {
        per_million(self.entries.iter().map(|entry| entry.estimate()))
    }

    /// The 95 % interval of [`Found::per_million`] by a bootstrap over the positions.
    fn interval(&self) -> Option<bootstrap::Interval> {
        let pairs: Vec<(f64, f64)> = self.entries.iter().map(|entry| entry.estimate()).collect();
        bootstrap::interval(pairs.len(), |drawn| {
            per_million(drawn.iter().map(|&index| pairs[index]))
        })
    }
}

/// The first numbers per million of the second, all pairs together.
fn per_million(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (part, whole) = pairs.fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    1e6 * part / whole.max(1.0)
}

impl JournalEntry for AuditEntry {
    fn key(&self) -> Key {
        (self.line, self.scheme.clone(), Some(self.depth))
    }

    fn signature(&self) -> u64 {
        self.signature
    }
}

impl AuditEntry {
    /// The estimated number of false cutoffs, and that of all.
    fn estimate(&self) -> (f64, f64) {
        let wrong = self.cutoffs.iter().map(|(&depth, &cutoffs)| {
            let count = Count::of(self.samples.iter().filter(|sample| sample.depth == depth));
            count.rate() * cutoffs as f64
        });
        (wrong.sum(), self.cutoffs.values().sum::<u64>() as f64)
    }
}

impl Plan {
    fn new(args: AuditArgs) -> Result<Plan, LabError> {
        let depths = vec![format!("--depths {}", comma_list(&args.depths.0))];
        let mut sample = vec![format!("--sample {}", args.sample)];
        sample.extend(args.deep_sample.map(|size| format!("--deep-sample {size}")));
        sample.push(format!("--seed {}", args.seed));
        let experiment = Experiment::new("audit", &args.experiment, depths, sample)?;
        Ok(Plan { args, experiment })
    }

    /// Opens the journal and the reports: tables, samples, figures.
    fn open(&self) -> Result<(RunFiles, Vec<AuditEntry>), LabError> {
        let reports = [
            (".md", "the report"),
            (".csv", "the CSV file"),
            (".svg", "a figure"),
            ("-nodes.svg", "a figure"),
        ];
        self.experiment.open(&self.header(), &reports)
    }

    fn depths(&self) -> &[Depth] {
        &self.args.depths.0
    }

    fn deep_sample(&self) -> u32 {
        self.args.deep_sample.unwrap_or(self.args.sample)
    }

    fn header(&self) -> AuditHeader {
        AuditHeader {
            search: self.experiment.setup.header(
                "tacet audit",
                &self.experiment.suite,
                &Limits::default(),
            ),
            sample: self.args.sample,
            deep_sample: self.deep_sample(),
            seed: self.args.seed,
        }
    }

    /// Computes the results that are not known.
    fn results(
        &self,
        files: &mut RunFiles,
        known: Vec<AuditEntry>,
    ) -> Result<Results<AuditEntry>, LabError> {
        let depths: Vec<Option<Depth>> = self.depths().iter().copied().map(Some).collect();
        let work = |task: &SearchTask, worker: &TaskWorker| self.audit(task, worker);
        self.experiment.results(files, known, &depths, |_| true, work)
    }

    /// Searches a position, judges a sample of its accepted cutoffs, and checks for each false one whether
    /// denying it changes the root.
    fn audit(&self, task: &SearchTask, worker: &TaskWorker) -> Result<AuditEntry, LabError> {
        let depth = task.depth.unwrap_or_default();
        let size = SampleSize {
            each: self.args.sample as usize,
            deep: self.deep_sample() as usize,
            deep_from: depth - 4,
        };
        let sampler = Arc::new(CutoffSampler::new(size, self.args.seed));
        let outcome = self.search(task, sampler.clone(), worker);
        let strata = sampler.strata();
        let tables = Tables::new()?;
        let mut samples = Vec::new();
        let mut controls = Vec::new();
        worker.time(Limits::default(), |time| {
            let judge = Judge { setup: &self.experiment.setup, tables: &tables, time };
            for stratum in strata.values() {
                let mut judged: Vec<(&SampledCutoff, JudgedCutoff)> =
                    stratum.kept.values().map(|kept| (kept, judge.judge(kept))).collect();
                let wrong = judged.iter().filter(|(_, sample)| sample.is_false()).count();
                let right = judged.iter().filter(|(_, sample)| !sample.is_false());
                controls.extend(
                    right.take(wrong).map(|(kept, _)| self.matters(task, kept, &outcome, worker)),
                );
                for (kept, sample) in judged.iter_mut().filter(|(_, sample)| sample.is_false()) {
                    let limits = Limits::to_depth(kept.node.depth);
                    sample.line = worker.time(limits, |time| judge.best_line(kept, time));
                    sample.matters = Some(self.matters(task, kept, &outcome, worker));
                }
                samples.extend(judged.into_iter().map(|(_, sample)| sample));
            }
        });
        let best = outcome.best();
        Ok(AuditEntry {
            line: task.record.line,
            scheme: task.scheme.name.to_owned(),
            signature: task.signature,
            depth,
            nodes: outcome.stats.nodes,
            best: task.record.position.uci(best, task.record.position.needs_chess960()),
            solved: task.record.solved(best, outcome.score()),
            cutoffs: strata.iter().map(|(&depth, stratum)| (depth, stratum.cutoffs)).collect(),
            samples,
            controls,
        })
    }

    fn search(
        &self,
        task: &SearchTask,
        observer: Arc<dyn Observer>,
        worker: &TaskWorker,
    ) -> Outcome {
        let job = self.experiment.setup.job(task.record.position.clone(), task.scheme);
        let job = SearchJob { observer: Some(observer), ..job };
        worker.search(&job, Limits { depth: task.depth, ..Limits::default() })
    }

    /// Does the root's move or the solution change if this one cutoff is denied?
    fn matters(
        &self,
        task: &SearchTask,
        candidate: &SampledCutoff,
        before: &Outcome,
        worker: &TaskWorker,
    ) -> bool {
        let after = self.search(task, Arc::new(Denier::new(candidate)), worker);
        let solved = |outcome: &Outcome| task.record.solved(outcome.best(), outcome.score());
        after.best() != before.best() || solved(&after) != solved(before)
    }

    fn found<'a>(&'a self, results: &'a Results<AuditEntry>) -> Vec<Found<'a>> {
        let depths = self.depths();
        let mut found = Vec::new();
        for &depth in depths {
            for scheme in &self.experiment.schemes {
                let entries = self.experiment.of_scheme(results, scheme, Some(depth));
                let name = if depths.len() == 1 {
                    scheme.name.to_owned()
                } else {
                    format!("{} at depth {depth}", scheme.name)
                };
                found.push(Found { name, entries: entries.collect() });
            }
        }
        found
    }

    fn title(&self) -> String {
        let depths = comma_list(self.depths());
        format!("False null-move cutoffs: {}, depth {depths}", self.experiment.describe_suite())
    }

    /// False cutoffs per million over nodes: a line a scheme, a point a depth.
    fn nodes_figure(&self, found: &[Found]) -> Result<String, LabError> {
        let schemes = &self.experiment.schemes;
        let line = |(at, scheme): (usize, &&'static Scheme)| {
            let own = found.iter().skip(at).step_by(schemes.len());
            let points = own.map(|found| (found.nodes() as f64, found.per_million())).collect();
            Series { name: scheme.name.to_owned(), points }
        };
        let series: Vec<Series> = schemes.iter().enumerate().map(line).collect();
        let text = self.experiment.figure_text();
        chart::svg(Figure::FalseCutoffs, &self.title(), &text, &series)
    }

    /// The report, as Markdown or, with a width, for a terminal.
    fn markdown(&self, found: &[Found], width: Option<usize>) -> String {
        let text = |table: TextTable, keys| experiment::table_text(&table, width, keys);
        let mut report = format!(
            "# {}\n\n    {}\n\n{}.\n\n{}. A cutoff is false if a search of the node without null \
             moves, to the same depth, stays below beta. Centipawns are unscaled. Intervals of a \
             share: Wilson, 95 %; per million cutoffs: bootstrap over the positions.\n\n{}\n",
            self.title(),
            self.experiment.origin.command,
            self.experiment.origin.line(),
            capitalised(&self.experiment.setup.describe()),
            text(summary(found), 1)
        );
        for division in &DIVISIONS {
            let table = text(bands::table(division, found), 2);
            report.push_str(&format!("## By {}\n\n{table}\n", division.name));
        }
        report
    }
}

fn summary(found: &[Found]) -> TextTable {
    let controls = |scheme: &Found| -> Vec<bool> {
        scheme.entries.iter().flat_map(|entry| entry.controls.iter().copied()).collect()
    };
    let solved =
        |scheme: &Found| scheme.entries.iter().filter(|entry| entry.solved == Some(true)).count();
    let matter =
        |scheme: &Found| scheme.samples().filter(|sample| sample.matters == Some(true)).count();
    let count = |scheme: &Found| Count::of(scheme.samples());
    let columns: &[Column<Found>] = &[
        ("scheme", Left, &|scheme| scheme.name.clone()),
        ("nodes", Right, &|scheme| grouped(scheme.nodes())),
        ("solved", Right, &|scheme| grouped(solved(scheme) as u64)),
        ("cutoffs", Right, &|scheme| grouped(scheme.cutoffs())),
        ("audited", Right, &|scheme| grouped(count(scheme).audited)),
        ("false", Right, &|scheme| grouped(count(scheme).wrong())),
        ("zugzwangs", Right, &|scheme| grouped(count(scheme).zugzwangs)),
        ("false per M cutoffs", Right, &|scheme| format!("{:.0}", scheme.per_million())),
        ("95 %", Right, &|scheme| {
            scheme.interval().map_or("-".to_owned(), |i| format!("{:.0} to {:.0}", i.low, i.high))
        }),
        ("matter", Right, &|scheme| format!("{} of {}", matter(scheme), count(scheme).wrong())),
        ("controls", Right, &|scheme| {
            let controls = controls(scheme);
            format!("{} of {}", controls.iter().filter(|&&it| it).count(), controls.len())
        }),
    ];
    TextTable::of(found, columns)
}

/// All samples, one a row.
fn csv(found: &[Found]) -> String {
    let rows: Vec<(&AuditEntry, &JudgedCutoff)> = found
        .iter()
        .flat_map(|scheme| &scheme.entries)
        .flat_map(|entry| entry.samples.iter().map(move |sample| (*entry, sample)))
        .collect();
    let columns: &[Column<(&AuditEntry, &JudgedCutoff)>] = &[
        ("suite_line", Left, &|(entry, _)| entry.line.to_string()),
        ("scheme", Left, &|(entry, _)| entry.scheme.clone()),
        ("search_depth", Left, &|(entry, _)| entry.depth.to_string()),
        ("fen", Left, &|(_, sample)| sample.fen.clone()),
        ("depth", Left, &|(_, sample)| sample.depth.to_string()),
        ("null_depth", Left, &|(_, sample)| sample.null_depth.to_string()),
        ("ply", Left, &|(_, sample)| sample.ply.to_string()),
        ("beta", Left, &|(_, sample)| sample.beta.to_string()),
        ("margin", Left, &|(_, sample)| sample.margin.to_string()),
        ("pieces", Left, &|(_, sample)| sample.pieces.to_string()),
        ("all_pieces", Left, &|(_, sample)| sample.all_pieces.to_string()),
        ("is_pv", Left, &|(_, sample)| sample.is_pv.to_string()),
        ("verdict", Left, &|(_, sample)| sample.verdict.name().to_owned()),
        ("value", Left, &|(_, sample)| sample.value.to_string()),
        ("nodes", Left, &|(_, sample)| sample.nodes.to_string()),
        ("matters", Left, &|(_, sample)| {
            sample.matters.map_or(String::new(), |matters| matters.to_string())
        }),
        ("line", Left, &|(_, sample)| sample.line.clone()),
    ];
    TextTable::of(&rows, columns).csv()
}
