//! The protocol with one guard removed.

/// A protocol to check: the production one, or one without one of its guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mutant {
    /// The production protocol.
    None,
    /// A completion is written without looking whose record it is.
    CompleteWithoutOwner,
    /// A completion is written without any condition, even where no record is.
    CompleteUnconditionally,
    /// A release is written without looking whose record it is.
    ReleaseWithoutOwner,
    /// A release is written without any condition.
    ReleaseUnconditionally,
    /// A claim does not recognise its own record.
    NoSelfRecognition,
    /// All attempts share one token, as they would with the platform's request id.
    TokenIsRequestId,
    /// The lease ends with the deadline.
    MarginZero,
    /// A takeover is written without looking what it replaces.
    TakeoverWithoutCompareAndSwap,
    /// The effect runs although the claim was not answered.
    EffectAfterUnansweredClaim,
    /// A duplicate that is told to wait writes a new lease.
    DuplicateThatWrites,
    /// A record expires before its lease is over, and expiry is believed.
    ExpiryShorterThanLease,
    /// The fingerprint is compared only with records that have ended.
    FingerprintNotComparedInFlight,
    /// A record that cannot be read is taken for absent.
    UndecodableTakenForAbsent,
    /// The epoch is the clock's time alone.
    EpochIsTheClock,
    /// An ended record is replaced before it expires.
    TerminalIsReplaced,
    /// A compare-and-swap compares owner and status only. (The protocol as it first was; this model found the fault.)
    VersionWithoutEpoch,
    /// What nobody can say of a lost effect is taken for "it did not happen".
    ProbeUnknownReruns,
    /// A waiter whose time is over releases the record that it waited for.
    WaiterReleasesTheOwner,
    /// What a look before the claim shows is taken for the claim: nothing is written.
    LookAdmits,
    /// An operation that claims nothing commits without looking which record is stored.
    CommitWithoutCondition,
    /// What was staged is written before the record, by itself.
    StagedBeforeItsRecord,
    /// What was staged is written after the record, by itself.
    StagedAfterItsRecord,
    /// What was staged is written although the record is not the one expected.
    StagedWithoutItsRecord,
    /// A record whose steps are being undone is free at once.
    CompensatingLeaseIgnored,
    /// Who takes over a record whose steps are being undone runs the handler.
    CompensatingRunsTheHandler,
    /// Steps are undone before it is stored that the operation failed.
    UndoneInSilence,
    /// Steps are undone in the order in which they were done.
    UndoForward,
    /// Who goes on with undoing does not read what is undone.
    ResumeWithoutUndone,
    /// A failure is not replayed: its steps are undone again.
    FailedIsUndoneAgain,
    /// Rows belong to their key, whatever the generation.
    RowsOfAnyGeneration,
    /// A row is written over one that stands in its place.
    RowOverwrites,
    /// An end that was not answered is told as stored.
    UnansweredEndToldAsStored,
    /// A later attempt does not read which steps are done.
    EarlierStepsNotRead,
    /// An attempt that cannot tell whether its step is stored releases its record.
    UnkeptStepReleases,
    /// The handler goes on although it is stored that its operation failed.
    HandlerGoesOnAfterFailure,
    /// Who fails for good undoes what it has done itself, and nothing of an earlier attempt.
    FailureForgetsEarlierSteps,
    /// A stuck record is taken for one whose steps are being undone.
    StuckIsUndoneAgain,
    /// What is undone is ended as if it had succeeded.
    UndoneIsCompleted,
}

impl Mutant {
    /// Every mutant.
    pub const ALL: [Self; 38] = [
        Self::CompleteWithoutOwner,
        Self::CompleteUnconditionally,
        Self::ReleaseWithoutOwner,
        Self::ReleaseUnconditionally,
        Self::NoSelfRecognition,
        Self::TokenIsRequestId,
        Self::MarginZero,
        Self::TakeoverWithoutCompareAndSwap,
        Self::EffectAfterUnansweredClaim,
        Self::DuplicateThatWrites,
        Self::ExpiryShorterThanLease,
        Self::FingerprintNotComparedInFlight,
        Self::UndecodableTakenForAbsent,
        Self::EpochIsTheClock,
        Self::TerminalIsReplaced,
        Self::VersionWithoutEpoch,
        Self::ProbeUnknownReruns,
        Self::WaiterReleasesTheOwner,
        Self::LookAdmits,
        Self::CommitWithoutCondition,
        Self::StagedBeforeItsRecord,
        Self::StagedAfterItsRecord,
        Self::StagedWithoutItsRecord,
        Self::CompensatingLeaseIgnored,
        Self::CompensatingRunsTheHandler,
        Self::UndoneInSilence,
        Self::UndoForward,
        Self::ResumeWithoutUndone,
        Self::FailedIsUndoneAgain,
        Self::RowsOfAnyGeneration,
        Self::RowOverwrites,
        Self::UnansweredEndToldAsStored,
        Self::EarlierStepsNotRead,
        Self::UnkeptStepReleases,
        Self::HandlerGoesOnAfterFailure,
        Self::FailureForgetsEarlierSteps,
        Self::StuckIsUndoneAgain,
        Self::UndoneIsCompleted,
    ];
}
