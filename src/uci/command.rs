//! What a GUI says: a pure parser from a line of text to a [`Command`].
//!
//! Nothing is done here and nothing can fail but the reading: every error names the text it is
//! about. Words of a `go` that make no sense are left out and reported beside the rest, since a
//! clock with a misspelt field is still a clock.

use std::fmt;
use std::num::IntErrorKind;
use std::time::Duration;

use crate::board::notation::quoted;
use crate::score::{Depth, MAX_DEPTH, MAX_PLY};
use crate::time::Limits;

/// A line understood.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// `uci`
    Uci,
    /// `isready`
    IsReady,
    /// `ucinewgame`
    NewGame,
    /// `setoption name .. value ..`
    SetOption {
        /// The option's name as typed; may contain blanks.
        name: String,
        /// The value as typed; may contain blanks. Empty if there is none.
        value: String,
    },
    /// `position startpos|fen .. moves ..`
    Position {
        /// The FEN; `None` is the start position.
        fen: Option<String>,
        /// Moves in UCI form, not yet checked.
        moves: Vec<String>,
    },
    /// `go ..`
    Go(Go),
    /// `stop`
    Stop,
    /// `ponderhit`
    PonderHit,
    /// `quit`
    Quit,
    /// `d`: show the position.
    Display,
    /// `eval`: show the static evaluation.
    Eval,
    /// `bench [depth]`
    Bench(Option<Depth>),
    /// `perft depth`, also `go perft depth`
    Perft(u32),
    /// `genfens N seed S book B`: make openings.
    GenFens(GenFens),
    /// `schemes`: show the null-move schemes.
    Schemes,
    /// `help`
    Help,
    /// `debug ..`, `register ..`: part of the protocol, nothing to do.
    Ignored,
}

/// The words of a `go`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Go {
    /// When to stop.
    pub limits: Limits,
    /// Root moves in UCI form, not yet checked; empty: all.
    pub search_moves: Vec<String>,
    /// What could not be understood or was put into range, one line each.
    pub notes: Vec<String>,
}

/// The words of a `genfens`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenFens {
    /// How many openings.
    pub count: u64,
    /// Decides which.
    pub seed: u64,
    /// A file of positions to begin at; without one it is the start position.
    pub book: Option<String>,
}

/// Why a line is not a command. Displays as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// The first word is none we know.
    Unknown(String),
    /// Something that has to follow does not: the command, what it wants.
    Missing(&'static str, &'static str),
    /// Something follows that should not: the command, what it wants, what came.
    Unexpected(&'static str, &'static str, String),
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Unknown(text) => write!(f, "unknown command: {text}"),
            CommandError::Missing(command, wanted) => write!(f, "{command} wants {wanted}"),
            CommandError::Unexpected(command, wanted, got) => {
                write!(f, "{command} wants {wanted}, not '{got}'")
            }
        }
    }
}

impl std::error::Error for CommandError {}

/// Reads a line. A blank line is no command and no error.
///
/// # Errors
/// What in the line cannot be understood.
pub fn parse(line: &str) -> Result<Option<Command>, CommandError> {
    let (word, rest) = split_word(line);
    Ok(Some(match word {
        "" => return Ok(None),
        "uci" => Command::Uci,
        "isready" => Command::IsReady,
        "ucinewgame" => Command::NewGame,
        "setoption" => parse_option(rest)?,
        "position" => parse_position(rest)?,
        "go" => return parse_go_or_perft(rest).map(Some),
        "stop" => Command::Stop,
        "ponderhit" => Command::PonderHit,
        "quit" => Command::Quit,
        "d" => Command::Display,
        "eval" => Command::Eval,
        "bench" => Command::Bench(parse_bench(rest)?),
        "perft" => Command::Perft(parse_perft(rest)?),
        "genfens" => Command::GenFens(parse_genfens(rest)?),
        "schemes" => Command::Schemes,
        "help" => Command::Help,
        "debug" | "register" => Command::Ignored,
        _ => return Err(CommandError::Unknown(quoted(line.trim()))),
    }))
}

/// Reads the words of a `go` in any order. Never fails: what is not understood is in the notes.
pub fn parse_go<'a>(words: impl IntoIterator<Item = &'a str>) -> Go {
    let mut go = Go::default();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        if word == "searchmoves" {
            while let Some(m) = words.next_if(|word| !is_go_word(word)) {
                go.search_moves.push(m.to_owned());
            }
        } else if let Some(flag) = go_flag(&mut go.limits, word) {
            *flag = true;
        } else if let Some(&(name, set)) = GO_NUMBERS.iter().find(|(name, _)| *name == word) {
            let text = words.next_if(|word| !is_go_word(word));
            match number_of(name, text) {
                Ok(number) => go.notes.extend(set(&mut go.limits, number).err()),
                Err(note) => go.notes.push(note),
            }
        } else {
            go.notes.push(format!("go: '{}' is not understood", quoted(word)));
        }
    }
    go
}

/// Puts a number into the limits; an error says what it was changed to.
type SetNumber = fn(&mut Limits, i64) -> Result<(), String>;

const GO_NUMBERS: [(&str, SetNumber); 9] = [
    ("wtime", |limits, n| {
        limits.time[0] = Some(millis(n));
        Ok(())
    }),
    ("btime", |limits, n| {
        limits.time[1] = Some(millis(n));
        Ok(())
    }),
    ("winc", |limits, n| {
        limits.increment[0] = millis(n);
        Ok(())
    }),
    ("binc", |limits, n| {
        limits.increment[1] = millis(n);
        Ok(())
    }),
    ("movetime", |limits, n| {
        limits.move_time = Some(millis(n));
        in_range("movetime", n, 0, MOST_MILLIS)
    }),
    ("movestogo", |limits, n| {
        let most = u32::MAX.into();
        // GUIs write 0 where no control follows.
        limits.moves_to_go = Some(n.clamp(0, most) as u32).filter(|&n| n > 0);
        in_range("movestogo", n, 0, most)
    }),
    ("depth", |limits, n| {
        limits.depth = Some(n.clamp(1, MAX_DEPTH.into()) as Depth);
        in_range("depth", n, 1, MAX_DEPTH.into())
    }),
    ("nodes", |limits, n| {
        limits.nodes = Some(n.max(1) as u64);
        in_range("nodes", n, 1, i64::MAX)
    }),
    ("mate", |limits, n| {
        let most = MAX_PLY as i64 / 2;
        limits.mate = Some(n.clamp(1, most) as u32);
        in_range("mate", n, 1, most)
    }),
];

fn go_flag<'a>(limits: &'a mut Limits, word: &str) -> Option<&'a mut bool> {
    match word {
        "infinite" => Some(&mut limits.infinite),
        "ponder" => Some(&mut limits.ponder),
        _ => None,
    }
}

fn is_go_word(word: &str) -> bool {
    matches!(word, "searchmoves" | "infinite" | "ponder")
        || GO_NUMBERS.iter().any(|(name, _)| *name == word)
}

fn in_range(name: &str, n: i64, least: i64, most: i64) -> Result<(), String> {
    let clamped = n.clamp(least, most);
    if clamped == n {
        Ok(())
    } else {
        Err(format!("go: {name} {n} is outside {least}..={most}; {clamped} instead"))
    }
}

/// A thousand years is enough, and every sum stays in range.
const MOST_MILLIS: i64 = 1000 * 366 * 86_400 * 1000;

/// Negative clocks are empty ones.
fn millis(n: i64) -> Duration {
    Duration::from_millis(n.clamp(0, MOST_MILLIS) as u64)
}

fn number_of(name: &str, text: Option<&str>) -> Result<i64, String> {
    let text = text.ok_or_else(|| format!("go: {name} wants a number"))?;
    let is_time = name.ends_with("time") || name.ends_with("inc");
    // Some write parts of a millisecond.
    let whole = match text.split_once('.') {
        Some((whole, part)) if is_time && part.bytes().all(|b| b.is_ascii_digit()) => whole,
        _ => text,
    };
    integer(whole).ok_or_else(|| format!("go: {name} wants a number, not '{}'", quoted(text)))
}

/// A whole number; one too large for 64 bits is the largest of its sign.
pub fn integer(text: &str) -> Option<i64> {
    match text.parse::<i64>() {
        Ok(number) => Some(number),
        Err(error) => match error.kind() {
            IntErrorKind::PosOverflow => Some(i64::MAX),
            IntErrorKind::NegOverflow => Some(i64::MIN),
            _ => None,
        },
    }
}

fn parse_go_or_perft(rest: &str) -> Result<Command, CommandError> {
    match split_word(rest) {
        ("perft", depth) => parse_perft(depth).map(Command::Perft),
        _ => Ok(Command::Go(parse_go(rest.split_whitespace()))),
    }
}

fn parse_option(rest: &str) -> Result<Command, CommandError> {
    const WANTED: &str = "'name NAME value VALUE'";
    let (word, rest) = split_word(rest);
    match word {
        "name" => {}
        "" => return Err(CommandError::Missing("setoption", WANTED)),
        _ => return Err(CommandError::Unexpected("setoption", WANTED, quoted(word))),
    }
    let (name, value) = split_at_word(rest, "value");
    if name.is_empty() {
        return Err(CommandError::Missing("setoption", WANTED));
    }
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Command::SetOption { name, value: value.unwrap_or_default().to_owned() })
}

fn parse_position(rest: &str) -> Result<Command, CommandError> {
    const WANTED: &str = "'startpos' or 'fen FEN', then perhaps 'moves ..'";
    let (setup, moves) = split_at_word(rest, "moves");
    let fen = match split_word(setup) {
        ("startpos", "") => None,
        ("startpos", rest) => {
            return Err(CommandError::Unexpected("position startpos", "'moves ..'", quoted(rest)));
        }
        ("fen", "") => return Err(CommandError::Missing("position fen", "a FEN")),
        ("fen", fen) => Some(fen.to_owned()),
        ("", _) => return Err(CommandError::Missing("position", WANTED)),
        (word, _) => return Err(CommandError::Unexpected("position", WANTED, quoted(word))),
    };
    let moves = moves.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    Ok(Command::Position { fen, moves })
}

fn parse_bench(rest: &str) -> Result<Option<Depth>, CommandError> {
    if rest.is_empty() { Ok(None) } else { parse_depth("bench", rest).map(Some) }
}

fn parse_perft(rest: &str) -> Result<u32, CommandError> {
    parse_depth("perft", rest).map(|depth| depth as u32)
}

fn parse_depth(command: &'static str, text: &str) -> Result<Depth, CommandError> {
    const WANTED: &str = "a depth of 1 to 239";
    const _: () = assert!(MAX_DEPTH == 239);
    match integer(text) {
        Some(depth @ 1..=239) => Ok(depth as Depth),
        None if text.is_empty() => Err(CommandError::Missing(command, WANTED)),
        _ => Err(CommandError::Unexpected(command, WANTED, quoted(text))),
    }
}

/// OpenBench may add words of its users' own; they are not for us.
fn parse_genfens(rest: &str) -> Result<GenFens, CommandError> {
    const WANTED: &str = "'N seed S book NAME', N and S whole numbers";
    let unexpected = || match rest {
        "" => CommandError::Missing("genfens", WANTED),
        _ => CommandError::Unexpected("genfens", WANTED, quoted(rest)),
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [count, "seed", seed, ref more @ ..] = words[..] else { return Err(unexpected()) };
    let (Ok(count), Ok(seed)) = (count.parse(), seed.parse()) else { return Err(unexpected()) };
    let book = match *more {
        ["book", name, ..] if !name.eq_ignore_ascii_case("none") => Some(name.to_owned()),
        [] | ["book", _, ..] => None,
        _ => return Err(unexpected()),
    };
    Ok(GenFens { count, seed, book })
}

/// The first word and what follows it, both without blanks around them.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (text, ""),
    }
}

/// What stands before and after the first `word` that stands alone.
fn split_at_word<'a>(text: &'a str, word: &str) -> (&'a str, Option<&'a str>) {
    let text = text.trim();
    let mut rest = text;
    loop {
        let (next, after) = split_word(rest);
        if next == word {
            let before = &text[..text.len() - rest.len()];
            return (before.trim(), Some(after));
        }
        if after.is_empty() {
            return (text.trim(), None);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn command(line: &str) -> Command {
        parse(line).unwrap().unwrap()
    }

    fn go(line: &str) -> Go {
        match command(line) {
            Command::Go(go) => go,
            other => panic!("{other:?}"),
        }
    }

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn plain_commands() {
        assert_eq!(command("uci"), Command::Uci);
        assert_eq!(command("  isready \r"), Command::IsReady);
        assert_eq!(command("\tquit"), Command::Quit);
        assert_eq!(command("bench"), Command::Bench(None));
        assert_eq!(command("bench 5"), Command::Bench(Some(5)));
        assert_eq!(command("perft 3"), Command::Perft(3));
        assert_eq!(command("go perft 3"), Command::Perft(3));
        assert_eq!(command("debug on"), Command::Ignored);
        assert_eq!(parse(" \r"), Ok(None));
    }

    #[test]
    fn errors_name_the_text() {
        let error = |line| parse(line).unwrap_err().to_string();
        assert_eq!(error("foo bar"), "unknown command: foo bar");
        assert_eq!(error("UCI"), "unknown command: UCI");
        assert_eq!(error("perft"), "perft wants a depth of 1 to 239");
        assert_eq!(error("perft x"), "perft wants a depth of 1 to 239, not 'x'");
        assert_eq!(error("bench 0"), "bench wants a depth of 1 to 239, not '0'");
        assert_eq!(error("position fen"), "position fen wants a FEN");
        assert!(error("position e2e4").ends_with("not 'e2e4'"));
        assert!(error("position startpos e2e4").ends_with("not 'e2e4'"));
        assert!(error("setoption Hash 3").ends_with("not 'Hash'"));
        assert!(error("setoption name value 3").starts_with("setoption wants"));
    }

    #[test]
    fn genfens_as_openbench_asks() {
        let wanted = |line: &str| match command(line) {
            Command::GenFens(GenFens { count, seed, book }) => (count, seed, book),
            other => panic!("{other:?}"),
        };
        assert_eq!(wanted("genfens 64 seed 9 book None "), (64, 9, None));
        assert_eq!(wanted("genfens 1 seed 0"), (1, 0, None));
        let book = Some("Books/a.epd".to_owned());
        assert_eq!(wanted("genfens 8 seed 77 book Books/a.epd plies=5 x"), (8, 77, book));
        let error = |line: &str| parse(line).unwrap_err().to_string();
        assert!(error("genfens").starts_with("genfens wants 'N seed"));
        let most = "genfens 1 seed 18446744073709551615";
        assert_eq!(wanted(most), (1, u64::MAX, None));
        for rest in [
            "-1 seed 1",
            "1 seed -1",
            "1 seed 18446744073709551616",
            "5",
            "5 seed x",
            "5 seed",
            "5 seed 1 book",
            "5 seed 1 x y",
        ] {
            assert!(error(&format!("genfens {rest}")).ends_with(&format!("not '{rest}'")));
        }
    }

    #[test]
    fn options_may_contain_blanks() {
        let option = |line: &str| match command(line) {
            Command::SetOption { name, value } => (name, value),
            other => panic!("{other:?}"),
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(option("setoption name Clear Hash"), pair("Clear Hash", ""));
        assert_eq!(option("setoption name Move  Overhead value 5"), pair("Move Overhead", "5"));
        assert_eq!(
            option("setoption name SyzygyPath value C:\\my  tables;/mnt/tb 3 "),
            pair("SyzygyPath", "C:\\my  tables;/mnt/tb 3")
        );
        assert_eq!(option("setoption name Hash value"), pair("Hash", ""));
    }

    #[test]
    fn positions() {
        let position = |line: &str| match command(line) {
            Command::Position { fen, moves } => (fen, moves.join(" ")),
            other => panic!("{other:?}"),
        };
        assert_eq!(position("position startpos"), (None, String::new()));
        assert_eq!(position("position startpos moves e2e4 e7e5").1, "e2e4 e7e5");
        let (fen, moves) = position("position fen 8/8/8/8/8/3k4/2p5/2K5 w - - 0 1  moves c1b2");
        assert_eq!(fen.as_deref(), Some("8/8/8/8/8/3k4/2p5/2K5 w - - 0 1"));
        assert_eq!(moves, "c1b2");
    }

    #[test]
    fn go_takes_all_fields_in_any_order() {
        let go = go("go binc 4 infinite searchmoves e2e4 d2d4 wtime 1 mate 3 ponder btime 2 \
             nodes 9 winc 3 depth 7 movestogo 40 movetime 50");
        assert_eq!(
            go.limits,
            Limits {
                depth: Some(7),
                nodes: Some(9),
                mate: Some(3),
                move_time: Some(ms(50)),
                time: [Some(ms(1)), Some(ms(2))],
                increment: [ms(3), ms(4)],
                moves_to_go: Some(40),
                infinite: true,
                ponder: true,
            }
        );
        assert_eq!(go.search_moves, ["e2e4", "d2d4"]);
        assert!(go.notes.is_empty());
    }

    #[test]
    fn go_reports_garbage_and_goes_on() {
        let bad = go("go wtime abc btime depth 3 foo nodes");
        assert_eq!(bad.limits, Limits::to_depth(3));
        assert_eq!(
            bad.notes,
            [
                "go: wtime wants a number, not 'abc'",
                "go: btime wants a number",
                "go: 'foo' is not understood",
                "go: nodes wants a number",
            ]
        );
    }

    #[test]
    fn go_reads_parts_of_a_millisecond() {
        let odd = go("go wtime 60000.5 btime 59999. movetime 1e3 winc -0.5 depth 7.5");
        assert_eq!(odd.limits.time, [Some(ms(60_000)), Some(ms(59_999))]);
        assert_eq!((odd.limits.move_time, odd.limits.increment[0]), (None, ms(0)));
        let refused = ["movetime wants a number, not '1e3'", "depth wants a number, not '7.5'"];
        assert_eq!(odd.notes, refused.map(|note| format!("go: {note}")));
    }

    #[test]
    fn go_puts_numbers_into_range() {
        let odd = go("go wtime -50 winc -1 movestogo 0 depth 0 nodes -7 mate 99999999999999999999");
        assert_eq!(odd.limits.time[0], Some(Duration::ZERO));
        assert_eq!(odd.limits.increment[0], Duration::ZERO);
        assert_eq!(odd.limits.moves_to_go, None);
        assert_eq!((odd.limits.depth, odd.limits.nodes), (Some(1), Some(1)));
        assert_eq!(odd.limits.mate, Some(120));
        assert_eq!(odd.notes.len(), 3, "{:?}", odd.notes);
        let odd = go("go movetime -5 movestogo -1");
        assert_eq!((odd.limits.move_time, odd.limits.moves_to_go), (Some(ms(0)), None));
        assert_eq!(odd.notes.len(), 2, "{:?}", odd.notes);
    }

    fn word() -> impl Strategy<Value = String> {
        let known = prop::sample::select(vec![
            "go",
            "position",
            "setoption",
            "name",
            "value",
            "fen",
            "startpos",
            "moves",
            "wtime",
            "depth",
            "searchmoves",
            "infinite",
            "perft",
            "bench",
            "-1",
            "99999999999999999999",
            "e2e4",
            "movestogo",
            "",
            " ",
        ]);
        prop_oneof![known.prop_map(str::to_owned), any::<String>()]
    }

    proptest! {
        #[test]
        fn no_text_panics(line in any::<String>()) {
            let _ = parse(&line);
        }

        #[test]
        fn no_words_panic(words in prop::collection::vec(word(), 0..12)) {
            let line = words.join(" ");
            if let Err(error) = parse(&line) {
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }
}
