//! The machinery around the protocol with one guard removed.

/// What stands between an attempt and the store, right or with one fault: what the simulator must notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mutant {
    /// The production code.
    None,
    /// A look that shows nothing counts as a claim: the write that follows is not sent, and answered as if it were.
    LookAdmits,
    /// The end of a claim is told as stored before it is: it lingers behind its caller's back.
    EndToldBeforeStored,
    /// The answers of a batch go to the wrong members.
    BatchAnswersShifted,
    /// That a step's call is begun is told as stored and is not.
    BegunNotStored,
    /// A later attempt is shown no rows.
    RowsHidden,
    /// A row is told as stored and is not.
    RowUnwritten,
    /// A row is told as stored by its sender, whatever stands in its place.
    RowOfAnotherTakenForOwn,
    /// That steps are being undone is told as stored and is not.
    FailureUnstored,
    /// What was staged is left out of the commit.
    StagedLeftOut,
}

impl Mutant {
    /// Every mutant.
    pub const ALL: [Self; 9] = [
        Self::LookAdmits,
        Self::EndToldBeforeStored,
        Self::BatchAnswersShifted,
        Self::BegunNotStored,
        Self::RowsHidden,
        Self::RowUnwritten,
        Self::RowOfAnotherTakenForOwn,
        Self::FailureUnstored,
        Self::StagedLeftOut,
    ];
}
