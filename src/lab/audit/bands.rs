//! The tables of an audit: the share of false cutoffs by properties of the node.

use super::super::report::grouped;
use super::Found;
use super::judge::{CutoffVerdict, JudgedCutoff};
use crate::kit::table::{Align, TextTable};

/// A way to divide cutoffs.
pub(crate) struct Division {
    pub(crate) name: &'static str,
    /// The band of a sample; bands are shown in the order of their numbers.
    pub(crate) band: fn(&JudgedCutoff) -> (i32, String),
}

/// All divisions, in the order in which they are shown.
pub(crate) const DIVISIONS: [Division; 9] = [
    Division { name: "depth of the node", band: |s| (s.depth, s.depth.to_string()) },
    Division {
        name: "depth of the null-move search",
        band: |s| match s.null_depth {
            ..=0 => (0, "0 (quiescence)".to_owned()),
            depth => (depth, depth.to_string()),
        },
    },
    Division {
        name: "pieces of the side that passes",
        band: |s| match s.pieces {
            0..=3 => (s.pieces as i32, s.pieces.to_string()),
            _ => (4, "4 and more".to_owned()),
        },
    },
    Division {
        name: "beta",
        band: |s| match () {
            () if s.is_mate_question() => (1, "a mate against the side that passes".to_owned()),
            () => (0, "a centipawn value, or a mate for it".to_owned()),
        },
    },
    Division {
        name: "static margin",
        band: |s| match s.margin {
            _ if s.is_mate_question() => (5, "beta is a mate".to_owned()),
            ..0 => (0, "below 0".to_owned()),
            0..100 => (1, "0 to 99".to_owned()),
            100..200 => (2, "100 to 199".to_owned()),
            200..400 => (3, "200 to 399".to_owned()),
            _ => (4, "400 and more".to_owned()),
        },
    },
    Division {
        name: "window",
        band: |s| if s.is_pv { (1, "open (PV)".to_owned()) } else { (0, "null".to_owned()) },
    },
    Division {
        name: "phase",
        band: |s| match s.all_pieces {
            10.. => (0, "10 and more pieces".to_owned()),
            5..10 => (1, "5 to 9 pieces".to_owned()),
            _ => (2, "at most 4 pieces".to_owned()),
        },
    },
    Division {
        name: "side that passes",
        band: |s| {
            if s.is_opponent() {
                (1, "the root's opponent".to_owned())
            } else {
                (0, "the root's".to_owned())
            }
        },
    },
    Division {
        name: "plies from the root",
        band: |s| match s.ply {
            0..=5 => (s.ply as i32, s.ply.to_string()),
            _ => (6, "6 and more".to_owned()),
        },
    },
];

impl JudgedCutoff {
    /// Is beta a mate score against the side that passes?
    pub(crate) fn is_mate_question(&self) -> bool {
        self.beta < -crate::score::Score::MATE_BOUND.value()
    }
}

/// The counts of a band.
#[derive(Clone, Copy, Default)]
pub(crate) struct Count {
    pub(crate) audited: u64,
    pub(crate) zugzwangs: u64,
    pub(crate) horizon: u64,
    /// Nodes of the searches without null moves.
    pub(crate) nodes: u64,
}

impl Count {
    pub(crate) fn of<'a>(samples: impl IntoIterator<Item = &'a JudgedCutoff>) -> Count {
        samples.into_iter().fold(Count::default(), |count, sample| Count {
            audited: count.audited + 1,
            zugzwangs: count.zugzwangs + u64::from(sample.verdict == CutoffVerdict::Zugzwang),
            horizon: count.horizon + u64::from(sample.verdict == CutoffVerdict::Horizon),
            nodes: count.nodes + sample.nodes,
        })
    }

    pub(crate) fn wrong(self) -> u64 {
        self.zugzwangs + self.horizon
    }

    pub(crate) fn rate(self) -> f64 {
        self.wrong() as f64 / self.audited.max(1) as f64
    }
}

/// The 95 % interval of a share (Wilson 1927), for `part` of `whole`.
pub(crate) fn wilson(part: u64, whole: u64) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    if whole == 0 {
        return (0.0, 1.0);
    }
    let (n, p) = (whole as f64, part as f64 / whole as f64);
    let denominator = 1.0 + Z * Z / n;
    let centre = p + Z * Z / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let low = if part == 0 { 0.0 } else { (centre - spread) / denominator };
    let high = if part == whole { 1.0 } else { (centre + spread) / denominator };
    (low.max(0.0), high.min(1.0))
}

/// The table of one division, a row for each band and scheme. Schemes are those of `found`.
pub(crate) fn table(division: &Division, found: &[Found]) -> TextTable {
    let mut table = TextTable::new(&[
        (division.name, Align::Left),
        ("scheme", Align::Left),
        ("audited", Align::Right),
        ("false", Align::Right),
        ("zugzwangs", Align::Right),
        ("% false", Align::Right),
        ("95 %", Align::Right),
        ("nodes per check", Align::Right),
        ("false per M nodes", Align::Right),
    ]);
    let mut bands: Vec<(i32, String)> =
        found.iter().flat_map(Found::samples).map(division.band).collect();
    bands.sort();
    bands.dedup();
    for band in &bands {
        for scheme in found {
            let count =
                Count::of(scheme.samples().filter(|sample| (division.band)(sample) == *band));
            if count.audited == 0 {
                continue;
            }
            let mut row = vec![band.1.clone(), scheme.name.clone()];
            row.extend(cells(count));
            table.push(row);
        }
    }
    table
}

fn cells(count: Count) -> Vec<String> {
    let per_million = count.wrong() as f64 * 1e6 / count.nodes.max(1) as f64;
    vec![
        grouped(count.audited),
        grouped(count.wrong()),
        grouped(count.zugzwangs),
        share(count.rate()),
        interval(wilson(count.wrong(), count.audited)),
        grouped(count.nodes / count.audited.max(1)),
        format!("{per_million:.2}"),
    ]
}

/// A share in per cent with three decimals.
pub(crate) fn share(share: f64) -> String {
    format!("{:.3}", 100.0 * share)
}

pub(crate) fn interval((low, high): (f64, f64)) -> String {
    format!("{} to {}", share(low), share(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_intervals_have_the_published_values() {
        // Newcombe 1998, table I: 81 of 263 and 0 of 20, method 3.
        let near = |(low, high): (f64, f64), (l, h): (f64, f64)| {
            assert!((low - l).abs() < 5e-5 && (high - h).abs() < 5e-5, "{low} to {high}");
        };
        near(wilson(81, 263), (0.2553, 0.3662));
        near(wilson(15, 148), (0.0624, 0.1605));
        near(wilson(0, 20), (0.0, 0.1611));
        near(wilson(1, 29), (0.0061, 0.1718));
        near(wilson(29, 29), (0.8830, 1.0));
        near(wilson(0, 0), (0.0, 1.0));
    }
}
