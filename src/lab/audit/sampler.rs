//! A reproducible sample of the null-move cutoffs of a search.
//!
//! Every cutoff that the scheme accepts gets a hash of its position, depth, bound and the seed. Of
//! each depth those with the smallest hashes are kept, so the sample does not depend on the order
//! of the search, and a larger sample contains a smaller one.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::board::Position;
use crate::kit::fingerprint;
use crate::kit::sync::lock;
use crate::score::{Depth, Score};
use crate::search::null_move::NodeFacts;
use crate::search::observer::{NullCutoff, Observer};

/// Cutoffs kept for each depth of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleSize {
    /// At most this many at each depth.
    pub(crate) each: usize,
    /// At most this many at each depth from `deep_from` on.
    pub(crate) deep: usize,
    /// See `deep`.
    pub(crate) deep_from: Depth,
}

impl SampleSize {
    fn at(self, depth: Depth) -> usize {
        if depth >= self.deep_from { self.deep } else { self.each }
    }
}

/// A cutoff to be audited.
#[derive(Clone, Debug)]
pub(crate) struct SampledCutoff {
    pub(crate) position: Position,
    /// Keys of the positions before it.
    pub(crate) keys: Vec<u64>,
    pub(crate) node: NodeFacts,
    pub(crate) null_depth: Depth,
}

impl SampledCutoff {
    pub(crate) fn new(cutoff: &NullCutoff<'_>) -> SampledCutoff {
        SampledCutoff {
            position: cutoff.position.clone(),
            keys: cutoff.keys.to_vec(),
            node: cutoff.node,
            null_depth: cutoff.null_depth,
        }
    }
}

/// Keeps a sample of the cutoffs that a search accepts.
#[derive(Debug)]
pub(crate) struct CutoffSampler {
    size: SampleSize,
    seed: u64,
    strata: Mutex<BTreeMap<Depth, Stratum>>,
}

/// The cutoffs of one depth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stratum {
    /// Number of cutoffs.
    pub(crate) cutoffs: u64,
    /// The sample, by ascending hash.
    pub(crate) kept: BTreeMap<u64, SampledCutoff>,
}

impl CutoffSampler {
    pub(crate) fn new(size: SampleSize, seed: u64) -> CutoffSampler {
        CutoffSampler { size, seed, strata: Mutex::default() }
    }

    /// The cutoffs, by depth.
    pub(crate) fn strata(&self) -> BTreeMap<Depth, Stratum> {
        lock(&self.strata).clone()
    }
}

impl Observer for CutoffSampler {
    fn accepts(&self, cutoff: &NullCutoff<'_>) -> bool {
        let node = cutoff.node;
        let hash = hash(cutoff, self.seed);
        let size = self.size.at(node.depth);
        let mut strata = lock(&self.strata);
        let stratum = strata.entry(node.depth).or_default();
        stratum.cutoffs += 1;
        let is_full = stratum.kept.len() >= size;
        let is_small = stratum.kept.last_key_value().is_none_or(|(&largest, _)| hash < largest);
        if size > 0 && (!is_full || is_small) && !stratum.kept.contains_key(&hash) {
            stratum.kept.insert(hash, SampledCutoff::new(cutoff));
            if is_full {
                stratum.kept.pop_last();
            }
        }
        true
    }
}

/// Denies one cutoff (position, depth and bound) wherever it occurs in the search.
#[derive(Debug)]
pub(crate) struct Denier {
    key: u64,
    depth: Depth,
    beta: Score,
}

impl Denier {
    pub(crate) fn new(candidate: &SampledCutoff) -> Denier {
        let SampledCutoff { position, node, .. } = candidate;
        Denier { key: position.key(), depth: node.depth, beta: node.beta }
    }
}

impl Observer for Denier {
    fn accepts(&self, cutoff: &NullCutoff<'_>) -> bool {
        cutoff.position.key() != self.key
            || cutoff.node.depth != self.depth
            || cutoff.node.beta != self.beta
    }
}

/// FNV-1a with the finaliser of MurmurHash3 (Appleby), since FNV-1a mixes the upper bits of short inputs
/// badly.
fn hash(cutoff: &NullCutoff<'_>, seed: u64) -> u64 {
    let NullCutoff { position, node, .. } = cutoff;
    let words = [position.key(), node.depth as u64, node.beta.raw() as u64, seed];
    let mut hash = fingerprint::of_words(words.into_iter());
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}
