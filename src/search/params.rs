//! Every tunable number of the playing searcher, once: name, default, range, step.
//!
//! In an ordinary build each is a constant. With `--features tune` each is a variable that the UCI
//! option of the same name sets, for matches and for SPSA.
//!
//! Glossary: a *margin* is in centipawns, a *depth* in plies; reductions are in 1/1024 ply.

/// One tunable number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// Its name, also as UCI option.
    pub name: &'static str,
    /// What a release build uses.
    pub default: i32,
    /// The smallest value that makes sense.
    pub min: i32,
    /// The largest.
    pub max: i32,
    /// A change that can be felt in games (SPSA's c).
    pub step: i32,
}

macro_rules! params {
    ($($(#[$doc:meta])* $name:ident: $default:literal, $min:literal..=$max:literal, $step:literal;)*) => {
        /// All of them.
        pub const PARAMS: &[Param] = &[$(Param {
            name: stringify!($name),
            default: $default,
            min: $min,
            max: $max,
            step: $step,
        }),*];

        $(
            const _: () = assert!($min <= $default && $default <= $max && $step > 0);

            $(#[$doc])*
            #[cfg(not(feature = "tune"))]
            #[inline(always)]
            pub const fn $name() -> i32 {
                $default
            }

            $(#[$doc])*
            #[cfg(feature = "tune")]
            #[inline(always)]
            pub fn $name() -> i32 {
                tuned::$name.load(std::sync::atomic::Ordering::Relaxed)
            }
        )*

        #[cfg(feature = "tune")]
        #[allow(non_upper_case_globals)]
        mod tuned {
            use std::sync::atomic::AtomicI32;
            $(pub static $name: AtomicI32 = AtomicI32::new($default);)*
        }

        /// Sets a parameter, clamped to its range. `None`: no parameter has this name.
        #[cfg(feature = "tune")]
        pub fn set(name: &str, value: i32) -> Option<()> {
            match name {
                $(stringify!($name) => {
                    let value = value.clamp($min, $max);
                    tuned::$name.store(value, std::sync::atomic::Ordering::Relaxed);
                })*
                _ => return None,
            }
            Some(())
        }
    };
}

params! {
    /// Half width of the first aspiration window.
    aspiration_window: 14, 5..=50, 3;
    /// The depth from which aspiration windows are used.
    aspiration_depth: 4, 2..=8, 1;
    /// Switch: correction history.
    use_correction: 1, 0..=1, 1;
    /// Its weight by pawns.
    correction_pawns: 64, 0..=160, 10;
    /// By each side's other pieces.
    correction_non_pawns: 60, 0..=160, 10;
    /// By minor pieces and kings.
    correction_minors: 40, 0..=160, 10;
    /// By the last two moves.
    correction_continuation: 60, 0..=160, 10;
    /// Switch: reverse futility pruning.
    use_reverse_futility: 1, 0..=1, 1;
    /// The deepest node that reverse futility leaves.
    reverse_futility_depth: 8, 4..=14, 1;
    /// Its margin per ply.
    reverse_futility_margin: 78, 40..=160, 8;
    /// Switch: razoring.
    use_razoring: 1, 0..=1, 1;
    /// The deepest node that is razored.
    razoring_depth: 3, 1..=6, 1;
    /// Its margin, less what quiescence may win.
    razoring_base: 200, 50..=500, 30;
    /// Its margin per ply.
    razoring_margin: 180, 50..=500, 25;
    /// Switch: internal iterative reductions.
    use_iir: 1, 0..=1, 1;
    /// The depth from which a node without a table move is reduced.
    iir_depth: 4, 2..=8, 1;
    /// Switch: probcut.
    use_probcut: 1, 0..=1, 1;
    /// The depth from which probcut is tried.
    probcut_depth: 5, 4..=9, 1;
    /// How far above beta a capture must come.
    probcut_margin: 180, 80..=320, 18;
    /// Less while improving.
    probcut_improving: 50, 0..=120, 10;
    /// Switch: late-move pruning.
    use_late_move_pruning: 1, 0..=1, 1;
    /// Quiet moves tried at depth 0, before the quadratic term.
    late_move_base: 4, 1..=10, 1;
    /// Switch: futility pruning.
    use_futility: 1, 0..=1, 1;
    /// The deepest reduced depth at which quiet moves are futile.
    futility_depth: 7, 3..=12, 1;
    /// Its margin at depth 0.
    futility_base: 110, 20..=250, 15;
    /// Its margin per ply.
    futility_margin: 85, 30..=180, 10;
    /// Switch: exchange pruning in the main search.
    use_exchange_pruning: 1, 0..=1, 1;
    /// The deepest node at which losing moves are skipped.
    exchange_depth: 8, 3..=14, 1;
    /// What a quiet move may lose per ply of reduced depth squared.
    exchange_quiet_margin: 22, 5..=60, 4;
    /// What a capture may lose per ply.
    exchange_noisy_margin: 95, 40..=180, 10;
    /// Switch: history pruning.
    use_history_pruning: 1, 0..=1, 1;
    /// The deepest reduced depth at which moves of bad history are skipped.
    history_pruning_depth: 4, 1..=8, 1;
    /// The history per ply below which they are.
    history_pruning_margin: 3500, 1000..=8000, 400;
    /// Switch: late-move reductions.
    use_late_move_reductions: 1, 0..=1, 1;
    /// Reduction of a quiet move at depth 1, move 1.
    reduction_base: 800, 0..=2000, 60;
    /// Its growth with ln(depth) ln(number); 1024 is one ply per unit.
    reduction_slope: 455, 200..=900, 25;
    /// More where a cut is expected.
    reduction_cut_node: 1024, 0..=2500, 120;
    /// Less in PV nodes.
    reduction_pv: 1024, 0..=2500, 120;
    /// More while the position gets worse.
    reduction_not_improving: 600, 0..=2000, 100;
    /// More if the table's move is a capture.
    reduction_noisy_hint: 700, 0..=2000, 100;
    /// Less for a move that gives check.
    reduction_check: 900, 0..=2000, 100;
    /// History that is worth one ply less.
    reduction_history: 8500, 3000..=20000, 700;
    /// Switch: singular extensions.
    use_singular: 1, 0..=1, 1;
    /// The depth from which the table's move is tried for singularity.
    singular_depth: 7, 4..=10, 1;
    /// The margin per ply, in 1/16 centipawn.
    singular_margin: 24, 8..=64, 4;
    /// A move singular by so much more is extended by two plies.
    double_extension_margin: 22, 5..=60, 4;
    /// Quiescence: what a capture must bring to be tried, beside its victim.
    quiescence_margin: 140, 50..=300, 15;
    /// Bonus for a move that caused a cutoff, per ply.
    history_bonus: 170, 60..=400, 20;
    /// Its offset.
    history_bonus_base: 80, 0..=400, 25;
    /// The largest bonus.
    history_bonus_max: 1700, 600..=4000, 150;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (i, a) in PARAMS.iter().enumerate() {
            assert!(PARAMS[..i].iter().all(|b| b.name != a.name), "{} twice", a.name);
        }
    }
}
