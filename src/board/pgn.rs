//! PGN, in and out: games with their tags, on top of the pgn-reader crate.
//!
//! Reading keeps the main line and drops comments, variations and glyphs. Writing follows the
//! export format of the PGN standard (Edwards 1994): the seven tags of the roster first, lines of
//! at most 79 characters.

use std::fmt;
use std::io::{self, Read};
use std::ops::ControlFlow;

use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use shakmaty::KnownOutcome;

use super::notation::quoted;
use super::{Color, PackedMove, Position};

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GameResult {
    /// This colour won.
    Win(Color),
    /// Nobody won.
    Draw,
    /// Not ended, or not known.
    #[default]
    Unknown,
}

impl GameResult {
    /// As PGN writes it: `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub const fn text(self) -> &'static str {
        match self {
            GameResult::Win(Color::White) => "1-0",
            GameResult::Win(Color::Black) => "0-1",
            GameResult::Draw => "1/2-1/2",
            GameResult::Unknown => "*",
        }
    }

    /// White's half points: 0, 1 or 2. An unknown result counts as a draw.
    pub const fn half_points(self) -> usize {
        match self {
            GameResult::Win(Color::White) => 2,
            GameResult::Win(Color::Black) => 0,
            GameResult::Draw | GameResult::Unknown => 1,
        }
    }

    /// White's points: 0, 1/2 or 1.
    pub fn points(self) -> f32 {
        self.half_points() as f32 / 2.0
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

/// A game: where it began, what was played, how it ended.
#[derive(Clone, Debug, Default)]
pub struct Game {
    /// Names and values in order. `FEN`, `SetUp`, `Variant` and `Result` are written from the
    /// fields below and need not be here.
    pub tags: Vec<(String, String)>,
    /// The position before the first move.
    pub start: Position,
    /// The moves played.
    pub moves: Vec<PackedMove>,
    /// A comment after each move; shorter than `moves` or empty is fine.
    pub comments: Vec<String>,
    /// The end.
    pub result: GameResult,
}

impl Game {
    /// The value of a tag.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.as_str())
    }

    /// Every position of the game, the start first.
    pub fn positions(&self) -> Vec<Position> {
        let mut positions = vec![self.start.clone()];
        let mut current = self.start.clone();
        for &m in &self.moves {
            current = current.play(m).0;
            positions.push(current.clone());
        }
        positions
    }

    /// The position after the last move.
    pub fn end(&self) -> Position {
        self.moves.iter().fold(self.start.clone(), |position, &m| position.play(m).0)
    }
}

/// Why a PGN file could not be read. Displays as one line without a line break.
#[derive(Debug)]
pub enum PgnError {
    /// The file itself cannot be read.
    Io(io::Error),
    /// A game has a start position or a move that chess does not allow.
    Game {
        /// Which game, from 1.
        number: usize,
        /// What is wrong.
        reason: String,
    },
}

impl fmt::Display for PgnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PgnError::Io(error) => write!(f, "{error}"),
            PgnError::Game { number, reason } => write!(f, "game {number}: {reason}"),
        }
    }
}

impl std::error::Error for PgnError {}

/// The games of a PGN text, one after the other. A bad game is an error in its place, and reading
/// goes on behind it.
pub struct Games<R> {
    reader: Reader<Text<R>>,
    number: usize,
    ended: bool,
}

/// What is read, up to the first byte that no text has: what is not text may have no end either.
struct Text<R>(R);

impl<R: Read> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        if buffer[..count].contains(&0) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a text"));
        }
        Ok(count)
    }
}

/// Reads games from PGN text.
pub fn read<R: Read>(text: R) -> Games<R> {
    Games { reader: Reader::new(Text(text)), number: 0, ended: false }
}

impl<R: Read> Iterator for Games<R> {
    type Item = Result<Game, PgnError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        self.number += 1;
        match self.reader.read_game(&mut Collector).transpose()? {
            Ok(game) => Some(game.map_err(|reason| PgnError::Game { number: self.number, reason })),
            Err(error) => {
                self.ended = true;
                Some(Err(PgnError::Io(error)))
            }
        }
    }
}

struct Collector;

struct Movetext {
    game: Game,
    current: Position,
}

impl Visitor for Collector {
    type Tags = Game;
    type Movetext = Movetext;
    type Output = Result<Game, String>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Game> {
        ControlFlow::Continue(Game::default())
    }

    fn tag(
        &mut self,
        game: &mut Game,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        let name = String::from_utf8_lossy(name).into_owned();
        let value = value.decode_utf8_lossy().into_owned();
        if name == "FEN" {
            match Position::from_fen(&value) {
                Ok(start) => game.start = start,
                Err(error) => return ControlFlow::Break(Err(error.to_string())),
            }
        }
        game.tags.push((name, value));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, game: Game) -> ControlFlow<Self::Output, Movetext> {
        let current = game.start.clone();
        ControlFlow::Continue(Movetext { game, current })
    }

    fn san(&mut self, text: &mut Movetext, san: SanPlus) -> ControlFlow<Self::Output> {
        let Ok(m) = san.san.to_move(&text.current.chess) else {
            let san = quoted(&san.to_string());
            let fen = text.current.to_fen();
            return ControlFlow::Break(Err(format!("illegal move: '{san}' in {fen}")));
        };
        let m = super::notation::pack(m);
        text.current = text.current.play(m).0;
        text.game.moves.push(m);
        ControlFlow::Continue(())
    }

    fn outcome(
        &mut self,
        text: &mut Movetext,
        outcome: shakmaty::Outcome,
    ) -> ControlFlow<Self::Output> {
        text.game.result = match outcome {
            shakmaty::Outcome::Known(KnownOutcome::Decisive { winner }) => GameResult::Win(winner),
            shakmaty::Outcome::Known(KnownOutcome::Draw) => GameResult::Draw,
            shakmaty::Outcome::Unknown => GameResult::Unknown,
        };
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, text: Movetext) -> Self::Output {
        Ok(text.game)
    }
}

const ROSTER: [&str; 6] = ["Event", "Site", "Date", "Round", "White", "Black"];
/// Tags that are written from the game itself.
const DERIVED: [&str; 4] = ["Result", "Variant", "SetUp", "FEN"];
const WIDTH: usize = 79;

/// The game as PGN, with an empty line behind it.
impl fmt::Display for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_tags(f)?;
        writeln!(f)?;
        self.write_moves(f)?;
        writeln!(f)
    }
}

impl Game {
    fn write_tags(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in ROSTER {
            let unknown = if name == "Date" { "????.??.??" } else { "?" };
            write_tag(f, name, self.tag(name).unwrap_or(unknown))?;
        }
        write_tag(f, "Result", self.result.text())?;
        if self.start.needs_chess960() {
            write_tag(f, "Variant", "Chess960")?;
        }
        if self.start != Position::startpos() {
            write_tag(f, "SetUp", "1")?;
            write_tag(f, "FEN", &self.start.to_fen())?;
        }
        let mut others = self.tags.iter().filter(|(name, _)| {
            !ROSTER.contains(&name.as_str()) && !DERIVED.contains(&name.as_str())
        });
        others.try_for_each(|(name, value)| write_tag(f, name, value))
    }

    fn write_moves(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut column = 0;
        for token in self.tokens() {
            // A comment may hold blanks; it is wrapped word by word like the rest.
            for word in token.split(' ').filter(|word| !word.is_empty()) {
                if column > 0 && column + 1 + word.len() > WIDTH {
                    writeln!(f)?;
                    column = 0;
                } else if column > 0 {
                    write!(f, " ")?;
                    column += 1;
                }
                write!(f, "{word}")?;
                column += word.len();
            }
        }
        writeln!(f)
    }

    /// Move numbers, moves, comments and the result.
    fn tokens(&self) -> Vec<String> {
        let mut tokens = Vec::with_capacity(self.moves.len() * 2 + 1);
        let mut current = self.start.clone();
        let mut number_needed = true;
        for (i, &m) in self.moves.iter().enumerate() {
            let number = current.fullmove_number();
            match current.turn() {
                Color::White => tokens.push(format!("{number}.")),
                Color::Black if number_needed => tokens.push(format!("{number}...")),
                Color::Black => {}
            }
            tokens.push(current.san(m));
            let comment = self.comments.get(i).filter(|comment| !comment.is_empty());
            if let Some(comment) = comment {
                tokens.push(format!("{{{}}}", comment.replace(['{', '}'], "")));
            }
            number_needed = comment.is_some();
            current = current.play(m).0;
        }
        tokens.push(self.result.text().to_string());
        tokens
    }
}

fn write_tag(f: &mut fmt::Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    let value: String = value.chars().filter(|c| !c.is_control()).collect();
    writeln!(f, "[{name} \"{}\"]", value.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAMES: &str = "[Event \"a \\\"quoted\\\" name\"]\n[White \"W\"]\n[Black \"B\"]\n\
        [Result \"0-1\"]\n\n1. f3 e5 (1... d5) 2. g4 {why} Qh4# 0-1\n\n\
        [FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 7\"]\n\n7... Kd7 8. e4 Kd6 *\n\n\
        1. e4 e5 2. Nd5 *\n\n1. d4 1/2-1/2\n";

    #[test]
    fn a_bad_game_is_named_and_the_next_one_read() {
        let games: Vec<_> = read(GAMES.as_bytes()).collect();
        assert_eq!(games.len(), 4);
        let first = games[0].as_ref().unwrap();
        assert_eq!(first.result, GameResult::Win(Color::Black));
        assert_eq!(first.moves.len(), 4);
        assert_eq!(first.tag("Event"), Some("a \"quoted\" name"));
        let error = games[2].as_ref().unwrap_err().to_string();
        assert!(error.starts_with("game 3: "), "{error}");
        assert_eq!(games[3].as_ref().unwrap().result, GameResult::Draw);
    }

    #[test]
    fn what_is_written_is_read_again() {
        for game in read(GAMES.as_bytes()).filter_map(Result::ok) {
            let mut game = game;
            game.comments = vec!["+0.31/12 18003n {odd}".into(); game.moves.len()];
            let text = game.to_string();
            assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
            let again = read(text.as_bytes()).next().unwrap().unwrap();
            assert_eq!(again.moves, game.moves);
            assert_eq!(again.start, game.start);
            assert_eq!(again.result, game.result);
            assert_eq!(again.tag("Event"), Some(game.tag("Event").unwrap_or("?")));
        }
    }

    #[test]
    fn a_game_from_black_to_move_begins_with_dots() {
        let game = read(GAMES.as_bytes()).nth(1).unwrap().unwrap();
        let text = game.to_string();
        assert!(text.contains("7... Kd7 8. e4 Kd6 *"), "{text}");
        assert!(text.contains("[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 7\"]"));
        assert_eq!(game.positions().last(), Some(&game.end()));
    }

    #[test]
    fn odd_bytes_are_no_reason_to_fall_over() {
        for text in ["", "\0\0", "[", "[Event", "{", "((((", "1. e4 e5", "[FEN \"x\"]\n\n1. e4"] {
            assert!(read(text.as_bytes()).take(10).count() < 10, "{text:?}");
        }
    }
}
