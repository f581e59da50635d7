//! Step 10: the order of moves, generated in stages so that a node which is cut early never
//! generates what it does not need.

use super::{Known, Playing};
use crate::board::movegen::{Kind, MoveList};
use crate::board::{PackedMove, Position, exchange};
use crate::score::Ply;
use crate::search::history::History;
use crate::search::ordering::Scored;

/// The moves of one node.
#[derive(Default)]
pub struct Lists {
    pub moves: Scored,
    losing: MoveList,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Hint,
    BeginNoisy,
    Noisy,
    Killers,
    Quiet,
    Losing,
}

/// Where a node is in its moves. The moves themselves lie in the searcher's lists, from the second
/// move on: while the table's move is tried for singularity, the same node is searched without it
/// and has the lists to itself.
pub struct Picker {
    stage: Stage,
    hint: PackedMove,
    killers: [PackedMove; 2],
    /// Killers or losing captures given so far.
    given: usize,
    skip_quiets: bool,
}

impl Picker {
    pub fn new(hint: PackedMove) -> Picker {
        Picker {
            stage: Stage::Hint,
            hint,
            killers: [PackedMove::NONE; 2],
            given: 0,
            skip_quiets: false,
        }
    }

    /// No more quiet moves.
    pub fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    fn given_already(&self, m: PackedMove) -> bool {
        m == self.hint || self.killers.contains(&m)
    }
}

impl Playing<'_> {
    /// The next move of a node: the table's, captures that do not lose, killers, quiet moves by
    /// history, losing captures.
    pub(super) fn next_move(
        &mut self,
        position: &Position,
        picker: &mut Picker,
        known: &Known,
        ply: Ply,
    ) -> Option<PackedMove> {
        loop {
            match picker.stage {
                Stage::Hint => {
                    picker.stage = Stage::BeginNoisy;
                    if picker.hint.is_some() {
                        return Some(picker.hint);
                    }
                }
                Stage::BeginNoisy => {
                    self.begin_noisy(position, ply);
                    picker.stage = Stage::Noisy;
                }
                Stage::Noisy => {
                    if let Some(m) = self.next_noisy(position, picker, ply) {
                        return Some(m);
                    }
                    picker.killers = self.playable_killers(position, picker, ply);
                    picker.stage = Stage::Killers;
                }
                Stage::Killers => {
                    let killer = picker.killers.get(picker.given).copied();
                    picker.given += 1;
                    match killer {
                        Some(m) if m.is_some() && !picker.skip_quiets => return Some(m),
                        Some(_) => {}
                        None => self.begin_quiet(position, picker, known, ply),
                    }
                }
                Stage::Quiet => match self.memory.lists[ply].moves.take() {
                    Some(_) if picker.skip_quiets => picker.begin_losing(),
                    Some((m, _)) if picker.given_already(m) => {}
                    Some((m, _)) => return Some(m),
                    None => picker.begin_losing(),
                },
                Stage::Losing => {
                    let m = self.memory.lists[ply].losing.get(picker.given).copied();
                    picker.given += 1;
                    return m;
                }
            }
        }
    }

    pub(super) fn begin_noisy(&mut self, position: &Position, ply: Ply) {
        let history = &self.memory.history;
        let lists = &mut self.memory.lists[ply];
        lists.moves.fill(position, Kind::Noisy, |m| noisy_value(position, history, m));
        lists.losing.clear();
    }

    fn next_noisy(&mut self, position: &Position, picker: &Picker, ply: Ply) -> Option<PackedMove> {
        let lists = &mut self.memory.lists[ply];
        while let Some((m, value)) = lists.moves.take() {
            if m == picker.hint {
                continue;
            }
            // A capture with a good history may lose a little.
            if exchange::at_least(position, m, -value / 64) {
                return Some(m);
            }
            lists.losing.push(m);
        }
        None
    }

    fn playable_killers(&self, position: &Position, picker: &Picker, ply: Ply) -> [PackedMove; 2] {
        self.frames[ply].killers.map(|m| {
            let playable = m != picker.hint && !position.is_noisy(m) && position.is_legal(m);
            if playable { m } else { PackedMove::NONE }
        })
    }

    fn begin_quiet(&mut self, position: &Position, picker: &mut Picker, known: &Known, ply: Ply) {
        if picker.skip_quiets {
            picker.begin_losing();
            return;
        }
        let history = &self.memory.history;
        self.memory.lists[ply].moves.fill(position, Kind::Quiet, |m| {
            history.quiet(position, known.threats, &known.before, m)
        });
        picker.stage = Stage::Quiet;
    }
}

impl Picker {
    fn begin_losing(&mut self) {
        self.stage = Stage::Losing;
        self.given = 0;
    }
}

/// Most valuable victim first, among equals the better history.
pub fn noisy_value(position: &Position, history: &History, m: PackedMove) -> i32 {
    let victim = position.captured(m).map_or(0, exchange::value_of);
    let gain = m.promoted_to().map_or(0, exchange::value_of);
    (victim + gain) * 16 + history.noisy(position, m)
}
