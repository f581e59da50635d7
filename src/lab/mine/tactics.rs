//! Tactical positions from games.
//!
//! A position is kept if one move wins material or mates and no other comes near; if a shallow
//! search does not see it; and if long searches of both searchers agree and have not changed their
//! minds of late. The classic searcher proves it without null moves, so that the suite favours none
//! of the schemes that it is to compare.
//!
//! Left out are positions in check, those in which a side has only king and pawns (the 2002 paper
//! left them out of its suites too), moves that take back, and what is won or lost anyway.

use std::collections::HashSet;
use std::path::PathBuf;

use super::{Out, Wanted, epd_fields, settled};
use crate::board::pgn;
use crate::board::{PackedMove, Position, Square};
use crate::eval;
use crate::lab::report::grouped;
use crate::lab::runner::{self, TableSize};
use crate::lab::variant::scheme;
use crate::lab::{LabError, epd, print, read_games};
use crate::score::{Depth, MAX_PLY, Score};
use crate::search::null_move::Scheme;
use crate::search::pool::Pool;
use crate::search::table::Table;
use crate::search::{self, Outcome, SearchJob, Searcher};
use crate::time::{Limits, TimeManager};

/// The first plies of a game are left to the opening books.
const FIRST_PLY: usize = 8;
/// After a position found, so many plies of the game are passed over: they are much the same.
const APART: usize = 6;
/// So many games are searched before what they gave is written.
const WAVE: usize = 32;
/// The table of every search.
const HASH: TableSize = TableSize::Megabytes(16);
/// What the next best move may be worth, in centipawns: who wins anyway need not find anything.
const WON: i32 = 300;
/// What the best move must be worth at least: who loses anyway has nothing to find.
const HELD: i32 = -150;
/// How many of the last iterations must agree.
const STABLE: Depth = 2;
/// How many times the playing searcher's nodes the classic searcher may spend on the proof.
const CLASSIC_FACTOR: u64 = 8;

/// Tactical positions from games
///
/// Each has one best move that wins material or mates and that no other move comes near to; a
/// shallow search misses it, long searches of both searchers agree on it, the classic one without
/// null moves.
#[derive(clap::Args, Clone, Debug)]
pub struct TacticsArgs {
    /// Games in PGN
    #[arg(required = true)]
    games: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) wanted: Wanted,

    /// Games at a time; what is found does not depend on it
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,

    /// Nodes of the first look at each position
    #[arg(long, value_name = "N", default_value_t = 5_000,
          value_parser = clap::value_parser!(u64).range(100..))]
    nodes: u64,

    /// Nodes of the playing searcher's proof; the classic searcher spends eight times as many
    #[arg(long, value_name = "N", default_value_t = 200_000,
          value_parser = clap::value_parser!(u64).range(100..))]
    proof_nodes: u64,

    /// The classic searcher without null moves must not settle on the move before this depth
    #[arg(long, value_name = "D", default_value_t = 4,
          value_parser = clap::value_parser!(i32).range(1..MAX_PLY as i64))]
    min_depth: Depth,

    /// How much better than all others the move must be, in centipawns
    #[arg(long, value_name = "CP", default_value_t = 120,
          value_parser = clap::value_parser!(i32).range(1..=10_000))]
    gap: i32,
}

/// Mines games until enough is found or no game is left, and returns how many were found.
///
/// # Errors
/// Files that cannot be read or written, or hold no games.
pub fn mine(args: &TacticsArgs) -> Result<u32, LabError> {
    let games = read(&args.games)?;
    let miner = Miner::new(args)?;
    let mut out = Out::create(&args.wanted)?;
    let bar = runner::progress(args.wanted.count as usize, 0);
    let (mut funnel, mut keys) = (Funnel::default(), HashSet::new());
    for wave in games.chunks(WAVE) {
        for (found, steps) in miner.wave(wave)? {
            funnel.add(steps);
            for found in found {
                if !out.is_full() && keys.insert(found.position.key()) {
                    out.line(&found.epd(out.lines + 1))?;
                }
            }
        }
        bar.set_position(u64::from(out.lines));
        bar.set_message(format!("{} of {} games", funnel.games, games.len()));
        if out.is_full() {
            break;
        }
    }
    bar.finish_and_clear();
    print(&funnel.to_string())?;
    Ok(out.lines)
}

/// The games that have moves. One that chess does not allow is left out and said so: a collection
/// of many thousands is seldom without.
fn read(paths: &[PathBuf]) -> Result<Vec<pgn::Game>, LabError> {
    let (mut games, mut bad) = (Vec::new(), Vec::new());
    for path in paths {
        let (read, refused) = read_games(path)?;
        games.extend(read.into_iter().filter(|game| !game.moves.is_empty()));
        bad.extend(refused);
    }
    if games.is_empty() {
        let nothing = || "there is no game in these files".to_owned();
        return Err(LabError::Usage(bad.into_iter().next().unwrap_or_else(nothing)));
    }
    if let Some(reason) = bad.first() {
        eprintln!("games left out: {}, the first for this: {reason}", bad.len());
    }
    Ok(games)
}

/// A position found.
#[derive(Clone, Debug)]
struct Found {
    position: Position,
    best: PackedMove,
    /// What the move is worth, and the next best one.
    scores: [Score; 2],
    /// The depth from which on the classic searcher without null moves never left it.
    depth: Depth,
}

/// How far positions came; each step counts those that passed it.
#[derive(Clone, Copy, Default, Debug)]
struct Funnel {
    games: u64,
    /// Looked at.
    seen: u64,
    /// One move far ahead after the first look, which a shallow search does not see.
    candidates: u64,
    /// The playing searcher's long search agrees.
    confirmed: u64,
    /// So does the classic one's.
    proved: u64,
}

struct Miner<'a> {
    args: &'a TacticsArgs,
    off: &'static Scheme,
}

impl<'a> Miner<'a> {
    fn new(args: &'a TacticsArgs) -> Result<Miner<'a>, LabError> {
        Ok(Miner { args, off: scheme("off").map_err(LabError::Usage)? })
    }

    /// What games have to offer, in their order.
    fn wave(&self, games: &[pgn::Game]) -> Result<Vec<(Vec<Found>, Funnel)>, LabError> {
        let mut results = vec![(Vec::new(), Funnel::default()); games.len()];
        let work = |game: &pgn::Game, table: &Table| self.game(game, table);
        runner::for_all(games, self.args.jobs, HASH, work, |index, result| {
            results[index] = result;
            Ok(())
        })?;
        Ok(results)
    }

    fn game(&self, game: &pgn::Game, table: &Table) -> (Vec<Found>, Funnel) {
        let (mut found, mut funnel) = (Vec::new(), Funnel { games: 1, ..Funnel::default() });
        let mut pool = Pool::new();
        table.clear();
        let positions = game.positions();
        let mut next = if game.start == Position::startpos() { FIRST_PLY } else { 0 };
        while let Some(position) = positions.get(next) {
            let taken = taken_on(game, &positions, next);
            next += 1;
            if let Some(one) = self.examine(position, taken, &mut pool, table, &mut funnel) {
                found.push(one);
                next += APART - 1;
            }
        }
        (found, funnel)
    }

    /// The position if it is one to keep; on `taken` the move before took something. For the first
    /// look the pool and the table may remember the game so far: to begin anew takes longer than
    /// to look.
    fn examine(
        &self,
        position: &Position,
        taken: Option<Square>,
        pool: &mut Pool,
        table: &Table,
        funnel: &mut Funnel,
    ) -> Option<Found> {
        let dull = position.in_check()
            || position.legal_moves().len() < 2
            || epd::is_pawn_ending(position);
        // Without the clock and the history, which the file will not have.
        let position = Position::from_fen(&format!("{} 0 1", epd_fields(position))).ok();
        let position = position.filter(|_| !dull)?;
        funnel.seen += 1;
        let (job, nodes) =
            (playing(&position), |nodes| TimeManager::with_limits(Limits::to_nodes(nodes)));
        let look = pool.run(&job, table, &nodes(self.args.nodes), &mut |_| {});
        let (best, _) = self.solution(&look, &position)?;
        let is_seen = self.args.min_depth > 1 && {
            let limits = Limits::to_depth(self.args.min_depth - 1);
            self.prove(&position, limits, table).best() == best
        };
        if taken == Some(best.to()) || is_seen {
            return None;
        }
        funnel.candidates += 1;
        table.clear();
        let long = search::run(&job, table, &nodes(self.args.proof_nodes), &mut |_| {});
        let (confirmed, scores) = self.solution(&long, &position)?;
        if confirmed != best || !is_stable(&long) {
            return None;
        }
        funnel.confirmed += 1;
        let nodes = self.args.proof_nodes.saturating_mul(CLASSIC_FACTOR);
        let proof = self.prove(&position, Limits::to_nodes(nodes), table);
        let (proved, _) = self.solution(&proof, &position)?;
        if proved != best || !is_stable(&proof) {
            return None;
        }
        funnel.proved += 1;
        Some(Found { depth: settled(&proof)?, position, best, scores })
    }

    fn prove(&self, position: &Position, limits: Limits, table: &Table) -> Outcome {
        table.clear();
        let job = SearchJob { scheme: self.off, searcher: Searcher::Classic, ..playing(position) };
        search::run(&job, table, &TimeManager::with_limits(limits), &mut |_| {})
    }

    /// The best move with its value and the next best one's, if it wins material or mates, and if
    /// the next best is far behind and the game hangs on it.
    fn solution(&self, outcome: &Outcome, position: &Position) -> Option<(PackedMove, [Score; 2])> {
        let [first, second, ..] = outcome.lines.as_slice() else { return None };
        let scores = [first.score, second.score];
        let standing = eval::State::new(position).evaluate(position);
        let wins = first.score.is_mate_for_us() || first.score - standing >= self.args.gap;
        let is_far = first.score - second.score >= self.args.gap;
        let matters = first.score.value() >= HELD && second.score.value() <= WON;
        (wins && is_far && matters).then_some((*first.moves.first()?, scores))
    }
}

/// Where the move that led to this position took something, if it did.
fn taken_on(game: &pgn::Game, positions: &[Position], ply: usize) -> Option<Square> {
    let before = ply.checked_sub(1)?;
    let (position, m) = (positions.get(before)?, *game.moves.get(before)?);
    position.is_capture(m).then_some(m.to())
}

fn is_stable(outcome: &Outcome) -> bool {
    settled(outcome).is_some_and(|depth| depth + STABLE <= outcome.depth + 1)
}

/// A search of the playing searcher for the best move and the next best.
fn playing(position: &Position) -> SearchJob {
    SearchJob { multi_pv: 2, ..SearchJob::new(position.clone(), Searcher::Playing) }
}

impl Found {
    /// The position as a line of EPD.
    fn epd(&self, number: u32) -> String {
        format!(
            "{} bm {}; id \"tacet.{number:03}\"; c0 \"{}, next best {}, settled at depth {}\";",
            epd_fields(&self.position),
            self.position.san(self.best),
            worth(self.scores[0]),
            worth(self.scores[1]),
            self.depth,
        )
    }
}

fn worth(score: Score) -> String {
    match score.mate_moves() {
        Some(moves) => format!("mate {moves}"),
        None => format!("{:+.2}", f64::from(score.value()) / 100.0),
    }
}

impl Funnel {
    fn add(&mut self, other: Funnel) {
        self.games += other.games;
        self.seen += other.seen;
        self.candidates += other.candidates;
        self.confirmed += other.confirmed;
        self.proved += other.proved;
    }
}

impl std::fmt::Display for Funnel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Funnel { games, seen, candidates, confirmed, proved } = self;
        writeln!(
            f,
            "{games} games, {} positions seen, {candidates} candidates, {confirmed} confirmed, \
             {proved} proved",
            grouped(*seen)
        )
    }
}
