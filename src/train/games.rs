//! A file of games that grows: threads make games, and one writes them in the order of their
//! numbers.
//!
//! What a game becomes depends on its number and the options alone, so a file can be made again to
//! the bit, with any number of threads. A run that was interrupted, or killed, goes on where the
//! file ends.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::TrainError;
use super::format::{Extent, Game, whole_games};
use super::player::Player;
use crate::eval::Evaluator;

/// Which file to make, and who plays.
#[derive(clap::Args, Clone, Debug)]
pub struct MakeArgs {
    /// The file to write; if it exists, it is continued
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Finish the iteration in which so many nodes are passed
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: u64,
    /// The evaluation: a network file, or `<classical>` [default: the network in the program]
    #[arg(long, value_name = "FILE", default_value = Evaluator::INTERNAL, hide_default_value = true)]
    pub eval_file: PathBuf,
    /// How many games are worked on at a time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Another seed, other games
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// How much the file is to hold: whichever is reached first.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// Games.
    pub games: u64,
    /// Positions of games; what passes it is a whole game.
    pub positions: u64,
}

impl Goal {
    fn is_reached(self, extent: Extent) -> bool {
        extent.games >= self.games || extent.positions >= self.positions
    }
}

/// Makes the games that the file lacks. `tasks` says what the games are made of that come after so
/// many, in their order; `make` makes one.
///
/// # Errors
/// If the file cannot be opened, is in use or cannot be written, the evaluation cannot be had,
/// memory is short, or a task is an error.
pub fn make<T: Send, I: Iterator<Item = Result<T, TrainError>> + Send>(
    args: &MakeArgs,
    goal: Goal,
    tasks: impl FnOnce(u64) -> I,
    make: impl Fn(&mut Player, u64, T) -> Game + Sync,
) -> Result<(), TrainError> {
    let evaluator = evaluator(&args.eval_file)?;
    let (mut file, found) = open(&args.out)?;
    let mut progress = Progress::new(goal, found);
    if goal.is_reached(found) {
        return progress.finish().map_err(TrainError::Output);
    }
    let mut players = (0..args.threads)
        .map(|_| Player::new(args.nodes, &evaluator))
        .collect::<Result<Vec<Player>, TrainError>>()?;
    let (send, receive) = sync_channel(2 * usize::from(args.threads));
    let tasks = Mutex::new((found.games..goal.games).zip(tasks(found.games)));
    std::thread::scope(|scope| {
        for player in &mut players {
            let (send, tasks, make) = (send.clone(), &tasks, &make);
            scope.spawn(move || {
                // A thread that panicked has taken the whole run with it.
                while let Some((number, task)) = tasks.lock().ok().and_then(|mut all| all.next()) {
                    let game = task.map(|task| make(player, number, task));
                    // The writer is gone if it could not write, or has enough positions.
                    if send.send((number, game)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let written = store(&mut file, &args.out, &receive, goal, &mut progress);
        drop(receive);
        written
    })?;
    progress.finish().map_err(TrainError::Output)
}

fn evaluator(name: &Path) -> Result<Evaluator, TrainError> {
    Evaluator::named(&name.to_string_lossy())
        .map_err(|reason| TrainError::Network { path: name.to_path_buf(), reason })
}

/// Opens the file for going on behind its last whole game, and keeps others from doing the same.
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
    let found = whole_games(&mut BufReader::with_capacity(1 << 20, &file))
        .map_err(|reason| TrainError::Data { path: path.to_path_buf(), game: 1, reason })?;
    file.set_len(found.bytes).map_err(&error)?;
    file.seek(SeekFrom::Start(found.bytes)).map_err(&error)?;
    Ok((file, found))
}

/// Writes games in the order of their numbers, each in one piece, until there are enough.
fn store(
    file: &mut File,
    path: &Path,
    games: &Receiver<(u64, Result<Game, TrainError>)>,
    goal: Goal,
    progress: &mut Progress,
) -> Result<(), TrainError> {
    let mut early = BTreeMap::new();
    for (number, game) in games {
        early.insert(number, game);
        while let Some(game) = early.remove(&progress.now.games) {
            let game = game?;
            file.write_all(&game.to_bytes()).map_err(TrainError::writing(path))?;
            progress.add(&game);
            if goal.is_reached(progress.now) {
                return Ok(());
            }
        }
    }
    Ok(())
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
    use crate::board::Position;
    use crate::train::format::GameResult;

    fn args(name: &str, threads: u16) -> MakeArgs {
        let out = std::env::temp_dir().join(format!("tacet-games-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&out);
        MakeArgs { out, nodes: 1, eval_file: Evaluator::INTERNAL.into(), threads, seed: 1 }
    }

    fn game(_: &mut Player, number: u64, (): ()) -> Game {
        let result = if number.is_multiple_of(2) { GameResult::Draw } else { GameResult::WhiteWon };
        Game { start: Position::startpos(), result, moves: Vec::new() }
    }

    #[test]
    fn a_file_in_use_or_out_of_reach_is_refused() {
        let args = args("locked", 1);
        let goal = Goal { games: 1, positions: u64::MAX };
        let refusal = |args: &MakeArgs| {
            make(args, goal, |_| std::iter::repeat_with(|| Ok(())), game).unwrap_err().to_string()
        };
        let held = open(&args.out).unwrap();
        assert!(refusal(&args).contains("locked"));
        drop(held);
        for missing in [
            MakeArgs { out: "/no/such/folder/file".into(), ..args.clone() },
            MakeArgs { eval_file: "/no/such/network".into(), ..args.clone() },
        ] {
            assert!(refusal(&missing).contains("/no/such/"));
        }
        let _ = std::fs::remove_file(args.out);
    }

    #[test]
    fn what_came_before_an_error_is_kept() {
        let args = args("error", 3);
        let goal = Goal { games: 9, positions: u64::MAX };
        let tasks =
            |found| (found..).map(|n| if n < 5 { Ok(()) } else { Err(TrainError::NoPositions) });
        for _ in 0..2 {
            assert!(matches!(make(&args, goal, tasks, game), Err(TrainError::NoPositions)));
            let found = open(&args.out).unwrap().1;
            assert_eq!(found.games, 5);
        }
        make(&args, goal, |_| [Ok(()), Ok(())].into_iter(), game).unwrap();
        let bytes = std::fs::read(&args.out).unwrap();
        let expected: Vec<u8> = (0..7)
            .flat_map(|n| {
                game(&mut Player::new(1, &Evaluator::default()).unwrap(), n, ()).to_bytes()
            })
            .collect();
        assert!(bytes == expected);
        let _ = std::fs::remove_file(args.out);
    }
}
