//! The searcher under test: the classic one, without table and history.

use std::sync::Arc;
use std::time::Duration;
use tacet::board::Position;
use tacet::score::Depth;
use tacet::search::null_move::Scheme;
use tacet::search::table::Table;
use tacet::search::{self, ClassicOptions, Outcome, SearchJob, Searcher};
use tacet::time::{Clock, Limits, TimeManager};

/// A clock that stands still.
struct Still;

impl Clock for Still {
    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

/// The classic searcher with a scheme, to a depth, by plain recursion.
pub fn classic(scheme: &str, root: &Position, depth: Depth) -> Outcome {
    let options = ClassicOptions { table: false, history: false, ..ClassicOptions::default() };
    classic_with(options, scheme, root, depth)
}

/// The same with options.
pub fn classic_with(
    options: ClassicOptions,
    scheme: &str,
    root: &Position,
    depth: Depth,
) -> Outcome {
    let mut job = SearchJob::new(root.clone(), Searcher::Classic(options));
    job.scheme = Scheme::named(scheme).unwrap_or_else(|| panic!("no scheme is named {scheme}"));
    let limits = Limits { depth: Some(depth), ..Limits::default() };
    let time = TimeManager::new(Arc::new(Still), limits, root.turn(), Duration::ZERO);
    let table = Table::new(1).expect("a table of 1 MB");
    search::run(&job, &table, &time, &mut |_| ())
}
