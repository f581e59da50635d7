//! The result of a match, for the terminal and as JSON.

use serde_json::json;

use super::Plan;
use super::record::{Effort, Standing};
use super::statistics::{Decision, Estimate, Sprt};
use crate::lab::report::{Origin, fixed, grouped, signed};

/// The message of the progress bar.
pub(crate) fn short(standing: &Standing) -> String {
    let [wins, draws, losses] = standing.results;
    let elo = standing.pairs.estimate().map_or("-".to_owned(), |estimate| elo(&estimate));
    match standing.test {
        Some((_, ratio)) => format!("+{wins} ={draws} -{losses} Elo {elo} LLR {}", fixed(ratio, 2)),
        None => format!("+{wins} ={draws} -{losses} Elo {elo}"),
    }
}

pub(crate) fn text(plan: &Plan, standing: &Standing) -> String {
    let [wins, draws, losses] = standing.results;
    let games = standing.games();
    let mut rows = vec![
        ("A", plan.a.to_string()),
        ("B", plan.b.to_string()),
        ("openings", openings(plan, standing)),
        (
            "adjudication",
            plan.rules.to_string() + if plan.tables.is_some() { "; tables" } else { "" },
        ),
        ("games", format!("{games} of {}: A won {wins}, drawn {draws}, lost {losses}", plan.games)),
    ];
    if let Some(estimate) = standing.pairs.estimate() {
        let share = 100.0 * estimate.score;
        rows.push(("score", format!("{} of {games} ({share:.1} %)", standing.points())));
        rows.push(("Elo", format!("{} (95 %), {}", elo(&estimate), normalized(&estimate))));
        rows.push(("LOS", format!("{:.1} %", 100.0 * estimate.los)));
    }
    let [p0, p1, p2, p3, p4] = standing.pairs.0;
    rows.push(("pairs", format!("0: {p0}, 1/2: {p1}, 1: {p2}, 3/2: {p3}, 2: {p4} (points for A)")));
    let endings: Vec<String> = standing
        .endings
        .iter()
        .map(|(ending, count)| format!("{} {count}", ending.name()))
        .collect();
    rows.push(("endings", endings.join(", ")));
    rows.push(("A per move", effort(&standing.effort[0])));
    rows.push(("B per move", effort(&standing.effort[1])));
    if let (Some(sprt), Some((decision, ratio))) = (plan.sprt, standing.test) {
        rows.push(("SPRT", verdict(&sprt, decision, ratio)));
    }
    rows.iter().map(|(name, value)| format!("{name:<13}{value}\n")).collect()
}

pub(crate) fn json(plan: &Plan, standing: &Standing, origin: &Origin) -> serde_json::Value {
    let estimate = standing.pairs.estimate();
    // Adding 0.0 takes the sign of a zero away.
    let finite = |value: f64| value.is_finite().then_some(value + 0.0);
    let effort = |effort: &Effort| json!({ "moves": effort.moves, "nodes": effort.nodes, "depths": effort.depths });
    let endings: serde_json::Map<String, serde_json::Value> = standing
        .endings
        .iter()
        .map(|(ending, &count)| (ending.name().to_owned(), count.into()))
        .collect();
    json!({
        "origin": origin,
        "a": plan.a.to_string(),
        "b": plan.b.to_string(),
        "openings": { "book": plan.book.name, "count": plan.book.len(), "seed": plan.seed },
        "adjudication": plan.rules.to_string(),
        "games": standing.games(),
        "wins": standing.results[0],
        "draws": standing.results[1],
        "losses": standing.results[2],
        "score": estimate.map(|e| e.score),
        "elo": estimate.and_then(|e| finite(e.elo)),
        "elo_low": estimate.and_then(|e| finite(e.interval.0)),
        "elo_high": estimate.and_then(|e| finite(e.interval.1)),
        "normalized_elo": estimate.and_then(|e| finite(e.normalized)),
        "los": estimate.map(|e| e.los),
        "pentanomial": standing.pairs.0,
        "endings": endings,
        "effort": { "a": effort(&standing.effort[0]), "b": effort(&standing.effort[1]) },
        "sprt": plan.sprt.zip(standing.test).map(|(sprt, (decision, ratio))| json!({
            "elo0": sprt.elo0,
            "elo1": sprt.elo1,
            "llr": ratio,
            "bounds": sprt.bounds(),
            "accepted": match decision {
                Decision::Open => None,
                Decision::Accept0 => Some("elo0"),
                Decision::Accept1 => Some("elo1"),
            },
        })),
    })
}

/// The openings played. On a clock there may be more pairs than openings; then the book starts again.
fn openings(plan: &Plan, standing: &Standing) -> String {
    let (pairs, size) = (standing.pairs.pairs(), plan.book.len() as u64);
    let turns = if pairs > size { format!("in {pairs} pairs") } else { "each twice".to_owned() };
    format!("{} of '{}', seed {}, {turns}", pairs.min(size), plan.book.name, plan.seed)
}

/// `+7.0 ± 45.3`: half the interval behind the sign.
fn elo(estimate: &Estimate) -> String {
    let (low, high) = estimate.interval;
    let elo = signed(estimate.elo, 1);
    if estimate.elo.is_finite() && low.is_finite() && high.is_finite() {
        format!("{elo} ± {:.1}", (high - low) / 2.0)
    } else {
        format!("{elo} [{}, {}]", signed(low, 1), signed(high, 1))
    }
}

fn normalized(estimate: &Estimate) -> String {
    if estimate.normalized.is_finite() {
        format!("normalised {}", signed(estimate.normalized, 1))
    } else {
        "normalised unknown: all pairs have the same score".to_owned()
    }
}

fn effort(effort: &Effort) -> String {
    if effort.moves == 0 {
        return "no move".to_owned();
    }
    let depth = effort.depths as f64 / effort.moves as f64;
    format!("{} nodes, depth {depth:.2}", grouped(effort.nodes / effort.moves))
}

fn verdict(sprt: &Sprt, decision: Decision, ratio: f64) -> String {
    let (low, high) = sprt.bounds();
    let Sprt { elo0, elo1, alpha, beta } = sprt;
    let said = match decision {
        Decision::Open => "open".to_owned(),
        Decision::Accept0 => format!("Elo {elo0} accepted"),
        Decision::Accept1 => format!("Elo {elo1} accepted"),
    };
    format!(
        "{said}: LLR {} in ({low:.2}, {high:.2}), Elo {elo0} against {elo1}, \
         alpha {alpha}, beta {beta}, generalised and pentanomial",
        fixed(ratio, 2)
    )
}
