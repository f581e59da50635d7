//! `tacet zugzwang`: is the side to move in zugzwang?
//!
//! It is if it would rather pass: if passing, were it allowed, were worth more than its best move.
//! The zugzwang is *mutual* if the result hangs on it: then the other side, to move, would rather
//! pass as well. For with one pass the question is the same for both: passing is better for one
//! side if the values of the position with either side to move, each for its mover, add up to less
//! than nothing. What is not mutual is a zugzwang in which the other side, to move, keeps its
//! result all the same and only needs longer, say by a waiting move.
//!
//! The values come from searches at rising depth without null moves, which would be blind to just
//! this; and where Syzygy tables cover the position, the verdict comes from them and is exact.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::report::grouped;
use super::{LabError, epd, print, report, runner};
use crate::board::tablebase::{Tablebase, Wdl};
use crate::board::{PackedMove, Position};
use crate::score::{Depth, MAX_PLY, Score};
use crate::search::null_move::Scheme;
use crate::search::table::Table;
use crate::search::{self, Outcome, SearchJob, Searcher};
use crate::time::{Limits, TimeManager};

/// Tells whether the side to move is in zugzwang
#[derive(clap::Args, Clone, Debug)]
pub struct ZugzwangArgs {
    /// The position
    #[arg(required_unless_present = "epd", conflicts_with = "epd", num_args = 1..=6)]
    pub fen: Vec<String>,

    /// Scan a file of positions: a line for each, and totals
    #[arg(long, value_name = "FILE")]
    pub epd: Option<PathBuf>,

    /// Search to this depth in plies [default: as far as the nodes reach, but at most 40]
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(i32).range(1..MAX_PLY as i64))]
    pub depth: Option<Depth>,

    /// At most so many nodes for moving, and as many for passing [default: 2500000, or with --depth
    /// no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,

    /// How much better passing must be, in centipawns
    #[arg(long, value_name = "CP", default_value_t = 100,
          value_parser = clap::value_parser!(i32).range(1..=10_000))]
    pub margin: i32,

    /// A score within so many centipawns counts as a draw, when results are compared
    #[arg(long, value_name = "CP", default_value_t = 150,
          value_parser = clap::value_parser!(i32).range(0..=10_000))]
    pub draw: i32,

    /// The searcher: classic, playing or tactical
    #[arg(long, value_name = "NAME", default_value = "classic", value_parser = runner::searcher)]
    pub searcher: Searcher,

    /// The table in MB, cleared for each search
    #[arg(long, value_name = "MB", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub hash: u32,

    /// Directories of Syzygy tables, as in PATH: the verdict is exact where they cover it
    #[arg(long, value_name = "DIRS")]
    pub syzygy: Option<String>,

    /// Write what was found to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Examines the position, or each of a file's, and prints the verdicts.
///
/// # Errors
/// Bad arguments, positions and files.
pub fn run(args: &ZugzwangArgs) -> Result<(), LabError> {
    runner::with_stack(|| examine(args))?
}

fn examine(args: &ZugzwangArgs) -> Result<(), LabError> {
    let examiner = Examiner::new(args)?;
    let json = match &args.epd {
        Some(path) => {
            let suite = epd::read(path)?;
            report::check_writable(&args.json)?;
            scan(&examiner, &suite)?
        }
        None => {
            let position = Position::from_fen(&args.fen.join(" "))
                .map_err(|error| LabError::Usage(error.to_string()))?;
            report::check_writable(&args.json)?;
            let report = examiner.examine(&position);
            print(&report.text())?;
            report.json(None)
        }
    };
    args.json.as_deref().map_or(Ok(()), |path| report::write_json(path, &json))
}

/// What was found out about the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It has no move: the game is over.
    Over,
    /// It is in check and cannot pass.
    Check,
    /// Moving is no worse than passing.
    None,
    /// It would rather pass.
    Zugzwang,
    /// Either side would rather pass, and who is to move decides the result.
    Mutual,
}

impl Verdict {
    /// All that there are.
    pub const ALL: [Verdict; 5] =
        [Verdict::Over, Verdict::Check, Verdict::None, Verdict::Zugzwang, Verdict::Mutual];

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Over => "game over",
            Verdict::Check => "in check",
            Verdict::None => "no zugzwang",
            Verdict::Zugzwang => "zugzwang",
            Verdict::Mutual => "mutual zugzwang",
        }
    }
}

/// The values of moving and of passing, both for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair<T> {
    /// Of its best move.
    pub moving: T,
    /// Of passing.
    pub passing: T,
}

impl Pair<Score> {
    /// By how much passing is better, in centipawns; negative if it is worse.
    pub fn gain(&self) -> i32 {
        self.passing - self.moving
    }

    /// The verdict on these values: passing must be better by `margin`, and whether a result
    /// changes is seen by scores beyond `draw`, both in centipawns. Of mates the sooner counts as
    /// the worse for who suffers it, whatever the margin.
    pub fn verdict(&self, margin: i32, draw: i32) -> Verdict {
        let result = |score: Score| {
            if score.value().abs() <= draw { 0 } else { score.value().signum() }
        };
        let least = if self.moving.is_mate_against_us() { 1 } else { margin };
        if result(self.passing) > result(self.moving) && self.gain() >= margin {
            Verdict::Mutual
        } else if self.gain() >= least {
            Verdict::Zugzwang
        } else {
            Verdict::None
        }
    }
}

impl Pair<Wdl> {
    /// Does whoever is to move lose?
    pub fn is_full_point(&self) -> bool {
        (self.moving, self.passing) == (Wdl::Loss, Wdl::Win)
    }
}

/// The verdict of the tables, with the halfmove clock taken as zero; `None` if they do not cover
/// the position, or if the side to move cannot pass or move.
///
/// Mutual, by the argument at the head of this module, unless the other side would be stalemated
/// by the pass: who has no move is not forced to anything.
pub fn exact(position: &Position, tables: &Tablebase) -> Option<(Verdict, Pair<Wdl>)> {
    if position.in_check() || !position.has_legal_move() {
        return None;
    }
    let passed = position.pass();
    let moving = tables.probe_wdl(position)?;
    let passing = -tables.probe_wdl(&passed)?;
    let verdict = if passing <= moving {
        Verdict::None
    } else if passed.has_legal_move() {
        Verdict::Mutual
    } else {
        Verdict::Zugzwang
    };
    Some((verdict, Pair { moving, passing }))
}

/// One depth of the table.
struct Row {
    depth: Depth,
    best: String,
    reply: String,
    values: Pair<Score>,
}

/// All about one position.
struct Report {
    fen: String,
    verdict: Verdict,
    rows: Vec<Row>,
    lines: [String; 2],
    exact: Option<Pair<Wdl>>,
    nodes: u64,
}

struct Examiner<'a> {
    args: &'a ZugzwangArgs,
    table: Table,
    tables: Option<Tablebase>,
    scheme: &'static Scheme,
}

impl Examiner<'_> {
    fn new(args: &ZugzwangArgs) -> Result<Examiner<'_>, LabError> {
        let usage = |reason| LabError::Usage(reason);
        let tables = args.syzygy.as_deref().map(Tablebase::open_list).transpose();
        let table = Table::new(args.hash as usize);
        Ok(Examiner {
            args,
            table: table.map_err(|error| LabError::Machine(error.to_string()))?,
            tables: tables.map_err(|error| usage(error.to_string()))?,
            scheme: Scheme::named("off")
                .ok_or_else(|| usage("there is no scheme 'off'".to_owned()))?,
        })
    }

    fn examine(&self, position: &Position) -> Report {
        let fen = position.to_fen();
        let mut report = Report {
            fen,
            verdict: Verdict::Over,
            rows: Vec::new(),
            lines: [String::new(), String::new()],
            exact: None,
            nodes: 0,
        };
        if !position.has_legal_move() {
            return report;
        }
        if position.in_check() {
            report.verdict = Verdict::Check;
            return report;
        }
        let passed = position.pass();
        let (moving, passing) = (self.search(position), self.search(&passed));
        report.nodes = moving.stats.nodes + passing.stats.nodes;
        report.rows = rows(position, &passed, &moving, &passing);
        report.lines = [line(position, &moving), line(&passed, &passing)];
        let values = report.rows.last().map(|row| row.values);
        report.verdict =
            values.map_or(Verdict::None, |v| v.verdict(self.args.margin, self.args.draw));
        let known = self.tables.as_ref().and_then(|tables| exact(position, tables));
        if let Some((verdict, pair)) = known {
            report.verdict = verdict;
            report.exact = Some(pair);
        }
        report
    }

    fn search(&self, position: &Position) -> Outcome {
        self.table.clear();
        let job = SearchJob {
            scheme: self.scheme,
            ..SearchJob::new(position.clone(), self.args.searcher)
        };
        let (depth, nodes) = match (self.args.depth, self.args.nodes) {
            (Some(depth), nodes) => (depth, nodes),
            (None, nodes) => (40, nodes.or(Some(2_500_000))),
        };
        let limits = Limits { depth: Some(depth), nodes, ..Limits::default() };
        search::run(&job, &self.table, &TimeManager::with_limits(limits), &mut |_| {})
    }
}

/// Both searches, depth for depth. The pass takes a ply, so that what follows it is searched to one
/// less.
fn rows(position: &Position, passed: &Position, moving: &Outcome, passing: &Outcome) -> Vec<Row> {
    let stalemated = !passed.has_legal_move();
    let row = |iteration: &search::Iteration| {
        let reply = passing.iterations.iter().find(|reply| reply.depth == iteration.depth - 1);
        let (reply, value) = match reply {
            Some(reply) => (passed.san(reply.best), after_pass(reply.score)),
            None if stalemated => ("-".to_owned(), Score::ZERO),
            None => return None,
        };
        Some(Row {
            depth: iteration.depth,
            best: position.san(iteration.best),
            reply,
            values: Pair { moving: iteration.score, passing: value },
        })
    };
    moving.iterations.iter().filter_map(row).collect()
}

/// The other side's value of the position after the pass, as the side's that passed: a mate is one
/// ply further away, for the pass.
fn after_pass(score: Score) -> Score {
    let score = -score;
    if score.is_mate_for_us() {
        score - 1
    } else if score.is_mate_against_us() {
        score + 1
    } else {
        score
    }
}

fn line(position: &Position, outcome: &Outcome) -> String {
    let moves: &[PackedMove] = outcome.lines.first().map_or(&[], |line| &line.moves);
    let mut current = position.clone();
    let mut words = Vec::new();
    for &m in moves.iter().take(12).take_while(|m| m.is_some()) {
        if !current.is_legal(m) {
            break;
        }
        words.push(current.san(m));
        current = current.play(m).0;
    }
    words.join(" ")
}

/// `+0.31`, or `#-3`.
fn pawns(score: Score) -> String {
    match score.mate_moves() {
        Some(moves) => format!("#{moves}"),
        None => format!("{:+.2}", f64::from(score.value()) / 100.0),
    }
}

/// By how much passing is better: in pawns, or if a mate is involved in words.
fn gain(values: &Pair<Score>) -> String {
    if values.moving.is_mate() || values.passing.is_mate() {
        let sign = match values.gain().signum() {
            1 => "better",
            -1 => "worse",
            _ => "equal",
        };
        return sign.to_owned();
    }
    format!("{:+.2}", f64::from(values.gain()) / 100.0)
}

impl Report {
    fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.fen);
        if !self.rows.is_empty() {
            text += "depth   moving  best       passing  reply         gain\n";
        }
        for row in &self.rows {
            let Row { depth, best, reply, values } = row;
            let (moving, passing) = (pawns(values.moving), pawns(values.passing));
            let gain = gain(values);
            let _ = writeln!(
                text,
                "{depth:>5} {moving:>8}  {best:<8} {passing:>9}  {reply:<8} {gain:>9}"
            );
        }
        if !self.rows.is_empty() {
            let _ = writeln!(text, "\nmoving   {}", self.lines[0]);
            let _ = writeln!(text, "passing  -- {}", self.lines[1]);
            let _ = writeln!(text, "nodes    {}\n", grouped(self.nodes));
        }
        let _ = writeln!(text, "{}{}", self.verdict.name(), self.reason());
        text
    }

    /// What goes behind the verdict.
    fn reason(&self) -> String {
        if let Some(pair) = self.exact {
            let full = if pair.is_full_point() { ": whoever is to move loses" } else { "" };
            return format!(
                " (exact, by tables): moving is a {}, passing a {}{full}",
                pair.moving, pair.passing
            );
        }
        match (self.verdict, self.rows.last()) {
            (Verdict::Over | Verdict::Check, _) => String::new(),
            (_, Some(Row { depth, values, .. })) => {
                let (moving, passing) = (pawns(values.moving), pawns(values.passing));
                format!(" (depth {depth}): moving {moving}, passing {passing}")
            }
            (_, None) => ": not searched deep enough to compare".to_owned(),
        }
    }

    fn json(&self, id: Option<&str>) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(Row::json).collect();
        json!({
            "id": id,
            "fen": self.fen,
            "verdict": self.verdict.name(),
            "exact": self.exact.map(|pair| json!({
                "moving": pair.moving.name(),
                "passing": pair.passing.name(),
                "full_point": pair.is_full_point(),
            })),
            "depths": rows,
            "nodes": self.nodes,
        })
    }
}

impl Row {
    fn json(&self) -> Value {
        json!({
            "depth": self.depth,
            "moving": { "move": self.best, "score": self.values.moving.to_string() },
            "passing": { "reply": self.reply, "score": self.values.passing.to_string() },
            "gain": self.values.gain(),
        })
    }
}

/// Prints a line for each position as it comes, then the totals; returns all as JSON.
fn scan(examiner: &Examiner, suite: &epd::Suite) -> Result<Value, LabError> {
    let mut counts = [0_usize; Verdict::ALL.len()];
    let mut nodes = 0;
    let mut reports = Vec::new();
    for record in &suite.records {
        let report = examiner.examine(&record.position);
        nodes += report.nodes;
        for (count, verdict) in counts.iter_mut().zip(Verdict::ALL) {
            *count += usize::from(verdict == report.verdict);
        }
        print(&format!("{:<28} {}{}\n", record.id, report.verdict.name(), report.reason()))?;
        reports.push(report.json(Some(&record.id)));
    }
    let totals = || counts.iter().zip(Verdict::ALL);
    let words: Vec<String> =
        totals().map(|(count, verdict)| format!("{count} {}", verdict.name())).collect();
    let positions = suite.records.len();
    let (words, nodes) = (words.join(", "), grouped(nodes));
    print(&format!("\n{positions} positions: {words}; {nodes} nodes\n"))?;
    let totals: serde_json::Map<String, Value> =
        totals().map(|(&count, verdict)| (verdict.name().to_owned(), count.into())).collect();
    Ok(json!({ "positions": reports, "totals": totals }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(moving: Score, passing: Score) -> Pair<Score> {
        Pair { moving, passing }
    }

    #[test]
    fn verdicts_follow_margin_and_result() {
        let cp = Score::cp;
        for (moving, passing, verdict) in [
            (cp(-500), cp(0), Verdict::Mutual),
            (cp(0), cp(500), Verdict::Mutual),
            (cp(-500), cp(-200), Verdict::Zugzwang),
            (cp(-120), cp(120), Verdict::Zugzwang),
            (cp(-500), cp(-450), Verdict::None),
            (cp(50), cp(-30), Verdict::None),
            (cp(-140), cp(-160), Verdict::None),
            (Score::mated_in(4), cp(-900), Verdict::Zugzwang),
            (Score::mated_in(4), Score::mated_in(8), Verdict::Zugzwang),
            (Score::mated_in(4), Score::mated_in(4), Verdict::None),
            (Score::mated_in(4), cp(0), Verdict::Mutual),
            (Score::mate_in(5), Score::mate_in(7), Verdict::None),
        ] {
            assert_eq!(pair(moving, passing).verdict(100, 150), verdict, "{moving} {passing}");
        }
    }

    #[test]
    fn a_mate_after_the_pass_is_a_ply_further_away() {
        assert_eq!(after_pass(Score::mate_in(3)), Score::mated_in(4));
        assert_eq!(after_pass(Score::mated_in(2)), Score::mate_in(3));
        assert_eq!(after_pass(Score::cp(17)), Score::cp(-17));
    }
}
