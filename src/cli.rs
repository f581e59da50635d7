//! The command line. Without arguments Tacet speaks UCI, since some GUIs cannot pass any. Arguments
//! that are lines of UCI, blanks included, are obeyed in turn: so OpenBench speaks to engines.

mod packaging;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use clap::error::ErrorKind as Usage;
use clap::{Args, CommandFactory, Parser, Subcommand};
use packaging::{CompletionsArgs, ManArgs};

use crate::lab::LabError;
use crate::lab::compare::{self, CompareArgs};
use crate::lab::duel::{self, DuelArgs};
use crate::lab::mine::{self, MineArgs};
use crate::lab::suite::{self, SuiteArgs};
use crate::lab::zugzwang::{self, ZugzwangArgs};
use crate::score::Depth;
use crate::search::Searcher;
use crate::search::null_move::{SCHEMES, Scheme};
use crate::uci::options::{self, Note};
use crate::uci::output::Style;
use crate::uci::{self, Controller, command, schemes};

/// A UCI chess engine and null-move laboratory.
#[derive(Parser)]
#[command(name = "tacet", version, long_version = packaging::version(), about)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

/// Every subcommand: a variant here and an arm in [`Command::run`].
#[derive(Subcommand)]
enum Command {
    /// Speak UCI on standard input and output (also without any subcommand)
    Uci,
    /// Search a position: `tacet go depth 12`
    Go(GoArgs),
    /// Search fixed positions; the last line is 'N nodes N nps'
    Bench(BenchArgs),
    /// Count the positions some plies on
    Perft(PerftArgs),
    /// Show the static evaluation of a position
    Eval(EvalArgs),
    /// Show the null-move schemes
    Schemes,
    Suite(SuiteArgs),
    Compare(CompareArgs),
    Duel(DuelArgs),
    Zugzwang(ZugzwangArgs),
    Mine(MineArgs),
    #[cfg(feature = "tune")]
    Ablate(crate::lab::ablate::AblateArgs),
    #[cfg(feature = "tune")]
    Spsa(crate::lab::spsa::SpsaArgs),
    /// Let the engine play itself and store the games for training
    #[cfg(feature = "train")]
    Datagen(crate::train::datagen::DatagenArgs),
    /// Fit the classical evaluation to stored games and print its tables
    #[cfg(feature = "train")]
    TuneEval(crate::train::texel::TuneArgs),
    /// Train a network for the evaluation on stored games
    #[cfg(feature = "train")]
    Train(crate::train::trainer::TrainArgs),
    /// Say what networks are worth on games that they have not learned from
    #[cfg(feature = "train")]
    Judge(crate::train::trainer::judge::JudgeArgs),
    /// Fit the model of winning chances to stored games and print it
    #[cfg(feature = "train")]
    FitWdl(crate::train::wdl::FitWdlArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

#[derive(Args)]
struct GoArgs {
    /// UCI's words: depth N, nodes N, movetime MS, wtime MS, mate N, searchmoves M .., ...
    #[arg(value_name = "WORDS", allow_negative_numbers = true)]
    words: Vec<String>,
    #[command(flatten)]
    root: RootArgs,
    #[command(flatten)]
    engine: EngineArgs,
}

#[derive(Args)]
struct BenchArgs {
    /// Depth of each search in plies
    #[arg(long, value_parser = clap::value_parser!(Depth).range(1..240))]
    depth: Option<Depth>,
    #[command(flatten)]
    engine: EngineArgs,
}

#[derive(Args)]
struct PerftArgs {
    /// Plies
    #[arg(value_parser = clap::value_parser!(u32).range(1..240))]
    depth: u32,
    /// Show the count of each move
    #[arg(long)]
    divide: bool,
    #[command(flatten)]
    root: RootArgs,
}

#[derive(Args)]
struct EvalArgs {
    #[command(flatten)]
    root: RootArgs,
}

/// The position that a command is about.
#[derive(Args)]
struct RootArgs {
    /// The position [default: the start position]
    #[arg(long)]
    fen: Option<String>,
    /// Moves played from there, in UCI form: --moves "e2e4 e7e5"
    #[arg(long, value_name = "MOVES")]
    moves: Option<String>,
}

/// How the engine is set up.
#[derive(Args)]
struct EngineArgs {
    /// Set a UCI option; may be repeated
    #[arg(short = 'o', value_name = "NAME=VALUE", value_parser = parse_assignment)]
    options: Vec<(String, String)>,
    /// The null-move scheme; 'tacet schemes' lists them
    #[arg(long, value_name = "NAME", value_parser = parse_scheme)]
    null_move: Option<&'static Scheme>,
    /// The searcher: playing, tactical or classic
    #[arg(long, value_name = "NAME", value_parser = parse_searcher)]
    searcher: Option<Searcher>,
}

/// Runs what the command line asks for. Mistakes get one line on stderr and exit code 2, other
/// failures exit code 1; output that nobody reads any more is no failure.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let done = match script(&arguments) {
        Some(lines) => obey(&lines),
        None => match Cli::try_parse_from(arguments) {
            Ok(cli) => cli.command.unwrap_or(Command::Uci).run(),
            Err(error) => return explain(&error),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Io(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Io(error)) => fail(1, &error.to_string()),
        Err(Failure::Usage(reason)) => fail(2, &reason),
        Err(Failure::Lab(error)) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(Failure::Lab(error)) => fail(error.exit_status(), &error.to_string()),
    }
}

/// Why a command did not do what was asked.
enum Failure {
    /// What was typed makes no sense.
    Usage(String),
    /// Output could not be written, or memory could not be had.
    Io(io::Error),
    /// An experiment could not be done.
    Lab(LabError),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Failure {
        Failure::Lab(error)
    }
}

#[cfg(feature = "train")]
impl From<crate::train::TrainError> for Failure {
    fn from(error: crate::train::TrainError) -> Failure {
        match error {
            crate::train::TrainError::Output(error) => Failure::Io(error),
            bad if bad.is_bad_input() => Failure::Usage(bad.to_string()),
            other => Failure::Io(io::Error::other(other.to_string())),
        }
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Failure {
        Failure::Usage(reason)
    }
}

impl Command {
    fn run(self) -> Result<(), Failure> {
        match self {
            Command::Uci => Ok(uci::run(io::BufReader::new(io::stdin()), io::stdout())?),
            Command::Go(args) => go(&args),
            Command::Bench(args) => bench(&args),
            Command::Perft(args) => perft(&args),
            Command::Eval(args) => eval(&args),
            Command::Schemes => Ok(writeln!(io::stdout(), "{}", schemes::table())?),
            Command::Suite(args) => Ok(suite::run(&args)?),
            Command::Compare(args) => Ok(compare::run(args)?),
            Command::Duel(args) => Ok(duel::run(&args)?),
            Command::Zugzwang(args) => Ok(zugzwang::run(&args)?),
            Command::Mine(args) => Ok(mine::run(&args)?),
            #[cfg(feature = "tune")]
            Command::Ablate(args) => Ok(crate::lab::ablate::run(&args)?),
            #[cfg(feature = "tune")]
            Command::Spsa(args) => Ok(crate::lab::spsa::run(&args)?),
            #[cfg(feature = "train")]
            Command::Datagen(args) => Ok(crate::train::datagen::run(&args)?),
            #[cfg(feature = "train")]
            Command::TuneEval(args) => Ok(crate::train::texel::run(&args, &mut io::stdout())?),
            #[cfg(feature = "train")]
            Command::Train(args) => Ok(crate::train::trainer::run(&args)?),
            #[cfg(feature = "train")]
            Command::Judge(args) => {
                Ok(crate::train::trainer::judge::run(&args, &mut io::stdout())?)
            }
            #[cfg(feature = "train")]
            Command::FitWdl(args) => Ok(crate::train::wdl::run(&args, &mut io::stdout())?),
            Command::Completions(args) => Ok(packaging::completions(&args, Cli::command())?),
            Command::Man(args) => Ok(packaging::man(&args, Cli::command())?),
        }
    }
}

/// The arguments as lines of UCI, if the first is one of several words.
fn script(arguments: &[OsString]) -> Option<Vec<Cow<'_, str>>> {
    let lines: Vec<Cow<str>> =
        arguments.iter().skip(1).map(|argument| argument.to_string_lossy()).collect();
    let is_line = |line: &str| line.trim().contains(' ') && command::parse(line).is_ok();
    lines.first().is_some_and(|line| is_line(line)).then_some(lines)
}

fn obey(lines: &[Cow<'_, str>]) -> Result<(), Failure> {
    Ok(Controller::new(io::stdout(), Style::Uci)?.obey_in_turn(lines)?)
}

fn go(args: &GoArgs) -> Result<(), Failure> {
    let style = if io::stdout().is_terminal() { Style::Table } else { Style::Uci };
    let go = command::parse_go(args.words.iter().flat_map(|words| words.split_whitespace()));
    if let Some(note) = go.notes.first() {
        return Err(Failure::Usage(note.clone()));
    }
    if go.limits.ponder {
        return Err(Failure::Usage("go: nobody can say ponderhit here".to_owned()));
    }
    let mut controller = Controller::new(io::stdout(), style)?;
    args.engine.apply(&mut controller)?;
    args.root.apply(&mut controller)?;
    for m in &go.search_moves {
        let read = controller.engine_mut().position().parse_uci(m);
        read.map_err(|error| Failure::Usage(format!("searchmoves: {error}")))?;
    }
    Ok(controller.search(&go)?)
}

fn bench(args: &BenchArgs) -> Result<(), Failure> {
    let mut controller = Controller::new(io::stdout(), Style::Uci)?;
    args.engine.apply(&mut controller)?;
    Ok(controller.bench(args.depth)?)
}

fn perft(args: &PerftArgs) -> Result<(), Failure> {
    let mut controller = Controller::new(io::stdout(), Style::Uci)?;
    args.root.apply(&mut controller)?;
    Ok(controller.perft(args.depth, args.divide)?)
}

fn eval(args: &EvalArgs) -> Result<(), Failure> {
    let mut controller = Controller::new(io::stdout(), Style::Uci)?;
    args.root.apply(&mut controller)?;
    Ok(controller.eval()?)
}

impl RootArgs {
    fn apply<W: Write>(&self, controller: &mut Controller<W>) -> Result<(), String> {
        let moves: Vec<&str> =
            self.moves.iter().flat_map(|moves| moves.split_whitespace()).collect();
        controller.engine_mut().set_position(self.fen.as_deref(), &moves)
    }
}

impl EngineArgs {
    fn apply<W: Write>(&self, controller: &mut Controller<W>) -> Result<(), String> {
        let engine = controller.engine_mut();
        for (name, value) in &self.options {
            if let Some(Note::Clamped(note)) = options::set(engine, name, value)? {
                return Err(note);
            }
        }
        let set = engine.options_mut();
        set.scheme = self.null_move.or(set.scheme);
        set.searcher = self.searcher.unwrap_or(set.searcher);
        Ok(())
    }
}

fn parse_assignment(text: &str) -> Result<(String, String), String> {
    // A button has no value.
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn parse_scheme(name: &str) -> Result<&'static Scheme, String> {
    let names = || SCHEMES.iter().map(|scheme| scheme.name).collect::<Vec<_>>().join(", ");
    Scheme::named(name).ok_or_else(|| format!("not one of {}", names()))
}

fn parse_searcher(name: &str) -> Result<Searcher, String> {
    let names = || Searcher::ALL.map(|(name, _)| name).join(", ");
    Searcher::named(name).ok_or_else(|| format!("not one of {}", names()))
}

/// Help and version go to stdout as clap has them; of a mistake the paragraph that names it is
/// enough, as one line.
fn explain(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), Usage::DisplayHelp | Usage::DisplayVersion) {
        return match error.print() {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => fail(1, &error.to_string()),
            _ => ExitCode::SUCCESS,
        };
    }
    let text = error.to_string();
    let paragraph = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    let line = paragraph.collect::<Vec<_>>().join(" ");
    fail(2, line.trim_start_matches("error: "))
}

fn fail(code: u8, reason: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "tacet: {reason}");
    ExitCode::from(code)
}
