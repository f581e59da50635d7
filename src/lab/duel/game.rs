//! One game between two sides, in this process.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::adjudication::{Adjudicator, Ending, Rules, by_rules, by_tables};
use super::openings::Opening;
use super::side::{Pace, Side};
use crate::board::pgn::GameResult;
use crate::board::tablebase::Tablebase;
use crate::board::{Color, PackedMove, Position, color_index};
use crate::lab::{LabError, runner, signature};
use crate::search::handicap::Handicap;
use crate::search::table::Table;
use crate::search::thread::SearchThread;
use crate::search::{Outcome, SearchJob};
use crate::time::{Clock, Limits, SystemClock, TimeManager};

/// What a move costs beside thinking, kept back from every budget: here next to nothing.
const OVERHEAD: Duration = Duration::from_millis(5);

/// A side with its memory.
pub struct Player<'a> {
    side: &'a Side,
    table: Table,
    /// What the playing searcher learns in a game, as in a GUI's.
    pool: RefCell<SearchThread>,
    clock: Arc<dyn Clock>,
}

impl<'a> Player<'a> {
    /// A player that knows nothing yet.
    ///
    /// # Errors
    /// If the memory for the table cannot be had.
    pub fn new(side: &'a Side) -> Result<Player<'a>, LabError> {
        let table = Table::new(side.hash).map_err(|error| LabError::Machine(error.to_string()))?;
        let pool = RefCell::new(SearchThread::new());
        Ok(Player { side, table, pool, clock: Arc::new(SystemClock::new()) })
    }

    /// Forgets all games before.
    fn forget(&self) {
        self.table.clear();
        self.pool.borrow_mut().forget();
    }

    /// A signature of how a side searches: another version is another engine.
    ///
    /// # Errors
    /// If there is no memory for its table, or no thread.
    pub fn signature_of(side: &Side) -> Result<u64, LabError> {
        runner::with_stack(|| {
            let player = Player::new(side)?;
            Ok(signature::of(side.scheme, |position, limits| {
                player.forget();
                let game = Progress { position: position.clone(), keys: Vec::new() };
                player.search(&game, limits).0
            }))
        })?
    }

    /// Searches a position in which the game is not over.
    fn think(&self, game: &Progress, remaining: [Duration; 2]) -> (Outcome, Duration) {
        self.search(game, self.limits(remaining))
    }

    fn search(&self, game: &Progress, limits: Limits) -> (Outcome, Duration) {
        let position = &game.position;
        // The game so far is seed enough: the same errors if it is played again.
        let seed = game.keys.iter().fold(0, |seed: u64, key| seed.rotate_left(1) ^ key);
        let handicap = Handicap { elo: self.side.elo, seed };
        let handicap = self.side.limit_strength.then_some(handicap);
        let job = SearchJob {
            earlier: game.keys.clone(),
            scheme: self.side.scheme,
            switches: self.side.switches,
            values: self.side.values,
            handicap,
            ..SearchJob::new(position.clone(), self.side.searcher)
        };
        let limits = job.limits(limits);
        let keeper = TimeManager::new(self.clock.clone(), limits, position.turn(), OVERHEAD);
        let outcome = self.pool.borrow_mut().run(&job, &self.table, &keeper, &mut |_| {});
        (outcome, keeper.elapsed())
    }

    fn limits(&self, remaining: [Duration; 2]) -> Limits {
        match self.side.pace {
            Pace::Nodes(nodes) => Limits::to_nodes(nodes),
            Pace::Depth(depth) => Limits::to_depth(depth),
            Pace::Clock(control) => Limits {
                time: remaining.map(Some),
                increment: [control.increment; 2],
                ..Limits::default()
            },
        }
    }

    /// What stands on its clock before the first move.
    fn first_time(&self) -> Duration {
        match self.side.pace {
            Pace::Clock(control) => control.base,
            _ => Duration::ZERO,
        }
    }
}

/// A move as it was played, with what the player thought of it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Thought {
    /// In centipawns, mates as in [`Score`](crate::score::Score), seen from the side that moved.
    pub score: i32,
    /// The depth completed.
    pub depth: i32,
    /// Nodes searched.
    pub nodes: u64,
    /// Milliseconds used.
    pub ms: u64,
}

/// A finished game.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The moves after the opening.
    pub moves: Vec<PackedMove>,
    /// What their players thought; as long as `moves`.
    pub thoughts: Vec<Thought>,
    /// Who won.
    pub result: GameResult,
    /// Why it ended.
    pub ending: Ending,
}

/// What all games of a match share.
#[derive(Clone, Copy)]
pub struct Conditions<'a> {
    /// When games are broken off.
    pub rules: Rules,
    /// Tables that end games as soon as they know the result.
    pub tables: Option<&'a Tablebase>,
    /// Set when nobody wants the game's end any more.
    pub abandoned: &'a AtomicBool,
}

struct Progress {
    position: Position,
    /// The keys of all positions before it.
    keys: Vec<u64>,
}

impl Progress {
    fn after(opening: &Opening) -> Progress {
        let mut progress = Progress { position: opening.start.clone(), keys: Vec::new() };
        opening.moves.iter().for_each(|&m| progress.play(m));
        progress
    }

    fn play(&mut self, m: PackedMove) {
        self.keys.push(self.position.key());
        self.position = self.position.play(m).0;
    }
}

/// Plays a game from an opening; both players forget first what they knew. `None` if it was abandoned.
pub fn play(
    opening: &Opening,
    white: &Player,
    black: &Player,
    conditions: Conditions,
) -> Option<Finished> {
    let players = [white, black];
    players.iter().for_each(|player| player.forget());
    let mut game = Progress::after(opening);
    let mut clocks = players.map(Player::first_time);
    let mut adjudicator = Adjudicator::new(conditions.rules);
    let (mut moves, mut thoughts) = (Vec::new(), Vec::new());
    let mut end = by_rules(&game.position, &game.keys);
    while end.is_none() {
        if conditions.abandoned.load(Ordering::Relaxed) {
            return None;
        }
        let mover = game.position.turn();
        let player = players[color_index(mover)];
        let (outcome, elapsed) = player.think(&game, clocks);
        if let Pace::Clock(control) = player.side.pace {
            let clock = &mut clocks[color_index(mover)];
            let Some(left) = clock.checked_sub(elapsed) else {
                end = Some((GameResult::Win(!mover), Ending::Time));
                break;
            };
            *clock = left + control.increment;
        }
        let thought = thought(&outcome, elapsed);
        game.play(outcome.best());
        moves.push(outcome.best());
        thoughts.push(thought);
        let white_score = if mover == Color::White { thought.score } else { -thought.score };
        end = by_rules(&game.position, &game.keys)
            .or_else(|| by_tables(&game.position, conditions.tables?))
            .or_else(|| adjudicator.judge(white_score, &game.position));
    }
    end.map(|(result, ending)| Finished { moves, thoughts, result, ending })
}

fn thought(outcome: &Outcome, elapsed: Duration) -> Thought {
    Thought {
        score: outcome.score().unwrap_or_default().value(),
        depth: outcome.depth,
        nodes: outcome.stats.nodes,
        ms: elapsed.as_millis() as u64,
    }
}
