//! Balanced openings. The built-in book of [`duel`](crate::lab::duel) was made by this command.

use super::{Collection, Wanted};
use crate::board::{PackedMove, Position};
use crate::kit::files::Files;
use crate::kit::interrupt;
use crate::kit::progress::Progress;
use crate::kit::random::Random;
use crate::lab::{LabError, runner};
use crate::search::table::Table;
use crate::search::{self, SearchJob, SearcherKind};
use crate::time::{Limits, TimeManager};

/// Plies of an opening.
const PLIES: usize = 8;
/// Largest advantage of either side, in unscaled centipawns.
const MAX_ADVANTAGE: i32 = 50;
/// Hash size in MB.
const HASH: usize = 16;

/// Find balanced openings of eight random moves
///
/// Writes positions (EPD) if the file's name ends in `.epd`, and UCI moves otherwise. `duel --book` reads
/// both.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct OpeningsArgs {
    #[command(flatten)]
    pub(super) wanted: Wanted,

    /// Seed of the random moves
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Nodes of the search that judges an opening
    #[arg(long, value_name = "N", default_value_t = 50_000,
          value_parser = clap::value_parser!(u64).range(100..))]
    nodes: u64,
}

/// Writes the openings, a line each. Returns their number.
pub(super) fn mine(args: &OpeningsArgs, files: &mut Files) -> Result<u32, LabError> {
    let mut found = Collection::new(&args.wanted, files)?;
    let end = args.wanted.out.extension();
    let is_epd = end.is_some_and(|end| end.eq_ignore_ascii_case("epd"));
    let mined = runner::with_stack(|| openings(args)).flatten().and_then(|openings| {
        openings.iter().try_for_each(|moves| {
            found.push(&if is_epd { as_epd(moves) } else { as_moves(moves) })
        })?;
        let is_whole = openings.len() == args.wanted.count as usize;
        if is_whole { Ok(()) } else { Err(LabError::Interrupted(String::new())) }
    });
    found.close(files, mined)
}

fn as_moves(moves: &[PackedMove]) -> String {
    let words: Vec<String> = moves.iter().map(PackedMove::to_string).collect();
    words.join(" ")
}

fn as_epd(moves: &[PackedMove]) -> String {
    moves.iter().fold(Position::startpos(), |position, &m| position.play(m).0).epd_fields()
}

/// The openings; fewer after Ctrl-C.
fn openings(args: &OpeningsArgs) -> Result<Vec<Vec<PackedMove>>, LabError> {
    let table = Table::new(HASH).map_err(|error| LabError::Machine(error.to_string()))?;
    let count = args.wanted.count as usize;
    let bar = Progress::new(count as u64, 0);
    let is_balanced = |position: &Position| {
        table.clear();
        let job = SearchJob::new(position.clone(), SearcherKind::Playing);
        let time = TimeManager::with_limits(Limits::to_nodes(args.nodes));
        let score = search::run(&job, &table, &time, &mut |_| {}).score();
        let balanced = score.is_some_and(|score| score.value().abs() <= MAX_ADVANTAGE);
        bar.inc(u64::from(balanced));
        balanced
    };
    let made = make(count, PLIES, args.seed, is_balanced, interrupt::is_requested);
    bar.finish_and_clear();
    Ok(made)
}

/// Draws openings from a seed: random legal moves from the start position that lead to distinct
/// positions, neither in check nor over, which `is_balanced` accepts.
fn make(
    count: usize,
    plies: usize,
    seed: u64,
    mut is_balanced: impl FnMut(&Position) -> bool,
    is_interrupted: impl Fn() -> bool,
) -> Vec<Vec<PackedMove>> {
    let mut random = Random::new(seed);
    let mut seen = std::collections::HashSet::new();
    let mut made = Vec::with_capacity(count);
    while made.len() < count && !is_interrupted() {
        let Some((moves, position)) = random_line(plies, &mut random) else { continue };
        let is_playable = !position.in_check() && position.has_legal_move();
        if is_playable && seen.insert(position.key()) && is_balanced(&position) {
            made.push(moves);
        }
    }
    made
}

fn random_line(plies: usize, random: &mut Random) -> Option<(Vec<PackedMove>, Position)> {
    let mut position = Position::startpos();
    let mut moves = Vec::with_capacity(plies);
    for _ in 0..plies {
        let m = *random.pick(&position.legal_moves())?;
        position = position.play(m).0;
        moves.push(m);
    }
    Some((moves, position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_openings_depend_on_the_seed_alone() {
        let make = |seed| make(20, 8, seed, |_| true, || false);
        assert_eq!(make(5), make(5));
        assert_ne!(make(5), make(6));
        assert!(make(5).iter().all(|moves| moves.len() == 8));
        assert!(super::make(20, 8, 5, |_| true, || true).is_empty());
    }
}
