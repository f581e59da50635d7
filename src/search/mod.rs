//! Searching: a [`SearchJob`] in, an [`Outcome`] out.

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
use crate::time::{Limits, TimeManager};
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

/// Which searcher.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Searcher {
    /// The strong one.
    #[default]
    Playing,
    /// The same for problems: every move of the root gets its full depth.
    Tactical,
    /// The one of the 2002 paper, for experiments.
    Classic,
}

impl Searcher {
    /// All, with the names of the UCI option and of the command line.
    pub const ALL: [(&'static str, Searcher); 3] = [
        ("playing", Searcher::Playing),
        ("tactical", Searcher::Tactical),
        ("classic", Searcher::Classic),
    ];

    /// The searcher of a name, in any case.
    pub fn named(name: &str) -> Option<Searcher> {
        Searcher::ALL.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|&(_, s)| s)
    }

    /// The scheme it uses if none is chosen.
    pub fn default_scheme(self) -> &'static Scheme {
        let name = match self {
            Searcher::Playing | Searcher::Tactical => "modern-endgame",
            Searcher::Classic => "verified-r3",
        };
        Scheme::named(name).unwrap_or(&null_move::SCHEMES[0])
    }
}

/// What to search.
#[derive(Clone, Debug)]
pub struct SearchJob {
    /// The position.
    pub root: Position,
    /// Keys of the positions of the game before it, latest last.
    pub earlier: Vec<u64>,
    /// Which searcher.
    pub searcher: Searcher,
    /// Which null-move scheme.
    pub scheme: &'static Scheme,
    /// How many best lines are wanted; at least 1.
    pub multi_pv: usize,
    /// Only these root moves, all legal; empty for all.
    pub search_moves: Vec<PackedMove>,
    /// What the classic searcher does where the paper is silent.
    pub switches: ClassicOptions,
    /// The evaluation of the playing searcher; the classic one has its own.
    pub evaluator: Evaluator,
    /// The parameters of the playing searcher, where they can be set.
    pub values: Values,
    /// The endgame tables, which the playing searcher asks.
    pub probing: Probing,
    /// Plays weaker, if so. Its nodes are for the limits to keep ([`SearchJob::limits`]).
    pub handicap: Option<Handicap>,
    /// Watches the search; none in games.
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

    /// What limits its search: what is asked for, and the few nodes of weaker play.
    pub fn limits(&self, asked: Limits) -> Limits {
        match &self.handicap {
            Some(handicap) => handicap.limits(asked),
            None => asked,
        }
    }

    /// True if more threads than one can work on it.
    fn has_helpers(&self) -> bool {
        self.searcher != Searcher::Classic && self.handicap.is_none()
    }

    /// What is searched instead, with a handicap.
    fn weakened(&self) -> Option<SearchJob> {
        self.handicap.map(|handicap| handicap.weakened(self))
    }

    /// False for a line beyond those asked for, of which a handicap searches some.
    fn wants(&self, message: &Message) -> bool {
        !matches!(message, Message::Line(info) if info.multi_pv > self.multi_pv)
    }

    /// The evaluation in use: the classic searcher always has the first one.
    fn evaluator(&self) -> &Evaluator {
        match self.searcher {
            Searcher::Playing | Searcher::Tactical => &self.evaluator,
            Searcher::Classic => Evaluator::first(),
        }
    }
}

/// Is a reported score exact?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bound {
    /// It is.
    #[default]
    Exact,
    /// The true score is at least this.
    Lower,
    /// The true score is at most this.
    Upper,
}

impl Bound {
    /// Does a score that is known so leave nothing to search for between alpha and beta?
    #[inline]
    pub fn decides(self, score: Score, alpha: Score, beta: Score) -> bool {
        match self {
            Bound::Exact => true,
            Bound::Lower => score >= beta,
            Bound::Upper => score <= alpha,
        }
    }
}

/// One line of play, best first move first.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its value for the side to move.
    pub score: Score,
    /// Whether the value is exact.
    pub bound: Bound,
    /// The moves. Never empty if the root has a legal move.
    pub moves: Vec<PackedMove>,
    /// The depth it was searched to.
    pub depth: Depth,
    /// The deepest ply reached.
    pub selective_depth: Ply,
}

/// A message from a running search.
#[derive(Clone, Debug)]
pub enum Message {
    /// A line was found.
    Line(Info),
    /// A root move's turn has come; told only in long searches.
    Move(CurrentMove),
}

/// The root move that is searched now.
#[derive(Clone, Copy, Debug)]
pub struct CurrentMove {
    /// The move.
    pub m: PackedMove,
    /// Its place among the root's moves, from 1.
    pub number: usize,
    /// The depth of the iteration.
    pub depth: Depth,
}

/// One line of the current depth, and what was counted so far.
#[derive(Clone, Debug)]
pub struct Info {
    /// The line.
    pub line: Line,
    /// Its rank among the lines wanted, from 1.
    pub multi_pv: usize,
    /// Nodes searched so far.
    pub nodes: u64,
    /// Positions found in the tablebases so far.
    pub tablebase_hits: u64,
    /// Entries of this search among the table's, in per mille.
    pub hash_full: u32,
}

/// What stood at the end of one iteration. All counts are cumulative over the iterations before.
#[derive(Clone, Debug)]
pub struct Iteration {
    /// The depth completed.
    pub depth: Depth,
    /// The best move.
    pub best: PackedMove,
    /// Its value.
    pub score: Score,
    /// What was counted so far.
    pub stats: Stats,
    /// Time since the search began.
    pub elapsed: std::time::Duration,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The lines of the last depth completed, best first; empty if the root has no legal move.
    pub lines: Vec<Line>,
    /// The depth completed.
    pub depth: Depth,
    /// What was counted.
    pub stats: Stats,
    /// Every iteration completed, first to last.
    pub iterations: Vec<Iteration>,
}

impl Outcome {
    /// The move to play, or none if there is no legal move.
    pub fn best(&self) -> PackedMove {
        self.lines.first().and_then(|line| line.moves.first()).copied().unwrap_or_default()
    }

    /// The reply expected, or none.
    pub fn ponder(&self) -> PackedMove {
        self.lines.first().and_then(|line| line.moves.get(1)).copied().unwrap_or_default()
    }

    /// The value for the side to move; mate or stalemate if it has no legal move is the caller's
    /// to tell.
    pub fn score(&self) -> Option<Score> {
        self.lines.first().map(|line| line.score)
    }
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

/// Whether the job's root, taken as a node `ply` plies from the root of another search, reaches
/// `beta` at `depth`: its value in the window `(beta - 1, beta)`, and what was counted. The keys of
/// the path to it are the last of [`SearchJob::earlier`]. `None` if stopped. One thread; for the
/// laboratory.
///
/// The playing searcher takes the node for the root of a search: it does not prune the node itself,
/// and prunes less near it. That is closer to the truth than the search in which the node was met.
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
    let worker = Worker::new(job, table, time, &shared, 0, None);
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
