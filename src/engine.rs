//! The engine without a face: position, options, table, and at most one running search.
//!
//! Nothing here prints or reads. What a search has to say comes out of a channel as [`Event`]s,
//! and what a user did wrong comes back as the reason in words.

use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::Sender;

use crate::board::tablebase::{Tablebase, TablebaseError};
use crate::board::{PackedMove, Position};
use crate::eval::Evaluator;
use crate::score::Score;
use crate::search::endgame::Probing;
use crate::search::handicap::Handicap;
use crate::search::null_move::Scheme;
use crate::search::params::Values;
use crate::search::pool::Pool;
use crate::search::table::Table;
use crate::search::{Bound, ClassicOptions, Line, Message, Outcome, SearchJob, Searcher};
use crate::time::{Clock, Limits, SystemClock, TimeManager};

/// The stack of a thread that searches: it recurses once a ply and keeps move lists there.
pub const STACK_BYTES: usize = 16 << 20;

/// What the options of the engine are set to.
#[derive(Clone, Debug)]
pub struct Options {
    /// Size of the transposition table in MB.
    pub hash: usize,
    /// Threads that search.
    pub threads: usize,
    /// How many best lines are wanted, `1..=256`.
    pub multi_pv: usize,
    /// What a move costs beside thinking.
    pub move_overhead: Duration,
    /// The GUI may let the engine ponder. Changes nothing by itself.
    pub ponder: bool,
    /// Moves are written as Chess960 wants them.
    pub chess960: bool,
    /// Scores are shown with the chances of winning, drawing and losing.
    pub show_wdl: bool,
    /// The null-move scheme, if one was chosen; else the searcher's own.
    pub scheme: Option<&'static Scheme>,
    /// The searcher.
    pub searcher: Searcher,
    /// The evaluation of the playing searcher.
    pub evaluator: Evaluator,
    /// Its parameters, where they can be set.
    pub values: Values,
    /// Its endgame tables.
    pub probing: Probing,
    /// Plays no stronger than `elo`, by errors.
    pub limit_strength: bool,
    /// The strength aimed at if so, in [`Handicap::ELO`].
    pub elo: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            hash: 16,
            threads: 1,
            multi_pv: 1,
            move_overhead: Duration::from_millis(10),
            ponder: false,
            chess960: false,
            show_wdl: false,
            scheme: None,
            searcher: Searcher::default(),
            evaluator: Evaluator::default(),
            values: Values::DEFAULT,
            probing: Probing::default(),
            limit_strength: false,
            elo: 2000,
        }
    }
}

impl Options {
    /// The scheme in use.
    pub fn scheme(&self) -> &'static Scheme {
        self.scheme.unwrap_or_else(|| self.searcher.default_scheme())
    }

    /// The threads in use: one is enough to play weaker.
    fn threads(&self) -> usize {
        if self.limit_strength { 1 } else { self.threads }
    }
}

/// What a running search says.
#[derive(Clone, Debug)]
pub enum Event {
    /// Something to tell, so long after the search began.
    Info(Message, Duration),
    /// The search is over: the last event of each search, and exactly one.
    Done(Answer),
}

/// How far a running search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchProgress {
    /// Nodes of all threads.
    pub nodes: u64,
    /// Entries of this search among the table's, in per mille.
    pub hash_full: u32,
    /// Time since it began.
    pub elapsed: Duration,
}

/// The end of a search.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was found. Without lines only if there is no legal move.
    pub outcome: Outcome,
    /// How long it took.
    pub elapsed: Duration,
    /// What went wrong inside, if something did; the outcome is then a makeshift.
    pub fault: Option<String>,
}

/// Position, options, table, and at most one running search.
pub struct Engine {
    position: Position,
    /// Keys of the positions of the game before `position`, latest last.
    earlier: Vec<u64>,
    options: Options,
    table: Arc<Table>,
    /// Locked by the search while it runs; nobody else waits for it then.
    pool: Arc<Mutex<Pool>>,
    events: Sender<Event>,
    running: Option<Running>,
    /// What errors the next search makes, if any.
    seed: u64,
}

struct Running {
    time: Arc<TimeManager>,
    thread: JoinHandle<()>,
}

impl Engine {
    /// An engine at the start position with default options, whose searches speak to `events`.
    ///
    /// # Errors
    /// If there is no memory for the table.
    pub fn new(events: Sender<Event>) -> Result<Engine, String> {
        let options = Options::default();
        Ok(Engine {
            position: Position::startpos(),
            earlier: Vec::new(),
            table: Arc::new(Table::new(options.hash).map_err(|error| error.to_string())?),
            pool: Arc::default(),
            options,
            events,
            running: None,
            // Keyed anew by the system each time: no two games need go alike.
            seed: RandomState::new().hash_one(0),
        })
    }

    /// The position to search.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The options. The size of the table is set by [`Engine::set_hash`], the evaluation by
    /// [`Engine::set_evaluator`].
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The options that need nothing done but remembering; they hold from the next search on.
    pub fn options_mut(&mut self) -> &mut Options {
        &mut self.options
    }

    /// Gives the table another size, and empties it.
    ///
    /// # Errors
    /// If the memory cannot be had; then the old table stays.
    pub fn set_hash(&mut self, megabytes: usize) -> Result<(), String> {
        let table = self
            .table
            .resized(megabytes)
            .map_err(|error| format!("{error}; the table keeps {} MB", self.table.megabytes()))?;
        self.table = Arc::new(table);
        self.options.hash = megabytes;
        Ok(())
    }

    /// Evaluates in another way from the next search on, and forgets what was learnt in the old.
    pub fn set_evaluator(&mut self, evaluator: Evaluator) {
        self.new_game();
        self.options.evaluator = evaluator;
    }

    /// Takes the endgame tables of a list of directories, separated as in PATH, from the next
    /// search on; none if the list names none. What the old ones proved is forgotten.
    ///
    /// # Errors
    /// If a directory cannot be read or has no table in it, or a file is none; then the old tables
    /// stay.
    pub fn set_tables(&mut self, list: &str) -> Result<Option<&Tablebase>, TablebaseError> {
        let tables = Tablebase::open_list(list)?;
        self.options.probing.tables = (tables.files() > 0).then(|| Arc::new(tables));
        self.clear_hash();
        Ok(self.options.probing.tables.as_deref())
    }

    /// Keeps the fifty-move rule in the endgame tables from the next search on, or not. What was
    /// proved by the other rule is forgotten.
    pub fn set_fifty_moves(&mut self, rule: bool) {
        self.options.probing.fifty_moves = rule;
        self.clear_hash();
    }

    /// Forgets all that was learnt about positions.
    pub fn clear_hash(&mut self) {
        self.table.clear_by(self.options.threads);
    }

    /// The next search is about another game: it begins as after the start of the program.
    pub fn new_game(&mut self) {
        self.wait_after_stop();
        self.clear_hash();
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Sets up a position: a FEN (`None`: the start position) and the moves played since.
    ///
    /// # Errors
    /// What is wrong, in words; then the position held before stays.
    pub fn set_position<S: AsRef<str>>(
        &mut self,
        fen: Option<&str>,
        moves: &[S],
    ) -> Result<(), String> {
        let mut position = match fen {
            Some(fen) => Position::from_fen(fen).map_err(|error| error.to_string())?,
            None => Position::startpos(),
        };
        let mut earlier = Vec::with_capacity(moves.len());
        for text in moves {
            let m = position.parse_uci(text.as_ref()).map_err(|error| error.to_string())?;
            earlier.push(position.key());
            position = position.play(m).0;
        }
        self.position = position;
        self.earlier = earlier;
        Ok(())
    }

    /// Starts a search of the position, on the machine's clock. A search still running is stopped.
    /// `search_moves` restricts the root to these legal moves; empty: all.
    pub fn go(&mut self, limits: Limits, search_moves: Vec<PackedMove>) {
        self.go_by(Arc::new(SystemClock::new()), limits, search_moves);
    }

    /// [`Engine::go`] by the given clock.
    pub fn go_by(&mut self, clock: Arc<dyn Clock>, limits: Limits, search_moves: Vec<PackedMove>) {
        self.wait_after_stop();
        let job = self.job(search_moves);
        let limits = job.limits(limits);
        let overhead = self.options.move_overhead;
        let time = Arc::new(TimeManager::new(clock, limits, job.root.turn(), overhead));
        let table = Arc::clone(&self.table);
        let pool = Arc::clone(&self.pool);
        pool.lock().unwrap_or_else(PoisonError::into_inner).set_threads(self.options.threads());
        let events = self.events.clone();
        let root = job.root.clone();
        let kept = Arc::clone(&time);
        let spawned = thread::Builder::new()
            .name("search".into())
            .stack_size(STACK_BYTES)
            .spawn(move || search_thread(&job, &table, &pool, &kept, &events));
        match spawned {
            Ok(thread) => self.running = Some(Running { time, thread }),
            Err(error) => {
                let fault = format!("no thread to search on: {error}");
                send(&self.events, Event::Done(makeshift(&root, &[], Duration::ZERO, fault)));
            }
        }
    }

    /// How far the running search is. `None` if none runs, or it only holds its answer back.
    pub fn progress(&self) -> Option<SearchProgress> {
        let time = &self.running.as_ref()?.time;
        if time.is_stopped() {
            return None;
        }
        let hash_full = self.table.hash_full();
        Some(SearchProgress { nodes: time.nodes(), hash_full, elapsed: time.elapsed() })
    }

    /// Asks the running search to end now; its [`Event::Done`] follows. Without effect if none
    /// runs.
    pub fn stop(&self) {
        if let Some(running) = &self.running {
            running.time.stop();
        }
    }

    /// The opponent played the move pondered on. Without effect if nothing is pondered.
    pub fn ponder_hit(&self) {
        if let Some(running) = &self.running {
            running.time.ponder_hit();
        }
    }

    /// Stops the running search and waits for its thread; what it said is then in the channel.
    pub fn wait_after_stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.time.stop();
            if running.thread.join().is_err() {
                log::error!("the search thread panicked after its search");
            }
        }
    }

    fn job(&mut self, search_moves: Vec<PackedMove>) -> SearchJob {
        self.seed = self.seed.wrapping_add(1);
        let handicap = Handicap { elo: self.options.elo, seed: self.seed };
        SearchJob {
            root: self.position.clone(),
            earlier: self.earlier.clone(),
            searcher: self.options.searcher,
            scheme: self.options.scheme(),
            multi_pv: self.options.multi_pv,
            search_moves,
            switches: ClassicOptions::default(),
            evaluator: self.options.evaluator.clone(),
            values: self.options.values,
            probing: self.options.probing.clone(),
            handicap: self.options.limit_strength.then_some(handicap),
            observer: None,
        }
    }
}

/// An engine that goes takes its search with it.
impl Drop for Engine {
    fn drop(&mut self) {
        self.wait_after_stop();
    }
}

fn search_thread(
    job: &SearchJob,
    table: &Table,
    pool: &Mutex<Pool>,
    time: &TimeManager,
    events: &Sender<Event>,
) {
    let mut report = |said: &Message| send(events, Event::Info(said.clone(), time.elapsed()));
    let searched = catch_unwind(AssertUnwindSafe(|| {
        if job.root.has_legal_move() {
            let mut pool = pool.lock().unwrap_or_else(PoisonError::into_inner);
            pool.run(job, table, time, &mut report)
        } else {
            Outcome::default()
        }
    }));
    time.end_search();
    time.hold_answer();
    let elapsed = time.elapsed();
    let answer = match searched {
        Ok(outcome) => Answer { outcome, elapsed, fault: None },
        Err(panic) => {
            let fault = format!("the search failed: {}", panic_message(panic.as_ref()));
            makeshift(&job.root, &job.search_moves, elapsed, fault)
        }
    };
    send(events, Event::Done(answer));
}

/// Some legal move: what is left if a search failed. A move on the board beats a lost game.
fn makeshift(
    root: &Position,
    search_moves: &[PackedMove],
    elapsed: Duration,
    fault: String,
) -> Answer {
    log::error!("{fault}; position {}", root.to_fen());
    let first = search_moves.first().copied().or_else(|| root.legal_moves().first().copied());
    let line = |m| Line {
        score: Score::ZERO,
        bound: Bound::Exact,
        moves: vec![m],
        depth: 0,
        selective_depth: 0,
    };
    let outcome = Outcome { lines: first.map(line).into_iter().collect(), ..Outcome::default() };
    Answer { outcome, elapsed, fault: Some(fault) }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// A receiver that is gone has no more questions, so there is nobody to tell.
fn send(events: &Sender<Event>, event: Event) {
    let _ = events.send(event);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::{Receiver, unbounded};

    fn engine() -> (Engine, Receiver<Event>) {
        let (sender, receiver) = unbounded();
        (Engine::new(sender).unwrap(), receiver)
    }

    fn answer(events: &Receiver<Event>) -> Answer {
        loop {
            match events.recv_timeout(Duration::from_secs(60)).expect("an answer") {
                Event::Info(..) => {}
                Event::Done(answer) => return answer,
            }
        }
    }

    /// A clock that breaks at its third look, in the middle of a search.
    #[derive(Default)]
    struct BreakingClock(std::sync::atomic::AtomicU32);

    impl Clock for BreakingClock {
        fn now(&self) -> Duration {
            let looks = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            assert_ne!(looks, 2, "the clock is broken");
            Duration::ZERO
        }
    }

    #[test]
    fn a_search_that_panics_still_yields_a_legal_move() {
        for threads in [1, 2] {
            let (mut engine, events) = engine();
            engine.options.threads = threads;
            let limits = Limits { move_time: Some(Duration::from_secs(5)), ..Limits::default() };
            engine.go_by(Arc::new(BreakingClock::default()), limits, Vec::new());
            let first = answer(&events);
            assert!(first.fault.is_some_and(|fault| fault.contains("the clock is broken")));
            assert!(engine.position().is_legal(first.outcome.best()));
            engine.go(Limits::to_depth(1), Vec::new());
            assert!(answer(&events).fault.is_none(), "the engine lives on");
        }
    }

    #[test]
    fn refused_positions_leave_the_old_one() {
        let (mut engine, _events) = engine();
        engine.set_position(None, &["e2e4"]).unwrap();
        let held = engine.position().clone();
        for (fen, moves) in [
            (None, vec!["e2e4", "e2e4"]),
            (None, vec!["e2e5"]),
            (Some("nonsense"), vec![]),
            (Some("8/8/8/8/8/8/8/8 w - - 0 1"), vec![]),
        ] {
            let reason = engine.set_position(fen, &moves).unwrap_err();
            assert!(!reason.is_empty() && !reason.contains('\n'), "{reason}");
            assert_eq!(engine.position(), &held);
            assert_eq!(engine.earlier.len(), 1);
        }
    }

    #[test]
    fn the_keys_of_the_game_are_kept() {
        let (mut engine, _events) = engine();
        let moves = ["g1f3", "g8f6", "f3g1", "f6g8"];
        engine.set_position(None, &moves).unwrap();
        assert_eq!(engine.earlier.len(), 4);
        assert_eq!(engine.earlier[0], engine.position().key());
    }

    #[test]
    fn a_table_too_large_keeps_the_old_one() {
        let (mut engine, _events) = engine();
        let reason = engine.set_hash(usize::MAX >> 1).unwrap_err();
        assert!(reason.ends_with("the table keeps 16 MB"), "{reason}");
        assert_eq!((engine.options().hash, engine.table.megabytes()), (16, 16));
        engine.set_hash(1).unwrap();
        assert_eq!((engine.options().hash, engine.table.megabytes()), (1, 1));
    }

    #[test]
    fn a_search_after_a_search_stops_the_first() {
        let (mut engine, events) = engine();
        engine.go(Limits { infinite: true, ..Limits::default() }, Vec::new());
        engine.go(Limits::to_depth(1), Vec::new());
        assert!(answer(&events).outcome.best().is_some());
        assert_eq!(answer(&events).outcome.depth, 1);
    }

    #[test]
    fn without_a_legal_move_the_answer_has_no_line() {
        let (mut engine, events) = engine();
        engine.set_position(Some("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), &[""; 0]).unwrap();
        engine.go(Limits::to_depth(3), Vec::new());
        assert!(answer(&events).outcome.lines.is_empty());
    }
}
