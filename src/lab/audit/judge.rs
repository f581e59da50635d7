//! Is an accepted cutoff false? The node is searched again, to its full depth and without null moves.

use serde::{Deserialize, Serialize};

use super::super::LabError;
use super::super::report;
use super::super::runner::{SearchSetup, TableSize};
use super::sampler::SampledCutoff;
use crate::board::{Color, Position};
use crate::eval::State;
use crate::score::{Depth, Ply, Score};
use crate::search::null_move::Scheme;
use crate::search::table::Table;
use crate::search::{self, SearchJob};
use crate::time::TimeManager;

/// The result of the search without null moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CutoffVerdict {
    /// Some move reaches beta.
    True,
    /// No move reaches beta; passing, searched as deep, does.
    Zugzwang,
    /// Neither does: the reduced depth hid a threat.
    Horizon,
}

impl CutoffVerdict {
    /// As in the CSV file.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            CutoffVerdict::True => "true",
            CutoffVerdict::Zugzwang => "zugzwang",
            CutoffVerdict::Horizon => "horizon",
        }
    }
}

/// An audited cutoff: a row of the CSV file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct JudgedCutoff {
    /// The position of the node.
    pub(crate) fen: String,
    /// The depth of the node in plies.
    pub(crate) depth: Depth,
    /// The depth to which the null move was searched; 0 and below is quiescence.
    pub(crate) null_depth: Depth,
    /// Plies from the root.
    pub(crate) ply: Ply,
    /// The bound in unscaled centipawns, for the side to move; mates are beyond 31,000.
    pub(crate) beta: i32,
    /// The static evaluation less beta, in unscaled centipawns.
    pub(crate) margin: i32,
    /// Pieces of the side to move besides king and pawns.
    pub(crate) pieces: u32,
    /// Such pieces of both sides.
    pub(crate) all_pieces: u32,
    pub(crate) is_pv: bool,
    pub(crate) verdict: CutoffVerdict,
    /// The value that the search without null moves found in the window `(beta - 1, beta)`.
    pub(crate) value: i32,
    /// Nodes of that search: what verifying this cutoff costs.
    pub(crate) nodes: u64,
    /// The best line at this depth without null moves; only of false cutoffs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) line: String,
    /// Whether the root's move or the solution changes if this one cutoff is denied; only of false
    /// cutoffs and their controls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) matters: Option<bool>,
}

impl JudgedCutoff {
    pub(crate) fn is_false(&self) -> bool {
        self.verdict != CutoffVerdict::True
    }

    /// Does the opponent of the root's side pass?
    pub(crate) fn is_opponent(&self) -> bool {
        self.ply % 2 == 1
    }
}

/// Tables for searches of different depths. Clearing a large one costs more than a shallow search.
pub(crate) struct Tables([Table; 3]);

impl Tables {
    const ENTRIES: [u32; 3] = [1 << 12, 1 << 16, 1 << 19];

    pub(crate) fn new() -> Result<Tables, LabError> {
        let [a, b, c] = Tables::ENTRIES.map(|count| TableSize::Entries(count).table());
        Ok(Tables([a?, b?, c?]))
    }

    fn cleared(&self, depth: Depth) -> &Table {
        let table = &self.0[match depth {
            ..=4 => 0,
            5..=6 => 1,
            _ => 2,
        }];
        table.clear();
        table
    }
}

/// Judges the cutoffs of one search.
pub(crate) struct Judge<'a> {
    pub(crate) setup: &'a SearchSetup,
    pub(crate) tables: &'a Tables,
    /// Ends all searches but that of [`Judge::best_line`] when it is stopped. Later results are invalid.
    pub(crate) time: &'a TimeManager,
}

impl Judge<'_> {
    /// Searches the node again to its full depth, without null moves.
    pub(crate) fn judge(&self, candidate: &SampledCutoff) -> JudgedCutoff {
        let SampledCutoff { position, keys, node, null_depth } = candidate;
        let beta = node.beta;
        let (value, nodes) = self.decide(position, keys.clone(), beta, node.depth, node.ply);
        let verdict = if value >= beta {
            CutoffVerdict::True
        } else if self.passing_holds(candidate) {
            CutoffVerdict::Zugzwang
        } else {
            CutoffVerdict::Horizon
        };
        let pieces = |color: Color| position.non_pawn_pieces(color).count() as u32;
        JudgedCutoff {
            fen: position.to_fen(),
            depth: node.depth,
            null_depth: *null_depth,
            ply: node.ply,
            beta: beta.value(),
            margin: self.static_eval(position) - beta.value(),
            pieces: pieces(position.turn()),
            all_pieces: pieces(Color::White) + pieces(Color::Black),
            is_pv: node.is_pv,
            verdict,
            value: value.value(),
            nodes,
            line: String::new(),
            matters: None,
        }
    }

    /// The best line of a node without null moves, in standard algebraic notation. `time` limits the search to
    /// the node's depth. Empty if it is stopped already.
    pub(crate) fn best_line(&self, candidate: &SampledCutoff, time: &TimeManager) -> String {
        if time.is_stopped() {
            return String::new();
        }
        let SampledCutoff { position, keys, node, .. } = candidate;
        let job = self.job(position.clone(), keys.clone());
        let outcome = search::run(&job, self.tables.cleared(node.depth), time, &mut |_| ());
        report::best_line(position, &outcome, usize::MAX)
    }

    /// Does passing, searched as deep as a move, reach beta?
    fn passing_holds(&self, SampledCutoff { position, keys, node, .. }: &SampledCutoff) -> bool {
        let mut keys = keys.clone();
        keys.push(position.key());
        let bound = -node.beta + 1;
        let (value, _) = self.decide(&position.pass(), keys, bound, node.depth - 1, node.ply + 1);
        value < bound
    }

    /// The value in the window `(beta - 1, beta)` and the nodes of the search.
    fn decide(
        &self,
        position: &Position,
        keys: Vec<u64>,
        beta: Score,
        depth: Depth,
        ply: Ply,
    ) -> (Score, u64) {
        let job = self.job(position.clone(), keys);
        let found = search::decide(&job, self.tables.cleared(depth), self.time, beta, depth, ply);
        found.map_or((beta, 0), |(value, stats)| (value, stats.nodes))
    }

    fn job(&self, position: Position, earlier: Vec<u64>) -> SearchJob {
        SearchJob { earlier, ..self.setup.job(position, Scheme::off()) }
    }

    fn static_eval(&self, position: &Position) -> i32 {
        State::with(self.setup.searcher.evaluator(), position).evaluate(position).value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::null_move::{NodeFacts, Path};
    use crate::time::Limits;

    #[test]
    fn a_stopped_judge_searches_no_line() {
        let node = NodeFacts {
            depth: 2,
            ply: 0,
            in_check: false,
            is_pv: false,
            own_pieces: 7,
            max_pieces: 7,
            root_material: 14,
            eval: Score::ZERO,
            static_eval: Score::ZERO,
            beta: Score::ZERO,
            path: Path::ROOT,
        };
        let position = Position::startpos();
        let candidate = SampledCutoff { position, keys: Vec::new(), node, null_depth: 0 };
        let (setup, tables) = (SearchSetup::classic(), Tables::new().expect("they fit"));
        let time = TimeManager::with_limits(Limits::to_depth(node.depth));
        let judge = Judge { setup: &setup, tables: &tables, time: &time };
        assert_ne!(judge.best_line(&candidate, &time), "");
        time.stop();
        assert_eq!(judge.best_line(&candidate, &time), "");
    }
}
