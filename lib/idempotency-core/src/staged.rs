//! What an attempt has staged, to commit with its end.

use crate::{OutboxEntry, StageError, TableWrite};

/// A write that commits with the record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// A write of the user's own.
    Table(TableWrite),
    /// An event, to be sent by the relay once it has committed.
    Event(OutboxEntry),
}

impl Effect {
    /// The name by which its refusal is told.
    pub fn label(&self) -> &str {
        match self {
            Self::Table(write) => write.label(),
            Self::Event(entry) => entry.id.as_str(),
        }
    }

    /// The table that it writes to; `None` for the table of records.
    fn table(&self) -> Option<&str> {
        match self {
            Self::Table(write) => Some(write.table()),
            Self::Event(_) => None,
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Table(write) => write.size(),
            Self::Event(entry) => entry.size(),
        }
    }
}

/// What was staged, as long as it can be.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    effects: Vec<Effect>,
    size: usize,
    has_ended: bool,
}

impl Staged {
    pub(crate) fn stage(&mut self, effect: Effect) -> Result<(), StageError> {
        let (size, total) = (effect.size(), self.size + effect.size());
        if self.has_ended {
            return Err(StageError::Ended);
        }
        if self.effects.len() >= StageError::MAX_WRITES {
            return Err(StageError::TooMany);
        }
        if let Effect::Table(write) = &effect {
            write.check_placeholders()?;
        }
        if size > StageError::MAX_ITEM {
            let table = effect.table().unwrap_or("of idempotency records").to_owned();
            return Err(StageError::ItemTooLarge { table, size });
        }
        if total > StageError::MAX_BYTES {
            return Err(StageError::TooLarge { size: total });
        }
        self.size = total;
        self.effects.push(effect);
        Ok(())
    }

    /// How many events are staged.
    pub(crate) fn events(&self) -> usize {
        self.effects.iter().filter(|effect| matches!(effect, Effect::Event(_))).count()
    }

    /// Takes all of it. Nothing can be staged any more.
    pub(crate) fn take(&mut self) -> Vec<Effect> {
        self.has_ended = true;
        std::mem::take(&mut self.effects)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn write(bytes: usize) -> Effect {
        Effect::Table(TableWrite::put("t", json!({ "b": "x".repeat(bytes - 1) })).unwrap())
    }

    #[test]
    fn a_hundredth_write_has_no_place_beside_the_record() {
        let mut staged = Staged::default();
        for _ in 0..StageError::MAX_WRITES {
            staged.stage(write(2)).unwrap();
        }
        assert_eq!(staged.stage(write(2)), Err(StageError::TooMany));
        assert_eq!(staged.take().len(), 99);
    }

    #[test]
    fn what_is_too_large_for_an_item_or_a_transaction_is_refused_and_the_rest_stays() {
        let mut staged = Staged::default();
        staged.stage(write(StageError::MAX_ITEM)).unwrap();
        assert!(matches!(staged.stage(write(StageError::MAX_ITEM + 1)), Err(StageError::ItemTooLarge { .. })));
        while staged.size + StageError::MAX_ITEM <= StageError::MAX_BYTES {
            staged.stage(write(StageError::MAX_ITEM)).unwrap();
        }
        let left = StageError::MAX_BYTES - staged.size;
        assert!(matches!(staged.stage(write(left + 1)), Err(StageError::TooLarge { .. })));
        staged.stage(write(left)).unwrap();
        assert_eq!(staged.size, StageError::MAX_BYTES);
    }

    #[test]
    fn what_dynamodb_would_refuse_with_all_the_rest_is_refused_here() {
        let mut staged = Staged::default();
        let write = TableWrite::put("t", json!({ "id": 1 })).unwrap().only_if("a = :a");
        let refused = staged.stage(Effect::Table(write.clone()));
        assert!(matches!(refused, Err(StageError::Missing { placeholder, .. }) if placeholder == ":a"));
        staged.stage(Effect::Table(write.value(":a", 1).unwrap())).unwrap();
        assert_eq!(staged.take().len(), 1);
    }

    #[test]
    fn nothing_is_staged_after_the_end() {
        let mut staged = Staged::default();
        staged.stage(write(2)).unwrap();
        assert_eq!(staged.take().len(), 1);
        assert_eq!(staged.stage(write(2)), Err(StageError::Ended));
        assert!(staged.take().is_empty());
    }
}
