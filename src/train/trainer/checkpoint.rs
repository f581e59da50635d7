//! What a training has come to, in memory and in the file from which it goes on.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `TACETCKP` |
//! | 8 | a fingerprint of the options and the data |
//! | 4, 4 | epochs done, steps done |
//! | 8 | the best held-out loss |
//! | 4 × 2 × numbers | the model, the best model |
//! | 4 × 2 × numbers learned | AdamW's two memories |
//!
//! All little-endian; numbers are kept to the bit, so that a training that was interrupted ends as
//! one that was not.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::adam::{Adam, MEMORY};
use super::model::{LENGTH, Model};
use crate::train::TrainError;

const MAGIC: [u8; 8] = *b"TACETCKP";
const HEADER: usize = 32;
const FILE: usize = HEADER + 4 * 2 * (LENGTH + MEMORY);

/// What a training has come to.
pub struct Course {
    /// Epochs done.
    pub epochs: u32,
    /// The model as it is.
    pub model: Model,
    /// What is remembered of its slopes.
    pub adam: Adam,
    /// The best held-out loss, and its model.
    pub best: (f64, Model),
}

impl Course {
    /// Where a training begins.
    pub fn new(model: Model) -> Course {
        let best = (f64::INFINITY, model.clone());
        Course { epochs: 0, model, adam: Adam::new(), best }
    }

    /// Writes it, in one piece: a kill leaves the old file or the new.
    pub fn save(&self, path: &Path, fingerprint: u64) -> Result<(), TrainError> {
        super::replace(path, &self.to_bytes(fingerprint))
    }

    /// Reads what was written for the training of this fingerprint; none if nothing was.
    pub fn load(path: &Path, fingerprint: u64) -> Result<Option<Course>, TrainError> {
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(TrainError::file(path))?,
        };
        match Course::read(&bytes, fingerprint) {
            Ok(course) => Ok(Some(course)),
            Err(reason) => Err(TrainError::Checkpoint { path: path.to_path_buf(), reason }),
        }
    }

    fn to_bytes(&self, fingerprint: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FILE);
        bytes.extend(MAGIC);
        bytes.extend(fingerprint.to_le_bytes());
        bytes.extend(self.epochs.to_le_bytes());
        bytes.extend(self.adam.steps.to_le_bytes());
        bytes.extend(self.best.0.to_le_bytes());
        let parts = [
            self.model.numbers(),
            self.best.1.numbers(),
            self.adam.means.as_slice(),
            self.adam.squares.as_slice(),
        ];
        bytes.extend(parts.concat().iter().flat_map(|number| number.to_le_bytes()));
        bytes
    }

    fn read(bytes: &[u8], fingerprint: u64) -> Result<Course, &'static str> {
        if !bytes.starts_with(&MAGIC) || bytes.len() != FILE {
            return Err("no checkpoint of a training of this version");
        }
        let (header, body) = bytes.split_at(HEADER);
        let (fields, _) = header.as_chunks::<4>();
        let long = |first: usize| {
            let [low, high] = [fields[first], fields[first + 1]].map(u32::from_le_bytes);
            u64::from(low) | u64::from(high) << 32
        };
        if long(2) != fingerprint {
            return Err("a checkpoint of a training with other options or data");
        }
        let numbers: Vec<f32> =
            body.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        let (models, memories) = numbers.split_at(2 * LENGTH);
        let (model, best) = models.split_at(LENGTH);
        let (means, squares) = memories.split_at(MEMORY);
        let steps = i32::from_le_bytes(fields[5]);
        Ok(Course {
            epochs: u32::from_le_bytes(fields[4]),
            model: Model::of_numbers(model.to_vec()),
            adam: Adam { means: means.to_vec(), squares: squares.to_vec(), steps },
            best: (f64::from_bits(long(6)), Model::of_numbers(best.to_vec())),
        })
    }
}

/// Where the checkpoint of a network's training is.
pub fn beside(network: &Path) -> PathBuf {
    network.with_added_extension("checkpoint")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::random::Random;

    fn course() -> Course {
        let mut random = Random::new(3);
        let mut course = Course::new(Model::random(&mut random));
        course.epochs = 7;
        course.best = (0.625, Model::random(&mut random));
        course.adam.steps = 12_345;
        course.adam.means[..LENGTH].copy_from_slice(Model::random(&mut random).numbers());
        course
    }

    #[test]
    fn what_is_written_is_read_to_the_bit() {
        let bytes = course().to_bytes(99);
        let read = Course::read(&bytes, 99).unwrap();
        assert_eq!((read.epochs, read.adam.steps, read.best.0), (7, 12_345, 0.625));
        assert!(read.to_bytes(99) == bytes);
    }

    #[test]
    fn what_is_no_checkpoint_of_this_training_is_refused() {
        let bytes = course().to_bytes(99);
        let refused = |bytes: &[u8]| Course::read(bytes, 99).err();
        assert!(Course::read(&bytes, 98).err().is_some_and(|reason| reason.contains("other")));
        let longer = [bytes.as_slice(), &[0]].concat();
        for bytes in [&[], &bytes[..40], &bytes[..bytes.len() - 1], &longer, &bytes[1..]] {
            assert_eq!(refused(bytes), Some("no checkpoint of a training of this version"));
        }
    }
}
