//! What a 409 means that does not say it.

/// What a 409 means that is neither this toolkit's conflict nor a stored answer: the callee's own, told for the first time, or another
/// toolkit's way to say "in flight".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtherConflict {
    /// Ask again, as after a conflict. A callee with this toolkit then shows its stored answer, which says that it is one
    /// (`Idempotent-Replayed: true`), so its own 409 costs one request more. It is never taken for an answer without that.
    #[default]
    AskAgain,
    /// It is the answer. Only right where every "in flight" is of this toolkit's type, and of use there if the operation does not retain
    /// its own 409s.
    Answer,
}
