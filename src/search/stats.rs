//! The counters of a search. Every table of the laboratory is made of them.

/// Counters of a search. They add up over iterations and threads.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Stats {
    /// Nodes of the main search and of quiescence. A leaf that enters quiescence counts once.
    pub nodes: u64,
    /// Quiescence nodes among `nodes`.
    pub quiescence_nodes: u64,
    /// Null moves searched.
    pub null_tried: u64,
    /// Null moves that scored at least beta.
    pub null_fail_highs: u64,
    /// Nodes cut off by a null move.
    pub null_cutoffs: u64,
    /// Null-move fail-highs that were verified: by a reduced search with a second one in reserve,
    /// or by a search of the same node without null moves.
    pub verifications: u64,
    /// Failed verifications: no move reached beta.
    pub zugzwangs: u64,
    /// Nodes of the second searches after failed verifications.
    pub research_nodes: u64,
    /// Second searches that reached beta: the shallower search was wrong, not the null move.
    pub false_alarms: u64,
    /// Main-search nodes in which a move reached beta.
    pub cutoffs: u64,
    /// Among `cutoffs`: those by the first move.
    pub first_move_cutoffs: u64,
    /// Hits in the transposition table.
    pub table_hits: u64,
    /// Main-search nodes cut off by a table entry.
    pub table_cutoffs: u64,
    /// Hits in the endgame tables.
    pub tablebase_hits: u64,
}

impl Stats {
    /// Counts a failed verification, after which all moves are searched again. Returns what
    /// [`Stats::end_second_search`] needs.
    pub(super) fn begin_second_search(&mut self) -> u64 {
        self.zugzwangs += 1;
        self.nodes
    }

    /// Counts the nodes of the second search.
    pub(super) fn end_second_search(&mut self, begun: u64, reached_beta: bool) {
        self.research_nodes += self.nodes - begun;
        self.false_alarms += u64::from(reached_beta);
    }

    /// Every counter with its name, in the order of tables and files.
    pub fn fields(&self) -> [(&'static str, u64); 14] {
        [
            ("nodes", self.nodes),
            ("quiescence_nodes", self.quiescence_nodes),
            ("null_tried", self.null_tried),
            ("null_fail_highs", self.null_fail_highs),
            ("null_cutoffs", self.null_cutoffs),
            ("verifications", self.verifications),
            ("zugzwangs", self.zugzwangs),
            ("research_nodes", self.research_nodes),
            ("false_alarms", self.false_alarms),
            ("cutoffs", self.cutoffs),
            ("first_move_cutoffs", self.first_move_cutoffs),
            ("table_hits", self.table_hits),
            ("table_cutoffs", self.table_cutoffs),
            ("tablebase_hits", self.tablebase_hits),
        ]
    }
}

impl std::ops::AddAssign for Stats {
    fn add_assign(&mut self, other: Stats) {
        self.nodes += other.nodes;
        self.quiescence_nodes += other.quiescence_nodes;
        self.null_tried += other.null_tried;
        self.null_fail_highs += other.null_fail_highs;
        self.null_cutoffs += other.null_cutoffs;
        self.verifications += other.verifications;
        self.zugzwangs += other.zugzwangs;
        self.research_nodes += other.research_nodes;
        self.false_alarms += other.false_alarms;
        self.cutoffs += other.cutoffs;
        self.first_move_cutoffs += other.first_move_cutoffs;
        self.table_hits += other.table_hits;
        self.table_cutoffs += other.table_cutoffs;
        self.tablebase_hits += other.tablebase_hits;
    }
}
