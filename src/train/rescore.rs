//! `tacet rescore`: a deeper look at some positions of games that were played quickly.
//!
//! Neighbours in a game are much alike, and what an evaluation gets wrong in one it gets wrong in
//! the next: many scores of a game teach little more than a few of them. So games are played with
//! few nodes a move, and then one quiet position in so many is searched with more. A game keeps its
//! moves and its result; a position that was not searched, or whose move turns out to be a capture,
//! is [`UNSCORED`], and nobody learns from it.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use super::format::{FormatError, Game, UNSCORED, whole_games};
use super::games::{Goal, MakeArgs, make};
use super::player::Player;
use super::{TrainError, games_of, texel};
use crate::lab::random::Random;

/// Look at some positions of stored games again, with more nodes
#[derive(clap::Args, Clone, Debug)]
pub struct RescoreArgs {
    /// Which file, and who plays
    #[command(flatten)]
    pub make: MakeArgs,
    /// The games
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    pub data: Vec<PathBuf>,
    /// Look at one position in so many
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    pub every: u16,
}

/// Scores the games that are missing from the file.
///
/// # Errors
/// If a file cannot be read or holds anything but games, the file to write cannot be opened, is in
/// use or cannot be written, the evaluation cannot be had, or memory is short.
pub fn run(args: &RescoreArgs) -> Result<(), TrainError> {
    let goal = Goal { games: count(&args.data)?, positions: u64::MAX };
    let files = args.data.iter().map(|path| games_of(path)).collect::<Result<Vec<_>, _>>()?;
    let tasks = |found| files.into_iter().flatten().skip(found as usize);
    make(&args.make, goal, tasks, |player, number, (_, game)| {
        rescored(player, game, args.every, Random::numbered(args.make.seed, number))
    })
}

/// How many games the files hold, all of them whole.
fn count(files: &[PathBuf]) -> Result<u64, TrainError> {
    let mut games = 0;
    for path in files {
        let file = File::open(path).map_err(TrainError::file(path))?;
        let length = file.metadata().map_err(TrainError::file(path))?.len();
        let error = |game| move |reason| TrainError::Data { path: path.clone(), game, reason };
        let whole = whole_games(&mut BufReader::with_capacity(1 << 20, file)).map_err(error(1))?;
        if whole.bytes < length {
            return Err(error(whole.games + 1)(FormatError::Truncated));
        }
        games += whole.games;
    }
    if games == 0 { Err(TrainError::NoPositions) } else { Ok(games) }
}

/// The game with new scores for some of its quiet positions, and none for the others.
fn rescored(player: &mut Player, mut game: Game, every: u16, mut random: Random) -> Game {
    player.clear();
    let every = usize::from(every);
    let first = random.below(every);
    let mut earlier = Vec::with_capacity(game.moves.len());
    let mut scores = Vec::with_capacity(game.moves.len());
    for (index, (position, m, score)) in game.positions().enumerate() {
        let mut new = UNSCORED;
        if index % every == first && texel::is_wanted(&position, m, score) {
            let (better, score) = player.think(&position, &earlier);
            if !position.is_noisy(better) {
                new = if position.turn().is_white() { score } else { -score };
            }
        }
        scores.push(new);
        earlier.push(position.key());
    }
    for ((_, score), new) in game.moves.iter_mut().zip(scores) {
        *score = new;
    }
    game
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::eval::Evaluator;
    use crate::score::Score;
    use crate::train::format::GameResult;

    /// Random moves, of which every seventh is said to mate.
    fn game(number: u64) -> Game {
        let mut random = Random::numbered(5, number);
        let start = Position::startpos();
        let mut game = Game { start: start.clone(), result: GameResult::Draw, moves: Vec::new() };
        let mut position = start;
        while let Some(&m) = random.pick(&position.legal_moves())
            && game.moves.len() < 60
        {
            let mates = game.moves.len().is_multiple_of(7);
            game.moves.push((m, if mates { Score::mate_in(3) } else { Score::cp(321) }));
            position = position.play(m).0;
        }
        game
    }

    #[test]
    fn quiet_positions_in_equal_steps_are_scored_anew() {
        let mut player = Player::new(300, &Evaluator::default()).unwrap();
        let mut scored = 0;
        for number in 0..6 {
            let old = game(number);
            let new = rescored(&mut player, old.clone(), 3, Random::numbered(1, number));
            assert_eq!((&new.start, new.result), (&old.start, old.result));
            let mut remainders = Vec::new();
            for (index, ((position, m, before), (n, after))) in
                old.positions().zip(&new.moves).enumerate()
            {
                assert_eq!(m, *n);
                if *after != UNSCORED {
                    assert!(texel::is_wanted(&position, m, before), "{}", position.to_fen());
                    remainders.push(index % 3);
                    scored += 1;
                }
            }
            remainders.dedup();
            assert!(remainders.len() <= 1);
            let again = rescored(&mut player, old.clone(), 3, Random::numbered(1, number));
            assert_eq!(again, new);
        }
        assert!(scored > 30, "{scored}");
        assert!(UNSCORED.is_decisive(), "or it would be learned from");
    }

    #[test]
    fn a_score_is_whites() {
        let mut player = Player::new(300, &Evaluator::default()).unwrap();
        for (turn, m) in [("w", "b1c3"), ("b", "e8d8")] {
            let fen = format!("4k3/8/8/8/8/8/PPPPPPPP/RNBQK3 {turn} - - 0 1");
            let start = Position::from_fen(&fen).unwrap();
            let m = start.parse_uci(m).unwrap();
            let old = Game { start, result: GameResult::Draw, moves: vec![(m, Score::ZERO)] };
            let new = rescored(&mut player, old, 1, Random::new(1));
            assert!(new.moves[0].1 > Score::cp(500), "{turn}: {:?}", new.moves);
        }
    }
}
