//! What a key remembers besides its record: the rows of one generation.

use crate::{EpochSeconds, ExecutionId, OwnerToken, RecordKey, StoredResult};

/// A row beside a record: the output of a step or memo, that a step's call was begun, or that it was undone. It belongs to one generation of its key, so
/// takeovers and releases find it and a new generation does not.
///
/// A row is written once: the first to insert it says what it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The record's place.
    pub key: RecordKey,
    /// The generation.
    pub execution: ExecutionId,
    /// What the row says.
    pub kind: RowKind,
    /// The step's or memo's name.
    pub name: String,
    /// Who wrote it: 128 bits drawn for this row. Its value's parts stand under it.
    pub owner: OwnerToken,
    /// The type of the value, by its name; empty where there is none.
    pub type_name: String,
    /// The value.
    pub value: Option<StoredResult>,
    /// From when on it may be deleted: later than the record that it was written under.
    pub expires_at: EpochSeconds,
}

/// What a [`Row`] says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// A step was done, and this is its output.
    Step {
        /// Its place in the handler, from 0.
        ordinal: u32,
        /// Whether it is to be undone when the operation fails for good.
        has_undo: bool,
    },
    /// A non-deterministic call gave this for this input.
    Memo {
        /// The input's hash.
        input: [u8; 32],
    },
    /// The call of a step that is to be undone when the operation fails for good was begun. Where no output says that it was done, nobody
    /// knows whether it was.
    Begun {
        /// The step's place in the handler, from 0.
        ordinal: u32,
    },
    /// The step of this name was undone.
    Undone,
}

/// The answer to [`Store::insert_row`](crate::Store::insert_row).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "it lives for one match")]
pub enum RowInserted {
    /// The row was absent and is stored now.
    Inserted,
    /// This row is stored; nothing was written. It is the caller's own, by its owner, when an earlier transmission was applied.
    Exists(Row),
}

impl Row {
    /// Until when a row is kept beside a record that expires then: a day longer, so that a takeover, which keeps its record for longer,
    /// finds it without writing it anew. One that comes later keeps the rows that it reads for longer itself.
    pub(crate) const fn expires_beside(record: EpochSeconds) -> EpochSeconds {
        EpochSeconds::new(record.get().saturating_add(24 * 3600))
    }

    /// What its place begins with, behind which only rows of its generation stand.
    pub fn sort_key_prefix(execution: ExecutionId) -> String {
        format!("row#{execution}#")
    }

    /// Its place among what belongs to the record's key. Two rows that say the same of the same have the same.
    pub fn sort_key(&self) -> String {
        let (prefix, name) = (Self::sort_key_prefix(self.execution), &self.name);
        match &self.kind {
            RowKind::Step { .. } => format!("{prefix}step#{name}"),
            RowKind::Memo { input } => format!("{prefix}memo#{name}#{}", crate::hash::base64url(input)),
            RowKind::Begun { .. } => format!("{prefix}begun#{name}"),
            RowKind::Undone => format!("{prefix}undone#{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_other_generations_kinds_names_and_inputs_have_other_places() {
        let row = |execution: u8, kind, name: &str| Row {
            key: RecordKey::from_stored("k"),
            execution: ExecutionId::from_bytes([execution; 16]),
            kind,
            name: name.to_owned(),
            owner: OwnerToken::from_bytes([0; 16]),
            type_name: String::new(),
            value: None,
            expires_at: EpochSeconds::new(0),
        };
        let step = RowKind::Step { ordinal: 0, has_undo: false };
        let memo = |input| RowKind::Memo { input: [input; 32] };
        let rows = [
            row(1, step.clone(), "a"),
            row(2, step.clone(), "a"),
            row(1, step, "b"),
            row(1, memo(1), "a"),
            row(1, memo(2), "a"),
            row(1, RowKind::Begun { ordinal: 0 }, "a"),
            row(1, RowKind::Undone, "a"),
        ];
        let places: std::collections::HashSet<_> = rows.iter().map(Row::sort_key).collect();
        assert_eq!(places.len(), rows.len());
        let again = Row { kind: RowKind::Step { ordinal: 7, has_undo: true }, ..rows[0].clone() };
        assert_eq!(again.sort_key(), rows[0].sort_key());
        assert!(rows.iter().all(|row| row.sort_key().starts_with(&Row::sort_key_prefix(row.execution))));
    }
}
