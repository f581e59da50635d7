//! Writing PGN.

use std::fmt;

use super::Game;
use crate::board::{Color, Position};

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
        // Equal positions may differ in the move number. Without a FEN a game begins with move 1.
        if self.start != Position::startpos() || self.start.fullmove_number() != 1 {
            write_tag(f, "SetUp", "1")?;
            write_tag(f, "FEN", &self.start.to_fen())?;
        }
        let mut others = self.tags.iter().filter(|(name, _)| {
            !ROSTER.contains(&name.as_str())
                && !DERIVED.iter().any(|derived| derived.eq_ignore_ascii_case(name))
        });
        others.try_for_each(|(name, value)| write_tag(f, name, value))
    }

    fn write_moves(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut column = 0;
        for token in self.tokens() {
            // A comment may contain spaces; it is wrapped word by word like the rest.
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
            current = current.follow(m);
        }
        tokens.push(self.result.text().to_string());
        tokens
    }
}

fn write_tag(f: &mut fmt::Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    let value: String = value.chars().filter(|c| !c.is_control()).collect();
    writeln!(f, "[{name} \"{}\"]", value.replace('\\', "\\\\").replace('"', "\\\""))
}
