//! `tacet datagen`: the engine plays itself and stores the games.
//!
//! Every game begins with a few random moves and is then played by the shipped search and
//! evaluation with a soft node limit: the iteration in which the limit is passed is finished. A
//! game depends on nothing but the seed, its number and the options.
//!
//! Games end by the rules of chess, or earlier by adjudication: see [`Referee`].

use super::TrainError;
use super::format::{Game, GameResult};
use super::games::{Goal, MakeArgs, make};
use super::player::Player;
use crate::board::Position;
use crate::lab::random::Random;
use crate::score::Score;
use crate::uci::genfens::{OPENING_LIMIT, random_opening};

/// What to generate.
#[derive(clap::Args, Clone, Debug)]
pub struct DatagenArgs {
    /// Which file, and who plays
    #[command(flatten)]
    pub make: MakeArgs,
    /// How many games the file is to hold in the end [default: 10000, unless --positions is given]
    #[arg(long, value_name = "N")]
    pub games: Option<u64>,
    /// End with the game in which the file comes to hold so many positions
    #[arg(long, value_name = "N")]
    pub positions: Option<u64>,
}

/// Plays the games that are missing from the file.
///
/// # Errors
/// If the file cannot be opened, is in use or cannot be written, the evaluation cannot be had, or
/// memory is short.
pub fn run(args: &DatagenArgs) -> Result<(), TrainError> {
    let games = if args.positions.is_some() { u64::MAX } else { GAMES };
    let goal =
        Goal { games: args.games.unwrap_or(games), positions: args.positions.unwrap_or(u64::MAX) };
    let seed = args.make.seed;
    make(
        &args.make,
        goal,
        |_| std::iter::repeat_with(|| Ok(())),
        |player, number, ()| play(player, Random::numbered(seed, number)),
    )
}

/// How many games are made if nothing is said.
const GAMES: u64 = 10_000;
/// A game without a result after so many moves of both sides is drawn.
const LONGEST_GAME: usize = 400;

fn play(player: &mut Player, mut random: Random) -> Game {
    player.clear();
    let start = opening(player, &mut random);
    let mut game = Game { start: start.clone(), result: GameResult::Draw, moves: Vec::new() };
    let mut position = start;
    let mut earlier = Vec::with_capacity(LONGEST_GAME);
    let mut referee = Referee::default();
    while game.moves.len() < LONGEST_GAME {
        let (m, score) = player.think(&position, &earlier);
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
fn opening(player: &mut Player, random: &mut Random) -> Position {
    loop {
        if let Some(position) = random_opening(random) {
            let (_, score) = player.think(&position, &[]);
            if score.value().abs() <= OPENING_LIMIT {
                return position;
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Evaluator;
    use crate::train::format::whole_games;

    fn args(name: &str, games: u64, threads: u16) -> DatagenArgs {
        let out = std::env::temp_dir().join(format!("tacet-datagen-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&out);
        let eval_file = Evaluator::INTERNAL.into();
        let make = MakeArgs { out, nodes: 200, eval_file, threads, seed: 5 };
        DatagenArgs { make, games: Some(games), positions: None }
    }

    fn made(args: &DatagenArgs) -> Vec<u8> {
        run(args).unwrap();
        std::fs::read(&args.make.out).unwrap()
    }

    #[test]
    fn a_file_depends_on_the_seed_alone_and_an_interrupted_run_goes_on() {
        let whole = made(&args("whole", 6, 1));
        assert_eq!(made(&args("threads", 6, 3)), whole);
        let mut other = args("seed", 6, 1);
        other.make.seed = 6;
        assert_ne!(made(&other), whole);

        let resumed = args("resumed", 6, 2);
        let first = made(&DatagenArgs { games: Some(4), ..resumed.clone() });
        assert!(whole.starts_with(&first));
        // Killed while the fourth game was being written.
        std::fs::write(&resumed.make.out, &first[..first.len() - 7]).unwrap();
        assert_eq!(made(&resumed), whole);
        assert_eq!(made(&resumed), whole, "nothing is missing");
        for name in ["whole", "threads", "seed", "resumed"] {
            let _ = std::fs::remove_file(args(name, 0, 1).make.out);
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
            let _ = std::fs::remove_file(args(name, 0, 1).make.out);
        }
    }

    #[test]
    fn the_evaluation_decides_the_games() {
        let network = made(&args("network", 2, 1));
        let mut classical = args("classical", 2, 1);
        classical.make.eval_file = Evaluator::CLASSICAL.into();
        assert_ne!(made(&classical), network);
        for name in ["network", "classical"] {
            let _ = std::fs::remove_file(args(name, 0, 1).make.out);
        }
    }

    #[test]
    fn games_are_legal_and_end_as_they_say() {
        let mut player = Player::new(200, &Evaluator::default()).unwrap();
        for number in 0..8 {
            let game = play(&mut player, Random::numbered(1, number));
            assert_eq!(Game::read(&mut game.to_bytes().as_slice()).unwrap().as_ref(), Some(&game));
            assert!(!game.moves.is_empty() && game.moves.len() <= LONGEST_GAME);
        }
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
