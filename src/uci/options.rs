//! The UCI options: one table of name, kind and effect.
//!
//! The table prints the `option` lines, checks values and applies them; a new option is a new row.
//! The searcher's parameters are rows as well where they can be set (feature `tune`).

use std::fmt;
use std::time::Duration;

use super::command::integer;
use crate::board::notation::quoted;
use crate::engine::Engine;
use crate::eval::Evaluator;
use crate::score::Depth;
use crate::search::Searcher;
use crate::search::handicap::Handicap;
use crate::search::null_move::{SCHEMES, Scheme};
use crate::search::params::{Param, settable};

/// The largest `Hash`, in MB.
const MOST_HASH: i64 = if usize::BITS >= 64 { 33_554_432 } else { 2048 };

/// The value of a path that names nothing.
const NO_PATH: &str = "<empty>";

/// What there is to say after an option was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The value was put into range.
    Clamped(String),
    /// All is well, and this is what was found.
    Done(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Note::Clamped(text) | Note::Done(text)) = self;
        f.write_str(text)
    }
}

/// One option.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name; matched in any case.
    pub name: &'static str,
    kind: Kind,
}

/// What an option holds, and what setting it does.
#[derive(Clone, Copy)]
enum Kind {
    /// A whole number. The effect may fail, in words.
    Spin { default: i64, min: i64, max: i64, set: fn(&mut Engine, i64) -> Result<(), String> },
    /// A parameter of the playing searcher.
    Parameter(&'static Param),
    /// On or off.
    Check { default: bool, set: fn(&mut Engine, bool) },
    /// One of a list of names.
    Combo { default: &'static str, values: fn() -> Vec<&'static str>, set: fn(&mut Engine, &str) },
    /// Any text. The effect may have something to say, and may fail, in words.
    Text { default: &'static str, set: fn(&mut Engine, &str) -> Result<Option<Note>, String> },
    /// Something to do.
    Button { press: fn(&mut Engine) },
}

/// Every option, in the order in which they are announced: the fixed ones, then the parameters that
/// can be set.
pub fn all() -> impl Iterator<Item = Entry> {
    let parameter =
        |param: &'static Param| Entry { name: param.name, kind: Kind::Parameter(param) };
    FIXED.iter().copied().chain(settable().iter().map(parameter))
}

static FIXED: [Entry; 18] = [
    Entry {
        name: "Hash",
        kind: Kind::Spin {
            default: 16,
            min: 1,
            max: MOST_HASH,
            set: |engine, megabytes| engine.set_hash(megabytes as usize),
        },
    },
    Entry { name: "Clear Hash", kind: Kind::Button { press: Engine::clear_hash } },
    Entry {
        name: "Threads",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: 1024,
            set: |engine, threads| {
                engine.options_mut().threads = threads as usize;
                Ok(())
            },
        },
    },
    Entry {
        name: "MultiPV",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: 256,
            set: |engine, lines| {
                engine.options_mut().multi_pv = lines as usize;
                Ok(())
            },
        },
    },
    Entry {
        name: "Ponder",
        kind: Kind::Check { default: false, set: |engine, on| engine.options_mut().ponder = on },
    },
    Entry {
        name: "Move Overhead",
        kind: Kind::Spin {
            default: 10,
            min: 0,
            max: 5000,
            set: |engine, ms| {
                engine.options_mut().move_overhead = Duration::from_millis(ms as u64);
                Ok(())
            },
        },
    },
    Entry {
        name: "UCI_Chess960",
        kind: Kind::Check { default: false, set: |engine, on| engine.options_mut().chess960 = on },
    },
    Entry {
        name: "UCI_ShowWDL",
        kind: Kind::Check { default: false, set: |engine, on| engine.options_mut().show_wdl = on },
    },
    Entry {
        name: "UCI_LimitStrength",
        kind: Kind::Check {
            default: false,
            set: |engine, on| engine.options_mut().limit_strength = on,
        },
    },
    Entry {
        name: "UCI_Elo",
        kind: Kind::Spin {
            default: 2000,
            min: *Handicap::ELO.start() as i64,
            max: *Handicap::ELO.end() as i64,
            set: |engine, elo| {
                engine.options_mut().elo = elo as u32;
                Ok(())
            },
        },
    },
    // For GUIs that set it; games and analysis are searched alike.
    Entry { name: "UCI_AnalyseMode", kind: Kind::Check { default: false, set: |_, _| () } },
    Entry {
        name: "NullMove",
        kind: Kind::Combo {
            default: "modern-endgame",
            values: || SCHEMES.iter().map(|scheme| scheme.name).collect(),
            set: |engine, name| engine.options_mut().scheme = Scheme::named(name),
        },
    },
    Entry {
        name: "Searcher",
        kind: Kind::Combo {
            default: "playing",
            values: || Searcher::ALL.iter().map(|&(name, _)| name).collect(),
            set: |engine, name| {
                engine.options_mut().searcher = Searcher::named(name).unwrap_or_default();
            },
        },
    },
    Entry {
        name: "EvalFile",
        kind: Kind::Text {
            default: Evaluator::INTERNAL,
            set: |engine, name| {
                let evaluator = Evaluator::named(name)
                    .map_err(|reason| format!("{}: {reason}; the old one stays", quoted(name)))?;
                engine.set_evaluator(evaluator);
                Ok(None)
            },
        },
    },
    Entry { name: "SyzygyPath", kind: Kind::Text { default: NO_PATH, set: set_tables } },
    Entry {
        name: "SyzygyProbeDepth",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: 100,
            set: |engine, depth| {
                engine.options_mut().probing.depth = depth as Depth;
                Ok(())
            },
        },
    },
    Entry {
        name: "Syzygy50MoveRule",
        kind: Kind::Check { default: true, set: Engine::set_fifty_moves },
    },
    Entry {
        name: "SyzygyProbeLimit",
        kind: Kind::Spin {
            default: 7,
            min: 0,
            max: 7,
            set: |engine, men| {
                engine.options_mut().probing.limit = men as usize;
                Ok(())
            },
        },
    },
];

/// Opens endgame tables, and says how many.
fn set_tables(engine: &mut Engine, list: &str) -> Result<Option<Note>, String> {
    let list = if list.eq_ignore_ascii_case(NO_PATH) { "" } else { list };
    match engine.set_tables(list) {
        Ok(tables) => Ok(tables.map(|tables| {
            let (files, men) = (tables.files(), tables.max_pieces());
            Note::Done(format!("tablebases: {files} files, up to {men} men"))
        })),
        Err(error) => Err(format!("{error}; the old tables stay")),
    }
}

/// Sets an option from text. Returns what there is to say of it.
///
/// # Errors
/// If there is no such option, the value is none it can take, or the effect fails; then nothing
/// changed.
pub fn set(engine: &mut Engine, name: &str, value: &str) -> Result<Option<Note>, String> {
    let entry = all()
        .find(|entry| entry.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| format!("unknown option: {}", quoted(name)))?;
    entry.set(engine, value.trim())
}

impl Entry {
    fn set(&self, engine: &mut Engine, value: &str) -> Result<Option<Note>, String> {
        match self.kind {
            Kind::Spin { min, max, set, .. } => {
                let (number, note) = self.number(value, min, max)?;
                set(engine, number).map_err(|reason| format!("{}: {reason}", self.name))?;
                return Ok(note);
            }
            Kind::Parameter(&Param { min, max, .. }) => {
                let (number, note) = self.number(value, min.into(), max.into())?;
                let _ = engine.options_mut().values.set(self.name, number as i32);
                return Ok(note);
            }
            Kind::Check { set, .. } => match value.to_ascii_lowercase().as_str() {
                "true" => set(engine, true),
                "false" => set(engine, false),
                _ => return Err(self.refusal("true or false", value)),
            },
            Kind::Combo { values, set, .. } => {
                let values = values();
                match values.iter().find(|known| known.eq_ignore_ascii_case(value)) {
                    Some(known) => set(engine, known),
                    None => {
                        let wanted = format!("one of {}", values.join(", "));
                        return Err(self.refusal(&wanted, value));
                    }
                }
            }
            Kind::Text { set, .. } => {
                return set(engine, value).map_err(|reason| format!("{}: {reason}", self.name));
            }
            Kind::Button { press } => press(engine),
        }
        Ok(None)
    }

    /// A number put into range, and a note if it was not.
    fn number(&self, value: &str, min: i64, max: i64) -> Result<(i64, Option<Note>), String> {
        let number = integer(value).ok_or_else(|| self.refusal("a whole number", value))?;
        let clamped = number.clamp(min, max);
        Ok((clamped, (clamped != number).then(|| self.clamping(value, clamped, min, max))))
    }

    fn refusal(&self, wanted: &str, value: &str) -> String {
        format!("{} wants {wanted}, not '{}'", self.name, quoted(value))
    }

    fn clamping(&self, value: &str, clamped: i64, min: i64, max: i64) -> Note {
        let (name, value) = (self.name, quoted(value));
        Note::Clamped(format!("{name} {value} is outside {min}..={max}; {clamped} instead"))
    }
}

/// The line that announces the option.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option name {} type ", self.name)?;
        match self.kind {
            Kind::Spin { default, min, max, .. } => {
                write!(f, "spin default {default} min {min} max {max}")
            }
            Kind::Parameter(Param { default, min, max, .. }) => {
                write!(f, "spin default {default} min {min} max {max}")
            }
            Kind::Check { default, .. } => write!(f, "check default {default}"),
            Kind::Combo { default, values, .. } => {
                write!(f, "combo default {default}")?;
                values().iter().try_for_each(|value| write!(f, " var {value}"))
            }
            Kind::Text { default, .. } => write!(f, "string default {default}"),
            Kind::Button { .. } => f.write_str("button"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine() -> Engine {
        Engine::new(crossbeam_channel::unbounded().0).unwrap()
    }

    /// Setting each option to its announced default changes nothing that shows.
    #[test]
    fn announced_defaults_are_the_defaults() {
        let mut set_engine = engine();
        for entry in all() {
            let default = match entry.kind {
                Kind::Spin { default, min, max, .. } => {
                    assert!((min..=max).contains(&default), "{}", entry.name);
                    default.to_string()
                }
                Kind::Parameter(param) => param.default.to_string(),
                Kind::Check { default, .. } => default.to_string(),
                Kind::Combo { default, values, .. } => {
                    assert!(values().contains(&default), "{}", entry.name);
                    default.to_owned()
                }
                Kind::Text { default, .. } => default.to_owned(),
                Kind::Button { .. } => String::new(),
            };
            assert_eq!(set(&mut set_engine, entry.name, &default), Ok(None), "{}", entry.name);
        }
        let (fresh, set) = (engine(), set_engine.options().clone());
        let fresh = fresh.options();
        assert_eq!(set.scheme(), fresh.scheme());
        let plain = crate::engine::Options { scheme: None, ..set };
        assert_eq!(format!("{plain:?}"), format!("{fresh:?}"));
    }

    #[test]
    fn names_are_matched_in_any_case() {
        let mut engine = engine();
        assert_eq!(set(&mut engine, "move overhead", "123"), Ok(None));
        assert_eq!(engine.options().move_overhead, Duration::from_millis(123));
        assert_eq!(set(&mut engine, "NULLMOVE", "Verified-R3"), Ok(None));
        assert_eq!(engine.options().scheme().name, "verified-r3");
    }

    #[test]
    fn numbers_are_clamped_and_said_so() {
        let mut engine = engine();
        let note = set(&mut engine, "MultiPV", "1000").unwrap().unwrap();
        let said = "MultiPV 1000 is outside 1..=256; 256 instead";
        assert_eq!(note, Note::Clamped(said.to_owned()));
        assert_eq!(engine.options().multi_pv, 256);
        assert!(set(&mut engine, "Hash", "-99999999999999999999").unwrap().is_some());
        assert_eq!(engine.options().hash, 1);
    }

    #[test]
    fn parameters_are_options_with_the_feature_only() {
        let lines: Vec<String> = all().map(|entry| entry.to_string()).collect();
        let line = "option name probcut_depth type spin default 5 min 4 max 9".to_owned();
        assert_eq!(lines.contains(&line), cfg!(feature = "tune"));
        assert_eq!(lines.len(), FIXED.len() + settable().len());
        let mut engine = engine();
        let answer = set(&mut engine, "Probcut_Depth", "10");
        if cfg!(feature = "tune") {
            let note = "probcut_depth 10 is outside 4..=9; 9 instead".to_owned();
            assert_eq!(answer, Ok(Some(Note::Clamped(note))));
            let changed: Vec<_> = engine.options().values.changed().collect();
            assert_eq!(changed, [("probcut_depth", 9)]);
        } else {
            assert_eq!(answer, Err("unknown option: Probcut_Depth".to_owned()));
            assert_eq!(lines.len(), FIXED.len());
        }
    }

    #[test]
    fn what_cannot_be_is_refused_and_changes_nothing() {
        let mut engine = engine();
        for (name, value) in [
            ("Hash", "much"),
            ("Hash", ""),
            ("Ponder", "yes"),
            ("NullMove", "nonsense"),
            ("Searcher", ""),
            ("Contempt", "0"),
            ("EvalFile", "/no/such/file"),
        ] {
            let reason = set(&mut engine, name, value).unwrap_err();
            assert!(reason.contains(name), "{reason}");
        }
        assert_eq!(engine.options().hash, 16);
        assert_eq!(engine.options().scheme().name, "modern-endgame");
    }

    #[test]
    fn the_evaluation_is_chosen_by_name_or_file() {
        let mut engine = engine();
        for (value, is_network) in
            [("<classical>", false), ("", true), ("<First>", false), ("<INTERNAL>", true)]
        {
            assert_eq!(set(&mut engine, "EvalFile", value), Ok(None));
            let evaluator = &engine.options().evaluator;
            assert_eq!(matches!(evaluator, Evaluator::Network(_)), is_network, "{value}");
        }
        set(&mut engine, "EvalFile", Evaluator::CLASSICAL).unwrap();
        let reason = set(&mut engine, "EvalFile", "/no/such/file").unwrap_err();
        assert!(reason.contains("the old one stays"), "{reason}");
        assert!(matches!(engine.options().evaluator, Evaluator::Classical(_)));
    }

    #[test]
    fn the_scheme_follows_the_searcher_until_chosen() {
        let mut engine = engine();
        set(&mut engine, "Searcher", "classic").unwrap();
        assert_eq!(engine.options().scheme().name, "verified-r3");
        set(&mut engine, "NullMove", "off").unwrap();
        set(&mut engine, "Searcher", "playing").unwrap();
        assert_eq!(engine.options().scheme().name, "off");
    }
}
