//! Text for positions and moves: FEN in all its castling forms, UCI moves in both, SAN.

use std::fmt;

use shakmaty::fen::Fen;
use shakmaty::san::{San, SanPlus};
use shakmaty::{CastlingMode, Chess, EnPassantMode, FromSetup, PositionError, PositionErrorKinds};

use super::{Color, PackedMove, Piece, Position, Role, Square, castling_targets, unpack};

/// Why a text is not a position or not a move. Displays as one line without a line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotationError {
    /// Not FEN at all.
    Fen {
        /// What was typed, shortened.
        text: String,
        /// shakmaty's reason.
        reason: String,
    },
    /// FEN, but not a position that chess allows.
    Position {
        /// What was typed, shortened.
        text: String,
        /// All that is wrong with it.
        faults: Vec<&'static str>,
    },
    /// Not a legal move here.
    Move {
        /// What was typed, shortened.
        text: String,
        /// The position it was typed for.
        fen: String,
    },
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotationError::Fen { text, reason } => write!(f, "not a FEN: '{text}': {reason}"),
            NotationError::Position { text, faults } => {
                write!(f, "illegal position: '{text}': {}", faults.join(", "))
            }
            NotationError::Move { text, fen } => write!(f, "illegal move: '{text}' in {fen}"),
        }
    }
}

impl std::error::Error for NotationError {}

/// Text as typed, cut to a length that fits a message, control characters replaced.
pub fn quoted(text: &str) -> String {
    const MAX: usize = 100;
    let clean = |c: char| if c.is_control() { '?' } else { c };
    let mut short: String = text.chars().take(MAX).map(clean).collect();
    if text.chars().nth(MAX).is_some() {
        short.push_str("...");
    }
    short
}

impl Position {
    /// Reads a FEN: standard, X-FEN or Shredder-FEN; the clocks may be missing.
    ///
    /// Castling rights without their rook and en passant squares without their pawn are dropped;
    /// checks that no game can produce are accepted.
    ///
    /// # Errors
    /// What is not FEN, and positions without exactly one king a side, with pawns on the first or
    /// last rank, with more material than promotions allow, or with the side not to move in check.
    pub fn from_fen(text: &str) -> Result<Position, NotationError> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let fen: Fen = fields.join(" ").parse().map_err(|error| NotationError::Fen {
            text: quoted(text.trim()),
            reason: format!("{error}"),
        })?;
        let setup = fen.into_setup();
        let mode = CastlingMode::detect(&setup);
        Chess::from_setup(setup, mode)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_impossible_check)
            .map(Position::from_chess)
            .map_err(|error| NotationError::Position {
                text: quoted(text.trim()),
                faults: faults(error.kinds()),
            })
    }

    /// The position as FEN. Castling rights are written `KQkq` where that is clear (X-FEN); the en
    /// passant square only if a capture there is legal.
    pub fn to_fen(&self) -> String {
        Fen::from_position(&self.chess, EnPassantMode::Legal).to_string()
    }

    /// Are the rights to castle of a kind that only Chess960 knows?
    pub fn needs_chess960(&self) -> bool {
        self.castling_rooks().into_iter().any(|rook| {
            let king = self.king(Color::from_white(rook.rank() == super::Rank::First));
            king.file() != super::File::E || !matches!(rook.file(), super::File::A | super::File::H)
        })
    }

    /// Reads a move in UCI's long algebraic form. Castling is accepted as the king's step of two
    /// squares and as the king capturing its rook, whatever the mode.
    ///
    /// # Errors
    /// What is not a legal move in this position.
    pub fn parse_uci(&self, text: &str) -> Result<PackedMove, NotationError> {
        self.find_uci(text)
            .ok_or_else(|| NotationError::Move { text: quoted(text), fen: self.to_fen() })
    }

    fn find_uci(&self, text: &str) -> Option<PackedMove> {
        if !text.is_ascii() || !matches!(text.len(), 4 | 5) {
            return None;
        }
        let from = Square::from_ascii(&text.as_bytes()[0..2]).ok()?;
        let to = Square::from_ascii(&text.as_bytes()[2..4]).ok()?;
        let promotion = match text.as_bytes().get(4) {
            Some(&letter) => Some(Role::from_char(letter.to_ascii_lowercase() as char)?),
            None => None,
        };
        let moves = self.legal_moves();
        let exact = moves
            .iter()
            .copied()
            .find(|m| m.from() == from && m.to() == to && m.promoted_to() == promotion);
        exact.or_else(|| {
            moves.iter().copied().find(|m| {
                m.is_castle()
                    && m.from() == from
                    && castling_targets(m.from(), m.to()).0 == to
                    && promotion.is_none()
            })
        })
    }

    /// A legal move as UCI writes it: castling as the king's step in standard chess, as the king
    /// capturing its rook in Chess960.
    pub fn uci(&self, m: PackedMove, chess960: bool) -> String {
        if m.is_castle() && !chess960 {
            format!("{}{}", m.from(), castling_targets(m.from(), m.to()).0)
        } else {
            m.to_string()
        }
    }

    /// Reads a move in standard algebraic notation, or, as many files have it, in long algebraic
    /// (`Ra1-a8`, `e7xd8=Q`) or UCI form; a promotion may also be written `e8Q` or `e8(Q)`.
    ///
    /// # Errors
    /// What is not a legal move in this position.
    pub fn parse_san(&self, text: &str) -> Result<PackedMove, NotationError> {
        let bare = text.trim_end_matches(['+', '#', '!', '?']);
        // Castling with zeros is common in old files.
        let castling = bare.starts_with("0-0").then(|| bare.replace('0', "O"));
        let bare = castling.as_deref().unwrap_or(bare);
        let promotion = with_equals_sign(bare);
        let bare = promotion.as_deref().unwrap_or(bare);
        if let Ok(san) = San::from_ascii(bare.as_bytes())
            && let Ok(m) = san.to_move(&self.chess)
        {
            return Ok(pack(m));
        }
        let squares: String = bare
            .trim_start_matches(['N', 'B', 'R', 'Q', 'K', 'P'])
            .chars()
            .filter(|c| !matches!(c, '-' | 'x' | '=' | ':'))
            .collect();
        self.find_uci(&squares)
            .ok_or_else(|| NotationError::Move { text: quoted(text), fen: self.to_fen() })
    }

    /// A legal move in standard algebraic notation, with check and mate marks.
    pub fn san(&self, m: PackedMove) -> String {
        let role = self.moved_role(m);
        let m = unpack(m, role, self.captured(m));
        SanPlus::from_move(self.chess.clone(), m).to_string()
    }
}

pub(super) fn pack(m: shakmaty::Move) -> PackedMove {
    use shakmaty::Move;
    match m {
        Move::Normal { from, to, promotion: None, .. } => PackedMove::normal(from, to),
        Move::Normal { from, to, promotion: Some(role), .. } => {
            PackedMove::promotion(from, to, role)
        }
        Move::EnPassant { from, to } => PackedMove::en_passant(from, to),
        Move::Castle { king, rook } => PackedMove::castle(king, rook),
        // Only variants with pockets have these.
        Move::Put { .. } => PackedMove::NONE,
    }
}

fn faults(kinds: PositionErrorKinds) -> Vec<&'static str> {
    const FAULTS: [(PositionErrorKinds, &str); 8] = [
        (PositionErrorKinds::EMPTY_BOARD, "the board is empty"),
        (PositionErrorKinds::MISSING_KING, "a king is missing"),
        (PositionErrorKinds::TOO_MANY_KINGS, "a side has more than one king"),
        (PositionErrorKinds::PAWNS_ON_BACKRANK, "a pawn stands on the first or last rank"),
        (PositionErrorKinds::INVALID_CASTLING_RIGHTS, "a castling right has no rook"),
        (PositionErrorKinds::INVALID_EP_SQUARE, "the en passant square has no pawn"),
        (PositionErrorKinds::OPPOSITE_CHECK, "the side not to move is in check"),
        (PositionErrorKinds::TOO_MUCH_MATERIAL, "a side has more pieces than promotions allow"),
    ];
    FAULTS.iter().filter(|(kind, _)| kinds.contains(*kind)).map(|&(_, text)| text).collect()
}

/// The board as text, seen from White, with side to move and key.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, " +---+---+---+---+---+---+---+---+")?;
        for rank in (0..8).rev() {
            for file in 0..8 {
                let square = Square::new(rank * 8 + file);
                let letter = self.piece_at(square).map_or(' ', Piece::char);
                write!(f, " | {letter}")?;
            }
            writeln!(f, " | {}\n +---+---+---+---+---+---+---+---+", rank + 1)?;
        }
        writeln!(f, "   a   b   c   d   e   f   g   h\n")?;
        writeln!(f, "Fen: {}", self.to_fen())?;
        write!(f, "Key: {:016X}", self.key())?;
        let checkers: Vec<String> = self.checkers().into_iter().map(|s| s.to_string()).collect();
        if checkers.is_empty() { Ok(()) } else { write!(f, "\nCheckers: {}", checkers.join(" ")) }
    }
}

/// `e8Q` or `e8(Q)` as `e8=Q`; `None` for what is written otherwise.
fn with_equals_sign(text: &str) -> Option<String> {
    let open = text.strip_suffix(')').map(|text| text.replace('(', ""));
    let text = open.as_deref().unwrap_or(text);
    let (square, piece) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let is_promotion = square.ends_with(['1', '8']) && matches!(piece, "Q" | "R" | "B" | "N");
    is_promotion.then(|| format!("{square}={piece}"))
}
