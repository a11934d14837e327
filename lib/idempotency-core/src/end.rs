//! What it means for the end of a claim that its record was not found in flight.

use crate::Record;

/// What it means for the end of a claim that its record was not found in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndConflict {
    /// The end is stored: an earlier transmission of it was applied and its reply was lost.
    AlreadyStored,
    /// Another attempt owns the key and has not ended.
    Superseded,
    /// Another attempt owned the key and has ended; its result is the operation's.
    SupersededByResult,
    /// The record was deleted, or has expired and made room for another generation, which may be another request's.
    Vanished,
}

/// Explains what was found instead of the claim's record in flight, when `ended` was to be written over it. Pure, like
/// [`decide`](crate::decide).
pub fn explain_end(ended: &Record, stored: Option<&Record>) -> EndConflict {
    match stored {
        None => EndConflict::Vanished,
        // A result of another generation is another execution's, and nothing says that it answers the same request.
        Some(stored) if stored.execution != ended.execution => EndConflict::Vanished,
        Some(stored) if stored.version() == ended.version() => EndConflict::AlreadyStored,
        Some(stored) if stored.status.is_terminal() => EndConflict::SupersededByResult,
        Some(_) => EndConflict::Superseded,
    }
}
