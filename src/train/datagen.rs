//! `tacet datagen`: the engine plays itself and stores the games.
//!
//! Every game begins with a few random moves and is then played by the shipped search with a soft
//! node limit: the iteration in which the limit is passed is finished. A game depends on nothing
//! but the seed, its number and the options, and games are stored in the order of their numbers,
//! so a file can be made again to the bit, with any number of threads. A run that was interrupted
//! goes on where the file ends.
//!
//! Games end by the rules of chess, or earlier by adjudication: see [`Referee`].

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::format::{Extent, Game, GameResult, whole_games};
use super::{Random, TrainError};
use crate::board::{PackedMove, Position};
use crate::score::Score;
use crate::search::pool::Pool;
use crate::search::table::Table;
use crate::search::{Bound, SearchJob, Searcher};
use crate::time::{Keeper, Limits};

/// What to generate.
#[derive(clap::Args, Clone, Debug)]
pub struct DatagenArgs {
    /// The file to write; if it exists, it is continued
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// How many games the file is to hold in the end
    #[arg(long, default_value_t = 10_000)]
    pub games: u64,
    /// Finish the iteration in which so many nodes are passed
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: u64,
    /// How many games are played at a time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Another seed, other games
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Plays the games that are missing from the file.
///
/// # Errors
/// If the file cannot be opened, is in use or cannot be written, or memory is short.
pub fn run(args: &DatagenArgs) -> Result<(), TrainError> {
    let (mut file, found) = open(&args.out)?;
    let progress = Progress::new(args, found);
    let mut players = (0..args.threads)
        .map(|_| Player::new(args.nodes))
        .collect::<Result<Vec<Player>, TrainError>>()?;
    let (send, receive) = sync_channel(2 * usize::from(args.threads));
    let next = AtomicU64::new(found.games);
    std::thread::scope(|scope| {
        for player in &mut players {
            let send = send.clone();
            let next = &next;
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= args.games {
                        break;
                    }
                    let game = player.play(Random::new(args.seed, number));
                    // The writer is gone if it could not write.
                    if send.send((number, game)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let written = store(&mut file, &receive, found.games, &progress);
        drop(receive);
        written.map_err(TrainError::file(&args.out))
    })?;
    progress.finish().map_err(TrainError::Output)
}

/// Opens the file for going on behind its last whole game, and keeps others from doing the same.
fn open(path: &Path) -> Result<(File, Extent), TrainError> {
    let error = TrainError::file(path);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(&error)?;
    file.try_lock().map_err(|reason| error(reason.into()))?;
    let found = whole_games(&mut BufReader::with_capacity(1 << 20, &file))
        .map_err(|reason| TrainError::Data { path: path.to_path_buf(), game: 1, reason })?;
    file.set_len(found.bytes).map_err(&error)?;
    file.seek(SeekFrom::Start(found.bytes)).map_err(&error)?;
    Ok((file, found))
}

/// Writes games in the order of their numbers, each in one piece.
fn store(
    file: &mut File,
    games: &Receiver<(u64, Game)>,
    first: u64,
    progress: &Progress,
) -> std::io::Result<()> {
    let mut wanted = first;
    let mut early = BTreeMap::new();
    for (number, game) in games {
        early.insert(number, game);
        while let Some(game) = early.remove(&wanted) {
            file.write_all(&game.to_bytes())?;
            progress.add(&game);
            wanted += 1;
        }
    }
    Ok(())
}

/// Plays both sides of games.
struct Player {
    pool: Pool,
    table: Table,
    nodes: u64,
}

/// Size of a player's transposition table, in MB: enough for a few thousand nodes a move.
const TABLE_MEGABYTES: usize = 4;
/// The hard limit, as a multiple of the soft one: for an iteration that does not end.
const HARD_FACTOR: u64 = 8;
/// An opening is refused if a first search values it further from 0 than this, in centipawns.
const OPENING_LIMIT: i32 = 250;
/// A game without a result after so many moves of both sides is drawn.
const LONGEST_GAME: usize = 400;

impl Player {
    fn new(nodes: u64) -> Result<Player, TrainError> {
        let table =
            Table::new(TABLE_MEGABYTES).map_err(|reason| TrainError::Memory(reason.to_string()))?;
        Ok(Player { pool: Pool::new(), table, nodes })
    }

    fn play(&mut self, mut random: Random) -> Game {
        self.pool.clear();
        self.table.clear();
        let start = self.opening(&mut random);
        let mut game = Game { start: start.clone(), result: GameResult::Draw, moves: Vec::new() };
        let mut position = start;
        let mut earlier = Vec::with_capacity(LONGEST_GAME);
        let mut referee = Referee::default();
        while game.moves.len() < LONGEST_GAME {
            let (m, score) = self.think(&position, &earlier);
            let white = if position.turn().is_white() { score } else { -score };
            game.moves.push((m, white));
            earlier.push(position.key());
            position = position.play(m).0;
            if let Some(result) = result_by_rule(&position, &earlier).or(referee.judge(white)) {
                game.result = result;
                break;
            }
        }
        game
    }

    /// A position after random moves that is not decided yet.
    fn opening(&mut self, random: &mut Random) -> Position {
        loop {
            if let Some(position) = random_opening(random) {
                let (_, score) = self.think(&position, &[]);
                if score.value().abs() <= OPENING_LIMIT {
                    return position;
                }
            }
        }
    }

    /// The move to play and its value for the side to move, which has a legal move.
    fn think(&mut self, position: &Position, earlier: &[u64]) -> (PackedMove, Score) {
        let mut job = SearchJob::new(position.clone(), Searcher::Playing);
        job.earlier = earlier.to_vec();
        let keeper = Keeper::with_limits(Limits::to_nodes(self.nodes * HARD_FACTOR));
        let nodes = self.nodes;
        let outcome = self.pool.run(&job, &self.table, &keeper, &mut |info| {
            if info.line.bound == Bound::Exact && info.nodes >= nodes {
                keeper.stop();
            }
        });
        (outcome.best(), outcome.score().unwrap_or_default())
    }
}

/// Eight or nine random moves from the start position, so that both sides come to move first;
/// none if the game is over before.
pub fn random_opening(random: &mut Random) -> Option<Position> {
    let mut position = Position::startpos();
    for _ in 0..8 + random.below(2) {
        let moves = position.legal_moves();
        position = position.play(*moves.get(random.below(moves.len()))?).0;
    }
    position.has_legal_move().then_some(position)
}

/// The result if the game is over by the rules. `earlier` are the keys of the positions before.
fn result_by_rule(position: &Position, earlier: &[u64]) -> Option<GameResult> {
    if !position.has_legal_move() {
        let mated = position.in_check();
        return Some(if mated { GameResult::win(!position.turn()) } else { GameResult::Draw });
    }
    let drawn = position.is_insufficient_material()
        || position.is_fifty_moves()
        || position.is_repetition(earlier, 0);
    drawn.then_some(GameResult::Draw)
}

/// Ends games whose result is clear. A side wins once the score has been [`Referee::WIN_SCORE`] or
/// more in its favour for [`Referee::WIN_MOVES`] moves of both sides in a row, as both see it. A
/// game is drawn once the score has been within [`Referee::DRAW_SCORE`] of 0 for
/// [`Referee::DRAW_MOVES`] in a row, not before move [`Referee::DRAW_AFTER`].
#[derive(Clone, Debug, Default)]
pub struct Referee {
    moves: u32,
    winning: u32,
    losing: u32,
    level: u32,
}

impl Referee {
    /// Centipawns that win.
    pub const WIN_SCORE: i32 = 1_000;
    /// For so many moves of both sides.
    pub const WIN_MOVES: u32 = 6;
    /// Centipawns that draw.
    pub const DRAW_SCORE: i32 = 8;
    /// For so many moves of both sides.
    pub const DRAW_MOVES: u32 = 12;
    /// After so many moves of both sides.
    pub const DRAW_AFTER: u32 = 80;

    /// Takes note of the score of a move, seen from White; the result if it is clear now.
    pub fn judge(&mut self, white: Score) -> Option<GameResult> {
        let value = white.value();
        let count = |run: &mut u32, goes_on: bool| *run = if goes_on { *run + 1 } else { 0 };
        self.moves += 1;
        count(&mut self.winning, value >= Referee::WIN_SCORE);
        count(&mut self.losing, value <= -Referee::WIN_SCORE);
        count(&mut self.level, value.abs() <= Referee::DRAW_SCORE);
        if self.winning >= Referee::WIN_MOVES {
            Some(GameResult::WhiteWon)
        } else if self.losing >= Referee::WIN_MOVES {
            Some(GameResult::BlackWon)
        } else if self.level >= Referee::DRAW_MOVES && self.moves >= Referee::DRAW_AFTER {
            Some(GameResult::Draw)
        } else {
            None
        }
    }
}

/// A bar on the terminal; without one, a line now and then.
struct Progress {
    bar: ProgressBar,
    began: Instant,
    before: Extent,
    positions: AtomicU64,
    lines: bool,
}

/// Without a terminal a line is printed after so many games.
const LINE_INTERVAL: u64 = 500;

impl Progress {
    fn new(args: &DatagenArgs, before: Extent) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(args.games), ProgressDrawTarget::stderr());
        if let Ok(style) =
            ProgressStyle::with_template("{wide_bar} {pos}/{len} games, {msg}, {eta}")
        {
            bar.set_style(style);
        }
        bar.set_position(before.games);
        bar.reset_eta();
        let lines = !std::io::stderr().is_terminal();
        Progress { bar, began: Instant::now(), before, positions: AtomicU64::new(0), lines }
    }

    fn add(&self, game: &Game) {
        self.positions.fetch_add(game.moves.len() as u64, Ordering::Relaxed);
        self.bar.inc(1);
        self.bar.set_message(self.rate());
        if self.lines && self.bar.position().is_multiple_of(LINE_INTERVAL) {
            eprintln!("{}", self.summary());
        }
    }

    fn rate(&self) -> String {
        let positions = self.positions.load(Ordering::Relaxed) as f64;
        let hours = self.began.elapsed().as_secs_f64() / 3_600.0;
        format!("{:.0} positions/h", positions / hours.max(1e-9))
    }

    fn summary(&self) -> String {
        let positions = self.before.positions + self.positions.load(Ordering::Relaxed);
        format!("{} games, {positions} positions, {}", self.bar.position(), self.rate())
    }

    fn finish(&self) -> std::io::Result<()> {
        self.bar.finish_and_clear();
        writeln!(std::io::stdout(), "{}", self.summary())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(name: &str, games: u64, threads: u16) -> DatagenArgs {
        let out = std::env::temp_dir().join(format!("tacet-datagen-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&out);
        DatagenArgs { out, games, nodes: 200, threads, seed: 5 }
    }

    fn made(args: &DatagenArgs) -> Vec<u8> {
        run(args).unwrap();
        std::fs::read(&args.out).unwrap()
    }

    #[test]
    fn a_file_depends_on_the_seed_alone_and_an_interrupted_run_goes_on() {
        let whole = made(&args("whole", 6, 1));
        assert_eq!(made(&args("threads", 6, 3)), whole);
        assert_ne!(made(&DatagenArgs { seed: 6, ..args("seed", 6, 1) }), whole);

        let resumed = args("resumed", 6, 2);
        let first = made(&DatagenArgs { games: 4, ..resumed.clone() });
        assert!(whole.starts_with(&first));
        // Killed while the fourth game was being written.
        std::fs::write(&resumed.out, &first[..first.len() - 7]).unwrap();
        assert_eq!(made(&resumed), whole);
        assert_eq!(made(&resumed), whole, "nothing is missing");
        for name in ["whole", "threads", "seed", "resumed"] {
            let _ = std::fs::remove_file(args(name, 0, 1).out);
        }
    }

    #[test]
    fn games_are_legal_and_end_as_they_say() {
        let mut player = Player::new(200).unwrap();
        for number in 0..8 {
            let game = player.play(Random::new(1, number));
            assert_eq!(Game::read(&mut game.to_bytes().as_slice()).unwrap().as_ref(), Some(&game));
            assert!(!game.moves.is_empty() && game.moves.len() <= LONGEST_GAME);
        }
    }

    #[test]
    fn a_file_in_use_or_out_of_reach_is_refused() {
        let args = args("locked", 1, 1);
        let held = open(&args.out).unwrap();
        assert!(run(&args).unwrap_err().to_string().contains("datagen"));
        drop(held);
        let missing = DatagenArgs { out: "/no/such/folder/file".into(), ..args.clone() };
        assert!(run(&missing).is_err());
        let _ = std::fs::remove_file(args.out);
    }

    #[test]
    fn the_referee_needs_a_run_of_clear_scores() {
        let judge = |scores: &[i32]| {
            let mut referee = Referee::default();
            scores
                .iter()
                .map(|&score| referee.judge(Score::cp(score)))
                .fold(None, |_, result| result)
        };
        assert_eq!(judge(&[1_000; 5]), None);
        assert_eq!(judge(&[1_000; 6]), Some(GameResult::WhiteWon));
        assert_eq!(judge(&[-1_500; 6]), Some(GameResult::BlackWon));
        assert_eq!(judge(&[1_000, 1_000, 1_000, 999, 1_000, 1_000, 1_000]), None);
        assert_eq!(judge(&[0; 79]), None);
        assert_eq!(judge(&[0; 80]), Some(GameResult::Draw));
        let late: Vec<i32> = [[50; 80].as_slice(), &[-8; 11]].concat();
        assert_eq!(judge(&late), None);
        assert_eq!(judge(&[late.as_slice(), &[8]].concat()), Some(GameResult::Draw));
    }

    #[test]
    fn rules_end_games() {
        let result = |fen: &str| result_by_rule(&Position::from_fen(fen).unwrap(), &[]);
        assert_eq!(result("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), Some(GameResult::Draw));
        assert_eq!(result("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"), Some(GameResult::WhiteWon));
        assert_eq!(result("7k/8/6K1/8/8/8/8/8 b - - 0 1"), Some(GameResult::Draw));
        assert_eq!(result("7k/8/6K1/8/8/8/8/R7 w - - 100 80"), Some(GameResult::Draw));
        assert_eq!(result("7k/8/6K1/8/8/8/8/R7 w - - 99 80"), None);
    }

    #[test]
    fn openings_are_various() {
        let openings: std::collections::HashSet<String> = (0..200)
            .filter_map(|n| random_opening(&mut Random::new(3, n)))
            .map(|position| position.to_fen())
            .collect();
        assert!(openings.len() > 195);
    }
}
