//! The neurons' sums along the path of a search, brought up to date when they are asked for.
//!
//! A move turns few inputs on and off, so the sums of the first layer are those of the position
//! before it and a few rows of weights ("efficiently updatable", Yu Nasu 2018). A push only notes
//! what changed; an evaluation goes back to the nearest position whose sums are known and comes
//! forward from there. When a king's move changes its side's view, mirrored or of another king
//! bucket, the sums begin anew: from the last position seen in this view, whose difference is
//! usually small (the refresh cache, Luecx's "Finny tables" in Koivisto, 2021).

use std::sync::Arc;

use arrayvec::ArrayVec;

use super::Network;
use super::kernels::Row;
use super::shape::{View, bucket};
use crate::board::{Bitboard, Change, Color, PieceSquare, Position, Role, color_index};
use crate::eval::endings;
use crate::score::{MAX_PLY, Score};

/// The sums of the current position, and below them those of the positions before it.
#[derive(Clone, Debug)]
pub struct Stack {
    network: Arc<Network>,
    /// Those above the top are left over from other lines.
    entries: Vec<Entry>,
    top: usize,
    cache: Box<[[Cached; View::COUNT]; 2]>,
}

/// A position on the path. Arrays are by colour, White first.
#[derive(Clone, Debug)]
struct Entry {
    sums: [Row; 2],
    /// Whether the sums have been computed.
    known: [bool; 2],
    views: [View; 2],
    /// What led here.
    change: Change,
}

/// The last position seen in some view, and its sums.
#[derive(Clone, Debug)]
struct Cached {
    sums: Row,
    pieces: [[Bitboard; 6]; 2],
}

impl Stack {
    /// A stack whose bottom is `position`.
    pub fn new(network: Arc<Network>, position: &Position) -> Stack {
        let empty = Cached { sums: network.bias, pieces: [[Bitboard::EMPTY; 6]; 2] };
        let cache = Box::new([(); 2].map(|()| std::array::from_fn(|_| empty.clone())));
        let mut entries = Vec::with_capacity(MAX_PLY + 16);
        entries.push(Entry::of(position));
        Stack { network, entries, top: 0, cache }
    }

    /// Are these sums of that network?
    pub fn is_of(&self, network: &Arc<Network>) -> bool {
        Arc::ptr_eq(&self.network, network)
    }

    /// Empties the stack and begins anew.
    pub fn reset(&mut self, position: &Position) {
        self.top = 0;
        self.entries[0] = Entry::of(position);
    }

    /// A move was played (an empty change: a pass).
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
                entry.known = [false; 2];
                entry.views = views;
                entry.change = *change;
            }
            None => self.entries.push(Entry { change: *change, ..Entry::unknown(views) }),
        }
    }

    /// It was taken back. The bottom stays.
    #[inline]
    pub fn pop(&mut self) {
        self.top = self.top.saturating_sub(1);
    }

    /// Computes the sums of `position`, which must be the top's.
    #[inline]
    pub fn prepare(&mut self, position: &Position) {
        for color in Color::ALL {
            self.bring_up(position, color);
        }
    }

    /// The value of `position`, which must be the top's, for the side to move.
    #[inline]
    pub fn evaluate(&mut self, position: &Position) -> Score {
        self.prepare(position);
        let sums = &self.entries[self.top].sums;
        let (us, them) = (color_index(position.turn()), color_index(!position.turn()));
        let bucket = bucket(position.occupied().count());
        let value = self.network.output([&sums[us], &sums[them]], bucket);
        if endings::may_mislead(position) {
            endings::won(position).unwrap_or_else(|| endings::corrected(position, value, 0))
        } else {
            Score::cp(value)
        }
    }

    /// Computes a side's sums for the top.
    #[inline]
    fn bring_up(&mut self, position: &Position, color: Color) {
        let side = color_index(color);
        let view = self.entries[self.top].views[side];
        debug_assert_eq!(view, View::of(color, position.king(color)), "wrong top");
        let mut known = self.top;
        while !self.entries[known].known[side] {
            if known == 0 || self.entries[known - 1].views[side] != view {
                return self.refresh(position, view);
            }
            known -= 1;
        }
        for number in known + 1..=self.top {
            self.step(number, view);
        }
    }

    /// Computes a side's sums from those of the position before.
    #[inline]
    fn step(&mut self, number: usize, view: View) {
        let side = color_index(view.color);
        let (before, after) = self.entries.split_at_mut(number);
        let (Some(before), Some(entry)) = (before.last(), after.first_mut()) else { return };
        let network = &*self.network;
        // The unused second of two is no row at all.
        let rows = |pieces: &[PieceSquare]| {
            [0, 1].map(|i| pieces.get(i).map_or(&network.bias, |&piece| network.row(view, piece)))
        };
        let (put, removed) = (entry.change.put(), entry.change.removed());
        let (added, taken) = (rows(put), rows(removed));
        let (added, taken) = (&added[..put.len().min(2)], &taken[..removed.len().min(2)]);
        (network.kernels.update)(&before.sums[side], &mut entry.sums[side], added, taken);
        entry.known[side] = true;
    }

    /// Computes a side's sums for the top from those of the position last seen in this view.
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
        let old = cached.sums;
        (self.network.kernels.update)(&old, &mut cached.sums, &put, &removed);
        let top = &mut self.entries[self.top];
        top.sums[side] = cached.sums;
        top.known[side] = true;
    }
}

impl Entry {
    fn of(position: &Position) -> Entry {
        Entry::unknown(Color::ALL.map(|color| View::of(color, position.king(color))))
    }

    fn unknown(views: [View; 2]) -> Entry {
        let sums = [Row([0; super::shape::HIDDEN]); 2];
        Entry { sums, known: [false; 2], views, change: Change::default() }
    }
}
