//! The searchers: a [`SearchJob`] in, an [`Outcome`] out.

mod classic;
mod context;
pub mod correction;
pub mod endgame;
pub mod extend;
pub mod handicap;
pub mod history;
mod memory;
pub mod null_move;
pub mod observer;
pub mod ordering;
pub mod params;
pub mod pool;
pub mod prune;
mod pvs;
pub mod reduce;
pub mod sample;
pub mod stats;
mod switches;
pub mod table;
pub mod thread;
mod variation;
pub(crate) mod vote;
mod worker;

use std::sync::Arc;

use crate::board::{PackedMove, Position};
use crate::eval::Evaluator;
use crate::score::{Depth, Ply, Score};
use crate::time::{Limits, Sharing, TimeManager};
use classic::Classic;
use context::SharedContext;
use endgame::Probing;
use handicap::Handicap;
use null_move::Scheme;
use observer::Observer;
use params::Values;
use pvs::{Memory, Pvs};
use stats::Stats;
pub use switches::ClassicOptions;
use table::Table;
use thread::SearchThread;
use worker::Worker;

/// A searcher.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Searcher {
    /// Principal variation search with the techniques of modern engines.
    #[default]
    Playing,
    /// Likewise, with every root move searched to full depth.
    Tactical,
    /// The searcher of the 2002 paper, for experiments.
    Classic,
}

impl Searcher {
    /// All searchers, by the name used in UCI and on the command line.
    pub const ALL: [(&'static str, Searcher); 3] = [
        ("playing", Searcher::Playing),
        ("tactical", Searcher::Tactical),
        ("classic", Searcher::Classic),
    ];

    /// The searcher of a name, in any case of letters.
    pub fn named(name: &str) -> Option<Searcher> {
        Searcher::ALL.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|&(_, s)| s)
    }

    /// The null-move scheme of the searcher unless another is chosen.
    pub fn default_scheme(self) -> &'static Scheme {
        let name = match self {
            Searcher::Playing | Searcher::Tactical => "modern-endgame",
            Searcher::Classic => "verified-r3",
        };
        Scheme::named(name).unwrap_or(&null_move::SCHEMES[0])
    }
}

/// A search job: the root, the searcher and its options.
#[derive(Clone, Debug)]
pub struct SearchJob {
    pub root: Position,
    /// Keys of the earlier positions of the game, latest last.
    pub earlier: Vec<u64>,
    /// A searcher.
    pub searcher: Searcher,
    pub scheme: &'static Scheme,
    /// Number of lines, at least 1.
    pub multi_pv: usize,
    /// The root moves to search, all legal. Empty means all.
    pub search_moves: Vec<PackedMove>,
    /// Options of the classic searcher.
    pub switches: ClassicOptions,
    /// The evaluation of the playing searcher. The classic one has its own.
    pub evaluator: Evaluator,
    /// The parameters of the playing searcher.
    pub values: Values,
    /// The endgame tables of the playing searcher.
    pub probing: Probing,
    /// Weaker play. [`SearchJob::limits`] gives its limits.
    pub handicap: Option<Handicap>,
    /// Watches the search. `None` in games.
    pub observer: Option<Arc<dyn Observer>>,
}

impl SearchJob {
    /// A job for a position without history, with the defaults of a searcher.
    pub fn new(root: Position, searcher: Searcher) -> SearchJob {
        SearchJob {
            root,
            earlier: Vec::new(),
            searcher,
            scheme: searcher.default_scheme(),
            multi_pv: 1,
            search_moves: Vec::new(),
            switches: ClassicOptions::default(),
            evaluator: Evaluator::default(),
            values: Values::DEFAULT,
            probing: Probing::default(),
            handicap: None,
            observer: None,
        }
    }

    /// The limits of the search: those asked for, the nodes of weaker play, and how parameters share out
    /// the clock.
    pub fn limits(&self, asked: Limits) -> Limits {
        self.values.install();
        let asked = Limits { sharing: sharing(self.root.fullmove_number()), ..asked };
        match &self.handicap {
            Some(handicap) => handicap.limits(&self.root, asked),
            None => asked,
        }
    }

    /// True if several threads can work on the job.
    fn has_helpers(&self) -> bool {
        self.searcher != Searcher::Classic && self.handicap.is_none()
    }

    /// The job with its handicap applied, if it has one.
    fn weakened(&self) -> Option<SearchJob> {
        self.handicap.map(|handicap| handicap.weakened(self))
    }

    /// False for lines that only a handicap has asked for.
    fn wants(&self, message: &Message) -> bool {
        !matches!(message, Message::Line(info) if info.multi_pv > self.multi_pv)
    }

    /// The evaluation in use. The classic searcher always has the first one.
    fn evaluator(&self) -> &Evaluator {
        match self.searcher {
            Searcher::Playing | Searcher::Tactical => &self.evaluator,
            Searcher::Classic => Evaluator::first(),
        }
    }
}

/// The type of a score.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bound {
    /// The true score.
    #[default]
    Exact,
    /// The true score is at least this.
    Lower,
    /// The true score is at most this.
    Upper,
}

impl Bound {
    /// True if a score of this type decides a search with window `(alpha, beta)`.
    #[inline]
    pub fn decides(self, score: Score, alpha: Score, beta: Score) -> bool {
        match self {
            Bound::Exact => true,
            Bound::Lower => score >= beta,
            Bound::Upper => score <= alpha,
        }
    }
}

/// A line of play.
#[derive(Clone, Debug)]
pub struct Line {
    /// From the side to move.
    pub score: Score,
    pub bound: Bound,
    /// Never empty if the root has a legal move.
    pub moves: Vec<PackedMove>,
    /// The depth of the search.
    pub depth: Depth,
    /// The deepest ply reached.
    pub selective_depth: Ply,
}

/// A message from a running search.
#[derive(Clone, Debug)]
pub enum Message {
    Line(Info),
    /// A root move is being searched. Only in long searches.
    Move(CurrentMove),
}

/// The root move being searched.
#[derive(Clone, Copy, Debug)]
pub struct CurrentMove {
    pub m: PackedMove,
    /// Its number among the root moves, from 1.
    pub number: usize,
    /// The depth of the iteration.
    pub depth: Depth,
}

/// A line of the current depth, with the counters.
#[derive(Clone, Debug)]
pub struct Info {
    pub line: Line,
    /// The number of the line, from 1.
    pub multi_pv: usize,
    /// Nodes of all threads.
    pub nodes: u64,
    /// Tablebase hits of all threads.
    pub tablebase_hits: u64,
    /// Table entries of this search in per mille.
    pub hash_full: u32,
}

/// A record of a completed iteration. Counters include earlier iterations.
#[derive(Clone, Debug)]
pub struct Iteration {
    /// The depth of the last completed iteration.
    pub depth: Depth,
    pub best: PackedMove,
    pub score: Score,
    pub stats: Stats,
    /// Time since the search began.
    pub elapsed: std::time::Duration,
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The lines of the last completed depth, best first. Empty if the root has no legal move.
    pub lines: Vec<Line>,
    /// The depth of the last completed iteration.
    pub depth: Depth,
    pub stats: Stats,
    /// All completed iterations.
    pub iterations: Vec<Iteration>,
}

impl Outcome {
    /// The move to play. [`PackedMove::NONE`] if there is no legal move.
    pub fn best(&self) -> PackedMove {
        self.lines.first().and_then(|line| line.moves.first()).copied().unwrap_or_default()
    }

    /// The expected reply, if there is one.
    pub fn ponder(&self) -> PackedMove {
        self.lines.first().and_then(|line| line.moves.get(1)).copied().unwrap_or_default()
    }

    /// The score for the side to move. `None` if there is no legal move; the caller tells mate from
    /// stalemate.
    pub fn score(&self) -> Option<Score> {
        self.lines.first().map(|line| line.score)
    }
}

/// How the parameters share out the clock at a move number.
fn sharing(number: u32) -> Sharing {
    let mut sharing = Sharing::default();
    if params::use_clock_number() != 0 {
        let more = f64::from(params::clock_more_moves()) * (-f64::from(number) / 20.0).exp();
        sharing.moves_left = (f64::from(params::clock_moves()) + more).round() as u32;
    }
    if params::use_clock_share() != 0 {
        sharing.hard_share = Some(f64::from(params::clock_share()) / 100.0);
    }
    sharing
}

/// Searches a position on the caller's thread. Only the table is kept.
pub fn run(
    job: &SearchJob,
    table: &Table,
    time: &TimeManager,
    report: &mut dyn FnMut(&Message),
) -> Outcome {
    SearchThread::new().run(job, table, time, report)
}

/// Decides whether the root of a job, seen as a node `ply` plies from the root of another search,
/// reaches `beta` at `depth`: its score in the window `(beta - 1, beta)` and the counters. The keys
/// of the path to it are the last of [`SearchJob::earlier`]. `None` if stopped. Runs on one thread,
/// for the laboratory.
///
/// The playing searcher treats the node as a root: it does not prune the node itself and prunes less
/// near it. Its value is therefore more reliable than that of the search that met the node.
pub fn decide(
    job: &SearchJob,
    table: &Table,
    time: &TimeManager,
    beta: Score,
    depth: Depth,
    ply: Ply,
) -> Option<(Score, Stats)> {
    let shared = SharedContext::for_one();
    table.new_search();
    job.values.install();
    let mut worker = Worker::new(job, table, time, &shared, 0, None);
    worker.allow_stop();
    match job.searcher {
        Searcher::Classic => Classic::new(worker).decide(beta, depth, ply),
        _ => {
            let (mut memory, mut report) = (Memory::new(), |_: &Message| ());
            let (score, stats) =
                Pvs::new(worker, &mut memory, &mut report).decide(beta.to_table(ply), depth)?;
            Some((score.from_table(ply), stats))
        }
    }
}
