//! Balanced openings, as [`duel`](crate::lab::duel)'s own were made.

use super::{Out, Wanted, epd_fields};
use crate::board::{PackedMove, Position};
use crate::lab::duel::openings::make;
use crate::lab::{LabError, runner};
use crate::search::table::Table;
use crate::search::{self, SearchJob, Searcher};
use crate::time::{Limits, TimeManager};

/// Plies of an opening.
const PLIES: usize = 8;
/// What an opening may be worth to either side, in centipawns.
const BALANCE: i32 = 50;
/// The table of the searches, in MB.
const HASH: usize = 16;

/// Balanced openings of eight random moves, as duel's own
///
/// They are written as positions (EPD), which `duel --book` and other programs read, if the name of the
/// file ends in `.epd`, and as UCI moves otherwise.
#[derive(clap::Args, Clone, Debug)]
pub struct OpeningsArgs {
    #[command(flatten)]
    pub(super) wanted: Wanted,

    /// Decides what is tried
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Nodes after which an opening is judged
    #[arg(long, value_name = "N", default_value_t = 50_000,
          value_parser = clap::value_parser!(u64).range(100..))]
    nodes: u64,
}

/// Writes the openings wanted, a line each, and returns their number.
///
/// # Errors
/// If they cannot be written.
pub fn mine(args: &OpeningsArgs) -> Result<u32, LabError> {
    let mut out = Out::create(&args.wanted)?;
    let is_epd = out.path.extension().is_some_and(|end| end.eq_ignore_ascii_case("epd"));
    for moves in runner::with_stack(|| openings(args))?? {
        out.line(&if is_epd { as_epd(&moves) } else { as_moves(&moves) })?;
    }
    Ok(out.lines)
}

fn as_moves(moves: &[PackedMove]) -> String {
    let words: Vec<String> = moves.iter().map(PackedMove::to_string).collect();
    words.join(" ")
}

fn as_epd(moves: &[PackedMove]) -> String {
    epd_fields(&moves.iter().fold(Position::startpos(), |position, &m| position.play(m).0))
}

fn openings(args: &OpeningsArgs) -> Result<Vec<Vec<PackedMove>>, LabError> {
    let table = Table::new(HASH).map_err(|error| LabError::Machine(error.to_string()))?;
    let count = args.wanted.count as usize;
    let bar = runner::progress(count, 0);
    let is_balanced = |position: &Position| {
        table.clear();
        let job = SearchJob::new(position.clone(), Searcher::Playing);
        let keeper = TimeManager::with_limits(Limits::to_nodes(args.nodes));
        let score = search::run(&job, &table, &keeper, &mut |_| {}).score();
        let balanced = score.is_some_and(|score| score.value().abs() <= BALANCE);
        bar.inc(u64::from(balanced));
        balanced
    };
    let made = make(count, PLIES, args.seed, is_balanced);
    bar.finish_and_clear();
    Ok(made)
}
