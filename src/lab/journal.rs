//! The journal of a long run: one line of JSON per result, written as the results come.
//!
//! The first line says what the results depend on. A later run with the same first line takes the
//! results over and goes on; one with another is refused, since mixed results mean nothing. A run
//! may be killed at any moment: a line without its end is dropped.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::LabError;

/// How long results may sit in the system's memory, where only a power cut can lose them.
const SYNC_EVERY: Duration = Duration::from_secs(2);

/// A journal open for writing, locked against a second run.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    synced: Instant,
}

impl Journal {
    /// Opens the journal at `path`, or begins it, and returns the results already in it.
    ///
    /// `header` is what the results depend on. With `fresh`, what was in the file is forgotten.
    ///
    /// # Errors
    /// If another run has the file open, if it was made with another header, if a line is damaged,
    /// if it is no regular file, or if it cannot be read or written.
    pub fn open<R: DeserializeOwned>(
        path: &Path,
        header: &impl Serialize,
        fresh: bool,
    ) -> Result<(Journal, Vec<R>), LabError> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(LabError::writing(path))?;
        if !file.metadata().is_ok_and(|data| data.is_file()) {
            return Err(LabError::Usage(format!("{} is not a regular file", path.display())));
        }
        lock(&file, path)?;
        if fresh {
            file.set_len(0).map_err(LabError::writing(path))?;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(LabError::reading(path))?;
        let complete = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        // Read before anything is cut off: it may be somebody else's file.
        let results = if complete == 0 {
            let own = serde_json::to_vec(header).unwrap_or_default();
            if !own.starts_with(&bytes) {
                return Err(LabError::Usage(format!(
                    "{} is no journal; choose another --out, or --fresh to begin anew",
                    path.display()
                )));
            }
            Vec::new()
        } else {
            let header = serde_json::to_value(header).unwrap_or_default();
            read_results(path, &bytes[..complete], &header)?
        };
        file.set_len(complete as u64).map_err(LabError::writing(path))?;
        file.seek(SeekFrom::Start(complete as u64)).map_err(LabError::writing(path))?;
        let mut journal = Journal { path: path.to_owned(), file, synced: Instant::now() };
        if complete == 0 {
            journal.append(header)?;
        }
        Ok((journal, results))
    }

    /// Writes a result.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append(&mut self, result: &impl Serialize) -> Result<(), LabError> {
        let mut line = serde_json::to_vec(result)
            .map_err(|error| LabError::writing(&self.path)(error.into()))?;
        line.push(b'\n');
        // In one piece, so that a kill leaves all of it or a line without its end.
        self.file.write_all(&line).map_err(LabError::writing(&self.path))?;
        if self.synced.elapsed() >= SYNC_EVERY {
            self.file.sync_data().map_err(LabError::writing(&self.path))?;
            self.synced = Instant::now();
        }
        Ok(())
    }
}

fn lock(file: &File, path: &Path) -> Result<(), LabError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(LabError::Usage(format!("another run is writing {}", path.display())))
        }
        // Some file systems know no locks; that is no reason not to measure.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn read_results<R: DeserializeOwned>(
    path: &Path,
    bytes: &[u8],
    header: &Value,
) -> Result<Vec<R>, LabError> {
    let mut lines = bytes.split(|&byte| byte == b'\n').enumerate();
    let found = lines.next().map_or(&[][..], |(_, line)| line);
    let found: Value = serde_json::from_slice(found).map_err(|error| damaged(path, 1, &error))?;
    if found != *header {
        return Err(LabError::Usage(format!(
            "{} was made with other settings ({}); choose another --out, or --fresh to begin anew",
            path.display(),
            differences(&found, header).join(", ")
        )));
    }
    lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(index, line)| {
            serde_json::from_slice(line).map_err(|error| damaged(path, index + 1, &error))
        })
        .collect()
}

fn damaged(path: &Path, line: usize, error: &serde_json::Error) -> LabError {
    let reason = format!("not a result ({error}); --fresh begins anew");
    LabError::Line { file: path.to_owned(), line, reason }
}

/// What differs between two headers: `depth: 8 there, 9 here`.
fn differences(there: &Value, here: &Value) -> Vec<String> {
    let (Some(old), Some(new)) = (there.as_object(), here.as_object()) else {
        return vec!["it is no journal of this kind".to_owned()];
    };
    let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
    keys.into_iter()
        .filter(|&key| old.get(key) != new.get(key))
        .map(|key| format!("{key}: {} there, {} here", text(old.get(key)), text(new.get(key))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Opened = Result<(Journal, Vec<(u32, String)>), LabError>;

    #[derive(Serialize)]
    struct Header {
        depth: u32,
        table: u32,
    }

    const HEADER: Header = Header { depth: 8, table: 64 };

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tacet-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    fn write_three(path: &Path) {
        let (mut journal, old): (_, Vec<(u32, String)>) =
            Journal::open(path, &HEADER, false).expect("opens");
        assert!(old.is_empty());
        for n in 0..3u32 {
            journal.append(&(n, "text")).expect("writes");
        }
    }

    #[test]
    fn results_come_back_and_a_torn_line_is_dropped() {
        let path = scratch("torn");
        write_three(&path);
        let whole = std::fs::read(&path).expect("reads");
        let head = whole.iter().position(|&b| b == b'\n').expect("has lines") + 1;
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).expect("writes");
            let opened: Opened = Journal::open(&path, &HEADER, false);
            let (mut journal, results) = opened.expect("opens");
            let ends = whole[..length].iter().filter(|&&b| b == b'\n').count();
            assert_eq!(results.len(), ends.saturating_sub(1), "cut at {length} of {head}..");
            for n in results.len()..3 {
                journal.append(&(n, "text")).expect("writes");
            }
            drop(journal);
            assert_eq!(std::fs::read(&path).expect("reads"), whole);
        }
        std::fs::remove_file(&path).expect("is removed");
    }

    #[test]
    fn other_settings_are_refused_unless_fresh() {
        let path = scratch("settings");
        write_three(&path);
        let other = Header { depth: 9, table: 64 };
        let refused: Opened = Journal::open(&path, &other, false);
        let message = refused.expect_err("is refused").to_string();
        assert!(message.contains("depth: 8 there, 9 here"), "{message}");
        assert!(!message.contains("table"), "{message}");
        let fresh: Opened = Journal::open(&path, &other, true);
        assert!(fresh.expect("opens").1.is_empty());
        std::fs::remove_file(&path).expect("is removed");
    }

    #[test]
    fn a_file_of_another_kind_is_refused_and_left_as_it_was() {
        let path = scratch("foreign");
        for foreign in ["{\"result\": 1}", "one\ntwo\nthree without an end"] {
            std::fs::write(&path, foreign).expect("writes");
            let opened: Opened = Journal::open(&path, &HEADER, false);
            assert!(opened.is_err(), "{foreign}");
            assert_eq!(std::fs::read_to_string(&path).expect("reads"), foreign);
        }
        std::fs::remove_file(&path).expect("is removed");
    }

    #[test]
    fn damage_and_a_second_run_are_refused() {
        let path = scratch("damage");
        write_three(&path);
        let first: Opened = Journal::open(&path, &HEADER, false);
        let second: Opened = Journal::open(&path, &HEADER, false);
        assert!(second.expect_err("is refused").to_string().contains("another run"));
        drop(first);
        let text = std::fs::read_to_string(&path).expect("reads").replace("[1,", "[x,");
        std::fs::write(&path, text).expect("writes");
        let damaged: Opened = Journal::open(&path, &HEADER, false);
        assert!(damaged.expect_err("is refused").to_string().contains("line 3: not a result"));
        std::fs::remove_file(&path).expect("is removed");
    }
}
