//! The first layer along the path of a search, updated lazily.
//!
//! A move changes few inputs, so the accumulator of a position is that of the position before it plus and
//! minus a few rows of weights ("efficiently updatable", Yu Nasu 2018). A push only records what changed.
//! An evaluation walks back to the nearest computed accumulator and updates forward from there. When a king
//! move changes its side's view (mirrored, or another king bucket), the accumulator is refreshed from the
//! last position seen in this view, which usually differs little (refresh cache, Luecx's "Finny tables" in
//! Koivisto, 2021).

use std::sync::Arc;

use arrayvec::ArrayVec;

use super::Network;
use super::kernels::Row;
use super::shape::{HIDDEN, View, output_bucket};
use crate::board::{Bitboard, Change, Color, PieceSquare, Position, Role, color_index};
use crate::eval::endings;
use crate::score::{MAX_PLY, Score};

/// The accumulators of the current position and of those before it.
#[derive(Clone, Debug)]
pub struct AccumulatorStack {
    network: Arc<Network>,
    /// Entries above the top are left over from other lines.
    entries: Vec<Accumulator>,
    top: usize,
    cache: Box<[[Cached; View::COUNT]; 2]>,
}

/// The first layer of one position. Arrays are by colour, White first.
#[derive(Clone, Debug)]
struct Accumulator {
    values: [Row; 2],
    /// Whether `values` are up to date.
    computed: [bool; 2],
    views: [View; 2],
    /// The move that led here.
    change: Change,
}

/// The last position seen in some view.
#[derive(Clone, Debug)]
struct Cached {
    values: Row,
    pieces: [[Bitboard; 6]; 2],
}

impl AccumulatorStack {
    /// A stack whose bottom is `position`.
    pub fn new(network: Arc<Network>, position: &Position) -> AccumulatorStack {
        let empty = Cached { values: network.bias, pieces: [[Bitboard::EMPTY; 6]; 2] };
        let cache = Box::new([(); 2].map(|()| std::array::from_fn(|_| empty.clone())));
        let mut entries = Vec::with_capacity(MAX_PLY + 16);
        entries.push(Accumulator::of(position));
        AccumulatorStack { network, entries, top: 0, cache }
    }

    /// The memory in bytes, without the network, which the threads share.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let AccumulatorStack { network: _, entries, top: _, cache } = self;
        entries.capacity() * size_of::<Accumulator>() + size_of_val(&**cache)
    }

    /// Does the stack belong to this network?
    pub fn is_of(&self, network: &Arc<Network>) -> bool {
        Arc::ptr_eq(&self.network, network)
    }

    /// Restarts with `position` as the bottom.
    pub fn reset(&mut self, position: &Position) {
        self.top = 0;
        self.entries[0] = Accumulator::of(position);
    }

    /// Records a move (an empty change: a null move).
    #[inline]
    pub fn push(&mut self, change: &Change) {
        let mut views = self.entries[self.top].views;
        for &piece in change.put() {
            if piece.role() == Role::King {
                views[color_index(piece.color())] = View::of(piece.color(), piece.square());
            }
        }
        self.top += 1;
        match self.entries.get_mut(self.top) {
            Some(entry) => {
                entry.computed = [false; 2];
                entry.views = views;
                entry.change = *change;
            }
            None => {
                let entry = Accumulator::uncomputed(views);
                self.entries.push(Accumulator { change: *change, ..entry });
            }
        }
    }

    /// Takes a move back. The bottom stays.
    #[inline]
    pub fn pop(&mut self) {
        self.top = self.top.saturating_sub(1);
    }

    /// Computes the accumulators of `position`, which must be the top's.
    #[inline]
    pub fn prepare(&mut self, position: &Position) {
        for color in Color::ALL {
            self.compute(position, color);
        }
    }

    /// Evaluates `position`, which must be the top's, for the side to move.
    #[inline]
    pub fn evaluate(&mut self, position: &Position) -> Score {
        self.prepare(position);
        let values = &self.entries[self.top].values;
        let (us, them) = (color_index(position.turn()), color_index(!position.turn()));
        let output = output_bucket(position.occupied().count());
        let value = self.network.output([&values[us], &values[them]], output);
        if endings::may_mislead(position) {
            endings::won(position).unwrap_or_else(|| endings::corrected(position, value, 0))
        } else {
            Score::estimate(value)
        }
    }

    /// Computes one side's accumulator of the top.
    #[inline]
    fn compute(&mut self, position: &Position, color: Color) {
        let side = color_index(color);
        let view = self.entries[self.top].views[side];
        debug_assert_eq!(view, View::of(color, position.king(color)), "wrong top");
        let mut ply = self.top;
        while !self.entries[ply].computed[side] {
            if ply == 0 || self.entries[ply - 1].views[side] != view {
                return self.refresh(position, view);
            }
            ply -= 1;
        }
        for ply in ply + 1..=self.top {
            self.update(ply, view);
        }
    }

    /// Computes one side's accumulator from that of the position before.
    #[inline]
    fn update(&mut self, ply: usize, view: View) {
        let side = color_index(view.color);
        let (before, after) = self.entries.split_at_mut(ply);
        let (Some(before), Some(entry)) = (before.last(), after.first_mut()) else { return };
        let network = &*self.network;
        // The bias is a placeholder for the unused second row.
        let rows = |pieces: &[PieceSquare]| {
            [0, 1].map(|i| pieces.get(i).map_or(&network.bias, |&piece| network.row(view, piece)))
        };
        let (put, removed) = (entry.change.put(), entry.change.removed());
        let (added, taken) = (rows(put), rows(removed));
        let (added, taken) = (&added[..put.len().min(2)], &taken[..removed.len().min(2)]);
        (network.kernels.update)(&before.values[side], &mut entry.values[side], added, taken);
        entry.computed[side] = true;
    }

    /// Computes one side's accumulator of the top from the last position seen in this view.
    #[cold]
    fn refresh(&mut self, position: &Position, view: View) {
        let side = color_index(view.color);
        let cached = &mut self.cache[side][view.index()];
        let (mut put, mut removed) = (ArrayVec::<&Row, 64>::new(), ArrayVec::<&Row, 64>::new());
        for color in Color::ALL {
            for role in Role::ALL {
                let old = &mut cached.pieces[color_index(color)][role as usize - 1];
                let new = position.pieces(color, role);
                let row = |square| self.network.row(view, PieceSquare::new(color, role, square));
                put.extend((new & !*old).into_iter().map(row));
                removed.extend((*old & !new).into_iter().map(row));
                *old = new;
            }
        }
        let old = cached.values;
        (self.network.kernels.update)(&old, &mut cached.values, &put, &removed);
        let top = &mut self.entries[self.top];
        top.values[side] = cached.values;
        top.computed[side] = true;
    }
}

impl Accumulator {
    fn of(position: &Position) -> Accumulator {
        Accumulator::uncomputed(Color::ALL.map(|color| View::of(color, position.king(color))))
    }

    fn uncomputed(views: [View; 2]) -> Accumulator {
        let values = [Row([0; HIDDEN]); 2];
        Accumulator { values, computed: [false; 2], views, change: Change::default() }
    }
}
