//! The UCI protocol: the loop between the GUI's lines and the search's events.
//!
//! A reader thread sends the lines of the input into a channel; the [`Controller`] waits for them
//! and for the search at the same time, so that `isready` is answered at once even while the
//! engine thinks. Search threads never print and never read. Each `go` is answered by exactly one
//! `bestmove`: a command that needs the engine at rest stops the search first and prints its
//! answer.

pub mod bench;
pub mod command;
pub mod options;
pub mod output;
pub mod schemes;

use std::io::{self, BufRead, ErrorKind, Write};
use std::ops::ControlFlow;
use std::thread;

use crossbeam_channel::{Receiver, bounded, select, unbounded};

use crate::board::perft::divide;
use crate::board::{Color, PackedMove};
use crate::engine::{Engine, Event};
use crate::eval::State;
use crate::score::Depth;
use crate::time::Limits;
use command::{Command, Go};
use output::{Reporter, Style};

const HELP: &str = "\
Tacet speaks UCI, the protocol between chess engines and their boards:
  uci, isready, ucinewgame, quit
  setoption name NAME value VALUE     'uci' lists the options
  position startpos|fen FEN [moves M ..]
  go [depth N] [nodes N] [movetime MS] [wtime MS] [btime MS] [winc MS] [binc MS] [movestogo N]
     [mate N] [searchmoves M ..] [infinite] [ponder]
  stop, ponderhit
and beside it:
  d             show the position
  eval          show its static evaluation
  perft N       count the positions N plies on
  bench [N]     search fixed positions to depth N; the node count is the version's signature
  schemes       show the null-move schemes
  help          show this";

/// Speaks UCI until `quit` or the end of input. A bounded search still running at the end of input
/// finishes and answers. An output that nobody reads any more ends the loop without complaint.
///
/// # Errors
/// If output cannot be written, or there is no memory for the table.
pub fn run(input: impl BufRead + Send + 'static, output: impl Write) -> io::Result<()> {
    let mut controller = Controller::new(output, Style::Uci)?;
    let lines = read_lines(input)?;
    match controller.serve(&lines) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        ended => ended,
    }
}

/// Reads lines on a thread of its own. What is not UTF-8 is read as replacement characters.
fn read_lines(mut input: impl BufRead + Send + 'static) -> io::Result<Receiver<String>> {
    let (sender, receiver) = bounded(64);
    let read = move || {
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
            line.clear();
        }
    };
    thread::Builder::new().name("reader".into()).spawn(read)?;
    Ok(receiver)
}

/// An engine, and the output to which it speaks.
pub struct Controller<W: Write> {
    engine: Engine,
    events: Receiver<Event>,
    output: W,
    style: Style,
    search: Option<Search>,
}

/// The search that runs.
struct Search {
    reporter: Reporter,
    limits: Limits,
    turn: Color,
}

impl<W: Write> Controller<W> {
    /// A new engine that speaks to `output`.
    ///
    /// # Errors
    /// If there is no memory for the table.
    pub fn new(output: W, style: Style) -> io::Result<Controller<W>> {
        let (sender, events) = unbounded();
        let engine = Engine::new(sender).map_err(io::Error::other)?;
        Ok(Controller { engine, events, output, style, search: None })
    }

    /// The engine, to be set up before a search.
    pub fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Obeys the lines until `quit` or their end.
    fn serve(&mut self, lines: &Receiver<String>) -> io::Result<()> {
        loop {
            select! {
                recv(lines) -> line => match line {
                    Ok(line) => if self.obey(&line)?.is_break() {
                        return self.stop_search();
                    },
                    Err(_) => return self.finish(),
                },
                recv(self.events) -> event => if let Ok(event) = event {
                    self.show(&event)?;
                },
            }
        }
    }

    /// Starts a search and shows what it says until it is over.
    ///
    /// # Errors
    /// If output cannot be written.
    pub fn search(&mut self, go: &Go) -> io::Result<()> {
        if self.style == Style::Table {
            self.say(output::TABLE_HEADING)?;
        }
        self.go(go)?;
        self.await_answer()
    }

    fn obey(&mut self, line: &str) -> io::Result<ControlFlow<()>> {
        log::debug!("{}", line.trim_end());
        match command::parse(line) {
            Ok(Some(Command::Quit)) => return Ok(ControlFlow::Break(())),
            Ok(Some(command)) => self.execute(command)?,
            Ok(None) => {}
            Err(error) => self.remark(&error.to_string())?,
        }
        Ok(ControlFlow::Continue(()))
    }

    fn execute(&mut self, command: Command) -> io::Result<()> {
        match command {
            Command::Uci => self.introduce(),
            Command::IsReady => self.say("readyok"),
            Command::NewGame => {
                self.stop_search()?;
                self.engine.new_game();
                Ok(())
            }
            Command::SetOption { name, value } => {
                self.stop_search()?;
                match options::set(&mut self.engine, &name, &value) {
                    Ok(note) => note.map_or(Ok(()), |note| self.remark(&note)),
                    Err(reason) => self.remark(&reason),
                }
            }
            Command::Position { fen, moves } => {
                self.stop_search()?;
                let set = self.engine.set_position(fen.as_deref(), &moves);
                set.or_else(|reason| self.remark(&reason))
            }
            Command::Go(go) => self.go(&go),
            Command::Stop => {
                self.engine.stop();
                Ok(())
            }
            Command::PonderHit => {
                self.ponder_hit();
                Ok(())
            }
            Command::Display => self.say(&self.engine.position().to_string()),
            Command::Eval => self.say(&evaluation(&self.engine)),
            Command::Bench(depth) => self.bench(depth),
            Command::Perft(depth) => self.perft(depth, true),
            Command::Schemes => self.say(&schemes::table()),
            Command::Help => self.say(HELP),
            Command::Ignored | Command::Quit => Ok(()),
        }
    }

    fn introduce(&mut self) -> io::Result<()> {
        self.say(&format!("id name Tacet {}", env!("CARGO_PKG_VERSION")))?;
        self.say("id author the Tacet authors")?;
        for option in &options::OPTIONS {
            self.say(&option.to_string())?;
        }
        self.say("uciok")
    }

    fn go(&mut self, go: &Go) -> io::Result<()> {
        self.stop_search()?;
        for note in &go.notes {
            self.remark(note)?;
        }
        let search_moves = self.search_moves(&go.search_moves)?;
        let root = self.engine.position().clone();
        let turn = root.turn();
        let reporter = Reporter::new(root, self.engine.options().chess960, self.style);
        self.engine.go(go.limits.clone(), search_moves);
        self.search = Some(Search { reporter, limits: go.limits.clone(), turn });
        Ok(())
    }

    /// The legal moves among those wanted; the others are remarked on.
    fn search_moves(&mut self, wanted: &[String]) -> io::Result<Vec<PackedMove>> {
        let mut legal = Vec::new();
        for text in wanted {
            match self.engine.position().parse_uci(text) {
                Ok(m) if legal.contains(&m) => {}
                Ok(m) => legal.push(m),
                Err(error) => self.remark(&format!("searchmoves: {error}; ignored"))?,
            }
        }
        Ok(legal)
    }

    fn ponder_hit(&mut self) {
        self.engine.ponder_hit();
        if let Some(search) = &mut self.search {
            search.limits.ponder = false;
        }
    }

    /// Searches the bench's positions with the searcher and scheme that are set.
    ///
    /// # Errors
    /// If output cannot be written, or there is no memory for the table.
    pub fn bench(&mut self, depth: Option<Depth>) -> io::Result<()> {
        self.stop_search()?;
        let options = self.engine.options();
        let (searcher, scheme) = (options.searcher, options.scheme());
        bench::run(depth.unwrap_or(bench::DEPTH), searcher, scheme, &mut self.output)
    }

    /// Counts the positions `depth` plies on, for each move if `divided`.
    ///
    /// # Errors
    /// If output cannot be written.
    pub fn perft(&mut self, depth: u32, divided: bool) -> io::Result<()> {
        self.stop_search()?;
        let begun = std::time::Instant::now();
        let root = self.engine.position().clone();
        let chess960 = self.engine.options().chess960 || root.needs_chess960();
        let mut total = 0;
        for (m, count) in divide(&root, depth) {
            total += count;
            if divided {
                self.say(&format!("{}: {count}", root.uci(m, chess960)))?;
            }
        }
        self.say(&format!("{total} nodes {} nps", output::per_second(total, begun.elapsed())))
    }

    /// Shows the static evaluation of the position.
    ///
    /// # Errors
    /// If output cannot be written.
    pub fn eval(&mut self) -> io::Result<()> {
        self.say(&evaluation(&self.engine))
    }

    /// The input is over: waits for a search that ends by itself, stops any other.
    fn finish(&mut self) -> io::Result<()> {
        match &self.search {
            Some(search) if search.limits.is_bounded(search.turn) => self.await_answer(),
            _ => self.stop_search(),
        }
    }

    /// Stops the search, if one runs, and shows its answer.
    fn stop_search(&mut self) -> io::Result<()> {
        self.engine.stop();
        self.await_answer()
    }

    fn await_answer(&mut self) -> io::Result<()> {
        while self.search.is_some() {
            match self.events.recv() {
                Ok(event) => self.show(&event)?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    fn show(&mut self, event: &Event) -> io::Result<()> {
        let Some(search) = &mut self.search else { return Ok(()) };
        match event {
            Event::Info(info, elapsed) => {
                let line = search.reporter.info(info, *elapsed);
                self.say(&line)
            }
            Event::Done(answer) => {
                let lines = search.reporter.answer(answer);
                self.search = None;
                lines.iter().try_for_each(|line| self.say(line))
            }
        }
    }

    /// Says something that UCI has no form for.
    fn remark(&mut self, text: &str) -> io::Result<()> {
        self.say(&format!("info string {text}"))
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.output, "{text}")?;
        self.output.flush()
    }
}

fn evaluation(engine: &Engine) -> String {
    let position = engine.position();
    let score = State::new(position).evaluate(position);
    let white = if position.turn().is_white() { score } else { -score };
    format!("evaluation {} ({} to move, seen by White)", output::pawns(white), position.turn())
}
