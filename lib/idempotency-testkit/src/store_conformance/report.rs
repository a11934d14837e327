use std::collections::BTreeMap;
use std::fmt;

/// What a check tried, to see that it was not nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How many sequences were run.
    pub sequences: u32,
    /// How many calls for many were made.
    pub batches: u32,
    /// What else was checked, and held.
    pub checks: Vec<&'static str>,
    /// How many calls, or members of a call for many, got which kind of answer, such as "replaced" or "own record exists".
    pub answers: BTreeMap<&'static str, u64>,
}

impl Report {
    /// How many calls were made, counting each member of a call for many.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.answers.values().sum()
    }

    pub(super) fn count(&mut self, kind: &'static str) {
        *self.answers.entry(kind).or_default() += 1;
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} sequences, {} calls, {} batches, {} checks",
            self.sequences,
            self.calls(),
            self.batches,
            self.checks.len()
        )?;
        for (index, (kind, count)) in self.answers.iter().enumerate() {
            write!(f, "{} {kind} {count}", if index == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}
