//! Zugzwang positions of three and four men, proved by tables and by search.
//!
//! A position in zugzwang sets no task by itself: its side to move has nothing good to find. There
//! are two kinds of tasks that lead there, and a searcher that lets the other side pass there sees a
//! way out that does not exist.
//!
//! - *Moves*: one, three or five plies before the zugzwang, each time one quiet move is the only one
//!   that keeps the result, by the tables. Made backwards; of each zugzwang, its mirror images and
//!   colours changed included, there is one task.
//! - *Mates*: a mate that the longest defence meets in zugzwang: could it pass, it would last
//!   longer. Who finds a mate has its score too, so none is found by chance.
//!
//! The classic searcher without null moves must be able to solve a task, or it would tell nothing,
//! but not at once.

use std::collections::HashSet;

use super::material::{MATERIALS, Material, before, image_key, materials};
use super::{Out, Wanted, epd_fields, settled};
use crate::board::notation::quoted;
use crate::board::tablebase::{Tablebase, Wdl};
use crate::board::{PackedMove, Position};
use crate::kit::random::Random;
use crate::lab::runner::{self, TableSize};
use crate::lab::variant::scheme;
use crate::lab::zugzwang::{Verdict, exact};
use crate::lab::{LabError, print};
use crate::score::{Depth, MAX_PLY, Score};
use crate::search::null_move::Scheme;
use crate::search::table::Table;
use crate::search::{self, Outcome, SearchJob, Searcher};
use crate::time::{Limits, TimeManager};

/// No material gives more than one of so many positions, as long as others give any: pawn endings
/// would crowd out the rest.
const SHARE: u32 = 10;
/// So many of a turn's random positions are given to a search, of those that would do.
const CANDIDATES: usize = 10;
/// Turns in a row that give nothing, after which a material is given up.
const BARREN: u32 = 5;
/// How many moves at least must be wrong: of two, chance finds the right one too often.
const WRONG_MOVES: usize = 3;
/// The table of every search.
const HASH: TableSize = TableSize::Megabytes(16);
/// How far apart the best move and the next must be for the searcher too, in centipawns.
const GAP: i32 = 150;
/// Plies from a task to its zugzwang, each as likely as the others.
const DISTANCES: [usize; 3] = [1, 3, 5];
/// Nodes after which the searcher has not found it.
const NODES: u64 = 1_000_000;

/// Zugzwangs with three and four men, and the moves that bring them about
///
/// Needs Syzygy tables of three and four men.
#[derive(clap::Args, Clone, Debug)]
pub struct ZugzwangArgs {
    /// Directories of Syzygy tables, as in PATH
    #[arg(long, value_name = "DIRS")]
    syzygy: String,

    #[command(flatten)]
    pub(super) wanted: Wanted,

    /// What is to be found
    #[arg(long, value_enum, default_value_t = Kind::Moves)]
    kind: Kind,

    /// Only zugzwangs of a side with a piece besides king and pawns: without one, many searchers
    /// make no null move
    #[arg(long)]
    pieces: bool,

    /// Decides what is tried
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Random positions of one material that are tried before it is the next one's turn
    #[arg(long, value_name = "N", default_value_t = 200_000,
          value_parser = clap::value_parser!(u32).range(1..))]
    tries: u32,

    /// Searches at a time; what is found does not depend on it
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,

    /// The classic searcher without null moves must not solve the task before this depth
    #[arg(long, value_name = "D", default_value_t = 4,
          value_parser = clap::value_parser!(i32).range(1..MAX_PLY as i64))]
    min_depth: Depth,

    /// The classic searcher without null moves must solve the task by this depth
    #[arg(long, value_name = "D", default_value_t = 12,
          value_parser = clap::value_parser!(i32).range(1..MAX_PLY as i64))]
    max_depth: Depth,
}

/// What is to be found.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// The only move that wins or draws; it leads to a zugzwang
    Moves,
    /// A mate through a zugzwang
    Mates,
    /// Nothing: the zugzwangs themselves, as `tacet zugzwang --epd` reads them
    Bare,
}

/// A position with its task.
#[derive(Clone, Debug)]
struct Find {
    position: Position,
    task: Task,
    /// The depth from which on a search without null moves solves it; 0 if there is no task.
    depth: Depth,
    /// What tells it from others, however it is turned.
    key: String,
    /// About the zugzwang.
    comment: String,
}

#[derive(Clone, Copy, Debug)]
enum Task {
    None,
    Move(PackedMove),
    Mate(i32),
}

/// Tries random positions of every material in turn until enough is found, and returns how many
/// were.
///
/// # Errors
/// If the tables cannot be opened or the file cannot be written.
pub fn mine(args: &ZugzwangArgs) -> Result<u32, LabError> {
    let miner = Miner::new(args)?;
    let mut materials = materials(&miner.tables);
    if materials.is_empty() {
        let reason =
            format!("'{}' has no tables of three or four men to mine", quoted(&args.syzygy));
        return Err(LabError::Usage(reason));
    }
    let mut out = Out::create(&args.wanted)?;
    let mut keys = HashSet::new();
    let mut most = args.wanted.count.div_ceil(SHARE);
    let bar = runner::progress(args.wanted.count as usize, 0);
    for turn in 0.. {
        if out.is_full() || materials.is_empty() {
            break;
        }
        if materials.iter().all(|material| material.taken >= most) {
            most *= 2;
        }
        let finds = miner.turn(turn, &materials, most, &keys)?;
        for (material, find) in materials.iter_mut().filter(|m| m.taken < most).zip(finds) {
            material.barren += 1;
            let Some(find) = find.filter(|find| !out.is_full() && keys.insert(find.key.clone()))
            else {
                continue;
            };
            material.barren = 0;
            material.taken += 1;
            out.line(&find.epd(out.lines + 1, args.pieces))?;
        }
        materials.retain(|material| material.barren < BARREN);
        bar.set_position(u64::from(out.lines));
    }
    bar.finish_and_clear();
    let names: Vec<&str> = materials.iter().map(|material| material.name.as_str()).collect();
    print(&format!("materials not yet exhausted: {}\n", names.join(" ")))?;
    Ok(out.lines)
}

struct Miner<'a> {
    args: &'a ZugzwangArgs,
    tables: Tablebase,
    off: &'static Scheme,
}

impl Miner<'_> {
    fn new(args: &ZugzwangArgs) -> Result<Miner<'_>, LabError> {
        let tables = Tablebase::open_list(&args.syzygy)
            .map_err(|error| LabError::Usage(error.to_string()))?;
        Ok(Miner { args, tables, off: scheme("off").map_err(LabError::Usage)? })
    }

    /// What each material finds that has not given its share.
    fn turn(
        &self,
        turn: u64,
        materials: &[Material],
        most: u32,
        known: &HashSet<String>,
    ) -> Result<Vec<Option<Find>>, LabError> {
        let hungry: Vec<&Material> = materials.iter().filter(|m| m.taken < most).collect();
        let mut finds = vec![None; hungry.len()];
        let work = |material: &&Material, table: &Table| {
            let number = turn * MATERIALS + material.number;
            let mut random = Random::numbered(self.args.seed, number);
            (0..self.args.tries)
                .filter_map(|_| self.candidate(&material.position(&mut random)?, &mut random))
                .filter(|find| !known.contains(&find.key))
                .take(CANDIDATES)
                .find_map(|find| self.proved(find, table))
        };
        runner::for_all(&hungry, self.args.jobs, HASH, work, |index, find| {
            finds[index] = find;
            Ok(())
        })?;
        Ok(finds)
    }

    /// What may be made of a random position, by the tables.
    fn candidate(&self, position: &Position, random: &mut Random) -> Option<Find> {
        let find = |position: &Position, task, comment| {
            Some(Find {
                key: image_key(position),
                position: position.clone(),
                task,
                depth: 0,
                comment,
            })
        };
        if self.args.kind == Kind::Mates {
            let victim = position.non_pawn_pieces(!position.turn());
            let counts = !self.args.pieces || !victim.is_empty();
            let wins = counts && self.tables.probe_wdl(position)? == Wdl::Win;
            return find(position, Task::Mate(0), String::new()).filter(|_| wins);
        }
        let (kept, comment) = self.in_zugzwang(position)?;
        if self.args.kind == Kind::Bare {
            return find(position, Task::None, comment);
        }
        let (task, best, plies) = self.task_before(position, kept, random)?;
        let comment = format!("{comment} after {plies} plies");
        // One task a zugzwang: the key is the zugzwang's.
        let zugzwang = find(position, Task::Move(best), comment)?;
        Some(Find { position: task, ..zugzwang })
    }

    /// If the side to move would rather pass and the fifty-move rule has no part in it: what this
    /// is worth to the other side, and the verdict in words.
    fn in_zugzwang(&self, position: &Position) -> Option<(Wdl, String)> {
        let (verdict, values) = exact(position, &self.tables)?;
        let certain = matches!(values.moving, Wdl::Loss | Wdl::Draw);
        if !certain || values.passing.sign() <= values.moving.sign() || !self.counts(position) {
            return None;
        }
        let kind = if verdict == Verdict::Mutual { "mutual" } else { "one-sided" };
        let full = if values.is_full_point() { ", full point" } else { "" };
        let comment = format!("{kind}{full}: moving {}, passing {}", values.moving, values.passing);
        Some((-values.moving, comment))
    }

    /// Does a zugzwang of the side to move count, for the pieces it has?
    fn counts(&self, position: &Position) -> bool {
        !self.args.pieces || !position.non_pawn_pieces(position.turn()).is_empty()
    }

    /// A task that leads to this position, its solution, and how many plies lie between.
    fn task_before(
        &self,
        position: &Position,
        kept: Wdl,
        random: &mut Random,
    ) -> Option<(Position, PackedMove, usize)> {
        let wanted = random.pick(&DISTANCES).copied()?;
        let (mut task, mut best) = self.only_move_before(position, kept, random)?;
        for _ in 1..=wanted / 2 {
            let mut replies = before(&task);
            random.shuffle(&mut replies);
            let earlier = |(reply, _): &_| self.only_move_before(reply, kept, random);
            (task, best) = replies.iter().find_map(earlier)?;
        }
        Some((task, best, wanted))
    }

    /// A position with a move that leads to this one and is the only one that keeps the result.
    fn only_move_before(
        &self,
        position: &Position,
        kept: Wdl,
        random: &mut Random,
    ) -> Option<(Position, PackedMove)> {
        let mut tasks = before(position);
        random.shuffle(&mut tasks);
        tasks.into_iter().find(|(task, best)| self.is_only_move(task, *best, kept))
    }

    /// Is this move worth what is to be kept, and are all others, of which there are enough, worth
    /// less?
    fn is_only_move(&self, position: &Position, best: PackedMove, kept: Wdl) -> bool {
        let moves = position.legal_moves();
        let worth = |m| Some(-self.tables.probe_wdl(&position.play(m).0)?);
        let is_less = |m| worth(m).is_some_and(|worth| worth.sign() < kept.sign());
        moves.len() > WRONG_MOVES
            && worth(best) == Some(kept)
            && moves.iter().all(|&m| m == best || is_less(m))
    }

    /// The find, if a search without null moves bears it out.
    fn proved(&self, find: Find, table: &Table) -> Option<Find> {
        match find.task {
            Task::None => Some(find),
            Task::Move(best) => self.proved_move(find, best, table),
            Task::Mate(_) => self.proved_mate(find, table),
        }
    }

    /// The move must be found, though not at once, and be seen to be the only one.
    fn proved_move(&self, find: Find, best: PackedMove, table: &Table) -> Option<Find> {
        let outcome = self.search(&find.position, self.args.max_depth, 2, table);
        let [first, second, ..] = outcome.lines.as_slice() else { return None };
        let tells = outcome.best() == best && first.score - second.score >= GAP;
        let depth = settled(&outcome).filter(|&depth| tells && depth >= self.args.min_depth)?;
        Some(Find { depth, ..find })
    }

    /// A mate must be found, though not at once, there must be a zugzwang on the way, and the first
    /// move must not take what happens to stand there.
    fn proved_mate(&self, find: Find, table: &Table) -> Option<Find> {
        let outcome = self.search(&find.position, self.args.max_depth, 1, table);
        let mate = outcome.score().and_then(Score::mate_moves).filter(|&moves| moves > 0)?;
        let found = |score: Score| score.mate_moves().is_some_and(|m| (1..=mate).contains(&m));
        let depth = outcome.iterations.iter().find(|step| found(step.score))?.depth;
        let line = outcome.lines.first()?.moves.clone();
        if depth < self.args.min_depth || find.position.is_capture(outcome.best()) {
            return None;
        }
        let zugzwangs = self.zugzwangs_on(&find.position, &line, mate, table);
        let comment = format!("zugzwangs on the way to mate: {zugzwangs}");
        (depth >= self.args.min_depth && zugzwangs > 0).then_some(Find {
            depth,
            task: Task::Mate(mate),
            comment,
            ..find
        })
    }

    /// In how many positions of a line to mate would the defence last longer if it could pass?
    fn zugzwangs_on(
        &self,
        position: &Position,
        line: &[PackedMove],
        mate: i32,
        table: &Table,
    ) -> usize {
        let mut position = position.clone();
        let mut zugzwangs = 0;
        for (ply, &m) in (1..).zip(line) {
            position = position.play(m).0;
            let left = mate - (ply + 1) / 2;
            if ply % 2 == 0 || left <= 0 || position.in_check() || !self.counts(&position) {
                continue;
            }
            let passed = self.search(&position.pass(), 2 * left - 1, 1, table);
            let in_time = passed.score().and_then(Score::mate_moves);
            zugzwangs += usize::from(!in_time.is_some_and(|moves| (1..=left).contains(&moves)));
        }
        zugzwangs
    }

    fn search(&self, position: &Position, depth: Depth, lines: usize, table: &Table) -> Outcome {
        table.clear();
        let job = SearchJob {
            scheme: self.off,
            multi_pv: lines,
            ..SearchJob::new(position.clone(), Searcher::Classic)
        };
        let limits = Limits { depth: Some(depth), nodes: Some(NODES), ..Limits::default() };
        search::run(&job, table, &TimeManager::with_limits(limits), &mut |_| {})
    }
}

impl Find {
    /// The position as a line of EPD.
    fn epd(&self, number: u32, pieces: bool) -> String {
        let depth = format!(", settled at depth {}", self.depth);
        let (kind, task, depth) = match self.task {
            Task::None => ("zugzwang", String::new(), String::new()),
            Task::Move(best) => ("move", format!(" bm {};", self.position.san(best)), depth),
            Task::Mate(moves) => ("mate", format!(" dm {moves};"), depth),
        };
        let fields = epd_fields(&self.position);
        let whose = if pieces { "piece-" } else { "" };
        let comment = &self.comment;
        format!("{fields}{task} id \"{whose}{kind}.{number:03}\"; c0 \"{comment}{depth}\";")
    }
}
