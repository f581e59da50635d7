//! `tacet datagen`: the engine plays itself and stores the games.
//!
//! Every game begins with a few random moves, or in the middle of a stored game, and is then played
//! by the shipped search and evaluation with a soft node limit: the iteration in which the limit is
//! passed is finished. A game depends on nothing but the seed, its number and the options, and games
//! are stored in the order of their numbers, so a file can be made again to the bit, with any number of
//! threads. A run that was interrupted, or killed, goes on where the file ends; that it is the same
//! run is seen by its first game, which is played again.
//!
//! Games end by the rules of chess, or earlier by adjudication: see [`Referee`].

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::TrainError;
use super::branches::Branches;
use super::format::{Extent, Game, GameResult, check_beginning, whole_games};
use crate::board::{PackedMove, Position};
use crate::eval::Evaluator;
use crate::kit::random::Random;
use crate::score::Score;
use crate::search::pool::Pool;
use crate::search::table::Table;
use crate::search::{Bound, Message, SearchJob, Searcher};
use crate::time::{Limits, TimeManager};
use crate::uci::genfens::{OPENING_LIMIT, random_opening};

/// What to generate.
#[derive(clap::Args, Clone, Debug)]
pub struct DatagenArgs {
    /// The file to write; if it exists, it is continued, by the options it was begun with
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// How many games the file is to hold in the end [default: 10000, unless --positions is given]
    #[arg(long, value_name = "N")]
    pub games: Option<u64>,
    /// End with the game in which the file comes to hold so many positions
    #[arg(long, value_name = "N")]
    pub positions: Option<u64>,
    /// Finish the iteration in which so many nodes are passed
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: u64,
    /// The evaluation: a network file, `<classical>`, or `<first>`, from which all networks descend
    /// [default: the network in the program]
    #[arg(long, value_name = "FILE", default_value = Evaluator::INTERNAL, hide_default_value = true)]
    pub eval_file: PathBuf,
    /// Begin in the middle of the games of these files instead of after random moves
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub branch: Vec<PathBuf>,
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
/// If the file cannot be opened, is in use, was begun with other options or cannot be written, the
/// evaluation cannot be had, or memory is short.
pub fn run(args: &DatagenArgs) -> Result<(), TrainError> {
    let evaluator = evaluator(&args.eval_file)?;
    let (mut file, found) = open(&args.out)?;
    let goal = Goal::of(args);
    let mut progress = Progress::new(goal, found);
    if goal.is_reached(found) {
        return progress.finish().map_err(TrainError::Output);
    }
    let branches = (!args.branch.is_empty()).then(|| Branches::read(&args.branch)).transpose()?;
    let mut players = (0..args.threads)
        .map(|_| Player::new(args.nodes, &evaluator, branches.as_ref()))
        .collect::<Result<Vec<_>, TrainError>>()?;
    if let Some(player) = players.first_mut().filter(|_| found.games > 0) {
        check_first_game(args, &mut file, player)?;
    }
    // Not before it is known to be ours.
    cut_off(&mut file, found).map_err(TrainError::writing(&args.out))?;
    let (send, receive) = sync_channel(2 * usize::from(args.threads));
    let next = AtomicU64::new(found.games);
    std::thread::scope(|scope| {
        for player in &mut players {
            let send = send.clone();
            let next = &next;
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= goal.games {
                        break;
                    }
                    let game = player.play(Random::numbered(args.seed, number));
                    // The writer is gone if it could not write, or has enough positions.
                    if send.send((number, game)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let written = store(&mut file, &receive, goal, &mut progress);
        drop(receive);
        written.map_err(TrainError::writing(&args.out))
    })?;
    progress.finish().map_err(TrainError::Output)
}

fn evaluator(name: &Path) -> Result<Evaluator, TrainError> {
    Evaluator::named(&name.to_string_lossy())
        .map_err(|reason| TrainError::Network { path: name.to_path_buf(), reason })
}

/// How much the file is to hold: whichever is reached first.
#[derive(Clone, Copy, Debug)]
struct Goal {
    games: u64,
    positions: u64,
}

impl Goal {
    fn of(args: &DatagenArgs) -> Goal {
        let games = if args.positions.is_some() { u64::MAX } else { GAMES };
        Goal { games: args.games.unwrap_or(games), positions: args.positions.unwrap_or(u64::MAX) }
    }

    fn is_reached(self, extent: Extent) -> bool {
        extent.games >= self.games || extent.positions >= self.positions
    }
}

/// Opens the file, keeps others from doing the same, and says what whole games there are in it.
fn open(path: &Path) -> Result<(File, Extent), TrainError> {
    let error = TrainError::writing(path);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(&error)?;
    if !file.metadata().is_ok_and(|data| data.is_file()) {
        return Err(error(std::io::Error::other("not a regular file")));
    }
    file.try_lock().map_err(|reason| error(reason.into()))?;
    let foreign = |reason| TrainError::Data { path: path.to_path_buf(), game: 1, reason };
    check_beginning(&mut file).map_err(foreign)?;
    file.rewind().map_err(&error)?;
    let found = whole_games(&mut BufReader::with_capacity(1 << 20, &file)).map_err(foreign)?;
    Ok((file, found))
}

/// Cuts off what follows the last whole game, and goes there to write.
fn cut_off(file: &mut File, found: Extent) -> std::io::Result<()> {
    file.set_len(found.bytes)?;
    file.seek(SeekFrom::Start(found.bytes)).map(drop)
}

/// Would these options make the same file? Its first game must be the one that they give.
fn check_first_game(
    args: &DatagenArgs,
    file: &mut File,
    player: &mut Player<'_>,
) -> Result<(), TrainError> {
    let expected = player.play(Random::numbered(args.seed, 0)).to_bytes();
    let mut beginning = Vec::with_capacity(expected.len());
    file.rewind()
        .and_then(|()| (&*file).take(expected.len() as u64).read_to_end(&mut beginning))
        .map_err(TrainError::file(&args.out))?;
    if beginning == expected { Ok(()) } else { Err(TrainError::Others { path: args.out.clone() }) }
}

/// Writes games in the order of their numbers, each in one piece, until there are enough.
fn store(
    file: &mut File,
    games: &Receiver<(u64, Game)>,
    goal: Goal,
    progress: &mut Progress,
) -> std::io::Result<()> {
    let mut early = BTreeMap::new();
    for (number, game) in games {
        early.insert(number, game);
        while let Some(game) = early.remove(&progress.now.games) {
            file.write_all(&game.to_bytes())?;
            progress.add(&game);
            if goal.is_reached(progress.now) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Plays both sides of games.
struct Player<'a> {
    pool: Pool,
    table: Table,
    evaluator: Evaluator,
    nodes: u64,
    /// Where games begin, if not after random moves.
    branches: Option<&'a Branches>,
}

/// How many games are made if nothing is said.
const GAMES: u64 = 10_000;
/// A player's transposition table has a MB for every so many nodes a move, up to the most.
const NODES_A_MEGABYTE: u64 = 1_000;
const MOST_MEGABYTES: u64 = 64;
/// The hard limit, as a multiple of the soft one: for an iteration that does not end.
const HARD_FACTOR: u64 = 8;
/// A game without a result after so many moves of both sides is drawn.
const LONGEST_GAME: usize = 400;

impl<'a> Player<'a> {
    fn new(
        nodes: u64,
        evaluator: &Evaluator,
        branches: Option<&'a Branches>,
    ) -> Result<Player<'a>, TrainError> {
        let megabytes = (nodes / NODES_A_MEGABYTE).clamp(1, MOST_MEGABYTES) as usize;
        let table =
            Table::new(megabytes).map_err(|reason| TrainError::Memory(reason.to_string()))?;
        Ok(Player { pool: Pool::new(), table, evaluator: evaluator.clone(), nodes, branches })
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

    /// A position to begin at that is not decided yet.
    fn opening(&mut self, random: &mut Random) -> Position {
        if let Some(position) = self.branches.and_then(|branches| branches.pick(random)) {
            return position;
        }
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
        let job = SearchJob {
            earlier: earlier.to_vec(),
            evaluator: self.evaluator.clone(),
            ..SearchJob::new(position.clone(), Searcher::Playing)
        };
        let keeper = TimeManager::with_limits(Limits::to_nodes(self.nodes * HARD_FACTOR));
        let nodes = self.nodes;
        let outcome = self.pool.run(&job, &self.table, &keeper, &mut |said| {
            if let Message::Line(info) = said
                && info.line.bound == Bound::Exact
                && info.nodes >= nodes
            {
                keeper.stop();
            }
        });
        (outcome.best(), outcome.score().unwrap_or_default())
    }
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
    goal: Goal,
    before: Extent,
    now: Extent,
    lines: bool,
}

/// Without a terminal a line is printed after so many games.
const LINE_INTERVAL: u64 = 500;

impl Progress {
    fn new(goal: Goal, before: Extent) -> Progress {
        let length = if goal.positions < u64::MAX { goal.positions } else { goal.games };
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len}, {msg}, {eta}") {
            bar.set_style(style);
        }
        let lines = !std::io::stderr().is_terminal();
        let progress = Progress { bar, began: Instant::now(), goal, before, now: before, lines };
        progress.show();
        progress.bar.reset_eta();
        progress
    }

    fn add(&mut self, game: &Game) {
        self.now.games += 1;
        self.now.positions += game.moves.len() as u64;
        self.show();
        if self.lines && self.now.games.is_multiple_of(LINE_INTERVAL) {
            eprintln!("{}", self.summary());
        }
    }

    fn show(&self) {
        let counts_positions = self.goal.positions < u64::MAX;
        self.bar.set_position(if counts_positions { self.now.positions } else { self.now.games });
        self.bar.set_message(self.summary());
    }

    fn summary(&self) -> String {
        let positions = (self.now.positions - self.before.positions) as f64;
        let hours = self.began.elapsed().as_secs_f64() / 3_600.0;
        format!(
            "{} games, {} positions, {:.0} positions/h",
            self.now.games,
            self.now.positions,
            positions / hours.max(1e-9)
        )
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
        DatagenArgs {
            out,
            games: Some(games),
            positions: None,
            nodes: 200,
            eval_file: Evaluator::INTERNAL.into(),
            branch: Vec::new(),
            threads,
            seed: 5,
        }
    }

    fn made(args: &DatagenArgs) -> Vec<u8> {
        run(args).unwrap();
        std::fs::read(&args.out).unwrap()
    }

    #[test]
    fn a_file_of_another_kind_is_left_as_it_was() {
        let args = args("foreign", 1, 1);
        for foreign in ["notes", "notes of more than thirty-two bytes, and not a game among them"] {
            std::fs::write(&args.out, foreign).unwrap();
            assert!(run(&args).is_err());
            assert_eq!(std::fs::read_to_string(&args.out).unwrap(), foreign);
        }
        std::fs::remove_file(&args.out).unwrap();
    }

    #[test]
    fn a_file_depends_on_the_seed_alone_and_an_interrupted_run_goes_on() {
        let whole = made(&args("whole", 6, 1));
        assert_eq!(made(&args("threads", 6, 3)), whole);
        assert_ne!(made(&DatagenArgs { seed: 6, ..args("seed", 6, 1) }), whole);

        let resumed = args("resumed", 6, 2);
        let first = made(&DatagenArgs { games: Some(4), ..resumed.clone() });
        assert!(whole.starts_with(&first));
        // Killed while the fourth game was being written.
        std::fs::write(&resumed.out, &first[..first.len() - 7]).unwrap();
        assert_eq!(made(&resumed), whole);
        assert_eq!(made(&resumed), whole, "nothing is missing");
        // Other options would make another file; this one is left as it was.
        let more = DatagenArgs { games: Some(7), ..resumed.clone() };
        let classical = DatagenArgs { eval_file: Evaluator::CLASSICAL.into(), ..more.clone() };
        for other in [
            DatagenArgs { seed: 6, ..more.clone() },
            DatagenArgs { nodes: 300, ..more.clone() },
            classical,
        ] {
            assert!(matches!(run(&other), Err(TrainError::Others { .. })));
            assert_eq!(std::fs::read(&other.out).unwrap(), whole);
        }
        for name in ["whole", "threads", "seed", "resumed"] {
            let _ = std::fs::remove_file(args(name, 0, 1).out);
        }
    }

    #[test]
    fn a_number_of_positions_ends_the_file_with_a_whole_game() {
        let whole = made(&args("many", 6, 1));
        let games: Vec<usize> = {
            let mut reader = whole.as_slice();
            std::iter::from_fn(|| Game::read(&mut reader).unwrap())
                .map(|game| game.moves.len())
                .collect()
        };
        let three: usize = games[..3].iter().sum();
        let enough = args("enough", 0, 2);
        for (positions, count) in [(three, 3), (three + 1, 4)] {
            let wanted =
                DatagenArgs { games: None, positions: Some(positions as u64), ..enough.clone() };
            let bytes = made(&wanted);
            assert!(whole.starts_with(&bytes));
            let extent = whole_games(&mut bytes.as_slice()).unwrap();
            assert_eq!((extent.games, extent.bytes), (count, bytes.len() as u64));
        }
        for name in ["many", "enough"] {
            let _ = std::fs::remove_file(args(name, 0, 1).out);
        }
    }

    #[test]
    fn the_evaluation_decides_the_games() {
        let network = made(&args("network", 2, 1));
        let classical = args("classical", 2, 1);
        assert_ne!(
            made(&DatagenArgs { eval_file: Evaluator::CLASSICAL.into(), ..classical }),
            network
        );
        for name in ["network", "classical"] {
            let _ = std::fs::remove_file(args(name, 0, 1).out);
        }
    }

    #[test]
    fn games_go_on_from_others() {
        let first = args("first", 4, 1);
        let old = made(&first);
        let branched = |threads| DatagenArgs {
            branch: vec![first.out.clone()],
            ..args(&format!("branched{threads}"), 8, threads)
        };
        let whole = made(&branched(1));
        assert_eq!(made(&branched(2)), whole);
        let games = |mut bytes: &[u8]| -> Vec<Game> {
            std::iter::from_fn(|| Game::read(&mut bytes).unwrap()).collect()
        };
        let passed: Vec<Position> =
            games(&old).iter().flat_map(Game::positions).map(|(position, ..)| position).collect();
        let starts = |position: &Position| passed.iter().any(|other| other.key() == position.key());
        assert!(games(&whole).iter().all(|game| starts(&game.start)));
        for path in [first.out.clone(), branched(1).out, branched(2).out] {
            let _ = std::fs::remove_file(path);
        }
    }

    #[test]
    fn games_are_legal_and_end_as_they_say() {
        let mut player = Player::new(200, &Evaluator::default(), None).unwrap();
        for number in 0..8 {
            let game = player.play(Random::numbered(1, number));
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
        for missing in [
            DatagenArgs { out: "/no/such/folder/file".into(), ..args.clone() },
            DatagenArgs { eval_file: "/no/such/network".into(), ..args.clone() },
        ] {
            assert!(run(&missing).unwrap_err().to_string().contains("/no/such/"));
        }
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
            .filter_map(|n| random_opening(&mut Random::numbered(3, n)))
            .map(|position| position.to_fen())
            .collect();
        assert!(openings.len() > 195);
    }
}
