//! The transposition table.

/// stub
pub struct Table;
impl Table {
    /// A table of `megabytes` (1 and up).
    ///
    /// # Errors
    /// If the memory cannot be had.
    pub fn new(_megabytes: usize) -> Result<Table, String> { todo!() }
    /// Forgets everything.
    pub fn clear(&self) { todo!() }
    /// Its size in MB.
    pub fn megabytes(&self) -> usize { todo!() }
}
