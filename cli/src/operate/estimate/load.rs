//! What there is to do, and how large it is.

use idempotency_core::StoredResult;

/// A record without a result, as DynamoDB counts it ("DynamoDB item sizes and formats"): names 74, keys about 75, the rest 104 bytes.
pub(crate) const CLAIM_BYTES: f64 = 253.0;
/// A step's row without its output.
const STEP_BYTES: f64 = 290.0;
/// What DynamoDB bills for each stored item beside its size (same page): for indexing.
const STORED_OVERHEAD: f64 = 100.0;
const GB: f64 = 1_073_741_824.0;

/// Requests and their sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Requests in a day, duplicates among them.
    pub(crate) requests: f64,
    /// The part of them that are duplicates, 0 to 1.
    pub(crate) duplicates: f64,
    /// Bytes of a stored result.
    pub(crate) result: f64,
    /// For how many days a record is kept.
    pub(crate) days_kept: f64,
    /// Steps of an operation, and bytes of their outputs.
    pub(crate) steps: f64,
    pub(crate) step_output: f64,
    /// Whether record and effect are one transaction.
    pub(crate) atomic: bool,
}

/// What a day of it needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Needs {
    pub(crate) write_units: f64,
    pub(crate) read_units: f64,
    pub(crate) stored_gb: f64,
}

impl Load {
    pub(crate) fn fresh(self) -> f64 {
        self.requests * (1.0 - self.duplicates)
    }

    pub(crate) fn repeated(self) -> f64 {
        self.requests * self.duplicates
    }

    fn is_inline(self) -> bool {
        self.result <= StoredResult::MAX_INLINE as f64
    }

    /// The bytes of an ended record.
    pub(crate) fn ended(self) -> f64 {
        if self.is_inline() { CLAIM_BYTES + self.result } else { CLAIM_BYTES }
    }

    /// The bytes beside it: parts of a result that is too large for it.
    fn parts(self) -> f64 {
        if self.is_inline() { 0.0 } else { self.result }
    }

    /// What this toolkit needs. Deletion by the time to live is free.
    pub(crate) fn needs(self) -> Needs {
        let claim = if self.atomic { 0.0 } else { write_units(CLAIM_BYTES) };
        // A transaction's writes count twice.
        let end = write_units(self.ended()) * if self.atomic { 2.0 } else { 1.0 };
        let steps = self.steps * write_units(STEP_BYTES + self.step_output);
        let fresh = claim + end + write_units(self.parts()) + steps;
        // A refused claim is billed by what is stored. (An atomic duplicate's is a transaction that is refused.)
        let repeated = write_units(self.ended()) * if self.atomic { 2.0 } else { 1.0 };
        let items = 1.0 + self.steps + if self.is_inline() { 0.0 } else { 1.0 };
        let bytes =
            self.ended() + self.parts() + self.steps * (STEP_BYTES + self.step_output) + items * STORED_OVERHEAD;
        Needs {
            write_units: self.fresh() * fresh + self.repeated() * repeated,
            read_units: self.repeated() * read_units(self.parts()),
            stored_gb: self.fresh() * self.days_kept * bytes / GB,
        }
    }
}

/// One for each KB begun ("DynamoDB read and write operations"); none for nothing.
pub(crate) fn write_units(bytes: f64) -> f64 {
    (bytes / 1024.0).ceil()
}

/// One for each 4 KB begun, strongly consistent.
pub(crate) fn read_units(bytes: f64) -> f64 {
    (bytes / 4096.0).ceil()
}

pub(crate) fn gb(bytes: f64) -> f64 {
    bytes / GB
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load = Load {
        requests: 1000.0,
        duplicates: 0.1,
        result: 700.0,
        days_kept: 2.0,
        steps: 0.0,
        step_output: 0.0,
        atomic: false,
    };

    #[test]
    fn two_units_fresh_and_one_on_replay_as_long_as_all_fits_a_kilobyte() {
        assert_eq!(LOAD.needs().write_units, 900.0 * 2.0 + 100.0);
        assert_eq!(LOAD.needs().read_units, 0.0);
        // One byte more than a kilobyte costs a unit more, on each side.
        let more = Load { result: 772.0, ..LOAD };
        assert_eq!(more.needs().write_units, 900.0 * 3.0 + 200.0);
    }

    #[test]
    fn a_result_above_32_kb_is_written_and_read_beside_the_record() {
        let large = Load { result: 102_400.0, ..LOAD };
        assert_eq!(large.needs().write_units, 900.0 * (2.0 + 100.0) + 100.0);
        assert_eq!(large.needs().read_units, 100.0 * 25.0);
    }

    #[test]
    fn steps_are_a_write_each_and_an_atomic_operation_has_one_that_counts_twice() {
        assert_eq!(Load { steps: 3.0, ..LOAD }.needs().write_units, 900.0 * 5.0 + 100.0);
        assert_eq!(Load { atomic: true, ..LOAD }.needs().write_units, 900.0 * 2.0 + 200.0);
    }

    #[test]
    fn storage_is_what_is_fresh_for_as_long_as_it_is_kept() {
        let bytes = 900.0 * 2.0 * (CLAIM_BYTES + 700.0 + 100.0);
        assert!((LOAD.needs().stored_gb - gb(bytes)).abs() < 1e-12);
    }
}
