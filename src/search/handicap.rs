//! Weaker play: errors such as people make, and no slower moves.
//!
//! Two things make a weak player: he sees less, and of what he sees he does not always choose the
//! best. So a handicapped search is given few nodes, which also makes it answer at once, and looks at
//! several lines; then it chooses among them by the rule of Luce (1959): with a probability that
//! falls exponentially with what a line loses against the best. What loses too much in its own eyes
//! is not played: mates found, and captures of what hangs, are not missed. All numbers are in one
//! table, and what Elo they come to was measured by games (`docs/user/options.md`).

use std::ops::RangeInclusive;

use super::endgame::Probing;
use super::{Line, SearchJob};
use crate::board::zobrist::split_mix;
use crate::time::Limits;

/// How weak, and which errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handicap {
    /// The strength aimed at, in [`Handicap::ELO`].
    pub elo: u32,
    /// The same seed makes the same errors in the same positions of a game.
    pub seed: u64,
}

/// What a player of some strength sees and does.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Level {
    elo: f64,
    /// Nodes for a move.
    nodes: f64,
    /// Lines from which the move is chosen.
    lines: f64,
    /// A line so many centipawns worse than another is chosen e times less often.
    temperature: f64,
    /// No line is chosen that seems to lose more centipawns against the best.
    most_loss: f64,
}

const fn level(elo: u32, nodes: u32, lines: u32, temperature: u32, most_loss: u32) -> Level {
    Level {
        elo: elo as f64,
        nodes: nodes as f64,
        lines: lines as f64,
        temperature: temperature as f64,
        most_loss: most_loss as f64,
    }
}

/// From the weakest on, with the Elo measured; what lies between two levels is interpolated, nodes
/// by their logarithm.
const LEVELS: [Level; 7] = [
    level(817, 600, 10, 250, 500),
    level(1255, 1_000, 8, 80, 300),
    level(1590, 2_000, 7, 55, 220),
    level(2065, 5_000, 6, 35, 150),
    level(2502, 15_000, 5, 20, 90),
    level(2939, 30_000, 4, 15, 65),
    level(3150, 60_000, 4, 10, 45),
];

impl Handicap {
    /// The strengths that can be asked for.
    pub const ELO: RangeInclusive<u32> = 1000..=3000;

    /// The limits of a search, and the few nodes that it is given.
    pub fn limits(&self, limits: Limits) -> Limits {
        let few = self.level().nodes as u64;
        Limits { nodes: Some(limits.nodes.map_or(few, |nodes| nodes.min(few))), ..limits }
    }

    /// What is searched: several lines, without endgame tables.
    pub fn weakened(&self, job: &SearchJob) -> SearchJob {
        SearchJob {
            handicap: None,
            multi_pv: job.multi_pv.max(self.level().lines as usize),
            probing: Probing::default(),
            ..job.clone()
        }
    }

    /// Puts the line to be played before the others, of which the best was the first.
    pub fn choose(&self, job: &SearchJob, lines: &mut [Line]) {
        let Some(best) = lines.first().map(|line| line.score) else { return };
        // Two mates differ by plies, not by worth; but who sees a mate in one plays it.
        if best.mate_moves() == Some(1) {
            return;
        }
        let Level { lines: seen, temperature, most_loss, .. } = self.level();
        let mut state = self.seed ^ job.root.key() ^ job.earlier.len() as u64;
        let mut chosen = (f64::NEG_INFINITY, 0);
        for (i, line) in lines.iter().enumerate().take(seen as usize) {
            let loss = f64::from(best - line.score);
            let noise;
            (noise, state) = gumbel(state);
            let appeal = temperature * noise - loss;
            if loss <= most_loss && appeal > chosen.0 {
                chosen = (appeal, i);
            }
        }
        lines[..=chosen.1].rotate_right(1);
    }

    fn level(&self) -> Level {
        let elo = f64::from(self.elo).clamp(LEVELS[0].elo, LEVELS[LEVELS.len() - 1].elo);
        let above = LEVELS.iter().position(|level| level.elo >= elo).unwrap_or(LEVELS.len() - 1);
        let (low, high) = (LEVELS[above.saturating_sub(1)], LEVELS[above]);
        let part = if high.elo > low.elo { (elo - low.elo) / (high.elo - low.elo) } else { 0.0 };
        let between = |a: f64, b: f64| a + (b - a) * part;
        Level {
            elo,
            nodes: between(low.nodes.ln(), high.nodes.ln()).exp().round(),
            lines: between(low.lines, high.lines).round(),
            temperature: between(low.temperature, high.temperature),
            most_loss: between(low.most_loss, high.most_loss),
        }
    }
}

/// A random number of Gumbel's distribution, and the next state: who adds these to values and takes
/// the largest chooses by Luce's rule.
fn gumbel(state: u64) -> (f64, u64) {
    let (bits, state) = split_mix(state);
    let uniform = ((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    (-(-uniform.ln()).ln(), state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{PackedMove, Position};
    use crate::score::Score;
    use crate::search::{Bound, Searcher};

    fn lines(scores: &[Score]) -> Vec<Line> {
        let moves = Position::startpos().legal_moves();
        let line = |(&score, &m): (&Score, &PackedMove)| Line {
            score,
            bound: Bound::Exact,
            moves: vec![m],
            depth: 3,
            selective_depth: 3,
        };
        scores.iter().zip(moves.iter()).map(line).collect()
    }

    /// How often each of some lines is chosen, of so many times.
    fn choices(elo: u32, scores: &[Score], times: u64) -> Vec<u32> {
        let job = SearchJob::new(Position::startpos(), Searcher::Playing);
        let mut counts = vec![0; scores.len()];
        for seed in 0..times {
            let mut lines = lines(scores);
            let order: Vec<PackedMove> = lines.iter().map(|line| line.moves[0]).collect();
            Handicap { elo, seed }.choose(&job, &mut lines);
            let chosen = order.iter().position(|&m| m == lines[0].moves[0]);
            counts[chosen.expect("one of them")] += 1;
            assert_eq!(lines.len(), scores.len());
        }
        counts
    }

    fn cps(scores: &[i32]) -> Vec<Score> {
        scores.iter().map(|&score| Score::cp(score)).collect()
    }

    #[test]
    fn levels_rise_in_everything() {
        assert!(LEVELS.is_sorted_by(|a, b| {
            a.elo < b.elo
                && a.nodes < b.nodes
                && a.lines >= b.lines
                && a.temperature > b.temperature
                && a.most_loss > b.most_loss
        }));
        let at = |elo| Handicap { elo, seed: 0 }.level();
        for level in LEVELS {
            assert_eq!(at(level.elo as u32), level);
        }
        let [first, .., last] = LEVELS;
        assert_eq!((at(0), at(9999)), (first, last));
        let (low, high) = (Handicap::ELO.start(), Handicap::ELO.end());
        assert!(first.elo <= f64::from(*low) && last.elo >= f64::from(*high));
    }

    #[test]
    fn between_levels_lies_what_is_between() {
        let [_, low, high, ..] = LEVELS;
        let half = Handicap { elo: f64::midpoint(low.elo, high.elo) as u32, seed: 0 }.level();
        assert!((half.temperature - f64::midpoint(low.temperature, high.temperature)).abs() < 0.1);
        assert!((half.nodes - (low.nodes * high.nodes).sqrt()).abs() < 5.0, "{half:?}");
    }

    #[test]
    fn errors_are_rarer_the_larger_they_are_and_the_stronger_the_player() {
        let scores = cps(&[20, 0, -40, -120, -900]);
        let weak = choices(LEVELS[1].elo as u32, &scores, 2_000);
        assert!(weak.is_sorted_by(|a, b| a > b), "{weak:?}");
        assert_eq!(weak[4], 0, "a queen is not given away");
        let strong = choices(2600, &scores, 2_000);
        assert!(strong[0] > weak[0] && strong[3] == 0, "{strong:?}");
        // By Luce's rule: e to the power of 20 / 80 times as often, at a temperature of 80.
        let ratio = f64::from(weak[0]) / f64::from(weak[1]);
        assert!((1.1..1.5).contains(&ratio), "{ratio}");
    }

    #[test]
    fn mates_are_not_missed_and_not_run_into() {
        let scores = [Score::mate_in(1), Score::cp(900), Score::cp(300)];
        assert_eq!(choices(1000, &scores, 300), [300, 0, 0]);
        let scores = [Score::cp(-700), Score::mated_in(2)];
        assert_eq!(choices(1000, &scores, 300), [300, 0]);
    }

    #[test]
    fn a_seed_decides() {
        let scores = cps(&[20, 10, 0, -10]);
        assert_eq!(choices(1500, &scores, 50), choices(1500, &scores, 50));
        let job = SearchJob::new(Position::startpos(), Searcher::Playing);
        Handicap { elo: 1500, seed: 1 }.choose(&job, &mut []);
    }

    #[test]
    fn limits_of_the_gui_hold_beside() {
        let handicap = Handicap { elo: LEVELS[1].elo as u32, seed: 0 };
        assert_eq!(handicap.limits(Limits::to_nodes(10)).nodes, Some(10));
        assert_eq!(handicap.limits(Limits::to_nodes(10_000_000)).nodes, Some(1_000));
        let limits = handicap.limits(Limits { infinite: true, ..Limits::to_depth(3) });
        assert_eq!((limits.depth, limits.nodes, limits.infinite), (Some(3), Some(1_000), true));
    }
}
