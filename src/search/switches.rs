//! Choices of the classic searcher that can be turned about, to measure what each is worth.

macro_rules! switches {
    ($($(#[$doc:meta])* $field:ident = $default:literal, $name:literal;)*) => {
        /// What the classic searcher does where the paper is silent, and what it leaves out that
        /// other engines of its time had. The playing searcher does not look at these.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct ClassicOptions {
            $($(#[$doc])* pub $field: bool,)*
        }

        impl Default for ClassicOptions {
            fn default() -> ClassicOptions {
                ClassicOptions { $($field: $default,)* }
            }
        }

        impl ClassicOptions {
            /// All names.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The switch of a name, for setting it from text.
            pub fn by_name(&mut self, name: &str) -> Option<&mut bool> {
                Some(match name {
                    $($name => &mut self.$field,)*
                    _ => return None,
                })
            }
        }
    };
}

switches! {
    /// Use the transposition table.
    table = true, "table";
    /// Search the move of the table's entry first.
    table_moves = true, "table-moves";
    /// Deepen ply by ply. Off: go straight to the depth, if there is a limit of depth.
    iterations = true, "iterations";
    /// Order quiet moves by the history heuristic; else in the order of generation.
    history = true, "history";
    /// One ply more for a leaf in check.
    check_extension = true, "check-extension";
    /// Quiescence also searches promotions to a queen that capture nothing.
    quiescence_promotions = true, "quiescence-promotions";
    /// Store null-move cutoffs in the table as lower bounds.
    store_null_cutoffs = false, "store-null-cutoffs";
    /// Entries made with the verify flag on and off do not share a slot.
    split_table_by_flag = false, "split-table-by-flag";
    /// History gains depth squared instead of 2^depth.
    history_squared = false, "history-squared";
    /// Two killer moves a ply before the other quiet moves.
    killers = false, "killers";
    /// A node of depth 4 or more without a table move is searched two plies shallower first.
    internal_deepening = false, "internal-deepening";
    /// Quiet moves after the fourth are searched a ply shallower first, at depth 3 or more.
    late_move_reductions = false, "late-move-reductions";
    /// The evaluation is material alone.
    material_only = false, "material-only";
}
