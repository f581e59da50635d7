//! What a GUI is told: `info` and `bestmove` lines; and what a person at a terminal is told
//! instead: an aligned table.

use std::time::Duration;

use crate::board::{PackedMove, Position};
use crate::engine::{Answer, SearchProgress};
use crate::score::Score;
use crate::score::wdl::{Chances, normalised};
use crate::search::{Bound, CurrentMove, Info, Line, Message};

/// For whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// `info` lines, for programs.
    Uci,
    /// A table, for people.
    Table,
}

/// The heading of [`Style::Table`].
pub const TABLE_HEADING: &str = " depth    score      time        nodes    knps  line";

/// A principal variation in the table is cut to so many characters.
const TABLE_LINE: usize = 72;

/// Turns what one search says into lines of text.
pub struct Reporter {
    root: Position,
    chess960: bool,
    wdl: bool,
    style: Style,
    /// The best line as it was shown last.
    shown: Option<Info>,
}

impl Reporter {
    /// For a search of `root`. Moves are written in Chess960's form if asked for, or if the
    /// position cannot be written otherwise.
    pub fn new(root: Position, chess960: bool, style: Style) -> Reporter {
        let chess960 = chess960 || root.needs_chess960();
        Reporter { root, chess960, wdl: false, style, shown: None }
    }

    /// With the chances of winning, drawing and losing beside every score, if asked for.
    pub fn with_wdl(self, wdl: bool) -> Reporter {
        Reporter { wdl, ..self }
    }

    /// What a running search says, `elapsed` after its beginning; to people not everything.
    pub fn message(&mut self, message: &Message, elapsed: Duration) -> Option<String> {
        match message {
            Message::Line(info) => Some(self.info(info, elapsed)),
            Message::Move(CurrentMove { m, number, depth }) if self.style == Style::Uci => {
                let m = self.root.uci(*m, self.chess960);
                Some(format!("info depth {depth} currmove {m} currmovenumber {number}"))
            }
            Message::Move(_) => None,
        }
    }

    /// How far a search is; nothing to people.
    pub fn progress(&self, progress: SearchProgress) -> Option<String> {
        let SearchProgress { nodes, hash_full, elapsed } = progress;
        let nps = per_second(nodes, elapsed);
        let time = elapsed.as_millis();
        (self.style == Style::Uci)
            .then(|| format!("info nodes {nodes} nps {nps} hashfull {hash_full} time {time}"))
    }

    /// One line of a running search, `elapsed` after its beginning.
    pub fn info(&mut self, info: &Info, elapsed: Duration) -> String {
        if info.multi_pv == 1 {
            self.shown = Some(info.clone());
        }
        match self.style {
            Style::Uci => self.uci_info(info, elapsed),
            Style::Table => self.table_row(info, elapsed),
        }
    }

    /// The end of a search: the last `info` lines and the `bestmove`.
    pub fn answer(&mut self, answer: &Answer) -> Vec<String> {
        let mut lines: Vec<String> =
            answer.fault.iter().map(|fault| format!("info string {fault}")).collect();
        let Some(best) = answer.outcome.lines.first() else {
            lines.push(format!("info depth 0 score {}", self.score_without_moves()));
            lines.push("bestmove (none)".to_owned());
            return lines;
        };
        if !self.is_shown(best) {
            let info = self.last_info(best, answer);
            lines.push(self.info(&info, answer.elapsed));
        }
        lines.push(self.best_move(best));
        lines
    }

    fn score_without_moves(&self) -> Score {
        if self.root.in_check() { Score::mated_in(0) } else { Score::ZERO }
    }

    /// Has the move to be played, with the reply expected, been the last best line shown?
    fn is_shown(&self, best: &Line) -> bool {
        self.shown.as_ref().is_some_and(|shown| {
            shown.line.bound == Bound::Exact
                && shown.line.moves.iter().take(2).eq(best.moves.iter().take(2))
        })
    }

    fn last_info(&self, best: &Line, answer: &Answer) -> Info {
        Info {
            line: best.clone(),
            multi_pv: 1,
            nodes: answer.outcome.stats.nodes,
            tablebase_hits: answer.outcome.stats.tablebase_hits,
            hash_full: self.shown.as_ref().map_or(0, |shown| shown.hash_full),
        }
    }

    fn uci_info(&self, info: &Info, elapsed: Duration) -> String {
        let Info { line, multi_pv, nodes, tablebase_hits, hash_full } = info;
        let bound = match line.bound {
            Bound::Exact => "",
            Bound::Lower => " lowerbound",
            Bound::Upper => " upperbound",
        };
        let moves: Vec<String> =
            line.moves.iter().map(|&m| self.root.uci(m, self.chess960)).collect();
        format!(
            "info depth {} seldepth {} multipv {multi_pv} score {}{}{bound} nodes {nodes} nps {} \
             hashfull {hash_full} tbhits {tablebase_hits} time {} pv {}",
            line.depth,
            line.selective_depth,
            uci_score(line.score),
            self.chances(line.score),
            per_second(*nodes, elapsed),
            elapsed.as_millis(),
            moves.join(" ")
        )
    }

    /// ` wdl W D L` in per mille, if wanted.
    fn chances(&self, score: Score) -> String {
        if !self.wdl {
            return String::new();
        }
        let Chances { win, draw, loss } = Chances::of(score, self.root.fullmove_number());
        format!(" wdl {win} {draw} {loss}")
    }

    fn table_row(&self, info: &Info, elapsed: Duration) -> String {
        let depth = format!("{}/{}", info.line.depth, info.line.selective_depth);
        format!(
            "{depth:>6} {:>8} {:>8.2}s {:>12} {:>7}  {}",
            human_score(&info.line),
            elapsed.as_secs_f64(),
            info.nodes,
            per_second(info.nodes, elapsed) / 1000,
            san_line(&self.root, &info.line.moves, TABLE_LINE)
        )
    }

    fn best_move(&self, best: &Line) -> String {
        let mut moves = best.moves.iter().copied();
        let first = moves.next().unwrap_or_default();
        let mut text = format!("bestmove {}", self.root.uci(first, self.chess960));
        let ponder = moves.next().filter(|&m| self.is_legal_reply(first, m));
        if let Some(m) = ponder {
            text += &format!(" ponder {}", self.root.uci(m, self.chess960));
        }
        text
    }

    fn is_legal_reply(&self, first: PackedMove, reply: PackedMove) -> bool {
        self.root.is_legal(first) && self.root.play(first).0.is_legal(reply)
    }
}

/// Nodes per second; no time counts as a microsecond.
pub fn per_second(nodes: u64, elapsed: Duration) -> u64 {
    let micros = elapsed.as_micros().max(1);
    u64::try_from(u128::from(nodes) * 1_000_000 / micros).unwrap_or(u64::MAX)
}

/// A score as UCI has it: `cp 31`, `mate 3`, `mate -2`; the centipawns are [`normalised`].
fn uci_score(score: Score) -> String {
    match score.mate_moves() {
        Some(moves) => format!("mate {moves}"),
        None => format!("cp {}", normalised(score)),
    }
}

/// A score as people write it: `+0.31`, `#3`, `#-2`; [`normalised`].
pub fn pawns(score: Score) -> String {
    match score.mate_moves() {
        Some(moves) => format!("#{moves}"),
        None => format!("{:+.2}", f64::from(normalised(score)) / 100.0),
    }
}

fn human_score(line: &Line) -> String {
    let bound = match line.bound {
        Bound::Exact => "",
        Bound::Lower => ">=",
        Bound::Upper => "<=",
    };
    format!("{bound}{}", pawns(line.score))
}

/// Moves in standard algebraic notation with move numbers, as many as fit into `width`.
fn san_line(root: &Position, moves: &[PackedMove], width: usize) -> String {
    let mut text = String::new();
    let mut position = root.clone();
    for (i, &m) in moves.iter().enumerate() {
        if !position.is_legal(m) {
            break;
        }
        let number = match (position.turn().is_white(), i) {
            (true, _) => format!("{}. ", position.fullmove_number()),
            (false, 0) => format!("{}... ", position.fullmove_number()),
            (false, _) => String::new(),
        };
        let word = format!("{number}{}", position.san(m));
        if !text.is_empty() {
            if text.len() + 1 + word.len() > width {
                break;
            }
            text.push(' ');
        }
        text += &word;
        position = position.play(m).0;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Outcome;

    fn line(root: &Position, moves: &[&str], score: Score) -> Line {
        let mut position = root.clone();
        let mut packed = Vec::new();
        for text in moves {
            let m = position.parse_uci(text).unwrap();
            packed.push(m);
            position = position.play(m).0;
        }
        Line { score, bound: Bound::Exact, moves: packed, depth: 5, selective_depth: 9 }
    }

    fn info(line: Line) -> Info {
        Info { line, multi_pv: 1, nodes: 3000, tablebase_hits: 0, hash_full: 7 }
    }

    fn answer(lines: Vec<Line>) -> Answer {
        let outcome = Outcome { lines, ..Outcome::default() };
        Answer { outcome, elapsed: Duration::from_millis(4), fault: None }
    }

    const MS: Duration = Duration::from_millis(2);

    /// A score that is shown as so many centipawns.
    fn shown(centipawns: i32) -> Score {
        let score = (-2_000..2_000).map(Score::cp).find(|&score| normalised(score) == centipawns);
        score.expect("a score")
    }

    #[test]
    fn an_info_line_in_full() {
        let root = Position::startpos();
        let mut reporter = Reporter::new(root.clone(), false, Style::Uci);
        let mut said = info(line(&root, &["e2e4", "e7e5"], shown(30)));
        assert_eq!(
            reporter.info(&said, MS),
            "info depth 5 seldepth 9 multipv 1 score cp 30 nodes 3000 nps 1500000 hashfull 7 \
             tbhits 0 time 2 pv e2e4 e7e5"
        );
        said.line.bound = Bound::Lower;
        assert!(reporter.info(&said, MS).contains("score cp 30 lowerbound nodes"));
        said.line.bound = Bound::Upper;
        said.line.score = Score::mate_in(3);
        assert!(reporter.info(&said, MS).contains("score mate 2 upperbound nodes"));
        let mut reporter = reporter.with_wdl(true);
        assert!(reporter.info(&said, MS).contains("score mate 2 wdl 1000 0 0 upperbound nodes"));
    }

    #[test]
    fn the_move_in_progress() {
        let root = Position::startpos();
        let m = root.parse_uci("e2e4").unwrap();
        let message = Message::Move(CurrentMove { m, number: 3, depth: 20 });
        let said = |style| Reporter::new(root.clone(), false, style).message(&message, MS);
        let line = "info depth 20 currmove e2e4 currmovenumber 3".to_owned();
        assert_eq!(said(Style::Uci), Some(line));
        assert_eq!(said(Style::Table), None);
    }

    #[test]
    fn a_pulse_is_for_boards_alone() {
        let progress = SearchProgress { nodes: 3000, hash_full: 7, elapsed: MS };
        let of = |style| Reporter::new(Position::startpos(), false, style).progress(progress);
        let line = "info nodes 3000 nps 1500000 hashfull 7 time 2".to_owned();
        assert_eq!((of(Style::Uci), of(Style::Table)), (Some(line), None));
    }

    #[test]
    fn what_was_shown_is_not_shown_again() {
        let root = Position::startpos();
        let mut reporter = Reporter::new(root.clone(), false, Style::Uci);
        let best = line(&root, &["e2e4", "e7e5"], Score::cp(31));
        reporter.info(&info(best.clone()), MS);
        assert_eq!(reporter.answer(&answer(vec![best])), ["bestmove e2e4 ponder e7e5"]);
    }

    #[test]
    fn an_answer_never_comes_without_its_line() {
        let root = Position::startpos();
        let mut reporter = Reporter::new(root.clone(), false, Style::Uci);
        reporter.info(&info(line(&root, &["e2e4"], Score::cp(31))), MS);
        let said = reporter.answer(&answer(vec![line(&root, &["d2d4"], Score::cp(40))]));
        assert!(said[0].ends_with("time 4 pv d2d4"), "{said:?}");
        assert_eq!(said[1], "bestmove d2d4");
    }

    #[test]
    fn no_legal_move() {
        for (fen, score) in [
            ("7k/5KQ1/8/8/8/8/8/8 b - - 0 1", "mate 0"),
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "cp 0"),
        ] {
            let root = Position::from_fen(fen).unwrap();
            let said = Reporter::new(root, false, Style::Uci).answer(&answer(Vec::new()));
            assert_eq!(said, [&format!("info depth 0 score {score}"), "bestmove (none)"]);
        }
    }

    #[test]
    fn castling_is_written_as_the_mode_wants() {
        let root = Position::from_fen("4k3/8/8/8/8/8/8/4K2R w K - 0 1").unwrap();
        let best = line(&root, &["e1g1"], Score::ZERO);
        for (chess960, wanted) in [(false, "bestmove e1g1"), (true, "bestmove e1h1")] {
            let mut reporter = Reporter::new(root.clone(), chess960, Style::Uci);
            assert_eq!(reporter.answer(&answer(vec![best.clone()]))[1], wanted);
        }
    }

    #[test]
    fn the_table_lines_up() {
        let root = Position::startpos();
        let mut reporter = Reporter::new(root.clone(), false, Style::Table);
        let row = reporter.info(&info(line(&root, &["g1f3", "g8f6"], Score::cp(31))), MS);
        assert!(row.ends_with("  1. Nf3 Nf6"), "{row}");
        assert_eq!(row.find("1. Nf3"), TABLE_HEADING.find("line"), "{row}");
    }
}
