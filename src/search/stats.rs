//! What a search counted. Every table of the laboratory is made of these numbers.

/// Counters of one search; all of them add up over iterations and threads.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Stats {
    /// Entries of the main search and of quiescence; a leaf that drops into quiescence counts once.
    pub nodes: u64,
    /// Those of `nodes` that are quiescence.
    pub quiescence_nodes: u64,
    /// Null moves searched.
    pub null_tried: u64,
    /// Null moves whose value reached beta.
    pub null_fail_highs: u64,
    /// Nodes left because of a null move.
    pub null_cutoffs: u64,
    /// Null-move fail-highs that were put to the test: by searching on at reduced depth with a
    /// second search in reserve, or by a re-check of the node.
    pub verifications: u64,
    /// Verifications that failed: no move reached beta though passing did.
    pub zugzwangs: u64,
    /// Nodes spent in the second searches after failed verifications.
    pub research_nodes: u64,
    /// Second searches that reached beta after all: not zugzwang, but horizon.
    pub false_alarms: u64,
    /// Nodes of the main search in which a move reached beta.
    pub cutoffs: u64,
    /// Those of `cutoffs` made by the first move searched.
    pub first_move_cutoffs: u64,
    /// Probes of the transposition table that found their position.
    pub table_hits: u64,
    /// Nodes of the main search left because of a table entry.
    pub table_cutoffs: u64,
    /// Positions found in the endgame tablebases.
    pub tablebase_hits: u64,
}

impl Stats {
    /// Every counter with its name, in the order of the tables and files.
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
