//! `tacet ablate`: what each step of the playing searcher is worth, all measured in one match
//! (feature `tune`).
//!
//! A match per step would cost as many matches as there are steps. Here every pair of games tells of
//! many: for each factor chance decides whether it is at stake in the pair, and if so, which side has
//! to do without it. To a factor all the others are noise that falls on both sides alike, so the pairs
//! in which it was at stake are a match of its own: a fractional factorial experiment (Fisher 1935,
//! "The Design of Experiments"). What it measures is the worth of a step beside steps of which some
//! are missing; `--share` says how many.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::duel::book::check_pairs;
use super::duel::statistics::Pentanomial;
use super::journal::{Journal, Restart};
use super::pairs::{Ground, Outcome, PairArgs, Terms, share};
use super::runner::SearchGroup;
use super::{LabError, print, runner, variant};
use crate::board::notation::quoted;
use crate::games::player::Side;
use crate::kit::progress::Progress;
use crate::kit::random::Random;
use crate::search::null_move::Scheme;
use crate::search::params::{PARAMS, Param};

/// How often a run says where it stands.
const REPORTS: usize = 10;

/// Measures what each step of the playing searcher is worth, all in one match
#[derive(clap::Args, Clone, Debug)]
pub struct AblateArgs {
    /// What is taken away: a parameter and its other value, as in iir_depth=6, or a null-move
    /// scheme, as in NullMove=off [default: every switch, and the null move]
    #[arg(long, value_name = "NAME=VALUE,..", value_delimiter = ',', value_parser = factor)]
    pub factors: Vec<Factor>,

    /// How many pairs of games
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub pairs: u32,

    /// How often a factor is at stake, as a share of the pairs
    #[arg(long, value_name = "S", default_value_t = 0.25, value_parser = share)]
    pub share: f64,

    /// How the games are played.
    #[command(flatten)]
    pub games: PairArgs,

    /// Pairs of games at a time; changes no result
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub concurrency: u16,

    /// Keep the results in this file as they come; the same command goes on from there
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,

    #[command(flatten)]
    pub restart: Restart,
}

/// Something that a side can do without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Factor {
    /// A parameter has another value than by default.
    Param(&'static Param, i32),
    /// Another null-move scheme.
    Scheme(&'static Scheme),
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Factor::Param(param, value) => write!(f, "{}={value}", param.name),
            Factor::Scheme(scheme) => write!(f, "NullMove={}", scheme.name),
        }
    }
}

impl Factor {
    fn apply(self, side: &mut Side) {
        match self {
            Factor::Param(param, value) => {
                // Every parameter can be set, since the feature is on.
                let _ = side.values.set(param.name, value);
            }
            Factor::Scheme(scheme) => side.scheme = scheme,
        }
    }
}

fn factor(text: &str) -> Result<Factor, String> {
    let (name, value) = text.trim().split_once('=').ok_or("a factor is written NAME=VALUE")?;
    if name.eq_ignore_ascii_case("NullMove") {
        return variant::scheme(value).map(Factor::Scheme);
    }
    let param = PARAMS.iter().find(|param| param.name.eq_ignore_ascii_case(name));
    let param = param.ok_or_else(|| format!("there is no parameter '{}'", quoted(name)))?;
    let range = param.min..=param.max;
    let value = value.parse().ok().filter(|value| range.contains(value) && *value != param.default);
    let value = value.ok_or_else(|| {
        format!("{name} goes from {} to {} and is {} anyway", param.min, param.max, param.default)
    })?;
    Ok(Factor::Param(param, value))
}

/// Every switch that is on, and the null move.
fn all_steps() -> Vec<Factor> {
    let on = PARAMS.iter().filter(|param| param.is_switch() && param.default != 0);
    let off = on.map(|param| Factor::Param(param, 0));
    off.chain(Scheme::named("off").map(Factor::Scheme)).collect()
}

/// Measures.
///
/// # Errors
/// Bad arguments, and files that cannot be read or written.
pub fn run(args: &AblateArgs) -> Result<(), LabError> {
    let plan = Plan::new(args)?;
    let worths = plan.measure(args)?;
    print(&plan.table(&worths))
}

struct Plan {
    factors: Vec<Factor>,
    share: f64,
    pairs: usize,
    ground: Ground,
}

/// What a run's results depend on; the first line of its journal.
#[derive(Serialize)]
struct Header {
    ablate: &'static str,
    factors: Vec<String>,
    share: f64,
    #[serde(flatten)]
    terms: Terms,
}

/// A pair of games that was played.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Record {
    /// Its number, from 1.
    pair: usize,
    /// How the first side did.
    #[serde(flatten)]
    outcome: Outcome,
}

/// The match of a factor, as the side sees it that has the factor.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
struct Worth {
    pairs: Pentanomial,
    games: Outcome,
}

impl Worth {
    fn add(&mut self, outcome: Outcome) {
        // A pair has two games: no less than no half points.
        self.pairs.add(usize::try_from(2 + outcome.lead()).unwrap_or(0));
        self.games += outcome;
    }
}

/// Which side has to do without a factor.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Stake {
    Neither,
    First,
    Second,
}

impl Plan {
    fn new(args: &AblateArgs) -> Result<Plan, LabError> {
        let factors = if args.factors.is_empty() { all_steps() } else { args.factors.clone() };
        let same = |a: &Factor, b: &Factor| match (a, b) {
            (Factor::Param(a, _), Factor::Param(b, _)) => a.name == b.name,
            (Factor::Scheme(_), Factor::Scheme(_)) => true,
            _ => false,
        };
        let twice = |&at: &usize| factors[..at].iter().any(|before| same(before, &factors[at]));
        if let Some(at) = (0..factors.len()).find(twice) {
            return Err(LabError::Usage(format!("--factors has {} twice", factors[at])));
        }
        let (pairs, ground) = (args.pairs as usize, Ground::new(&args.games)?);
        check_pairs(&ground.book, pairs)?;
        Ok(Plan { factors, share: args.share, pairs, ground })
    }

    fn header(&self) -> Header {
        Header {
            ablate: env!("CARGO_PKG_VERSION"),
            factors: self.factors.iter().map(Factor::to_string).collect(),
            share: self.share,
            terms: self.ground.terms(),
        }
    }

    /// Takes over the pairs already played, plays those missing, and returns each factor's
    /// match.
    fn measure(&self, args: &AblateArgs) -> Result<Vec<Worth>, LabError> {
        let (mut journal, kept) = Journal::open::<Record>(&args.out, &self.header(), args.restart)?;
        let mut worths = vec![Worth::default(); self.factors.len()];
        let mut missing: Vec<usize> = (1..=self.pairs).collect();
        for record in kept {
            if let Ok(at) = missing.binary_search(&record.pair) {
                missing.remove(at);
                self.count(&mut worths, record);
            }
        }
        let mut played = self.pairs - missing.len();
        let bar = Progress::new(self.pairs as u64, played as u64);
        let workers = vec![(); usize::from(args.concurrency).min(missing.len())];
        let result = runner::for_all_with(
            &missing,
            workers,
            |&pair, (), _: &SearchGroup| self.play(pair),
            |_, record| {
                let record = record?;
                journal.append(&record)?;
                self.count(&mut worths, record);
                played += 1;
                bar.inc(1);
                if played.is_multiple_of(self.pairs.div_ceil(REPORTS)) && played < self.pairs {
                    let head = format!("{played} of {} pairs\n", self.pairs);
                    bar.suspend(|| print(&(head + &self.table(&worths))))?;
                }
                Ok(())
            },
        );
        bar.finish_and_clear();
        result.map(|()| worths)
    }

    fn play(&self, pair: usize) -> Result<Record, LabError> {
        let stakes = self.stakes(pair);
        let side = |without| {
            let mut side = self.ground.usual.clone();
            let missing = self.factors.iter().zip(&stakes).filter(|(_, stake)| **stake == without);
            missing.for_each(|(factor, _)| factor.apply(&mut side));
            side
        };
        let outcome = self.ground.play(pair, &side(Stake::First), &side(Stake::Second))?;
        Ok(Record { pair, outcome })
    }

    /// What is at stake in a pair; depends on nothing but the seed and the pair.
    fn stakes(&self, pair: usize) -> Vec<Stake> {
        let mut random = Random::numbered(self.ground.seed, pair as u64);
        let stake = |_| {
            let bits = random.bits();
            let at_stake = ((bits >> 11) as f64) < self.share * (1_u64 << 53) as f64;
            match (at_stake, bits & 1) {
                (false, _) => Stake::Neither,
                (true, 0) => Stake::First,
                (true, _) => Stake::Second,
            }
        };
        self.factors.iter().map(stake).collect()
    }

    /// Counts a pair for the factors that were at stake: the score of the side that had them.
    fn count(&self, worths: &mut [Worth], Record { pair, outcome }: Record) {
        for (worth, stake) in worths.iter_mut().zip(self.stakes(pair)) {
            match stake {
                Stake::Neither => {}
                Stake::First => worth.add(outcome.reversed()),
                Stake::Second => worth.add(outcome),
            }
        }
    }

    /// The outcome: what each factor is worth, the dearest first.
    fn table(&self, worths: &[Worth]) -> String {
        let mut rows: Vec<_> = self.factors.iter().zip(worths).collect();
        rows.sort_by(|a, b| b.1.pairs.mean().total_cmp(&a.1.pairs.mean()));
        let mut text = format!(
            "{:<34}{:>7}{:>7}{:>7}{:>7}{:>9}{:>9}\n",
            "without", "games", "won", "lost", "drawn", "loses", "+/-"
        );
        for (factor, Worth { pairs, games }) in rows {
            let Some(estimate) = pairs.estimate() else { continue };
            let reach = (estimate.interval.1 - estimate.interval.0) / 2.0;
            // Of the side without it.
            let Outcome { won, lost } = games.reversed();
            let played = 2 * pairs.pairs();
            let drawn = played.saturating_sub(u64::from(won) + u64::from(lost));
            text += &format!(
                "{:<34}{played:>7}{won:>7}{lost:>7}{drawn:>7}{:>9.1}{reach:>9.1}\n",
                factor.to_string(),
                estimate.elo
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::duel::book::BookArgs;

    fn args(factors: &[&str], out: PathBuf) -> AblateArgs {
        AblateArgs {
            factors: factors.iter().map(|text| factor(text).expect(text)).collect(),
            pairs: 10,
            share: 0.5,
            games: PairArgs {
                nodes: 30,
                hash: 1,
                openings: BookArgs { book: None, seed: 3, skip_bad: false },
            },
            concurrency: 1,
            out,
            restart: Restart { fresh: true, force: false },
        }
    }

    #[test]
    fn what_is_no_factor_is_refused() {
        for text in ["use_iir", "use_iir=1", "use_iir=7", "nothing=0", "NullMove=none", ""] {
            assert!(factor(text).is_err(), "{text}");
        }
        assert!(["0", "nan", "1.1", "x"].iter().all(|text| share(text).is_err()));
        let twice = Plan::new(&args(&["iir_depth=6", "iir_depth=7"], PathBuf::new()));
        assert!(twice.is_err_and(|error| error.to_string().contains("iir_depth=7 twice")));
    }

    #[test]
    fn by_default_every_switch_and_the_null_move_are_at_stake() {
        let steps = all_steps();
        assert!(steps.contains(&factor("use_singular=0").expect("a switch")));
        assert!(steps.contains(&factor("nullmove=off").expect("a scheme")));
    }

    /// In place of games: a side wins by the worth of what it has.
    #[test]
    fn each_factor_finds_its_worth() {
        let mut plan = Plan::new(&args(
            &["use_iir=0", "use_quiet_evasions=0", "use_futility=0"],
            PathBuf::new(),
        ))
        .expect("a plan");
        plan.share = 1.0;
        let worth = [300, 0, -100];
        let mut worths = vec![Worth::default(); 3];
        let mut random = Random::new(5);
        for pair in 1..=4000 {
            let stakes = plan.stakes(pair);
            let lead: i64 = stakes
                .iter()
                .zip(worth)
                .map(|(stake, worth)| if *stake == Stake::Second { worth } else { -worth })
                .sum();
            let wins = (random.below(1000) as i64) < 500 + lead / 2;
            let outcome = Outcome { won: u32::from(wins), lost: u32::from(!wins) };
            plan.count(&mut worths, Record { pair, outcome });
        }
        let elo: Vec<f64> =
            worths.iter().map(|worth| worth.pairs.estimate().expect("pairs").elo).collect();
        assert!(elo[0] > 30.0 && elo[1].abs() < 12.0 && elo[2] < -8.0, "{elo:?}");
        let Outcome { won, lost } = worths[0].games;
        assert!(won > lost && won + lost == 4000, "{won} won, {lost} lost with the step");
        // The table has them from the other side.
        let row = format!("{:<34}{:>7}{lost:>7}{won:>7}{:>7}", "use_iir=0", 8000, 4000);
        assert!(plan.table(&worths).contains(&row), "{}", plan.table(&worths));
    }

    #[test]
    fn a_killed_run_ends_as_one_that_was_not() {
        let path = std::env::temp_dir().join(format!("tacet-{}-ablate", std::process::id()));
        let mut args = args(&["use_iir=0", "NullMove=off"], path.clone());
        let measure = |args: &AblateArgs| Plan::new(args).and_then(|plan| plan.measure(args));
        let whole = measure(&args).expect("it runs");
        args.restart.fresh = false;
        let journal = std::fs::read(&path).expect("reads");
        std::fs::write(&path, &journal[..journal.len() * 3 / 4]).expect("writes");
        assert_eq!(measure(&args).expect("it runs"), whole);
        (args.concurrency, args.restart.fresh) = (3, true);
        assert_eq!(measure(&args).expect("it runs"), whole, "however many at a time");
        std::fs::remove_file(&path).expect("is removed");
    }
}
