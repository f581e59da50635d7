//! The null move, pluggable.
//!
//! A null move passes the turn. If the opponent, with two moves in a row and searched to a reduced
//! depth, still cannot bring the score under beta, then some real move very likely holds beta too.
//! What may be concluded from that is where the schemes of the literature differ, and each is a row
//! of [`SCHEMES`]: a composition of a few independent choices. Adding a scheme means adding a row.
//!
//! The decisions ([`Scheme::attempt`], [`Scheme::fail_high`]) are pure functions of plain values.
//! The mechanics ([`apply`], [`Verdict`]) are written once, over the two-method trait [`NullMoveSearch`]
//! that both searchers implement.
//!
//! R is counted as in the papers: the null move is searched to `depth - 1 - R`. Engine sources
//! often search to `depth - R`, so that their 4 is the papers' 3.

use crate::score::{Depth, Ply, Score};
use crate::search::stats::Stats;

/// A null-move scheme: one row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme {
    /// Its name in UCI and on the command line.
    pub name: &'static str,
    /// Who published it.
    pub source: &'static str,
    /// How far the search of the null move is reduced.
    pub reduction: Reduction,
    /// The material without which no null move is tried.
    pub guard: Guard,
    /// What else must hold before a null move is tried.
    pub gate: Gate,
    /// How many null moves may follow one another; `u8::MAX` is no limit.
    pub in_a_row: u8,
    /// Where the verify flag is on: where a fail-high has yet to be verified.
    pub verify: Verify,
    /// What a fail-high means while the verify flag is on.
    pub verifying: FailHigh,
    /// What a fail-high means while it is off.
    pub verified: FailHigh,
    /// Does a cutoff return a mate as it was found? Else beta: a mate that a pass found is not
    /// proved.
    pub returns_mates: bool,
}

/// R: the null move is searched to `depth - 1 - R`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reduction {
    /// No null move at all.
    Off,
    /// The same everywhere.
    Fixed(Depth),
    /// Heinz 1999: 3 if depth > 8, or if depth > 6 and one side has at least three pieces besides
    /// king and pawns; else 2.
    Adaptive,
    /// `base + depth / divisor + min((eval - beta) / margin, most)`.
    Dynamic {
        /// R at depth 0 with the evaluation at beta.
        base: Depth,
        /// One more for so many plies of depth.
        divisor: Depth,
        /// One more for so many centipawns of evaluation above beta.
        margin: i32,
        /// The most that the evaluation can add.
        most: Depth,
    },
}

/// The material without which zugzwang is too likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Guard {
    /// Tried with any material.
    None,
    /// The side to move has a piece besides king and pawns.
    OwnPiece,
    /// At the root of the search the pieces of both sides were worth more than `over`
    /// (minor 2, rook 3, queen 6, pawns and kings nothing).
    RootMaterial {
        /// The worth that must be exceeded.
        over: u32,
    },
}

/// What else must hold before a null move is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gate {
    /// Nothing.
    Always,
    /// The static evaluation is at least beta, and this is no PV node; and before the table's bound
    /// made it better, if it did, it was above beta by `margin` centipawns, less `slope` a ply of
    /// depth.
    Ahead {
        /// The margin at depth 0.
        margin: i32,
        /// By how much it is less with each ply.
        slope: i32,
    },
}

/// Where the verify flag is on. It looks at the fail-highs further up the path that are being
/// verified at the moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verify {
    /// Everywhere.
    Always,
    /// Where fewer than so many are being verified. Once is the paper's rule.
    Times(u8),
    /// Where none of the same side is.
    OncePerSide,
    /// Where none of the other side is.
    UnlessOther,
    /// Where none is, and wherever the side to move has at most so many pieces besides king and
    /// pawns.
    OnceOrFewPieces(u32),
}

/// What is concluded from a null move that reaches beta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FailHigh {
    /// Believe it: leave the node.
    Cutoff,
    /// Search on, shallower. Where `when` does not hold: [`FailHigh::Cutoff`].
    Reduce {
        /// Where to search on.
        when: When,
        /// By so many plies.
        plies: Depth,
        /// If then no move reaches beta, restore depth and path, and search again.
        redo: bool,
    },
    /// Believe it if the node itself, searched to the null move's depth without null moves,
    /// reaches beta as well. Where `when` does not hold: [`FailHigh::Cutoff`].
    Recheck {
        /// Where to re-check.
        when: When,
        /// Where the null move is banned meanwhile.
        ban: Ban,
    },
}

/// Where a fail-high is not simply blend_fail_high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// Everywhere.
    Always,
    /// The side to move has at most one piece besides king and pawns.
    Endgame,
    /// At this depth or more.
    Depth(Depth),
    /// The side to move has at most so many pieces besides king and pawns, or the depth is at least
    /// so much.
    FewPiecesOrDepth(u32, Depth),
    /// The static evaluation is less than so many centipawns above beta, or the depth is at least so
    /// much.
    MarginOrDepth(i32, Depth),
}

/// Where the null move is banned during a re-check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ban {
    /// In the re-checked node alone.
    ThisNode,
    /// For this share (numerator, denominator) of the re-check's depth.
    Share(Depth, Depth),
}

/// What a decision may look at: plain values, filled in by the searcher.
#[derive(Clone, Copy, Debug)]
pub struct NodeFacts {
    /// Plies left to search.
    pub depth: Depth,
    /// Plies from the root.
    pub ply: Ply,
    /// Is the side to move in check?
    pub in_check: bool,
    /// Is the window open?
    pub is_pv: bool,
    /// The side to move's pieces besides king and pawns.
    pub own_pieces: u32,
    /// The larger of both sides' counts of such pieces.
    pub max_pieces: u32,
    /// The worth of all pieces at the root, as [`Guard::RootMaterial`] counts it.
    pub root_material: u32,
    /// The static evaluation; only looked at by schemes for which [`Scheme::needs_eval`] is true.
    pub eval: Score,
    /// The same before a bound from the table made it better.
    pub static_eval: Score,
    /// The bound to reach.
    pub beta: Score,
    /// What travels down the tree.
    pub path: Path,
}

/// What travels down the tree by value, so that returning from a node restores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Fail-highs that are being verified further up, by the parity of their ply: those of one
    /// side share it, since a pass is a ply too.
    pub open: [u8; 2],
    /// Null moves made in a row just before this node.
    pub nulls_in_a_row: u8,
    /// No null move at plies below this one.
    pub no_null_before: Ply,
}

impl Path {
    /// The path at the root: nothing is being verified, and the root itself makes no null move.
    pub const ROOT: Path = Path { open: [0, 0], nulls_in_a_row: 0, no_null_before: 1 };

    /// Is a fail-high being verified further up?
    #[inline]
    pub const fn is_verifying(self) -> bool {
        self.open[0] | self.open[1] != 0
    }

    /// The path below a node at `ply` whose fail-high is being verified.
    #[inline]
    const fn below_fail_high(mut self, ply: Ply) -> Path {
        self.open[ply & 1] = self.open[ply & 1].saturating_add(1);
        self
    }

    /// The path below a real move.
    #[inline]
    pub const fn after_move(self) -> Path {
        Path { nulls_in_a_row: 0, ..self }
    }

    /// The path below a null move.
    #[inline]
    pub const fn after_pass(self) -> Path {
        Path { nulls_in_a_row: self.nulls_in_a_row.saturating_add(1), ..self }
    }
}

impl Scheme {
    /// The scheme of a name, in any case.
    pub fn named(name: &str) -> Option<&'static Scheme> {
        SCHEMES.iter().find(|scheme| scheme.name.eq_ignore_ascii_case(name))
    }

    /// Does a decision of this scheme look at [`NodeFacts::eval`]?
    pub const fn needs_eval(&self) -> bool {
        !matches!(self.gate, Gate::Always)
            || matches!(self.reduction, Reduction::Dynamic { .. })
            || self.verifying.needs_eval()
            || self.verified.needs_eval()
    }

    /// May a null move be tried in a PV node?
    pub const fn may_pass_in_pv(&self) -> bool {
        matches!(self.gate, Gate::Always)
    }

    /// Is a null move tried here? If so, the depth it is searched to (zero and below is
    /// quiescence).
    #[inline]
    pub fn attempt(&self, node: &NodeFacts) -> Option<Depth> {
        if node.in_check
            || node.path.nulls_in_a_row >= self.in_a_row
            || node.ply < node.path.no_null_before
            || !self.guard.allows(node)
            || !self.gate.opens(node)
        {
            return None;
        }
        // A node whose fail-high takes plies away needs some left to verify with.
        if let FailHigh::Reduce { plies, .. } = self.fail_high(node)
            && node.depth <= plies
        {
            return None;
        }
        Some(node.depth - 1 - self.reduction.plies(node)?)
    }

    /// What a fail-high of the null move means at this node; where its condition does not hold, it
    /// is a cutoff.
    #[inline]
    pub const fn fail_high(&self, node: &NodeFacts) -> FailHigh {
        let meaning = if self.verify.holds(node) { self.verifying } else { self.verified };
        match meaning {
            FailHigh::Recheck { when, .. } | FailHigh::Reduce { when, .. } if !when.holds(node) => {
                FailHigh::Cutoff
            }
            meaning => meaning,
        }
    }
}

impl FailHigh {
    const fn needs_eval(self) -> bool {
        match self {
            FailHigh::Cutoff => false,
            FailHigh::Reduce { when, .. } | FailHigh::Recheck { when, .. } => {
                matches!(when, When::MarginOrDepth(..))
            }
        }
    }
}

impl Reduction {
    /// R at this node.
    #[inline]
    fn plies(self, node: &NodeFacts) -> Option<Depth> {
        match self {
            Reduction::Off => None,
            Reduction::Fixed(plies) => Some(plies),
            Reduction::Adaptive => {
                let deep = node.depth > 8 || (node.depth > 6 && node.max_pieces >= 3);
                Some(if deep { 3 } else { 2 })
            }
            Reduction::Dynamic { base, divisor, margin, most } => {
                let ahead = (node.eval - node.beta) / margin;
                Some(base + node.depth / divisor + ahead.min(most))
            }
        }
    }
}

impl Gate {
    #[inline]
    fn opens(self, node: &NodeFacts) -> bool {
        match self {
            Gate::Always => true,
            Gate::Ahead { margin, slope } => {
                !node.is_pv
                    && node.eval >= node.beta.max(node.static_eval)
                    && node.static_eval >= node.beta + margin - slope * node.depth
            }
        }
    }
}

impl Guard {
    #[inline]
    const fn allows(self, node: &NodeFacts) -> bool {
        match self {
            Guard::None => true,
            Guard::OwnPiece => node.own_pieces > 0,
            Guard::RootMaterial { over } => node.root_material > over,
        }
    }
}

impl Verify {
    #[inline]
    const fn holds(self, node: &NodeFacts) -> bool {
        let [even, odd] = node.path.open;
        let (own, other) = if node.ply & 1 == 0 { (even, odd) } else { (odd, even) };
        match self {
            Verify::Always => true,
            Verify::Times(most) => own.saturating_add(other) < most,
            Verify::OncePerSide => own == 0,
            Verify::UnlessOther => other == 0,
            Verify::OnceOrFewPieces(most) => own | other == 0 || node.own_pieces <= most,
        }
    }
}

impl When {
    #[inline]
    const fn holds(self, node: &NodeFacts) -> bool {
        match self {
            When::Always => true,
            When::Endgame => node.own_pieces <= 1,
            When::Depth(depth) => node.depth >= depth,
            When::FewPiecesOrDepth(most, depth) => node.own_pieces <= most || node.depth >= depth,
            When::MarginOrDepth(margin, depth) => {
                node.eval.value() < node.beta.value() + margin || node.depth >= depth
            }
        }
    }
}

impl Ban {
    /// The path for a re-check of the node to `depth`. An outer ban is never shortened.
    const fn path(self, node: &NodeFacts, depth: Depth) -> Path {
        let until = match self {
            Ban::ThisNode => node.ply + 1,
            Ban::Share(part, whole) => {
                let plies = depth * part / whole;
                node.ply + if plies > 1 { plies as Ply } else { 1 }
            }
        };
        let outer = node.path.no_null_before;
        Path { no_null_before: if until > outer { until } else { outer }, ..node.path }
    }
}

/// What a searcher must be able to do for a null move.
pub trait NullMoveSearch {
    /// The value, for the side that passes, of passing: a search of the position after the pass
    /// to `depth` with the window `(-beta, -beta + 1)`. `None` if the search was stopped.
    fn search_null_move(&mut self, beta: Score, depth: Depth, path: Path) -> Option<Score>;

    /// The value of this same node at the same ply, to `depth` with the window `(beta - 1, beta)`.
    fn research(&mut self, beta: Score, depth: Depth, path: Path) -> Option<Score>;

    /// Where to count.
    fn stats(&mut self) -> &mut Stats;

    /// Returns whether a cutoff that the scheme believes may stand: an observer can deny it.
    fn believes(&mut self, node: &NodeFacts, null_depth: Depth, score: Score) -> bool {
        let _ = (node, null_depth, score);
        true
    }
}

/// What became of the null move at a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// None was tried.
    NotTried,
    /// Passing did not reach beta, or a re-check denied it.
    FailedLow,
    /// Leave the node with this score, at least beta.
    Cut(Score),
    /// Search the moves to `depth` with `path`; if then no move reaches beta and `redo` is set,
    /// the position is a zugzwang: search them again as if no null move had been tried.
    Continue {
        /// The reduced depth.
        depth: Depth,
        /// The path for the nodes below.
        path: Path,
        /// Is there a second search?
        redo: bool,
    },
}

/// Tries the null move at a node and draws the scheme's conclusion. `None`: the search was stopped.
#[inline]
pub fn apply(
    scheme: &Scheme,
    node: &NodeFacts,
    passer: &mut impl NullMoveSearch,
) -> Option<Verdict> {
    let Some(null_depth) = scheme.attempt(node) else {
        return Some(Verdict::NotTried);
    };
    passer.stats().null_tried += 1;
    let value = passer.search_null_move(node.beta, null_depth, node.path.after_pass())?;
    if value < node.beta {
        return Some(Verdict::FailedLow);
    }
    passer.stats().null_fail_highs += 1;
    match scheme.fail_high(node) {
        FailHigh::Cutoff => {}
        FailHigh::Reduce { plies, redo, .. } => {
            passer.stats().verifications += u64::from(redo);
            let path = node.path.below_fail_high(node.ply);
            return Some(Verdict::Continue { depth: node.depth - plies, path, redo });
        }
        FailHigh::Recheck { ban, .. } => {
            passer.stats().verifications += 1;
            let depth = null_depth.max(1);
            let again = passer.research(node.beta, depth, ban.path(node, depth))?;
            if again < node.beta {
                passer.stats().zugzwangs += 1;
                return Some(Verdict::FailedLow);
            }
        }
    }
    if !passer.believes(node, null_depth, value) {
        return Some(Verdict::FailedLow);
    }
    passer.stats().null_cutoffs += 1;
    let unproved = value.is_mate_for_us() && !scheme.returns_mates;
    Some(Verdict::Cut(if unproved { node.beta } else { value }))
}

/// What the paper's reduction does to a fail-high that is being verified.
const VERIFY: FailHigh = FailHigh::Reduce { when: When::Always, plies: 1, redo: true };

/// From this depth on `modern` re-checks.
pub const RECHECK: Depth = 8;

/// From this depth on a scheme re-checks that does so in doubt as well.
pub const DEEP: Depth = 14;

const MODERN_REDUCTION: Reduction = Reduction::Dynamic { base: 3, divisor: 3, margin: 80, most: 7 };

const MODERN_GATE: Gate = Gate::Ahead { margin: 105, slope: 9 };

const BEAL: &str = "Beal 1989; Goetsch & Campbell 1990; Donninger 1993";
const PAPER: &str = "David-Tabibi & Netanyahu 2002, Figure 3";

/// The row that others are written as changes of: a null move with R = 2, everywhere, blend_fail_high.
const PLAIN: Scheme = Scheme {
    name: "plain",
    source: BEAL,
    reduction: Reduction::Fixed(2),
    guard: Guard::None,
    gate: Gate::Always,
    in_a_row: 1,
    verify: Verify::Times(1),
    verifying: FailHigh::Cutoff,
    verified: FailHigh::Cutoff,
    returns_mates: true,
};

const fn standard(name: &'static str, r: Depth) -> Scheme {
    Scheme { name, reduction: Reduction::Fixed(r), guard: Guard::OwnPiece, ..PLAIN }
}

const fn verified(name: &'static str, r: Depth) -> Scheme {
    Scheme { name, source: PAPER, reduction: Reduction::Fixed(r), verifying: VERIFY, ..PLAIN }
}

/// Never a cutoff, no second search: `first` plies less, and below such a node `then` plies less.
const fn reduce(name: &'static str, source: &'static str, first: Depth, then: Depth) -> Scheme {
    Scheme {
        name,
        source,
        reduction: Reduction::Fixed(3),
        verifying: FailHigh::Reduce { when: When::Always, plies: first, redo: false },
        verified: FailHigh::Reduce { when: When::Always, plies: then, redo: false },
        ..PLAIN
    }
}

/// What engines of today do. A fail-high is checked again where `when` says so.
const fn modern(name: &'static str, source: &'static str, when: When) -> Scheme {
    let recheck = FailHigh::Recheck { when, ban: Ban::Share(3, 4) };
    Scheme {
        name,
        source,
        reduction: MODERN_REDUCTION,
        guard: Guard::OwnPiece,
        gate: MODERN_GATE,
        verifying: recheck,
        verified: recheck,
        returns_mates: false,
        ..PLAIN
    }
}

/// Every scheme. `off` is the baseline; the names are those of the UCI option `NullMove`.
pub static SCHEMES: [Scheme; 19] = [
    Scheme { name: "off", source: "none: plain PVS", reduction: Reduction::Off, ..PLAIN },
    standard("standard-r1", 1),
    standard("standard-r2", 2),
    standard("standard-r3", 3),
    Scheme {
        name: "adaptive",
        source: "Heinz 1999",
        reduction: Reduction::Adaptive,
        guard: Guard::OwnPiece,
        ..PLAIN
    },
    Scheme { name: "double", source: "Moreland 2001; Diepeveen", in_a_row: 2, ..PLAIN },
    Scheme {
        name: "endgame-verified",
        source: "Moreland 2001; Plenkner 1995",
        verifying: FailHigh::Recheck { when: When::Endgame, ban: Ban::ThisNode },
        verified: FailHigh::Recheck { when: When::Endgame, ban: Ban::ThisNode },
        ..PLAIN
    },
    Scheme {
        name: "micromax",
        source: "Muller, micro-Max 4.4",
        guard: Guard::RootMaterial { over: 4 },
        in_a_row: u8::MAX,
        ..PLAIN
    },
    verified("verified-r1", 1),
    verified("verified-r2", 2),
    verified("verified-r3", 3),
    reduce("reduce-2", "David-Tabibi & Netanyahu 2002, section 5, first variant", 2, 2),
    reduce("reduce-1", "David-Tabibi & Netanyahu 2002, section 5, second variant", 1, 1),
    reduce("reduce-1-2", "David-Tabibi & Netanyahu 2002, section 5, third variant", 1, 2),
    Scheme {
        name: "verified-throughout",
        source: "David-Tabibi & Netanyahu 2002, section 5, second variant with re-search",
        reduction: Reduction::Fixed(3),
        verify: Verify::Always,
        verifying: VERIFY,
        ..PLAIN
    },
    Scheme {
        name: "verified-few-pieces",
        source: "Tacet: verified-r3 that goes on verifying in endings",
        reduction: Reduction::Fixed(3),
        verify: Verify::OnceOrFewPieces(3),
        verifying: VERIFY,
        ..PLAIN
    },
    modern("modern", "engines of today (Stockfish, Ethereal, Berserk)", When::Depth(RECHECK)),
    modern(
        "modern-endgame",
        "Tacet: modern, re-checked in endgames too (after Plenkner 1995)",
        When::FewPiecesOrDepth(1, DEEP),
    ),
    Scheme {
        name: "verified-modern",
        source: "Tacet: modern, verified as in the paper, in endings throughout",
        reduction: MODERN_REDUCTION,
        guard: Guard::OwnPiece,
        gate: MODERN_GATE,
        verify: Verify::OnceOrFewPieces(1),
        verifying: VERIFY,
        ..PLAIN
    },
];

#[cfg(test)]
mod tests;
